// The instantiations of kernel templates: with which arguments a text launches them, and what their
// bodies call then; and whether a function, or an instance of it, ends without its value.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Analysis/CFG.h>
#include <llvm/ADT/SetVector.h>

#include <algorithm>
#include <set>
#include <vector>

#include "source/syntax/converter.h"

namespace cupilot::source {
namespace {

// The last thing that a block does leaves the function, or is no end of the text at all.
bool Leaves(const clang::CFGBlock& block) {
  if (block.hasNoReturnElement()) return true;
  if (block.empty()) return false;
  const auto last = block.back().getAs<clang::CFGStmt>();
  return last && (llvm::isa<clang::ReturnStmt>(last->getStmt()) ||
                  llvm::isa<clang::CXXThrowExpr>(last->getStmt()));
}

bool EndIsReached(const clang::CFG& graph) {
  std::vector<bool> seen(graph.getNumBlockIDs());
  std::vector<const clang::CFGBlock*> open = {&graph.getEntry()};
  while (!open.empty()) {
    const clang::CFGBlock* block = open.back();
    open.pop_back();
    if (block == nullptr || seen[block->getBlockID()]) continue;
    seen[block->getBlockID()] = true;
    if (block == &graph.getExit()) return true;
    // Behind a return there are only ends of scopes, and then the exit.
    if (Leaves(*block)) continue;
    for (const auto& next : block->succs()) open.push_back(next.getReachableBlock());
  }
  return false;
}

bool IsOpen(const clang::FunctionDecl* function) {
  if (!function->doesThisDeclarationHaveABody() || function->isInvalidDecl()) return false;
  const clang::QualType result = function->getReturnType();
  if (result->isVoidType() || result->isUndeducedType() || function->isNoReturn()) return false;
  if (llvm::isa<clang::CXXConstructorDecl>(function) ||
      llvm::isa<clang::CXXDestructorDecl>(function)) {
    return false;
  }
  const auto graph = clang::CFG::buildCFG(function, function->getBody(), &function->getASTContext(),
                                          clang::CFG::BuildOptions());
  return graph != nullptr && EndIsReached(*graph);
}

// Whether the text is where the instantiation's code is made: explicit specialisations are kernels
// of their own, `extern template` promises one elsewhere, and overload resolution looks at more
// candidates than it takes.
bool IsMadeHere(const clang::FunctionDecl* function) {
  switch (function->getTemplateSpecializationKind()) {
    case clang::TSK_ExplicitInstantiationDefinition:
      return true;
    case clang::TSK_ImplicitInstantiation:
      return function->isReferenced() || function->isUsed();
    default:
      return false;
  }
}

// An integer literal of exactly this type; empty where the language has none.
std::string Suffix(const clang::BuiltinType* type) {
  switch (type->getKind()) {
    case clang::BuiltinType::Int:
      return " ";
    case clang::BuiltinType::UInt:
      return "u";
    case clang::BuiltinType::Long:
      return "l";
    case clang::BuiltinType::ULong:
      return "ul";
    case clang::BuiltinType::LongLong:
      return "ll";
    case clang::BuiltinType::ULongLong:
      return "ull";
    default:
      return {};
  }
}

void LambdasOf(const std::vector<TemplateArgument>& arguments,
               std::vector<const TemplateArgument*>& found) {
  for (const TemplateArgument& argument : arguments) {
    if (argument.lambda != nullptr) found.push_back(&argument);
    LambdasOf(argument.pack, found);
  }
}

void ReplaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// The functions that an instantiated body names.
class BodyNames : public clang::RecursiveASTVisitor<BodyNames> {
 public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    Add(reference->getDecl());
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    Add(member->getMemberDecl());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    found.insert(made->getConstructor());
    return true;
  }
  // In the order in which they are met: what is made of them is the same each time.
  llvm::SetVector<const clang::Decl*> found;
  std::set<const clang::FunctionDecl*> functions;

 private:
  void Add(const clang::ValueDecl* declaration) {
    if (declaration == nullptr || llvm::isa<clang::ParmVarDecl>(declaration)) return;
    found.insert(declaration);
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      functions.insert(function);
    }
  }
};

}  // namespace

