#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "source/rewrite/draft.h"
#include "source/scan.h"

namespace cupilot::corpus {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::string_view kMark = "// corpus: ";

Words WordsOf(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "TEXT" or "TEXT" in FILE.
bool ReadReason(const std::string& rest, Reason& reason) {
  const std::size_t close = rest.rfind('"');
  if (rest.size() < 3 || rest[0] != '"' || close < 2) return false;
  reason.text = rest.substr(1, close - 1);
  const Words more = WordsOf(rest.substr(close + 1));
  if (more.size() == 2 && more[0] == "in") reason.file = more[1];
  return more.empty() || !reason.file.empty();
}

bool ReadLine(const std::string& keyword, const std::string& rest, Entry& entry) {
  const Words words = WordsOf(rest);
  if (keyword == "swapped") {
    entry.swapped = true;
    entry.kernels = std::max(entry.kernels, 1);
    return words.empty();
  }
  if (keyword == "declined") return ReadReason(rest, entry.declined.emplace_back());
  if (words.empty()) return false;
  if (keyword == "kernels") {
    entry.kernels = std::stoi(rest);
  } else if (keyword == "idle") {
    entry.idle = std::stoi(rest);
  } else if (keyword == "gpu-idle") {
    entry.gpu_idle = std::stoi(rest);
  } else if (keyword == "standards") {
    entry.standards = words;
  } else if (keyword == "architectures") {
    entry.architectures = words;
  } else if (keyword == "nvcc-only") {
    entry.nvcc_only = rest;
  } else if (keyword == "races") {
    entry.races = rest;
  } else if (keyword == "flags") {
    entry.flags = words;
  } else if (keyword == "also") {
    entry.also.push_back({words[0], {words.begin() + 1, words.end()}});
  } else if (keyword == "as") {
    entry.as = rest;
  } else {
    return false;
  }
  return true;
}

records::CompileCommand CommandOf(const std::string& nvcc, const std::string& source,
                                  const Words& flags, const std::string& folder,
                                  const std::string& object) {
  records::CompileCommand command;
  command.directory = folder;
  command.source = source;
  command.object = folder + "/" + object;
  command.arguments = {nvcc};
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  command.arguments.insert(command.arguments.end(), {"-c", source, "-o", command.object});
  return command;
}

// Reads each integer that a lambda captures, or that stands in a structure passed by value.
std::string GuardOf(const records::Kernel& kernel) {
  std::string guard;
  for (const records::Parameter& parameter : kernel.parameters) {
    const auto read = [&](const std::string& member) {
      const std::string name = parameter.name + "." + member;
      guard.append(guard.empty() ? "" : " && ").append(name).append(" == ").append(name);
    };
    for (const records::MadeType& type : kernel.made_types) {
      if (type.name != parameter.canonical) continue;
      for (const auto& member : type.integers) read(member.name);
    }
    for (const auto& member : parameter.members) {
      if (member.kind == records::ParameterKind::kInteger) read(member.name);
    }
  }
  return guard;
}

base::Result<records::Variant> CopyOf(const records::Kernel& kernel, const std::string& device) {
  const records::Case workload = kernel.cases.empty() ? records::Case{} : kernel.cases.front();
  TRY_ASSIGN(const source::Draft draft, source::OpenDraft(kernel, workload, device));
  return source::CloseDraft(draft, {});
}

}  // namespace

std::string SourcesFolder() { return std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/sources"; }

std::vector<std::string> Entry::Targets() const {
  std::vector<std::string> targets;
  for (const std::string& number : architectures) {
    targets.push_back("compute_" + number + ",sm_" + number);
  }
  return targets;
}

Entry ReadEntry(const std::string& file, const std::string& text) {
  Entry entry;
  entry.file = file;
  entry.name = fs::path(file).stem();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t at = line.find(kMark);
    if (at == std::string::npos) continue;
    const std::string said = line.substr(at + kMark.size());
    const std::size_t space = std::min(said.find(' '), said.size());
    const std::string rest = said.substr(std::min(space + 1, said.size()));
    if (!ReadLine(said.substr(0, space), rest, entry)) entry.problem = line;
  }
  return entry;
}

std::vector<Entry> ReadCorpus() {
  std::vector<Entry> entries;
  for (const auto& file : fs::directory_iterator(SourcesFolder())) {
    if (file.path().extension() != ".cu") continue;
    const std::string text = base::ReadFile(file.path()).value_or("");
    if (text.find(kMark) == std::string::npos) continue;
    entries.push_back(ReadEntry(file.path().filename(), text));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

bool Unit::HasSwapped() const {
  return std::any_of(scan.kernels.begin(), scan.kernels.end(),
                     [](const records::Kernel& kernel) { return kernel.declined.empty(); });
}

base::Result<std::vector<Unit>> ScanUnits(const Entry& entry, const std::string& nvcc,
                                          const std::string& standard, const std::string& folder) {
  std::string source = SourcesFolder() + "/" + entry.file;
  if (!entry.as.empty()) {
    const std::string copy = folder + "/" + entry.as;
    fs::create_directories(fs::path(copy).parent_path());
    fs::copy_file(source, copy, fs::copy_options::overwrite_existing);
    source = copy;
  }
  const auto flags = [&](const Words& more) {
    Words all = {"-O1", "-std=c++" + standard};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  std::vector<Unit> units(1);
  units[0].command = CommandOf(nvcc, source, flags(entry.flags), folder, "0.o");
  for (const OtherUnit& other : entry.also) {
    Unit unit;
    unit.command = CommandOf(nvcc, SourcesFolder() + "/" + other.file, flags(other.flags), folder,
                             std::to_string(units.size()) + ".o");
    units.push_back(std::move(unit));
  }
  for (Unit& unit : units) {
    protocol::ScanRequest request;
    request.command = unit.command;
    TRY_ASSIGN(unit.scan, source::Scan(request));
  }
  return units;
}

base::Result<source::SwappedSource> SwapUnit(const Unit& unit, const std::string& device,
                                             const std::vector<std::string>& targets) {
  source::SwapRequest request;
  request.source = unit.command.source;
  request.unit = unit.command.object;
  for (const records::Kernel& kernel : unit.scan.kernels) {
    if (!kernel.declined.empty()) continue;
    auto copy = CopyOf(kernel, device);
    if (!copy) return base::Fail(copy.error().In(kernel.name));
    source::SwappedKernel swapped;
    swapped.kernel = kernel;
    for (const std::string& target : targets) {
      swapped.variants.push_back({*copy, target, {}, GuardOf(kernel), "a copy", 1.1});
    }
    request.kernels.push_back(std::move(swapped));
  }
  return source::WriteSwappedSource(request);
}

std::vector<std::string> SwappedCompile(const Unit& unit, const source::SwappedSource& swap,
                                        const std::string& folder) {
  for (const source::SwappedText& one : swap.Files()) {
    std::ofstream(folder + "/" + one.file_name) << one.text;
  }
  std::ofstream(folder + "/stamp.h") << "// touched\n";
  Words words = unit.command.arguments;
  std::replace(words.begin(), words.end(), unit.command.source, folder + "/" + swap.file_name);
  const Words definitions = source::HookDefinitions(swap.hook);
  words.insert(words.end(), definitions.begin(), definitions.end());
  words.insert(words.end(), {"-include", folder + "/stamp.h"});
  return words;
}

}  // namespace cupilot::corpus
