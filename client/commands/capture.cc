// Runs the program with a plan of what to record, reads what it left, and gives the daemon the
// workloads that it makes of it.
#include <cxxabi.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "client/child_program.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/ending_signals.h"
#include "client/recording_folder.h"
#include "recording/plan.h"
#include "workloads/captured_cases.h"
#include "workloads/synthetic.h"

namespace cupilot::client {
namespace {

namespace fs = std::filesystem;
using records::Json;

// How long sources that the daemon has yet to read are waited for.
constexpr std::chrono::seconds kScanLimit{120};
constexpr std::chrono::milliseconds kAskAgain{100};
constexpr std::size_t kMostUntagged = 200;

struct Asked {
  records::Kernel kernel;
  bool recorded = true;  // else its tag says what it is run on: its launches are counted only
};

base::Result<std::vector<Asked>> AskForKernels(Output& output, Connection& connection,
                                               const std::string& name) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    TRY_ASSIGN(const Json plan,
               connection.Request("capture_plan", {{"folder", CurrentFolder()}, {"kernel", name}}));
    if (!FlagOf(plan, "complete")) {
      if (std::chrono::steady_clock::now() - begin < kScanLimit) {
        output.Progress("the daemon reads the project's sources");
        std::this_thread::sleep_for(kAskAgain);
        continue;
      }
      output.Warning("not all sources of the project were read yet: kernels may be missing");
    }
    output.EndProgress();
    std::vector<Asked> kernels;
    for (const Json& row : ListOf(plan, "kernels")) {
      auto kernel = records::ParseKernel(row);
      if (!kernel) {
        output.Warning(TextOf(row, "name") + ": is not captured: " + kernel.error().message);
        continue;
      }
      kernels.push_back({std::move(*kernel), !name.empty() || !FlagOf(row, "has_workload")});
    }
    if (kernels.empty() && !name.empty()) {
      return base::Fail(base::NotFound("no tagged kernel '" + name +
                                       "' is known here; `cupilot list` shows those that are"));
    }
    return kernels;  // none: launches are counted, which shows what is worth a tag
  }
}

base::Result<std::vector<workloads::Recording>> ReadRecordings(const RecordingFolder& folder,
                                                               Output& output) {
  std::vector<workloads::Recording> recordings;
  for (const std::string& path : folder.Recordings()) {
    auto recording = workloads::Recording::Read(path);
    if (!recording) {
      // What other processes recorded is as good as before.
      output.Warning(recording.error().message);
      continue;
    }
    if (!recording->whole()) {
      output.Warning("a process ended early: what it recorded until then is used");
    }
    if (recording->left_out() > 0) {
      output.Warning(std::to_string(recording->left_out()) +
                     " launches were not recorded: --max-size allows no more");
    }
    for (const std::string& note : recording->notes()) output.Warning(note);
    // It is open; by its name nobody needs it, and however we end, it is gone.
    std::error_code error;
    fs::remove(path, error);
    recordings.push_back(std::move(*recording));
  }
  return recordings;
}

std::string ProgramName(const std::string& word) { return fs::path(word).filename().string(); }

// What the program did with each kernel, and what could not be captured.
struct Harvest {
  std::vector<workloads::Captured> captured;
  std::vector<std::string> problems;
  Json untagged;
};

std::string Demangled(const std::string& signature) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(signature.c_str(), nullptr, nullptr, &status), &std::free);
  return text != nullptr && status == 0 ? text.get() : signature;
}

