#include "source/tag_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "records/expression.h"

namespace cupilot::source {
namespace {

using Strings = std::vector<std::string>;

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
// Letters of other alphabets are several bytes with the top bit set.
bool IsWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Parts of a text at a separator that stands outside all brackets.
std::vector<std::string_view> SplitOutside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (i == text.size() || (c == separator && depth == 0)) {
      parts.push_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}

base::Result<double> ParseNumber(std::string_view text) {
  const std::string copy(Trim(text));
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size() || !std::isfinite(value)) {
    return base::Fail(base::InvalidArgument("'" + copy + "' is not a number"));
  }
  return value;
}

base::Result<> CheckExpression(std::string_view text) {
  const auto expression = records::Expression::Parse(text);
  if (!expression) {
    return base::Fail(base::InvalidArgument("'" + std::string(text) + "' is not an expression (" +
                                            expression.error().message + ")"));
  }
  return {};
}

// One directive's words: takes names, values and punctuation from the left.
// Of a workload, beside the values of parameters.
constexpr const char* kLaunchFields[] = {"grid", "block", "shared", "weight"};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(Trim(text)) {}
  bool AtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // A word of letters, digits, '_' and what is in `more`.
  std::string_view Word(std::string_view more = ":$") {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (IsWord(rest_[length]) || more.find(rest_[length]) != std::string_view::npos)) {
      ++length;
    }
    return Take(length);
  }
  bool Accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    Take(1);
    return true;
  }
  // True, and past it, if the next word is `word`, followed by white space or a bracket.
  bool AcceptWord(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && !IsSpace(rest_[word.size()]) && rest_[word.size()] != '[') {
      return false;
    }
    Take(word.size());
    return true;
  }
  // To the next white space outside brackets.
  std::string_view Chunk() {
    int depth = 0;
    std::size_t length = 0;
    for (; length < rest_.size(); ++length) {
      const char c = rest_[length];
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      if (depth <= 0 && IsSpace(c)) break;
    }
    return Take(length);
  }

 private:
  std::string_view Take(std::size_t length) {
    const std::string_view taken = rest_.substr(0, length);
    rest_ = Trim(rest_.substr(length));
    return taken;
  }
  std::string_view rest_;
};

struct FillKind {
  std::string_view name;
  std::size_t least, most;  // arguments
  std::string_view form;    // for messages
};
constexpr std::array kFills = {
    FillKind{"normal", 0, 2, "normal(mean,stddev)"},
    FillKind{"uniform", 0, 2, "uniform(low,high)"},
    FillKind{"integers", 2, 2, "integers(low,high)"},
    FillKind{"constant", 1, 1, "constant(value)"},
    FillKind{"iota", 0, 0, "iota"},
    FillKind{"permutation", 0, 0, "permutation"},
    FillKind{"offsets", 1, 1, "offsets(total)"},
    FillKind{"indices", 2, 2, "indices(low,high)"},
    FillKind{"sorted", 0, 2, "sorted(low,high)"},
    FillKind{"bits", 0, 0, "bits"},
    FillKind{"file", 1, 1, "file(path)"},
};

base::Result<records::Fill> ParseFill(std::string_view text) {
  const std::size_t open = text.find('(');
  records::Fill fill;
  fill.kind = Trim(text.substr(0, open));
  std::vector<std::string_view> arguments;
  if (open != std::string_view::npos) {
    if (!text.ends_with(')')) {
      return base::Fail(base::InvalidArgument("'" + std::string(text) + "' lacks its ')'"));
    }
    arguments = SplitOutside(text.substr(open + 1, text.size() - open - 2), ',');
  }
  const auto kind = std::find_if(kFills.begin(), kFills.end(),
                                 [&](const FillKind& k) { return k.name == fill.kind; });
  if (kind == kFills.end()) {
    std::string known;
    for (const FillKind& k : kFills) known += (known.empty() ? "" : ", ") + std::string(k.form);
    return base::Fail(
        base::InvalidArgument("unknown fill '" + fill.kind + "'; write one of " + known));
  }
  if (arguments.size() < kind->least || arguments.size() > kind->most ||
      (arguments.size() == 1 && kind->most == 2)) {
    return base::Fail(base::InvalidArgument("fill '" + std::string(text) + "': write " +
                                            std::string(kind->form)));
  }
  if (fill.kind == "normal" && arguments.size() == 2) {
    TRY_ASSIGN(fill.mean, ParseNumber(arguments[0]));
    TRY_ASSIGN(fill.stddev, ParseNumber(arguments[1]));
  } else if (fill.kind == "uniform" && arguments.empty()) {
    fill.low = "0";
    fill.high = "1";
  } else if (arguments.size() == 2) {
    fill.low = arguments[0];
    fill.high = arguments[1];
  } else if (fill.kind == "constant") {
    fill.value = arguments[0];
  } else if (fill.kind == "offsets") {
    fill.total = arguments[0];
  } else if (fill.kind == "file") {
    fill.path = arguments[0];
  }
  return fill;
}

