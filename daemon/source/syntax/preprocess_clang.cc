// Runs clang's preprocessor and prints its tokens.
#include "source/syntax/preprocess.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/TokenConcatenation.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/file.h"
#include "source/syntax/file_snapshot.h"
#include "source/syntax/headers.h"
#include "source/syntax/kept_files_clang.h"
#include "source/syntax/preprocess_run.h"

namespace cupilot::source {
namespace {

// Text that is being written, line by line, in step with the presumed lines of the source.
class Printer {
 public:
  Printer(clang::Preprocessor& preprocessor, const PreprocessOptions& options, Preprocessed& result)
      : preprocessor_(preprocessor),
        sources_(preprocessor.getSourceManager()),
        options_(options),
        result_(result),
        concatenation_(preprocessor),
        system_folders_(options.toolkit_folders) {
    previous_.startToken();
    before_previous_.startToken();
    const std::string resources =
        options.resource_dir.empty() ? FindResourceDir() : options.resource_dir;
    const std::vector<std::string>& own =
        options.predefined.empty() ? HostSystemFolders(resources) : options.system_folders;
    system_folders_.insert(system_folders_.end(), own.begin(), own.end());
    system_folders_.push_back(resources);
    for (std::string& folder : system_folders_) folder = RealPath(folder);
  }

  bool IsSystem(clang::SourceLocation location) {
    const clang::FileID file = sources_.getFileID(sources_.getFileLoc(location));
    if (file == last_file_) return last_system_;
    last_file_ = file;
    last_system_ = IsSystemFile(file);
    return last_system_;
  }

  bool IsSystemFile(clang::FileID file) {
    const auto known = system_.find(file.getHashValue());
    if (known != system_.end()) return known->second;
    const std::string path = PathOf(file);
    const std::string real = RealPath(path);
    bool system = path.empty();
    for (const std::string& folder : system_folders_) {
      system = system || real.starts_with(folder + "/");
    }
    system_.emplace(file.getHashValue(), system);
    return system;
  }

  // Index into files; kNone for what is no user file.
  std::int32_t FileIndex(clang::FileID file) {
    const auto known = files_.find(file.getHashValue());
    if (known != files_.end()) return known->second;
    std::int32_t index = -1;
    const std::string path = PathOf(file);
    if (!path.empty() && !IsSystem(sources_.getLocForStartOfFile(file))) {
      const auto found = std::find(result_.files.begin(), result_.files.end(), path);
      index = static_cast<std::int32_t>(found - result_.files.begin());
      if (found == result_.files.end()) result_.files.push_back(path);
    }
    files_.emplace(file.getHashValue(), index);
    return index;
  }

  // A line marker: reason 0 (another line or name), 1 (a file begins), 2 (a file is resumed).
  void Marker(clang::SourceLocation location, int reason) {
    const clang::PresumedLoc presumed = sources_.getPresumedLoc(location);
    if (presumed.isInvalid()) return;
    EndLine();
    file_ = presumed.getFilename();
    line_ = presumed.getLine();
    result_.text += "# " + std::to_string(line_) + " \"" + Escape(file_) + "\"";
    if (reason != 0) result_.text += ' ' + std::to_string(reason);
    if (IsSystem(location)) result_.text += " 3";
    result_.text += '\n';
  }

  void Print(const clang::Token& token) {
    const clang::SourceLocation place = sources_.getExpansionLoc(token.getLocation());
    if (token.isAnnotation()) return;
    if (IsSystem(place)) return PrintSystem(token);
    MoveTo(place);
    const auto range = sources_.getExpansionRange(token.getLocation());
    const auto [file, begin] = sources_.getDecomposedLoc(range.getBegin());
    const std::uint32_t end =
        sources_.getFileOffset(range.getEnd()) +
        clang::Lexer::MeasureTokenLength(range.getEnd(), sources_, preprocessor_.getLangOpts());
    const bool plain = token.getLocation().isFileID();
    const bool apart = plain && previous_plain_
                           ? file != previous_file_ || begin != previous_end_
                           : token.hasLeadingSpace() ||
                                 concatenation_.AvoidConcat(before_previous_, previous_, token);
    if (!line_empty_ && apart) result_.text += ' ';
    before_previous_ = previous_;
    previous_ = token;
    if (line_empty_) {
      result_.text.append(sources_.getExpansionColumnNumber(place) - 1, ' ');
    }
    const auto from = static_cast<std::uint32_t>(result_.text.size());
    result_.text += preprocessor_.getSpelling(token);
    line_empty_ = false;
    line_ +=
        static_cast<unsigned>(std::count(result_.text.begin() + from, result_.text.end(), '\n'));
    previous_plain_ = plain;
    previous_file_ = file;
    previous_end_ = end;
    const std::int32_t index = FileIndex(file);
    if (index < 0) return;
    result_.stretches.push_back(
        {from, static_cast<std::uint32_t>(result_.text.size()), index, begin, end});
  }

