#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/install_layout.h"
#include "base/paths.h"
#include "client/commands/commands.h"
#include "records/settings.h"

namespace cupilot::client {
namespace {

using records::Json;

int PrintHostNvcc(Output& output) {
  const std::string path = base::HostToolkitFolder() + "/bin/nvcc";
  if (!base::FileExists(path)) {
    return output.Fail(base::Unavailable(
        "the CUDA compiler of the host device is missing: " + path + "; install cuPilot again"));
  }
  output.Document({{"schema", "cupilot.config/1"}, {"host_nvcc", path}});
  output.Line(path);
  return kDone;
}

std::string OriginOf(const char* variable) {
  const char* set = std::getenv(variable);
  return set != nullptr && set[0] != '\0' ? "$" + std::string(variable) : "default";
}

struct Value {
  std::string key;
  Json value;
  std::string origin;
};

std::vector<Value> Folders(const base::UserFolders& folders) {
  return {{"config_folder", folders.config, OriginOf("XDG_CONFIG_HOME")},
          {"state_folder", folders.state, OriginOf("XDG_STATE_HOME")},
          {"cache_folder", folders.cache, OriginOf("XDG_CACHE_HOME")},
          {"runtime_folder", folders.runtime, OriginOf("XDG_RUNTIME_DIR")},
          {"libexec_folder", base::LibexecFolder(), OriginOf("CUPILOT_LIBEXEC")},
          {"host_toolkit", base::HostToolkitFolder(), OriginOf("CUPILOT_HOST_TOOLKIT")}};
}

}  // namespace

int RunConfig(const Arguments& arguments, Output& output) {
  if (arguments.host_nvcc) return PrintHostNvcc(output);
  const auto folders = base::FindUserFolders();
  if (!folders) return output.Fail(folders.error());
  const std::string file = folders->config + "/config.json";
  const auto settings = records::ReadSettingsFile(file);
  if (!settings) return output.Fail(settings.error());
  const std::vector<std::string> set = records::KeysInFile(file);
  std::vector<Value> values;
  for (const records::Setting& setting : records::Settings()) {
    const bool in_file = std::find(set.begin(), set.end(), setting.key) != set.end();
    values.push_back({setting.key, (*settings)[setting.key], in_file ? file : "default"});
  }
  for (Value& value : Folders(*folders)) values.push_back(std::move(value));
  Json document = {{"schema", "cupilot.config/1"},
                   {"file", file},
                   {"host_nvcc", base::HostToolkitFolder() + "/bin/nvcc"}};
  for (const Value& value : values) {
    document["values"][value.key] = {{"value", value.value}, {"origin", value.origin}};
    const std::string text =
        value.value.is_string() ? value.value.get<std::string>() : value.value.dump();
    output.Line(value.key + " = " + text +
                (arguments.show_origin ? "  (" + value.origin + ")" : ""));
  }
  output.Document(document);
  return kDone;
}

}  // namespace cupilot::client
