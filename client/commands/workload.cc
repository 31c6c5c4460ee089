#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/paths.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "workloads/captured_cases.h"
#include "workloads/synthetic.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string Three(const Json& numbers) {
  std::string text;
  for (const Json& n : numbers) text += (text.empty() ? "" : "x") + n.dump();
  return text;
}

std::string Rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string PercentOf(double share) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * share);
  return text;
}

// What the contents were like in whose place there is a fill now.
void ShowDistributions(const Json& captured, Output& output) {
  std::vector<std::vector<std::string>> rows = {
      {"case", "of", "kind", "mean", "stddev", "zero", "finite", "from", "to", "sorted"}};
  const Json distributions = ObjectOf(captured, "distributions");
  for (const auto& [name, of_case] : distributions.items()) {
    for (const auto& [argument, one] : of_case.items()) {
      const std::string kind = TextOf(one, "kind");
      if (!one.contains("mean")) {  // nothing is known of their type
        rows.push_back({name, argument, kind});
        continue;
      }
      rows.push_back({name, argument, kind, Rounded(NumberOf(one, "mean")),
                      Rounded(NumberOf(one, "stddev")), PercentOf(NumberOf(one, "zeros")),
                      PercentOf(NumberOf(one, "finite")), TextOf(one, "low"), TextOf(one, "high"),
                      FlagOf(one, "sorted") ? "yes" : "no"});
    }
  }
  if (rows.size() > 1) output.Table(rows);
}

// The contents become files beside the document.
base::Result<> WriteContents(std::optional<records::Fill>& fill, const blobs::BlobStore& blobs,
                             const std::filesystem::path& file) {
  if (!fill || fill->path.rfind(blobs::kBlobScheme, 0) != 0) return {};
  const std::string hash = fill->path.substr(blobs::kBlobScheme.size());
  TRY_ASSIGN(const std::string bytes, blobs.Get(hash));
  fill->path = file.stem().string() + "-" + hash.substr(0, 12) + ".bin";
  return base::WriteFileDurably((file.parent_path() / fill->path).string(), bytes);
}

base::Result<> ExportWorkload(const Arguments& arguments, Output& output) {
  TRY_ASSIGN(const Json document,
             AskDaemon(output, "workload_show", KernelParams(arguments.kernel)));
  TRY_ASSIGN(workloads::Captured captured, workloads::ParseCaptured(document));
  TRY_ASSIGN(blobs::BlobStore blobs, blobs::BlobStore::OfUser());
  const std::filesystem::path file = base::AbsolutePath(arguments.output_file, CurrentFolder());
  if (arguments.with_data) {
    for (records::Case& one : captured.cases) {
      for (records::Argument& argument : one.arguments) {
        TRY(WriteContents(argument.fill, blobs, file));
      }
      for (records::Buffer& buffer : one.buffers) TRY(WriteContents(buffer.fill, blobs, file));
      for (records::Global& global : one.globals) TRY(WriteContents(global.fill, blobs, file));
    }
  } else {
    TRY(workloads::MakeSynthetic(captured, blobs));
  }
  records::Workload workload;
  workload.kernel = captured.kernel;
  workload.cases = captured.cases;
  TRY(base::WriteFileDurably(file.string(), records::PrettyJson(records::ToJson(workload))));
  output.Document({{"schema", "cupilot.workload_exported/1"},
                   {"kernel", captured.kernel},
                   {"file", file.string()},
                   {"cases", captured.cases.size()},
                   {"with_data", arguments.with_data}});
  output.Line("written to " + arguments.output_file +
              (arguments.with_data ? ", with the program's data beside it"
                                   : ", without the program's data (--with-data takes it along)"));
  return {};
}

}  // namespace

int RunWorkloadList(const Arguments&, Output& output) {
  const auto list = AskDaemon(output, "workload_list", {{"folder", CurrentFolder()}});
  if (!list) return output.Fail(list.error());
  output.Document(*list);
  const Json workloads = ListOf(*list, "workloads");
  if (workloads.empty()) {
    output.Line("nothing was captured; run `cupilot capture -- PROGRAM`");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "launches", "time", "geometries", "cases", "data", "program", "date"}};
  for (const Json& row : workloads) {
    rows.push_back({TextOf(row, "kernel"), CountOf(row, "calls"),
                    Microseconds(NumberOf(row, "microseconds")), CountOf(row, "geometries"),
                    CountOf(row, "cases"), FlagOf(row, "synthetic") ? "synthetic" : "recorded",
                    TextOf(row, "program") + " (" + TextOf(row, "device") + ")",
                    TextOf(row, "date")});
  }
  output.Table(rows);
  return kDone;
}

int RunWorkloadShow(const Arguments& arguments, Output& output) {
  const auto captured = AskDaemon(output, "workload_show", KernelParams(arguments.kernel));
  if (!captured) return output.Fail(captured.error());
  output.Document(*captured);
  output.Line(TextOf(*captured, "kernel") + ", captured of " + TextOf(*captured, "program") + " (" +
              TextOf(*captured, "device") + ") on " + TextOf(*captured, "date"));
  std::vector<std::vector<std::string>> rows = {
      {"launches", "grid", "block", "calls", "time", "recorded as"}};
  for (const Json& row : ListOf(*captured, "launches")) {
    std::string cases;
    for (const Json& name : ListOf(row, "cases")) {
      cases += (cases.empty() ? "" : ", ") + name.get<std::string>();
    }
    rows.push_back({TextOf(row, "name"), Three(ListOf(row, "grid")), Three(ListOf(row, "block")),
                    CountOf(row, "calls"), Microseconds(NumberOf(row, "microseconds")),
                    cases.empty() ? "-" : cases});
  }
  output.Table(rows);
  ShowDistributions(*captured, output);
  for (const Json& note : ListOf(*captured, "notes")) output.Line(note.get<std::string>());
  const Json replays = ObjectOf(*captured, "replays");
  for (const auto& [name, row] : replays.items()) {
    workloads::CapturedReplay replay;
    replay.times = static_cast<std::int64_t>(NumberOf(row, "times"));
    replay.reason = TextOf(row, "reason");
    replay.rounding = FlagOf(row, "rounding");
    replay.wanted = static_cast<std::int64_t>(NumberOf(row, "wanted"));
    replay.seconds = NumberOf(row, "seconds");
    output.Line(name +
                (replay.reason.empty() ? ": "
                 : replay.usable()     ? " is not reproducible: "
                                       : " is not used: ") +
                workloads::ReplayText(replay));
  }
  return kDone;
}

int RunWorkloadExport(const Arguments& arguments, Output& output) {
  const auto exported = ExportWorkload(arguments, output);
  return exported ? kDone : output.Fail(exported.error());
}

int RunWorkloadDrop(const Arguments& arguments, Output& output) {
  const auto dropped = AskDaemon(output, "workload_drop", KernelParams(arguments.kernel));
  if (!dropped) return output.Fail(dropped.error());
  output.Document(*dropped);
  output.Line("dropped what was captured of " + TextOf(*dropped, "kernel"));
  return kDone;
}

}  // namespace cupilot::client