  // Nobody asks where a header's tokens stand; lines are kept, their numbers are not.
  void PrintSystem(const clang::Token& token) {
    if (token.isAtStartOfLine()) EndLine();
    if (!line_empty_) result_.text += ' ';
    if (const clang::IdentifierInfo* name = token.getIdentifierInfo()) {
      result_.text += name->getName();
    } else {
      result_.text += preprocessor_.getSpelling(token);
    }
    line_empty_ = false;
    previous_plain_ = false;
  }

  void PrintPragma(clang::SourceLocation location, const std::string& body) {
    MoveTo(sources_.getExpansionLoc(location));
    EndLine();
    result_.text += "#pragma " + body + "\n";
    ++line_;
  }

  void EndLine() {
    if (line_empty_) return;
    result_.text += '\n';
    ++line_;
    line_empty_ = true;
    previous_plain_ = false;
  }

  // What was read besides the user's files.
  void CollectHeaders() {
    for (auto entry = sources_.fileinfo_begin(); entry != sources_.fileinfo_end(); ++entry) {
      std::string path = base::AbsolutePath(entry->first.getName().str(), options_.directory);
      const std::vector<std::string>& user = result_.files;
      if (std::find(user.begin(), user.end(), path) == user.end()) {
        result_.headers.push_back(std::move(path));
      }
    }
  }

 private:
  void MoveTo(clang::SourceLocation place) {
    const clang::PresumedLoc presumed = sources_.getPresumedLoc(place);
    if (presumed.isInvalid()) return;
    const unsigned line = presumed.getLine();
    if (line == line_ && file_ == presumed.getFilename()) return;
    if (file_ == presumed.getFilename() && line > line_ && line - line_ <= 8) {
      EndLineTo(line);
      return;
    }
    Marker(place, 0);
  }

  void EndLineTo(unsigned line) {
    while (line_ < line) {
      line_empty_ = false;
      EndLine();
    }
  }

  std::string PathOf(clang::FileID file) const {
    const auto entry = sources_.getFileEntryRefForID(file);
    if (!entry) return "";
    if (file == sources_.getMainFileID()) return options_.file_name;
    return base::AbsolutePath(entry->getName().str(), options_.directory);
  }

  static std::string Escape(const std::string& name) {
    std::string escaped;
    for (const char c : name) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }

  clang::Preprocessor& preprocessor_;
  const clang::SourceManager& sources_;
  const PreprocessOptions& options_;
  Preprocessed& result_;
  clang::TokenConcatenation concatenation_;
  clang::Token previous_, before_previous_;
  std::vector<std::string> system_folders_;
  std::unordered_map<unsigned, bool> system_;
  clang::FileID last_file_;
  bool last_system_ = false;
  std::unordered_map<unsigned, std::int32_t> files_;
  std::string file_;
  unsigned line_ = 0;
  bool line_empty_ = true;
  bool previous_plain_ = false;
  clang::FileID previous_file_;
  std::uint32_t previous_end_ = 0;
};

// As it was defined; where, the caller knows.
UserMacro MacroOf(const clang::Preprocessor& preprocessor, const clang::IdentifierInfo& name,
                  const clang::MacroInfo& info) {
  UserMacro macro;
  macro.name = name.getName().str();
  macro.definition = "#define " + macro.name;
  if (info.isFunctionLike()) {
    macro.definition += '(';
    for (unsigned i = 0; i < info.getNumParams(); ++i) {
      const std::string parameter = info.params()[i]->getName().str();
      const bool rest = i + 1 == info.getNumParams() && info.isVariadic();
      macro.definition += i == 0 ? "" : ", ";
      macro.definition +=
          rest ? (parameter == "__VA_ARGS__" ? "..." : parameter + "...") : parameter;
    }
    macro.definition += ')';
  }
  for (const clang::Token& token : info.tokens()) {
    if (token.hasLeadingSpace() || macro.value.empty()) macro.value += ' ';
    macro.value += preprocessor.getSpelling(token);
  }
  macro.definition += macro.value;
  return macro;
}

// What happens between tokens: files, includes, macros, conditions.
class Watcher final : public clang::PPCallbacks {
 public:
  Watcher(clang::Preprocessor& preprocessor, Printer& printer, Preprocessed& result,
          std::set<std::string>& guarded)
      : preprocessor_(preprocessor), printer_(printer), result_(result), guarded_(guarded) {}

