// Declarations.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>

#include "source/syntax/converter.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

template <class Attribute>
bool Written(const clang::Decl* declaration) {
  const auto* attribute = declaration->getAttr<Attribute>();
  return attribute != nullptr && !attribute->isImplicit();
}

// Words before a declared name that are not part of its type.
bool IsSpecifier(std::string_view word) {
  static constexpr std::array<std::string_view, 20> kWords = {
      "static",    "extern",   "inline",     "constexpr",    "__inline__",
      "__inline",  "mutable",  "register",   "thread_local", "__thread",
      "virtual",   "explicit", "friend",     "typedef",      "consteval",
      "constinit", "__host__", "__device__", "__global__",   "__extension__"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// A temporary that lives as long as the program because a reference is bound to it.
// One that is destroyed at the end, or that may be written: "constexpr int&& count = 0".
bool KeepsLivingTemporary(const clang::Stmt* part) {
  if (part == nullptr) return false;
  if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(part)) {
    const bool lasting = kept->getStorageDuration() == clang::SD_Static ||
                         kept->getStorageDuration() == clang::SD_Thread;
    const clang::QualType type = kept->getType();
    const bool lives =
        type.isDestructedType() != clang::QualType::DK_none || !type.isConstQualified();
    if (lasting && lives) return true;
  }
  return std::any_of(part->child_begin(), part->child_end(), KeepsLivingTemporary);
}

bool HasMutableFields(clang::QualType type) {
  const auto* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  return record != nullptr && record->hasDefinition() && record->hasMutableFields();
}

// Members that are initialised where they stand are, too: whether that is constant is asked of no
// other compiler.
bool IsMadeByCode(clang::QualType type) {
  const auto* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  return record != nullptr && record->hasDefinition() && !record->hasTrivialDefaultConstructor();
}

// Of a constexpr variable in a template: a number or numbers; or what each instance says.
bool IsConstantWhateverItIs(const clang::VarDecl* variable) {
  const clang::QualType type = variable->getType();
  if (!type->isDependentType()) {
    const clang::Type* element = type->getBaseElementTypeUnsafe();
    return element->isArithmeticType() || element->isEnumeralType();
  }
  const clang::VarTemplateDecl* head = variable->getDescribedVarTemplate();
  if (head == nullptr) return false;
  const auto specialisations = head->specializations();
  return std::none_of(specialisations.begin(), specialisations.end(),
                      [](const clang::VarTemplateSpecializationDecl* one) {
                        return HasMutableFields(one->getType()) ||
                               KeepsLivingTemporary(one->getInit());
                      });
}

bool IsAttribute(std::string_view word) {
  return word == "__attribute__" || word == "__attribute" || word == "alignas" ||
         word == "__declspec" || word == "_Alignas";
}

}  // namespace

void Converter::Declarations(const clang::DeclContext& context, NodeId parent) {
  // Of kept headers only what is used: all that stands in the text itself is there.
  for (const clang::Decl* declaration : context.noload_decls()) {
    const NodeId id = Declaration(declaration, parent);
    if (id != kNone) at(parent).children.push_back(id);
  }
}

NodeId Converter::Declaration(const clang::Decl* declaration, NodeId parent) {
  using K = clang::Decl;
  if (declaration->isImplicit() || !IsUser(declaration->getLocation())) return kNone;
  if (const auto* head = llvm::dyn_cast<clang::TemplateDecl>(declaration)) {
    return Templated(head, parent);
  }
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
    return Function(function, parent, nullptr);
  }
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
    return Variable(variable, parent, nullptr);
  }
  if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(declaration)) {
    return Tag(tag, parent, nullptr);
  }
  switch (declaration->getKind()) {
    case K::Namespace:
    case K::LinkageSpec:
      return Scope(declaration, parent);
    case K::Field:
      return Field(llvm::cast<clang::FieldDecl>(declaration), parent);
    case K::EnumConstant:
      return Enumerator(declaration, parent);
    case K::Typedef:
    case K::TypeAlias:
      return Alias(llvm::cast<clang::NamedDecl>(declaration), parent, nullptr);
    case K::Using:
    case K::UsingEnum:
    case K::UsingDirective:
    case K::NamespaceAlias:
    case K::UnresolvedUsingValue:
    case K::UnresolvedUsingTypename:
      return Using(llvm::cast<clang::NamedDecl>(declaration), parent);
    case K::StaticAssert: {
      const NodeId id = New(Kind::kStaticAssert, parent, declaration->getSourceRange());
      Add(id, llvm::cast<clang::StaticAssertDecl>(declaration)->getAssertExpr());
      return id;
    }
    case K::Friend:
      return Friend(llvm::cast<clang::FriendDecl>(declaration), parent);
    case K::AccessSpec:
    case K::Empty:
    case K::UsingShadow:
    case K::ConstructorUsingShadow:
    case K::IndirectField:
      return kNone;
    default:
      return New(Kind::kOtherDeclaration, parent, declaration->getSourceRange());
  }
}

