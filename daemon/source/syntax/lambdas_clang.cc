// Lambdas as arguments of kernel templates: what a function object needs that says the same, or why
// there is none.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <llvm/ADT/SetVector.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/hash.h"
#include "source/syntax/converter.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {

// What a call operator names that is declared outside of it.
class Mentioned : public clang::RecursiveASTVisitor<Mentioned> {
  using Base = clang::RecursiveASTVisitor<Mentioned>;

 public:
  Mentioned(const clang::CXXMethodDecl* function, const clang::PrintingPolicy& policy)
      : function_(function), policy_(policy) {
    for (clang::ParmVarDecl* parameter : function->parameters()) TraverseDecl(parameter);
    TraverseStmt(function->getBody());
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const clang::ValueDecl* target = reference->getDecl();
    if (IsInside(target) || target->getDeclContext() == function_->getParent()) return true;
    if (target->getParentFunctionOrMethod() != nullptr) {
      ++locals[target];
      if (within_constant_ > 0) constants.insert(target);
    } else {
      Add(target);
    }
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    const clang::ValueDecl* target = member->getMemberDecl();
    // Its own members are what the lambda captures.
    if (target->getDeclContext() != function_->getParent() && !IsInside(target)) Add(target);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    if (!IsInside(made->getConstructor())) Add(made->getConstructor());
    return true;
  }
  // What compilers evaluate themselves, or not at all.
  bool TraverseConstantExpr(clang::ConstantExpr* e) {
    return Within([&] { return Base::TraverseConstantExpr(e); });
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr* e) {
    return Within([&] { return Base::TraverseUnaryExprOrTypeTraitExpr(e); });
  }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr* e) {
    return Within([&] { return Base::TraverseCXXNoexceptExpr(e); });
  }
  bool TraverseStaticAssertDecl(clang::StaticAssertDecl* d) {
    return Within([&] { return Base::TraverseStaticAssertDecl(d); });
  }
  bool TraverseEnumConstantDecl(clang::EnumConstantDecl* d) {
    return Within([&] { return Base::TraverseEnumConstantDecl(d); });
  }
  bool TraverseTemplateArgumentLoc(const clang::TemplateArgumentLoc& a) {
    return Within([&] { return Base::TraverseTemplateArgumentLoc(a); });
  }
  bool TraverseTypeLoc(clang::TypeLoc place) {
    return Within([&] { return Base::TraverseTypeLoc(place); });
  }
  bool TraverseAttr(clang::Attr* attribute) {
    return Within([&] { return Base::TraverseAttr(attribute); });
  }
  bool TraverseVarDecl(clang::VarDecl* variable) {
    if (!variable->isConstexpr()) return Base::TraverseVarDecl(variable);
    return Within([&] { return Base::TraverseVarDecl(variable); });
  }
  bool VisitTypeLoc(clang::TypeLoc place) {
    const clang::TagDecl* tag = place.getType()->getAsTagDecl();
    if (tag != nullptr && IsInside(tag)) return true;
    if (const auto alias = place.getAs<clang::TypedefTypeLoc>()) {
      if (IsInside(alias.getTypedefNameDecl())) return true;
      declarations.insert(alias.getTypedefNameDecl());
      AddType(alias.getTypedefNameDecl()->getNameAsString(), place.getType());
    } else if (place.getAs<clang::TagTypeLoc>() ||
               place.getAs<clang::TemplateSpecializationTypeLoc>() ||
               place.getAs<clang::SubstTemplateTypeParmTypeLoc>()) {
      AddType("", place.getType());
    }
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr*) {
    problem = "has another lambda in it";
    return true;
  }
  bool VisitPredefinedExpr(clang::PredefinedExpr*) {
    problem = "asks for the name of the function that it is in";
    return true;
  }

  llvm::SetVector<const clang::Decl*> declarations;       // outside of functions, as they are met
  std::map<const clang::ValueDecl*, std::size_t> locals;  // of functions, itself not: how often
  std::set<const clang::ValueDecl*>
      constants;  // those of them that are asked for while it compiles
  std::set<clang::QualType, bool (*)(clang::QualType, clang::QualType)> types{
      [](clang::QualType a, clang::QualType b) { return a.getAsOpaquePtr() < b.getAsOpaquePtr(); }};
  std::set<std::string> texts;
  std::string problem;

 private:
  bool IsInside(const clang::Decl* declaration) const {
    for (const clang::DeclContext* up = declaration->getDeclContext(); up != nullptr;
         up = up->getParent()) {
      if (llvm::dyn_cast<clang::FunctionDecl>(up) == function_) return true;
    }
    return false;
  }
  void Add(const clang::ValueDecl* target) {
    declarations.insert(target);
    texts.insert(target->getQualifiedNameAsString() + " " +
                 target->getType().getCanonicalType().getAsString(policy_));
  }
  void AddType(const std::string& name, clang::QualType type) {
    types.insert(type.getCanonicalType());
    texts.insert("type " + name + " " + type.getCanonicalType().getAsString(policy_));
  }

  template <class Function>
  bool Within(Function traverse) {
    ++within_constant_;
    const bool go_on = traverse();
    --within_constant_;
    return go_on;
  }

  const clang::CXXMethodDecl* function_;
  const clang::PrintingPolicy& policy_;
  int within_constant_ = 0;
};

