#include "source/swap/selection_check.h"

#include <array>
#include <cstdlib>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/hash.h"
#include "source/swap/edit_window.h"
#include "source/swap/variant_file.h"

namespace cupilot::source {
namespace {

// Coarse clocks and edits right after a look: within this time of the selection a file's time is no
// proof that it is the same.
constexpr std::int64_t kDoubtNs = 2'000'000'000;

// Outlines are made on the daemon's loop thread: larger headers are some library's, not what is
// edited all day.
constexpr std::uint64_t kMostOutlineBytes = 512 * 1024;
constexpr std::uint64_t kMostOutlineBytesTogether = 2048 * 1024;

bool SaysTheSame(const records::SelectedFile& file, const records::EditWindow& window) {
  const auto bytes = base::ReadFile(file.path);
  if (!bytes) return false;
  if (base::HashHex(*bytes) == file.hash) return true;
  return !file.outline.empty() && bytes->size() <= kMostOutlineBytes &&
         OutlineOf(*bytes, window) == file.outline;
}

std::string WhyFilesDiffer(const records::Selection& selection, std::int64_t selection_mtime) {
  for (const records::SelectedFile& file : selection.files) {
    const auto now = base::IdentifyFile(file.path);
    if (!now) return file.path + " is gone";
    const bool certain =
        now->mtime_ns == file.mtime_ns && file.mtime_ns < selection_mtime - kDoubtNs;
    if ((now->size == file.size && certain) || SaysTheSame(file, selection.window)) continue;
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
  if (std::string why = WhyTextsDiffer(command.folder, selection.swap); !why.empty()) {
    return why;
  }
  return WhyFilesDiffer(selection, selection_mtime);
}

}  // namespace

std::string WhyTextsDiffer(const std::string& folder, const std::string& swap) {
  const auto text = base::ReadFile(folder + "/" + swap);
  if (!text) return "the swapped source is missing";
  if (swap != "swap." + base::HashHex(*text) + ".cu") {
    return "the swapped source is not the one that was published";
  }
  for (const std::string& name : VariantFilesOf(*text)) {
    const auto variant = base::ReadFile(folder + "/" + name);
    if (!variant) return name + " is missing";
    if (!IsVariantFile(name, *variant)) return name + " is not the one that was published";
  }
  return {};
}

bool WasRefused(const std::string& folder, const std::string& id) {
  const auto text = base::ReadFile(folder + "/" + kRefusedFile);
  if (!text) return false;
  const auto json = records::ParseJson(*text);
  return json && json->is_object() && json->contains("selection") &&
         (*json)["selection"].is_string() && (*json)["selection"].get<std::string>() == id;
}

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

void RecordEditWindow(const SwapRequest& request, records::Selection& selection) {
  std::vector<std::string_view> texts, definitions;
  std::vector<records::ClosureRange> needed;
  for (const SwappedKernel& kernel : request.kernels) {
    if (kernel.kernel.depends_on_lines) return;
    texts.push_back(kernel.kernel.closure_source);
    definitions.push_back(kernel.kernel.closure_macros);
    for (const SwappedVariant& one : kernel.variants) texts.push_back(one.variant.source);
    needed.insert(needed.end(), kernel.kernel.closure.begin(), kernel.kernel.closure.end());
  }
  std::vector<std::pair<records::SelectedFile*, std::string>> files;
  std::uint64_t together = 0;
  for (records::SelectedFile& file : selection.files) {
    if (file.size > kMostOutlineBytes || together + file.size > kMostOutlineBytesTogether) continue;
    auto bytes = base::ReadFile(file.path);
    if (!bytes || base::HashHex(*bytes) != file.hash) continue;
    together += file.size;
    files.emplace_back(&file, std::move(*bytes));
  }
  for (const auto& [file, bytes] : files) definitions.push_back(bytes);
  selection.window = MakeEditWindow(texts, definitions);
  for (const auto& [file, bytes] : files) {
    std::vector<records::ClosureRange> here;
    for (const records::ClosureRange& range : needed) {
      if (range.file == file->path) here.push_back(range);
    }
    file->outline = OutlineOf(bytes, selection.window, here);
  }
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
