// idle_trials CUPILOT LIBEXEC NVCC ARCH FOREIGN [PATIENCE]: the idle policy on a GPU. Writes
// settings and a project into the XDG folders and the current one, starts the daemon, and lets
// FOREIGN (idle/foreign.cu) come and go. Prints rows (report_row.h). The daemon stays: whoever
// called stops it.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "child_program.h"
#include "report_row.h"
#include "worker_bench.h"

namespace cupilot::gpu_tests {
namespace {

using records::Json;
using std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kQuiet = 2, kPause = 3;  // the settings
constexpr double kStopsWithin = 1;        // section 12
// While a GPU is not free it is looked at every two seconds. Then a candidate may have to be made
// first.
constexpr double kLookedAtEvery = 2, kStartsWithin = 12;

// FOREIGN, and when it had its context and began.
struct Foreign {
  std::unique_ptr<Process> process;
  steady_clock::time_point context, begin;
  std::string problem;
};
Foreign StartForeign(const std::string& program, std::vector<std::string> words, bool begins) {
  constexpr double kLimit = 20;
  words.insert(words.begin(), program);
  Foreign foreign{std::make_unique<Process>(words), {}, {}, ""};
  const auto read = [&foreign](const char* what, steady_clock::time_point& out) {
    const std::string line = foreign.process->Line(kLimit).value_or("nothing");
    if (line.rfind(what, 0) != 0) {
      foreign.problem = "the other process said '" + line + "'";
      return;
    }
    out = steady_clock::time_point(
        std::chrono::nanoseconds(std::atoll(line.c_str() + std::string(what).size())));
  };
  read("context ", foreign.context);
  if (begins && foreign.problem.empty()) read("begin ", foreign.begin);
  return foreign;
}

// Four kernels with 35 values of tunables each: more than there is time for.
std::string SourceText() {
  std::string text =
      "#ifndef STEPS\n#define STEPS 1\n#endif\n#ifndef BLOCK\n#define BLOCK 256\n#endif\n";
  for (int k = 0; k < 4; ++k) {
    const std::string number = std::to_string(k);
    text +=
        "// cupilot: tune\n"
        "// cupilot: workload all grid=(1056) block=(256) n=270336 rounds=160000 "
        "in=normal[n] out=[n]\n"
        "// cupilot: tunable STEPS = 1, 2, 4, 8, 16\n"
        "// cupilot: tunable BLOCK = 32, 64, 96, 128, 256, 512, 1024\n"
        "// cupilot: launch block=BLOCK grid=ceil_div(n,BLOCK)\n"
        "__global__ void chain" +
        number +
        "(const float* in, float* out, int n, int rounds) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i >= n) return;\n"
        "  float x = in[i];\n"
        "  for (int r = 0; r < rounds; r += STEPS) {\n"
        "    for (int s = 0; s < STEPS; ++s) x = x * 0.9" +
        number +
        "f + 0.001f;\n"
        "  }\n"
        "  out[i] = x;\n"
        "}\n";
  }
  return text + "int main() {}\n";
}

std::string FolderOf(const char* variable) {
  const char* folder = std::getenv(variable);
  if (folder == nullptr || *folder == '\0') Die(std::string(variable) + " is not set");
  return std::string(folder) + "/cupilot";
}

void Write(const std::string& path, const std::string& text) {
  Must(base::WriteFileIfDifferent(path, text), path.c_str());
}

// As module and launcher leave it behind.
void WriteProject(const std::string& folder, const std::string& nvcc, const std::string& arch) {
  const std::string source = folder + "/source/main.cu", build = folder + "/build";
  const std::string ours = build + "/cupilot/app/main.cu.o";
  Write(source, SourceText());
  Write(build + "/cupilot/project.json", Json{{"schema", "cupilot.project/1"},
                                              {"source_folder", folder + "/source"},
                                              {"build_folder", build},
                                              {"targets", {{{"name", "app"}}}}}
                                             .dump());
  records::CompileCommand command;
  command.directory = build;
  command.source = source;
  command.object = build + "/main.cu.o";
  command.arguments = {nvcc, "-std=c++17", "-O3", "-arch=sm_" + arch,
                       "-c", source,       "-o",  command.object};
  command.folder = ours;
  Write(ours + "/command.json", records::ToJson(command).dump());
  Write(ours + "/stamp.h", "\n");
  Write(FolderOf("XDG_STATE_HOME") + "/projects/idle.json",
        Json{{"schema", "cupilot.registration/1"}, {"build_folder", build}}.dump());
  Write(FolderOf("XDG_CONFIG_HOME") + "/config.json", Json{{"gpu_quiet_seconds", kQuiet},
                                                           {"gpu_pause_seconds", kPause},
                                                           {"nice", 0},
                                                           {"parallel", 1}}
                                                          .dump());
}

// What `cupilot status` says, asked again and again.
class StatusWatch {
 public:
  explicit StatusWatch(std::string client)
      : client_(std::move(client)), thread_([this] { Run(); }) {}
  StatusWatch(const StatusWatch&) = delete;
  StatusWatch& operator=(const StatusWatch&) = delete;
  ~StatusWatch() {
    ends_ = true;
    thread_.join();
  }

