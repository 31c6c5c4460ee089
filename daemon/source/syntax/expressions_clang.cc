// Expressions.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include "source/syntax/converter.h"

namespace cupilot::source {
namespace {

// Arguments that the caller wrote: a default argument ends the list.
template <class T>
unsigned WrittenArguments(const T* call) {
  unsigned count = 0;
  while (count < call->getNumArgs() && !llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(count))) {
    ++count;
  }
  return count;
}

std::string Spelling(clang::OverloadedOperatorKind kind) {
  const char* text = clang::getOperatorSpelling(kind);
  return text == nullptr ? "" : text;
}

}  // namespace

NodeId Converter::Expression(const clang::Expr* expression, NodeId parent) {
  expression = Strip(expression, parent);
  if (expression == nullptr) return kNone;
  return ConvertExpression(expression, parent);
}

const clang::Expr* Converter::Strip(const clang::Expr* expression, NodeId parent) {
  while (expression != nullptr) {
    const clang::Expr* inner = nullptr;
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression)) {
      inner = cast->getSubExpr();
    } else if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expression)) {
      inner = full->getSubExpr();
    } else if (const auto* temporary =
                   llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression)) {
      inner = temporary->getSubExpr();
    } else if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression)) {
      inner = bound->getSubExpr();
    } else if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression)) {
      inner = list->getSubExpr();
    } else if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(expression)) {
      inner = opaque->getSourceExpr();
      if (inner == nullptr) return nullptr;
    } else if (const auto* value =
                   llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression)) {
      inner = value->getReplacement();
    } else if (llvm::isa<clang::CXXDefaultArgExpr, clang::CXXDefaultInitExpr,
                         clang::ImplicitValueInitExpr>(expression)) {
      return nullptr;
    } else if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
      if (llvm::isa<clang::CXXTemporaryObjectExpr>(construct)) return expression;
      if (construct->getParenOrBraceRange().isValid()) return expression;
      Use(parent, construct->getConstructor());
      if (WrittenArguments(construct) == 0) return nullptr;
      if (WrittenArguments(construct) > 1) return expression;
      inner = construct->getArg(0);
    } else if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression)) {
      const clang::CXXMethodDecl* method = call->getMethodDecl();
      if (method == nullptr || !llvm::isa<clang::CXXConversionDecl>(method)) return expression;
      const auto* member = llvm::dyn_cast<clang::MemberExpr>(call->getCallee());
      // `x.operator int()` is written, a conversion is not.
      if (member != nullptr && Begin(member->getMemberLoc()) != Begin(member->getBeginLoc())) {
        return expression;
      }
      Use(parent, method);
      inner = call->getImplicitObjectArgument();
    } else {
      return expression;
    }
    expression = inner;
  }
  return nullptr;
}

NodeId Converter::ConvertExpression(const clang::Expr* e, NodeId parent) {
  using namespace clang;
  if (isa<CUDAKernelCallExpr, CXXOperatorCallExpr, CXXMemberCallExpr, CallExpr>(e)) {
    return Call(e, parent);
  }
  if (isa<DeclRefExpr, MemberExpr, OverloadExpr, DependentScopeDeclRefExpr,
          CXXDependentScopeMemberExpr>(e)) {
    return Reference(e, parent);
  }
  if (isa<IntegerLiteral, FloatingLiteral, clang::CharacterLiteral, clang::StringLiteral,
          CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, GNUNullExpr>(e)) {
    return Literal(e, parent);
  }
  if (isa<BinaryOperator, UnaryOperator, AbstractConditionalOperator, ArraySubscriptExpr,
          CXXRewrittenBinaryOperator>(e)) {
    return Operator(e, parent);
  }
  if (isa<ExplicitCastExpr, UnaryExprOrTypeTraitExpr, CXXNewExpr, CXXScalarValueInitExpr,
          CXXUnresolvedConstructExpr, CompoundLiteralExpr>(e)) {
    return TypeExpression(e, parent);
  }
  if (const auto* construct = dyn_cast<CXXConstructExpr>(e)) return Construct(construct, parent);
  if (const auto* lambda = dyn_cast<LambdaExpr>(e)) return LambdaExpression(lambda, parent);
  if (const auto* paren = dyn_cast<ParenExpr>(e)) {
    const NodeId id = NewExpression(Kind::kParen, parent, e);
    Add(id, paren->getSubExpr());
    return id;
  }
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    if (list->isSemanticForm() && list->getSyntacticForm() != nullptr) {
      list = list->getSyntacticForm();
    }
    const NodeId id = NewExpression(Kind::kInitList, parent, e);
    for (const clang::Expr* item : list->inits()) Add(id, item);
    return id;
  }
  if (const auto* self = dyn_cast<CXXThisExpr>(e)) {
    // An implicit `this` stands nowhere in the text.
    return self->isImplicit() ? kNone : NewExpression(Kind::kThis, parent, e);
  }
  const NodeId id = NewExpression(Kind::kOtherExpression, parent, e);
  at(id).name = e->getStmtClassName();
  AddChildren(id, e);
  return id;
}