NodeId Converter::Templated(const clang::TemplateDecl* head, NodeId parent) {
  const clang::NamedDecl* inner = head->getTemplatedDecl();
  if (inner == nullptr) return New(Kind::kOtherDeclaration, parent, head->getSourceRange());
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(inner)) {
    return Function(function, parent, head);
  }
  if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(inner)) return Tag(tag, parent, head);
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(inner)) {
    return Variable(variable, parent, head);
  }
  return Alias(inner, parent, head);
}

NodeId Converter::Scope(const clang::Decl* declaration, NodeId parent) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(declaration);
  const NodeId id = New(space != nullptr ? Kind::kNamespace : Kind::kLinkage, parent,
                        declaration->getSourceRange());
  if (space != nullptr) {
    DescribeNamed(space, id);
    if (space->isAnonymousNamespace()) at(id).flags |= kUnnamed;
    if (space->isInline()) at(id).flags |= kInline;
  }
  Declarations(*llvm::cast<clang::DeclContext>(declaration), id);
  return id;
}

NodeId Converter::Enumerator(const clang::Decl* declaration, NodeId parent) {
  const auto* constant = llvm::cast<clang::EnumConstantDecl>(declaration);
  const NodeId id = New(Kind::kEnumerator, parent, constant->getSourceRange());
  DescribeNamed(constant, id);
  llvm::SmallString<32> digits;
  constant->getInitVal().toString(digits);
  at(id).value = digits.str().str();
  Remember(constant, id);
  Add(id, constant->getInitExpr());
  return id;
}

NodeId Converter::Function(const clang::FunctionDecl* function, NodeId parent,
                           const clang::TemplateDecl* head) {
  const NodeId id = New(Kind::kFunction, parent,
                        clang::SourceRange(function->getInnerLocStart(), function->getEndLoc()));
  DescribeNamed(function, id);
  DescribeFunction(function, at(id));
  if (auto start = Begin(function->getOuterLocStart())) at(id).template_begin = *start;
  if (head != nullptr) {
    DescribeTemplate(head, at(id));
    TemplateParameters(head->getTemplateParameters(), id);
  }
  LocateType(at(id));
  if (auto scope = Begin(function->getQualifierLoc().getBeginLoc());
      scope && *scope < at(id).type_end) {
    at(id).type_end = *scope;
    while (at(id).type_end > at(id).type_begin && tree_.text[at(id).type_end - 1] == ' ') {
      --at(id).type_end;
    }
  }
  Remember(function, id);
  UseType(id, function->getTypeSourceInfo());
  UseAttributes(id, function);
  if (function->getQualifierLoc()) UseQualifier(id, function->getQualifierLoc());
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
    if (method->isOutOfLine()) Use(id, method->getParent());
  }
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    const NodeId child = Variable(parameter, id, nullptr);
    at(id).children.push_back(child);
  }
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
    for (const clang::CXXCtorInitializer* initialiser : constructor->inits()) {
      if (initialiser->isWritten()) Add(id, initialiser->getInit());
    }
  }
  if (function->doesThisDeclarationHaveABody()) {
    Add(id, function->getBody());
    // Of host code nobody asks.
    if ((at(id).flags & kDeviceAttr) != 0 && HasOpenEnd(function)) at(id).flags |= kOpenEnd;
  }
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (method != nullptr && method->hasBody() && method->isOverloadedOperator() &&
      method->getParent()->getName().starts_with(kLambdaPrefix)) {
    tree_.mentions[id] = MentionsOf(method);
  }
  const auto* instantiated = llvm::dyn_cast_if_present<clang::FunctionTemplateDecl>(head);
  constexpr std::uint32_t kKernelWithBody = kGlobalAttr | kDefinition;
  if ((at(id).flags & kKernelWithBody) != kKernelWithBody) return id;
  if (instantiated != nullptr) {
    Instantiations(instantiated, id);
  } else if (head == nullptr) {
    tree_.callees[id] = Callees(function, kNone, *policy_);
    if (function->getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization) {
      AddInstantiation(function, id);
    }
  }
  return id;
}

