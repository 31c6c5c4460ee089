// publish FOLDER MARK [--broken] [--quiet] [--target TARGET] [FILE...]
// publish --lock LOCK SOURCE_FOLDER FOLDER MARK [--broken] [--target TARGET] [FILE...]
//
// Does for a test what the daemon's publisher does: writes the swapped source and the selection of
// one object and touches its stamp. The variant adds MARK to the result, so that a program shows
// which one ran. --broken: a variant that does not compile; --quiet: the stamp stays as it is;
// FILE: the files on which the selection depends, besides the source. --lock: the same as an entry
// of a lock file, which replaces the one that the file has for this compile.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/lock_entry.h"
#include "source/swap/selection_check.h"
#include "source/swap/swapped_source.h"
#include "tests/support/make_records.h"

namespace cupilot {
namespace {

using test::MakeParameter;

struct Options {
  std::string folder;
  std::string mark;
  bool broken = false;
  bool quiet = false;
  std::string target = "compute_80,sm_80";
  std::string lock;
  std::string source_folder;
  std::vector<std::string> files;
};

source::SwapRequest MakeRequest(const Options& options, const records::CompileCommand& command) {
  source::SwappedKernel kernel;
  kernel.kernel.name = "app::scale";
  kernel.kernel.closure_source =
      "namespace app {\n__global__ void scale(float factor, const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = factor * in[i];\n}\n}\n";
  kernel.kernel.namespaces = {"app"};
  kernel.kernel.parameters = {
      MakeParameter("factor", "float", records::ParameterKind::kFloating, 4),
      MakeParameter("in", "const float *", records::ParameterKind::kPointer, 8),
      MakeParameter("out", "float *", records::ParameterKind::kPointer, 8),
      MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  records::Variant variant;
  variant.kernel = "app::scale";
  variant.source =
      "__global__ void marked(float factor, const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = factor * in[i] + MARK" +
      std::string(options.broken ? " + not_declared" : "") + ";\n}";
  variant.entry = "marked";
  variant.values["MARK"] = std::stoi(options.mark);
  variant.strategy.emplace().title = "adds " + options.mark;
  variant.id = records::VariantId(variant);
  kernel.variants = {{variant, options.target, {}, "n >= 1", "adds " + options.mark, 1.5}};
  return {command.source, command.folder, {kernel}};
}

base::Result<records::CompileCommand> ReadCommand(const Options& options) {
  TRY_ASSIGN(const std::string text, base::ReadFile(options.folder + "/" + source::kCommandFile));
  TRY_ASSIGN(const records::Json json, records::ParseJson(text));
  return records::ParseCompileCommand(json);
}

// The kernel as a scan would describe it, as far as a lock file is made of it.
void DescribeText(const std::string& source_text, records::Kernel& kernel) {
  const std::size_t begin = source_text.find("__global__");
  const std::size_t end = source_text.find("\n}", begin);
  if (end == std::string::npos) return;
  kernel.signature = "_ZN3app5scaleEfPKfPfi";
  kernel.closure_source =
      "namespace app {\n" + source_text.substr(begin, end + 2 - begin) + "\n}\n";
}

// ".../cupilot/<target>/..." is an object's folder. The checkout and a target may be called so,
// too.
std::string BuildFolderOf(const std::string& folder) {
  std::size_t end = folder.rfind("/cupilot/");
  while (end != 0 && end != std::string::npos &&
         !base::FileExists(folder.substr(0, end) + "/cupilot/project.json")) {
    end = folder.rfind("/cupilot/", end - 1);
  }
  return folder.substr(0, end);
}

base::Result<> WriteLock(const Options& options) {
  TRY_ASSIGN(const records::CompileCommand command, ReadCommand(options));
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::string> paths = options.files;
  paths.insert(paths.begin(), command.source);
  for (const std::string& path : paths) {
    TRY_ASSIGN(std::string text, base::ReadFile(path));
    files.emplace_back(path, std::move(text));
  }
  source::SwappedKernel swapped = MakeRequest(options, command).kernels[0];
  DescribeText(files[0].second, swapped.kernel);
  records::Workload workload;
  workload.kernel = "app::scale";
  records::Case& one = workload.cases.emplace_back();
  one.name = "only";
  one.grid = one.block = {"1", "1", "1"};
  records::Evaluation evaluation;
  evaluation.variant = swapped.variants[0].variant.id;
  evaluation.target = swapped.variants[0].target;
  evaluation.guard = swapped.variants[0].guard;
  evaluation.accepted = true;
  evaluation.speedup = swapped.variants[0].speedup;
  const std::string build = BuildFolderOf(options.folder);
  const source::ProjectFolders folders{options.lock.substr(0, options.lock.rfind('/')),
                                       options.source_folder, build};
  const std::string below = options.folder.substr(build.size() + 9);
  const std::string target = below.substr(0, below.find('/'));
  source::LockJudge judge(command, folders);
  TRY_ASSIGN(const source::CompilerAnswer compiler, source::AskCompiler(command));
  const auto compiled = source::Summarise(compiler.passes);
  TRY_ASSIGN(const records::LockedKernel entry,
             source::MakeLockedKernel({target, swapped.kernel, workload, evaluation,
                                       swapped.variants[0], files, compiled},
                                      judge));
  records::Lock lock;
  if (const auto present = base::ReadFile(options.lock)) {
    TRY_ASSIGN(lock, records::ParseLock(*present));
  }
  std::erase_if(lock.kernels, [&](const records::LockedKernel& other) {
    return records::SamePlace(other, entry);
  });
  lock.kernels.push_back(entry);
  return base::WriteFileAtomically(options.lock, records::LockText(lock));
}

base::Result<> Publish(const Options& options) {
  TRY_ASSIGN(const records::CompileCommand command, ReadCommand(options));
  const source::SwapRequest request = MakeRequest(options, command);
  TRY_ASSIGN(const source::SwappedSource swapped, source::WriteSwappedSource(request));
  records::Selection selection;
  selection.source = command.source;
  selection.swap = swapped.file_name;
  selection.hook = swapped.hook;
  selection.command_hash = records::CommandHash(command);
  selection.environment_hash = records::EnvironmentHash(command);
  selection.toolchain = source::ToolchainIdentity(command);
  std::vector<std::string> files = options.files;
  files.push_back(command.source);
  for (const std::string& file : files) {
    TRY_ASSIGN(records::SelectedFile recorded, source::RecordFile(file));
    selection.files.push_back(std::move(recorded));
  }
  const records::Variant& variant = request.kernels[0].variants[0].variant;
  selection.kernels = {{"app::scale", "", "", {{variant.id, options.target, {}, "", "", 1.5}}}};
  TRY_ASSIGN(const source::CompilerAnswer compiler, source::AskCompiler(command));
  source::RecordTokens(request, source::Summarise(compiler.passes), selection);
  // Named by its hash: if it is there, it is right, and its time is part of what the build sees.
  for (const source::SwappedText& one : swapped.Files()) {
    TRY(base::WriteFileIfDifferent(options.folder + "/" + one.file_name, one.text));
  }
  TRY(base::WriteFileAtomically(options.folder + "/" + source::kSelectionFile,
                                records::CompactJson(records::ToJson(selection))));
  const std::string stamp = options.folder + "/" + source::kStampFile;
  if (!options.quiet && utimensat(AT_FDCWD, stamp.c_str(), nullptr, 0) != 0) {
    return base::Fail(base::IoError("cannot touch " + stamp));
  }
  return {};
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) {
  cupilot::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--broken") {
      options.broken = true;
    } else if (word == "--quiet") {
      options.quiet = true;
    } else if (word == "--lock" && i + 2 < argc) {
      options.lock = argv[++i];
      options.source_folder = argv[++i];
    } else if (word == "--target" && i + 1 < argc) {
      options.target = argv[++i];
    } else if (options.folder.empty()) {
      options.folder = word;
    } else if (options.mark.empty()) {
      options.mark = word;
    } else {
      options.files.push_back(word);
    }
  }
  const auto published =
      options.lock.empty() ? cupilot::Publish(options) : cupilot::WriteLock(options);
  if (published) return 0;
  std::fprintf(stderr, "publish: %s\n", published.error().message.c_str());
  return 1;
}
