// Candidates that break the device, one after another on one device worker, and a good one after
// each of them.
#include <signal.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "report_row.h"
#include "worker_bench.h"

namespace cupilot::gpu_tests {
namespace {

using records::Json;
using std::chrono::steady_clock;

// The next candidate's whole answer must come so soon after the failed one: with it the process
// that replaces a broken one has started, made its context, loaded the code and run it.
constexpr double kReplacedWithin = 1.0;

// Both reads are made each time and always agree: no compiler may know that they do.
constexpr const char* kForEver =
    "  volatile const int* word = (volatile const int*)in;\n"
    "  while (word[i] == word[i]) {}\n";
constexpr std::chrono::milliseconds kUnderWay{700};  // after so long it runs; its limit is 2 s

struct Fault {
  const char* name;
  Change change;
  const char* reason;  // of the verdict
  const char* detail;  // what the answer names
  bool ends_runner;    // its process is of no further use
};

// More values at once than a block of 1024 threads has registers for: all are read before a
// barrier, and needed with one that is read behind it.
Change ManyRegisters(const std::string& entry) {
  constexpr int kValues = 120;
  Change change;
  std::string sum;
  change.tail = "  const volatile float* now = in;\n";
  for (int k = 0; k < kValues; ++k) {
    const std::string name = "m" + std::to_string(k);
    change.tail += "  float " + name + " = now[(i + " + std::to_string(97 * (k + 1)) + ") % n];\n";
    sum += "  x = x * last + " + name + ";\n";
  }
  change.tail += "  __syncthreads();\n  const float last = now[i];\n" + sum;
  change.more = {{"launches",
                  {{{"entry", entry}, {"grid", {"66", "1", "1"}}, {"block", {"1024", "1", "1"}}}}}};
  return change;
}

// Workspaces that no GPU of `memory` bytes has room for.
Change MoreMemoryThan(std::int64_t memory) {
  constexpr std::int64_t kEach = std::int64_t{1} << 34;
  Change change;
  change.more["workspace"] = Json::array();
  for (std::int64_t k = 0; k <= memory / kEach; ++k) {
    change.more["workspace"].push_back({{"name", "space" + std::to_string(k)},
                                        {"bytes", std::to_string(kEach)},
                                        {"zeroed", false}});
  }
  return change;
}

Change Tail(const char* text) {
  Change change;
  change.tail = text;
  return change;
}

std::vector<Fault> AllFaults(std::int64_t memory) {
  return {
      {"illegal_address", Tail("  if (i == 7) *(volatile float*)(size_t)16 = x;\n"), "crashed",
       "CUDA_ERROR_ILLEGAL_ADDRESS", true},
      {"misaligned_access", Tail("  if (i == 7) *(volatile float*)((char*)out + 2) = x;\n"),
       "crashed", "CUDA_ERROR_MISALIGNED_ADDRESS", true},
      {"device_assert", Tail("  assert(i != 7);\n"), "crashed", "CUDA_ERROR_ASSERT", true},
      {"trap", Tail("  if (i == 7) __trap();\n"), "crashed", "CUDA_ERROR_LAUNCH_FAILED", true},
      {"launch_out_of_resources", ManyRegisters("spin_launch_out_of_resources"), "invalid_launch",
       "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", false},
      {"out_of_memory", MoreMemoryThan(memory), "invalid_launch", "possible on this device", false},
      {"endless_kernel", Tail(kForEver), "timed_out", "was killed", true},
      {"beyond_its_buffer", Tail("  if (i == 7) out[n + 3] = x;\n"), "out_of_bounds", "", false},
      {"input_changed", Tail("  if (i == 7) const_cast<float*>(in)[3] = x;\n"), "modified_input",
       "", false},
  };
}

struct Answer {
  std::string reason = "passed";
  std::string detail;
};
Answer Ask(Worker& device, const protocol::CandidateSet& set) {
  const auto reply = Verify(device, set);
  if (!reply) return {std::string(base::Name(reply.error().code)), reply.error().message};
  return {reply->passed ? "passed" : reply->reason, reply->detail};
}

// Of `all`, those that are not in `known`.
std::set<pid_t> Without(const std::set<pid_t>& all, const std::set<pid_t>& known) {
  std::set<pid_t> rest;
  std::set_difference(all.begin(), all.end(), known.begin(), known.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

class FaultTrials {
 public:
  explicit FaultTrials(Bench& bench)
      : bench_(bench),
        device_(std::make_unique<Worker>(bench.libexec(), "device")),
        good_(bench.Candidate("spin_good")) {}

  void Run() {
    const Json description =
        Must(device_->Call("describe_device", {{"device", "cuda:0"}}), "describe_device");
    Phase("the good candidate is checked");
    const Answer first = Ask(*device_, good_);
    if (first.reason != "passed") Die("the good candidate does not pass: " + first.detail);
    for (const Fault& fault : AllFaults(description.value("memory_bytes", std::int64_t{0}))) {
      Phase(fault.name);
      const auto candidate = bench_.Candidate(std::string("spin_") + fault.name, fault.change);
      Try(fault, [&] { return Ask(*device_, candidate); });
    }
    KillRunner();
    KillDeviceWorker();
  }

 private:
  template <class Failing>
  void Try(const Fault& fault, Failing&& failing) {
    const std::set<pid_t> before = ChildrenOf(device_->pid());
    const auto begin = steady_clock::now();
    const Answer bad = failing();
    const double took = SecondsSince(begin);
    const auto answered = steady_clock::now();
    const std::set<pid_t> left = ChildrenOf(device_->pid());
    const Answer next = Ask(*device_, good_);
    const double next_took = SecondsSince(answered);
    const std::set<pid_t> after = ChildrenOf(device_->pid());
    const bool ended = !Without(before, left).empty(), replaced = !Without(after, before).empty();
    if (ended && Without(after, left).size() == 1) runner_ = *Without(after, left).begin();

    std::string wrong;
    const auto unless = [&wrong](bool holds, const std::string& what) {
      if (!holds) wrong += (wrong.empty() ? "" : "; ") + what;
    };
    unless(bad.reason == fault.reason, std::string("the reason must be ") + fault.reason);
    unless(bad.detail.find(fault.detail) != std::string::npos,
           std::string("the answer must name ") + fault.detail);
    unless(!fault.ends_runner || (ended && replaced), "its process must have been replaced");
    unless(next.reason == "passed", "the next candidate must pass: " + next.detail);
    unless(next_took <= kReplacedWithin, "the next answer must come within a second");
    Print(fault.name, wrong,
          {{"reason", bad.reason},
           {"detail", bad.detail.substr(0, 160)},
           {"took_s", took},
           {"runner_replaced", ended && replaced},
           {"next", next.reason},
           {"next_answer_after_s", next_took}});
  }

  // By somebody else, while its candidate runs.
  void KillRunner() {
    Phase("killed_from_outside");
    const auto candidate = bench_.Candidate("spin_long", Tail(kForEver));
    const Fault fault = {"killed_from_outside", {}, "crashed", "Killed", true};
    if (!ChildrenOf(device_->pid()).contains(runner_)) {
      return PrintRow("evaluation.fault.killed_from_outside", "failed",
                      "it is not known which process runs candidates");
    }
    Try(fault, [&] {
      auto answer = std::async(std::launch::async, [&] { return Ask(*device_, candidate); });
      std::this_thread::sleep_for(kUnderWay);
      ::kill(runner_, SIGKILL);  // a child of our child: its number is its own until then
      return answer.get();
    });
  }

  // The process that this program started itself; what it left behind ends as the daemon ends it.
  void KillDeviceWorker() {
    Phase("device_worker_killed");
    const auto candidate = bench_.Candidate("spin_long", Tail(kForEver));
    auto answer = std::async(std::launch::async, [&] { return Ask(*device_, candidate); });
    std::this_thread::sleep_for(kUnderWay);
    ::kill(device_->pid(), SIGKILL);
    const Answer bad = answer.get();
    const auto answered = steady_clock::now();
    device_ = std::make_unique<Worker>(bench_.libexec(), "device");
    const auto described = device_->Call("describe_device", {{"device", "cuda:0"}});
    const double first = SecondsSince(answered);
    const Answer next = Ask(*device_, good_);
    const double next_took = SecondsSince(answered);
    std::string wrong;
    if (bad.reason != "tool_failed") wrong = "the worker must have ended";
    if (!described) wrong = "the new one does not answer: " + described.error().message;
    if (next.reason != "passed") wrong = "the next candidate must pass: " + next.detail;
    if (first > kReplacedWithin) wrong = "the new one's first answer must come within a second";
    Print("device_worker_killed", wrong,
          {{"reason", bad.reason},
           {"detail", bad.detail},
           {"first_answer_after_s", first},
           {"next", next.reason},
           {"next_answer_after_s", next_took}});
  }

  static void Print(const std::string& name, const std::string& wrong, const Json& figures) {
    const double after = figures.contains("first_answer_after_s")
                             ? figures["first_answer_after_s"].get<double>()
                             : figures["next_answer_after_s"].get<double>();
    char said[96];
    std::snprintf(said, sizeof said, "%s; answered again %.3f s after that",
                  figures["reason"].get<std::string>().c_str(), after);
    PrintRow("evaluation.fault." + name, wrong.empty() ? "passed" : "failed",
             wrong.empty() ? said : wrong, figures);
  }

  Bench& bench_;
  std::unique_ptr<Worker> device_;
  const protocol::CandidateSet good_;
  pid_t runner_ = -1;  // the newest one of candidates
};

}  // namespace

void RunFaults(Bench& bench) { FaultTrials(bench).Run(); }

}  // namespace cupilot::gpu_tests