bool IsPointers(std::string_view chunk) {
  return chunk != "pointers" && Trim(chunk.substr(0, chunk.find('('))) == "pointers";
}

// "pointers(count, bytes)", "pointers(count, bytes, fill)".
base::Result<> ParsePointers(std::string_view text, TagValue& value) {
  const auto no = [&](const std::string& why) {
    return base::Fail(base::InvalidArgument("'" + value.name + "=" + std::string(text) + "' " +
                                            why +
                                            "; write pointers(count,bytes) or "
                                            "pointers(count,bytes,fill)"));
  };
  if (value.global) return no("is of a global variable, which cannot hold pointers");
  if (!text.ends_with(')')) return no("says its count between its brackets");
  const std::size_t open = text.find('(');
  const auto parts = SplitOutside(text.substr(open + 1, text.size() - open - 2), ',');
  if (parts.size() != 2 && parts.size() != 3) return no("needs a count and the bytes behind each");
  TRY(CheckExpression(parts[0]));
  TRY(CheckExpression(parts[1]));
  value.array = true;
  value.count = parts[0];
  value.fill.emplace();
  value.fill->kind = "pointers";
  value.fill->bytes = parts[1];
  if (parts.size() == 2) return {};
  if (IsPointers(parts[2])) return no("leads to pointers again; they are followed one level");
  TRY_ASSIGN(records::Fill inner, ParseFill(parts[2]));
  if (inner.kind == "file") return no("cannot be filled from one file");
  value.fill->inner.push_back(std::move(inner));
  return {};
}

base::Result<TagValue> ParseValue(Cursor& cursor, std::string_view name) {
  TagValue value;
  value.global = name.starts_with("global:") && !name.starts_with("global::");
  value.name = value.global ? name.substr(7) : name;
  if (cursor.AcceptWord("inout")) {
    value.access = records::Access::kInOut;
  } else if (cursor.AcceptWord("in")) {
    value.access = records::Access::kIn;
  } else if (cursor.AcceptWord("out")) {
    value.access = records::Access::kOut;
  }
  value.unordered = cursor.AcceptWord("unordered");
  const std::string_view chunk = cursor.Chunk();
  if (chunk.empty() && !value.access) {
    return base::Fail(base::InvalidArgument("'" + std::string(name) + "=' lacks a value"));
  }
  if (IsPointers(chunk)) {
    TRY(ParsePointers(chunk, value));
    return value;
  }
  std::size_t open = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] == '[' && depth == 0) open = i;
    if (chunk[i] == '(' || chunk[i] == '[') ++depth;
    if (chunk[i] == ')' || chunk[i] == ']') --depth;
  }
  const bool sized = open != std::string_view::npos && chunk.ends_with(']');
  value.array = sized || value.access || value.global;
  if (!value.array) {
    value.scalar = chunk;
    return value;
  }
  if (!sized && !value.global) {
    return base::Fail(base::InvalidArgument("the array '" + value.name +
                                            "' lacks its size: write '" + std::string(name) +
                                            "=fill[count]'"));
  }
  if (sized) {
    value.count = Trim(chunk.substr(open + 1, chunk.size() - open - 2));
    TRY(CheckExpression(value.count));
  }
  const std::string_view fill = Trim(sized ? chunk.substr(0, open) : chunk);
  if (!fill.empty()) {
    TRY_ASSIGN(value.fill, ParseFill(fill));
  }
  return value;
}

class DirectiveParser {
 public:
  DirectiveParser(int line, std::string_view text, Tag& tag)
      : line_(line), cursor_(text), tag_(tag) {}

  base::Result<> Run() {
    const std::string word(cursor_.Word());
    if (word == "tune") {
      tag_.tune = true;
      return ExpectEnd();
    }
    if (word == "bitwise") {
      Tolerance().bitwise = true;
      return ExpectEnd();
    }
    if (word == "workload") return Workload();
    if (word == "tunable") return Tunable();
    if (word == "require") return Require();
    if (word == "launch") return Launch();
    if (word == "tolerance") return ToleranceDirective();
    return base::Fail(base::InvalidArgument(
        "unknown directive '" + word +
        "'; write tune, workload, tunable, require, launch, tolerance or bitwise"));
  }

 private:
  base::Result<> ExpectEnd() {
    if (cursor_.AtEnd()) return {};
    return base::Fail(base::InvalidArgument("'" + std::string(cursor_.rest()) +
                                            "' is not expected here; remove it"));
  }