// Kernels that the plan does not name, the most time first.
Json UntaggedOf(const std::vector<workloads::Recording>& recordings,
                const std::vector<Asked>& kernels) {
  struct Sum {
    std::uint64_t calls = 0;
    double microseconds = 0;
    std::string device;
  };
  std::map<std::string, Sum> sums;
  for (const workloads::Recording& recording : recordings) {
    for (const auto& [id, counter] : recording.counters()) {
      const workloads::RecordedKernel& kernel = recording.kernels().at(counter.kernel);
      const bool tagged = std::any_of(kernels.begin(), kernels.end(), [&](const Asked& known) {
        return workloads::IsRecordedAs(kernel, known.kernel);
      });
      if (tagged) continue;
      Sum& sum = sums[Demangled(kernel.signature)];
      sum.calls += counter.calls;
      sum.microseconds += counter.TotalMicroseconds();
      sum.device = recording.on_host() ? "host" : "cuda";
    }
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.microseconds > b.second.microseconds;
  });
  if (sorted.size() > kMostUntagged) sorted.resize(kMostUntagged);
  Json list = Json::array();
  for (const auto& [name, sum] : sorted) {
    list.push_back({{"kernel", name},
                    {"calls", sum.calls},
                    {"microseconds", sum.microseconds},
                    {"device", sum.device}});
  }
  return list;
}

// Data that is not to be kept never gets to where captured data is kept.
base::Result<blobs::BlobStore> StoreFor(const Arguments& arguments, const RecordingFolder& folder) {
  if (arguments.synthetic) return blobs::BlobStore(folder.path() + "/contents");
  return blobs::BlobStore::OfUser();
}

base::Result<Harvest> Gather(const std::vector<workloads::Recording>& recordings,
                             const std::vector<Asked>& kernels, const Arguments& arguments,
                             blobs::BlobStore& blobs, const EndingSignals& signals) {
  Harvest harvest;
  const bool host = std::all_of(recordings.begin(), recordings.end(),
                                [](const auto& recording) { return recording.on_host(); });
  // Of one kernel that was asked for alone the others say nothing.
  harvest.untagged = arguments.kernel.empty() ? UntaggedOf(recordings, kernels) : Json();
  std::optional<base::Error> failed;  // the first that is no kernel's own
  for (const auto& [kernel, recorded] : kernels) {
    if (signals.Asked()) return base::Fail(base::Cancelled("it was ended"));
    workloads::CaptureChoice choice;
    choice.counts_only = !recorded;
    choice.fits = !arguments.synthetic;
    auto captured = workloads::CasesOf(recordings, kernel, choice, blobs);
    if (captured && arguments.synthetic) {
      if (const auto made = workloads::MakeSynthetic(*captured, blobs); !made) {
        captured = base::Fail(made.error().In(records::LabelOf(kernel)));
      }
    }
    if (!captured) {
      harvest.problems.push_back(captured.error().message);
      const bool not_there = captured.error().code == base::ErrorCode::kNotFound;
      if (!not_there && !failed) failed = captured.error();
      continue;
    }
    captured->replaces_tag = !arguments.kernel.empty();
    captured->program = ProgramName(arguments.words[0]);
    captured->device = host ? "host" : "cuda";
    captured->date = base::FormatDate(base::SystemClock().WallTime());
    for (const std::string& note : captured->notes) {
      harvest.problems.push_back(captured->kernel + ": " + note);
    }
    harvest.captured.push_back(std::move(*captured));
  }
  if (failed && harvest.captured.empty()) return base::Fail(*failed);
  return harvest;
}

base::Result<> GiveToDaemon(Connection& connection, Harvest& harvest, const std::string& folder) {
  Json list = Json::array();
  for (const workloads::Captured& captured : harvest.captured) {
    list.push_back(workloads::ToJson(captured));
  }
  const std::string file = folder + "/captures.json";
  TRY(base::WriteFileAtomically(file, records::CompactJson(Json{{"schema", "cupilot.captures/1"},
                                                                {"captures", std::move(list)},
                                                                {"untagged", harvest.untagged}})));
  TRY_ASSIGN(const Json added,
             connection.Request("workload_add", {{"file", file}, {"folder", CurrentFolder()}}));
  for (const Json& problem : ListOf(added, "problems")) {
    harvest.problems.push_back(problem.get<std::string>());
  }
  return {};
}

// How the program ended; null: it did not run. `exit_code` is null where a signal ended it.
Json EndingJson(const std::optional<int>& status) {
  if (!status) return nullptr;
  return {{"exit_code", WIFEXITED(*status) ? Json(WEXITSTATUS(*status)) : Json()},
          {"ending", *status == 0 ? "" : base::EndingText(*status)}};
}

