// The client protocol (protocol/PROTOCOL.md): a message in, a reply out. On the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/unique_function.h"
#include "protocol/client_messages.h"
#include "records/json.h"
#include "service/history.h"
#include "service/replies.h"
#include "service/service.h"

namespace cupilot::service {

// What `status` says of how this daemon began.
struct DaemonStart {
  std::string because;
  bool by_systemd = false;  // which starts the next one, too
  std::string settings{};   // Settings::hash
};

class Requests {
 public:
  // `stop` is called for the verb "stop", after its reply was made.
  Requests(Service& service, std::string state_folder, base::UniqueFunction<void()> stop);

  // What follows is asked now, by a monotonic clock. For 20 ms a question is answered once, for all
  // who ask it, unless something was asked that may change the answer, or something happened.
  void OnTime(std::chrono::nanoseconds now);
  void OnEvent() { answers_.clear(); }
  // The reply to one message of a peer. Never fails: what cannot be read is answered with an error.
  std::string Handle(const std::string& peer, std::string_view message);

  void SetStart(DaemonStart start) { start_ = std::move(start); }
  // The verb "hand_over": a program of this newer version wants to take this daemon's place.
  void OnHandOver(base::UniqueFunction<void(const std::string& version)> handler) {
    hand_over_ = std::move(handler);
  }

  // How many requests were dropped because who asked was gone (ZmqServer::abandoned).
  void SetAbandoned(std::function<std::int64_t()> count) { abandoned_ = std::move(count); }

  // Peers that asked for events.
  const std::set<std::string>& subscribers() const { return subscribers_; }
  void Forget(const std::string& peer) { subscribers_.erase(peer); }

 private:
  base::Result<std::string> ResultText(const std::string& peer,
                                       const protocol::ClientRequest& request);
  protocol::DaemonMessage Answer(const std::string& peer, const protocol::ClientMessage& message);
  base::Result<records::Json> Hello(const protocol::ClientHello& hello) const;
  base::Result<records::Json> Dispatch(const std::string& peer, const std::string& verb,
                                       const records::Json& params);
  records::Json Status() const;
  base::Result<records::Json> HandOver(const records::Json& params);
  base::Result<records::Json> AboutKernel(const std::string& verb, const records::Json& params);
  base::Result<std::string> HistoryText(const records::Json& params);

  Service& service_;
  std::string state_folder_;
  Replies replies_;
  History history_;
  base::UniqueFunction<void()> stop_;
  base::UniqueFunction<void(const std::string&)> hand_over_;
  DaemonStart start_;
  std::function<std::int64_t()> abandoned_ = [] { return 0; };
  std::set<std::string> subscribers_;
  std::optional<std::chrono::nanoseconds> since_;  // the oldest answer is from then, or later
  std::map<std::string, std::string> answers_;     // by verb and params
};

}  // namespace cupilot::service
