#include "evaluate/process_workers.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "log/log.h"
#include "protocol/worker_messages.h"

namespace cupilot::evaluate {

using records::Json;
using namespace std::chrono_literals;

const char* Name(WorkerKind kind) {
  static constexpr const char* kNames[] = {"source", "build", "device", "monitor"};
  return kNames[static_cast<int>(kind)];
}

namespace {

// Compilers ahead of the device leave the processors to what the device waits for.
constexpr int kNicerBehind = 5, kNicest = 19;
// Contents of buffers have hundreds of megabytes: large pages are made in a fraction of the time,
// where the system has them. A variable of glibc's; others do not know it.
constexpr const char* kTunables = "GLIBC_TUNABLES";

int NicenessOf(WorkerKind kind, int nice) {
  const bool ahead = kind == WorkerKind::kSource || kind == WorkerKind::kBuild;
  return ahead ? std::min(nice + kNicerBehind, kNicest) : nice;
}

// By which the time of a request is told (WorkerCounters::PerDevice::spent).
const char* PurposeOf(const WorkerCall& call) {
  if (call.kind != WorkerKind::kDevice) return kBuilding;
  return call.op == "measure" && call.params.value("probe", false) ? kLooking : kProving;
}

}  // namespace

struct ProcessWorkers::Process {
  Process(loop::Loop& loop, const WorkerCall& call)
      : kind(call.kind), device(call.device), lane(call.lane), timer(loop) {}
  // What uses a device stays with it: its context, its memory.
  bool Serves(const WorkerCall& call) const {
    return kind == call.kind &&
           (kind != WorkerKind::kDevice || (device == call.device && lane == call.lane));
  }
  const WorkerKind kind;
  const std::string device;
  const int lane;
  std::unique_ptr<loop::ChildProcess> child;
  loop::Timer timer;
  bool busy = false;
  Request request;
  std::int64_t id = 0;
  int requests = 0;
  std::chrono::nanoseconds began{0};
  Json passed;  // what it said of its request so far
};

ProcessWorkers::ProcessWorkers(loop::Loop& loop, const base::Clock& clock, Settings settings)
    : loop_(loop),
      clock_(clock),
      settings_(std::move(settings)),
      started_(clock.Now()),
      idle_timer_(loop),
      counted_(started_) {}

ProcessWorkers::~ProcessWorkers() { *alive_ = false; }

void ProcessWorkers::Call(WorkerCall call, base::Callback<Json> done) {
  if (stopped_) return Answer(std::move(done), base::Fail(base::Cancelled("workers are stopped")));
  CountOpen();
  ++Of(call.kind).waiting;
  std::vector<const WorkerCall*> waiting;
  waiting.reserve(queue_.size());
  for (const Request& request : queue_) waiting.push_back(&request.call);
  const auto at = static_cast<std::ptrdiff_t>(PlaceInQueue(waiting, call));
  queue_.insert(queue_.begin() + at, {std::move(call), std::move(done)});
  // Never calls back inside Call().
  loop_.Post([this, alive = alive_] {
    if (*alive) Pump();
  });
}

void ProcessWorkers::Answer(base::Callback<Json> done, base::Result<Json> result) {
  loop_.Post(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

void ProcessWorkers::CountSpent(const WorkerCall& call, const char* purpose,
                                std::chrono::nanoseconds time) {
  if (!call.kernel.empty()) spent_on_[call.kernel][purpose] += time;
  if (call.device != "host") counters_.devices[call.device].spent[purpose] += time;
}

// Time goes to every GPU for which something is open and that is not held back, and to every kernel
// that only waits for a device.
void ProcessWorkers::CountOpen() {
  const auto now = clock_.Now();
  const auto passed = now - counted_;
  counted_ = now;
  if (paused_) return;
  std::set<std::string> open;
  std::map<std::string, const char*> waiting;  // by kernel, for what
  for (const Request& request : queue_) {
    const WorkerCall& call = request.call;
    open.insert(call.device);
    if (call.kind != WorkerKind::kDevice || call.kernel.empty()) continue;
    waiting[call.kernel] = held_.contains(call.device) ? kForOthers : kForDevice;
  }
  for (const auto& process : processes_) {
    if (!process->busy) continue;
    open.insert(process->request.call.device);
    if (process->kind == WorkerKind::kDevice) waiting.erase(process->request.call.kernel);
  }
  for (const auto& [kernel, what] : waiting) spent_on_[kernel][what] += passed;
  for (const std::string& device : open) {
    if (device != "host" && !held_.contains(device)) counters_.devices[device].open += passed;
  }
}

std::optional<std::size_t> ProcessWorkers::NextOfQueue() const {
  std::vector<const WorkerCall*> waiting, running;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const WorkerCall& call = queue_[i].call;
    const bool monitors = call.kind == WorkerKind::kMonitor;
    if (paused_ && !monitors && !call.answers_questions) continue;
    if (call.kind == WorkerKind::kDevice && held_.contains(call.device)) continue;
    waiting.push_back(&call);
    places.push_back(i);
  }
  for (const auto& process : processes_) {
    if (process->busy) running.push_back(&process->request.call);
  }
  const auto next = NextToStart(waiting, running, settings_.limits);
  if (!next) return std::nullopt;
  const auto streak = streaks_.find(waiting[*next]->device);
  return places[streak == streaks_.end() ? *next : SameLineFirst(waiting, *next, streak->second)];
}

void ProcessWorkers::Pump() {
  if (pumping_ || stopped_) return;
  pumping_ = true;
  CountOpen();
  while (const auto next = NextOfQueue()) {
    Request request = std::move(queue_[*next]);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*next));
    Start(std::move(request));
  }
  LeaveOut();
  pumping_ = false;
}