void Converter::DescribeFunction(const clang::FunctionDecl* function, Node& node) {
  if (Written<clang::CUDAGlobalAttr>(function)) node.flags |= kGlobalAttr;
  if (Written<clang::CUDADeviceAttr>(function)) node.flags |= kDeviceAttr;
  if (Written<clang::CUDAHostAttr>(function)) node.flags |= kHostAttr;
  if (function->getStorageClass() == clang::SC_Static) node.flags |= kStatic;
  if (function->getStorageClass() == clang::SC_Extern) node.flags |= kExtern;
  if (function->isInlineSpecified()) node.flags |= kInline;
  if (function->isConstexprSpecified()) node.flags |= kConstexpr;
  if (function->doesThisDeclarationHaveABody()) node.flags |= kDefinition;
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
    node.flags |= kMember_;
    if (method->isVirtual()) node.flags |= kVirtual;
  }
  if (function->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate &&
      function->getDescribedFunctionTemplate() != nullptr) {
    node.flags |= kTemplate;
  }
  SetTypes(function->getReturnType(), node);
  if (const clang::FunctionTypeLoc type = function->getFunctionTypeLoc()) {
    if (auto open = Begin(type.getLParenLoc())) node.parameters_begin = *open;
    if (auto close = Begin(type.getRParenLoc())) node.parameters_end = *close;
  }
  const bool special = llvm::isa<clang::CXXConstructorDecl>(function) ||
                       llvm::isa<clang::CXXDestructorDecl>(function) ||
                       llvm::isa<clang::CXXDeductionGuideDecl>(function);
  if (special || function->isDependentContext() || function->isInvalidDecl()) return;
  if (!mangler_->shouldMangleDeclName(function)) {
    node.mangled = function->getNameAsString();
    return;
  }
  llvm::raw_string_ostream out(node.mangled);
  if (Written<clang::CUDAGlobalAttr>(function)) {
    mangler_->mangleName(clang::GlobalDecl(function, clang::KernelReferenceKind::Kernel), out);
  } else {
    mangler_->mangleName(clang::GlobalDecl(function), out);
  }
}

NodeId Converter::Variable(const clang::VarDecl* variable, NodeId parent,
                           const clang::TemplateDecl* head) {
  const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
  const NodeId id = New(parameter != nullptr ? Kind::kParameter : Kind::kVariable, parent,
                        clang::SourceRange(variable->getInnerLocStart(), variable->getEndLoc()));
  DescribeNamed(variable, id);
  DescribeVariable(variable, at(id));
  if (auto start = Begin(variable->getOuterLocStart())) at(id).template_begin = *start;
  if (head != nullptr) {
    DescribeTemplate(head, at(id));
    TemplateParameters(head->getTemplateParameters(), id);
    at(id).type_bytes = std::max(at(id).type_bytes, LargestInstance(head));
  }
  LocateType(at(id));
  UseAttributes(id, variable);
  Remember(variable, id);
  UseType(id, variable->getTypeSourceInfo());
  if (variable->getQualifierLoc()) UseQualifier(id, variable->getQualifierLoc());
  if (parameter != nullptr) {
    if (parameter->hasUninstantiatedDefaultArg()) {
      Add(id, parameter->getUninstantiatedDefaultArg());
    } else if (parameter->hasDefaultArg() && !parameter->hasUnparsedDefaultArg()) {
      Add(id, parameter->getDefaultArg());
    }
  } else {
    Add(id, variable->getInit());
  }
  return id;
}

