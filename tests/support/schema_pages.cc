#include "tests/support/schema_pages.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace cupilot::test {
namespace {

using records::Json;

bool IsKey(const std::string& word) {
  static const std::regex key("[a-z][a-z0-9_]*");
  return std::regex_match(word, key);
}
bool IsSchema(const std::string& word) { return word.starts_with("cupilot."); }

}  // namespace

SchemaPages::SchemaPages(const std::string& text) {
  const std::string begin = "\n## ";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t name = at + begin.size();
    const std::size_t line = text.find('\n', name);
    const std::string section = text.substr(line, text.find("\n#", line) - line);
    std::size_t from = 0;
    sections_[text.substr(name, line - name)] = ParseKeys(section, from);
  }
}

// Up to the bracket that closes it.
SchemaPages::Keys SchemaPages::ParseKeys(const std::string& text, std::size_t& at) {
  Keys keys;
  keys.by_name = text.compare(at, 3, "by ") == 0;
  Keys* last = nullptr;  // whose brackets may follow
  bool as = false;
  for (; at < text.size() && text[at] != ')'; ++at) {
    if (text.compare(at, 3, "as ") == 0 && (at == 0 || !std::isalpha(text[at - 1]))) as = true;
    if (text[at] == '(') {
      Keys unused;
      Keys& of = last != nullptr ? *last : unused;
      ++at;
      Keys inner = ParseKeys(text, at);
      inner.below.merge(of.below);
      of = std::move(inner);
    } else if (text[at] == '`') {
      const std::size_t end = text.find('`', at + 1);
      const std::string word = text.substr(at + 1, end - at - 1);
      at = end;
      if (IsSchema(word)) {
        keys.as_schema = word;
      } else if (as && IsKey(word)) {
        keys.as_key = word;
      } else if (IsKey(word)) {
        last = &keys.below[word];
      }
      as = false;
    } else if (text[at] == ',' || text[at] == ';') {
      last = nullptr;
    }
  }
  return keys;
}

const SchemaPages::Keys* SchemaPages::Meant(const Keys& keys) const {
  if (keys.as_schema.empty()) return &keys;
  const auto section = sections_.find(keys.as_schema);
  if (section == sections_.end()) return nullptr;
  if (keys.as_key.empty()) return &section->second;
  const auto key = section->second.below.find(keys.as_key);
  return key == section->second.below.end() ? nullptr : &key->second;
}

void SchemaPages::LookAtObject(const Json& value, const Keys& keys, const std::string& said,
                               const std::string& path, std::vector<std::string>& undescribed) {
  objects_.insert(said);
  std::map<std::string, Keys> known = keys.below;
  std::string other;
  if (const Keys* meant = Meant(keys); meant == nullptr) {
    return;  // a schema that is said elsewhere
  } else if (meant != &keys) {
    for (const auto& [name, below] : meant->below) known.emplace(name, below);
    other = keys.as_schema + ":" + keys.as_key;
  }
  for (const auto& [name, below] : value.items()) {
    if (name == "schema") continue;
    const auto found = known.find(name);
    if (found == known.end()) {
      undescribed.push_back(path + name);
      continue;
    }
    const bool here = keys.below.contains(name) || other.empty();
    const std::string as = (here ? said : other) + (here || keys.as_key.empty() ? "" : ".") + name;
    seen_.insert(as);
    Look(below, found->second, as + ".", path + name + ".", undescribed);
  }
}

void SchemaPages::Look(const Json& value, const Keys& keys, const std::string& said,
                       const std::string& path, std::vector<std::string>& undescribed) {
  if (value.is_array()) {
    for (const Json& one : value) Look(one, keys, said, path, undescribed);
  } else if (value.is_object() && keys.by_name) {
    objects_.insert(said);
    for (const auto& [name, one] : value.items()) {
      if (!one.is_object()) continue;
      Keys of = keys;
      of.by_name = false;
      if (!of.below.empty()) LookAtObject(one, of, said, path + name + ".", undescribed);
    }
  } else if (value.is_object()) {
    LookAtObject(value, keys, said, path, undescribed);
  }
}

std::vector<std::string> SchemaPages::Undescribed(const std::string& schema, const Json& document) {
  std::vector<std::string> undescribed;
  const auto section = sections_.find(schema);
  if (section == sections_.end()) return {"the section " + schema};
  LookAtObject(document, section->second, schema + ":", "", undescribed);
  std::sort(undescribed.begin(), undescribed.end());
  undescribed.erase(std::unique(undescribed.begin(), undescribed.end()), undescribed.end());
  return undescribed;
}

void SchemaPages::AddUnseen(const Keys& keys, const std::string& said,
                            std::vector<std::string>& unseen) const {
  for (const auto& [name, below] : keys.below) {
    if (!seen_.contains(said + name)) unseen.push_back(said + name);
    // Else what is named are values.
    if (objects_.contains(said + name + ".")) AddUnseen(below, said + name + ".", unseen);
  }
}

std::vector<std::string> SchemaPages::Unseen(const std::set<std::string>& schemas) const {
  std::vector<std::string> unseen;
  for (const std::string& schema : schemas) {
    const auto section = sections_.find(schema);
    if (section != sections_.end()) AddUnseen(section->second, schema + ":", unseen);
  }
  return unseen;
}

}  // namespace cupilot::test
