#include "agents/batch_service.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "agents/anthropic_format.h"
#include "agents/http_ask.h"
#include "agents/openai_format.h"
#include "base/hash.h"

namespace cupilot::agents {
namespace {

using records::Json;
using Reply = tl::expected<HttpReply, ModelError>;

// Part of paths: what a service calls its batches and files.
bool IsName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

// An object, or why there is none.
tl::expected<Json, ModelError> ObjectOf(const Reply& reply) {
  if (!reply) return tl::unexpected(reply.error());
  auto json = records::ParseJson(reply->body);
  if (!json || !json->is_object()) return tl::unexpected(Malformed("no JSON object"));
  return std::move(*json);
}

// What both have in common: requests, one at a time, and who waits for them.
class HttpBatches : public BatchService {
 public:
  HttpBatches(HttpSurroundings surroundings, BatchServiceSettings settings)
      : surroundings_(surroundings), settings_(std::move(settings)) {
    while (!settings_.address.empty() && settings_.address.back() == '/') {
      settings_.address.pop_back();
    }
  }

 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  void Ask(const char* method, const std::string& path, Headers headers, std::string body,
           const WireFormat& format, ReplyHandler done) {
    loop::HttpRequest request;
    request.url = settings_.address + path;
    request.method = method;
    request.headers = std::move(headers);
    request.body = std::move(body);
    request.max_bytes = settings_.max_bytes;
    if (!settings_.key.empty()) {
      auto [name, value] = format.KeyHeader(settings_.key.Reveal());
      request.secret_headers.emplace_back(name, base::Secret(std::move(value)));
    }
    asking_ = AskHttp(surroundings_.client, surroundings_.alarms, surroundings_.clock,
                      std::move(request), settings_.limit, std::move(done));
  }

  void OnCreated(const Reply& reply) {
    auto batch = ObjectOf(reply);
    auto done = std::exchange(created_, {});
    if (!batch) return done(tl::unexpected(std::move(batch.error())));
    const std::string id = records::TextAt(*batch, "id");
    if (!IsName(id)) return done(tl::unexpected(Malformed("the batch has no name")));
    done(id);
  }

  CreatedHandler created_;
  PolledHandler polled_;

 private:
  HttpSurroundings surroundings_;
  BatchServiceSettings settings_;
  std::unique_ptr<ModelCall> asking_;
};

// A file is uploaded, and a batch made of it; what comes back are files too.
class OpenAiBatches final : public HttpBatches {
 public:
  using HttpBatches::HttpBatches;

  void Create(const std::string& lines, CreatedHandler done) override {
    created_ = std::move(done);
    // No line of ours holds its own hash.
    const std::string boundary = "cupilot-" + base::HashHex(lines);
    const std::string begin = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"";
    std::string body = begin + "purpose\"\r\n\r\nbatch\r\n" + begin +
                       "file\"; filename=\"batch.jsonl\"\r\n"
                       "Content-Type: application/jsonl\r\n\r\n";
    body += lines + "\r\n--" + boundary + "--\r\n";
    Ask("POST", "/v1/files", {{"content-type", "multipart/form-data; boundary=" + boundary}},
        std::move(body), format_, [this](const Reply& reply) { OnUploaded(reply); });
  }

  void Poll(const std::string& batch, PolledHandler done) override {
    polled_ = std::move(done);
    lines_.clear();
    Ask("GET", "/v1/batches/" + batch, {}, "", format_,
        [this](const Reply& reply) { OnState(reply); });
  }

 private:
  void OnUploaded(const Reply& reply) {
    auto file = ObjectOf(reply);
    const std::string id = file ? records::TextAt(*file, "id") : "";
    if (!file || !IsName(id)) {
      // A file alone costs nothing.
      ModelError error = file ? Malformed("the uploaded file has no name") : file.error();
      error.may_cost = false;
      return std::exchange(created_, {})(tl::unexpected(std::move(error)));
    }
    const Json body = {
        {"input_file_id", id}, {"endpoint", "/v1/chat/completions"}, {"completion_window", "24h"}};
    Ask("POST", "/v1/batches", {{"content-type", "application/json"}}, records::CompactJson(body),
        format_, [this](const Reply& answer) { OnCreated(answer); });
  }