std::string Converter::WhyNameless(clang::QualType type) {
  type = type.getCanonicalType();
  while (!type->getPointeeType().isNull()) type = type->getPointeeType().getCanonicalType();
  if (const auto* array = type->getAsArrayTypeUnsafe()) return WhyNameless(array->getElementType());
  const clang::TagDecl* tag = type->getAsTagDecl();
  if (tag == nullptr) return {};
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(tag);
  if (record != nullptr && record->isLambda()) return "a lambda, whose type has no name";
  if (tag->getParentFunctionOrMethod() != nullptr) {
    return "'" + tag->getNameAsString() + "', a type that is declared inside a function";
  }
  if (tag->getDeclName().isEmpty() && tag->getTypedefNameForAnonDecl() == nullptr) {
    return "a type that has no name";
  }
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(tag);
  if (special == nullptr) return {};
  for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
    if (argument.getKind() != clang::TemplateArgument::Type) continue;
    std::string why = WhyNameless(argument.getAsType());
    if (!why.empty()) return why;
  }
  return {};
}

void Converter::UseCanonical(NodeId id, clang::QualType type) {
  type = type.getCanonicalType();
  while (!type->getPointeeType().isNull()) type = type->getPointeeType().getCanonicalType();
  if (const auto* array = type->getAsArrayTypeUnsafe()) {
    return UseCanonical(id, array->getElementType());
  }
  const clang::TagDecl* tag = type->getAsTagDecl();
  if (tag == nullptr) return;
  Use(id, tag);
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(tag);
  if (special == nullptr) return;
  Use(id, special->getSpecializedTemplate());
  for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
    if (argument.getKind() == clang::TemplateArgument::Type) UseCanonical(id, argument.getAsType());
  }
}

TemplateArgument Converter::Argument(const clang::TemplateArgument& argument, NodeId uses) {
  using K = clang::TemplateArgument;
  TemplateArgument out;
  switch (argument.getKind()) {
    case K::Type: {
      const clang::QualType type = argument.getAsType().getCanonicalType();
      const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
      if (record != nullptr && record->isLambda()) {
        LambdaArgument(type, uses, out);
        return out;
      }
      out.problem = WhyNameless(type);
      if (out.problem.empty()) out.text = type.getAsString(*policy_);
      UseCanonical(uses, type);
      return out;
    }
    case K::Integral: {
      out.form = TemplateArgument::Form::kValue;
      const clang::QualType type = argument.getIntegralType().getCanonicalType();
      llvm::SmallString<32> digits;
      argument.getAsIntegral().toString(digits, 10);
      const std::string number = digits.str().str();
      const auto* plain = type->getAs<clang::BuiltinType>();
      if (type->isBooleanType()) {
        out.text = argument.getAsIntegral().getBoolValue() ? "true" : "false";
        out.literal = out.text;
        return out;
      }
      const std::string suffix = plain == nullptr ? std::string() : Suffix(plain);
      out.text = number;
      // The least number of a type has no literal: its sign is an operator.
      const bool least = number.size() > 10 && number.front() == '-';
      if (!suffix.empty() && !least) {
        out.literal = number + (suffix == " " ? "" : suffix);
        if (number.front() == '-') out.literal = "(" + out.literal + ")";
        return out;
      }
      out.literal = "static_cast<" + type.getAsString(*policy_) + ">(" + number + ")";
      if (type->isEnumeralType()) {
        out.text = out.literal;
        out.problem = WhyNameless(type);
        UseCanonical(uses, type);
      }
      return out;
    }
    case K::NullPtr:
      out.form = TemplateArgument::Form::kValue;
      out.text = out.literal = "nullptr";
      return out;
    case K::Declaration: {
      out.form = TemplateArgument::Form::kValue;
      const clang::ValueDecl* target = argument.getAsDecl();
      Use(uses, target);
      const bool pointer = argument.getParamTypeForDecl()->isPointerType();
      out.text = (pointer ? "&" : "") + target->getQualifiedNameAsString();
      for (const std::string_view part : {"(anonymous namespace)::"}) {
        const std::size_t found = out.text.find(part);
        if (found != std::string::npos) out.text.erase(found, part.size());
      }
      out.literal = "(" + out.text + ")";
      if (target->getParentFunctionOrMethod() != nullptr) {
        out.problem = "something that is declared inside a function";
      }
      return out;
    }
    case K::Template: {
      out.form = TemplateArgument::Form::kTemplate;
      const clang::TemplateDecl* target = argument.getAsTemplate().getAsTemplateDecl();
      if (target == nullptr) break;
      Use(uses, target);
      out.text = target->getQualifiedNameAsString();
      return out;
    }
    case K::Pack:
      out.form = TemplateArgument::Form::kPack;
      for (const clang::TemplateArgument& one : argument.getPackAsArray()) {
        out.pack.push_back(Argument(one, uses));
      }
      return out;
    default:
      break;
  }
  out.form = TemplateArgument::Form::kValue;
  out.problem = "a value that has no plain spelling";
  return out;
}