  Json last() {
    const std::lock_guard guard(mutex_);
    return last_;
  }
  // States of the GPU since `begin`, with the seconds after which each was seen first.
  std::map<std::string, double> Since(steady_clock::time_point begin) {
    const std::lock_guard guard(mutex_);
    std::map<std::string, double> seen;
    for (const auto& [time, state] : states_) {
      if (time >= begin) seen.emplace(state, Seconds(time - begin).count());
    }
    return seen;
  }
  static Json GpuOf(const Json& status) {
    for (const Json& device : status.value("devices", Json::array())) {
      if (device.value("device", "") == "cuda:0") return device;
    }
    return Json::object();
  }

 private:
  void Run() {
    constexpr std::chrono::milliseconds kBetween{50};
    while (!ends_) {
      const auto asked = steady_clock::now();
      const Ran ran = RunToEnd({client_, "status", "--json"});
      auto json = records::ParseJson(ran.output);
      if (ran.code == 0 && json && json->is_object()) {
        const std::lock_guard guard(mutex_);
        states_.emplace_back(asked, GpuOf(*json).value("state", ""));
        states_.emplace_back(asked, json->value("idle_reason", ""));
        last_ = std::move(*json);
      }
      std::this_thread::sleep_for(kBetween);
    }
  }

  const std::string client_;
  std::mutex mutex_;
  Json last_ = Json::object();
  std::vector<std::pair<steady_clock::time_point, std::string>> states_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

class IdleTrials {
 public:
  IdleTrials(std::string client, std::string libexec, std::string foreign, double patience)
      : client_(std::move(client)),
        libexec_(std::move(libexec)),
        foreign_(std::move(foreign)),
        patience_(patience),
        began_(steady_clock::now()) {}

  void Run(const std::string& nvcc, const std::string& arch) {
    Phase("an idle context is made");
    // Longer than all of this takes.
    Foreign idle = StartForeign(foreign_, {"hold", "600"}, false);
    if (!idle.problem.empty()) Die(idle.problem);
    LookAround(idle.process->pid());
    WriteProject((std::filesystem::current_path() / "project").string(), nvcc, arch);
    Phase("the daemon starts");
    const Ran started = RunToEnd({client_, "daemon", "start", "--json"});
    const auto json = records::ParseJson(started.output);
    if (started.code != 0 || !json) Die("the daemon does not start: " + started.output);
    daemon_ = json->value("pid", 0);
    status_ = std::make_unique<StatusWatch>(client_);
    if (!IdleContextDoesNotCount()) return States();
    OthersAtWork();
    Snooze();
    if (visible_) FullMemory();
    States();
  }

 private:
  // Whether the management library shows other processes here, and what else it tells.
  void LookAround(pid_t other) {
    Worker monitor(libexec_, "monitor");
    const auto sample = monitor.Call("sample", Json::object());
    if (!sample) Die("the monitor: " + sample.error().message);
    sample_ = *sample;
    for (const Json& gpu : sample_.value("gpus", Json::array())) {
      if (!gpu.contains("processes") || !gpu["processes"].is_array()) continue;
      for (const Json& process : gpu["processes"]) {
        visible_ = visible_ || (process.value("pid", 0) == other && process.value("seen", false));
      }
    }
  }

