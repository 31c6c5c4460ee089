// A worker for tests of the pool: the protocol of cupilot-worker, with ops that misbehave. Each op
// appends "begin <op>" and "end <op>" to the file named by params.log, if there is one.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "protocol/worker_messages.h"
#include "records/json.h"

namespace {

using cupilot::records::Json;

void Note(const Json& params, const std::string& text) {
  const std::string path = params.value("log", "");
  if (path.empty()) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string line = text + "\n";
  (void)!::write(file, line.data(), line.size());
  ::close(file);
}

[[noreturn]] void Hang() {
  while (true) ::pause();
}

// Some work, in which another process would be seen if it ran.
void Work() {
  for (int i = 0; i < 2000; ++i) ::sched_yield();
}

Json Answer(const std::string& op, const Json& params) {
  if (op == "crash") ::raise(SIGSEGV);
  if (op == "stop") ::raise(cupilot::protocol::kStopSignal);
  if (op == "exit") ::_exit(0);
  if (op == "hang") Hang();
  if (op == "hang_once") {
    const std::string flag = params.value("flag", "");
    if (::access(flag.c_str(), F_OK) != 0) {
      ::close(::open(flag.c_str(), O_WRONLY | O_CREAT, 0600));
      Hang();
    }
  }
  if (op == "work") Work();
  return {{"echo", params}, {"pid", ::getpid()}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto request = cupilot::records::ParseJson(line);
    if (!request) return 4;
    const std::string op = request->value("op", "");
    const Json params = request->value("params", Json::object());
    Note(params, "begin " + params.value("name", op));
    Json reply = {{"id", request->value("id", 0)}};
    if (params.contains("says")) {
      std::cout << Json{{"id", reply["id"]}, {"passed", params["says"]}}.dump() << std::endl;
    }
    if (op == "error") {
      reply["error"] = {{"code", "unsupported"}, {"message", "not this one"}};
    } else {
      reply["result"] = Answer(op, params);
    }
    for (const char* time : {"at_work", "waited"}) {
      if (params.contains(time)) reply[time] = params[time];
    }
    Note(params, "end " + params.value("name", op));
    if (op == "garbage") {
      std::cout << "Segmentation fault (core dumped)" << std::endl;
    } else if (op == "other_id") {
      reply["id"] = 123456;
      std::cout << reply.dump() << std::endl;
    } else {
      std::cout << reply.dump() << std::endl;
    }
  }
  return 0;
}
