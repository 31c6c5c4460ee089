// The converter's nodes, places, references and types, and which declarations a written type names.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "source/syntax/converter.h"
#include "source/syntax/headers.h"

namespace cupilot::source {

Converter::Converter(clang::ASTContext& context, std::string text, const ParseOptions& options)
    : context_(context),
      sources_(context.getSourceManager()),
      options_(options),
      policy_(std::make_unique<clang::PrintingPolicy>(context.getLangOpts())),
      mangler_(context.createMangleContext()) {
  policy_->SuppressUnwrittenScope = true;
  policy_->Bool = true;
  policy_->SuppressTagKeyword = true;
  policy_->AnonymousTagLocations = false;
  tree_.text = std::move(text);
}

Converter::~Converter() = default;

Tree Converter::Run() {
  New(Kind::kTranslationUnit, kNone, clang::SourceRange());
  at(0).begin = 0;
  at(0).end = static_cast<std::uint32_t>(tree_.text.size());
  Declarations(*context_.getTranslationUnitDecl(), 0);
  ResolveAll();
  return std::move(tree_);
}

NodeId Converter::New(Kind kind, NodeId parent, clang::SourceRange range) {
  Node node;
  node.kind = kind;
  node.parent = parent;
  const std::uint32_t fallback = parent == kNone ? 0 : at(parent).begin;
  node.begin = Begin(range.getBegin()).value_or(fallback);
  node.end = std::max(node.begin, End(range.getEnd()).value_or(node.begin));
  node.template_begin = node.begin;
  tree_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

NodeId Converter::NewExpression(Kind kind, NodeId parent, const clang::Expr* expression) {
  const NodeId id = New(kind, parent, expression->getSourceRange());
  clang::QualType type = expression->getType();
  // A name that clang has a built-in function for has a type of clang's own, but not where kept
  // headers declare it.
  if (!type.isNull() && type->isSpecificPlaceholderType(clang::BuiltinType::BuiltinFn)) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression);
    if (name != nullptr) type = name->getDecl()->getType();
  }
  SetTypes(type, at(id));
  if (expression->isTypeDependent() || expression->isValueDependent() ||
      expression->isInstantiationDependent()) {
    at(id).flags |= kDependent;
  } else if (!expression->containsErrors() && !expression->getType().isNull() &&
             expression->getType()->isIntegralOrEnumerationType()) {
    clang::Expr::EvalResult result;
    if (expression->EvaluateAsInt(result, context_)) {
      llvm::SmallString<32> digits;
      result.Val.getInt().toString(digits);
      at(id).value = digits.str().str();
    }
  }
  return id;
}

std::optional<std::uint32_t> Converter::Begin(clang::SourceLocation location) const {
  if (location.isInvalid()) return std::nullopt;
  const clang::SourceLocation place = sources_.getFileLoc(location);
  const auto [file, offset] = sources_.getDecomposedLoc(place);
  if (file != sources_.getMainFileID()) return std::nullopt;
  return offset;
}

std::optional<std::uint32_t> Converter::End(clang::SourceLocation location) const {
  if (location.isInvalid()) return std::nullopt;
  clang::SourceLocation place = location;
  if (location.isMacroID()) {
    place = sources_.isMacroArgExpansion(location) ? sources_.getFileLoc(location)
                                                   : sources_.getExpansionRange(location).getEnd();
  }
  const auto [file, offset] = sources_.getDecomposedLoc(place);
  if (file != sources_.getMainFileID()) return std::nullopt;
  unsigned length = clang::Lexer::MeasureTokenLength(place, sources_, context_.getLangOpts());
  // `>>` that closes two template argument lists is two tokens to the parser.
  if (offset < tree_.text.size() && tree_.text[offset] == '>') length = 1;
  return std::min<std::uint32_t>(offset + length, static_cast<std::uint32_t>(tree_.text.size()));
}

bool Converter::IsUser(clang::SourceLocation location) const {
  if (location.isInvalid()) return false;
  const clang::SourceLocation place = sources_.getFileLoc(location);
  return sources_.getFileID(place) == sources_.getMainFileID() && !sources_.isInSystemHeader(place);
}

std::string Converter::HeaderOf(clang::SourceLocation location) const {
  // The header that user text includes is the outermost one of the system's.
  std::string header;
  clang::SourceLocation place = sources_.getFileLoc(location);
  while (place.isValid()) {
    const clang::PresumedLoc presumed = sources_.getPresumedLoc(place);
    if (presumed.isInvalid() || !sources_.isInSystemHeader(place)) break;
    const std::string_view name = presumed.getFilename();
    if (!name.empty() && name.front() != '<' && name != kHeadersName) header = name;
    place = presumed.getIncludeLoc();
  }
  return AsIncluded(header, options_.system_folders);
}

void Converter::SetTypes(clang::QualType type, Node& node) const {
  if (type.isNull()) return;
  node.type = type.getAsString(*policy_);
  node.canonical = type.getCanonicalType().getAsString(*policy_);
}

