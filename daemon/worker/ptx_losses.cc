#include "worker/ptx_losses.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

namespace cupilot::worker {
namespace {

constexpr std::array<std::string_view, 9> kFormats = {"f16",  "bf16", "tf32", "e4m3", "e5m2",
                                                      "e2m1", "e2m3", "e3m2", "ue8m0"};
// What rounds its result to its type. Not: neg abs min max set setp selp, loads and stores.
constexpr std::array<std::string_view, 15> kArithmetic = {"add", "sub", "mul",  "fma",   "mad",
                                                          "div", "rcp", "sqrt", "rsqrt", "ex2",
                                                          "lg2", "sin", "cos",  "tanh",  "atom"};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

template <std::size_t N>
bool In(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string_view> PartsOf(std::string_view instruction) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = instruction.find('.');
    parts.push_back(instruction.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    instruction.remove_prefix(dot + 1);
  }
}

// "f16" of "f16x2"; empty: no format that counts.
std::string_view FormatOf(std::string_view type) {
  for (const std::string_view packed : {"x2", "x4"}) {
    if (type.ends_with(packed)) type.remove_suffix(2);
  }
  return In(kFormats, type) ? type : std::string_view();
}

bool IsType(std::string_view part) {
  static constexpr std::array<std::string_view, 3> kOthers = {"f32", "f64", "s32"};
  return In(kOthers, part) || !FormatOf(part).empty();
}

// Of a product of matrices: to what it is added up, and tf32, to which it rounds its operands
// itself. Other operands are what they were rounded to before.
std::string_view FormatOfProduct(const std::vector<std::string_view>& parts) {
  if (std::find(parts.begin(), parts.end(), "tf32") != parts.end()) return "tf32";
  const auto sum = std::find_if(parts.begin(), parts.end(), IsType);
  return sum == parts.end() ? std::string_view() : FormatOf(*sum);
}

std::string_view RoundsTo(const std::vector<std::string_view>& parts) {
  const std::string_view name = parts.front();
  if (name == "cvt" && parts.size() >= 3) {
    const std::string_view to = FormatOf(parts[parts.size() - 2]);
    return to == FormatOf(parts.back()) ? std::string_view() : to;
  }
  const bool product = name == "mma" || name == "wgmma" || name == "tcgen05" ||
                       (name == "wmma" && parts.size() > 1 && parts[1] == "mma");
  if (product) return FormatOfProduct(parts);
  return In(kArithmetic, name) || name == "red" ? FormatOf(parts.back()) : std::string_view();
}

bool Has(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
}

bool IsApproximation(const std::vector<std::string_view>& parts) {
  const std::string_view name = parts.front();
  if (!parts.back().starts_with("f32")) return false;
  if (name == "div") return Has(parts, "full");
  if (!Has(parts, "approx")) return false;
  if (name == "rcp") return !Has(parts, "ftz");
  return name == "sin" || name == "cos" || name == "tanh" || name == "sqrt";
}

struct Function {
  bool kernel = false;
  Losses losses;
  std::set<std::string, std::less<>> called;
};

class Reader {
 public:
  explicit Reader(std::string_view ptx) : rest_(ptx) {}

  std::map<std::string, Function, std::less<>> Read() {
    for (std::string_view word = Next(); !word.empty(); word = Next()) {
      const bool kernel = word == ".entry";
      if (kernel || word == ".func") ReadFunction(kernel);
    }
    return std::move(functions_);
  }

 private:
  // A word with its dots, or a single other character; empty: the end. Comments, and texts as those
  // of .file, are passed over.
  std::string_view Next() {
    for (;;) {
      const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
      rest_.remove_prefix(std::min(begin, rest_.size()));
      if (rest_.starts_with("//")) {
        Skip(rest_.find('\n'), 0);
      } else if (rest_.starts_with("/*")) {
        Skip(rest_.find("*/", 2), 2);
      } else if (rest_.starts_with('"')) {
        Skip(rest_.find('"', 1), 1);
      } else {
        break;
      }
    }
    std::size_t length = 0;
    while (length < rest_.size() && (IsWord(rest_[length]) || rest_[length] == '.' ||
                                     (rest_[length] == ':' && length > 0))) {
      ++length;
    }
    const std::string_view word = rest_.substr(0, std::max<std::size_t>(length, 1));
    rest_.remove_prefix(word.size());
    return word;
  }
  void Skip(std::size_t end, std::size_t more) {
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + more);
  }

  // Behind ".func" or ".entry": what it returns, its name, its parameters, its body.
  void ReadFunction(bool kernel) {
    std::string_view name = Next();
    if (name == "(") {
      while (!name.empty() && name != ")") name = Next();
      name = Next();
    }
    for (std::string_view word = Next(); word != "{"; word = Next()) {
      if (word.empty() || word == ";") return;  // declared only
    }
    Function& function = functions_[std::string(name)];
    function.kernel = kernel;
    ReadBody(function);
  }

  void ReadBody(Function& function) {
    bool calls = false;
    int depth = 1;
    for (std::string_view word = Next(); !word.empty(); word = Next()) {
      if (word == "{") ++depth;
      if (word == "}" && --depth == 0) return;
      if (word == ";") calls = false;
      if (calls && IsWord(word.front())) function.called.emplace(word);
      if (word == "call" || word.starts_with("call.")) calls = true;
      if (std::isalpha(static_cast<unsigned char>(word.front())) != 0) See(word, function.losses);
    }
  }

  static void See(std::string_view instruction, Losses& losses) {
    if (instruction.find('.') == std::string_view::npos) return;
    const std::vector<std::string_view> parts = PartsOf(instruction);
    const std::string_view format = RoundsTo(parts);
    if (!format.empty()) {
      losses.emplace(format, instruction);
    } else if (IsApproximation(parts)) {
      losses.emplace(kApproximate, instruction);
    } else if (Has(parts, "ftz") && !Has(parts, "approx")) {
      losses.emplace(kFlushes, instruction);
    }
  }

  std::string_view rest_;
  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace

std::map<std::string, Losses> LossesOf(std::string_view ptx) {
  const auto functions = Reader(ptx).Read();
  std::map<std::string, Losses> found;
  for (const auto& [name, function] : functions) {
    if (!function.kernel) continue;
    Losses losses;
    std::set<std::string_view> seen;
    std::vector<std::string_view> reached = {name};
    while (!reached.empty()) {
      const auto at = functions.find(reached.back());
      reached.pop_back();
      if (at == functions.end() || !seen.insert(at->first).second) continue;
      losses.insert(at->second.losses.begin(), at->second.losses.end());
      reached.insert(reached.end(), at->second.called.begin(), at->second.called.end());
    }
    const bool rounds = std::any_of(losses.begin(), losses.end(),
                                    [](const auto& loss) { return In(kFormats, loss.first); });
    if (rounds) {
      losses.erase(kApproximate);
      losses.erase(kFlushes);
    }
    if (!losses.empty()) found[name] = std::move(losses);
  }
  return found;
}

}  // namespace cupilot::worker