// What has no process at once and is not to wait for one.
void ProcessWorkers::LeaveOut() {
  std::vector<Request> out;
  for (auto it = queue_.begin(); it != queue_.end();) {
    if (!it->call.only_if_free) {
      ++it;
      continue;
    }
    --Of(it->call.kind).waiting;
    out.push_back(std::move(*it));
    it = queue_.erase(it);
  }
  for (Request& request : out) {
    Answer(std::move(request.done), base::Fail(base::Cancelled("no worker is free for it")));
  }
}

// Hands it over, or answers it because nothing can be started.
void ProcessWorkers::Start(Request request) {
  auto free = FreeProcess(request.call);
  auto& counter = Of(request.call.kind);
  --counter.waiting;
  if (!free) return Answer(std::move(request.done), base::Fail(free.error()));
  Process* process = *free;
  ++counter.running;
  ++counter.requests;
  if (request.call.kind == WorkerKind::kDevice && request.call.device != "host") {
    ++counters_.devices[request.call.device].requests;
  }
  if (IsLook(request.call)) {
    Streak& streak = streaks_[request.call.device];
    const bool same = streak.line == request.call.line && streak.looks < kMostInARow;
    streak = {request.call.line, same ? streak.looks + 1 : 1};
  }
  process->busy = true;
  process->passed = nullptr;
  process->began = clock_.Now();
  log::Debug("a request begins", {{"request", next_id_},
                                  {"kind", Name(request.call.kind)},
                                  {"op", request.call.op},
                                  {"lane", request.call.lane},
                                  {"line", request.call.line}});
  process->request = std::move(request);
  process->id = next_id_++;
  ++process->requests;
  const Json message = {{"id", process->id},
                        {"op", process->request.call.op},
                        {"params", process->request.call.params}};
  process->child->WriteLine(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  process->timer.Start(process->request.call.limit, [this, process] { OnLimit(*process); });
  if (process->request.call.exclusive) ++counters_.exclusive_runs;
  idle_timer_.Cancel();
}

base::Result<ProcessWorkers::Process*> ProcessWorkers::FreeProcess(const WorkerCall& call) {
  for (const auto& process : processes_) {
    if (process->Serves(call) && !process->busy) return process.get();
  }
  auto process = std::make_unique<Process>(loop_, call);
  loop::ChildOptions options;
  options.arguments = {settings_.program, "--kind", Name(call.kind)};
  options.nice = NicenessOf(call.kind, settings_.nice);
  if (call.kind == WorkerKind::kDevice && std::getenv(kTunables) == nullptr) {
    options.environment = {{kTunables, "glibc.malloc.hugetlb=1"}};
  }
  options.error_file = settings_.log_file;
  Process* raw = process.get();
  TRY_ASSIGN(process->child, loop::ChildProcess::Start(
                                 loop_, std::move(options),
                                 [this, raw](std::string_view line) { OnLine(*raw, line); },
                                 [this, raw](loop::ChildExit exit) { OnExit(*raw, exit); }));
  ++Of(call.kind).started;
  processes_.push_back(std::move(process));
  return raw;
}

// A time that a device's worker tells of a request.
static std::optional<std::chrono::nanoseconds> TimeIn(const Json& reply, const char* name) {
  const auto seconds = reply.find(name);
  if (seconds == reply.end() || !seconds->is_number()) return {};
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(seconds->get<double>(), 0.0, 1e6)));
}

