#include "evaluate/process_workers.h"

#include <csignal>
#include <cstring>
#include <utility>

#include "log/log.h"

namespace cupilot::evaluate {

using records::Json;

const char* Name(WorkerKind kind) {
  static constexpr const char* kNames[] = {"source", "build", "device"};
  return kNames[static_cast<int>(kind)];
}

struct ProcessWorkers::Process {
  Process(loop::Loop& loop, const WorkerCall& call)
      : kind(call.kind), device(call.device), timer(loop) {}
  // What uses a device stays with it: its context, its memory.
  bool Serves(const WorkerCall& call) const {
    return kind == call.kind && (kind != WorkerKind::kDevice || device == call.device);
  }
  const WorkerKind kind;
  const std::string device;
  std::unique_ptr<loop::ChildProcess> child;
  loop::Timer timer;
  bool busy = false;
  Request request;
  std::int64_t id = 0;
  int requests = 0;
  std::chrono::nanoseconds began{0};
};

ProcessWorkers::ProcessWorkers(loop::Loop& loop, const base::Clock& clock, Settings settings)
    : loop_(loop), clock_(clock), settings_(std::move(settings)), started_(clock.Now()) {}

ProcessWorkers::~ProcessWorkers() { *alive_ = false; }

void ProcessWorkers::Call(WorkerCall call, base::Callback<Json> done) {
  if (stopped_) return Answer(std::move(done), base::Fail(base::Cancelled("workers are stopped")));
  ++Of(call.kind).waiting;
  queue_.push_back({std::move(call), std::move(done)});
  // Never calls back inside Call().
  loop_.Post([this, alive = alive_] {
    if (*alive) Pump();
  });
}

void ProcessWorkers::Answer(base::Callback<Json> done, base::Result<Json> result) {
  loop_.Post(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

int ProcessWorkers::Running() const {
  int running = 0;
  for (const auto& process : processes_) running += process->busy ? 1 : 0;
  return running;
}

// The exclusive one waits until nothing runs; behind one that waits, nothing overtakes, or a stream
// of builds would keep a measurement waiting for ever.
bool ProcessWorkers::MayStart(const WorkerCall& call) const {
  for (const auto& process : processes_) {
    if (process->busy && process->request.call.exclusive) return false;
  }
  return !call.exclusive || Running() == 0;
}

void ProcessWorkers::Pump() {
  if (pumping_ || paused_ || stopped_) return;
  pumping_ = true;
  for (auto it = queue_.begin(); it != queue_.end();) {
    if (!MayStart(it->call)) break;
    if (!Start(*it)) {
      // All processes of its kind are busy: another kind's request may go first, unless this one is
      // exclusive.
      if (it->call.exclusive) break;
      ++it;
      continue;
    }
    it = queue_.erase(it);
  }
  pumping_ = false;
}

// True if the request left the queue: handed over, or answered because nothing can be started.
bool ProcessWorkers::Start(Request& request) {
  base::Error why_not;
  Process* process = FreeProcess(request.call, why_not);
  if (process == nullptr) {
    if (why_not.message.empty()) return false;
    --Of(request.call.kind).waiting;
    Answer(std::move(request.done), base::Fail(why_not));
    return true;
  }
  auto& counter = Of(request.call.kind);
  --counter.waiting;
  ++counter.running;
  ++counter.requests;
  process->busy = true;
  process->began = clock_.Now();
  process->request = std::move(request);
  process->id = next_id_++;
  ++process->requests;
  const Json message = {{"id", process->id},
                        {"op", process->request.call.op},
                        {"params", process->request.call.params}};
  process->child->WriteLine(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  process->timer.Start(process->request.call.limit, [this, process] { OnLimit(*process); });
  if (process->request.call.exclusive) ++counters_.exclusive_runs;
  return true;
}

ProcessWorkers::Process* ProcessWorkers::FreeProcess(const WorkerCall& call, base::Error& why_not) {
  const WorkerKind kind = call.kind;
  int count = 0;
  for (const auto& process : processes_) {
    if (!process->Serves(call)) continue;
    if (!process->busy) return process.get();
    ++count;
  }
  if (count >= settings_.processes[static_cast<std::size_t>(kind)]) return nullptr;
  auto process = std::make_unique<Process>(loop_, call);
  loop::ChildOptions options;
  options.arguments = {settings_.program, "--kind", Name(kind)};
  options.nice = settings_.nice;
  options.error_file = settings_.log_file;
  Process* raw = process.get();
  auto child = loop::ChildProcess::Start(
      loop_, std::move(options), [this, raw](std::string_view line) { OnLine(*raw, line); },
      [this, raw](loop::ChildExit exit) { OnExit(*raw, exit); });
  if (!child) {
    why_not = child.error();
    return nullptr;
  }
  process->child = std::move(*child);
  ++Of(kind).started;
  processes_.push_back(std::move(process));
  return raw;
}

void ProcessWorkers::OnLine(Process& process, std::string_view line) {
  const auto json = records::ParseJson(line);
  const bool is_reply = json && json->is_object() && process.busy &&
                        json->value("id", std::int64_t{0}) == process.id &&
                        (json->contains("result") || json->contains("error"));
  if (!is_reply) {
    ++Of(process.kind).garbled;
    log::Warning("a worker sent what is no reply", {{"kind", Name(process.kind)}});
    if (process.busy) {
      Finish(process, base::Fail(base::ToolFailed("the worker sent what is no reply")));
    }
    return Discard(process);
  }
  ++Of(process.kind).replies;
  if (json->contains("result")) {
    Finish(process, (*json)["result"]);
  } else {
    const Json& error = (*json)["error"];
    Finish(process, base::Fail(base::Error{base::CodeOf(error.value("code", "internal")),
                                           error.value("message", "the worker gave no reason")}));
  }
  if (process.requests >= settings_.requests_per_process) Discard(process);
}

void ProcessWorkers::OnExit(Process& process, loop::ChildExit exit) {
  if (process.busy) {
    ++Of(process.kind).crashed;
    const std::string how = exit.signal != 0
                                ? std::string("was ended by ") + ::strsignal(exit.signal)
                                : "exited with " + std::to_string(exit.status);
    Finish(process,
           base::Fail(base::ToolFailed(std::string("the ") + Name(process.kind) + " worker " + how +
                                       " in '" + process.request.call.op + "'")));
  }
  Discard(process);
}

void ProcessWorkers::OnLimit(Process& process) {
  ++Of(process.kind).timed_out;
  Finish(process, base::Fail(base::Timeout("the " + std::string(Name(process.kind)) +
                                           " worker did not end '" + process.request.call.op +
                                           "' within its limit")));
  Discard(process);
}

void ProcessWorkers::Finish(Process& process, base::Result<Json> result) {
  process.timer.Cancel();
  process.busy = false;
  auto& counter = Of(process.kind);
  --counter.running;
  const auto took = clock_.Now() - process.began;
  counter.busy += took;
  if (process.request.call.exclusive) counters_.exclusive_busy += took;
  Answer(std::move(process.request.done), std::move(result));
  loop_.Post([this, alive = alive_] {
    if (*alive) Pump();
  });
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

void ProcessWorkers::Pause() {
  paused_ = true;
  // What uses the device goes back to the head of the queue; parses and builds run to their end.
  std::vector<Process*> taken;
  for (const auto& process : processes_) {
    if (process->busy && process->kind == WorkerKind::kDevice) taken.push_back(process.get());
  }
  for (Process* process : taken) {
    process->timer.Cancel();
    process->busy = false;
    --Of(process->kind).running;
    ++Of(process->kind).waiting;
    queue_.push_front(std::move(process->request));
    Discard(*process);
  }
}

void ProcessWorkers::Resume() {
  paused_ = false;
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

WorkerCounters ProcessWorkers::counters() const {
  WorkerCounters counters = counters_;
  counters.since_start = clock_.Now() - started_;
  return counters;
}

}  // namespace cupilot::evaluate
