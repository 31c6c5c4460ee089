#include <cstdio>
#include <set>

#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/completion/description.h"
#include "client/connection.h"
#include "client/named_output.h"

namespace cupilot::client {
namespace {

// Names that a shell can complete as they are: without qualifiers, whose colons bash takes for the
// ends of words, and without instantiations. Nothing is said where there is no daemon.
std::string KernelNames() {
  auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection) return {};
  const auto list = connection->Request("list", {{"folder", CurrentFolder()}});
  std::set<std::string> names;
  for (const records::Json& row : ListOf(list ? *list : records::Json(), "kernels")) {
    const std::string kernel = TextOf(row, "kernel");
    if (kernel.find('<') != std::string::npos) continue;
    const std::size_t colon = kernel.rfind(':');
    names.insert(colon == std::string::npos ? kernel : kernel.substr(colon + 1));
  }
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace

int Generate(const Arguments& arguments, const std::vector<std::string>& commands, Output& output) {
  const DescribedProgram program = DescribeArguments();
  std::string text;
  if (arguments.what == "bash") text = BashCompletion(program);
  if (arguments.what == "zsh") text = ZshCompletion(program);
  if (arguments.what == "fish") text = FishCompletion(program);
  if (arguments.what == "man") text = ManualPage(program);
  if (arguments.what == "kernels") text = KernelNames();
  if (arguments.what == "commands") {
    for (const std::string& command : commands) text += command + "\n";
  }
  if (arguments.output_file.empty()) {
    std::fputs(text.c_str(), stdout);
    return kDone;
  }
  const auto written = WriteNamedOutput(arguments.output_file, text);
  return written ? kDone : output.Fail(written.error());
}

}  // namespace cupilot::client
