// publish FOLDER MARK [--broken] [--quiet] [--target TARGET] [FILE...]
//
// Does for a test what the daemon's publisher does: writes the swapped source and the selection of
// one object and touches its stamp. The variant adds MARK to the result, so that a program shows
// which one ran. --broken: a variant that does not compile; --quiet: the stamp stays as it is;
// FILE: the files on which the selection depends, besides the source.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
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
  std::vector<std::string> files;
};

source::SwapRequest MakeRequest(const Options& options, const records::CompileCommand& command) {
  source::SwappedKernel kernel;
  kernel.kernel.name = "app::scale";
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
  variant.id = records::VariantId(variant);
  kernel.variants = {{variant, options.target, {}, "n >= 1", "adds " + options.mark, 1.5}};
  return {command.source, command.folder, {kernel}};
}

base::Result<> Publish(const Options& options) {
  TRY_ASSIGN(const std::string text, base::ReadFile(options.folder + "/" + source::kCommandFile));
  TRY_ASSIGN(const records::Json json, records::ParseJson(text));
  TRY_ASSIGN(const records::CompileCommand command, records::ParseCompileCommand(json));
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
  TRY(base::WriteFileAtomically(options.folder + "/" + swapped.file_name, swapped.text));
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
  const auto published = cupilot::Publish(options);
  if (published) return 0;
  std::fprintf(stderr, "publish: %s\n", published.error().message.c_str());
  return 1;
}
