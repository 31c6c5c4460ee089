// What `cupilot watch` hears of the daemon, put into its state. Asks again in time, and looks for
// the daemon where it is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "client/connection.h"
#include "client/watch/refresh.h"
#include "client/watch/state.h"

namespace cupilot::client {

// Blocking in Wait() only, and for a moment where it finds the daemon again.
class DaemonFeed {
 public:
  DaemonFeed(Connection connection, std::string folder, WatchState& state);

  // Asks what is due, or looks for the daemon; then waits until there is news, or one of `files`
  // can be read, or something is due again, or `limit` is over (less than 0: none). Then what came
  // is in the state.
  void Wait(std::span<const int> files, std::chrono::milliseconds limit);

  // What a person asks for; the answer is a notice of the state.
  void Snooze(std::int64_t seconds, const std::string& notice);
  void Resume();
  // The opened kernel's explanation, now and with every round after.
  void Explain();

 private:
  enum class Question { kStatus, kRows, kExplanation, kSnooze, kSubscribe };
  struct Asked {
    Question question;
    std::string notice;
    WatchedKernel kernel;
  };
  using Time = RefreshPlan::Time;

  static Time Now();
  void Act();
  void Begin();
  void LookForDaemon();
  void Lose(const std::string& why);
  void Ask(Question question, const std::string& verb, const records::Json& params,
           const std::string& notice = "");
  std::chrono::milliseconds UntilDue(std::chrono::milliseconds limit) const;
  void Take();
  void OnEvent(const protocol::DaemonMessage& event);
  void OnReply(const Asked& asked, const protocol::DaemonMessage& reply);

  std::optional<Connection> connection_;
  const std::string folder_;
  WatchState& state_;
  RefreshPlan plan_;
  std::map<std::int64_t, Asked> open_;  // by request
  Time asked_at_{0};                    // the last question
  Time next_look_{0};
};

}  // namespace cupilot::client
