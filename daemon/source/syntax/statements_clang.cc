// Statements.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include "source/syntax/converter.h"

namespace cupilot::source {
namespace {

// `if (int x = f())` declares where others compare.
template <class T>
const clang::Stmt* ConditionOf(const T* statement) {
  if (statement->getConditionVariable() != nullptr) {
    return statement->getConditionVariableDeclStmt();
  }
  return statement->getCond();
}

}  // namespace

void Converter::Add(NodeId parent, const clang::Stmt* statement) {
  if (statement == nullptr) return;
  const NodeId id = Statement(statement, parent);
  if (id != kNone) at(parent).children.push_back(id);
}

void Converter::AddFixed(NodeId parent, const clang::Stmt* statement) {
  const NodeId id = statement == nullptr ? kNone : Statement(statement, parent);
  at(parent).children.push_back(id);
}

void Converter::AddChildren(NodeId parent, const clang::Stmt* statement) {
  for (const clang::Stmt* child : statement->children()) Add(parent, child);
}

NodeId Converter::Statement(const clang::Stmt* statement, NodeId parent) {
  using S = clang::Stmt;
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    return Expression(expression, parent);
  }
  const clang::SourceRange range = statement->getSourceRange();
  switch (statement->getStmtClass()) {
    case S::AttributedStmtClass:
      return Statement(llvm::cast<clang::AttributedStmt>(statement)->getSubStmt(), parent);
    case S::CompoundStmtClass:
      return WithChildren(Kind::kCompound, statement, parent);
    case S::DeclStmtClass: {
      const NodeId id = New(Kind::kDeclStatement, parent, range);
      for (const clang::Decl* declaration : llvm::cast<clang::DeclStmt>(statement)->decls()) {
        const NodeId child = Declaration(declaration, id);
        if (child != kNone) at(id).children.push_back(child);
      }
      return id;
    }
    case S::IfStmtClass:
    case S::SwitchStmtClass:
    case S::CaseStmtClass:
    case S::DefaultStmtClass:
      return Branch(statement, parent);
    case S::ForStmtClass:
    case S::CXXForRangeStmtClass:
    case S::WhileStmtClass:
    case S::DoStmtClass:
      return Loop(statement, parent);
    case S::BreakStmtClass:
      return New(Kind::kBreak, parent, range);
    case S::ContinueStmtClass:
      return New(Kind::kContinue, parent, range);
    case S::ReturnStmtClass:
      return WithChildren(Kind::kReturn, statement, parent);
    case S::GotoStmtClass:
    case S::IndirectGotoStmtClass:
      return New(Kind::kGoto, parent, range);
    case S::LabelStmtClass: {
      const NodeId id = WithChildren(Kind::kLabel, statement, parent);
      at(id).name = llvm::cast<clang::LabelStmt>(statement)->getName();
      return id;
    }
    case S::GCCAsmStmtClass:
    case S::MSAsmStmtClass: {
      const NodeId id = WithChildren(Kind::kAsm, statement, parent);
      if (llvm::cast<clang::AsmStmt>(statement)->isVolatile()) at(id).flags |= kVolatile;
      return id;
    }
    case S::NullStmtClass:
      return New(Kind::kNullStatement, parent, range);
    default: {
      const NodeId id = WithChildren(Kind::kOtherStatement, statement, parent);
      at(id).name = statement->getStmtClassName();
      return id;
    }
  }
}

NodeId Converter::WithChildren(Kind kind, const clang::Stmt* statement, NodeId parent) {
  const NodeId id = New(kind, parent, statement->getSourceRange());
  AddChildren(id, statement);
  return id;
}

NodeId Converter::Loop(const clang::Stmt* statement, NodeId parent) {
  const clang::SourceRange range = statement->getSourceRange();
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) {
    const NodeId id = New(Kind::kFor, parent, range);
    AddFixed(id, loop->getInit());
    AddFixed(id, ConditionOf(loop));
    AddFixed(id, loop->getInc());
    AddFixed(id, loop->getBody());
    return id;
  }
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) {
    const NodeId id = New(Kind::kRangeFor, parent, range);
    AddFixed(id, loop->getLoopVarStmt());
    AddFixed(id, loop->getRangeInit());
    AddFixed(id, loop->getBody());
    return id;
  }
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement)) {
    const NodeId id = New(Kind::kWhile, parent, range);
    AddFixed(id, ConditionOf(loop));
    AddFixed(id, loop->getBody());
    return id;
  }
  const auto* loop = llvm::cast<clang::DoStmt>(statement);
  const NodeId id = New(Kind::kDo, parent, range);
  AddFixed(id, loop->getBody());
  AddFixed(id, loop->getCond());
  return id;
}

NodeId Converter::Branch(const clang::Stmt* statement, NodeId parent) {
  const clang::SourceRange range = statement->getSourceRange();
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) {
    const NodeId id = New(Kind::kIf, parent, range);
    if (branch->isConstexpr()) at(id).flags |= kConstexpr;
    AddFixed(id, branch->getInit());
    AddFixed(id, ConditionOf(branch));
    AddFixed(id, branch->getThen());
    AddFixed(id, branch->getElse());
    return id;
  }
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(statement)) {
    const NodeId id = New(Kind::kSwitch, parent, range);
    if (choice->getInit() != nullptr) Add(id, choice->getInit());
    Add(id, ConditionOf(choice));
    Add(id, choice->getBody());
    return id;
  }
  if (const auto* label = llvm::dyn_cast<clang::CaseStmt>(statement)) {
    const NodeId id = New(Kind::kCase, parent, range);
    Add(id, label->getLHS());
    Add(id, label->getRHS());
    Add(id, label->getSubStmt());
    return id;
  }
  const NodeId id = New(Kind::kDefault, parent, range);
  Add(id, llvm::cast<clang::DefaultStmt>(statement)->getSubStmt());
  return id;
}

}  // namespace cupilot::source