NodeId Converter::Reference(const clang::Expr* e, NodeId parent) {
  const bool member =
      llvm::isa<clang::MemberExpr, clang::CXXDependentScopeMemberExpr, clang::UnresolvedMemberExpr>(
          e);
  const NodeId id = NewExpression(member ? Kind::kMember : Kind::kDeclRef, parent, e);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e)) {
    at(id).name = name->getNameInfo().getAsString();
    if (name->getQualifierLoc()) UseQualifier(id, name->getQualifierLoc());
    UseTemplateArguments(id, name);
    Refer(id, name->getDecl());
    if (name->getFoundDecl() != name->getDecl()) Use(id, name->getFoundDecl());
  } else if (const auto* access = llvm::dyn_cast<clang::MemberExpr>(e)) {
    at(id).name = access->getMemberNameInfo().getAsString();
    if (access->isArrow()) at(id).flags |= kArrow;
    if (access->getQualifierLoc()) UseQualifier(id, access->getQualifierLoc());
    UseTemplateArguments(id, access);
    Refer(id, access->getMemberDecl());
    Add(id, access->getBase());
  } else if (const auto* overloads = llvm::dyn_cast<clang::OverloadExpr>(e)) {
    Overloads(overloads, id);
    if (const auto* unresolved = llvm::dyn_cast<clang::UnresolvedMemberExpr>(e)) {
      if (unresolved->isArrow()) at(id).flags |= kArrow;
      if (!unresolved->isImplicitAccess()) Add(id, unresolved->getBase());
    }
  } else if (const auto* scope = llvm::dyn_cast<clang::DependentScopeDeclRefExpr>(e)) {
    at(id).name = scope->getNameInfo().getAsString();
    UseQualifier(id, scope->getQualifierLoc());
  } else if (const auto* late = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(e)) {
    at(id).name = late->getMemberNameInfo().getAsString();
    if (late->isArrow()) at(id).flags |= kArrow;
    if (!late->isImplicitAccess()) Add(id, late->getBase());
  }
  return id;
}

void Converter::Overloads(const clang::OverloadExpr* expression, NodeId id) {
  at(id).name = expression->getNameInfo().getAsString();
  if (expression->getQualifierLoc()) UseQualifier(id, expression->getQualifierLoc());
  UseTemplateArguments(id, expression);
  bool first = true;
  for (const clang::NamedDecl* candidate : expression->decls()) {
    if (first) Refer(id, candidate->getUnderlyingDecl());
    first = false;
    Use(id, candidate->getUnderlyingDecl());
  }
}

