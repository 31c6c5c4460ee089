#include "recording/plan.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <sstream>

namespace cupilot::capture {
namespace {

constexpr char kFirstLine[] = "cupilot-capture-plan 1";
constexpr std::array<const char*, 6> kKinds = {"unknown",   "pointer", "scalar",
                                               "structure", "table",   "hidden"};

bool ParseKind(const std::string& text, ParameterKind& kind) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (text == kKinds[i]) {
      kind = static_cast<ParameterKind>(i);
      return true;
    }
  }
  return false;
}

bool IsOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

// Names with their namespaces, and single other characters; no spaces.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  bool open = false;  // the last word goes on
  for (const char c : text) {
    const bool part = IsOfName(c);
    if (c != ' ' && part && open) words.back() += c;
    if (c != ' ' && !(part && open)) words.emplace_back(1, c);
    open = c != ' ' && part;
  }
  return words;
}

bool EndsWithName(const std::string& whole, const std::string& end) {
  const std::string tail = "::" + end;
  return whole.size() > tail.size() &&
         whole.compare(whole.size() - tail.size(), tail.size(), tail) == 0;
}

// One line, whatever the text is.
std::string Escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return line;
}

// What is behind the next space.
std::string Rest(std::istringstream& line) {
  std::string escaped, text;
  line.ignore(1);
  std::getline(line, escaped);
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const bool escape = escaped[i] == '\\' && i + 1 < escaped.size();
    if (escape) ++i;
    text += escape && escaped[i] == 'n' ? '\n' : escaped[i];
  }
  return text;
}

// One line of a kernel; false if it is none.
bool ParseKernelLine(const std::string& word, std::istringstream& line, PlannedKernel& kernel) {
  if (word == "name") {
    kernel.name = Rest(line);
    return true;
  }
  if (word == "parameter") {
    PlannedParameter parameter;
    std::string kind;
    if (!(line >> kind >> parameter.bytes) || !ParseKind(kind, parameter.kind)) return false;
    kernel.parameters.push_back(parameter);
    return true;
  }
  if (word != "global") return false;
  PlannedGlobal global;
  std::string space;
  if (!(line >> space >> global.bytes) || (space != "constant" && space != "device")) return false;
  global.constant = space == "constant";
  global.symbol = Rest(line);
  kernel.globals.push_back(global);
  return !global.symbol.empty();
}

// Not of a kernel.
bool ParseLine(const std::string& word, std::istringstream& line, Plan& plan) {
  if (word == "folder") return !(plan.folder = Rest(line)).empty();
  if (word == "launches") return static_cast<bool>(line >> plan.launches);
  if (word == "max_bytes") return static_cast<bool>(line >> plan.max_bytes);
  if (word == "seed") return static_cast<bool>(line >> plan.seed);
  return word == "cupti" && !(plan.cupti = Rest(line)).empty();
}

}  // namespace

bool MayName(const std::string& planned, const std::string& name) {
  const std::vector<std::string> a = Words(planned), b = Words(name);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // The kernel's own name is whole.
    if (a[i] != b[i] && (i == 0 || !EndsWithName(a[i], b[i]))) return false;
  }
  return true;
}

std::string PrintPlan(const Plan& plan) {
  std::ostringstream out;
  out << kFirstLine << "\nfolder " << Escaped(plan.folder) << "\nlaunches " << plan.launches
      << "\nmax_bytes " << plan.max_bytes << "\nseed " << plan.seed << "\n";
  if (!plan.cupti.empty()) out << "cupti " << Escaped(plan.cupti) << "\n";
  for (const PlannedKernel& kernel : plan.kernels) {
    if (kernel.signature.empty()) continue;
    out << "kernel " << Escaped(kernel.signature) << "\n";
    if (!kernel.name.empty()) out << "name " << Escaped(kernel.name) << "\n";
    for (const PlannedParameter& parameter : kernel.parameters) {
      out << "parameter " << kKinds[static_cast<std::size_t>(parameter.kind)] << " "
          << parameter.bytes << "\n";
    }
    for (const PlannedGlobal& global : kernel.globals) {
      out << "global " << (global.constant ? "constant " : "device ") << global.bytes << " "
          << Escaped(global.symbol) << "\n";
    }
  }
  return out.str();
}

bool ParsePlan(const std::string& text, Plan& plan, std::string& error) {
  plan = Plan{};
  std::istringstream in(text);
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine) {
    error = "line 1: not a plan of this version of cuPilot";
    return false;
  }
  bool in_kernel = false, left_out = false;
  for (int number = 2; std::getline(in, line); ++number) {
    std::istringstream rest(line);
    std::string word;
    if (!(rest >> word)) continue;
    bool understood = true;
    if (word == "kernel") {
      in_kernel = true;
      plan.kernels.push_back({Rest(rest), "", {}, {}});
      understood = !plan.kernels.back().signature.empty();
      left_out = false;
    } else if (in_kernel) {
      understood = left_out || ParseKernelLine(word, rest, plan.kernels.back());
    } else {
      understood = ParseLine(word, rest, plan);
    }
    if (understood) continue;
    const std::string problem =
        "line " + std::to_string(number) + ": '" + line + "' is not understood";
    if (!in_kernel) {
      error = problem;
      return false;
    }
    const PlannedKernel& kernel = plan.kernels.back();
    plan.problems.push_back((kernel.name.empty() ? kernel.signature : kernel.name) +
                            " is not captured: the plan's " + problem);
    plan.kernels.pop_back();
    left_out = true;
  }
  if (!plan.folder.empty()) return true;
  error = "no folder is named";
  return false;
}

bool ReadPlan(const std::string& path, Plan& plan, std::string& error) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) {
    error = path + ": cannot be opened";
    return false;
  }
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), file)) > 0;) {
    text.append(part.data(), n);
  }
  std::fclose(file);
  if (ParsePlan(text, plan, error)) return true;
  error = path + ": " + error;
  return false;
}

}  // namespace cupilot::capture