bool Converter::RunsCode(const clang::VarDecl* variable) const {
  if (!variable->hasGlobalStorage() || llvm::isa<clang::ParmVarDecl>(variable)) return false;
  if (variable->hasAttr<clang::CUDASharedAttr>() || variable->isInvalidDecl()) return false;
  const clang::QualType type = variable->getType();
  const clang::Expr* const init = variable->getInit();
  if (type->isDependentType() || (init != nullptr && init->isValueDependent())) {
    return !variable->isConstexpr() || !IsConstantWhateverItIs(variable);
  }
  if (HasMutableFields(type)) return true;
  if (type.isDestructedType() != clang::QualType::DK_none) return true;
  if (!variable->isConstexpr() && IsMadeByCode(type)) return true;
  if (init == nullptr || KeepsLivingTemporary(init)) return init != nullptr;
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(init->IgnoreImplicit());
  const bool nothing = made != nullptr && made->getConstructor()->isTrivial() &&
                       made->getConstructor()->isDefaultConstructor();
  return !nothing && !variable->hasConstantInitialization();
}

std::int64_t Converter::LargestInstance(const clang::TemplateDecl* head) const {
  std::int64_t largest = 0;
  const auto* variables = llvm::dyn_cast<clang::VarTemplateDecl>(head);
  if (variables == nullptr) return 0;
  for (const clang::VarTemplateSpecializationDecl* one : variables->specializations()) {
    Node sized;
    SetLayout(one->getType(), sized);
    largest = std::max(largest, sized.type_bytes);
  }
  return largest;
}

void Converter::DescribeVariable(const clang::VarDecl* variable, Node& node) {
  if (Written<clang::CUDASharedAttr>(variable)) node.flags |= kSharedAttr;
  if (Written<clang::CUDAConstantAttr>(variable)) node.flags |= kConstantAttr;
  if (Written<clang::CUDADeviceAttr>(variable)) node.flags |= kDeviceAttr;
  if (variable->getStorageClass() == clang::SC_Static) node.flags |= kStatic;
  if (variable->getStorageClass() == clang::SC_Extern) node.flags |= kExtern;
  if (variable->isConstexpr()) node.flags |= kConstexpr;
  if (variable->isInlineSpecified()) node.flags |= kInline;
  if (variable->isLocalVarDecl()) node.flags |= kLocal;
  if (variable->isStaticDataMember()) node.flags |= kMember_;
  if (variable->isThisDeclarationADefinition() == clang::VarDecl::Definition) {
    node.flags |= kDefinition;
  }
  if (RunsCode(variable)) node.flags |= kRunsCode;
  const clang::QualType type = variable->getType();
  if (type.isConstQualified()) node.flags |= kConst;
  if (type.isVolatileQualified() ||
      (type->isPointerType() && type->getPointeeType().isVolatileQualified()) ||
      (type->isArrayType() &&
       type->castAsArrayTypeUnsafe()->getElementType().isVolatileQualified())) {
    node.flags |= kVolatile;
  }
  if (type->isReferenceType()) node.flags |= kReference;
  // __managed__ has no meaning to clang in CUDA mode; the attribute is found in the text.
  if (!variable->isLocalVarDeclOrParm() && node.begin < node.name_begin) {
    const std::string_view before =
        std::string_view(tree_.text).substr(node.begin, node.name_begin - node.begin);
    if (before.find("managed") != std::string_view::npos) node.flags |= kManagedAttr;
  }
  SetTypes(type, node);
  SetLayout(type, node);
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable)) {
    SetTypes(parameter->getOriginalType(), node);
    // What the function's type says: qualifiers of the parameter itself do not count.
    node.canonical = type.getCanonicalType().getUnqualifiedType().getAsString(*policy_);
  }
  if (const clang::Expr* init = variable->getInit();
      init != nullptr && type.isConstQualified() && type->isIntegralOrEnumerationType() &&
      !init->isValueDependent() && !init->containsErrors()) {
    clang::Expr::EvalResult result;
    if (init->EvaluateAsInt(result, context_)) {
      llvm::SmallString<32> digits;
      result.Val.getInt().toString(digits);
      node.value = digits.str().str();
    }
  }
}

