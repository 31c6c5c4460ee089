// What only clang's driver knows about the machine; and which declarations a written type names.
#include "source/syntax/headers.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

#include "base/install_layout.h"
#include "source/syntax/converter.h"

namespace cupilot::source {

std::string HostTriple() { return llvm::sys::getDefaultTargetTriple(); }

std::string FindResourceDir() { return base::ShareFolder() + "/clang"; }

const std::vector<std::string>& HostSystemFolders(const std::string& resource_dir) {
  static std::mutex mutex;
  static std::vector<std::string> folders;
  const std::lock_guard lock(mutex);
  if (!folders.empty()) return folders;
  const std::vector<const char*> arguments = {
      "clang", "-x", "c++", "-fsyntax-only", "-resource-dir", resource_dir.c_str(), "unit.cc"};
  clang::CreateInvocationOptions options;
  options.Diags = clang::CompilerInstance::createDiagnostics(new clang::DiagnosticOptions(),
                                                             new clang::IgnoringDiagConsumer());
  if (const auto invocation = clang::createInvocation(arguments, options)) {
    for (const auto& entry : invocation->getHeaderSearchOpts().UserEntries) {
      folders.push_back(entry.Path);
    }
  }
  return folders;
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