  void OnState(const Reply& reply) {
    auto batch = ObjectOf(reply);
    if (!batch) return std::exchange(polled_, {})(tl::unexpected(std::move(batch.error())));
    const std::string status = records::TextAt(*batch, "status");
    const bool ended =
        status == "completed" || status == "failed" || status == "expired" || status == "cancelled";
    if (!ended) return std::exchange(polled_, {})(std::optional<std::string>());
    files_.clear();
    for (const char* key : {"error_file_id", "output_file_id"}) {
      if (const std::string id = records::TextAt(*batch, key); IsName(id)) files_.push_back(id);
    }
    TakeNextFile();
  }

  void TakeNextFile() {
    if (files_.empty()) return std::exchange(polled_, {})(std::optional(std::move(lines_)));
    const std::string file = files_.back();
    files_.pop_back();
    Ask("GET", "/v1/files/" + file + "/content", {}, "", format_, [this](Reply reply) {
      if (!reply) return std::exchange(polled_, {})(tl::unexpected(std::move(reply.error())));
      lines_ += reply->body + "\n";
      TakeNextFile();
    });
  }

  OpenAiFormat format_;
  std::vector<std::string> files_;
  std::string lines_;
};

class AnthropicBatches final : public HttpBatches {
 public:
  using HttpBatches::HttpBatches;

  void Create(const std::string& lines, CreatedHandler done) override {
    created_ = std::move(done);
    // The lines are objects: an array of them is only commas away.
    std::string body = "{\"requests\":[";
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      if (end > begin) body += (begin == 0 ? "" : ",") + lines.substr(begin, end - begin);
      begin = end + 1;
    }
    body += "]}";
    Ask("POST", "/v1/messages/batches",
        {{"content-type", "application/json"}, AnthropicFormat::VersionHeader()}, std::move(body),
        format_, [this](const Reply& reply) { OnCreated(reply); });
  }

  void Poll(const std::string& batch, PolledHandler done) override {
    polled_ = std::move(done);
    batch_ = batch;
    Ask("GET", "/v1/messages/batches/" + batch, {AnthropicFormat::VersionHeader()}, "", format_,
        [this](const Reply& reply) { OnState(reply); });
  }

 private:
  void OnState(const Reply& reply) {
    auto batch = ObjectOf(reply);
    if (!batch) return std::exchange(polled_, {})(tl::unexpected(std::move(batch.error())));
    if (records::TextAt(*batch, "processing_status") != "ended") {
      return std::exchange(polled_, {})(std::optional<std::string>());
    }
    // Where results_url of the service itself points; an address that an answer names gets no key.
    Ask("GET", "/v1/messages/batches/" + batch_ + "/results", {AnthropicFormat::VersionHeader()},
        "", format_, [this](Reply results) {
          auto done = std::exchange(polled_, {});
          if (!results) return done(tl::unexpected(std::move(results.error())));
          done(std::optional(std::move(results->body)));
        });
  }

  AnthropicFormat format_;
  std::string batch_;
};

base::Result<> CheckAddress(const BatchServiceSettings& settings) {
  const auto origin = loop::OriginOf(settings.address);
  if (!origin) return base::Fail(origin.error());
  if (!settings.key.empty() && origin->rfind("https://", 0) != 0 &&
      !loop::IsLoopback(settings.address)) {
    return base::Fail(
        base::InvalidArgument("a key would go to " + *origin + " unencrypted; use https://"));
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<BatchService>> MakeOpenAiBatches(HttpSurroundings surroundings,
                                                              BatchServiceSettings settings) {
  TRY(CheckAddress(settings));
  return std::make_unique<OpenAiBatches>(surroundings, std::move(settings));
}

base::Result<std::unique_ptr<BatchService>> MakeAnthropicBatches(HttpSurroundings surroundings,
                                                                 BatchServiceSettings settings) {
  TRY(CheckAddress(settings));
  return std::make_unique<AnthropicBatches>(surroundings, std::move(settings));
}

}  // namespace cupilot::agents