NodeId Converter::Tag(const clang::TagDecl* tag, NodeId parent, const clang::TemplateDecl* head) {
  // An instantiation's members stand in no text; what was written is only the request for it.
  if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(tag)) {
    if (special->getSpecializationKind() != clang::TSK_ExplicitSpecialization) {
      if (special->getSpecializationKind() == clang::TSK_ImplicitInstantiation) return kNone;
      return New(Kind::kOtherDeclaration, parent, special->getSourceRange());
    }
  }
  const NodeId id = New(llvm::isa<clang::EnumDecl>(tag) ? Kind::kEnum : Kind::kRecord, parent,
                        clang::SourceRange(tag->getInnerLocStart(), tag->getEndLoc()));
  DescribeNamed(tag, id);
  if (auto start = Begin(tag->getOuterLocStart())) at(id).template_begin = *start;
  if (tag->getIdentifier() == nullptr) at(id).flags |= kUnnamed;
  if (tag->isThisDeclarationADefinition()) at(id).flags |= kDefinition;
  if (tag->getParentFunctionOrMethod() != nullptr) at(id).flags |= kLocal;
  if (!tag->isDependentContext()) {
    SetTypes(context_.getTypeDeclType(tag), at(id));
    SetLayout(context_.getTypeDeclType(tag), at(id));
  }
  if (head != nullptr) {
    DescribeTemplate(head, at(id));
    TemplateParameters(head->getTemplateParameters(), id);
  }
  if (const auto* partial = llvm::dyn_cast<clang::ClassTemplatePartialSpecializationDecl>(tag)) {
    at(id).flags |= kTemplate;
    if (auto start = Begin(partial->getTemplateParameters()->getTemplateLoc())) {
      at(id).template_begin = std::min(at(id).template_begin, *start);
    }
    TemplateParameters(partial->getTemplateParameters(), id);
  }
  if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(tag)) {
    Use(id, special->getSpecializedTemplate());
  }
  UseAttributes(id, tag);
  Remember(tag, id);
  if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(tag)) Bases(record, id);
  if (tag->isThisDeclarationADefinition()) Declarations(*tag, id);
  return id;
}

void Converter::Bases(const clang::CXXRecordDecl* record, NodeId node) {
  if (!record->isThisDeclarationADefinition()) return;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    UseType(node, base.getTypeSourceInfo());
  }
}

NodeId Converter::Field(const clang::DeclaratorDecl* field, NodeId parent) {
  const NodeId id =
      New(Kind::kField, parent, clang::SourceRange(field->getInnerLocStart(), field->getEndLoc()));
  DescribeNamed(field, id);
  at(id).flags |= kMember_;
  if (field->getType().isConstQualified()) at(id).flags |= kConst;
  if (field->getType().isVolatileQualified()) at(id).flags |= kVolatile;
  SetTypes(field->getType(), at(id));
  SetLayout(field->getType(), at(id));
  LocateType(at(id));
  UseAttributes(id, field);
  Remember(field, id);
  UseType(id, field->getTypeSourceInfo());
  if (const auto* member = llvm::dyn_cast<clang::FieldDecl>(field)) {
    if (member->hasInClassInitializer()) Add(id, member->getInClassInitializer());
    if (member->isBitField()) Add(id, member->getBitWidth());
  }
  return id;
}

NodeId Converter::Alias(const clang::NamedDecl* alias, NodeId parent,
                        const clang::TemplateDecl* head) {
  const NodeId id = New(Kind::kAlias, parent, alias->getSourceRange());
  DescribeNamed(alias, id);
  if (head != nullptr) {
    DescribeTemplate(head, at(id));
    TemplateParameters(head->getTemplateParameters(), id);
  }
  Remember(alias, id);
  if (const auto* name = llvm::dyn_cast<clang::TypedefNameDecl>(alias)) {
    SetTypes(name->getUnderlyingType(), at(id));
    UseType(id, name->getTypeSourceInfo());
  }
  return id;
}

NodeId Converter::Friend(const clang::FriendDecl* declaration, NodeId parent) {
  const NodeId id = New(Kind::kFriend, parent, declaration->getSourceRange());
  if (declaration->getFriendType() != nullptr) UseType(id, declaration->getFriendType());
  if (const clang::NamedDecl* named = declaration->getFriendDecl()) {
    const NodeId child = Declaration(named, id);
    if (child != kNone) at(id).children.push_back(child);
  }
  return id;
}