// The lambdas of a function, those inside of them not.
class LambdasOfFunction : public clang::RecursiveASTVisitor<LambdasOfFunction> {
 public:
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    found.push_back(lambda);
    return true;
  }
  std::vector<const clang::LambdaExpr*> found;
};

namespace {

template <class Attribute>
bool IsWrittenOn(const clang::Decl* declaration) {
  const auto* attribute = declaration->getAttr<Attribute>();
  return attribute != nullptr && !attribute->isImplicit();
}

// text[begin, end) without comments and line markers, so that it stays the same where it is moved.
std::string PlainText(std::string_view text, std::size_t begin, std::size_t end) {
  std::string plain;
  std::size_t at = begin;
  for (const Token& token : Lex(text, begin, end)) {
    const std::string_view gap = text.substr(at, token.begin - at);
    at = token.end;
    if (token.kind == TokenKind::kDirective) continue;
    if (!gap.empty()) plain += gap.find('\n') == std::string_view::npos ? ' ' : '\n';
    plain += Spelling(text, token);
  }
  return plain;
}

std::string SignatureOf(const clang::LambdaExpr* lambda) {
  std::string text;
  for (const clang::ParmVarDecl* parameter : lambda->getCallOperator()->parameters()) {
    text += parameter->getType().getCanonicalType().getAsString() + ", ";
  }
  return text;
}

// Names of the namespaces around a declaration, outermost first.
std::vector<std::string> NamespacesAround(const clang::Decl* declaration) {
  std::vector<std::string> names;
  for (const clang::DeclContext* up = declaration->getDeclContext(); up != nullptr;
       up = up->getParent()) {
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(up)) {
      names.push_back(space->getNameAsString());
    }
  }
  std::reverse(names.begin(), names.end());
  return names;
}

bool IsOverloaded(const clang::FunctionDecl* function) {
  const auto others = function->getDeclContext()->lookup(function->getDeclName());
  return std::any_of(others.begin(), others.end(), [&](const clang::NamedDecl* other) {
    return other->getCanonicalDecl() != function->getCanonicalDecl();
  });
}

}  // namespace

std::vector<std::string> Converter::MentionsOf(const clang::CXXMethodDecl* function) {
  const Mentioned mentioned(function, *policy_);
  return {mentioned.texts.begin(), mentioned.texts.end()};
}

void Converter::DescribeMember(clang::QualType type, Lambda::Member& member) const {
  Node node;
  SetLayout(type, node);
  member.type_class = node.type_class;
  member.bytes = context_.getTypeSizeInChars(type).getQuantity();
  member.alignment = context_.getTypeAlignInChars(type).getQuantity();
}

