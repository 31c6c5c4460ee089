#include "agents/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace cupilot::agents {
namespace {

constexpr std::string_view kSecretMark = "<secret>";

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }
bool IsTokenChar(char c) { return IsWordChar(c) || c == '-'; }
bool IsPathChar(char c) { return IsTokenChar(c) || c == '.'; }

std::size_t EndOf(std::string_view text, std::size_t begin, bool (*member)(char)) {
  while (begin < text.size() && member(text[begin])) ++begin;
  return begin;
}

std::string ReplaceAll(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, begin)) {
    result.append(text.substr(begin, at - begin)).append(by);
    begin = at + what.size();
  }
  return result.append(text.substr(begin));
}

// Something that was found: [begin, end) becomes `by`.
struct Found {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view by;
};

// Goes over the text once; `find` looks at one position and says what begins there.
template <class Find>
std::string Replace(std::string_view text, Find find) {
  std::string result;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::optional<Found> found = find(text, at);
    if (!found) continue;
    result.append(text.substr(kept, found->begin - kept)).append(found->by);
    kept = found->end;
    at = std::max(at, found->end - 1);
  }
  return result.append(text.substr(kept));
}

bool StartsAt(std::string_view text, std::size_t at, std::string_view what) {
  return text.compare(at, what.size(), what) == 0;
}

// "-----BEGIN ... PRIVATE KEY-----" to its end, or to that of the text.
std::optional<Found> PrivateKeyAt(std::string_view text, std::size_t at) {
  if (text[at] != '-' || !StartsAt(text, at, "-----BEGIN ")) return std::nullopt;
  const std::size_t line_end = text.find('\n', at);
  if (text.substr(at, line_end - at).find("PRIVATE KEY") == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::string_view kEnd = "PRIVATE KEY-----";
  const std::size_t last = text.find("-----END ", at);
  const std::size_t end = last == std::string_view::npos ? last : text.find(kEnd, last);
  return Found{at, end == std::string_view::npos ? text.size() : end + kEnd.size(),
               "<private key>"};
}

// The services' own marks of their keys, and how many characters follow at least.
struct KeyForm {
  std::string_view prefix;
  std::size_t least;
};
constexpr std::array kKeyForms = {KeyForm{"sk-", 16},
                                  KeyForm{"sk_live_", 16},
                                  KeyForm{"sk_test_", 16},
                                  KeyForm{"rk_live_", 16},
                                  KeyForm{"pk_live_", 16},
                                  KeyForm{"ghp_", 20},
                                  KeyForm{"gho_", 20},
                                  KeyForm{"ghu_", 20},
                                  KeyForm{"ghs_", 20},
                                  KeyForm{"ghr_", 20},
                                  KeyForm{"github_pat_", 20},
                                  KeyForm{"glpat-", 16},
                                  KeyForm{"hf_", 20},
                                  KeyForm{"xoxa-", 10},
                                  KeyForm{"xoxb-", 10},
                                  KeyForm{"xoxp-", 10},
                                  KeyForm{"xoxr-", 10},
                                  KeyForm{"xoxs-", 10},
                                  KeyForm{"xapp-", 10},
                                  KeyForm{"AKIA", 16},
                                  KeyForm{"ASIA", 16},
                                  KeyForm{"AIza", 30},
                                  KeyForm{"npm_", 30},
                                  KeyForm{"pypi-", 30},
                                  KeyForm{"nvapi-", 20},
                                  KeyForm{"gsk_", 20},
                                  KeyForm{"xai-", 20},
                                  KeyForm{"r8_", 30},
                                  KeyForm{"dop_v1_", 30},
                                  KeyForm{"tskey-", 16},
                                  KeyForm{"AGE-SECRET-KEY-", 20}};

std::optional<Found> KeyAt(std::string_view text, std::size_t at) {
  if (at > 0 && IsWordChar(text[at - 1])) return std::nullopt;
  for (const KeyForm& form : kKeyForms) {
    if (!StartsAt(text, at, form.prefix)) continue;
    const std::size_t begin = at + form.prefix.size();
    const std::size_t end = EndOf(text, begin, IsTokenChar);
    // Words that are only letters are names: "sk-" may begin one of a branch or a package.
    const bool has_digit = std::any_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                       text.begin() + static_cast<std::ptrdiff_t>(end), IsDigit);
    if (end - begin >= form.least && has_digit) return Found{at, end, kSecretMark};
  }
  return std::nullopt;
}