void ProcessWorkers::OnLine(Process& process, std::string_view line) {
  auto json = records::ParseJson(line);
  const bool is_of_request =
      json && json->is_object() && process.busy && json->value("id", std::int64_t{0}) == process.id;
  if (is_of_request && json->contains("passed")) {
    process.passed = std::move((*json)["passed"]);
    return;
  }
  const bool is_reply = is_of_request && (json->contains("result") || json->contains("error"));
  if (!is_reply) {
    ++Of(process.kind).garbled;
    log::Warning("a worker sent what is no reply", {{"kind", Name(process.kind)}});
    if (process.busy) {
      Finish(process, base::Fail(base::ToolFailed("the worker sent what is no reply")), {});
    }
    return Discard(process);
  }
  ++Of(process.kind).replies;
  const DeviceTimes times = {TimeIn(*json, "at_work"), TimeIn(*json, "waited")};
  if (json->contains("result")) {
    Finish(process, (*json)["result"], times);
  } else {
    const Json& error = (*json)["error"];
    Finish(process,
           base::Fail(base::Error{base::CodeOf(error.value("code", "internal")),
                                  error.value("message", "the worker gave no reason")}),
           times);
  }
  // A driver lists the GPUs that it found when it was opened, once a process: who asks again wants
  // to know of others.
  const bool knows_too_much = process.request.call.op == "list_devices";
  const bool passes = process.request.call.passing && !IsWaitedFor(process);
  if (process.requests >= settings_.requests_per_process || knows_too_much || passes) {
    Discard(process);
  }
}

bool ProcessWorkers::IsWaitedFor(const Process& process) const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](const Request& request) { return process.Serves(request.call); });
}

void ProcessWorkers::OnExit(Process& process, loop::ChildExit exit) {
  if (process.busy) {
    const bool stopped = exit.signal == protocol::kStopSignal;
    ++(stopped ? Of(process.kind).timed_out : Of(process.kind).crashed);
    const std::string how = exit.signal != 0
                                ? std::string("was ended by ") + ::strsignal(exit.signal)
                                : "exited with " + std::to_string(exit.status);
    Finish(process,
           base::Fail(base::ToolFailed(std::string("the ") + Name(process.kind) + " worker " + how +
                                       " in '" + process.request.call.op + "'")),
           {});
  }
  Discard(process);
}

void ProcessWorkers::OnLimit(Process& process) {
  ++Of(process.kind).timed_out;
  Finish(
      process,
      base::Fail(base::Timeout("the " + std::string(Name(process.kind)) + " worker did not end '" +
                               process.request.call.op + "' within its limit")),
      {});
  Discard(process);
}

void ProcessWorkers::Finish(Process& process, base::Result<Json> result, DeviceTimes times) {
  CountOpen();
  process.timer.Cancel();
  process.busy = false;
  auto& counter = Of(process.kind);
  --counter.running;
  const auto took = clock_.Now() - process.began;
  const auto waited = std::min(times.waited.value_or(0ns), took);
  const auto at_work = std::min(times.at_work.value_or(took), took);
  log::Debug("a request ends", {{"request", process.id},
                                {"kind", Name(process.kind)},
                                {"op", process.request.call.op},
                                {"seconds", std::chrono::duration<double>(took).count()},
                                {"at_work", std::chrono::duration<double>(at_work).count()},
                                {"waited", std::chrono::duration<double>(waited).count()}});
  counter.busy += took;
  CountSpent(process.request.call, PurposeOf(process.request.call), took - waited);
  CountSpent(process.request.call, kForTurn, waited);
  if (process.kind == WorkerKind::kDevice && process.device != "host") {
    counters_.devices[process.device].busy += at_work;
  }
  if (process.request.call.exclusive) counters_.exclusive_busy += took;
  // Nothing waits for what is asked for because of this answer, so that a GPU's workers go on
  // before anybody thinks about it. On the host that may be a measurement, which waits for what has
  // begun.
  const auto pump = [this, alive = alive_] {
    if (*alive) Pump();
  };
  const bool on_host = process.request.call.device == "host";
  if (!on_host) loop_.Post(pump);
  Answer(std::move(process.request.done), std::move(result));
  idle_timer_.Start(settings_.idle, [this] { EndIdle(); });
  if (on_host) loop_.Post(pump);
}

