#include "client/once.h"

#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "client/output.h"
#include "client/spawn.h"
#include "loop/child_process.h"
#include "loop/loop.h"

namespace cupilot::client {
namespace {

using records::Json;

class OnceRun {
 public:
  explicit OnceRun(std::function<void(const Json&)> on_event) : on_event_(std::move(on_event)) {}

  base::Result<Json> Run(const Json& request) {
    const std::string program = DaemonProgram();
    if (!base::FileExists(program)) {
      return base::Fail(base::Unavailable("the daemon's program is missing: " + program +
                                          "; install cuPilot again, or set CUPILOT_DAEMON"));
    }
    loop::ChildOptions options;
    options.arguments = {program, "--once"};
    auto child = loop::ChildProcess::Start(
        loop_, std::move(options), [this](std::string_view line) { OnLine(line); },
        [this](loop::ChildExit exit) { OnExit(exit); });
    if (!child) return base::Fail(child.error());
    for (const int number : {SIGINT, SIGTERM}) {
      loop_.OnSignal(number, [this] { OnInterrupt(); });
    }
    (*child)->WriteLine(request.dump(-1, ' ', false, Json::error_handler_t::replace));
    loop_.Run();
    return std::move(*result_);
  }

 private:
  void OnLine(std::string_view text) {
    const auto line = records::ParseJson(text);
    if (!line || !line->is_object()) return;  // what a library may print is no message
    if (line->contains("event")) {
      on_event_(*line);
    } else if (line->contains("result")) {
      End((*line)["result"]);
    } else if (line->contains("error")) {
      const Json& error = (*line)["error"];
      End(base::Fail(base::Error{base::CodeOf(TextOf(error, "code")), TextOf(error, "message")}));
    }
  }

  void OnExit(loop::ChildExit exit) {
    const std::string how = exit.signal != 0 ? std::string("was ended by ") + strsignal(exit.signal)
                                             : "ended with " + std::to_string(exit.status);
    End(base::Fail(base::ToolFailed("cupilotd --once " + how + " before it had a result")));
  }

  void OnInterrupt() { End(base::Fail(base::Cancelled("interrupted"))); }

  void End(base::Result<Json> result) {
    if (!result_) result_ = std::move(result);
    loop_.Stop();
  }

  loop::Loop loop_;
  std::function<void(const Json&)> on_event_;
  std::optional<base::Result<Json>> result_;
};

}  // namespace

base::Result<Json> RunOnce(const Json& request, std::function<void(const Json&)> on_event) {
  return OnceRun(std::move(on_event)).Run(request);
}

}  // namespace cupilot::client
