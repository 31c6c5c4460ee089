// evaluation_trials COMMAND LIBEXEC NVCC WORK ...: what the gate and the stopwatch do on a GPU,
// asked of the workers themselves. Prints one JSON object. Needs a GPU, a toolkit and cuPilot's
// libexec folder.
//   trials COUNT SLOWER_COUNT   identical kernels under two names, and one made 3 % slower
//   screening COUNT             checks of a small kernel's candidates, before any is timed
//   faults                      what becomes of a candidate that breaks the device, and of the next
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "protocol/worker_messages.h"
#include "records/json.h"
#include "source/swap/variant_text.h"

extern char** environ;

namespace cupilot {
namespace {

using records::Json;
using std::chrono::steady_clock;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "evaluation_trials: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T Must(base::Result<T> result, const char* what) {
  if (!result) Die(std::string(what) + ": " + result.error().message);
  return std::move(*result);
}

// What is under way: a time limit that ends this leaves it as the last line.
void Phase(const std::string& text) { std::fprintf(stderr, "phase: %s\n", text.c_str()); }

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// One cupilot-worker; a request at a time.
class Worker {
 public:
  Worker(const std::string& libexec, const std::string& kind) {
    // A worker that held another one's input open would keep it from ending.
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) Die("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const std::string program = libexec + "/cupilot-worker";
    std::vector<char*> words = {const_cast<char*>(program.c_str()), const_cast<char*>("--kind"),
                                const_cast<char*>(kind.c_str()), nullptr};
    if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words.data(), environ) != 0) {
      Die("cannot start " + program);
    }
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  base::Result<Json> Call(const std::string& op, const Json& params) {
    const std::string line = Json{{"id", 1}, {"op", op}, {"params", params}}.dump() + "\n";
    std::fputs(line.c_str(), to_);
    std::fflush(to_);
    char* text = nullptr;
    std::size_t size = 0;
    const ssize_t got = ::getline(&text, &size, from_);
    const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
    if (got <= 0) return base::Fail(base::ToolFailed("the worker ended in '" + op + "'"));
    TRY_ASSIGN(const Json reply, records::ParseJson(text));
    if (reply.contains("error")) {
      return base::Fail(base::ToolFailed(reply["error"].value("message", "")));
    }
    return reply["result"];
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

constexpr const char* kSource = R"(
// cupilot: tune
// cupilot: workload all grid=(264) block=(256) n=67584 rounds=9000 in=normal[n] out=[n]
__global__ void spin(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int r = 0; r < rounds; ++r) x = x * 0.999f + 0.001f;
  out[i] = x;
}
)";

// `rounds` and `tail` in place of the original's.
std::string Body(const std::string& name, const std::string& rounds, const std::string& tail) {
  return "__global__ void " + name + "(const float* in, float* out, int n, int rounds) {\n" +
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" +
         "  float x = in[i];\n  for (int r = 0; r < " + rounds +
         "; ++r) x = x * 0.999f + 0.001f;\n" + tail + "  out[i] = x;\n}\n";
}

class Bench {
 public:
  Bench(std::string libexec, const std::string& nvcc, std::string work)
      : libexec_(std::move(libexec)), work_(std::move(work)), builder_(libexec_, "build") {
    (void)base::MakeFolders(work_);
    command_.directory = work_;
    command_.source = work_ + "/spin.cu";
    command_.arguments = {nvcc, "-std=c++17", "-arch=native", "-c", command_.source};
    Must(base::WriteFileIfDifferent(command_.source, kSource), "writing the source");
    protocol::ScanRequest scan;
    scan.command = command_;
    Worker source(libexec_, "source");
    const auto scanned =
        Must(protocol::ParseScanReply(Must(source.Call("scan", protocol::ToJson(scan)), "scan")),
             "scan");
    if (scanned.kernels.size() != 1) Die("the kernel was not found");
    set_.kernel = scanned.kernels[0];
    set_.workload.kernel = set_.kernel.name;
    set_.workload.cases = set_.kernel.cases;
    set_.device = "cuda:0";
    set_.work_folder = work_;
    set_.original_artifact = Build(set_.kernel.closure_source, builder_);
  }

  std::string Build(const std::string& text, Worker& builder) const {
    protocol::BuildRequest request;
    request.device = "cuda:0";
    request.text = text;
    request.command = command_;
    request.cache_folder = work_ + "/cubins";
    const auto reply = Must(
        protocol::ParseBuildReply(Must(builder.Call("build", protocol::ToJson(request)), "build")),
        "build");
    if (reply.failed) Die("does not build: " + reply.log);
    return reply.artifact;
  }

  protocol::CandidateSet Candidate(const std::string& name, const std::string& rounds = "rounds",
                                   const std::string& tail = "") {
    return Candidate(name, rounds, tail, builder_);
  }
  protocol::CandidateSet Candidate(const std::string& name, const std::string& rounds,
                                   const std::string& tail, Worker& builder) const {
    protocol::CandidateSet set = set_;
    const Json json = {{"schema", "cupilot.variant/1"},
                       {"kernel", "spin"},
                       {"source", Body(name, rounds, tail)},
                       {"entry", name}};
    set.variant = Must(records::ParseVariant(json), "variant");
    set.candidate_artifact =
        Build(Must(source::CandidateText(set.kernel, set.variant), "candidate"), builder);
    return set;
  }

  const std::string& libexec() const { return libexec_; }

 private:
  std::string libexec_, work_;
  records::CompileCommand command_;
  protocol::CandidateSet set_;
  Worker builder_;
};

