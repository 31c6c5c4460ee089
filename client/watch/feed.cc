#include "client/watch/feed.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "client/commands/explanation.h"
#include "client/output.h"

namespace cupilot::client {
namespace {

using records::Json;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr std::chrono::seconds kPatience{5};  // then it is said that the daemon does not answer
constexpr const char* kGone =
    "the daemon has ended; `cupilot daemon start` starts it, looking for it every second";
constexpr const char* kFrozen =
    "the daemon does not answer; `cupilot daemon logs` shows what it last did";

// What is in work changes with each stage of a candidate; what is known of kernels only here.
bool ChangesRows(const protocol::DaemonMessage& event) {
  return event.event != "kernel" || TextOf(event.content, "stage") == "verdict";
}

}  // namespace

DaemonFeed::DaemonFeed(Connection connection, std::string folder, WatchState& state)
    : connection_(std::move(connection)), folder_(std::move(folder)), state_(state) {
  Begin();
}

DaemonFeed::Time DaemonFeed::Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

void DaemonFeed::Begin() {
  plan_ = RefreshPlan();
  state_.trouble.clear();
  Ask(Question::kSubscribe, "subscribe", Json::object());
}

void DaemonFeed::LookForDaemon() {
  next_look_ = Now() + kBetweenLooks;
  auto found = Connection::Open(Connection::Start::kNever);
  if (!found) {
    const bool nobody = found.error().code == base::ErrorCode::kUnavailable;
    state_.trouble = nobody ? kGone : found.error().message;
    return;
  }
  connection_ = std::move(*found);
  state_.notice = connection_->VersionWarning();
  Begin();
}

void DaemonFeed::Lose(const std::string& why) {
  connection_.reset();
  open_.clear();
  state_.trouble = why;
  next_look_ = Now() + kBetweenLooks;
}

void DaemonFeed::Ask(Question question, const std::string& verb, const Json& params,
                     const std::string& notice) {
  if (!connection_) {
    if (!notice.empty()) state_.notice = "there is no daemon to ask";
    return;
  }
  const auto id = connection_->Send(verb, params);
  if (!id) return Lose(id.error().message);
  open_[*id] = {question, notice, state_.opened};
  asked_at_ = Now();
}

void DaemonFeed::Act() {
  const Time now = Now();
  if (!connection_) {
    if (now >= next_look_) LookForDaemon();
    if (!connection_) return;
  }
  if (!open_.empty()) {
    if (now - asked_at_ >= kPatience) state_.trouble = kFrozen;
    return;
  }
  if (plan_.UntilDue(now).count() > 0) return;
  const bool rows = plan_.AsksForRows(now);
  plan_.OnAsked(now, rows);
  Ask(Question::kStatus, "status", Json::object());
  if (rows) Ask(Question::kRows, "list", {{"folder", folder_}});
  if (rows && state_.details) Explain();
}

milliseconds DaemonFeed::UntilDue(milliseconds limit) const {
  const Time now = Now();
  const auto until = [&](Time then) {
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(then - now));
  };
  milliseconds due(0);
  if (!connection_) {
    due = until(next_look_);
  } else if (open_.empty()) {
    due = std::max(milliseconds(1), plan_.UntilDue(now));
  } else {
    // After that it is said every second that the daemon does not answer, which costs nothing.
    due = now - asked_at_ < kPatience ? until(asked_at_ + kPatience) : milliseconds(1000);
  }
  return limit.count() < 0 ? due : std::min(due, limit);
}

void DaemonFeed::Wait(std::span<const int> files, milliseconds limit) {
  Act();
  const milliseconds due = UntilDue(limit);
  if (!connection_) {
    std::vector<pollfd> items;
    for (const int file : files) items.push_back({file, POLLIN, 0});
    (void)::poll(items.data(), items.size(), static_cast<int>(due.count()));
    return;
  }
  auto ready = connection_->Wait(files, due);
  if (!ready) return Lose(ready.error().message);
  if (ready->gone) return Lose(kGone);
  if (ready->message) Take();
}

void DaemonFeed::Take() {
  auto message = connection_->Take();
  if (!message) {
    if (message.error().code == base::ErrorCode::kUnavailable) return Lose(kGone);
    // What is no message of the protocol may have been any answer: they are asked for again.
    open_.clear();
    return;
  }
  if (message->kind == protocol::DaemonMessage::Kind::kEvent) return OnEvent(*message);
  if (!message->id.is_number_integer()) return;
  const auto asked = open_.find(message->id.get<std::int64_t>());
  if (asked == open_.end()) return;
  const Asked question = asked->second;
  open_.erase(asked);
  OnReply(question, *message);
}

void DaemonFeed::OnEvent(const protocol::DaemonMessage& event) {
  plan_.OnEvent(ChangesRows(event));
}

void DaemonFeed::OnReply(const Asked& asked, const protocol::DaemonMessage& reply) {
  const bool failed = reply.kind == protocol::DaemonMessage::Kind::kError;
  if (state_.trouble == kFrozen) state_.trouble.clear();
  if (asked.question == Question::kExplanation) {
    if (!state_.details || asked.kernel != state_.opened) return;
    state_.explanation.clear();
    Output lines(state_.explanation);
    if (failed) {
      lines.Line(reply.error.message);
    } else {
      PrintExplanation(reply.content, lines);
    }
    return;
  }
  if (failed) {
    state_.notice = reply.error.message;
    return;
  }
  if (asked.question == Question::kRows) return Adopt(ListOf(reply.content, "kernels"), state_);
  if (asked.question == Question::kSubscribe) return;
  state_.status = reply.content;
  plan_.OnAnswered(TextOf(state_.status, "state") == "tuning");
  if (!asked.notice.empty()) state_.notice = asked.notice;
}

void DaemonFeed::Snooze(std::int64_t seconds, const std::string& notice) {
  Ask(Question::kSnooze, "snooze", {{"seconds", seconds}}, notice);
}

void DaemonFeed::Resume() { Ask(Question::kSnooze, "resume", Json::object(), "tuning goes on"); }

void DaemonFeed::Explain() {
  Ask(Question::kExplanation, "explain",
      {{"kernel", state_.opened.kernel}, {"folder", state_.opened.folder}});
}

}  // namespace cupilot::client
