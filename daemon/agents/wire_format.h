// How one kind of service writes a request and its answer. Only that: no connection, no clock, no
// key. The three that there are: openai_format.h, anthropic_format.h, ollama_format.h.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/provider.h"

namespace cupilot::agents {

struct WireRequest {
  std::string path;  // behind the base address: "/v1/messages"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // JSON
};

// Reads the body of one answer with a 2xx status, as it comes. What it is fed is limited by the
// caller.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  // Appends to `text` what became known of the answer's. True: more may come. False: the answer is
  // complete, or cannot become one; End() says which.
  virtual bool Feed(std::string_view bytes, std::string& text) = 0;
  // What came of it, when Feed said false or the body has ended. Called once.
  virtual ModelResult End() = 0;
};

class WireFormat {
 public:
  virtual ~WireFormat() = default;
  virtual WireRequest Write(const ModelRequest& request) const = 0;
  virtual std::unique_ptr<AnswerReader> Read(const ModelRequest& request) const = 0;
  // The header that carries the key; `value` is what stands there of it.
  virtual std::pair<std::string, std::string> KeyHeader(const std::string& key) const = 0;
};

// An answer with another status, or an error in the midst of one, as these services say it:
// {"error": {"type", "code", "message"}} (Ollama: {"error": "message"}). `headers` have names in
// lower case; `now` is the time since the epoch, for dates in them.
ModelError ErrorOfStatus(int status, const std::map<std::string, std::string>& headers,
                         std::string_view body, std::chrono::nanoseconds now);

// As above, of the parsed document, for errors within a stream: what was generated until then may
// cost.
ModelError ErrorWithin(const records::Json& document);

// Made of what a service sent: one line, at most 300 bytes.
std::string ShortText(std::string_view text);

ModelError Malformed(std::string message);
// A count of tokens; 0 where there is none, or nonsense.
std::int64_t TokensAt(const records::Json& object, const char* key);
// The object that stands there; an empty one where none does.
const records::Json& ObjectAt(const records::Json& json, const char* key);

}  // namespace cupilot::agents
