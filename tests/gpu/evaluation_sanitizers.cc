// Candidates whose results are right and of which one tool of compute-sanitizer alone sees what is
// wrong, asked of one device worker between good ones, whose processes it keeps.
#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "report_row.h"
#include "worker_bench.h"

namespace cupilot::gpu_tests {
namespace {

using records::Json;
using std::chrono::steady_clock;

// What the host device's watched runs would find first.
const std::vector<std::string> kLeftOut = {"schedules", "accesses", "undefined"};
constexpr const char* kCheck = "compute_sanitizer";

struct Bad {
  const char* name;
  const char* tail;  // before the result `x` of thread `i` is stored; changes no result
  const char* reason;
};
const Bad kBad[] = {
    // The next warp's slot is read while that warp may not have written it yet.
    {"shared_race",
     "  __shared__ float slots[256];\n"
     "  slots[threadIdx.x] = 1.0f;\n"
     "  __syncthreads();\n"
     "  slots[threadIdx.x] = x;\n"
     "  if (slots[(threadIdx.x + 32) & 255] == 3.0e38f) x = 0.0f;\n",
     "race"},
    // Behind what is declared, and inside of what the hardware gives a block.
    {"shared_beyond",
     "  __shared__ volatile float slots[252];\n"
     "  slots[threadIdx.x % 252] = 1.0f;\n"
     "  if (slots[(threadIdx.x & 3) + 252] == 3.0e38f) x = 0.0f;\n",
     "out_of_bounds"},
    // Far behind all buffers, where the process first had memory.
    {"memory_beyond", "  if (out[i + (1 << 18)] == 3.0e38f) x = 0.0f;\n", "out_of_bounds"},
};

bool IsSanitizer(pid_t pid) {
  const auto words = base::ReadFile("/proc/" + std::to_string(pid) + "/cmdline");
  return words && words->find("--tool") != std::string::npos &&
         words->find("sanitizer") != std::string::npos;
}

// Of all that `ancestor` has started.
std::set<pid_t> SanitizersOf(pid_t ancestor) {
  const std::map<pid_t, pid_t> parents = Parents();
  std::set<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    pid_t above = parent;
    while (above != ancestor && parents.contains(above)) above = parents.at(above);
    if (above == ancestor && IsSanitizer(pid)) found.insert(pid);
  }
  return found;
}

struct SanitizedAnswer {
  std::string reason;  // "passed" where nothing was found
  std::string check;   // that caught it
  std::string detail;  // of it, or what was noted by it
  double step_seconds = 0;
};

SanitizedAnswer AskSanitized(Worker& device, const protocol::CandidateSet& set) {
  const auto reply = Must(Verify(device, set, "all", kLeftOut), "verify");
  SanitizedAnswer answer{reply.passed ? "passed" : reply.reason, "", reply.detail, 0};
  for (const records::Check& check : reply.checks) {
    if (check.name == kCheck && answer.detail.empty()) answer.detail = check.detail;
  }
  if (const auto step = reply.steps.find(kCheck); step != reply.steps.end()) {
    answer.step_seconds = step->value("seconds", 0.0);
    answer.check = step->value("caught", "");
  }
  return answer;
}

class SanitizerTrials {
 public:
  explicit SanitizerTrials(Bench& bench) : bench_(bench), device_(bench.libexec(), "device") {}

  void Run() {
    Good("sanitized_good_0");
    for (const Bad& bad : kBad) {
      Try(bad);
      Good(std::string("sanitized_good_after_") + bad.name);
    }
  }

 private:
  // Afterwards there are processes that are kept.
  void Good(const std::string& name) {
    Phase(name);
    const SanitizedAnswer answer = AskSanitized(device_, bench_.Candidate(name));
    if (answer.reason != "passed") Die("the good candidate does not pass: " + answer.detail);
  }

  void Try(const Bad& bad) {
    const std::set<pid_t> kept = SanitizersOf(device_.pid());
    Phase(std::string(bad.name) + ": a good one in kept processes");
    const SanitizedAnswer good =
        AskSanitized(device_, bench_.Candidate(std::string("sanitized_before_") + bad.name));
    const std::set<pid_t> still = SanitizersOf(device_.pid());
    Change change;
    change.tail = bad.tail;
    Phase(bad.name);
    const SanitizedAnswer answer =
        AskSanitized(device_, bench_.Candidate(std::string("sanitized_") + bad.name, change));
    const std::set<pid_t> after = SanitizersOf(device_.pid());
    std::string wrong;
    const auto unless = [&wrong](bool holds, const std::string& what) {
      if (!holds) wrong += (wrong.empty() ? "" : "; ") + what;
    };
    unless(!kept.empty(), "processes must be kept");
    unless(good.reason == "passed", "the good one must pass: " + good.detail);
    unless(std::includes(still.begin(), still.end(), kept.begin(), kept.end()),
           "the good one must have been asked in the processes that were kept");
    unless(answer.reason == bad.reason, std::string("the reason must be ") + bad.reason + ", not " +
                                            answer.reason + " (" + answer.detail + ")");
    unless(answer.check == kCheck, std::string("the check must be ") + kCheck);
    unless(!std::includes(after.begin(), after.end(), still.begin(), still.end()),
           "the process that reported something must have ended");
    PrintRow(
        std::string("evaluation.sanitizer.") + bad.name, wrong.empty() ? "passed" : "failed",
        wrong.empty() ? answer.reason + ", said by a process that had found nothing before" : wrong,
        {{"kept_processes", kept.size()},
         {"good_step_s", good.step_seconds},
         {"step_s", answer.step_seconds},
         {"detail", answer.detail.substr(0, 200)}});
  }

  Bench& bench_;
  Worker device_;
};

}  // namespace

void RunSanitizers(Bench& bench) { SanitizerTrials(bench).Run(); }

}  // namespace cupilot::gpu_tests
