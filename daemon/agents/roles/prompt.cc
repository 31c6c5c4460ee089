#include "agents/roles/prompt.h"

#include <algorithm>
#include <cctype>
#include <kainjow/mustache.hpp>
#include <map>
#include <utility>

#include "agents/roles/embedded_prompts.h"

namespace cupilot::agents {
namespace {

namespace mustache = kainjow::mustache;
using records::Json;

constexpr std::string_view kSystemMark = "<!-- system -->\n";
constexpr std::string_view kUserMark = "<!-- user -->\n";
constexpr std::string_view kFenceWord = "untrusted-data";
constexpr std::size_t kMostName = 200;

struct Tag {
  char kind = 0;  // '#', '^', '/', '>', or 0 for a variable
  std::string name;
};

std::vector<Tag> TagsOf(std::string_view text) {
  std::vector<Tag> tags;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    at += 2;
    const std::size_t end = std::min(text.find("}}", at), text.size());
    std::string_view inside = text.substr(at, end - at);
    Tag tag;
    if (!inside.empty() && std::string_view("#^/>{").find(inside[0]) != std::string_view::npos) {
      if (inside[0] != '{') tag.kind = inside[0];
      inside.remove_prefix(1);
    }
    while (inside.starts_with(' ')) inside.remove_prefix(1);
    tag.name = std::string(inside);
    tags.push_back(std::move(tag));
    at = end;
  }
  return tags;
}

// Finds a variable that the data lacks, in sections that are rendered.
class Missing {
 public:
  explicit Missing(const Json& data) { scopes_.push_back(&data); }

  std::string In(std::string_view text) {
    const std::vector<Tag> tags = TagsOf(text);
    std::size_t at = 0;
    Walk(tags, at, true);
    return missing_;
  }

 private:
  const Json* Lookup(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (!(*scope)->is_object()) continue;
      if (const auto it = (*scope)->find(name); it != (*scope)->end()) return &*it;
    }
    return nullptr;
  }

  static bool IsNothing(const Json& value) {
    return value.empty() || value == Json(false) || value == Json("");
  }

  void Walk(const std::vector<Tag>& tags, std::size_t& at, bool rendered) {
    while (at < tags.size() && missing_.empty()) {
      const Tag& tag = tags[at++];
      if (tag.kind == '/') return;
      if (tag.kind == '>') {
        if (rendered) missing_ = Missing(*this).In(PromptText(tag.name));
        continue;
      }
      const Json* value = Lookup(tag.name);
      if (rendered && value == nullptr) missing_ = tag.name;
      if (tag.kind == 0) continue;
      Section(tags, at, rendered && value != nullptr ? value : nullptr, tag.kind == '#');
    }
  }

  void Section(const std::vector<Tag>& tags, std::size_t& at, const Json* value, bool positive) {
    const bool rendered = value != nullptr && IsNothing(*value) != positive;
    if (!rendered || !positive || !value->is_array()) {
      if (rendered && positive) scopes_.push_back(value);
      Walk(tags, at, rendered);
      if (rendered && positive) scopes_.pop_back();
      return;
    }
    const std::size_t begin = at;
    for (const Json& item : *value) {
      at = begin;
      scopes_.push_back(&item);
      Walk(tags, at, true);
      scopes_.pop_back();
    }
  }

  std::vector<const Json*> scopes_;
  std::string missing_;
};

mustache::data DataOf(const Json& json) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    return text.empty() ? mustache::data(false) : mustache::data(text);
  }
  if (json.is_boolean()) return mustache::data(json.get<bool>());
  if (json.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const Json& item : json) list.push_back(DataOf(item));
    return list;
  }
  mustache::data object(mustache::data::type::object);
  for (const auto& [key, value] : json.items()) object.set(key, DataOf(value));
  return object;
}

base::Result<std::string> Rendered(std::string_view name, std::string_view text,
                                   const mustache::data& data) {
  mustache::mustache prompt{std::string(text)};
  prompt.set_custom_escape([](const std::string& plain) { return plain; });
  std::string result = prompt.render(data);
  if (prompt.is_valid()) return result;
  return base::Fail(
      base::Internal("prompt '" + std::string(name) + "': " + prompt.error_message()));
}

