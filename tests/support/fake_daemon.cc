#include "tests/support/fake_daemon.h"

#include <unistd.h>

#include <filesystem>
#include <future>
#include <utility>

namespace cupilot::test {

using records::Json;

FakeDaemon::FakeDaemon(std::string socket, std::string version)
    : socket_(std::move(socket)),
      greeting_(
          {{"hello", {{"protocol", 1}, {"version", std::move(version)}, {"pid", getpid()}}}}) {}

FakeDaemon::~FakeDaemon() { Stop(); }

void FakeDaemon::Stop() {
  if (!thread_.joinable()) return;
  loop_.Stop();
  thread_.join();
}

void FakeDaemon::Emit(const std::string& name, const Json& data) {
  loop_.Post([this, text = Json{{"event", name}, {"data", data}}.dump()] {
    for (const std::string& peer : subscribers_) server_->Send(peer, text);
  });
}

bool FakeDaemon::Start() {
  std::filesystem::create_directories(std::filesystem::path(socket_).parent_path());
  std::filesystem::permissions(std::filesystem::path(socket_).parent_path(),
                               std::filesystem::perms::owner_all);
  std::promise<bool> serving;
  thread_ = std::thread([this, &serving] {
    auto server = loop::ZmqServer::Listen(
        loop_, socket_, [this](const std::string& peer, std::string_view message) {
          const auto json = records::ParseJson(message);
          if (!json) return;
          const std::string answer = Handle(peer, *json).dump();
          if (!drops_ || json->contains("hello")) server_->Send(peer, answer);
        });
    if (server) server_ = std::move(*server);
    serving.set_value(server_ != nullptr);
    loop_.Run();
    server_.reset();
    subscribers_.clear();
  });
  return serving.get_future().get();
}

std::vector<Json> FakeDaemon::requests() const {
  const std::lock_guard lock(guard_);
  return requests_;
}

Json FakeDaemon::Handle(const std::string& peer, const Json& message) {
  if (message.contains("hello")) return greeting_;
  const std::string verb = message.value("verb", "");
  const Json params = message.value("params", Json::object());
  {
    const std::lock_guard lock(guard_);
    requests_.push_back({{"verb", verb}, {"params", params}});
  }
  Json reply = {{"id", message.value("id", 0)}};
  if (verb == "subscribe") {
    subscribers_.insert(peer);
    reply["result"] = Json::object();
    return reply;
  }
  const auto answer = answers_.find(verb);
  const base::Result<Json> result = answer == answers_.end()
                                        ? base::Fail(base::Unsupported("unknown verb"))
                                        : answer->second(params);
  if (result) {
    reply["result"] = *result;
  } else {
    reply["error"] = {{"code", std::string(base::Name(result.error().code))},
                      {"message", result.error().message}};
  }
  return reply;
}

}  // namespace cupilot::test