  // The daemon's processes that hold a context: its device workers' runners.
  std::set<pid_t> Runners() {
    std::set<pid_t> runners;
    const std::map<pid_t, pid_t> parents = Parents();
    for (const auto& [pid, parent] : parents) {
      const auto device_worker = parents.find(parent);
      if (device_worker == parents.end() || device_worker->second != daemon_) continue;
      if (IsRunner(pid)) runners.insert(pid);
    }
    ours_.insert(runners.begin(), runners.end());
    return runners;
  }
  static bool IsRunner(pid_t pid) {
    const auto words = base::ReadFile("/proc/" + std::to_string(pid) + "/cmdline");
    static const std::string kKind("\0--kind\0run\0", 12);
    return words && words->find(kKind) != std::string::npos;
  }

  std::int64_t Evaluations() {
    const Json status = status_->last();
    return status.contains("counters") ? status["counters"].value("evaluations", std::int64_t{0})
                                       : 0;
  }

  // Seconds after `begin` until something of ours is on the GPU again.
  std::optional<double> UntilBack(steady_clock::time_point begin, double limit) {
    constexpr std::chrono::milliseconds kBetween{20};
    while (Seconds(steady_clock::now() - begin).count() < limit) {
      if (!Runners().empty()) return Seconds(steady_clock::now() - begin).count();
      std::this_thread::sleep_for(kBetween);
    }
    return std::nullopt;
  }
  // Whether evaluations go on.
  bool Advances() {
    const double limit = 20 * patience_;
    constexpr std::chrono::milliseconds kBetween{50};
    const std::int64_t before = Evaluations();
    const auto begin = steady_clock::now();
    while (Seconds(steady_clock::now() - begin).count() < limit) {
      if (Evaluations() > before) return true;
      std::this_thread::sleep_for(kBetween);
    }
    return false;
  }
  // Seconds from `begin` to when something of ours was seen on the GPU for the last time; watched
  // for so long.
  double UntilGone(steady_clock::time_point begin, double watched) {
    constexpr std::chrono::milliseconds kBetween{2};
    double last = 0;
    while (Seconds(steady_clock::now() - begin).count() < watched) {
      if (!Runners().empty()) last = Seconds(steady_clock::now() - begin).count();
      std::this_thread::sleep_for(kBetween);
    }
    return last;
  }
  // What nvidia-smi lists, and whether any of it is ours.
  std::string Listed(bool& ours) {
    const Ran ran =
        RunToEnd({"nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader"});
    std::string list;
    for (std::size_t at = 0; at < ran.output.size();) {
      const std::size_t end = std::min(ran.output.find('\n', at), ran.output.size());
      const std::string line = ran.output.substr(at, end - at);
      list += (list.empty() ? "" : "; ") + line;
      ours = ours || ours_.contains(std::atoi(line.c_str()));
      at = end + 1;
    }
    return ran.code == 0 ? list : "it does not answer";
  }

  void Print(const std::string& name, const std::string& wrong, const std::string& right,
             Json figures) {
    if (!wrong.empty()) figures["status"] = status_->last().dump().substr(0, 1500);
    PrintRow("idle." + name, wrong.empty() ? "passed" : "failed", wrong.empty() ? right : wrong,
             figures);
  }
  static std::string After(const char* what, double seconds) {
    char text[128];
    std::snprintf(text, sizeof text, "%s after %.2f s", what, seconds);
    return text;
  }

  // It was there before: tuning begins beside it.
  bool IdleContextDoesNotCount() {
    const double kFirst = 50 * patience_;  // parses, and first builds
    Phase("idle_context");
    const auto begin = steady_clock::now();
    const auto back = UntilBack(begin, kFirst);
    const bool advances = back && Advances();
    const std::string wrong = !back       ? "nothing was tuned beside an idle context"
                              : !advances ? "no evaluation ended beside an idle context"
                                          : "";
    Print("idle_context", wrong, After("tuning beside it began", back.value_or(0)),
          {{"began_after_s", back.value_or(-1)},
           {"quiet_s", kQuiet},
           {"evaluations", Evaluations()}});
    return wrong.empty();
  }