// A JSON web token: three parts between dots, the first two of which are objects in base64.
std::optional<Found> WebTokenAt(std::string_view text, std::size_t at) {
  if (!StartsAt(text, at, "eyJ") || (at > 0 && IsWordChar(text[at - 1]))) return std::nullopt;
  const std::size_t first = EndOf(text, at, IsTokenChar);
  if (first >= text.size() || text[first] != '.' || !StartsAt(text, first + 1, "eyJ")) {
    return std::nullopt;
  }
  const std::size_t second = EndOf(text, first + 1, IsTokenChar);
  if (second >= text.size() || text[second] != '.') return std::nullopt;
  return Found{at, EndOf(text, second + 1, IsTokenChar), kSecretMark};
}

// "://user:password@host" keeps the host.
std::optional<Found> UrlPasswordAt(std::string_view text, std::size_t at) {
  if (text[at] != ':' || !StartsAt(text, at, "://")) return std::nullopt;
  constexpr std::size_t kLongest = 512;
  const std::string_view rest = text.substr(at + 3, kLongest);
  const std::size_t end = rest.find_first_of("@/ \t\r\n\"'<>");
  if (end == std::string_view::npos || rest[end] != '@' || rest.find(':') > end) {
    return std::nullopt;
  }
  return Found{at + 3, at + 3 + end, kSecretMark};
}

