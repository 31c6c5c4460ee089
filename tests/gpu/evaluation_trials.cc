// evaluation_trials COMMAND LIBEXEC NVCC WORK ...: what the gate and the stopwatch do on a GPU,
// asked of the workers themselves. Prints one JSON object, or rows (report_row.h). Needs a GPU, a
// toolkit and cuPilot's libexec folder.
//   trials COUNT SLOWER_COUNT   identical kernels under two names, and one made 3 % slower
//   screening COUNT             checks of a small kernel's candidates, before any is timed
//   finalist                    how long a candidate takes that may be the best
//   profile                     what bounds a kernel, and by which evidence
//   faults                      what becomes of candidates that break the device, each a row, and
//                               of the one after each of them
//   sanitizers                  whether compute-sanitizer's tools refuse what they should, each a
//                               row, in processes that have run good candidates before
//   objects                     kernels in objects beside the code that is tuned, each a row
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "worker_bench.h"

namespace cupilot::gpu_tests {
namespace {

using records::Json;
using std::chrono::steady_clock;

protocol::MeasureReply Ask(Worker& device, const protocol::MeasureRequest& request) {
  return Must(protocol::ParseMeasureReply(
                  Must(device.Call("measure", protocol::ToJson(request)), "measure")),
              "measure");
}

protocol::MeasureReply Measure(Worker& device, const protocol::CandidateSet& set) {
  protocol::MeasureRequest request;
  request.set = set;
  request.max_seconds = 0.5;
  request.probe_limit = 10;
  return Ask(device, request);
}

// Whether an interval lies on one side of 1 by so much.
bool Differs(const protocol::MeasureReply& reply, double margin) {
  if (reply.cases.empty()) Die("a measurement without a result: " + reply.detail);
  const auto& interval = reply.cases[0].interval;
  return interval[0] > 1 + margin || interval[1] < 1 - margin;
}

// Calls at margins of 0, 1 and 2 %; processes and allocations change every so many trials.
Json Trials(Bench& bench, const protocol::CandidateSet& set, int count) {
  constexpr int kOfOneProcess = 100;
  int calls[3] = {0, 0, 0};
  double sum = 0, width = 0;
  std::unique_ptr<Worker> device;
  const auto begin = steady_clock::now();
  for (int i = 0; i < count; ++i) {
    if (i % kOfOneProcess == 0) {
      device.reset();
      device = std::make_unique<Worker>(bench.libexec(), "device");
    }
    const auto reply = Measure(*device, set);
    for (int m = 0; m < 3; ++m) calls[m] += Differs(reply, 0.01 * m);
    sum += reply.cases[0].speedup;
    width += reply.cases[0].interval[1] - reply.cases[0].interval[0];
  }
  return {{"trials", count},
          {"called_different", calls[1]},
          {"called_at_no_margin", calls[0]},
          {"called_at_two_percent", calls[2]},
          {"mean_ratio", sum / count},
          {"mean_width", width / count},
          {"seconds", SecondsSince(begin)}};
}

// So much more of the same work, and the original's results: a value that no thread has is asked
// for.
constexpr const char* kThreePercent =
    "  float y = x;\n"
    "  for (int r = 0; r < rounds * 3 / 100; ++r) y = y * 0.999f + 0.001f;\n"
    "  if (y == 3.0e38f) x = y;\n";

Json RunTrials(Bench& bench, int count, int slower) {
  return {{"identical", Trials(bench, bench.Candidate("spin_same"), count)},
          {"slower",
           Trials(bench, bench.Candidate("spin_slow", {"rounds", kThreePercent, Json::object()}),
                  slower)}};
}

// Builds in a pool while one process checks what is built.
Json Screening(Bench& bench, int count) {
  // Each builder loads a compiler of its own first, which takes seconds.
  constexpr unsigned kMostBuilders = 4;
  Phase("the first candidate is built");
  Worker device(bench.libexec(), "device");
  const auto candidate = bench.Candidate("spin_first");
  Phase("the first candidate is checked");
  const auto first = Must(Verify(device, candidate), "verify");
  if (!first.passed) Die("the first candidate does not pass: " + first.detail);
  const unsigned pool = std::clamp(std::thread::hardware_concurrency() / 2, 2u, kMostBuilders);
  std::vector<protocol::CandidateSet> sets(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Worker>> builders;
  for (unsigned i = 0; i < pool; ++i) {
    Phase("builder " + std::to_string(i + 1) + " of " + std::to_string(pool) + " starts");
    builders.push_back(std::make_unique<Worker>(bench.libexec(), "build"));
    bench.Candidate("warm_" + std::to_string(i), {}, *builders.back());
  }
  Phase(std::to_string(count) + " candidates are built");
  const auto begin = steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < pool; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t k = i; k < sets.size(); k += pool) {
        sets[k] = bench.Candidate("spin_" + std::to_string(k), {}, *builders[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double building = SecondsSince(begin);
  Phase(std::to_string(count) + " candidates are checked");
  const auto checking = steady_clock::now();
  int passed = 0;
  for (const auto& set : sets) passed += Must(Verify(device, set), "verify").passed;
  const double checked = SecondsSince(checking);
  return {{"candidates", count},
          {"passed", passed},
          {"builders", pool},
          {"built_a_second", count / building},
          {"checked_a_second", count / checked},
          {"a_second", count / std::max(building, checked)}};
}

// Checked, measured and confirmed in a second process, as one that may be the best is.
Json Finalist(Bench& bench) {
  Worker device(bench.libexec(), "device");
  const auto set = bench.Candidate("spin_finalist");
  protocol::MeasureRequest request;
  request.set = set;
  request.confirm = true;
  const auto begin = steady_clock::now();
  const auto verified = Must(Verify(device, set, "all"), "verify");
  const auto measured = Ask(device, request);
  const double seconds = SecondsSince(begin);
  if (measured.cases.empty()) Die("a measurement without a result: " + measured.detail);
  const double original = measured.cases[0].original_us / 1e6;
  return {{"seconds", seconds},
          {"original_seconds", original},
          {"most_seconds", 10 + 40 * original},
          {"verdict", verified.passed ? "passed" : verified.reason}};
}

Json Profile(Bench& bench, const std::string& nvcc) {
  Worker device(bench.libexec(), "device");
  protocol::ProfileRequest request;
  request.set = bench.Candidate("spin_profiled");
  request.cases = Measure(device, request.set).cases;
  request.compiler = nvcc;
  return Must(device.Call("profile", protocol::ToJson(request)), "profile");
}

}  // namespace
}  // namespace cupilot::gpu_tests

int main(int argc, char** argv) {
  using namespace cupilot;
  using namespace cupilot::gpu_tests;
  if (argc < 5) {
    std::fprintf(
        stderr,
        "usage: evaluation_trials trials|screening|finalist|profile|faults|sanitizers|objects "
        "LIBEXEC NVCC WORK [COUNT [SLOWER]]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const std::string command = argv[1];
  Bench bench(argv[2], argv[3], argv[4]);
  const int count = argc > 5 ? std::atoi(argv[5]) : 100;
  records::Json json;
  if (command == "faults") {
    RunFaults(bench);
    return 0;
  }
  if (command == "sanitizers") {
    RunSanitizers(bench);
    return 0;
  }
  if (command == "objects") {
    RunObjects(bench);
    return 0;
  }
  if (command == "trials") {
    json = RunTrials(bench, count, argc > 6 ? std::atoi(argv[6]) : count / 5);
  } else if (command == "finalist") {
    json = Finalist(bench);
  } else if (command == "profile") {
    json = Profile(bench, argv[3]);
  } else {
    json = Screening(bench, count);
  }
  std::printf("%s\n", json.dump().c_str());
  return 0;
}