  void FileChanged(clang::SourceLocation location, FileChangeReason reason,
                   clang::SrcMgr::CharacteristicKind, clang::FileID) override {
    if (reason == SystemHeaderPragma) return;
    const int flag = reason == EnterFile ? 1 : reason == ExitFile ? 2 : 0;
    // The source itself is entered from nowhere.
    const bool main = started_ == 0 && reason == EnterFile;
    ++started_;
    // Also a file without a token of its own decides what the text is.
    if (reason == EnterFile) {
      printer_.FileIndex(preprocessor_.getSourceManager().getFileID(location));
    }
    printer_.Marker(location, main ? 0 : flag);
  }

  // The toolkit's headers define CUDA's qualifiers as attributes; undefined at once, they stay in
  // the text as people write them (the parser's prelude knows them).
  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override {
    static const std::set<std::string> kQualifiers = {
        "__global__",  "__device__",        "__host__",          "__shared__",      "__constant__",
        "__managed__", "__grid_constant__", "__launch_bounds__", "__forceinline__", "__align__"};
    if (!printer_.IsSystem(directive->getLocation())) {
      const std::string definition =
          MacroOf(preprocessor_, *name.getIdentifierInfo(), *directive->getMacroInfo()).definition;
      return NoteChange(name, definition);
    }
    if (kQualifiers.count(preprocessor_.getSpelling(name)) == 0) return;
    auto* undefine = new (preprocessor_.getPreprocessorAllocator())
        clang::UndefMacroDirective(name.getLocation());
    preprocessor_.appendMacroDirective(name.getIdentifierInfo(), undefine);
  }

  void MacroUndefined(const clang::Token& name, const clang::MacroDefinition&,
                      const clang::MacroDirective*) override {
    if (!printer_.IsSystem(name.getLocation())) NoteChange(name, "");
  }

  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef name,
                          bool, clang::CharSourceRange, clang::OptionalFileEntryRef file,
                          llvm::StringRef, llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (!file || printer_.IsSystem(hash)) return;
    pending_ = name.str();
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    // A header that is skipped (already included) is judged by its path as well.
    const clang::FileID known = sources.translateFile(*file);
    if (known.isValid()) Included(sources.getLocForStartOfFile(known));
  }

  void LexedFileChanged(clang::FileID file, LexedFileChangeReason reason,
                        clang::SrcMgr::CharacteristicKind, clang::FileID,
                        clang::SourceLocation) override {
    if (reason != LexedFileChangeReason::EnterFile || pending_.empty()) return;
    Included(preprocessor_.getSourceManager().getLocForStartOfFile(file));
  }

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition,
                    clang::SourceRange, const clang::MacroArgs*) override {
    const clang::MacroInfo* macro = definition.getMacroInfo();
    if (macro == nullptr || !macro->isBuiltinMacro()) return;
    const llvm::StringRef word = name.getIdentifierInfo()->getName();
    if (word == "__BASE_FILE__" || word == "__INCLUDE_LEVEL__") NoteOutermost(name, word.str());
    const bool of_time = word == "__TIME__" || word == "__DATE__";
    if (word != "__LINE__" && word != "__COUNTER__" && !of_time) return;
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const auto [file, offset] =
        sources.getDecomposedLoc(sources.getExpansionLoc(name.getLocation()));
    const std::int32_t index = printer_.FileIndex(file);
    if (index >= 0) result_.place_macros.push_back({index, offset, of_time});
  }

