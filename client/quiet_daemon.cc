#include "client/quiet_daemon.h"

#include <utility>

#include "records/json.h"

namespace cupilot::client {
namespace {

// How long it pauses if nobody renews it, and how soon that is done.
constexpr std::chrono::minutes kPause{10}, kRenewAfter{1};

bool Snooze(Connection& connection) {
  const std::chrono::seconds seconds = kPause;
  return connection.Request("snooze", {{"seconds", seconds.count()}}).has_value();
}

}  // namespace

QuietDaemon::QuietDaemon() : renewed_(std::chrono::steady_clock::now()) {
  auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection) return;
  const auto status = connection->Request("status");
  if (!status || !status->value("snoozed_until", records::Json()).is_null()) return;
  if (Snooze(*connection)) connection_ = std::move(*connection);
}

QuietDaemon::~QuietDaemon() {
  if (connection_) (void)connection_->Request("resume");
}

void QuietDaemon::Renew() {
  const auto now = std::chrono::steady_clock::now();
  if (!connection_ || now - renewed_ < kRenewAfter) return;
  renewed_ = now;
  (void)Snooze(*connection_);
}

}  // namespace cupilot::client
