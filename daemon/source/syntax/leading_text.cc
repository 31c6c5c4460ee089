#include "source/syntax/leading_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "source/syntax/file_snapshot.h"
#include "source/syntax/preprocess_run.h"

namespace cupilot::source {
namespace {

// Behind blanks and comments; npos: a comment has no end.
std::size_t SkipComments(std::string_view text, std::size_t at) {
  for (;;) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) return at;
    const std::string_view here = text.substr(at);
    if (here.starts_with("//")) {
      at = text.find('\n', at);
    } else if (here.starts_with("/*")) {
      at = text.find("*/", at + 2);
      if (at != std::string_view::npos) at += 2;
    } else {
      return at;
    }
    if (at == std::string_view::npos) return at;
  }
}

// Of the lines up to the last #include <...> before anything else but comments.
std::size_t LeadingBytes(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = SkipComments(text, 0); at != std::string_view::npos;
       at = SkipComments(text, at)) {
    if (!text.substr(at).starts_with("#include <")) break;
    const std::size_t line_end = text.find('\n', at);
    const std::string_view line = text.substr(at, line_end - at);
    // A comment that begins there may go on behind it.
    if (line.find('/', line.find('>')) != std::string_view::npos) break;
    if (line_end == std::string_view::npos) break;
    at = end = line_end + 1;
  }
  return end;
}

bool Includes(std::string_view text) {
  return text.find("include") != std::string_view::npos ||
         text.find("import") != std::string_view::npos;
}

// All words, whatever they are: those of comments do no harm.
std::vector<std::string> NamesIn(std::string_view text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_part(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_part(text[at])) ++at;
    if (std::isdigit(static_cast<unsigned char>(text[begin])) == 0) {
      names.emplace_back(text.substr(begin, at - begin));
    }
  }
  return names;
}

// What the headers have left of a macro.
struct LeftMacro {
  std::string line;                // its definition, or that there is none any more
  std::vector<std::string> names;  // in it
  bool pastes = false;             // tokens, so that other names may come of it
};

class Headers final : public LeadingText {
 public:
  bool Leaves(std::string_view text, const std::vector<std::string>& names) const override {
    const std::string_view rest = text.substr(std::min(bytes_, text.size()));
    return !(once_ && Includes(rest)) && rest.find("__COUNTER__") == std::string_view::npos &&
           std::none_of(names.begin(), names.end(),
                        [this](const std::string& name) { return names_.contains(name); });
  }

  base::Result<Preprocessed> Continue(std::string_view text,
                                      const PreprocessOptions& options) const override {
    std::string rest(text);
    for (std::size_t i = 0; i < std::min(bytes_, rest.size()); ++i) {
      if (rest[i] != '\n') rest[i] = ' ';
    }
    PreprocessOptions behind = options;
    behind.includes = {macros_path_};
    TRY_ASSIGN(Preprocessed result,
               RunPreprocessor(rest, behind, {{macros_path_, MacrosFor(rest, options)}}, nullptr));
    Join(options.file_name, result);
    return result;
  }

  bool Read(std::string_view text, const PreprocessOptions& options) {
    bytes_ = LeadingBytes(text);
    const std::string resources =
        options.resource_dir.empty() ? FindResourceDir() : options.resource_dir;
    // A header of the system, by where it is.
    macros_path_ = RealPath(resources) + "/cupilot_leading_macros.h";
    LeftBehind left;
    auto run = RunPreprocessor(text.substr(0, bytes_), options, {}, &left);
    if (!run || !run->errors.empty() || run->files.size() != 1 || left.users) return false;
    headers_ = std::move(*run);
    for (LeftBehind::Macro& macro : left.macros) {
      macros_.emplace(std::move(macro.name),
                      LeftMacro{std::move(macro.line), NamesIn(macro.value),
                                macro.value.find("##") != std::string::npos});
    }
    names_ = std::move(left.names);
    once_ = left.once;
    return true;
  }

 private:
  // Those that it may come to, or all.
  std::string MacrosFor(const std::string& text, const PreprocessOptions& options) const {
    std::string lines, words = text;
    for (const std::string& macro : options.macros) words.append(" ").append(macro.substr(2));
    const auto needed = Includes(text) ? std::nullopt : NeededBy(words);
    for (const auto& [name, macro] : macros_) {
      if (!needed || needed->contains(name)) lines.append(macro.line).append("\n");
    }
    return lines;
  }

  std::optional<std::set<std::string>> NeededBy(const std::string& text) const {
    std::set<std::string> needed;
    std::vector<std::string> open = NamesIn(text);
    while (!open.empty()) {
      const auto found = macros_.find(open.back());
      open.pop_back();
      if (found == macros_.end() || !needed.insert(found->first).second) continue;
      if (found->second.pastes) return std::nullopt;
      open.insert(open.end(), found->second.names.begin(), found->second.names.end());
    }
    return needed;
  }

  // Puts the headers before it, in the place of what leads into the source.
  void Join(const std::string& file, Preprocessed& rest) const {
    const std::size_t cut = EndOfPreamble(rest.text, "\"" + file + "\"");
    const std::string begin = headers_.text + "# 1 \"" + file + "\"\n";
    const auto moved = static_cast<std::uint32_t>(begin.size() - cut);  // modulo 2^32
    rest.text = begin + rest.text.substr(cut);
    for (Stretch& stretch : rest.stretches) {
      stretch.begin += moved;
      stretch.end += moved;
    }
    for (MacroChange& change : rest.macro_changes) change.offset += moved;
    std::erase(rest.headers, macros_path_);
    const auto put = [](const auto& from, auto& to) {
      to.insert(to.begin(), from.begin(), from.end());
    };
    put(headers_.comments, rest.comments);
    put(headers_.headers, rest.headers);
    std::vector<std::string> includes = headers_.system_includes;
    for (std::string& name : rest.system_includes) {
      if (std::find(includes.begin(), includes.end(), name) == includes.end()) {
        includes.push_back(std::move(name));
      }
    }
    rest.system_includes = std::move(includes);
  }

  // Behind the line marker with which the source itself is resumed, before which there is nothing
  // but others.
  static std::size_t EndOfPreamble(std::string_view text, std::string_view quoted) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t line_end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line = text.substr(at, line_end - at);
      const bool blank = line.find_first_not_of(" \t\r\n") == std::string_view::npos;
      if (!blank && !line.starts_with("# ")) break;
      at = line_end;
      if (line.find(quoted) != std::string_view::npos && line.ends_with("\" 2\n")) {
        end = at;
        break;
      }
    }
    return end;
  }

  std::size_t bytes_ = 0;  // of the source
  std::string macros_path_;
  Preprocessed headers_;
  std::unordered_set<std::string> names_;    // in the headers, where they are not skipped
  std::map<std::string, LeftMacro> macros_;  // when they have been read
  bool once_ = false;
};

}  // namespace

std::shared_ptr<const LeadingText> LeadingText::Read(std::string_view text,
                                                     const PreprocessOptions& options) {
  auto headers = std::make_shared<Headers>();
  if (!headers->Read(text, options)) return nullptr;
  return headers;
}

}  // namespace cupilot::source
