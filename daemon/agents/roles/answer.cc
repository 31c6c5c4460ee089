#include "agents/roles/answer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "agents/roles/schema.h"

namespace cupilot::agents {
namespace {

using records::Json;

// An answer with more beginnings of documents that do not end is no answer.
constexpr int kMostUnclosed = 64;
// Nor is one with more documents, whatever they are.
constexpr std::size_t kMostDocuments = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// What of a text may be the document.
struct Found {
  std::vector<Json> documents;
  std::string malformed;            // why the last one that ends is no JSON
  std::optional<std::size_t> open;  // where one begins that does not end
};

// Where the value that begins at `begin` ends, by brackets outside of strings; npos: it does not.
std::size_t EndOfValue(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// An object's '{' has a key or nothing behind it; C++ seldom has that. An array's '[' an object.
bool BeginsValue(std::string_view text, std::size_t at) {
  std::size_t next = at + 1;
  while (next < text.size() && IsSpace(text[next])) ++next;
  if (text[at] == '{') return next == text.size() || text[next] == '"' || text[next] == '}';
  return text[at] == '[' && next < text.size() && text[next] == '{';
}

// Line ends and tabs within texts, as sources have them when nobody escapes them.
std::string WithEscapes(std::string_view text) {
  std::string escaped;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && (c == '\n' || c == '\t')) {
      escaped += c == '\n' ? "\\n" : "\\t";
    } else if (!quoted || c != '\r') {
      escaped += c;
    }
    if (quoted && c == '\\' && i + 1 < text.size()) escaped += text[++i];
  }
  return escaped;
}

void Take(std::string_view text, Found& found) {
  base::Result<Json> json = records::ParseJson(text);
  if (!json) {
    if (base::Result<Json> again = records::ParseJson(WithEscapes(text))) json = std::move(again);
  }
  if (!json) {
    found.malformed = json.error().message;
  } else if (std::find(found.documents.begin(), found.documents.end(), *json) ==
             found.documents.end()) {
    found.documents.push_back(std::move(*json));
  }
}

void TakeAll(std::string_view text, Found& found) {
  int unclosed = 0;
  for (std::size_t at = 0; at < text.size() && unclosed < kMostUnclosed; ++at) {
    if (found.documents.size() >= kMostDocuments) return;
    if ((text[at] != '{' && text[at] != '[') || !BeginsValue(text, at)) continue;
    const std::size_t end = EndOfValue(text, at);
    if (end == std::string_view::npos) {
      ++unclosed;
      if (!found.open) found.open = at;
      continue;
    }
    Take(text.substr(at, end - at), found);
    at = end - 1;
  }
}

// The contents of ``` fences, which stand at the beginning of lines: no JSON text has a line's end.
std::vector<std::string_view> Fenced(std::string_view text) {
  constexpr std::string_view kFence = "```";
  std::vector<std::string_view> blocks;
  std::size_t line = 0, block = std::string_view::npos;
  while (line < text.size()) {
    std::size_t end = std::min(text.find('\n', line), text.size());
    if (Trimmed(text.substr(line, end - line)).starts_with(kFence)) {
      if (block == std::string_view::npos) {
        block = std::min(end + 1, text.size());
      } else {
        blocks.push_back(text.substr(block, line - block));
        block = std::string_view::npos;
      }
    }
    line = end + 1;
  }
  if (block != std::string_view::npos) blocks.push_back(text.substr(block));
  return blocks;
}

Found Search(std::string_view text) {
  Found found;
  const std::string_view whole = Trimmed(text);
  if (!whole.empty() && (whole.front() == '{' || whole.front() == '[') &&
      EndOfValue(whole, 0) == whole.size()) {
    Take(whole, found);
    return found;
  }
  for (const std::string_view block : Fenced(text)) TakeAll(block, found);
  if (found.documents.empty()) {
    found = {};
    TakeAll(text, found);
  }
  return found;
}

std::string NoDocument(const Found& found, std::size_t size) {
  if (found.open) {
    return "the answer is cut off: the JSON document that begins at character " +
           std::to_string(*found.open + 1) + " of " + std::to_string(size) +
           " does not end; answer shorter";
  }
  if (!found.malformed.empty()) return "the answer is not valid JSON: " + found.malformed;
  return "there is no JSON document in the answer";
}

}  // namespace

Answer<Json> FindDocument(std::string_view text, const Json& schema) {
  if (text.size() > kMostAnswer) return Complain("the answer is too long");
  const Found found = Search(text);
  if (found.documents.empty()) return Complain(NoDocument(found, text.size()));
  const Json* fits = nullptr;
  std::string wrong;
  std::size_t most = 0, fitting = 0;
  for (const Json& document : found.documents) {
    std::string why = WhyNotFits(document, schema);
    if (why.empty()) {
      fits = &document;
      ++fitting;
    } else if (const std::size_t size = document.dump().size(); size > most) {
      most = size;  // the largest is most likely the one that was meant
      wrong = std::move(why);
    }
  }
  if (fitting > 1) {
    return Complain(std::to_string(fitting) +
                    " different documents fit; answer with exactly one JSON document");
  }
  // What is found inside of a document that does not end is a part of it.
  if (fits == nullptr && found.open) return Complain(NoDocument(found, text.size()));
  if (fits == nullptr) return Complain(std::move(wrong));
  return *fits;
}

}  // namespace cupilot::agents