void Converter::SetLayout(clang::QualType type, Node& node) const {
  const auto sizable = [](clang::QualType t) {
    return !t.isNull() && !t->isDependentType() && !t->isIncompleteType() && !t->isFunctionType() &&
           !t->isReferenceType() && !t->isPlaceholderType() &&
           !t->isUndeducedType();  // of an initialiser with an error
  };
  const auto size = [&](clang::QualType t) -> std::int64_t {
    return sizable(t) ? context_.getTypeSizeInChars(t).getQuantity() : 0;
  };
  if (type.isNull() || type->isDependentType()) return;
  clang::QualType element;
  if (type->isPointerType()) {
    node.type_class = TypeClass::kPointer;
    element = type->getPointeeType();
  } else if (const clang::ArrayType* array = context_.getAsArrayType(type)) {
    node.type_class = TypeClass::kArray;
    element = context_.getBaseElementType(array);
    if (const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(array)) {
      node.element_count = static_cast<std::int64_t>(context_.getConstantArrayElementCount(fixed));
    }
  } else if (type->isRealFloatingType()) {
    node.type_class = TypeClass::kFloating;
  } else if (type->isIntegralOrEnumerationType()) {
    node.type_class =
        type->isSignedIntegerOrEnumerationType() ? TypeClass::kSigned : TypeClass::kUnsigned;
  } else {
    node.type_class = type->isRecordType() ? TypeClass::kRecord : TypeClass::kOther;
  }
  node.type_bytes = size(type);
  if (element.isNull()) return;
  if (element.isConstQualified()) node.flags |= kElementConst;
  node.element_bytes = size(element);
  if (type->isPointerType() && element->isPointerType()) {
    node.pointee_bytes = size(element->getPointeeType());
  }
  node.element = element.getCanonicalType().getUnqualifiedType().getAsString(*policy_);
}

void Converter::Refer(NodeId id, const clang::Decl* declaration) {
  if (declaration != nullptr) fixups_.push_back({id, declaration, true});
}

void Converter::Use(NodeId id, const clang::Decl* declaration) {
  if (declaration != nullptr) fixups_.push_back({id, declaration, false});
}

void Converter::Remember(const clang::Decl* declaration, NodeId id) {
  if (auto place = Begin(declaration->getLocation())) by_place_.emplace(*place, id);
}

NodeId Converter::Resolve(const clang::Decl* declaration) {
  const clang::Decl* found = declaration;
  if (const auto* shadow = llvm::dyn_cast<clang::UsingShadowDecl>(found)) {
    found = shadow->getIntroducer();
  }
  if (const auto* head = llvm::dyn_cast<clang::TemplateDecl>(found)) {
    if (head->getTemplatedDecl() != nullptr) found = head->getTemplatedDecl();
  }
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(found)) {
    // An implicit member stands for its class.
    if (function->isImplicit() && llvm::isa<clang::CXXMethodDecl>(function)) {
      return Resolve(llvm::cast<clang::CXXMethodDecl>(function)->getParent());
    }
    if (const auto* pattern = function->getTemplateInstantiationPattern()) function = pattern;
    if (const auto* body = function->getDefinition()) function = body;
    found = function;
  } else if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(found)) {
    if (tag->getDefinition() != nullptr) found = tag->getDefinition();
  } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(found)) {
    if (const auto* pattern = variable->getTemplateInstantiationPattern()) variable = pattern;
    if (const auto* body = variable->getDefinition()) variable = body;
    found = variable;
  }
  if (IsUser(found->getLocation())) {
    const auto place = Begin(found->getLocation());
    const auto known = place ? by_place_.find(*place) : by_place_.end();
    return known == by_place_.end() ? kNone : known->second;
  }
  return llvm::isa<clang::NamedDecl>(found) ? SystemLeaf(found->getCanonicalDecl()) : kNone;
}

NodeId Converter::SystemLeaf(const clang::Decl* declaration) {
  const auto known = leaves_.find(declaration);
  if (known != leaves_.end()) return known->second;
  const auto* named = llvm::cast<clang::NamedDecl>(declaration);
  Kind kind = Kind::kOtherDeclaration;
  if (llvm::isa<clang::FunctionDecl>(named)) kind = Kind::kFunction;
  if (llvm::isa<clang::VarDecl>(named)) kind = Kind::kVariable;
  if (llvm::isa<clang::ParmVarDecl>(named)) kind = Kind::kParameter;
  if (llvm::isa<clang::FieldDecl>(named)) kind = Kind::kField;
  if (llvm::isa<clang::RecordDecl>(named)) kind = Kind::kRecord;
  if (llvm::isa<clang::EnumDecl>(named)) kind = Kind::kEnum;
  if (llvm::isa<clang::EnumConstantDecl>(named)) kind = Kind::kEnumerator;
  if (llvm::isa<clang::TypedefNameDecl>(named)) kind = Kind::kAlias;
  if (llvm::isa<clang::NamespaceDecl>(named)) kind = Kind::kNamespace;
  const NodeId id = New(kind, 0, named->getSourceRange());
  leaves_.emplace(declaration, id);
  DescribeNamed(named, id);
  at(id).flags |= kSystem;
  at(id).header = HeaderOf(named->getLocation());
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(named)) {
    DescribeFunction(function, at(id));
    if (function->isImplicit() || at(id).name.starts_with("__builtin")) at(id).flags |= kBuiltin;
  } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(named)) {
    DescribeVariable(variable, at(id));
  } else if (const auto* value = llvm::dyn_cast<clang::ValueDecl>(named)) {
    SetTypes(value->getType(), at(id));
    if (llvm::isa<clang::FieldDecl>(named)) at(id).flags |= kMember_;
  }
  return id;
}

