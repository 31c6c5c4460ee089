// The daemon's end of the protocol in this process, on a thread of its own: answers by verb.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"
#include "loop/zmq_server.h"
#include "records/json.h"

namespace cupilot::test {

class FakeDaemon {
 public:
  using Answer = std::function<base::Result<records::Json>(const records::Json& params)>;

  // Serves `socket` once Start() was called; answers must be set before.
  explicit FakeDaemon(std::string socket, std::string version);
  ~FakeDaemon();

  void On(const std::string& verb, Answer answer) { answers_[verb] = std::move(answer); }
  // The whole answer to the greeting, in place of a good one.
  void AnswerGreeting(records::Json answer) { greeting_ = std::move(answer); }
  // Requests are taken and not answered.
  void DropAnswers() { drops_ = true; }
  // False if the socket cannot be served.
  bool Start();
  // Ends it, as if it had crashed; Start() begins again.
  void Stop();
  // An event for whoever subscribed.
  void Emit(const std::string& name, const records::Json& data);

  // What was asked so far: {"verb", "params"}.
  std::vector<records::Json> requests() const;

 private:
  records::Json Handle(const std::string& peer, const records::Json& message);

  const std::string socket_;
  records::Json greeting_;
  bool drops_ = false;
  std::map<std::string, Answer> answers_;
  mutable std::mutex guard_;
  std::vector<records::Json> requests_;  // under guard_
  loop::Loop loop_;
  std::unique_ptr<loop::ZmqServer> server_;  // on the thread
  std::set<std::string> subscribers_;        // on the thread
  std::thread thread_;
};

}  // namespace cupilot::test