  void Ifndef(clang::SourceLocation location, const clang::Token& name,
              const clang::MacroDefinition&) override {
    if (!printer_.IsSystem(location)) guarded_.insert(preprocessor_.getSpelling(name));
    NoteBranch(location, preprocessor_.getSpelling(name) == "__CUDA_ARCH__");
  }
  void Ifdef(clang::SourceLocation location, const clang::Token& name,
             const clang::MacroDefinition&) override {
    NoteBranch(location, preprocessor_.getSpelling(name) == "__CUDA_ARCH__");
  }
  void If(clang::SourceLocation location, clang::SourceRange condition,
          ConditionValueKind) override {
    NoteBranch(location, Mentions(condition));
  }
  void Elif(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind,
            clang::SourceLocation start) override {
    if (condition.isValid() && Mentions(condition)) open_.insert(start.getRawEncoding());
  }
  void Endif(clang::SourceLocation location, clang::SourceLocation start) override {
    if (open_.count(start.getRawEncoding()) == 0 || printer_.IsSystem(location)) return;
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const auto [file, end] = sources.getDecomposedLoc(location);
    result_.branches.push_back({printer_.FileIndex(file), sources.getFileOffset(start), end});
  }

 private:
  void Included(clang::SourceLocation start) {
    if (!pending_.empty() && printer_.IsSystem(start)) {
      std::vector<std::string>& known = result_.system_includes;
      if (std::find(known.begin(), known.end(), pending_) == known.end()) known.push_back(pending_);
    }
    pending_.clear();
  }
  void NoteChange(const clang::Token& name, std::string definition) {
    result_.macro_changes.push_back({preprocessor_.getSpelling(name), std::move(definition),
                                     static_cast<std::uint32_t>(result_.text.size())});
  }
  void NoteOutermost(const clang::Token& name, const std::string& word) {
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(name.getLocation());
    if (!result_.asks_for_outermost.empty() || printer_.IsSystem(place)) return;
    const clang::PresumedLoc presumed = sources.getPresumedLoc(place);
    result_.asks_for_outermost = std::string(presumed.getFilename()) + ":" +
                                 std::to_string(presumed.getLine()) + ": " + word;
  }
  void NoteBranch(clang::SourceLocation location, bool mentions) {
    if (mentions) open_.insert(location.getRawEncoding());
  }
  bool Mentions(clang::SourceRange condition) const {
    const llvm::StringRef text =
        clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(condition),
                                    preprocessor_.getSourceManager(), preprocessor_.getLangOpts());
    return text.contains("__CUDA_ARCH__");
  }

  clang::Preprocessor& preprocessor_;
  Printer& printer_;
  Preprocessed& result_;
  std::set<std::string>& guarded_;
  std::set<unsigned> open_;
  std::string pending_;
  int started_ = 0;
};

class PragmaPrinter final : public clang::PragmaHandler {
 public:
  PragmaPrinter(std::string prefix, Printer& printer)
      : prefix_(std::move(prefix)), printer_(printer) {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token& token) override {
    std::string body = prefix_;
    while (token.isNot(clang::tok::eod)) {
      if (!body.empty() && (body.size() == prefix_.size() || token.hasLeadingSpace())) body += ' ';
      body += preprocessor.getSpelling(token);
      // An unrolling's count may be a macro.
      preprocessor.Lex(token);
    }
    printer_.PrintPragma(introducer.Loc, body);
  }

 private:
  std::string prefix_;
  Printer& printer_;
};

class TagFinder final : public clang::CommentHandler {
 public:
  TagFinder(Printer& printer, Preprocessed& result) : printer_(printer), result_(result) {}
  bool HandleComment(clang::Preprocessor& preprocessor, clang::SourceRange range) override {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const llvm::StringRef text = clang::Lexer::getSourceText(
        clang::CharSourceRange::getCharRange(range), sources, preprocessor.getLangOpts());
    if (!text.contains("cupilot:") || printer_.IsSystem(range.getBegin())) return false;
    const clang::PresumedLoc presumed = sources.getPresumedLoc(range.getBegin());
    llvm::StringRef body = text.drop_front(2);
    if (text.starts_with("/*")) body.consume_back("*/");
    result_.comments.push_back(
        {presumed.getFilename(), static_cast<int>(presumed.getLine()), body.str()});
    return false;
  }