  // "name=", for the fields of a directive.
  base::Result<std::string> FieldName() {
    std::string name(cursor_.Word());
    if (name.empty() || !cursor_.Accept('=')) {
      return base::Fail(base::InvalidArgument("expected NAME=VALUE at '" + name +
                                              std::string(cursor_.rest()) + "'"));
    }
    return name;
  }

  base::Result<> Workload() {
    TagWorkload workload;
    workload.line = line_;
    std::vector<std::string> seen;
    // A first word without '=' is the case's name.
    Cursor ahead = cursor_;
    const std::string_view name = ahead.Word(":-.");
    if (!name.empty() && !ahead.rest().starts_with('=')) {
      workload.name = name;
      cursor_ = ahead;
    }
    if (workload.name.empty()) workload.name = "case" + std::to_string(tag_.workloads.size() + 1);
    while (!cursor_.AtEnd()) {
      TRY_ASSIGN(const std::string field, FieldName());
      const Cursor before = cursor_;
      const bool own = std::find(std::begin(kLaunchFields), std::end(kLaunchFields), field) !=
                       std::end(kLaunchFields);
      base::Result<> taken;
      if (own && std::find(seen.begin(), seen.end(), field) == seen.end()) {
        TagWorkload with = workload;
        taken = LaunchField(field, with);
        if (taken && !cursor_.rest().starts_with('[')) {
          workload = std::move(with);
          seen.push_back(field);
          continue;
        }
      }
      // A parameter may have that name, too: what is no number, or comes a second time, is its.
      cursor_ = before;
      auto value = ParseValue(cursor_, field);
      if (!value && !taken) return taken;
      if (!value) return base::Fail(std::move(value.error()));
      if (own && !taken && !value->array && !value->IsTable()) return taken;
      workload.values.push_back(std::move(*value));
    }
    if (workload.grid.empty() && workload.block.empty() && TakeTables(workload)) return {};
    if (workload.grid.empty() || workload.block.empty()) {
      return base::Fail(base::InvalidArgument(
          "the workload lacks its launch: write grid=(x,y,z) and block=(x,y,z)"));
    }
    tag_.workloads.push_back(std::move(workload));
    return {};
  }

  base::Result<> LaunchField(const std::string& field, TagWorkload& workload) {
    if (field == "grid") {
      TRY_ASSIGN(workload.grid, ParseDimensions(cursor_.Chunk()));
    } else if (field == "block") {
      TRY_ASSIGN(workload.block, ParseDimensions(cursor_.Chunk()));
    } else if (field == "weight") {
      workload.weight_text = cursor_.Chunk();
      TRY_ASSIGN(workload.weight, ParseNumber(workload.weight_text));
    } else {
      std::string bytes(cursor_.Chunk());
      TRY(CheckExpression(bytes));
      workload.shared_bytes = std::move(bytes);
    }
    return {};
  }

  // Nothing but tables: they are declared, and no workload is said.
  bool TakeTables(const TagWorkload& workload) {
    const auto& values = workload.values;
    const auto is_table = [](const TagValue& value) { return value.IsTable(); };
    if (values.empty() || !std::all_of(values.begin(), values.end(), is_table)) return false;
    for (const TagValue& value : values) tag_.tables.push_back({line_, value.name});
    return true;
  }

  base::Result<> Tunable() {
    TagTunable tunable;
    tunable.line = line_;
    tunable.name = cursor_.Word("");
    if (tunable.name.empty() || !cursor_.Accept('=')) {
      return base::Fail(base::InvalidArgument("write tunable NAME = value, value, ..."));
    }
    for (const std::string_view part : SplitOutside(cursor_.rest(), ',')) {
      std::int64_t value = 0;
      const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (failed != std::errc() || end != part.data() + part.size()) {
        return base::Fail(base::InvalidArgument("tunable " + tunable.name + ": '" +
                                                std::string(part) + "' is not an integer"));
      }
      tunable.values.push_back(value);
    }
    tag_.tunables.push_back(std::move(tunable));
    return {};
  }

  base::Result<> Require() {
    TRY(CheckExpression(cursor_.rest()));
    tag_.require.push_back({line_, std::string(cursor_.rest())});
    return {};
  }

  base::Result<> Launch() {
    if (tag_.launch_line != 0) {
      return base::Fail(base::InvalidArgument("a second launch directive; keep one"));
    }
    tag_.launch_line = line_;
    while (!cursor_.AtEnd()) {
      TRY_ASSIGN(const std::string field, FieldName());
      if (field == "grid") {
        TRY_ASSIGN(tag_.launch_grid, ParseDimensions(cursor_.Chunk()));
      } else if (field == "block") {
        TRY_ASSIGN(tag_.launch_block, ParseDimensions(cursor_.Chunk()));
      } else if (field == "shared") {
        tag_.launch_shared_bytes = cursor_.Chunk();
        TRY(CheckExpression(tag_.launch_shared_bytes));
      } else {
        return base::Fail(base::InvalidArgument("launch knows no '" + field +
                                                "'; write block=, grid= and shared="));
      }
    }
    return {};
  }