void Converter::ResolveAll() {
  for (const Fixup& fixup : fixups_) {
    const NodeId target = Resolve(fixup.declaration);
    if (target == kNone || target == fixup.node) continue;
    if (fixup.refers) {
      at(fixup.node).declaration = target;
      continue;
    }
    std::vector<NodeId>& used = at(fixup.node).types_used;
    if (std::find(used.begin(), used.end(), target) == used.end()) used.push_back(target);
  }
}

// Follows a written type to every declaration that it names.
class TypeNames : public clang::RecursiveASTVisitor<TypeNames> {
 public:
  TypeNames(Converter& converter, NodeId id) : converter_(converter), id_(id) {}

  bool VisitTypedefTypeLoc(clang::TypedefTypeLoc type) { return Use(type.getTypedefNameDecl()); }
  bool VisitTagTypeLoc(clang::TagTypeLoc type) { return Use(type.getDecl()); }
  bool VisitUsingTypeLoc(clang::UsingTypeLoc type) {
    Use(type.getFoundDecl()->getIntroducer());
    return Use(type.getFoundDecl()->getTargetDecl());
  }
  bool VisitInjectedClassNameTypeLoc(clang::InjectedClassNameTypeLoc type) {
    return Use(type.getDecl());
  }
  bool VisitTemplateTypeParmTypeLoc(clang::TemplateTypeParmTypeLoc type) {
    return Use(type.getDecl());
  }
  bool VisitTemplateSpecializationTypeLoc(clang::TemplateSpecializationTypeLoc type) {
    return Use(type.getTypePtr()->getTemplateName().getAsTemplateDecl());
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) { return Use(reference->getDecl()); }
  bool TraverseNestedNameSpecifierLoc(clang::NestedNameSpecifierLoc qualifier) {
    for (clang::NestedNameSpecifierLoc part = qualifier; part; part = part.getPrefix()) {
      Use(part.getNestedNameSpecifier()->getAsNamespaceAlias());
    }
    return RecursiveASTVisitor::TraverseNestedNameSpecifierLoc(qualifier);
  }

 private:
  bool Use(const clang::Decl* declaration) {
    converter_.Use(id_, declaration);
    return true;
  }
  Converter& converter_;
  NodeId id_;
};

void Converter::UseType(NodeId id, const clang::TypeSourceInfo* type) {
  if (type != nullptr) TypeNames(*this, id).TraverseTypeLoc(type->getTypeLoc());
}

// What the values in __launch_bounds__(...) and alignas(...) name.
void Converter::UseAttributes(NodeId id, const clang::Decl* declaration) {
  TypeNames names(*this, id);
  const auto use = [&names](clang::Expr* expression) {
    if (expression != nullptr) names.TraverseStmt(expression);
  };
  for (const clang::Attr* attribute : declaration->attrs()) {
    if (const auto* bounds = llvm::dyn_cast<clang::CUDALaunchBoundsAttr>(attribute)) {
      use(bounds->getMaxThreads());
      use(bounds->getMinBlocks());
      use(bounds->getMaxBlocks());
    } else if (const auto* aligned = llvm::dyn_cast<clang::AlignedAttr>(attribute)) {
      if (aligned->isAlignmentExpr()) {
        use(aligned->getAlignmentExpr());
      } else if (aligned->getAlignmentType() != nullptr) {
        UseType(id, aligned->getAlignmentType());
      }
    }
  }
}

void Converter::UseQualifier(NodeId id, const clang::NestedNameSpecifierLoc& qualifier) {
  TypeNames(*this, id).TraverseNestedNameSpecifierLoc(qualifier);
}

void Converter::UseTemplateArguments(NodeId id, const clang::Expr* reference) {
  llvm::ArrayRef<clang::TemplateArgumentLoc> arguments;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(reference)) {
    arguments = name->template_arguments();
  } else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(reference)) {
    arguments = member->template_arguments();
  } else if (const auto* overloads = llvm::dyn_cast<clang::OverloadExpr>(reference)) {
    arguments = overloads->template_arguments();
  }
  TypeNames names(*this, id);
  for (const clang::TemplateArgumentLoc& argument : arguments) {
    names.TraverseTemplateArgumentLoc(argument);
  }
}

}  // namespace cupilot::source
