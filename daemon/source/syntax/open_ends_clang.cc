// Functions that have to return a value and whose end can be reached without one.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Analysis/CFG.h>

#include <algorithm>
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

}  // namespace

// Of a template what its instances do: what it is made with decides which ends are there.
bool HasOpenEnd(const clang::FunctionDecl* function) {
  const clang::FunctionTemplateDecl* head = function->getDescribedFunctionTemplate();
  if (head == nullptr) return IsOpen(function);
  const auto instances = head->specializations();
  return std::any_of(instances.begin(), instances.end(), IsOpen);
}

}  // namespace cupilot::source
