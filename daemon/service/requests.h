// The client protocol (protocol/PROTOCOL.md): a message in, a reply out. On the loop thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/unique_function.h"
#include "protocol/client_messages.h"
#include "records/json.h"
#include "service/service.h"

namespace cupilot::service {

class Requests {
 public:
  // `stop` is called for the verb "stop", after its reply was made.
  Requests(Service& service, std::string state_folder, base::UniqueFunction<void()> stop);

  // The reply to one message of a peer. Never fails: what cannot be read is answered with an error.
  std::string Handle(const std::string& peer, std::string_view message);

  // Peers that asked for events.
  const std::set<std::string>& subscribers() const { return subscribers_; }
  void Forget(const std::string& peer) { subscribers_.erase(peer); }

 private:
  protocol::DaemonMessage Answer(const std::string& peer, const protocol::ClientMessage& message);
  base::Result<records::Json> Hello(const protocol::ClientHello& hello) const;
  base::Result<records::Json> Dispatch(const std::string& peer, const std::string& verb,
                                       const records::Json& params);
  base::Result<records::Json> AboutKernel(const std::string& verb, const records::Json& params);

  Service& service_;
  std::string state_folder_;
  base::UniqueFunction<void()> stop_;
  std::set<std::string> subscribers_;
};

}  // namespace cupilot::service