 private:
  Printer& printer_;
  Preprocessed& result_;
};

void CollectMacros(clang::Preprocessor& preprocessor, Printer& printer,
                   const PreprocessOptions& options, const std::set<std::string>& guarded,
                   Preprocessed& result) {
  std::set<std::string> predefined;
  for (const std::string& macro : options.predefined) {
    predefined.insert(macro.substr(2, macro.find_first_of("(=") - 2));
  }
  for (const auto& entry : preprocessor.macros(/*IncludeExternalMacros=*/false)) {
    const clang::MacroInfo* info = preprocessor.getMacroInfo(entry.first);
    if (info == nullptr || info->isBuiltinMacro() || info->isUsedForHeaderGuard()) continue;
    // -D of the command are the user's as well; those with two underscores stand for the
    // compiler's.
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const bool command = sources.isWrittenInCommandLineFile(info->getDefinitionLoc()) &&
                         !entry.first->getName().starts_with("__") &&
                         !predefined.contains(entry.first->getName().str());
    if (!command && printer.IsSystem(info->getDefinitionLoc())) continue;
    UserMacro macro = MacroOf(preprocessor, *entry.first, *info);
    macro.under_ifndef = guarded.count(macro.name) > 0;
    result.macros.push_back(std::move(macro));
  }
  std::sort(result.macros.begin(), result.macros.end(),
            [](const UserMacro& a, const UserMacro& b) { return a.name < b.name; });
}

LeftBehind LeftBy(clang::Preprocessor& preprocessor, Printer& printer) {
  LeftBehind left;
  const clang::SourceManager& sources = preprocessor.getSourceManager();
  for (const auto& entry : preprocessor.getIdentifierTable()) {
    left.names.insert(entry.getKey().str());
  }
  for (const auto& entry : preprocessor.macros(/*IncludeExternalMacros=*/false)) {
    const std::string name = entry.first->getName().str();
    const clang::MacroInfo* info = preprocessor.getMacroInfo(entry.first);
    if (info == nullptr) {
      left.macros.push_back({name, "#undef " + name, ""});
      continue;
    }
    const clang::SourceLocation place = info->getDefinitionLoc();
    if (info->isBuiltinMacro() || sources.isWrittenInBuiltinFile(place) ||
        sources.isWrittenInCommandLineFile(place)) {
      continue;
    }
    const UserMacro macro = MacroOf(preprocessor, *entry.first, *info);
    left.macros.push_back({name, macro.definition, macro.value});
    left.users = left.users || !printer.IsSystem(place);
  }
  const clang::HeaderSearch& search = preprocessor.getHeaderSearchInfo();
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    const clang::HeaderFileInfo* info = search.getExistingFileInfo(file->first);
    left.once = left.once || (info != nullptr && (info->isPragmaOnce || info->isImport));
  }
  return left;
}

class PrintAction final : public clang::PreprocessorFrontendAction {
 public:
  PrintAction(const PreprocessOptions& options, Preprocessed& result, LeftBehind* left)
      : options_(options), result_(result), left_(left) {}

 protected:
  void ExecuteAction() override {
    clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
    Printer printer(preprocessor, options_, result_);
    result_.files.push_back(options_.file_name);
    std::set<std::string> guarded;
    preprocessor.addPPCallbacks(std::make_unique<Watcher>(preprocessor, printer, result_, guarded));
    TagFinder tags(printer, result_);
    preprocessor.addCommentHandler(&tags);
    PragmaPrinter any("", printer), gnu("GCC", printer), own("clang", printer);
    preprocessor.AddPragmaHandler(&any);
    preprocessor.AddPragmaHandler("GCC", &gnu);
    preprocessor.AddPragmaHandler("clang", &own);
    preprocessor.EnterMainSourceFile();
    clang::Token token;
    for (preprocessor.Lex(token); token.isNot(clang::tok::eof); preprocessor.Lex(token)) {
      printer.Print(token);
    }
    printer.EndLine();
    printer.CollectHeaders();
    CollectMacros(preprocessor, printer, options_, guarded, result_);
    if (left_ != nullptr) *left_ = LeftBy(preprocessor, printer);
    preprocessor.RemovePragmaHandler(&any);
    preprocessor.RemovePragmaHandler("GCC", &gnu);
    preprocessor.RemovePragmaHandler("clang", &own);
    preprocessor.removeCommentHandler(&tags);
  }

