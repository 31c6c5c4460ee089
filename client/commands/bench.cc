#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "client/bench/program_bench.h"
#include "client/bench/timed_run.h"
#include "client/commands/ask.h"
#include "client/commands/bench_text.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/program_variants.h"
#include "client/quiet_daemon.h"
#include "protocol/demotion.h"

namespace cupilot::client {
namespace {

using records::Json;

BenchLimits LimitsOf(const BenchArguments& arguments) {
  BenchLimits limits;
  limits.most_pairs = static_cast<std::size_t>(arguments.pairs);
  limits.seconds = arguments.seconds;
  limits.warmup = static_cast<int>(arguments.warmup);
  return limits;
}

// What the file itself holds; none of a script, or of a program whose kernels are in a library.
Json VariantsIn(const std::string& file) {
  return VariantsOfProgram(file).value_or(Json(Json::array()));
}

// Why nothing tuned ran, and what to look at.
std::string Advice(const BenchReport& report, const std::string& file) {
  if (!report.bench.kernels.empty()) {
    return "no launch ran a variant: all of them were outside of the guards, or captured into "
           "graphs (`cupilot inspect " +
           ShownPath(file) + "` shows the variants)";
  }
  if (!VariantsIn(file).empty()) {
    return "no kernel that has variants was launched, or the program left no counts: it does when "
           "it returns from main or calls exit(), unless an older cuPilot built it (`cupilot "
           "inspect " +
           ShownPath(file) + "` shows the variants)";
  }
  return "no tuned kernel ran: `cupilot inspect " + ShownPath(file) +
         "` says whether it holds any, `cupilot list` what is tuned and published; the next build "
         "takes what is published";
}

protocol::Demotion DemotionFor(const Suspect& suspect, const std::string& program,
                               const std::string& file) {
  protocol::Demotion demotion;
  demotion.kernel = suspect.kernel;
  demotion.program = program;
  demotion.folder = CurrentFolder();
  for (const Json& variant : VariantsIn(file)) {
    // The kernels of one program are of the project that built it, wherever the user stands.
    demotion.folder = std::filesystem::path(file).parent_path().string();
    if (TextOf(variant, "kernel") == suspect.kernel) {
      demotion.variants.push_back(TextOf(variant, "id"));
    }
  }
  demotion.in_kernels = suspect.in_kernels;
  // The suspect's ratio says what is gained without the variant.
  demotion.speedup = 1 / suspect.ratio->ratio;
  demotion.low = 1 / suspect.ratio->high;
  demotion.high = 1 / suspect.ratio->low;
  for (const auto& [with, without] : suspect.pairs) demotion.pairs.emplace_back(without, with);
  return demotion;
}

// A daemon that is only now started would know no kernel yet: it is not.
base::Result<Json> AskToDemote(const protocol::Demotion& demotion) {
  TRY_ASSIGN(Connection connection, Connection::Open(Connection::Start::kNever));
  return connection.Request("demote", protocol::ToJson(demotion));
}

DemotedKernel Demote(const Suspect& suspect, const std::string& program, const std::string& file) {
  DemotedKernel demoted;
  demoted.kernel = suspect.kernel;
  const auto reply = AskToDemote(DemotionFor(suspect, program, file));
  if (!reply) {
    demoted.message = "not done: " + reply.error().message;
    return demoted;
  }
  demoted.done = true;
  demoted.variants = ListOf(*reply, "variants");
  demoted.message = TextOf(*reply, "message");
  return demoted;
}

}  // namespace

int RunBench(const Arguments& arguments, Output& output) {
  BenchReport report;
  report.words = arguments.bench.words;
  const std::string file = ProgramFile(report.words[0]);
  std::optional<QuietDaemon> quiet(std::in_place);
  auto bench = BenchProgram(
      [&](const Variation& variation) {
        quiet->Renew();
        return RunTimed(report.words, variation);
      },
      LimitsOf(arguments.bench), [&](const std::string& what) { output.Progress(what); });
  quiet.reset();
  output.EndProgress();
  if (!bench) return output.Fail(bench.error().In(report.words[0]));
  report.bench = std::move(*bench);
  if (!report.bench.ratio) report.advice = Advice(report, file.empty() ? report.words[0] : file);
  for (const Suspect& suspect : report.bench.suspects) {
    if (!suspect.loses()) continue;
    if (arguments.bench.keep) {
      report.demoted.push_back({suspect.kernel, false, Json::array(), "not done: --no-demote"});
    } else {
      report.demoted.push_back(Demote(suspect, report.words[0], file));
    }
  }
  output.Document(ToJson(report));
  PrintBench(report, output);
  const ProgramVerdict verdict = report.bench.verdict;
  return verdict == ProgramVerdict::kFaster || verdict == ProgramVerdict::kNoDifference ? kDone
                                                                                        : kNo;
}

}  // namespace cupilot::client
