#include "agents/roles/schema.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cupilot::agents {
namespace {

using records::Json;

constexpr std::array<std::string_view, 6> kLimits = {"maxLength", "minLength", "maxItems",
                                                     "minItems",  "minimum",   "maximum"};

const Json* KeywordOf(const Json& schema, const char* keyword) {
  const auto it = schema.find(keyword);
  return it == schema.end() ? nullptr : &*it;
}

std::string_view KindOf(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.type_name();
}

bool HasType(const Json& value, std::string_view type) {
  return KindOf(value) == type || (type == "number" && value.is_number());
}

std::string Article(std::string_view type) {
  const bool vowel = !type.empty() && std::string_view("aeio").find(type[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + std::string(type);
}

class Fit {
 public:
  std::string Check(const Json& value, const Json& schema) {
    Look(value, schema, {});
    return std::move(wrong_);
  }

 private:
  void Wrong(const std::string& path, const std::string& what) {
    if (wrong_.empty()) wrong_ = (path.empty() ? "the document" : path) + ": " + what;
  }

  void Look(const Json& value, const Json& schema, const std::string& path) {
    if (!wrong_.empty()) return;
    if (const Json* any = KeywordOf(schema, "anyOf")) return LookAtAny(value, *any, path);
    if (const Json* type = KeywordOf(schema, "type")) {
      const auto& expected = type->get_ref<const std::string&>();
      if (!HasType(value, expected)) {
        return Wrong(path, "expected " + Article(expected) + ", found " +
                               (value.is_null() ? "null" : Article(KindOf(value))));
      }
    }
    if (const Json* words = KeywordOf(schema, "enum")) LookAtWords(value, *words, path);
    if (value.is_string()) LookAtText(value.get_ref<const std::string&>(), schema, path);
    if (value.is_number()) LookAtNumber(value, schema, path);
    if (value.is_array()) LookAtArray(value, schema, path);
    if (value.is_object()) LookAtObject(value, schema, path);
  }

  void LookAtAny(const Json& value, const Json& any, const std::string& path) {
    std::string last;
    for (const Json& one : any) {
      last = Fit().Check(value, one);
      if (last.empty()) return;
    }
    // Of a value of a type that one of them is for, what is wrong with it says most.
    for (const Json& one : any) {
      const Json* type = KeywordOf(one, "type");
      if (type != nullptr && HasType(value, type->get_ref<const std::string&>())) {
        return Look(value, one, path);
      }
    }
    std::string types;
    for (const Json& one : any) {
      types += (types.empty() ? "" : " or ") + Article(one.value("type", std::string("value")));
    }
    Wrong(path, "expected " + types + ", found " + Article(KindOf(value)));
  }

  void LookAtWords(const Json& value, const Json& words, const std::string& path) {
    if (std::find(words.begin(), words.end(), value) != words.end()) return;
    std::string all;
    for (const Json& word : words) {
      all += (all.empty() ? "" : ", ") + (word.is_string() ? word.get<std::string>() : word.dump());
    }
    Wrong(path, "must be one of: " + all);
  }

  void LookAtText(const std::string& text, const Json& schema, const std::string& path) {
    if (text.find('\0') != std::string::npos) return Wrong(path, "holds a NUL");
    if (const Json* most = KeywordOf(schema, "maxLength");
        most != nullptr && text.size() > most->get<std::size_t>()) {
      Wrong(path, "is longer than " + most->dump() + " bytes");
    }
    if (const Json* least = KeywordOf(schema, "minLength");
        least != nullptr && text.size() < least->get<std::size_t>()) {
      Wrong(path, "is empty");
    }
  }

  void LookAtNumber(const Json& value, const Json& schema, const std::string& path) {
    const auto number = value.get<double>();
    if (const Json* most = KeywordOf(schema, "maximum"); most != nullptr && number > *most) {
      Wrong(path, "is above " + most->dump());
    }
    if (const Json* least = KeywordOf(schema, "minimum"); least != nullptr && number < *least) {
      Wrong(path, "is below " + least->dump());
    }
  }

  void LookAtArray(const Json& value, const Json& schema, const std::string& path) {
    if (const Json* most = KeywordOf(schema, "maxItems");
        most != nullptr && value.size() > most->get<std::size_t>()) {
      return Wrong(path, "has " + std::to_string(value.size()) + " items, and at most " +
                             most->dump() + " are allowed");
    }
    if (const Json* least = KeywordOf(schema, "minItems");
        least != nullptr && value.size() < least->get<std::size_t>()) {
      return Wrong(path, "has " + std::to_string(value.size()) + " items, and at least " +
                             least->dump() + " are needed");
    }
    const Json* items = KeywordOf(schema, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Look(value[i], *items, path + "[" + std::to_string(i) + "]");
    }
  }

  void LookAtObject(const Json& value, const Json& schema, const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (const Json* required = KeywordOf(schema, "required")) {
      for (const Json& key : *required) {
        const auto& name = key.get_ref<const std::string&>();
        if (!value.contains(name)) return Wrong(prefix + name, "is missing");
      }
    }
    const Json* properties = KeywordOf(schema, "properties");
    if (properties == nullptr) return;
    for (const auto& [key, member] : value.items()) {
      const auto known = properties->find(key);
      if (known != properties->end()) {
        Look(member, *known, prefix + key);
      } else {
        Wrong(prefix + key.substr(0, 64), "there is no such key");
      }
    }
  }

  std::string wrong_;
};

}  // namespace

std::string WhyNotFits(const Json& value, const Json& schema) { return Fit().Check(value, schema); }

Json SentSchema(const Json& schema) {
  if (schema.is_array()) {
    Json all = Json::array();
    for (const Json& one : schema) all.push_back(SentSchema(one));
    return all;
  }
  if (!schema.is_object()) return schema;
  Json sent = Json::object();
  for (const auto& [key, value] : schema.items()) {
    if (std::find(kLimits.begin(), kLimits.end(), key) != kLimits.end()) continue;
    if (key != "properties") {
      sent[key] = SentSchema(value);
      continue;
    }
    // Names here are keys of answers, and no words of the schema.
    sent[key] = Json::object();
    for (const auto& [name, member] : value.items()) sent[key][name] = SentSchema(member);
  }
  return sent;
}

}  // namespace cupilot::agents