 private:
  const PreprocessOptions& options_;
  Preprocessed& result_;
  LeftBehind* left_;
};

class Errors final : public clang::DiagnosticConsumer {
 public:
  explicit Errors(std::vector<Diagnostic>& errors) : errors_(errors) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    Diagnostic found;
    found.message = message.str().str();
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
      found.file = place.getFilename();
      found.line = static_cast<int>(place.getLine());
      found.column = static_cast<int>(place.getColumn());
    }
    errors_.push_back(std::move(found));
  }

 private:
  std::vector<Diagnostic>& errors_;
};

std::vector<std::string> Arguments(const PreprocessOptions& options) {
  const std::string resources =
      options.resource_dir.empty() ? FindResourceDir() : options.resource_dir;
  std::vector<std::string> arguments = {"-triple",
                                        HostTriple(),
                                        "-aux-triple",
                                        "nvptx64-nvidia-cuda",
                                        "-E",
                                        "-resource-dir",
                                        resources,
                                        "-std=" + options.standard,
                                        "-fgnuc-version=12.2.0",
                                        "-fcxx-exceptions",
                                        "-fexceptions",
                                        "-fdeprecated-macro",
                                        "-ferror-limit",
                                        "0",
                                        "-Wno-everything"};
  const auto add = [&arguments](const char* flag, const std::string& value) {
    arguments.emplace_back(flag);
    arguments.push_back(value);
  };
  if (!options.predefined.empty()) {
    // What the user's compiler predefines, and nothing of ours.
    arguments.insert(arguments.end(), {"-undef", "-U__CUDA__"});
    arguments.insert(arguments.end(), options.predefined.begin(), options.predefined.end());
  }
  for (const std::string& macro : options.macros) arguments.push_back(macro);
  for (const std::string& folder : options.quote_folders) add("-iquote", folder);
  if (options.predefined.empty()) {
    for (const std::string& folder : options.include_folders) add("-I", folder);
    for (const std::string& folder : options.toolkit_folders) add("-isystem", folder);
    for (const std::string& folder : HostSystemFolders(resources)) add("-internal-isystem", folder);
  } else {
    // In one list: clang would sort them by whose they are.
    for (const std::string& folder : options.compiler_folders) add("-I", folder);
  }
  for (const std::string& header : options.forced_macros) add("-imacros", header);
  for (const std::string& header : options.includes) add("-include", header);
  add("-x", "cuda");
  arguments.push_back(options.file_name);
  return arguments;
}

}  // namespace

base::Result<Preprocessed> Preprocess(std::string_view text, const PreprocessOptions& options) {
  return RunPreprocessor(text, options, {}, nullptr);
}

base::Result<Preprocessed> RunPreprocessor(std::string_view text, const PreprocessOptions& options,
                                           const std::vector<GivenFile>& given, LeftBehind* left) {
  const FileSnapshot now;
  Preprocessed result;
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(OpenKeptFiles());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->pushOverlay(memory);
  memory->addFile(options.file_name, 0, llvm::MemoryBuffer::getMemBufferCopy(text));
  for (const GivenFile& file : given) {
    memory->addFile(file.path, 0, llvm::MemoryBuffer::getMemBuffer(file.text, file.path));
  }
  // A folder that is gone leaves relative names to fail by themselves.
  const std::error_code moved = files->setCurrentWorkingDirectory(options.directory);
  (void)moved;

  const std::vector<std::string> arguments = Arguments(options);
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  clang::CompilerInstance compiler;
  Errors errors(result.errors);
  compiler.createDiagnostics(&errors, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 compiler.getDiagnostics())) {
    const std::string why = result.errors.empty() ? "" : ": " + result.errors.front().message;
    return base::Fail(base::InvalidArgument("clang does not accept the command's options" + why));
  }
  compiler.setInvocation(invocation);
  compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  PrintAction action(options, result, left);
  compiler.ExecuteAction(action);
  if (result.files.empty()) {
    const std::string why = result.errors.empty() ? "" : ": " + result.errors.front().message;
    return base::Fail(base::ToolFailed("clang could not read " + options.file_name + why));
  }
  return result;
}

}  // namespace cupilot::source
