#include "source/swap/selection_check.h"

#include <array>
#include <cstdlib>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/hash.h"

namespace cupilot::source {
namespace {

// Coarse clocks and edits right after a look: within this time of the selection a file's time is no
// proof that it is the same.
constexpr std::int64_t kDoubtNs = 2'000'000'000;

bool SameContent(const records::SelectedFile& file) {
  const auto bytes = base::ReadFile(file.path);
  return bytes && base::HashHex(*bytes) == file.hash;
}

std::string WhyFilesDiffer(const records::Selection& selection, std::int64_t selection_mtime) {
  for (const records::SelectedFile& file : selection.files) {
    const auto now = base::IdentifyFile(file.path);
    if (!now) return file.path + " is gone";
    const bool certain =
        now->mtime_ns == file.mtime_ns && file.mtime_ns < selection_mtime - kDoubtNs;
    if (now->size == file.size && (certain || SameContent(file))) continue;
    return file.path + " has changed";
  }
  return {};
}

std::string WhyNot(const records::CompileCommand& command, const records::Selection& selection,
                   std::int64_t selection_mtime) {
  if (selection.source != command.source) return "the selection is for " + selection.source;
  if (selection.command_hash != records::CommandHash(command)) return "the command has changed";
  if (selection.environment_hash != records::EnvironmentHash(command)) {
    return "the compiler's environment variables have changed";
  }
  if (!selection.toolchain.empty() && selection.toolchain != ToolchainIdentity(command)) {
    return "the compiler has changed";
  }
  if (selection.kernels.empty()) return "no variant is proven for this source";
  if (selection.swap.find('/') != std::string::npos) return "the swapped source has no plain name";
  const auto text = base::ReadFile(command.folder + "/" + selection.swap);
  if (!text) return "the swapped source is missing";
  if (selection.swap != "swap." + base::HashHex(*text) + ".cu") {
    return "the swapped source is not the one that was published";
  }
  return WhyFilesDiffer(selection, selection_mtime);
}

bool WasRefused(const std::string& folder, const std::string& id) {
  const auto text = base::ReadFile(folder + "/" + kRefusedFile);
  if (!text) return false;
  const auto json = records::ParseJson(*text);
  return json && json->is_object() && json->contains("selection") &&
         (*json)["selection"].is_string() && (*json)["selection"].get<std::string>() == id;
}

}  // namespace

CheckedSelection CheckSelection(const records::CompileCommand& command) {
  CheckedSelection out;
  const std::string path = command.folder + "/" + kSelectionFile;
  const auto bytes = base::ReadFile(path);
  if (!bytes) {
    out.reason = "no selection";
    return out;
  }
  out.id = base::HashHex(*bytes);
  if (WasRefused(command.folder, out.id)) {
    out.reason = "refused: its swapped source did not compile";
    return out;
  }
  const auto identity = base::IdentifyFile(path);
  auto json = records::ParseJson(*bytes);
  if (!json || !identity) {
    out.reason = "the selection is not readable";
    return out;
  }
  auto selection = records::ParseSelection(*json);
  if (!selection) {
    out.reason = "the selection is not readable: " + selection.error().message;
    return out;
  }
  out.selection = std::move(*selection);
  out.reason = WhyNot(command, out.selection, identity->mtime_ns);
  out.holds = out.reason.empty();
  return out;
}

std::vector<ShippedText> ReadShippedText(const std::string& folder) {
  std::vector<ShippedText> shipped;
  const auto bytes = base::ReadFile(folder + "/" + kAppliedFile);
  const auto json = bytes ? records::ParseJson(*bytes) : base::Result<records::Json>(nullptr);
  if (!json || !json->is_object() || !json->contains("text")) return shipped;
  for (const records::Json& row : (*json)["text"]) {
    const auto text = [&](const char* key) {
      const bool there = row.is_object() && row.contains(key) && row[key].is_string();
      return there ? row[key].get<std::string>() : std::string();
    };
    ShippedText one{text("variant"), text("target"), text("hash")};
    if (!one.variant.empty() && !one.hash.empty()) shipped.push_back(std::move(one));
  }
  return shipped;
}

ShippedCode CompareShipped(const std::vector<ShippedText>& shipped, const std::string& variant,
                           const std::string& target, const std::string& measured_hash) {
  ShippedCode found = ShippedCode::kUnknown;
  if (measured_hash.empty()) return found;
  for (const ShippedText& one : shipped) {
    if (one.variant != variant || one.target != target || one.hash.empty()) continue;
    if (one.hash != measured_hash) return ShippedCode::kDifferent;
    found = ShippedCode::kSame;
  }
  return found;
}

std::string ToolchainIdentity(const records::CompileCommand& command) {
  if (command.arguments.empty()) return {};
  const std::string found = base::FindProgram(command.arguments[0], command.directory);
  const std::vector<std::string> programs = base::ProgramsBehind(found);
  if (programs.empty()) return {};
  base::Hasher hasher;
  hasher.Add("toolchain");
  const auto add = [&hasher](const std::string& path) {
    const auto identity = base::IdentifyFile(path);
    if (!identity) return;
    hasher.Add(path).Add(std::to_string(identity->size)).Add(std::to_string(identity->mtime_ns));
  };
  for (const std::string& program : programs) add(program);
  for (const std::string& toolkit : base::ToolkitFoldersOf(found)) add(toolkit + "/version.json");
  return hasher.Hex();
}

base::Result<records::SelectedFile> RecordFile(const std::string& path) {
  TRY_ASSIGN(const base::FileIdentity identity, base::IdentifyFile(path));
  TRY_ASSIGN(const std::string bytes, base::ReadFile(path));
  return records::SelectedFile{path, identity.size, identity.mtime_ns, base::HashHex(bytes)};
}

std::vector<std::pair<std::string, std::string>> CompilerEnvironment() {
  constexpr std::array<const char*, 7> kVariables = {
      "CPATH",      "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH",  "NVCC_APPEND_FLAGS",
      "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "CUPILOT_HOST_CXX"};
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr) found.emplace_back(name, value);
  }
  return found;
}

}  // namespace cupilot::source
