// Runs clang on one text. What the headers that a text begins with declare is kept as clang writes
// it to a file, and read again by the next text that begins alike. And what only clang's driver
// knows about the machine.
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaCUDA.h>
#include <clang/Sema/SemaConsumer.h>
#include <clang/Serialization/ASTWriter.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <optional>

#include "base/install_layout.h"
#include "source/syntax/converter.h"
#include "source/syntax/file_snapshot.h"
#include "source/syntax/headers.h"
#include "source/syntax/kept_files_clang.h"
#include "source/syntax/leading_headers.h"
#include "source/syntax/prelude.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// clang's libraries are not instrumented, but their headers would poison memory that those use.
// Here rather than in a variable of the environment only: the sanitizer reads that from /proc,
// which is closed to a confined compiler, as is what the search for leaks needs.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's own name.
extern "C" const char* __asan_default_options() {
  return "allow_user_poisoning=0:detect_stack_use_after_return=0:detect_leaks=0";
}
#endif
#endif

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
      // g++'s are below its own folder with "..", which leads elsewhere where that is behind a
      // link.
      folders.push_back(RealPath(entry.Path));
    }
  }
  return folders;
}

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

class WatchingConsumer : public clang::SemaConsumer {
 public:
  explicit WatchingConsumer(clang::CompilerInstance& compiler) : compiler_(compiler) {}
  void InitializeSema(clang::Sema& sema) override {
    auto watcher = std::make_unique<SystemTextWatcher>(sema);
    watcher->Set(true);  // the predefines come first
    compiler_.getPreprocessor().addPPCallbacks(std::move(watcher));
  }
  void ForgetSema() override {}

 protected:
  clang::CompilerInstance& compiler_;
};

class TreeConsumer final : public WatchingConsumer {
 public:
  TreeConsumer(clang::CompilerInstance& compiler, const std::string& text,
               const ParseOptions& options, Tree& tree)
      : WatchingConsumer(compiler), text_(text), options_(options), tree_(tree) {}

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
  const std::string& text_;
  const ParseOptions& options_;
  Tree& tree_;
};

void AddPrelude(clang::CompilerInstance& compiler, bool preprocessed) {
  clang::Preprocessor& preprocessor = compiler.getPreprocessor();
  preprocessor.setPredefines(preprocessor.getPredefines() + Prelude(preprocessed));
}

// Writes ParseOutcome::expanded while clang reads.
class ExpandedText final : public clang::PPCallbacks {
 public:
  ExpandedText(clang::Preprocessor& preprocessor, const std::string& text,
               const ParseOptions& options, std::string& expanded)
      : preprocessor_(preprocessor),
        text_(text),
        at_(options.expand_begin),
        end_(options.expand_end),
        expanded_(expanded) {}

  void Take(const clang::Token& token) {
    if (token.isAnnotation() || token.is(clang::tok::eof)) return;
    Put(token.getLocation(), preprocessor_.getSpelling(token));
  }
  void PragmaDirective(clang::SourceLocation place,
                       clang::PragmaIntroducerKind introducer) override {
    if (introducer != clang::PIK_HashPragma) Put(place, "_Pragma");
  }

 private:
  void Put(clang::SourceLocation location, const std::string& spelling) {
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(location);
    if (sources.getFileID(place) != sources.getMainFileID()) return;
    const std::uint32_t offset = sources.getFileOffset(place);
    if (offset < at_ || offset >= end_) return;
    expanded_.append(
        static_cast<std::size_t>(std::count(
            text_.begin() + at_, text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n')),
        '\n');
    at_ = offset;
    expanded_ += ' ' + spelling;
  }

  clang::Preprocessor& preprocessor_;
  const std::string& text_;
  std::uint32_t at_, end_;
  std::string& expanded_;
};

class ParseAction final : public clang::ASTFrontendAction {
 public:
  ParseAction(const std::string& text, const ParseOptions& options, ParseOutcome& outcome)
      : text_(text), options_(options), outcome_(outcome) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    // Kept headers hold it already.
    if (compiler.getPreprocessorOpts().ImplicitPCHInclude.empty()) {
      AddPrelude(compiler, options_.preprocessed);
    }
    if (options_.expand_begin < options_.expand_end) {
      clang::Preprocessor& preprocessor = compiler.getPreprocessor();
      auto expanded =
          std::make_unique<ExpandedText>(preprocessor, text_, options_, outcome_.expanded);
      preprocessor.setTokenWatcher(
          [to = expanded.get()](const clang::Token& token) { to->Take(token); });
      preprocessor.addPPCallbacks(std::move(expanded));
    }
    return std::make_unique<TreeConsumer>(compiler, text_, options_, outcome_.tree);
  }

 private:
  const std::string& text_;
  const ParseOptions& options_;
  ParseOutcome& outcome_;
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

constexpr const char* kKeptName = "/cupilot-headers.pch";

// Writes what a text of headers declares to a string.
class KeepAction final : public clang::ASTFrontendAction {
 public:
  explicit KeepAction(bool preprocessed) : preprocessed_(preprocessed) {}
  std::shared_ptr<clang::PCHBuffer> kept = std::make_shared<clang::PCHBuffer>();

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    AddPrelude(compiler, preprocessed_);
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<WatchingConsumer>(compiler));
    consumers.push_back(std::make_unique<clang::PCHGenerator>(
        compiler.getPreprocessor(), compiler.getModuleCache(), kKeptName, "", kept,
        compiler.getFrontendOpts().ModuleFileExtensions, /*AllowASTWithErrors=*/true));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }

 private:
  bool preprocessed_;
};

struct File {
  std::string name;
  llvm::StringRef text;
};

