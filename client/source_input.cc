#include "client/source_input.h"

#include <utility>

#include "base/file.h"
#include "client/commands/ask.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::client {
namespace {

using records::Json;

base::Result<std::string> ReadInput(const std::string& path) {
  auto text = base::ReadFile(path);
  if (!text) return base::Fail(base::InvalidArgument(text.error().message));
  return text;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

base::Result<Json> ReadDocument(const std::string& path) {
  TRY_ASSIGN(const std::string text, ReadInput(path));
  auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  return json;
}

// A fill's file is relative to the JSON file that names it.
base::Result<> ResolveFill(std::optional<records::Fill>& fill, const std::string& workload_file) {
  if (!fill || fill->kind != "file") return {};
  fill->path = base::AbsolutePath(fill->path, FolderOf(workload_file));
  if (base::FileExists(fill->path)) return {};
  return base::Fail(
      base::InvalidArgument(workload_file + ": the file of a fill is missing: " + fill->path));
}

base::Result<records::Workload> ReadWorkload(const std::string& path) {
  TRY_ASSIGN(const Json json, ReadDocument(path));
  auto workload = records::ParseWorkload(json);
  if (!workload) return base::Fail(workload.error().In(path));
  for (records::Case& one : workload->cases) {
    for (records::Argument& argument : one.arguments) TRY(ResolveFill(argument.fill, path));
    for (records::Buffer& buffer : one.buffers) TRY(ResolveFill(buffer.fill, path));
    for (records::Global& global : one.globals) TRY(ResolveFill(global.fill, path));
  }
  return workload;
}

base::Result<> CheckName(const std::string& file, const std::string& in_file,
                         const std::string& asked) {
  if (asked.empty() || records::NamesKernel(asked, in_file) || records::NamesKernel(in_file, asked))
    return {};
  return base::Fail(base::InvalidArgument(file + ": kernel: it is for '" + in_file + "', and '" +
                                          asked + "' was asked for"));
}

}  // namespace

base::Result<Json> SourceParams(const Arguments& arguments) {
  const std::string folder = CurrentFolder();
  const std::string file = base::AbsolutePath(arguments.file, folder);
  TRY_ASSIGN(const std::string source, ReadInput(file));
  if (source.empty()) return base::Fail(base::InvalidArgument(file + ": the file is empty"));
  const std::string workload_file = base::AbsolutePath(arguments.workload_file, folder);
  TRY_ASSIGN(const records::Workload workload, ReadWorkload(workload_file));
  TRY(CheckName(workload_file, workload.kernel, arguments.kernel));
  Json params = {{"file", file},
                 {"kernel", arguments.kernel.empty() ? workload.kernel : arguments.kernel},
                 {"workload", records::ToJson(workload)},
                 {"workload_file", workload_file},
                 {"device", arguments.device},
                 {"seed", arguments.seed}};
  if (!arguments.variant_file.empty()) {
    const std::string variant_file = base::AbsolutePath(arguments.variant_file, folder);
    TRY_ASSIGN(const Json json, ReadDocument(variant_file));
    auto variant = records::ParseVariant(json);
    if (!variant) return base::Fail(variant.error().In(variant_file));
    TRY(CheckName(variant_file, variant->kernel, params["kernel"].get<std::string>()));
    params["variant"] = records::ToJson(*variant);
  }
  if (!arguments.strategy.empty()) params["strategy"] = arguments.strategy;
  if (arguments.seconds) params["seconds"] = *arguments.seconds;
  if (arguments.until_gain) params["until_gain"] = *arguments.until_gain;
  if (arguments.evaluations) params["evaluations"] = *arguments.evaluations;
  return params;
}

}  // namespace cupilot::client
