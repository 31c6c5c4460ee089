#include <cstdio>

#include "base/file.h"
#include "base/paths.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/named_output.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr std::size_t kHashLength = 40;
constexpr std::size_t kShortHash = 12;  // enough to name an entry; names stay whole

std::string ShortId(const std::string& id) {
  return id.size() == kHashLength ? id.substr(0, kShortHash) : id;
}

// "1.70x", the reason of what failed, or that the source gives no figure.
std::string BecameOf(const Json& row) {
  std::string reason = TextOf(row, "reason");
  if (!reason.empty()) return reason;
  return SpeedupOf(row, "gain");
}

std::string Count(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

void PrintEntry(const Json& entry, Output& output) {
  const Json strategy = ObjectOf(entry, "strategy");
  const Json device = ObjectOf(entry, "device");
  const Json source = ObjectOf(entry, "source");
  const Json gain = ObjectOf(entry, "gain");
  output.Line(TextOf(entry, "id") + "  " + TextOf(strategy, "title"));
  const auto line = [&output](const char* what, const std::string& text) {
    if (!text.empty()) output.Line(std::string("  ") + what + ": " + text);
  };
  line("kernel", TextOf(entry, "kernel"));
  line("bottleneck", TextOf(entry, "bottleneck"));
  line("device", TextOf(device, "kind") +
                     (TextOf(device, "arch").empty() ? "" : ", " + TextOf(device, "arch")) +
                     (TextOf(device, "name").empty() ? "" : ", " + TextOf(device, "name")));
  if (!gain.empty()) {
    const std::string interval = IntervalOf(gain, "interval");
    line("gain", SpeedupOf(gain, "factor") + (interval.empty() ? "" : " " + interval));
  }
  line("failed", TextOf(entry, "reason"));
  if (NumberOf(entry, "tried") > 0) {
    line("tried", CountOf(entry, "tried") + ", won " +
                      std::to_string(static_cast<long>(NumberOf(entry, "won"))) + ", last on " +
                      TextOf(entry, "date"));
  }
  line("origin", TextOf(entry, "origin"));
  for (const Json& step : ListOf(strategy, "steps")) {
    const Json parameters = ObjectOf(step, "parameters");
    line("step", TextOf(step, "technique") +
                     (parameters.empty() ? "" : " " + records::CompactJson(parameters)));
  }
  line("note", TextOf(entry, "note"));
  if (!source.empty()) {
    line("source", TextOf(source, "authors") + ": " + TextOf(source, "title") + ", " +
                       CountOf(source, "year") +
                       (TextOf(source, "address").empty() ? "" : ", " + TextOf(source, "address")));
  }
  const Json features = ObjectOf(entry, "features");
  for (const auto& [name, value] : features.items()) {
    if (value.is_number()) line(name.c_str(), records::CanonicalJson(value));
  }
}

base::Result<> ExportPool(const Arguments& arguments, Output& output) {
  TRY_ASSIGN(const Json reply,
             AskDaemon(output, "strategies_export", {{"names", arguments.names}}));
  TRY_ASSIGN(const std::string text, TakeReplyFile(TextOf(reply, "document")));
  const auto entries = static_cast<std::size_t>(NumberOf(reply, "entries"));
  if (arguments.output_file.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  const std::string path = base::AbsolutePath(arguments.output_file, CurrentFolder());
  TRY(WriteNamedOutput(path, text));
  output.Document({{"schema", "cupilot.strategies_exported/1"},
                   {"file", path},
                   {"entries", entries},
                   {"names", arguments.names}});
  output.Line(Count(entries, "entry", "entries") + " written to " + arguments.output_file);
  return {};
}

}  // namespace

int RunStrategiesList(const Arguments&, Output& output) {
  const auto document = AskDaemon(output, "strategies_list", Json::object());
  if (!document) return output.Fail(document.error());
  output.Document(*document);
  std::vector<std::vector<std::string>> rows = {
      {"id", "strategy", "bottleneck", "device", "became", "tried", "origin", "kernel or source"}};
  for (const Json& row : ListOf(*document, "strategies")) {
    const std::string arch = TextOf(row, "arch");
    const std::string kernel = TextOf(row, "kernel");
    rows.push_back({ShortId(TextOf(row, "id")), TextOf(row, "strategy"), TextOf(row, "bottleneck"),
                    arch.empty() ? TextOf(row, "device") : arch, BecameOf(row),
                    CountOf(row, "tried"), TextOf(row, "origin"),
                    kernel.empty() ? TextOf(row, "source") : kernel});
  }
  output.Table(rows);
  if (const double left_out = NumberOf(*document, "left_out"); left_out > 0) {
    output.Line(Count(static_cast<std::size_t>(left_out), "entry is", "entries are") +
                " not shown; cupilot strategies export has all of this machine");
  }
  return kDone;
}

int RunStrategiesShow(const Arguments& arguments, Output& output) {
  const auto entry = AskDaemon(output, "strategies_show", {{"id", arguments.entry}});
  if (!entry) return output.Fail(entry.error());
  output.Document(*entry);
  PrintEntry(*entry, output);
  return kDone;
}

int RunStrategiesExport(const Arguments& arguments, Output& output) {
  const auto exported = ExportPool(arguments, output);
  return exported ? kDone : output.Fail(exported.error());
}

int RunStrategiesImport(const Arguments& arguments, Output& output) {
  const std::string path = base::AbsolutePath(arguments.file, CurrentFolder());
  if (!base::FileExists(path)) {
    return output.Fail(base::InvalidArgument(arguments.file + ": there is no such file"));
  }
  const auto reply = AskDaemon(output, "strategies_import", {{"file", path}});
  if (!reply) return output.Fail(reply.error());
  output.Document(*reply);
  const auto entries = static_cast<std::size_t>(NumberOf(*reply, "entries"));
  const auto imported = static_cast<std::size_t>(NumberOf(*reply, "imported"));
  output.Line(Count(imported, "entry", "entries") + " of " + std::to_string(entries) +
              " imported, as proposals: what they say is measured here before it counts");
  return kDone;
}

}  // namespace cupilot::client