  records::Tolerance& Tolerance() {
    if (!tag_.tolerance) tag_.tolerance.emplace();
    return *tag_.tolerance;
  }

  base::Result<> ToleranceDirective() {
    while (!cursor_.AtEnd()) {
      if (cursor_.AcceptWord("bitwise")) {
        Tolerance().bitwise = true;
        continue;
      }
      TRY_ASSIGN(const std::string field, FieldName());
      TRY_ASSIGN(const double number, ParseNumber(cursor_.Chunk()));
      if (field == "relative" && number >= 0) {
        Tolerance().relative = number;
      } else if (field == "absolute" && number >= 0) {
        Tolerance().absolute = number;
      } else {
        return base::Fail(
            base::InvalidArgument("write tolerance relative=NUMBER, absolute=NUMBER or bitwise; "
                                  "numbers are not negative"));
      }
    }
    if (tag_.tolerance) return {};
    return base::Fail(base::InvalidArgument("write tolerance relative=1e-5, or tolerance bitwise"));
  }

  int line_;
  Cursor cursor_;
  Tag& tag_;
};

struct Line {
  int number;
  std::string text;
};

// The comment's lines without decoration, continued ones joined.
std::vector<Line> LinesOf(const TagComment& comment) {
  std::vector<Line> lines;
  int number = comment.line;
  bool continued = false;
  std::size_t begin = 0;
  while (begin <= comment.text.size()) {
    const std::size_t end = std::min(comment.text.find('\n', begin), comment.text.size());
    std::string_view text = Trim(std::string_view(comment.text).substr(begin, end - begin));
    while (text.starts_with('*') || text.starts_with('/')) text = Trim(text.substr(1));
    if (continued && text.starts_with("cupilot:")) continued = false;
    const bool more = text.ends_with('\\');
    if (more) text = Trim(text.substr(0, text.size() - 1));
    if (continued) {
      lines.back().text += ' ' + std::string(text);
    } else {
      lines.push_back({number, std::string(text)});
    }
    continued = more;
    begin = end + 1;
    ++number;
  }
  return lines;
}

// What no tag needs and what would read as something else once it is written again.
base::Result<> CheckCharacters(std::string_view text) {
  const auto is_control = [](char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0 && !IsSpace(c);
  };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return base::Fail(base::InvalidArgument("the line holds a control character; remove it"));
  }
  for (std::size_t at = text.find('\\'); at != std::string_view::npos;
       at = text.find('\\', at + 1)) {
    if (at + 1 < text.size() && !IsSpace(text[at + 1])) continue;
    return base::Fail(base::InvalidArgument(
        "a word ends with a backslash; one backslash at a line's end continues it on the next"));
  }
  return {};
}

base::Result<> ParseDirective(const Line& line, std::string_view directive, Tag& tag) {
  TRY(CheckCharacters(directive));
  return DirectiveParser(line.number, directive, tag).Run();
}

}  // namespace

base::Result<std::vector<std::string>> ParseDimensions(std::string_view text) {
  text = Trim(text);
  std::vector<std::string_view> parts = {text};
  // "(a,b)" is a list; "(a+b)/c" is one expression that begins with a bracket.
  if (text.starts_with('(') && text.ends_with(')')) {
    int depth = 0;
    std::size_t close = 0;
    while (close < text.size()) {
      if (text[close] == '(') ++depth;
      if (text[close] == ')' && --depth == 0) break;
      ++close;
    }
    if (close + 1 == text.size()) parts = SplitOutside(text.substr(1, text.size() - 2), ',');
  }
  if (parts.size() > 3) {
    return base::Fail(
        base::InvalidArgument("'" + std::string(text) + "' has more than three dimensions"));
  }
  Strings dimensions;
  for (const std::string_view part : parts) {
    TRY(CheckExpression(part));
    dimensions.emplace_back(part);
  }
  dimensions.resize(3, "1");
  return dimensions;
}

base::Result<> ParseTagComment(const TagComment& comment, Tag& tag) {
  constexpr std::string_view kMark = "cupilot:";
  for (const Line& line : LinesOf(comment)) {
    if (!line.text.starts_with(kMark)) continue;
    if (tag.line == 0) {
      tag.line = line.number;
      tag.file = comment.file;
    }
    tag.last_line = line.number;
    const std::string_view directive = std::string_view(line.text).substr(kMark.size());
    if (auto parsed = ParseDirective(line, directive, tag); !parsed) {
      return base::Fail(base::InvalidArgument(comment.file + ":" + std::to_string(line.number) +
                                              ": " + parsed.error().message));
    }
  }
  return {};
}

}  // namespace cupilot::source
