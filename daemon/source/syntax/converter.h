// From clang's tree to ours; private to syntax/*_clang.cc. Only forward declarations of clang's
// types, so that this header stays outside the files that may include clang's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/syntax/parse.h"

namespace clang {
class ASTContext;
class CXXConstructExpr;
class CXXRecordDecl;
class Decl;
class DeclContext;
class DeclaratorDecl;
class Expr;
class FriendDecl;
class FunctionDecl;
class FunctionTemplateDecl;
class LambdaExpr;
class MangleContext;
class NamedDecl;
class NestedNameSpecifierLoc;
class OverloadExpr;
class QualType;
class SourceLocation;
class SourceManager;
class SourceRange;
class Stmt;
class TagDecl;
class TemplateArgument;
class TemplateDecl;
class TemplateParameterList;
class TypeLoc;
class TypeSourceInfo;
class VarDecl;
struct PrintingPolicy;
}  // namespace clang

namespace cupilot::source {

// The file in which kept headers were included: no header of the text's own.
inline constexpr const char* kHeadersName = "/cupilot-headers.cu";

class Mentioned;  // of lambdas_clang.cc

// Whether it has to return a value and can end without one (instantiations_clang.cc).
bool HasOpenEnd(const clang::FunctionDecl* function);

class Converter {
 public:
  // `text` is what was parsed as the main file (before PatchForClang).
  Converter(clang::ASTContext& context, std::string text, const ParseOptions& options);
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter();

  // Call once, after the whole text has been parsed.
  Tree Run();

 private:
  // ---- declarations_clang.cc ----
  void Declarations(const clang::DeclContext& context, NodeId parent);
  // kNone for what has no node (implicit ones, system headers' ones).
  NodeId Declaration(const clang::Decl* declaration, NodeId parent);
  NodeId Templated(const clang::TemplateDecl* head, NodeId parent);
  NodeId Scope(const clang::Decl* declaration, NodeId parent);  // namespace, extern "C"
  NodeId Enumerator(const clang::Decl* declaration, NodeId parent);
  NodeId Function(const clang::FunctionDecl* function, NodeId parent,
                  const clang::TemplateDecl* head);
  NodeId Variable(const clang::VarDecl* variable, NodeId parent, const clang::TemplateDecl* head);
  bool RunsCode(const clang::VarDecl* variable) const;
  std::int64_t LargestInstance(const clang::TemplateDecl* head) const;  // bytes of a variable
  NodeId Tag(const clang::TagDecl* tag, NodeId parent, const clang::TemplateDecl* head);
  NodeId Field(const clang::DeclaratorDecl* field, NodeId parent);
  NodeId Alias(const clang::NamedDecl* alias, NodeId parent, const clang::TemplateDecl* head);
  NodeId Friend(const clang::FriendDecl* declaration, NodeId parent);
  NodeId Using(const clang::NamedDecl* declaration, NodeId parent);
  void TemplateParameters(const clang::TemplateParameterList* list, NodeId parent);
  void Bases(const clang::CXXRecordDecl* record, NodeId node);
  void DescribeNamed(const clang::NamedDecl* declaration, NodeId id);
  void DescribeFunction(const clang::FunctionDecl* function, Node& node);
  void DescribeVariable(const clang::VarDecl* variable, Node& node);
  void DescribeTemplate(const clang::TemplateDecl* head, Node& node);
  // Where the written type stands between the start of a declaration and its name.
  void LocateType(Node& node);

  // ---- instantiations_clang.cc ----
  // Those of a kernel that the text asks for.
  void Instantiations(const clang::FunctionTemplateDecl* head, NodeId kernel);
  // One of them, or an explicit specialisation, which is its own definition.
  void AddInstantiation(const clang::FunctionDecl* function, NodeId kernel);
  // The functions that a body names (Tree::callees); all that it reaches is noted for `uses`, if
  // that is a node.
  std::vector<std::string> Callees(const clang::FunctionDecl* function, NodeId uses,
                                   const clang::PrintingPolicy& policy);
  TemplateArgument Argument(const clang::TemplateArgument& argument, NodeId uses);
  // All declarations in a type that was deduced, not written.
  void UseCanonical(NodeId id, clang::QualType type);
  // Why a type cannot be written down in another place of the same file; empty if it can.
  static std::string WhyNameless(clang::QualType type);

