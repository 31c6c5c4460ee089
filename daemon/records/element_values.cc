#include "records/element_values.h"

#include <algorithm>
#include <cstdio>

namespace cupilot::records {
namespace {

constexpr std::string_view kNotShown = " (values not shown: they may be private)";

// '#' stands for a number. Of those that fit at a place the first counts; the short ones are of
// texts that were cut.
struct ValueForm {
  std::string_view with;
  std::string_view without;
};
constexpr ValueForm kValueForms[] = {
    {"expected #, got # (exact #)", "differs from the original"},
    {"expected #, got # (exact #", "differs from the original"},
    {"expected #, got #", "differs from the original"},
    {"# instead of #", "differs from the original"},
    {"# instead of", "differs from the original"},
    {"it was # and is #", "it is another now"},
    {"it holds # as before", "it holds the same as before"},
    {"expected #", "expected another value"},
    {"got #", "got another value"},
    {" (exact #", ""},
    {"it was #", "it was another"},
    {"it holds #", "it holds the same"},
    {"a signed overflow, # + #", "a signed overflow"},
    {"a signed overflow, # - #", "a signed overflow"},
    {"a signed overflow, # * #", "a signed overflow"},
    {"a signed overflow, -(#)", "a signed overflow"},
    {"a signed overflow, #", "a signed overflow"},
    {"a division of # by #", "a division"},
    {"a division of #", "a division"},
    {"a conversion of #", "a conversion of a value"},
    {"index # of '", "an index of '"},
    {"' by #", "' by too much"},  // a shift of 'int'
    // Of structures' members: other scalars are what a launch looks like.
    {" = #", " = ..."},
    {"] == #", "] == ..."},  // in a guard
};

bool IsDigitOfValue(char c) { return c >= '0' && c <= '9'; }
bool IsPartOfWord(char c) {
  return IsDigitOfValue(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.' || c == '-';
}

// Of a number as device::ShowNumber and the host runtime write it, or the beginning of one; 0: none
// begins there.
std::size_t LengthOfNumber(std::string_view text) {
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  std::size_t at = begin;
  for (const std::string_view word : {"nan", "inf"}) {
    if (text.substr(at).starts_with(word)) return at + word.size();
  }
  const auto skip = [&](std::string_view characters) {
    at = std::min(text.find_first_not_of(characters, at), text.size());
  };
  if (text.substr(at).starts_with("0x")) {
    at += 2;
    skip("0123456789abcdef");
    return at;
  }
  skip("0123456789");
  if (at == begin) return 0;
  if (at + 1 < text.size() && text[at] == '.' && IsDigitOfValue(text[at + 1])) {
    ++at;
    skip("0123456789");
  }
  const bool power = at + 1 < text.size() && text[at] == 'e' &&
                     (IsDigitOfValue(text[at + 1]) || text[at + 1] == '-' || text[at + 1] == '+');
  if (!power) return at;
  at += 2;
  skip("0123456789");
  return at;
}

// How much of the beginning has the form; 0: it has another.
std::size_t LengthOf(std::string_view form, std::string_view text) {
  std::size_t at = 0;
  for (const char c : form) {
    if (c != '#') {
      if (at >= text.size() || text[at] != c) return 0;
      ++at;
      continue;
    }
    const std::size_t length = LengthOfNumber(text.substr(at));
    if (length == 0) return 0;
    at += length;
  }
  return at;
}

// Whether the text ends with one: "case 'a', frame.scale".
bool IsMember(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 &&
         (IsPartOfWord(text[begin - 1]) || text[begin - 1] == '[' || text[begin - 1] == ']')) {
    --begin;
  }
  return text.find('.', begin) != std::string_view::npos;
}

}  // namespace

ElementValue ElementValue::Of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return ElementValue(text);
}

std::string Expected(const ElementValue& expected) { return "expected " + expected.text_; }

std::string ExpectedGot(const ElementValue& expected, const ElementValue& got) {
  return Expected(expected) + ", got " + got.text_;
}

std::string ExpectedGotExact(const ElementValue& expected, const ElementValue& got,
                             const ElementValue& exact) {
  return ExpectedGot(expected, got) + " (exact " + exact.text_ + ")";
}

std::string HoldsAsBefore(const ElementValue& held) {
  return "it holds " + held.text_ + " as before the run";
}

std::string WasAndIs(const ElementValue& before, const ElementValue& after) {
  return "it was " + before.text_ + " and is " + after.text_;
}

std::string InsteadOf(const ElementValue& found, const ElementValue& expected) {
  return found.text_ + " instead of " + expected.text_;
}

std::string WithoutElementValues(std::string_view text) {
  std::string left;
  bool any = false;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = 0;
    const bool in_word = at > 0 && IsPartOfWord(text[at - 1]) && IsPartOfWord(text[at]);
    for (const ValueForm& form : kValueForms) {
      const bool member = form.with.find("= #") != std::string_view::npos;
      if (!in_word && (!member || IsMember(text.substr(0, at)))) {
        length = LengthOf(form.with, text.substr(at));
      }
      if (length == 0) continue;
      left += form.without;
      break;
    }
    any = any || length > 0;
    if (length == 0) left += text[at];
    at += length > 0 ? length : 1;
  }
  return any ? left.append(kNotShown) : left;
}

void LeaveOutElementValues(Json& json) {
  if (json.is_string()) {
    json = WithoutElementValues(json.get_ref<const std::string&>());
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key != "source" && key != "text") LeaveOutElementValues(value);
    }
  } else if (json.is_array()) {
    for (Json& value : json) LeaveOutElementValues(value);
  }
}

}  // namespace cupilot::records