void Print(const Harvest& harvest, int status, bool tagless, Output& output) {
  Json document = {{"schema", "cupilot.capture/1"},
                   {"kernels", Json::array()},
                   {"problems", harvest.problems},
                   {"program", EndingJson(status)}};
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "launches", "time", "geometries", "recorded"}};
  bool counted = false;
  for (const workloads::Captured& captured : harvest.captured) {
    document["kernels"].push_back({{"kernel", captured.kernel},
                                   {"calls", captured.Calls()},
                                   {"microseconds", captured.Microseconds()},
                                   {"geometries", captured.launches.size()},
                                   {"cases", captured.cases.size()},
                                   {"device", captured.device}});
    counted = counted || captured.cases.empty();
    rows.push_back({captured.kernel, std::to_string(captured.Calls()),
                    Microseconds(captured.Microseconds()), std::to_string(captured.launches.size()),
                    std::to_string(captured.cases.size())});
  }
  output.Document(document);
  if (rows.size() > 1) output.Table(rows);
  if (tagless) {
    output.Line(
        "no kernel has a tag yet; `cupilot list --untagged` shows which are worth one, the most "
        "time first: write `// cupilot: tune` above it and build");
  }
  for (const std::string& problem : harvest.problems) output.Line(problem);
  if (counted) {
    output.Line(
        "what was not recorded is tuned on the workloads of its tag; --kernel NAME records it");
  }
}

// `ended` gets the program's status as soon as there is one.
base::Result<int> Capture(const Arguments& arguments, Output& output, std::optional<int>& ended) {
  TRY_ASSIGN(Connection connection, Connection::Open(Connection::Start::kOnDemand));
  TRY_ASSIGN(const std::vector<Asked> kernels, AskForKernels(output, connection, arguments.kernel));
  EndingSignals signals;
  TRY_ASSIGN(const RecordingFolder folder, RecordingFolder::Make());
  capture::Plan plan;
  plan.launches = static_cast<std::uint64_t>(arguments.launches);
  plan.max_bytes = arguments.max_bytes;
  for (const Asked& asked : kernels) {
    if (asked.recorded) plan.kernels.push_back(workloads::PlannedOf(asked.kernel));
  }
  TRY_ASSIGN(auto environment, folder.Follow(std::move(plan)));
  // The originals run: theirs are the times, and theirs the results.
  environment["CUPILOT_DISABLE"] = "1";
  TRY_ASSIGN(const int status, RunChildProgram(arguments.words, environment, output.json(), signals,
                                               arguments.working_directory));
  ended = status;
  if (status != 0) output.Warning(arguments.words[0] + " " + base::EndingText(status));
  TRY_ASSIGN(const auto recordings, ReadRecordings(folder, output));
  if (recordings.empty()) {
    return base::Fail(base::NotFound(
        arguments.words[0] +
        ": made no launch that could be seen: it uses no GPU and no host device, or the tools of "
        "the CUDA toolkit that see launches (CUPTI) are missing"));
  }
  TRY_ASSIGN(blobs::BlobStore blobs, StoreFor(arguments, folder));
  TRY_ASSIGN(Harvest harvest, Gather(recordings, kernels, arguments, blobs, signals));
  if (!harvest.captured.empty() || !harvest.untagged.empty())
    TRY(GiveToDaemon(connection, harvest, folder.path()));
  const bool tagless = kernels.empty() && !harvest.untagged.empty();
  Print(harvest, status, tagless, output);
  return (harvest.captured.empty() && !tagless) || status != 0 ? kNo : kDone;
}

}  // namespace

int RunCapture(const Arguments& arguments, Output& output) {
  std::optional<int> ended;
  const auto code = Capture(arguments, output, ended);
  return code ? *code : output.Fail(code.error(), {{"program", EndingJson(ended)}});
}

}  // namespace cupilot::client