// False if clang does not accept the arguments.
bool Execute(const std::vector<std::string>& arguments, const std::vector<File>& given,
             clang::DiagnosticConsumer& diagnostics, clang::FrontendAction& action) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(OpenKeptFiles());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->pushOverlay(memory);
  for (const File& file : given) {
    memory->addFile(file.name, 0, llvm::MemoryBuffer::getMemBuffer(file.text, file.name, false));
  }
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&diagnostics, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 compiler.getDiagnostics())) {
    return false;
  }
  invocation->getFrontendOpts().SkipFunctionBodies = true;
  invocation->getPreprocessorOpts().AllowPCHWithCompilerErrors = true;
  // A changed header makes what was kept unreadable.
  invocation->getHeaderSearchOpts().ModulesValidateSystemHeaders = true;
  compiler.setInvocation(invocation);
  compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  compiler.ExecuteAction(action);
  return true;
}

// The #include <...> lines that a text begins with.
std::string LeadingIncludes(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, line_end - at);
    const bool include = line.starts_with("#include <");
    if (!include && line.find_first_not_of(" \t\r\n") != std::string_view::npos) break;
    if (include) end = line_end;
    at = line_end;
  }
  return text.substr(0, end);
}

// What headers declare, by the text that includes or is them and clang's arguments. Thread-safe.
class KeptHeaders {
 public:
  using Bytes = std::shared_ptr<const clang::PCHBuffer>;

  // Null the first time, for a text that is not seen again costs nothing then, but `at_once`.
  Bytes Find(const std::string& headers, std::vector<std::string> arguments, bool preprocessed,
             bool at_once) {
    std::string key = headers;
    for (const std::string& argument : arguments) key += '\0' + argument;
    std::promise<Bytes> made;
    std::shared_future<Bytes> bytes;
    bool makes = false;
    {
      const std::lock_guard lock(mutex_);
      Entry* const entry = Front(std::move(key));
      if (entry->asked++ == 0 && !at_once) return nullptr;
      makes = !entry->bytes.valid();
      if (makes) entry->bytes = made.get_future().share();
      bytes = entry->bytes;
    }
    // Who wants the same meanwhile waits for it, and others do not.
    if (makes) made.set_value(Keep(headers, std::move(arguments), preprocessed));
    return bytes.get()->IsComplete ? bytes.get() : nullptr;
  }
  void Forget(const Bytes& bytes) {
    const std::lock_guard lock(mutex_);
    entries_.remove_if([&](const Entry& entry) {
      return entry.bytes.valid() &&
             entry.bytes.wait_for(std::chrono::seconds(0)) == std::future_status::ready &&
             entry.bytes.get() == bytes;
    });
  }

 private:
  struct Entry {
    std::string key;
    int asked = 0;
    std::shared_future<Bytes> bytes;  // valid: they are made, or are being made
  };
  // The entry of this key, now the last used one.
  Entry* Front(std::string key) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.key == key; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
    } else {
      entries_.push_front({std::move(key), 0, {}});
      if (entries_.size() > kMost) entries_.pop_back();
    }
    return &entries_.front();
  }
  static constexpr std::size_t kMost = 6;  // some 10 MB each

  static Bytes Keep(const std::string& headers, std::vector<std::string> arguments,
                    bool preprocessed) {
    if (preprocessed && !IsWhole(headers)) return std::make_shared<clang::PCHBuffer>();
    arguments.back() = kHeadersName;
    clang::IgnoringDiagConsumer ignored;
    KeepAction action(preprocessed);
    Execute(arguments, {{kHeadersName, headers}}, ignored, action);
    return action.kept;
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
};

// Outlives the threads that are about to use it when a process ends.
KeptHeaders& Kept() {
  static KeptHeaders& kept = *new KeptHeaders();
  return kept;
}

}  // namespace

base::Result<ParseOutcome> Parse(const std::string& text, const ParseOptions& options) {
  const FileSnapshot now;
  std::string patched = text;
  if (options.preprocessed) PatchForClang(patched);
  PatchLaunches(patched);
  std::vector<std::string> arguments = Arguments(options);
  std::optional<LeadingHeaders> leading;
  if (options.preprocessed) leading.emplace(patched);
  const std::string headers = leading ? leading->Text(patched) : LeadingIncludes(patched);
  std::vector<File> files;
  KeptHeaders::Bytes kept;
  if (options.keep_headers && (!headers.empty() || options.include_runtime)) {
    std::vector<std::string> common(arguments.begin(), arguments.end() - 1);
    common.emplace_back();
    kept = Kept().Find(headers, std::move(common), options.preprocessed, options.keep_at_once);
  }
  if (kept != nullptr) {
    arguments.insert(arguments.end() - 1, {"-include-pch", kKeptName});
    files.push_back({kKeptName, llvm::StringRef(kept->Data.data(), kept->Data.size())});
    files.push_back({kHeadersName, headers});
    if (options.preprocessed) leading->LeaveOut(patched);
  }
  files.push_back({options.file_name, patched});
  ParseOutcome outcome;
  outcome.kept_headers = kept != nullptr;
  Collector collector(outcome.errors, options.file_name);
  ParseAction action(text, options, outcome);
  const bool accepted = Execute(arguments, files, collector, action);
  if (outcome.tree.nodes.empty() && kept != nullptr) {
    Kept().Forget(kept);
    ParseOptions without = options;
    without.keep_at_once = false;  // what was made so cannot be read
    return Parse(text, without);
  }
  const std::string why =
      outcome.errors.empty() ? "no reason given" : outcome.errors.front().message;
  if (!accepted) {
    return base::Fail(base::InvalidArgument("clang does not accept its options: " + why));
  }
  if (outcome.tree.nodes.empty()) {
    return base::Fail(base::ToolFailed("clang could not parse " + options.file_name + ": " + why));
  }
  return outcome;
}

}  // namespace cupilot::source
