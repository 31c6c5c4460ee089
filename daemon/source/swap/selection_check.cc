#include "source/swap/selection_check.h"

#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/hash.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/variant_file.h"

namespace cupilot::source {
namespace {

// Compilers do not see tags: an edit of one is one of the kernel.
std::string WhyTagsDiffer(const records::Selection& selection) {
  for (const records::SelectedFile& file : selection.files) {
    if (file.tags.empty()) continue;
    const auto bytes = base::ReadFile(file.path);
    if (!bytes) return file.path + " is gone";
    if (HashOfTags(*bytes) != file.tags) return "the tags in " + file.path + " have changed";
  }
  return {};
}

std::string WhichFileDiffers(const records::Selection& selection) {
  for (const records::SelectedFile& file : selection.files) {
    const auto bytes = base::ReadFile(file.path);
    if (!bytes) return file.path + " is gone";
    if (base::HashHex(*bytes) != file.hash) return file.path + " has changed";
  }
  return {};
}

// `compiled` null: the compiler is asked, last.
std::string WhyNot(const records::CompileCommand& command, const records::Selection& selection,
                   const std::vector<records::PassSummary>* compiled) {
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
  if (selection.tokens.empty()) return "an older version of cuPilot published the selection";
  if (std::string why = WhyTagsDiffer(selection); !why.empty()) return why;
  // What follows from the numbers of lines is in no token.
  const bool any = selection.names.size() == 1 && selection.names.front() == kAnyName;
  if (std::string why = any ? WhichFileDiffers(selection) : ""; !why.empty()) return why;
  std::vector<records::PassSummary> asked;
  if (compiled == nullptr) {
    const auto compiler = AskCompiler(command);
    if (!compiler) return compiler.error().message;
    asked = Summarise(compiler->passes);
    compiled = &asked;
  }
  if (HashOfTokens(*compiled, selection.names) != selection.tokens) {
    const std::string why = WhichFileDiffers(selection);
    return why.empty() ? "the compiler reads another text of the kernels than when they were tuned"
                       : why;
  }
  return {};
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

namespace {

CheckedSelection Check(const records::CompileCommand& command,
                       const std::vector<records::PassSummary>* compiled) {
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
  auto json = records::ParseJson(*bytes);
  if (!json) {
    out.reason = "the selection is not readable";
    return out;
  }
  auto selection = records::ParseSelection(*json);
  if (!selection) {
    out.reason = "the selection is not readable: " + selection.error().message;
    return out;
  }
  out.selection = std::move(*selection);
  out.reason = WhyNot(command, out.selection, compiled);
  out.holds = out.reason.empty();
  return out;
}

}  // namespace

CheckedSelection CheckSelection(const records::CompileCommand& command) {
  return Check(command, nullptr);
}

CheckedSelection CheckSelection(const records::CompileCommand& command,
                                const std::vector<records::PassSummary>& compiled) {
  return Check(command, &compiled);
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
  return records::SelectedFile{path, identity.size, identity.mtime_ns, base::HashHex(bytes),
                               HashOfTags(bytes)};
}

void RecordTokens(const SwapRequest& request, const std::vector<records::PassSummary>& compiled,
                  records::Selection& selection) {
  std::vector<std::string_view> texts;
  std::set<std::string> names;
  for (const SwappedKernel& kernel : request.kernels) {
    if (HasHiddenLines(kernel.kernel)) names.emplace(kAnyName);
    names.insert(kernel.kernel.names.begin(), kernel.kernel.names.end());
    texts.push_back(kernel.kernel.closure_source);
    for (const SwappedVariant& one : kernel.variants) texts.push_back(one.variant.source);
  }
  for (std::string& name : NamesLookedUp(texts)) names.insert(std::move(name));
  if (names.contains(std::string(kAnyName))) names = {std::string(kAnyName)};
  selection.names.assign(names.begin(), names.end());
  selection.tokens = HashOfTokens(compiled, selection.names);
}

const std::vector<const char*>& CompilerVariables() {
  static const std::vector<const char*> kVariables = {
      "CPATH",      "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH",  "NVCC_APPEND_FLAGS",
      "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "CUPILOT_HOST_CXX"};
  return kVariables;
}

std::vector<std::pair<std::string, std::string>> CompilerEnvironment() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : CompilerVariables()) {
    const char* value = std::getenv(name);
    if (value != nullptr) found.emplace_back(name, value);
  }
  return found;
}

}  // namespace cupilot::source