NodeId Converter::Using(const clang::NamedDecl* declaration, NodeId parent) {
  const NodeId id = New(Kind::kUsing, parent, declaration->getSourceRange());
  at(id).name = declaration->getNameAsString();
  if (const auto* directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(declaration)) {
    at(id).name.clear();
    at(id).value = "namespace";
    at(id).qualified = directive->getNominatedNamespace()->getQualifiedNameAsString();
    Use(id, directive->getNominatedNamespace());
  } else if (const auto* alias = llvm::dyn_cast<clang::NamespaceAliasDecl>(declaration)) {
    at(id).value = "alias";
    at(id).qualified = alias->getQualifiedNameAsString();
    Remember(alias, id);
    Use(id, alias->getNamespace());
  } else if (const auto* names = llvm::dyn_cast<clang::UsingDecl>(declaration)) {
    at(id).value = "name";
    Remember(names, id);
    for (const clang::UsingShadowDecl* shadow : names->shadows()) {
      Use(id, shadow->getTargetDecl());
    }
  }
  return id;
}

void Converter::TemplateParameters(const clang::TemplateParameterList* list, NodeId parent) {
  for (const clang::NamedDecl* parameter : *list) {
    if (parameter->isImplicit()) continue;
    const NodeId id = New(Kind::kTemplateParameter, parent, parameter->getSourceRange());
    DescribeNamed(parameter, id);
    Remember(parameter, id);
    if (const auto* value = llvm::dyn_cast<clang::NonTypeTemplateParmDecl>(parameter)) {
      at(id).value = "value";
      SetTypes(value->getType(), at(id));
      UseType(id, value->getTypeSourceInfo());
    } else {
      at(id).value = llvm::isa<clang::TemplateTypeParmDecl>(parameter) ? "type" : "template";
    }
    at(parent).children.push_back(id);
  }
}

void Converter::DescribeTemplate(const clang::TemplateDecl* head, Node& node) {
  node.flags |= kTemplate;
  if (auto start = Begin(head->getBeginLoc())) node.template_begin = *start;
}

void Converter::DescribeNamed(const clang::NamedDecl* declaration, NodeId id) {
  Node& node = at(id);
  node.name = declaration->getNameAsString();
  llvm::raw_string_ostream out(node.qualified);
  // Whether an inline namespace may be left out depends on what else a text declares: of the user's
  // declarations none is.
  clang::PrintingPolicy policy = *policy_;
  if (IsUser(declaration->getLocation())) {
    policy.SuppressInlineNamespace = false;
    policy.SuppressUnwrittenScope = false;
  }
  declaration->printQualifiedName(out, policy);
  // Unnamed scopes are left out of names that users write.
  for (const std::string_view part : {"(anonymous namespace)::", "(anonymous)::"}) {
    for (std::size_t found = node.qualified.find(part); found != std::string::npos;
         found = node.qualified.find(part)) {
      node.qualified.erase(found, part.size());
    }
  }
  if (node.name.empty()) return;
  const auto begin = Begin(declaration->getLocation());
  if (!begin) return;
  node.name_begin = *begin;
  node.name_end = End(declaration->getLocation()).value_or(*begin);
}

void Converter::LocateType(Node& node) {
  const std::uint32_t limit = node.name_begin > node.begin ? node.name_begin : node.end;
  const std::vector<Token> tokens = Lex(tree_.text, node.begin, limit);
  std::size_t first = 0;
  while (first < tokens.size()) {
    const std::string_view word = Spelling(tree_.text, tokens[first]);
    if (IsSpecifier(word) || tokens[first].kind == TokenKind::kString ||
        tokens[first].kind == TokenKind::kDirective) {
      ++first;
    } else if (IsAttribute(word)) {
      first = MatchingToken(tree_.text, tokens, first + 1) + 1;
    } else if (word == "[" && first + 1 < tokens.size() &&
               Spelling(tree_.text, tokens[first + 1]) == "[") {
      first = MatchingToken(tree_.text, tokens, first) + 1;
    } else {
      break;
    }
  }
  std::size_t last = first;
  int depth = 0;
  for (; last < tokens.size(); ++last) {
    const std::string_view word = Spelling(tree_.text, tokens[last]);
    if (IsAttribute(word) || (word == "=" && depth == 0)) break;
    // A second declarator of a group: the text before its name is not its type.
    if (word == "," && depth == 0) return;
    if (word == "<" || word == "(" || word == "[") ++depth;
    if (word == ">" || word == ")" || word == "]") --depth;
  }
  if (first >= last) return;
  node.type_begin = tokens[first].begin;
  node.type_end = tokens[last - 1].end;
}

}  // namespace cupilot::source
