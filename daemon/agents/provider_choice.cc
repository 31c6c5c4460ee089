#include "agents/provider_choice.h"

#include <array>
#include <optional>
#include <utility>

#include "base/file.h"
#include "loop/http_client.h"

namespace cupilot::agents {
namespace {

struct KindOfService {
  std::string_view name;
  ProviderKind kind;
  std::string_view address;  // where a service is if nothing else is said; empty: no service
  bool batch = false;
};
constexpr std::array kKinds = {
    KindOfService{"openai", ProviderKind::kOpenAi, "https://api.openai.com"},
    KindOfService{"anthropic", ProviderKind::kAnthropic, "https://api.anthropic.com"},
    KindOfService{"openai-batch", ProviderKind::kOpenAi, "https://api.openai.com", true},
    KindOfService{"anthropic-batch", ProviderKind::kAnthropic, "https://api.anthropic.com", true},
    KindOfService{"ollama", ProviderKind::kOllama, "http://127.0.0.1:11434"},
    KindOfService{"command", ProviderKind::kCommand, ""},
    KindOfService{"exchange", ProviderKind::kExchange, ""},
    KindOfService{"replay", ProviderKind::kReplay, ""},
};

base::Error Wrong(const std::string& text, const std::string& why) {
  return base::InvalidArgument(
      "provider '" + text + "': " + why +
      "; expected openai:MODEL, anthropic:MODEL, openai-batch:MODEL, anthropic-batch:MODEL, "
      "ollama:MODEL (each also with @ADDRESS), "
      "command:PROGRAM, exchange:FOLDER or replay:FILE");
}

// The words of a command line; quotes hold blanks together, and there is no other magic. Nothing
// where a quote does not end.
std::optional<std::vector<std::string>> Words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      begun = true;
    } else if (c == ' ' || c == '\t') {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (quote != '\0') return std::nullopt;
  if (begun) words.push_back(word);
  return words;
}

std::string Stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

base::Result<ProviderChoice> OfService(ProviderChoice choice, const std::string& text,
                                       const std::string& rest, std::string_view address) {
  // Names of models hold ":" and "/", addresses "@" only where they may not.
  const std::size_t at = rest.find('@');
  choice.model = rest.substr(0, at);
  choice.own_service = at == std::string::npos;
  choice.address = choice.own_service ? std::string(address) : rest.substr(at + 1);
  if (choice.model.empty()) return base::Fail(Wrong(text, "no model"));
  if (const auto origin = loop::OriginOf(choice.address); !origin) {
    return base::Fail(Wrong(text, origin.error().message));
  }
  return choice;
}

}  // namespace

base::Result<ProviderChoice> ParseProvider(const std::string& text, const std::string& folder) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const KindOfService& one : kKinds) {
    if (one.name != name) continue;
    ProviderChoice choice;
    choice.kind = one.kind;
    choice.batch = one.batch;
    if (!one.address.empty()) return OfService(std::move(choice), text, rest, one.address);
    if (rest.empty()) return base::Fail(Wrong(text, "nothing behind the colon"));
    if (one.kind == ProviderKind::kCommand) {
      auto words = Words(rest);
      if (!words || words->empty()) return base::Fail(Wrong(text, "no program"));
      choice.words = std::move(*words);
      return choice;
    }
    const std::size_t mark = one.kind == ProviderKind::kExchange ? rest.rfind('#') : rest.npos;
    if (mark != std::string::npos) choice.model = rest.substr(mark + 1);
    choice.path = base::AbsolutePath(rest.substr(0, mark), folder);
    return choice;
  }
  return base::Fail(Wrong(text, "unknown kind"));
}

base::Result<std::vector<ProviderChoice>> ParseProviders(const std::string& text,
                                                         const std::string& folder) {
  std::vector<ProviderChoice> choices;
  if (Stripped(text).empty() || Stripped(text) == "none") return choices;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = text.find(',', begin);
    while (end != std::string::npos && end + 1 < text.size() && text[end + 1] != ' ' &&
           text[end + 1] != '\n') {
      end = text.find(',', end + 1);
    }
    const std::string one = Stripped(text.substr(begin, end - begin));
    TRY_ASSIGN(ProviderChoice choice, ParseProvider(one, folder));
    choices.push_back(std::move(choice));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return choices;
}

}  // namespace cupilot::agents
