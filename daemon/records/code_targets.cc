#include "records/code_targets.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace cupilot::records {
namespace {

constexpr const char* kReal = "sm_";
constexpr const char* kVirtual = "compute_";

// "sm_90a": generation 9, minor 0, suffix 'a'.
struct Architecture {
  int number = 0;  // 90
  char suffix = 0;
  bool real = false;
  int generation() const { return number / 10; }
};

std::optional<Architecture> Parse(std::string_view text) {
  Architecture parsed;
  if (text.starts_with(kReal)) {
    parsed.real = true;
    text.remove_prefix(std::string_view(kReal).size());
  } else if (text.starts_with(kVirtual)) {
    text.remove_prefix(std::string_view(kVirtual).size());
  } else {
    return std::nullopt;
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), parsed.number);
  if (code != std::errc() || parsed.number <= 0) return std::nullopt;
  const std::size_t rest = static_cast<std::size_t>(text.data() + text.size() - end);
  if (rest > 1) return std::nullopt;
  if (rest == 1) parsed.suffix = *end;
  return parsed;
}

std::string VirtualOf(const std::string& arch) {
  return arch.starts_with(kReal) ? kVirtual + arch.substr(3) : arch;
}

// "[sm_80,compute_80]", "\"sm_80,compute_80\"" or "sm_80"
std::vector<std::string> List(std::string_view text) {
  std::vector<std::string> items(1);
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '"' || c == '\'' || c == '\\') continue;
    if (c == ',') {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  std::erase(items, "");
  return items;
}

void Add(const std::string& ptx, const std::string& code, std::vector<CodeTarget>& out) {
  CodeTarget target{ptx, code.starts_with("lto_") ? kReal + code.substr(4) : code};
  if (!Parse(target.ptx) || !Parse(target.code)) return;
  if (std::find(out.begin(), out.end(), target) == out.end()) out.push_back(std::move(target));
}

// "arch=compute_80,code=[compute_80,sm_80]"
void AddGenerated(const std::string& text, std::vector<CodeTarget>& out) {
  const std::size_t arch = text.find("arch=");
  const std::size_t code = text.find("code=");
  if (arch == std::string::npos) return;
  const std::vector<std::string> named =
      List(text.substr(arch + 5, text.find(',', arch) - arch - 5));
  if (named.empty()) return;
  if (code == std::string::npos) return Add(named[0], named[0], out);
  for (const std::string& one : List(text.substr(code + 5))) Add(VirtualOf(named[0]), one, out);
}

// One -arch with its -code.
void AddArch(const std::string& arch, const std::string& code, const std::string& native,
             std::vector<CodeTarget>& out) {
  const std::string meant = arch == "native" ? native : arch;
  if (meant.empty()) return;
  if (meant == "all" || meant == "all-major") {
    // Whatever there is, this machine's is among it.
    if (!native.empty()) Add(VirtualOf(native), native, out);
    return;
  }
  if (!code.empty()) {
    for (const std::string& one : List(code)) Add(VirtualOf(meant), one, out);
    return;
  }
  if (meant.starts_with(kReal)) Add(VirtualOf(meant), meant, out);
  // -arch=native makes no PTX.
  if (arch != "native") Add(VirtualOf(meant), VirtualOf(meant), out);
}

std::vector<std::string> WordsOf(const CompileCommand& command) {
  std::vector<std::string> words;
  const auto add_variable = [&](const char* name) {
    for (const auto& [key, value] : command.environment) {
      if (key != name) continue;
      std::istringstream stream(value);
      for (std::string word; stream >> word;) words.push_back(word);
    }
  };
  add_variable("NVCC_PREPEND_FLAGS");
  if (!command.arguments.empty()) {
    words.insert(words.end(), command.arguments.begin() + 1, command.arguments.end());
  }
  add_variable("NVCC_APPEND_FLAGS");
  return words;
}

// The value of the option if the word is one of its spellings, joined by '=' or in the next word.
std::optional<std::string> ValueOf(const std::vector<std::string>& words, std::size_t& at,
                                   std::initializer_list<std::string_view> spellings) {
  for (const std::string_view spelling : spellings) {
    if (words[at] == spelling && at + 1 < words.size()) return words[++at];
    if (words[at].starts_with(spelling) && words[at].size() > spelling.size() &&
        words[at][spelling.size()] == '=') {
      return words[at].substr(spelling.size() + 1);
    }
  }
  return std::nullopt;
}

// What the driver may run on a device; 'a' code is for one architecture, 'f' code for its family.
bool Runs(const CodeTarget& target, const Architecture& device) {
  const auto code = Parse(target.code);
  if (!code) return false;
  if (code->suffix == 'a') return code->number == device.number;
  const bool same_generation = code->generation() == device.generation();
  if (code->real || code->suffix == 'f') return same_generation && code->number <= device.number;
  return code->number <= device.number;
}

// Machine code before PTX, then the newest, then the one that is more exactly for the device.
int Rank(const CodeTarget& target) {
  const auto code = Parse(target.code);
  const int suffix = code->suffix == 'a' ? 2 : code->suffix == 'f' ? 1 : 0;
  return (code->real ? 100000 : 0) + code->number * 10 + suffix;
}

}  // namespace

std::vector<CodeTarget> CodeTargets(const CompileCommand& command, const std::string& native,
                                    const std::string& otherwise) {
  const std::vector<std::string> words = WordsOf(command);
  std::vector<CodeTarget> targets;
  std::string arch, code;
  bool generated = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto value = ValueOf(words, i, {"-gencode", "--generate-code"})) {
      AddGenerated(*value, targets);
      generated = true;
    } else if (const auto named = ValueOf(words, i, {"-arch", "--gpu-architecture"})) {
      arch = *named;
    } else if (const auto real = ValueOf(words, i, {"-code", "--gpu-code"})) {
      code = *real;
    }
  }
  if (!arch.empty()) {
    AddArch(arch, code, native, targets);
  } else if (!generated) {
    AddArch(otherwise, code, native, targets);
  }
  return targets;
}

std::optional<LoadedCode> LoadedOn(const std::vector<CodeTarget>& targets,
                                   const std::string& arch) {
  const auto device = Parse(arch);
  const CodeTarget* best = nullptr;
  for (const CodeTarget& target : targets) {
    if (!device || !Runs(target, *device)) continue;
    if (best == nullptr || Rank(target) > Rank(*best)) best = &target;
  }
  if (best == nullptr) return std::nullopt;
  const bool by_driver = best->code.starts_with(kVirtual);
  return LoadedCode{best->ptx, by_driver ? arch : best->code, by_driver};
}

std::string WhyNotNative(const std::vector<CodeTarget>& targets, const std::string& arch) {
  const auto device = Parse(arch);
  if (!device) return {};
  const std::string number = std::to_string(device->number);
  const std::string advice = "; configure with -DCMAKE_CUDA_ARCHITECTURES=native or " + number;
  const std::string lacks = "your build has no " + arch + " code";
  const auto loaded = LoadedOn(targets, arch);
  if (!loaded) return lacks + ": it does not run on this GPU" + advice;
  if (Parse(loaded->ptx)->number == device->number) return {};
  return lacks + ": the GPU runs its " + (loaded->by_driver ? loaded->ptx : loaded->code) +
         " code" + (loaded->by_driver ? ", compiled by the driver" : "") + advice;
}

}  // namespace cupilot::records