NodeId Converter::Call(const clang::Expr* e, NodeId parent) {
  const auto* call = llvm::cast<clang::CallExpr>(e);
  const clang::Decl* callee = call->getCalleeDecl();
  if (const auto* launch = llvm::dyn_cast<clang::CUDAKernelCallExpr>(e)) {
    const NodeId id = NewExpression(Kind::kKernelLaunch, parent, e);
    Add(id, launch->getCallee());
    const clang::CallExpr* configuration = launch->getConfig();
    const unsigned written = configuration == nullptr ? 0 : WrittenArguments(configuration);
    at(id).value = std::to_string(written);
    for (unsigned i = 0; i < written; ++i) Add(id, configuration->getArg(i));
    for (unsigned i = 0; i < WrittenArguments(call); ++i) Add(id, call->getArg(i));
    if (callee != nullptr) Refer(id, callee);
    return id;
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e)) {
    const NodeId id = NewExpression(Kind::kOperatorCall, parent, e);
    at(id).name = Spelling(operation->getOperator());
    if (callee != nullptr) Refer(id, callee);
    // The unused int of a postfix ++ is no operand.
    const bool postfix = (operation->getOperator() == clang::OO_PlusPlus ||
                          operation->getOperator() == clang::OO_MinusMinus) &&
                         operation->getNumArgs() == 2;
    const unsigned count = postfix ? 1 : WrittenArguments(call);
    for (unsigned i = 0; i < count; ++i) Add(id, call->getArg(i));
    return id;
  }
  const bool member = llvm::isa<clang::CXXMemberCallExpr>(e);
  const NodeId id = NewExpression(member ? Kind::kMemberCall : Kind::kCall, parent, e);
  if (callee != nullptr) Refer(id, callee);
  Add(id, call->getCallee());
  const NodeId first = at(id).children.empty() ? kNone : at(id).children.front();
  if (first != kNone && (at(first).kind == Kind::kDeclRef || at(first).kind == Kind::kMember)) {
    at(id).name = at(first).name;
  }
  for (unsigned i = 0; i < WrittenArguments(call); ++i) Add(id, call->getArg(i));
  return id;
}

NodeId Converter::Literal(const clang::Expr* e, NodeId parent) {
  Kind kind = Kind::kIntLiteral;
  if (llvm::isa<clang::FloatingLiteral>(e)) kind = Kind::kFloatLiteral;
  if (llvm::isa<clang::CharacterLiteral>(e)) kind = Kind::kCharLiteral;
  if (llvm::isa<clang::StringLiteral>(e)) kind = Kind::kStringLiteral;
  if (llvm::isa<clang::CXXBoolLiteralExpr>(e)) kind = Kind::kBoolLiteral;
  if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(e)) kind = Kind::kNullPointer;
  const NodeId id = NewExpression(kind, parent, e);
  at(id).name = std::string(tree_.TextOf(id));
  return id;
}

NodeId Converter::Operator(const clang::Expr* e, NodeId parent) {
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e)) {
    Kind kind = Kind::kBinary;
    if (binary->isCompoundAssignmentOp()) {
      kind = Kind::kCompoundAssign;
    } else if (binary->isAssignmentOp()) {
      kind = Kind::kAssign;
    }
    const NodeId id = NewExpression(kind, parent, e);
    at(id).name = binary->getOpcodeStr().str();
    Add(id, binary->getLHS());
    Add(id, binary->getRHS());
    return id;
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    const NodeId id = NewExpression(Kind::kUnary, parent, e);
    at(id).name = clang::UnaryOperator::getOpcodeStr(unary->getOpcode()).str();
    if (unary->isPrefix() || !unary->isPostfix()) at(id).flags |= kPrefix;
    Add(id, unary->getSubExpr());
    return id;
  }
  if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(e)) {
    const NodeId id = NewExpression(Kind::kBinary, parent, e);
    at(id).name = clang::BinaryOperator::getOpcodeStr(rewritten->getOpcode()).str();
    Add(id, rewritten->getLHS());
    Add(id, rewritten->getRHS());
    return id;
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    const NodeId id = NewExpression(Kind::kSubscript, parent, e);
    Add(id, subscript->getLHS());
    Add(id, subscript->getRHS());
    return id;
  }
  const auto* choice = llvm::cast<clang::AbstractConditionalOperator>(e);
  const NodeId id = NewExpression(Kind::kConditional, parent, e);
  if (const auto* elvis = llvm::dyn_cast<clang::BinaryConditionalOperator>(e)) {
    AddFixed(id, elvis->getCommon());
    AddFixed(id, nullptr);
    AddFixed(id, elvis->getFalseExpr());
    return id;
  }
  AddFixed(id, choice->getCond());
  AddFixed(id, choice->getTrueExpr());
  AddFixed(id, choice->getFalseExpr());
  return id;
}