// Bytes of the UTF-8 sequence at the beginning, 0 if there is none.
std::size_t SequenceAt(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(size > 1 ? text[1] : '\0');
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : size;
}

bool SameWord(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  return std::equal(word.begin(), word.end(), text.begin(), [](char expected, char c) {
    return std::tolower(static_cast<unsigned char>(c)) == expected;
  });
}

// UTF-8 without control characters and without the delimiters' word.
std::string Harmless(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    if (SameWord(text, kFenceWord)) {
      std::string word(text.substr(0, kFenceWord.size()));
      std::replace(word.begin(), word.end(), '-', '_');
      clean += word;
      text.remove_prefix(kFenceWord.size());
      continue;
    }
    const std::size_t size = SequenceAt(text);
    const char c = text[0];
    const bool control =
        (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    if (c == '\r' && text.substr(1).starts_with('\n')) {
      // The line's end follows.
    } else if (size == 0) {
      clean += '?';
    } else if (control) {
      clean += ' ';
    } else {
      clean += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return clean;
}

bool IsInsideSequence(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string Bounded(const std::string& text, std::size_t most, bool keep_end) {
  if (text.size() <= most) return text;
  const std::string note = "[" + std::to_string(text.size() - most) + " bytes are left out here]";
  if (keep_end) {
    std::size_t begin = text.size() - most;
    while (begin < text.size() && IsInsideSequence(text[begin])) ++begin;
    return note + "\n" + text.substr(begin);
  }
  std::size_t end = most;
  while (end > 0 && IsInsideSequence(text[end])) --end;
  return text.substr(0, end) + "\n" + note;
}

void CollectVariables(std::string_view text, std::set<std::string>& names) {
  for (const Tag& tag : TagsOf(text)) {
    if (tag.kind == '>') {
      CollectVariables(PromptText(tag.name), names);
    } else {
      names.insert(tag.name);
    }
  }
}

}  // namespace

std::vector<std::string> PromptNames() {
  std::vector<std::string> names;
  for (const EmbeddedPrompt* row = kEmbeddedPrompts; !row->name.empty(); ++row) {
    names.emplace_back(row->name);
  }
  return names;
}

std::string_view PromptText(std::string_view name) {
  for (const EmbeddedPrompt* row = kEmbeddedPrompts; !row->name.empty(); ++row) {
    if (row->name == name) return row->text;
  }
  return {};
}

base::Result<Prompt> RenderPrompt(std::string_view name, const Json& data) {
  const std::string_view text = PromptText(name);
  const std::size_t system = text.find(kSystemMark), user = text.find(kUserMark);
  if (system == std::string_view::npos || user == std::string_view::npos || user < system) {
    return base::Fail(base::Internal("there is no prompt '" + std::string(name) + "'"));
  }
  const std::string missing = Missing(data).In(text);
  if (!missing.empty()) {
    return base::Fail(
        base::Internal("prompt '" + std::string(name) + "': '" + missing + "' is missing"));
  }
  mustache::data all = DataOf(data);
  for (const std::string& part : PromptNames()) {
    all.set(part, mustache::partial([part] { return std::string(PromptText(part)); }));
  }
  const std::size_t begin = system + kSystemMark.size();
  Prompt prompt;
  TRY_ASSIGN(prompt.system, Rendered(name, text.substr(begin, user - begin), all));
  TRY_ASSIGN(prompt.user, Rendered(name, text.substr(user + kUserMark.size()), all));
  return prompt;
}

std::set<std::string> VariablesOf(std::string_view name) {
  std::set<std::string> names;
  CollectVariables(PromptText(name), names);
  return names;
}

std::string AsData(std::string_view name, std::string_view text, std::size_t most, bool keep_end) {
  std::string body = Bounded(Harmless(text), most, keep_end);
  if (body.empty() || body.back() != '\n') body += '\n';
  const std::string word(kFenceWord);
  return "<" + word + " name=\"" + std::string(name) + "\">\n" + body + "</" + word + ">";
}

std::string AsName(std::string_view text) {
  std::string clean = Bounded(Harmless(text), kMostName, false);
  for (char& c : clean) {
    if (c == '\n' || c == '\t' || c == '`') c = ' ';
  }
  return clean;
}

}  // namespace cupilot::agents