  struct Stop {
    std::string wrong;
    Json figures;
  };
  // Others began at `begin`: all of ours goes, and both tell so.
  Stop StopsFor(steady_clock::time_point begin, const std::string& word) {
    constexpr double kWatched = 1.6;
    Stop stop;
    const double gone = UntilGone(begin, kWatched);
    bool ours = false;
    const std::string listed = Listed(ours);
    const auto states = status_->Since(begin);
    stop.figures = {{"gone_after_s", gone}, {"states", states}, {"nvidia_smi", listed}};
    if (gone > kStopsWithin) {
      stop.wrong = After("the last of ours was seen", gone);
    } else if (ours) {
      stop.wrong = "nvidia-smi still lists a process of ours: " + listed;
    } else if (!states.contains(word)) {
      stop.wrong = "`cupilot status` does not say '" + word + "'";
    }
    return stop;
  }

  void OthersAtWork() {
    constexpr double kSpins = 5;
    Phase("others_at_work");
    if (!visible_) {
      const std::string why = "other processes are not visible here: " + sample_.dump();
      PrintRow("idle.others_at_work", "skipped", why.substr(0, 600));
      return PrintRow("idle.goes_on", "skipped", "see idle.others_at_work");
    }
    const bool was_there = UntilBack(steady_clock::now(), kStartsWithin).has_value();
    Foreign other = StartForeign(foreign_, {"spin", std::to_string(kSpins)}, true);
    if (!other.problem.empty()) return Print("others_at_work", other.problem, "", Json::object());
    Stop stop = StopsFor(other.context, "others");
    stop.figures["first_kernel_after_s"] = Seconds(other.begin - other.context).count();
    if (!was_there) stop.wrong = "nothing was on the GPU before";
    Print("others_at_work", stop.wrong, After("gone", stop.figures["gone_after_s"].get<double>()),
          stop.figures);

    Phase("goes_on");
    (void)other.process->Wait();
    const auto ended = steady_clock::now();
    const double least = kPause - kLookedAtEvery - 0.5;
    const double most = kPause + kLookedAtEvery + kStartsWithin;
    const auto back = UntilBack(ended, most);
    const bool advances = back && Advances();
    const auto states = status_->Since(ended);
    const double free = states.contains("free") ? states.at("free") : most;
    std::string wrong;
    if (!back) wrong = "nothing was tuned after the others had ended";
    if (back && *back < least) wrong = After("it came back", *back);
    if (free > kPause + kLookedAtEvery + 0.5) wrong = After("the GPU counted as free", free);
    if (back && !advances) wrong = "no evaluation ended any more";
    Print("goes_on", wrong, After("back", back.value_or(0)),
          {{"back_after_s", back.value_or(-1)},
           {"free_after_s", free},
           {"pause_s", kPause},
           {"states", states}});
  }

  void Snooze() {
    Phase("snooze");
    const bool was_there = UntilBack(steady_clock::now(), kStartsWithin).has_value();
    const auto begin = steady_clock::now();
    Process command({client_, "snooze", "60s"});
    Stop stop = StopsFor(begin, "snoozed");
    if (!was_there) stop.wrong = "nothing was on the GPU before";
    const std::string said = command.Rest(5);
    if (command.Wait() != 0) stop.wrong = "`cupilot snooze 60s`: " + said;
    Print("snooze", stop.wrong, After("gone", stop.figures["gone_after_s"].get<double>()),
          stop.figures);

    Phase("resume");
    const auto resumed = steady_clock::now();
    const Ran ran = RunToEnd({client_, "resume"});
    // The GPU is watched anew: it must be quiet first.
    const double most = kQuiet + kLookedAtEvery + kStartsWithin;
    const auto back = UntilBack(resumed, most);
    std::string wrong;
    if (ran.code != 0) wrong = "`cupilot resume`: " + ran.output;
    if (!back) wrong = "it did not come back";
    if (back && !Advances()) wrong = "no evaluation ended any more";
    Print("resume", wrong, After("back", back.value_or(0)),
          {{"back_after_s", back.value_or(-1)}, {"quiet_s", kQuiet}});
  }