NodeId Converter::TypeExpression(const clang::Expr* e, NodeId parent) {
  if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(e)) {
    const NodeId id = NewExpression(Kind::kCast, parent, e);
    at(id).name = cast->getStmtClassName();
    UseType(id, cast->getTypeInfoAsWritten());
    const clang::SourceRange written = cast->getTypeInfoAsWritten()->getTypeLoc().getSourceRange();
    at(id).type_begin = Begin(written.getBegin()).value_or(0);
    at(id).type_end = End(written.getEnd()).value_or(0);
    if (const auto* plain = llvm::dyn_cast<clang::CStyleCastExpr>(e)) {
      // The whole of what stands between the parentheses, qualifiers included.
      at(id).type_begin = Begin(plain->getLParenLoc()).value_or(0) + 1;
      at(id).type_end = Begin(plain->getRParenLoc()).value_or(0);
    }
    Add(id, cast->getSubExprAsWritten());
    return id;
  }
  if (const auto* trait = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(e)) {
    const NodeId id = NewExpression(Kind::kSizeOf, parent, e);
    std::string word(tree_.TextOf(id).substr(0, 6));
    if (word != "sizeof") word = "alignof";
    // The value of the expression is in children's types; `value` says which operator it is.
    at(id).value = word;
    if (trait->isArgumentType()) {
      UseType(id, trait->getArgumentTypeInfo());
    } else {
      Add(id, trait->getArgumentExpr());
    }
    return id;
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXUnresolvedConstructExpr>(e)) {
    const NodeId id = NewExpression(Kind::kConstruct, parent, e);
    UseType(id, made->getTypeSourceInfo());
    for (const clang::Expr* argument : made->arguments()) Add(id, argument);
    return id;
  }
  const NodeId id = NewExpression(Kind::kOtherExpression, parent, e);
  at(id).name = e->getStmtClassName();
  if (const auto* allocation = llvm::dyn_cast<clang::CXXNewExpr>(e)) {
    UseType(id, allocation->getAllocatedTypeSourceInfo());
  } else if (const auto* zero = llvm::dyn_cast<clang::CXXScalarValueInitExpr>(e)) {
    at(id).kind = Kind::kConstruct;
    UseType(id, zero->getTypeSourceInfo());
  } else if (const auto* literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(e)) {
    UseType(id, literal->getTypeSourceInfo());
  }
  AddChildren(id, e);
  return id;
}

NodeId Converter::Construct(const clang::CXXConstructExpr* construct, NodeId parent) {
  const NodeId id = NewExpression(Kind::kConstruct, parent, construct);
  if (const auto* temporary = llvm::dyn_cast<clang::CXXTemporaryObjectExpr>(construct)) {
    UseType(id, temporary->getTypeSourceInfo());
  } else if (const clang::SourceRange list = construct->getParenOrBraceRange(); list.isValid()) {
    // A variable's initialiser: its range would begin at the variable's name.
    at(id).begin = Begin(list.getBegin()).value_or(at(id).begin);
    at(id).end = End(list.getEnd()).value_or(at(id).end);
  }
  Refer(id, construct->getConstructor());
  for (unsigned i = 0; i < WrittenArguments(construct); ++i) Add(id, construct->getArg(i));
  return id;
}

NodeId Converter::LambdaExpression(const clang::LambdaExpr* lambda, NodeId parent) {
  const NodeId id = NewExpression(Kind::kLambda, parent, lambda);
  const clang::CXXMethodDecl* function = lambda->getCallOperator();
  if (function->getTypeSourceInfo() != nullptr) UseType(id, function->getTypeSourceInfo());
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    const NodeId child = Declaration(parameter, id);
    if (child != kNone) at(id).children.push_back(child);
  }
  for (const clang::LambdaCapture& capture : lambda->explicit_captures()) {
    if (capture.capturesVariable()) Use(id, capture.getCapturedVar());
  }
  Add(id, lambda->getBody());
  if (HasOpenEnd(function)) at(id).flags |= kOpenEnd;
  return id;
}

}  // namespace cupilot::source