// "Bearer ABC..." and "Basic ABC...", as in headers.
std::optional<Found> AuthorisationAt(std::string_view text, std::size_t at) {
  for (const std::string_view word : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    if (!StartsAt(text, at, word)) continue;
    const std::size_t begin = at + word.size();
    const auto member = [](char c) {
      return IsTokenChar(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~';
    };
    const std::size_t end = EndOf(text, begin, member);
    constexpr std::size_t kLeast = 16;
    if (end - begin >= kLeast) return Found{begin, end, kSecretMark};
  }
  return std::nullopt;
}

std::string LowerName(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool NamesASecret(std::string_view name) {
  const std::string lower = LowerName(name);
  for (const std::string_view word :
       {"password", "passwd", "secret", "api_key", "apikey", "api-key", "access_key", "access-key",
        "private_key", "auth_token", "access_token", "api_token", "credential"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return lower.ends_with("_token") || lower.ends_with("_key") || lower == "token";
}

// `api_key = "..."`, `"password": "..."`, and `NAME_TOKEN=...` as in environments. Of code only
// literals: `key = other_key` stays.
std::optional<Found> AssignedAt(std::string_view text, std::size_t at) {
  if (!IsLetter(text[at]) || (at > 0 && IsTokenChar(text[at - 1]))) return std::nullopt;
  const std::size_t name_end = EndOf(text, at, IsTokenChar);
  const std::string_view name = text.substr(at, name_end - at);
  std::size_t next = name_end;
  if (next < text.size() && (text[next] == '"' || text[next] == '\'')) ++next;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  next = EndOf(text, next, blank);
  if (next >= text.size() || (text[next] != '=' && text[next] != ':')) return std::nullopt;
  const bool spaced = next != name_end;
  const std::size_t value = EndOf(text, next + 1, blank);
  if (value >= text.size() || !NamesASecret(name)) return std::nullopt;
  if (text[value] == '"' || text[value] == '\'') {
    const char quote = text[value];
    const auto end = text.find_first_of(quote == '"' ? "\"\n" : "'\n", value + 1);
    constexpr std::size_t kLeast = 6;
    if (end == std::string_view::npos || text[end] != quote || end - value - 1 < kLeast) {
      return std::nullopt;
    }
    return Found{value + 1, end, kSecretMark};
  }
  const bool shouted = std::none_of(name.begin(), name.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0;
  });
  if (!shouted || spaced || text[next] != '=' || value != next + 1) return std::nullopt;
  const auto member = [](char c) { return std::isgraph(static_cast<unsigned char>(c)) != 0; };
  const std::size_t end = EndOf(text, value, member);
  const std::string_view word = text.substr(value, end - value);
  constexpr std::size_t kLeast = 8;
  const bool mixed = std::any_of(word.begin(), word.end(), IsDigit) &&
                     std::any_of(word.begin(), word.end(), IsLetter);
  if (word.size() < kLeast || !mixed || word.find('(') != std::string_view::npos) {
    return std::nullopt;
  }
  return Found{value, end, kSecretMark};
}

// At the "@" of NAME@HOST.TLD.
std::optional<Found> MailAddressAt(std::string_view text, std::size_t at) {
  if (text[at] != '@') return std::nullopt;
  const auto local = [](char c) { return IsPathChar(c) || c == '%' || c == '+'; };
  constexpr std::size_t kLongest = 64;
  std::size_t begin = at;
  while (begin > 0 && at - begin < kLongest && local(text[begin - 1])) --begin;
  const auto host = [](char c) { return IsLetter(c) || IsDigit(c) || c == '-' || c == '.'; };
  std::size_t end = EndOf(text, at + 1, host);
  while (end > at + 1 && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
  const std::string_view domain = text.substr(at + 1, end - at - 1);
  const std::size_t dot = domain.rfind('.');
  if (begin == at || dot == std::string_view::npos || dot == 0) return std::nullopt;
  const std::string_view top = domain.substr(dot + 1);
  if (top.size() < 2 || !std::all_of(top.begin(), top.end(), IsLetter)) return std::nullopt;
  return Found{begin, end, "<e-mail>"};
}

// "/home/NAME" and its like, where a path begins.
std::optional<Found> HomeAt(std::string_view text, std::size_t at) {
  if (text[at] != '/' && text[at] != '\\') return std::nullopt;
  const bool drive = at > 1 && text[at - 1] == ':' && IsLetter(text[at - 2]);  // C:\Users\NAME
  if (at > 0 && !drive && IsPathChar(text[at - 1])) return std::nullopt;
  for (const std::string_view parent :
       {"/home", "/Users", "/mnt/c/Users", "\\Users", "\\\\Users"}) {
    std::size_t name = at + parent.size();
    if (!StartsAt(text, at, parent) || name >= text.size() || text[name] != text[at]) continue;
    // Behind it the separator that it begins with, doubled where a text is quoted.
    while (name < text.size() && text[name] == text[at]) ++name;
    const std::size_t end = EndOf(text, name, IsPathChar);
    if (end == name) return std::nullopt;
    return Found{drive ? at - 2 : at, end, "<home>"};
  }
  constexpr std::string_view kRoot = "/root";
  if (StartsAt(text, at, kRoot) &&
      (at + kRoot.size() == text.size() || !IsPathChar(text[at + kRoot.size()]))) {
    return Found{at, at + kRoot.size(), "<home>"};
  }
  return std::nullopt;
}

std::string ReplaceFolder(std::string_view text, const std::string& folder, std::string_view by) {
  return Replace(text, [&](std::string_view all, std::size_t at) -> std::optional<Found> {
    if (!StartsAt(all, at, folder)) return std::nullopt;
    const std::size_t end = at + folder.size();
    if (at > 0 && (IsPathChar(all[at - 1]))) return std::nullopt;
    if (end < all.size() && IsPathChar(all[end])) return std::nullopt;
    return Found{at, end, by};
  });
}

}  // namespace

Redactor::Redactor(Rules rules) : rules_(std::move(rules)) {
  auto& folders = rules_.folders;
  for (auto& [folder, by] : folders) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  }
  // "/" would take all, and short words are no secrets.
  std::erase_if(folders, [](const auto& one) { return one.first.size() < 2; });
  std::erase_if(rules_.secrets, [](const base::Secret& one) { return one.Reveal().size() < 6; });
  std::stable_sort(folders.begin(), folders.end(), [](const auto& left, const auto& right) {
    return left.first.size() > right.first.size();
  });
}

std::string Redactor::operator()(std::string_view text) const {
  std::string result(text);
  for (const base::Secret& secret : rules_.secrets) {
    result = ReplaceAll(result, secret.Reveal(), kSecretMark);
  }
  for (const auto find : {PrivateKeyAt, WebTokenAt, UrlPasswordAt, AuthorisationAt, KeyAt,
                          AssignedAt, MailAddressAt}) {
    result = Replace(result, find);
  }
  for (const auto& [folder, by] : rules_.folders) result = ReplaceFolder(result, folder, by);
  return Replace(result, HomeAt);
}

}  // namespace cupilot::agents