// None is busy: a request that starts takes the timer back.
void ProcessWorkers::EndIdle() {
  std::vector<Process*> idle;
  for (const auto& process : processes_) {
    if (!process->busy) idle.push_back(process.get());
  }
  for (Process* process : idle) Discard(*process);
}

// A callback of the process may be up the stack: it goes with the next turn of the loop.
void ProcessWorkers::Discard(Process& process) {
  for (auto it = processes_.begin(); it != processes_.end(); ++it) {
    if (it->get() != &process) continue;
    (*it)->child->Kill();
    discarded_.push_back(std::move(*it));
    processes_.erase(it);
    break;
  }
  loop_.Post([this, alive = alive_] {
    if (*alive) discarded_.clear();
  });
}

void ProcessWorkers::TakeBack(Process& process) {
  process.timer.Cancel();
  process.busy = false;
  CountSpent(process.request.call, kInterrupted, clock_.Now() - process.began);
  --Of(process.kind).running;
  ++Of(process.kind).waiting;
  if (!process.passed.is_null()) process.request.call.params["passed"] = std::move(process.passed);
  queue_.push_front(std::move(process.request));
  Discard(process);
}

// What uses the device goes back to the head of the queue; parses and builds run to their end. An
// idle worker of a GPU ends, since it holds memory there.
void ProcessWorkers::Pause() {
  CountOpen();
  paused_ = true;
  std::vector<Process*> taken, idle;
  for (const auto& process : processes_) {
    if (process->kind != WorkerKind::kDevice) continue;
    if (process->busy) taken.push_back(process.get());
    if (!process->busy && process->device != "host") idle.push_back(process.get());
  }
  for (Process* process : taken) TakeBack(*process);
  for (Process* process : idle) Discard(*process);
}

void ProcessWorkers::Resume() {
  CountOpen();
  paused_ = false;
  loop_.Post([this, alive = alive_] {
    if (*alive) Pump();
  });
}

void ProcessWorkers::Hold(const std::string& device) {
  CountOpen();
  held_.insert(device);
  std::vector<Process*> taken;
  for (const auto& process : processes_) {
    if (process->kind == WorkerKind::kDevice && process->device == device) {
      taken.push_back(process.get());
    }
  }
  for (Process* process : taken) {
    if (process->busy) {
      TakeBack(*process);
    } else {
      Discard(*process);
    }
  }
}

void ProcessWorkers::Release(const std::string& device) {
  CountOpen();
  held_.erase(device);
  loop_.Post([this, alive = alive_] {
    if (*alive) Pump();
  });
}

void ProcessWorkers::Stop() {
  stopped_ = true;
  std::deque<Request> queue;
  queue.swap(queue_);
  for (const auto& process : processes_) {
    process->timer.Cancel();
    if (process->busy) queue.push_back(std::move(process->request));
    process->busy = false;
  }
  processes_.clear();
  for (Request& request : queue) {
    Answer(std::move(request.done), base::Fail(base::Cancelled("workers are stopped")));
  }
}

Workers::Spent ProcessWorkers::SpentOn(const std::string& kernel) const {
  const auto spent = spent_on_.find(kernel);
  return spent == spent_on_.end() ? Spent() : spent->second;
}

WorkerCounters ProcessWorkers::counters() const {
  WorkerCounters counters = counters_;
  counters.since_start = clock_.Now() - started_;
  const auto now = clock_.Now();
  for (auto& [device, counter] : counters.devices) {
    bool open = false;
    for (const Request& request : queue_) {
      if (request.call.device != device) continue;
      open = true;
      counter.waiting += request.call.kind == WorkerKind::kDevice ? 1 : 0;
      counter.builds_waiting += request.call.kind == WorkerKind::kBuild ? 1 : 0;
    }
    for (const auto& process : processes_) {
      if (!process->busy || process->request.call.device != device) continue;
      open = true;
      if (process->kind == WorkerKind::kDevice) counter.busy += now - process->began;
    }
    if (open && !paused_ && !held_.contains(device)) counter.open += now - counted_;
  }
  return counters;
}

}  // namespace cupilot::evaluate