std::vector<std::string> Converter::Callees(const clang::FunctionDecl* function, NodeId uses,
                                            const clang::PrintingPolicy& policy) {
  BodyNames names;
  if (function->hasBody()) names.TraverseStmt(function->getBody());
  for (const clang::Decl* declaration : names.found) {
    if (uses != kNone) Use(uses, declaration);
  }
  std::set<std::string> texts;
  for (const clang::FunctionDecl* callee : names.functions) {
    if (callee->getBuiltinID() != 0 || callee->isOverloadedOperator()) continue;
    texts.insert(callee->getQualifiedNameAsString() + " " +
                 callee->getType().getCanonicalType().getAsString(policy));
  }
  return {texts.begin(), texts.end()};
}

void Converter::AddInstantiation(const clang::FunctionDecl* function, NodeId kernel) {
  Instantiation made;
  made.kernel = kernel;
  made.uses = New(Kind::kOtherDeclaration, 0, clang::SourceRange());
  for (const clang::TemplateArgument& argument :
       function->getTemplateSpecializationArgs()->asArray()) {
    made.arguments.push_back(Argument(argument, made.uses));
  }
  llvm::raw_string_ostream out(made.mangled);
  mangler_->mangleName(clang::GlobalDecl(function, clang::KernelReferenceKind::Kernel), out);
  llvm::raw_string_ostream type(made.type_name);
  mangler_->mangleCXXRTTIName(function->getType().getCanonicalType(), type);
  made.type_name.erase(0, std::string_view("_ZTS").size());
  std::vector<const TemplateArgument*> lambdas;
  LambdasOf(made.arguments, lambdas);
  // The lambdas of a text are told apart by where they stand.
  clang::PrintingPolicy policy = *policy_;
  policy.AnonymousTagLocations = !lambdas.empty();
  made.callees = Callees(function, made.uses, policy);
  for (const TemplateArgument* argument : lambdas) {
    for (std::string& callee : made.callees) {
      ReplaceAll(callee, argument->lambda->printed, argument->text);
    }
  }
  std::sort(made.callees.begin(), made.callees.end());
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    UseCanonical(made.uses, parameter->getType());
  }
  tree_.instantiations.push_back(std::move(made));
}

void Converter::Instantiations(const clang::FunctionTemplateDecl* head, NodeId kernel) {
  for (const clang::FunctionDecl* function : head->specializations()) {
    if (IsMadeHere(function) && !function->isInvalidDecl()) AddInstantiation(function, kernel);
  }
  // Their order in clang's table depends on addresses.
  std::sort(tree_.instantiations.begin(), tree_.instantiations.end(),
            [](const Instantiation& a, const Instantiation& b) {
              return std::pair(a.kernel, a.mangled) < std::pair(b.kernel, b.mangled);
            });
}

// Of a template what its instances do: what it is made with decides which ends are there.
bool HasOpenEnd(const clang::FunctionDecl* function) {
  const clang::FunctionTemplateDecl* head = function->getDescribedFunctionTemplate();
  if (head == nullptr) return IsOpen(function);
  const auto instances = head->specializations();
  return std::any_of(instances.begin(), instances.end(), IsOpen);
}

}  // namespace cupilot::source
