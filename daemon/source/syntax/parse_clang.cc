// Runs clang on one text; places, references and types of the nodes that the other files make.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaCUDA.h>
#include <clang/Sema/SemaConsumer.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "source/syntax/converter.h"
#include "source/syntax/headers.h"
#include "source/syntax/prelude.h"

namespace cupilot::source {
namespace {

// Headers are written for nvcc, where a host function may be declared again for the device, and for
// g++, where there is no such difference: inside them every function counts as both.
class SystemTextWatcher final : public clang::PPCallbacks {
 public:
  explicit SystemTextWatcher(clang::Sema& sema) : sema_(sema) {}
  void FileChanged(clang::SourceLocation, FileChangeReason, clang::SrcMgr::CharacteristicKind kind,
                   clang::FileID) override {
    Set(clang::SrcMgr::isSystem(kind));
  }
  void Set(bool system) {
    if (system == inside_) return;
    inside_ = system;
    if (system) {
      sema_.CUDA().PushForceHostDevice();
    } else {
      sema_.CUDA().PopForceHostDevice();
    }
  }

 private:
  clang::Sema& sema_;
  bool inside_ = false;
};

class Collector final : public clang::DiagnosticConsumer {
 public:
  Collector(std::vector<Diagnostic>& errors, std::string main_file)
      : errors_(errors), main_file_(std::move(main_file)) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    if (!info.hasSourceManager() || info.getLocation().isInvalid()) {
      Append("", 0, 0, 0, info);
      return;
    }
    const clang::SourceManager& sources = info.getSourceManager();
    const clang::SourceLocation place = sources.getFileLoc(info.getLocation());
    if (sources.isInSystemHeader(place) || sources.getFileID(place) != sources.getMainFileID()) {
      return;
    }
    const clang::PresumedLoc presumed = sources.getPresumedLoc(place);
    Append(presumed.getFilename(), static_cast<int>(presumed.getLine()),
           static_cast<int>(presumed.getColumn()), sources.getFileOffset(place), info);
  }

 private:
  void Append(std::string file, int line, int column, std::uint32_t offset,
              const clang::Diagnostic& info) {
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    errors_.push_back({std::move(file), line, column, offset, message.str().str()});
  }

  std::vector<Diagnostic>& errors_;
  std::string main_file_;
};

class TreeConsumer final : public clang::SemaConsumer {
 public:
  TreeConsumer(clang::CompilerInstance& compiler, const std::string& text,
               const ParseOptions& options, Tree& tree)
      : compiler_(compiler), text_(text), options_(options), tree_(tree) {}

  void InitializeSema(clang::Sema& sema) override {
    auto watcher = std::make_unique<SystemTextWatcher>(sema);
    watcher->Set(true);  // the predefines come first
    compiler_.getPreprocessor().addPPCallbacks(std::move(watcher));
  }
  void ForgetSema() override {}
  // What system functions do inside is of no interest (a third of the time goes there).
  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::SourceManager& sources = compiler_.getSourceManager();
    const clang::SourceLocation place = sources.getFileLoc(declaration->getLocation());
    return sources.getFileID(place) != sources.getMainFileID() || sources.isInSystemHeader(place);
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    tree_ = Converter(context, text_, options_).Run();
  }

 private:
  clang::CompilerInstance& compiler_;
  const std::string& text_;
  const ParseOptions& options_;
  Tree& tree_;
};

class ParseAction final : public clang::ASTFrontendAction {
 public:
  ParseAction(const std::string& text, const ParseOptions& options, Tree& tree)
      : text_(text), options_(options), tree_(tree) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.setPredefines(preprocessor.getPredefines() + Prelude(options_.preprocessed));
    return std::make_unique<TreeConsumer>(compiler, text_, options_, tree_);
  }

 private:
  const std::string& text_;
  const ParseOptions& options_;
  Tree& tree_;
};

std::vector<std::string> Arguments(const ParseOptions& options) {
  const std::string resources =
      options.resource_dir.empty() ? FindResourceDir() : options.resource_dir;
  std::vector<std::string> arguments = {"-triple",
                                        HostTriple(),
                                        "-aux-triple",
                                        "nvptx64-nvidia-cuda",
                                        "-fsyntax-only",
                                        "-resource-dir",
                                        resources,
                                        "-std=" + options.standard,
                                        "-fgnuc-version=12.2.0",
                                        "-fcxx-exceptions",
                                        "-fexceptions",
                                        "-fdeprecated-macro",
                                        "-ferror-limit",
                                        "0",
                                        "-fcuda-allow-variadic-functions",
                                        "-fgnu-keywords",
                                        "-Wno-everything"};
  const auto add = [&arguments](const char* flag, const std::string& value) {
    arguments.emplace_back(flag);
    arguments.push_back(value);
  };
  if (options.preprocessed) {
    arguments.emplace_back("-undef");
  } else {
    for (const std::string& define : options.defines) add("-D", define);
    for (const std::string& folder : options.include_folders) add("-I", folder);
    for (const std::string& folder : options.system_folders) add("-isystem", folder);
    for (const std::string& folder : HostSystemFolders(resources)) {
      add("-internal-isystem", folder);
    }
    if (options.include_runtime) add("-include", "cuda_runtime.h");
  }
  add("-x", "cuda");
  arguments.push_back(options.file_name);
  return arguments;
}

}  // namespace

base::Result<ParseOutcome> Parse(const std::string& text, const ParseOptions& options) {
  ParseOutcome outcome;
  std::string patched = text;
  if (options.preprocessed) PatchForClang(patched);
  PatchLaunches(patched);
  auto files =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->pushOverlay(memory);
  memory->addFile(options.file_name, 0, llvm::MemoryBuffer::getMemBufferCopy(patched));

  const std::vector<std::string> arguments = Arguments(options);
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  clang::CompilerInstance compiler;
  Collector collector(outcome.errors, options.file_name);
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 compiler.getDiagnostics())) {
    std::string why = outcome.errors.empty() ? "unknown option" : outcome.errors.front().message;
    return base::Fail(base::InvalidArgument("clang does not accept its options: " + why));
  }
  invocation->getFrontendOpts().SkipFunctionBodies = true;
  compiler.setInvocation(invocation);
  compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  ParseAction action(text, options, outcome.tree);
  compiler.ExecuteAction(action);
  if (outcome.tree.nodes.empty()) {
    std::string why = outcome.errors.empty() ? "no reason given" : outcome.errors.front().message;
    return base::Fail(base::ToolFailed("clang could not parse " + options.file_name + ": " + why));
  }
  return outcome;
}

// ---- the converter's nodes, places and references ----

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
  SetTypes(expression->getType(), at(id));
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
    if (presumed.isInvalid() || IsUser(place)) break;
    const std::string_view name = presumed.getFilename();
    if (!name.empty() && name.front() != '<') header = name;
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
           !t->isReferenceType() && !t->isPlaceholderType();
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

}  // namespace cupilot::source