std::string Converter::FillMembers(const clang::CXXRecordDecl* closure, Lambda& lambda) {
  auto field = closure->field_begin();
  for (const clang::LambdaCapture& capture : closure->captures()) {
    if (capture.capturesThis()) return "captures 'this'";
    if (!capture.capturesVariable()) return "captures an array of variable length";
    const std::string name = capture.getCapturedVar()->getNameAsString();
    if (capture.getCaptureKind() == clang::LCK_ByRef) return "captures '" + name + "' by reference";
    if (capture.isPackExpansion() || field == closure->field_end()) return "captures a pack";
    const clang::QualType type = (field++)->getType().getCanonicalType();
    if (type->isArrayType()) return "captures the array '" + name + "'";
    if (type.isVolatileQualified() || !type.isTriviallyCopyableType(context_)) {
      return "captures '" + name + "', whose bytes alone are not its value";
    }
    if (std::string why = WhyNameless(type); !why.empty()) {
      return "captures '" + name + "' of " + why;
    }
    if (type->isScopedEnumeralType() ||
        (type->isIntegerType() && context_.getTypeSizeInChars(type).getQuantity() > 8)) {
      return "captures '" + name + "', which no guard can compare";
    }
    const bool known = std::any_of(lambda.members.begin(), lambda.members.end(),
                                   [&](const Lambda::Member& one) { return one.name == name; });
    if (known) return "captures two variables that are called '" + name + "'";
    std::string declaration = name;
    type.getAsStringInternal(declaration, *policy_);
    lambda.members.push_back({std::move(declaration), name, {}});
    DescribeMember(type, lambda.members.back());
  }
  return field == closure->field_end() ? "" : "captures what has no name";
}