  // ---- lambdas_clang.cc ----
  // An argument whose type is a lambda's. The functions below fill in a part of it each; they
  // return what the lambda does that no function object can say, if it does.
  void LambdaArgument(clang::QualType type, NodeId uses, TemplateArgument& argument);
  std::string FillPlace(const clang::CXXRecordDecl* closure, Lambda& lambda);
  std::string FillCall(const clang::CXXRecordDecl* closure, NodeId uses, Lambda& lambda);
  std::string FillMembers(const clang::CXXRecordDecl* closure, Lambda& lambda);
  void DescribeMember(clang::QualType type, Lambda::Member& member) const;
  std::string FillConstants(const clang::CXXRecordDecl* closure, const Mentioned& mentioned,
                            Lambda& lambda) const;
  std::string PutInOrder(const clang::CXXRecordDecl* closure, const Mentioned& mentioned,
                         Lambda& lambda) const;
  std::string ValueOf(const clang::VarDecl& variable) const;
  // Tree::mentions.
  std::vector<std::string> MentionsOf(const clang::CXXMethodDecl* function);

  // ---- statements_clang.cc ----
  NodeId Statement(const clang::Stmt* statement, NodeId parent);
  NodeId Branch(const clang::Stmt* statement, NodeId parent);  // if, switch and its labels
  NodeId Loop(const clang::Stmt* statement, NodeId parent);
  NodeId WithChildren(Kind kind, const clang::Stmt* statement, NodeId parent);
  // Appends to the parent's children; nothing for null and for what has no node.
  void Add(NodeId parent, const clang::Stmt* statement);
  // As Add, but a missing part takes its place as kNone.
  void AddFixed(NodeId parent, const clang::Stmt* statement);
  void AddChildren(NodeId parent, const clang::Stmt* statement);

  // ---- expressions_clang.cc ----
  NodeId Expression(const clang::Expr* expression, NodeId parent);
  NodeId ConvertExpression(const clang::Expr* expression, NodeId parent);
  NodeId Reference(const clang::Expr* expression, NodeId parent);
  NodeId Call(const clang::Expr* expression, NodeId parent);
  NodeId Literal(const clang::Expr* expression, NodeId parent);
  NodeId Operator(const clang::Expr* expression, NodeId parent);
  NodeId TypeExpression(const clang::Expr* expression, NodeId parent);
  NodeId Construct(const clang::CXXConstructExpr* construct, NodeId parent);
  NodeId LambdaExpression(const clang::LambdaExpr* lambda, NodeId parent);
  // Removes what stands nowhere in the text; null if nothing is left.
  const clang::Expr* Strip(const clang::Expr* expression, NodeId parent);
  void Overloads(const clang::OverloadExpr* expression, NodeId id);

  // ---- nodes_clang.cc: nodes, places, references ----
  NodeId New(Kind kind, NodeId parent, clang::SourceRange range);
  NodeId NewExpression(Kind kind, NodeId parent, const clang::Expr* expression);
  Node& at(NodeId id) { return tree_.nodes[static_cast<std::size_t>(id)]; }
  std::optional<std::uint32_t> Begin(clang::SourceLocation location) const;
  std::optional<std::uint32_t> End(clang::SourceLocation location) const;
  bool IsUser(clang::SourceLocation location) const;
  std::string HeaderOf(clang::SourceLocation location) const;
  void SetTypes(clang::QualType type, Node& node) const;
  void SetLayout(clang::QualType type, Node& node) const;
  // Remembers that `id` refers to the declaration; resolved when all nodes exist.
  void Refer(NodeId id, const clang::Decl* declaration);
  void Use(NodeId id, const clang::Decl* declaration);
  // All declarations that a written type names.
  void UseType(NodeId id, const clang::TypeSourceInfo* type);
  void UseAttributes(NodeId id, const clang::Decl* declaration);
  void UseQualifier(NodeId id, const clang::NestedNameSpecifierLoc& qualifier);
  void UseTemplateArguments(NodeId id, const clang::Expr* reference);
  void Remember(const clang::Decl* declaration, NodeId id);
  NodeId Resolve(const clang::Decl* declaration);
  NodeId SystemLeaf(const clang::Decl* declaration);
  void ResolveAll();

  friend class TypeNames;

  struct Fixup {
    NodeId node;
    const clang::Decl* declaration;
    bool refers;  // Node::declaration, else Node::types_used
  };

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const ParseOptions& options_;
  std::unique_ptr<clang::PrintingPolicy> policy_;
  std::unique_ptr<clang::MangleContext> mangler_;
  Tree tree_;
  std::vector<Fixup> fixups_;
  // A declaration and everything that was instantiated from it share the place of their name.
  std::unordered_map<std::uint32_t, NodeId> by_place_;
  std::unordered_map<const clang::Decl*, NodeId> leaves_;
};

}  // namespace cupilot::source