  // Somebody comes, takes most of the memory, gives it back and stays idle.
  void FullMemory() {
    constexpr double kFills = 5, kStays = 30;
    Phase("full_memory");
    Foreign other = StartForeign(
        foreign_, {"fill", std::to_string(kStays), "0.8", std::to_string(kFills)}, true);
    if (!other.problem.empty()) return Print("full_memory", other.problem, "", Json::object());
    Stop stop = StopsFor(other.context, "others");
    while (Seconds(steady_clock::now() - other.begin).count() < kFills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const auto states = status_->Since(other.context);
    stop.figures["states"] = states;
    if (stop.wrong.empty() && !states.contains("full")) {
      stop.wrong = "`cupilot status` does not say 'full'";
    }
    Print("full_memory", stop.wrong, After("gone", stop.figures["gone_after_s"].get<double>()),
          stop.figures);

    Phase("late_idle_context");
    const auto freed = steady_clock::now();
    const auto back = UntilBack(freed, kPause + kLookedAtEvery + kStartsWithin);
    std::string wrong;
    if (!back) wrong = "an idle context that came later keeps it away";
    if (back && !other.process->Runs()) wrong = "the other process has ended";
    Print("late_idle_context", wrong, After("back beside it", back.value_or(0)),
          {{"back_after_s", back.value_or(-1)}});
  }

  // Of the states that there are, those that this machine was in.
  void States() {
    const auto seen = status_->Since(began_);
    std::string yes, no;
    for (const char* state : {"free", "quiet", "others", "hot", "full", "asleep", "unusable"}) {
      std::string& list = seen.contains(state) ? yes : no;
      list += (list.empty() ? "" : ", ") + std::string(state);
    }
    Json gpu = Json::object();
    if (sample_.contains("gpus") && !sample_["gpus"].empty()) gpu = sample_["gpus"][0];
    const auto tells = [&gpu](const char* key) { return gpu.contains(key) && !gpu[key].is_null(); };
    bool loads = tells("processes");
    if (loads) {
      for (const Json& process : gpu["processes"]) loads = loads && !process["load"].is_null();
    }
    const Json figures = {{"others_visible", visible_},
                          {"loads_of_processes", loads},
                          {"load", tells("load")},
                          {"memory", tells("memory_used")},
                          {"throttle_reasons", tells("throttle_reasons")},
                          {"temperature_limit", tells("temperature_limit")},
                          {"display", tells("display") ? gpu["display"] : Json()},
                          {"mig", gpu.value("mig", false)},
                          {"container", sample_.value("container", false)},
                          {"wsl", sample_.value("wsl", false)},
                          {"power", gpu.value("power", "")}};
    PrintRow("idle.states_seen", seen.contains("free") ? "passed" : "failed",
             "seen on this machine: " + yes + "; by the fake library only: " + no, figures);
  }

  const std::string client_, libexec_, foreign_;
  const double patience_;  // how much slower than a machine with a GPU this one works
  const steady_clock::time_point began_;
  Json sample_;
  bool visible_ = false;
  pid_t daemon_ = 0;
  std::set<pid_t> ours_;  // that were ever there
  std::unique_ptr<StatusWatch> status_;
};

}  // namespace
}  // namespace cupilot::gpu_tests

int main(int argc, char** argv) {
  using namespace cupilot::gpu_tests;
  if (argc != 6 && argc != 7) {
    std::fprintf(stderr, "usage: idle_trials CUPILOT LIBEXEC NVCC ARCH FOREIGN [PATIENCE]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::setenv("CUPILOT_NO_SPAWN", "1", 1);  // a daemon that has ended is not to come back unseen
  IdleTrials(argv[1], argv[2], argv[5], argc == 7 ? std::atof(argv[6]) : 1).Run(argv[3], argv[4]);
  return 0;
}
