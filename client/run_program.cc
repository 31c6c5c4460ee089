#include "client/run_program.h"

#include <optional>
#include <utility>

#include "loop/child_process.h"
#include "loop/loop.h"
#include "loop/timer.h"

namespace cupilot::client {

base::Result<ProgramResult> RunProgram(const std::vector<std::string>& words,
                                       const std::string& input, std::chrono::milliseconds limit) {
  loop::Loop loop;
  ProgramResult result;
  bool ended = false;
  loop::ChildOptions options;
  options.arguments = words;
  options.error_file = "/dev/null";
  auto child = loop::ChildProcess::Start(
      loop, std::move(options),
      [&result](std::string_view line) { result.output.append(line).append("\n"); },
      [&](loop::ChildExit exit) {
        result.ended_well = exit.signal == 0 && exit.status == 0;
        ended = true;
        loop.Stop();
      });
  if (!child) return base::Fail(child.error());
  if (!input.empty()) (*child)->WriteLine(input);
  (*child)->CloseInput();
  loop::Timer timer(loop);
  timer.Start(limit, [&loop] { loop.Stop(); });
  loop.Run();
  if (!ended) return base::Fail(base::Timeout(words.front() + " did not end in time"));
  return result;
}

}  // namespace cupilot::client