// Constants of the function around it that [=] allows to use: nvcc captures them where they are
// first used, others only where their address matters.
std::string Converter::FillConstants(const clang::CXXRecordDecl* closure,
                                     const Mentioned& mentioned, Lambda& lambda) const {
  const bool by_default = closure->getLambdaCaptureDefault() != clang::LCD_None;
  for (const auto& [local, count] : mentioned.locals) {
    const auto capture = std::find_if(
        closure->captures_begin(), closure->captures_end(),
        [&](const clang::LambdaCapture& one) { return one.getCapturedVar() == local; });
    const bool captured = capture != closure->captures_end();
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(local);
    const bool constant = variable != nullptr && variable->isUsableInConstantExpressions(context_);
    if (captured && capture->isExplicit()) continue;
    const std::string name = local->getNameAsString();
    if (closure->getLambdaCaptureDefault() == clang::LCD_ByRef) {
      return "captures '" + name + "' by reference";
    }
    if (by_default && ((captured && constant) || mentioned.constants.contains(local))) {
      return "uses '" + name + "' where compilers differ in what they capture; list its captures";
    }
    if (captured) continue;
    std::string value = constant ? ValueOf(*variable) : std::string();
    if (value.empty()) {
      return "uses '" + name + "' of the function around it without a capture";
    }
    std::string declaration = name;
    variable->getType().getCanonicalType().getAsStringInternal(declaration, *policy_);
    std::vector<Lambda::Member>& part = by_default ? lambda.members : lambda.constants;
    part.push_back({std::move(declaration), name, std::move(value)});
    DescribeMember(variable->getType(), part.back());
  }
  std::sort(lambda.constants.begin(), lambda.constants.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return {};
}

// Where the members lie depends on the order in which compilers come upon what is captured without
// being listed: after what is listed, as the text has it.
std::string Converter::PutInOrder(const clang::CXXRecordDecl* closure, const Mentioned& mentioned,
                                  Lambda& lambda) const {
  const clang::CXXMethodDecl* function = closure->getLambdaCallOperator();
  const auto begin = Begin(function->getBody()->getBeginLoc());
  const auto end = End(function->getBody()->getEndLoc());
  if (!begin || !end) return "has no text of its own";
  std::map<std::string, std::pair<std::size_t, std::size_t>> found;  // first place, how often
  for (const Token& token : Lex(tree_.text, *begin, *end)) {
    if (token.kind != TokenKind::kIdentifier) continue;
    ++found.emplace(Spelling(tree_.text, token), std::pair(token.begin, 0)).first->second.second;
  }
  const auto listed = static_cast<std::ptrdiff_t>(
      std::count_if(closure->captures_begin(), closure->captures_end(),
                    [](const clang::LambdaCapture& one) { return one.isExplicit(); }));
  const auto first = [&](const Lambda::Member& member) { return found[member.name].first; };
  const auto is_before = [&](const auto& a, const auto& b) { return first(a) < first(b); };
  const auto implicit = lambda.members.begin() + listed;
  const auto constants = std::find_if(implicit, lambda.members.end(),
                                      [](const auto& one) { return !one.value.empty(); });
  if (!std::is_sorted(implicit, constants, is_before)) {
    return "captures what its text does not show in order; list its captures";
  }
  std::sort(implicit, lambda.members.end(), is_before);
  for (const auto& [local, count] : mentioned.locals) {
    const std::string name = local->getNameAsString();
    const bool is_listed = std::any_of(lambda.members.begin(), implicit,
                                       [&](const auto& one) { return one.name == name; });
    if (is_listed || found[name].second == count) continue;
    return "has other things that are called '" + name + "' in it; list its captures";
  }
  return {};
}

// As it stands behind a "=", where that is certain.
std::string Converter::ValueOf(const clang::VarDecl& variable) const {
  const clang::QualType type = variable.getType().getCanonicalType();
  const clang::APValue* value = variable.evaluateValue();
  if (value == nullptr || !type->isBuiltinType()) return {};
  llvm::SmallString<40> text;
  if (value->isInt() && value->getInt().getSignificantBits() < 63) {
    value->getInt().toString(text);
  } else if (value->isFloat() && value->getFloat().isFinite() &&
             (type->isSpecificBuiltinType(clang::BuiltinType::Float) ||
              type->isSpecificBuiltinType(clang::BuiltinType::Double))) {
    const bool single = type->isSpecificBuiltinType(clang::BuiltinType::Float);
    char digits[40];
    const double number =
        single ? double(value->getFloat().convertToFloat()) : value->getFloat().convertToDouble();
    std::snprintf(digits, sizeof digits, single ? "%.9ef" : "%.17e", number);
    text = digits;
  }
  return text.str().str();
}

std::string Converter::FillCall(const clang::CXXRecordDecl* closure, NodeId uses, Lambda& lambda) {
  const clang::CXXMethodDecl* function = closure->getLambdaCallOperator();
  lambda.host_device = IsWrittenOn<clang::CUDAHostAttr>(function);
  if (!IsWrittenOn<clang::CUDADeviceAttr>(function)) return "is not marked __device__";
  if (closure->isGenericLambda()) return "is generic";
  if (std::string why = FillMembers(closure, lambda); !why.empty()) return why;

  const Mentioned mentioned(function, *policy_);
  if (!mentioned.problem.empty()) return mentioned.problem;
  if (std::string why = FillConstants(closure, mentioned, lambda); !why.empty()) return why;
  if (std::string why = PutInOrder(closure, mentioned, lambda); !why.empty()) return why;
  for (const clang::Decl* declaration : mentioned.declarations) Use(uses, declaration);
  for (const clang::QualType type : mentioned.types) UseCanonical(uses, type);
  for (const clang::FieldDecl* field : closure->fields()) UseCanonical(uses, field->getType());
  lambda.mentions = {mentioned.texts.begin(), mentioned.texts.end()};

  const clang::QualType result = function->getReturnType().getCanonicalType();
  if (std::string why = WhyNameless(result); !why.empty()) return "returns " + why;
  const std::string type = result.getAsString(*policy_);
  if (type.find_first_of("([") != std::string::npos) return "returns a " + type;
  const auto body = Begin(function->getBody()->getBeginLoc());
  const auto end = End(function->getBody()->getEndLoc());
  const clang::FunctionTypeLoc written = function->getFunctionTypeLoc();
  const auto open = written ? Begin(written.getLParenLoc()) : std::nullopt;
  const auto close = written ? Begin(written.getRParenLoc()) : std::nullopt;
  if (!body || !end) return "has no text of its own";
  const bool has_list = open && close && *open < *close && *close < *body;
  if (!has_list && !function->parameters().empty()) return "has no text of its own";
  lambda.call = type + " operator()" +
                (has_list ? PlainText(tree_.text, *open, *close + 1) : std::string("()")) +
                (function->isConst() ? " const " : " ") + PlainText(tree_.text, *body, *end);
  return {};
}

// The function around a lambda, and how its own name follows from those before it.
std::string Converter::FillPlace(const clang::CXXRecordDecl* closure, Lambda& lambda) {
  lambda.begin = Begin(closure->getBeginLoc()).value_or(0);
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(closure->getDeclContext());
  const auto* method = llvm::dyn_cast_if_present<clang::CXXMethodDecl>(function);
  if (function == nullptr || llvm::isa<clang::CXXConstructorDecl>(function) ||
      llvm::isa<clang::CXXDestructorDecl>(function) ||
      (method != nullptr && method->getParent()->isLambda())) {
    return "does not stand in a plain function";
  }
  const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern();
  const clang::FunctionDecl* written = pattern != nullptr ? pattern : function;
  LambdasOfFunction all;
  if (written->hasBody()) all.TraverseStmt(written->getBody());
  std::size_t overall = 0, alike = 0;
  const auto is_this = [&](const clang::LambdaExpr* one) {
    return Begin(one->getBeginLoc()) == Begin(closure->getBeginLoc());
  };
  const auto own = std::find_if(all.found.begin(), all.found.end(), is_this);
  if (own == all.found.end()) return "is not found again in its function";
  const std::string signature = SignatureOf(*own);
  lambda.counted_alike = true;
  for (const clang::LambdaExpr* one : all.found) {
    if (SignatureOf(one) == signature && overall != alike++) lambda.counted_alike = false;
    ++overall;
  }
  if (pattern != nullptr && all.found.size() > 1) return "is one of several of a template";
  lambda.function_begin = Begin(written->getBeginLoc()).value_or(0);
  lambda.function_end = End(written->getEndLoc()).value_or(0);
  lambda.namespaces = NamespacesAround(function);
  llvm::raw_string_ostream shown(lambda.shown);
  function->getNameForDiagnostic(shown, *policy_, true);
  if (IsOverloaded(function)) {
    shown << "(";
    for (const clang::ParmVarDecl* parameter : function->parameters()) {
      shown << (parameter->getFunctionScopeIndex() == 0 ? "" : ", ")
            << parameter->getType().getAsString(*policy_);
    }
    shown << ")";
  }
  shown << "::lambda_" << (own - all.found.begin()) + 1;
  return {};
}

void Converter::LambdaArgument(clang::QualType type, NodeId uses, TemplateArgument& argument) {
  const clang::CXXRecordDecl* closure = type->getAsCXXRecordDecl();
  Lambda lambda;
  clang::PrintingPolicy located = *policy_;
  located.AnonymousTagLocations = true;
  lambda.printed = type.getUnqualifiedType().getAsString(located);
  lambda.problem = FillPlace(closure, lambda);
  if (lambda.problem.empty()) lambda.problem = FillCall(closure, uses, lambda);
  if (lambda.problem.empty() && type.hasQualifiers()) lambda.problem = "is asked for as const";
  base::Hasher hasher;
  for (const std::string& name : lambda.namespaces) hasher.Add(name);
  for (const auto* part : {&lambda.members, &lambda.constants}) {
    for (const Lambda::Member& member : *part) hasher.Add(member.declaration).Add(member.value);
    hasher.Add("end");
  }
  hasher.Add(lambda.host_device ? "host device" : "device");
  lambda.name = std::string(kLambdaPrefix) + hasher.Add(lambda.call).Hex().substr(0, 16);
  for (const std::string& name : lambda.namespaces) {
    if (!name.empty()) argument.text += name + "::";
  }
  argument.text += lambda.name;
  argument.problem = lambda.problem.empty() ? "" : "a lambda that " + lambda.problem;
  argument.lambda = std::make_shared<const Lambda>(std::move(lambda));
}

}  // namespace cupilot::source
