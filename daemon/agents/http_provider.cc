#include "agents/http_provider.h"

#include <algorithm>
#include <utility>

namespace cupilot::agents {

// One answer, and the attempts at it. Each attempt sends the same bytes; text that an attempt
// handed on is never followed by another attempt, since only what failed before an answer began is
// sent again.
class HttpProvider::Call final : public ModelCall {
 public:
  Call(const HttpProvider& provider, ModelRequest request, TextHandler on_text, AnswerHandler done)
      : provider_(provider),
        request_(std::move(request)),
        wire_(provider.format_->Write(request_)),
        on_text_(std::move(on_text)),
        done_(std::move(done)) {
    Attempt();
  }
  ~Call() override {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }

 private:
  void Attempt() {
    ++sent_;
    reader_ = provider_.format_->Read(request_);
    error_body_.clear();
    loop::HttpRequest request;
    request.url = provider_.settings_.address + wire_.path;
    request.headers = wire_.headers;
    request.body = wire_.body;
    request.max_bytes = provider_.settings_.max_bytes;
    if (const base::Secret& key = provider_.settings_.key; !key.empty()) {
      auto [name, value] = provider_.format_->KeyHeader(key.Reveal());
      request.secret_headers.emplace_back(name, base::Secret(std::move(value)));
    }
    // Before the transfer, whose callbacks cancel them.
    total_ = provider_.surroundings_.alarms.After(provider_.settings_.total,
                                                  [this] { OnTimeout("as a whole"); });
    StartSilence();
    transfer_ = provider_.surroundings_.client.Start(
        std::move(request),
        [this](const loop::HttpHead& head, std::string_view bytes) { OnData(head, bytes); },
        [this](const loop::HttpResult& result) { OnEnd(result); });
  }

  void StartSilence() {
    silence_ = provider_.surroundings_.alarms.After(
        provider_.settings_.silence, [this] { OnTimeout("without a sign of life"); });
  }

  void OnData(const loop::HttpHead& head, std::string_view bytes) {
    StartSilence();
    if (head.status < 200 || head.status > 299) {
      constexpr std::size_t kMostOfAnError = 65536;
      error_body_ += bytes.substr(0, kMostOfAnError - std::min(kMostOfAnError, error_body_.size()));
      return;
    }
    std::string text;
    const bool more = reader_->Feed(bytes, text);
    if (on_text_ && !text.empty()) {
      // The handler may destroy this object, and itself with it.
      bool gone = false;
      destroyed_ = &gone;
      auto on_text = std::move(on_text_);
      on_text(text);
      if (gone) return;
      destroyed_ = nullptr;
      on_text_ = std::move(on_text);
    }
    if (!more) Finish(reader_->End());
  }

  void OnEnd(const loop::HttpResult& result) {
    const int status = result.head.status;
    if (result.end == loop::HttpEnd::kComplete && status >= 200 && status <= 299) {
      return Finish(reader_->End());
    }
    ModelError error;
    if (result.end == loop::HttpEnd::kUnreachable) {
      error.why = Failure::kUnreachable;
      error.message = "no connection: " + ShortText(result.message);
    } else if (status != 0 && (status < 200 || status > 299)) {
      // An error that was cut short is that error still.
      error = ErrorOfStatus(status, result.head.headers, error_body_,
                            provider_.surroundings_.clock.WallTime());
    } else if (result.end == loop::HttpEnd::kTooLarge) {
      error = Malformed("the answer is longer than " +
                        std::to_string(provider_.settings_.max_bytes) + " bytes");
      error.why = Failure::kTooLarge;
    } else {
      // What the reader has of it: the tokens so far, or that it was complete but for the end.
      ModelResult half = reader_->End();
      if (half) return Finish(std::move(half));
      error = std::move(half.error());
      error.why = Failure::kBroken;
      error.message = "the connection ended before the answer: " + ShortText(result.message);
      error.may_cost = true;
    }
    Finish(tl::unexpected(std::move(error)));
  }

  void OnTimeout(const char* how) {
    ModelError error = Malformed(std::string("no answer in time (") + how + ")");
    if (ModelResult half = reader_->End(); !half) {
      error.usage = half.error().usage;
      error.partial = std::move(half.error().partial);
    }
    error.why = Failure::kTimeout;
    Finish(tl::unexpected(std::move(error)));
  }

  // Ends the attempt. Runs in callbacks of what it destroys, which allow that.
  void Finish(ModelResult result) {
    auto ended = std::move(transfer_);
    auto total = std::move(total_);
    auto silence = std::move(silence_);
    if (!result) {
      ModelError& error = result.error();
      error.attempts = sent_;
      Clean(error.message);
      const auto wait =
          WaitBefore(provider_.settings_.back_off, error, sent_, provider_.surroundings_.random());
      if (wait) {
        silence_ = provider_.surroundings_.alarms.After(*wait, [this] { Attempt(); });
        return;
      }
    } else {
      result->attempts = sent_;
    }
    auto done = std::move(done_);
    done(std::move(result));  // may destroy this object
  }

  // A service may say what it was sent: the key must not show.
  void Clean(std::string& text) const {
    const std::string& key = provider_.settings_.key.Reveal();
    if (key.empty()) return;
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
      text.replace(at, key.size(), "***");
    }
  }

  const HttpProvider& provider_;
  ModelRequest request_;
  WireRequest wire_;
  TextHandler on_text_;
  AnswerHandler done_;
  int sent_ = 0;
  std::unique_ptr<AnswerReader> reader_;
  std::string error_body_;
  std::unique_ptr<Alarm> total_;
  std::unique_ptr<Alarm> silence_;  // also the wait between attempts
  std::unique_ptr<loop::HttpTransfer> transfer_;
  bool* destroyed_ = nullptr;
};

base::Result<std::unique_ptr<HttpProvider>> HttpProvider::Create(HttpSurroundings surroundings,
                                                                 std::unique_ptr<WireFormat> format,
                                                                 Settings settings) {
  auto origin = loop::OriginOf(settings.address);
  if (!origin) return base::Fail(origin.error().In("provider " + settings.kind));
  if (!settings.key.empty() && origin->rfind("https://", 0) != 0 &&
      !loop::IsLoopback(settings.address)) {
    return base::Fail(
        base::InvalidArgument("provider " + settings.kind + ": its key would go to " + *origin +
                              " unencrypted; use an https:// address, or take the key away"));
  }
  while (!settings.address.empty() && settings.address.back() == '/') settings.address.pop_back();
  std::string name = settings.kind + " " + *origin;
  return std::unique_ptr<HttpProvider>(
      new HttpProvider(surroundings, std::move(format), std::move(settings), std::move(name)));
}

HttpProvider::HttpProvider(HttpSurroundings surroundings, std::unique_ptr<WireFormat> format,
                           Settings settings, std::string name)
    : surroundings_(surroundings),
      format_(std::move(format)),
      settings_(std::move(settings)),
      name_(std::move(name)) {}

std::string HttpProvider::Bytes(const ModelRequest& request) const {
  return format_->Write(request).body;
}

std::unique_ptr<ModelCall> HttpProvider::Send(ModelRequest request, TextHandler on_text,
                                              AnswerHandler done) {
  return std::make_unique<Call>(*this, std::move(request), std::move(on_text), std::move(done));
}

}  // namespace cupilot::agents