protocol::MeasureReply Measure(Worker& device, const protocol::CandidateSet& set, bool confirm) {
  protocol::MeasureRequest request;
  request.set = set;
  request.max_seconds = 0.5;
  request.probe_limit = 10;
  request.confirm = confirm;
  return Must(protocol::ParseMeasureReply(
                  Must(device.Call("measure", protocol::ToJson(request)), "measure")),
              "measure");
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
    const auto reply = Measure(*device, set, false);
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

Json RunTrials(Bench& bench, int count, int slower) {
  return {{"identical", Trials(bench, bench.Candidate("spin_same"), count)},
          {"slower", Trials(bench, bench.Candidate("spin_slow", "rounds * 103 / 100"), slower)}};
}

protocol::VerifyReply Verify(Worker& device, const protocol::CandidateSet& set) {
  return Must(protocol::ParseVerifyReply(Must(
                  device.Call("verify", protocol::ToJson(protocol::VerifyRequest{set})), "verify")),
              "verify");
}

// Builds in a pool while one process checks what is built.
Json Screening(Bench& bench, int count) {
  // Each builder loads a compiler of its own first, which takes seconds.
  constexpr unsigned kMostBuilders = 4;
  Phase("the first candidate is built");
  Worker device(bench.libexec(), "device");
  const auto candidate = bench.Candidate("spin_first");
  Phase("the first candidate is checked");
  const auto first = Verify(device, candidate);
  if (!first.passed) Die("the first candidate does not pass: " + first.detail);
  const unsigned pool = std::clamp(std::thread::hardware_concurrency() / 2, 2u, kMostBuilders);
  std::vector<protocol::CandidateSet> sets(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Worker>> builders;
  for (unsigned i = 0; i < pool; ++i) {
    Phase("builder " + std::to_string(i + 1) + " of " + std::to_string(pool) + " starts");
    builders.push_back(std::make_unique<Worker>(bench.libexec(), "build"));
    bench.Candidate("warm_" + std::to_string(i), "rounds", "", *builders.back());
  }
  Phase(std::to_string(count) + " candidates are built");
  const auto begin = steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < pool; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t k = i; k < sets.size(); k += pool) {
        sets[k] = bench.Candidate("spin_" + std::to_string(k), "rounds", "", *builders[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double building = SecondsSince(begin);
  Phase(std::to_string(count) + " candidates are checked");
  const auto checking = steady_clock::now();
  int passed = 0;
  for (const auto& set : sets) passed += Verify(device, set).passed;
  const double checked = SecondsSince(checking);
  return {{"candidates", count},
          {"passed", passed},
          {"builders", pool},
          {"built_a_second", count / building},
          {"checked_a_second", count / checked},
          {"a_second", count / std::max(building, checked)}};
}

// The reason of a candidate that breaks something, and how long the one after it takes.
Json Faults(Bench& bench) {
  struct Row {
    const char* name;
    const char* tail;
    const char* reason;
  };
  const Row rows[] = {
      {"illegal_address", "  if (i == 7) *(volatile float*)(size_t)16 = x;\n", "crashed"},
      {"misaligned", "  if (i == 7) *(volatile float*)((char*)out + 2) = x;\n", "crashed"},
      {"trap", "  if (i == 7) __trap();\n", "crashed"},
      // Both reads are made each time and always agree: no compiler may know that they do.
      {"endless",
       "  volatile const int* word = (volatile const int*)in;\n"
       "  while (word[i] == word[i]) {}\n",
       "timed_out"},
      {"beyond_its_buffer", "  if (i == 7) out[n + 3] = x;\n", "out_of_bounds"},
      {"input_changed", "  if (i == 7) const_cast<float*>(in)[3] = x;\n", "modified_input"},
      {"out_of_resources",
       "  float many[60000]; for (int k = 0; k < 60000; ++k) many[k] = x + k;\n"
       "  x = many[(unsigned)i % 60000u] - ((unsigned)i % 60000u);\n",
       ""},
  };
  Worker device(bench.libexec(), "device");
  const auto good = bench.Candidate("spin_good");
  if (!Verify(device, good).passed) Die("the good candidate does not pass");
  Json json = Json::array();
  for (const Row& row : rows) {
    const auto begin = steady_clock::now();
    const auto bad =
        Verify(device, bench.Candidate(std::string("spin_") + row.name, "rounds", row.tail));
    const double took = SecondsSince(begin);
    const auto again = steady_clock::now();
    const bool goes_on = Verify(device, good).passed;
    json.push_back({{"fault", row.name},
                    {"reason", bad.passed ? "passed" : bad.reason},
                    {"detail", bad.detail.substr(0, 160)},
                    {"as_expected", *row.reason == '\0' || bad.reason == row.reason},
                    {"took_s", took},
                    {"next_passes", goes_on},
                    {"next_took_s", SecondsSince(again)}});
  }
  return json;
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) {
  using namespace cupilot;
  if (argc < 5) {
    std::fprintf(stderr,
                 "usage: evaluation_trials trials|screening|faults LIBEXEC NVCC WORK [COUNT "
                 "[SLOWER]]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const std::string command = argv[1];
  Bench bench(argv[2], argv[3], argv[4]);
  const int count = argc > 5 ? std::atoi(argv[5]) : 100;
  records::Json json;
  if (command == "trials") {
    json = RunTrials(bench, count, argc > 6 ? std::atoi(argv[6]) : count / 5);
  } else if (command == "screening") {
    json = Screening(bench, count);
  } else {
    json = Faults(bench);
  }
  std::printf("%s\n", json.dump().c_str());
  return 0;
}
