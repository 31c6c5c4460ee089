// A simulated machine: its clock, its GPUs, which come and go and are used by others, and the
// daemon's workers, whose requests take simulated time. What starts next is decided as in the
// daemon. Nothing here waits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "evaluate/work_order.h"
#include "evaluate/workers.h"
#include "protocol/compare_object.h"
#include "protocol/worker_messages.h"
#include "tests/support/fake_project.h"
#include "tests/support/make_records.h"

namespace cupilot::test {

// Time of day and the time that timers go by: apart where the machine sleeps or somebody sets the
// clock.
class MachineClock final : public base::Clock {
 public:
  // Begins an hour from now, so that files of the test are old.
  MachineClock() : wall_(base::SystemClock().WallTime() + std::chrono::hours(1)) {}
  std::chrono::nanoseconds Now() const override { return now_; }
  std::chrono::nanoseconds WallTime() const override { return wall_; }
  void Advance(std::chrono::nanoseconds time) {
    now_ += time;
    wall_ += time;
  }
  void SetBy(std::chrono::nanoseconds time) { wall_ += time; }

 private:
  std::chrono::nanoseconds now_{0};
  std::chrono::nanoseconds wall_;
};

struct SimulatedGpu {
  std::string name;
  bool present = true;
  std::string driver = "580.1";
  int others_load = 0;           // percent
  std::string power = "active";  // or "suspended"
};

class Machine final : public evaluate::Workers {
 public:
  // `artifact`: the file that all builds leave.
  Machine(MachineClock& clock, std::string artifact)
      : clock_(clock), artifact_(std::move(artifact)), limits_(evaluate::LimitsFor(8)) {}

  std::map<std::string, SimulatedGpu> gpus;  // by device
  std::function<bool()> crashes;             // asked at the end of each request of a worker

  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override {
    if (stopped_) return;
    waiting_.push_back({std::move(call), std::move(done), {}});
    StartAll();
  }
  void Pause() override {
    paused_ = true;
    TakeBack([](const evaluate::WorkerCall&) { return true; });
  }
  void Resume() override {
    paused_ = false;
    StartAll();
  }
  void Hold(const std::string& device) override {
    held_.insert(device);
    TakeBack([&](const evaluate::WorkerCall& call) { return call.device == device; });
  }
  void Release(const std::string& device) override {
    held_.erase(device);
    StartAll();
  }
  // As at a daemon's orderly end: whoever waits is told, and nothing more is taken.
  void Stop() override {
    stopped_ = true;
    std::list<Request> open = TakeAll();
    for (Request& request : open) request.done(base::Fail(base::Cancelled("stopped")));
  }
  // As at a daemon's death: nobody hears of anything.
  void Drop() {
    stopped_ = true;
    TakeAll();
  }
  // For the next daemon.
  void Start() { stopped_ = false; }
  evaluate::WorkerCounters counters() const override { return {}; }

  // When the next request ends, by the clock; nothing: none runs.
  std::optional<std::chrono::nanoseconds> Next() const {
    std::optional<std::chrono::nanoseconds> next;
    for (const Request& request : running_)
      next = std::min(next.value_or(request.ends), request.ends);
    return next;
  }
  // True if something ended by now.
  bool FinishDue() {
    bool any = false;
    while (true) {
      const auto due =
          std::min_element(running_.begin(), running_.end(),
                           [](const auto& a, const auto& b) { return a.ends < b.ends; });
      if (due == running_.end() || due->ends > clock_.Now()) return any;
      any = true;
      Request request = std::move(*due);
      running_.erase(due);
      request.done(AnswerTo(request.call));
      StartAll();
    }
  }
  // Whether anything but looking at GPUs is under way.
  bool works() const {
    return std::any_of(running_.begin(), running_.end(), [](const Request& request) {
      return request.call.kind != evaluate::WorkerKind::kMonitor;
    });
  }
  std::size_t open() const { return waiting_.size() + running_.size(); }
  std::int64_t measured() const { return measured_; }

 private:
  struct Request {
    evaluate::WorkerCall call;
    base::Callback<records::Json> done;
    std::chrono::nanoseconds ends;
  };
  using Result = base::Result<records::Json>;

  static std::chrono::milliseconds Takes(const std::string& op) {
    static const std::map<std::string, int> milliseconds = {
        {"scan", 2000},        {"propose", 900},  {"rewrite", 800},       {"retune", 600},
        {"twin", 700},         {"build", 2500},   {"verify", 5000},       {"measure", 4000},
        {"sample", 5},         {"profile", 3000}, {"check_variant", 200}, {"describe_device", 400},
        {"list_devices", 500}, {"begin", 400},    {"prepare", 700},       {"compare_object", 1500}};
    const auto found = milliseconds.find(op);
    if (found != milliseconds.end()) return std::chrono::milliseconds(found->second);
    ADD_FAILURE() << op << " has no time here";
    return std::chrono::milliseconds(0);
  }

  std::list<Request> TakeAll() {
    std::list<Request> open = std::move(running_);
    running_.clear();
    for (Request& request : waiting_) open.push_back(std::move(request));
    waiting_.clear();
    paused_ = false;
    held_.clear();
    return open;
  }
  // What runs on a device begins again later.
  template <class Which>
  void TakeBack(Which which) {
    for (auto it = running_.begin(); it != running_.end();) {
      if (it->call.kind != evaluate::WorkerKind::kDevice || !which(it->call)) {
        ++it;
        continue;
      }
      waiting_.push_front(std::move(*it));
      it = running_.erase(it);
    }
  }
  void StartAll() {
    while (true) {
      std::vector<const evaluate::WorkerCall*> waiting, running;
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < waiting_.size(); ++i) {
        const evaluate::WorkerCall& call = waiting_[i].call;
        const bool monitors = call.kind == evaluate::WorkerKind::kMonitor;
        if (paused_ && !monitors && !call.answers_questions) continue;
        if (call.kind == evaluate::WorkerKind::kDevice && held_.contains(call.device)) continue;
        waiting.push_back(&call);
        places.push_back(i);
      }
      for (const Request& request : running_) running.push_back(&request.call);
      const auto next = evaluate::NextToStart(waiting, running, limits_);
      if (!next) return;
      const auto it = waiting_.begin() + static_cast<std::ptrdiff_t>(places[*next]);
      it->ends = clock_.Now() + Takes(it->call.op);
      running_.push_back(std::move(*it));
      waiting_.erase(it);
    }
  }

  Result AnswerTo(const evaluate::WorkerCall& call) {
    const std::string& op = call.op;
    if (op == "sample") return Sample();
    if (op == "list_devices") return Devices();
    const auto gpu = gpus.find(call.device);
    const bool gone = call.device != "host" && (gpu == gpus.end() || !gpu->second.present);
    if (gone && call.kind == evaluate::WorkerKind::kDevice) {
      return base::Fail(base::Unavailable("there is no device '" + call.device + "' here"));
    }
    if (op == "describe_device") return Describe(call.device);
    if (crashes && crashes())
      return base::Fail(base::ToolFailed("the worker was ended by SIGKILL"));
    if (op == "propose") return Propose();
    const auto& source = AnswersForFakeProjects();
    if (const auto answer = source.find(op); answer != source.end())
      return answer->second(call.params);
    if (op == "check_variant") {
      protocol::CheckVariantReply reply;
      reply.passed = true;
      reply.entries = {"faster", "retuned"};
      return protocol::ToJson(reply);
    }
    if (op == "twin") {
      protocol::TwinReply reply;
      reply.declined = true;
      reply.reason = "it has none";
      return protocol::ToJson(reply);
    }
    if (op == "compare_object") return protocol::ToJson(protocol::CompareObjectReply());
    if (op == "begin" || op == "prepare") return records::Json::object();
    if (op == "build") return Build(call);
    if (op == "verify") return Verify(call.params);
    if (op == "measure") return Measure(call);
    if (op == "profile") return protocol::ToJson(protocol::ProfileReply());
    return base::Fail(base::Unavailable("the machine does not know " + op));
  }

  records::Json Describe(const std::string& device) const {
    if (device == "host") {
      return {{"name", "a processor"},
              {"arch", "host-x86-64-v3"},
              {"sm_count", 2},
              {"memory_bytes", 1024},
              {"driver", ""}};
    }
    const SimulatedGpu& gpu = gpus.at(device);
    return {{"device", device},       {"name", gpu.name},        {"arch", "sm_90"},
            {"sm_count", 132},        {"memory_bytes", 1 << 30}, {"driver", gpu.driver},
            {"uuid", "GPU-" + device}};
  }
  records::Json Devices() const {
    records::Json devices = records::Json::array();
    for (const auto& [device, gpu] : gpus) {
      if (gpu.present) devices.push_back(Describe(device));
    }
    return {{"reason", devices.empty() ? "no NVIDIA GPU was found" : ""}, {"devices", devices}};
  }
  records::Json Sample() const {
    records::Json all = records::Json::array();
    for (const auto& [device, gpu] : gpus) {
      if (!gpu.present) continue;
      records::Json processes = records::Json::array();
      if (gpu.others_load > 0) {
        processes.push_back({{"pid", 7}, {"own", false}, {"load", gpu.others_load}});
      }
      all.push_back({{"uuid", "GPU-" + device},
                     {"power", gpu.power},
                     {"processes", processes},
                     {"display", false}});
    }
    return {{"gpus", all}, {"reason", ""}};
  }
  static Result Propose() {
    protocol::ProposeReply reply;
    protocol::Proposal bounds{"launch_bounds", true, "", {}};
    for (int threads = 0; threads < 6; ++threads)
      bounds.parameters.push_back({{"threads", threads}});
    reply.proposals = {{"restrict_readonly", true, "", {records::Json::object()}}, bounds};
    return protocol::ToJson(reply);
  }
  Result Build(const evaluate::WorkerCall& call) const {
    const auto request = protocol::ParseBuildRequest(call.params);
    protocol::BuildReply reply;
    reply.artifact = artifact_;
    reply.target = request->device == "host" ? "host-x86-64-v3" : "compute_90,sm_90";
    reply.toolchain = "nvcc 13.0";
    reply.seconds = 2.5;
    const std::string hash = base::HashHex(request->text);
    reply.text_hashes = {{"faster", hash}, {"retuned", hash}};
    if (request->device != "host") reply.data_hash = "none";
    return protocol::ToJson(reply);
  }
  // One of eight variants is wrong.
  static Result Verify(const records::Json& params) {
    const auto request = protocol::ParseVerifyRequest(params);
    protocol::VerifyReply reply;
    reply.passed = base::HashHex("right " + request->set.variant.id)[0] % 8 != 0;
    if (!reply.passed) reply.reason = "wrong_values";
    return protocol::ToJson(reply);
  }
  // The same in every run: a number of the variant and the device.
  Result Measure(const evaluate::WorkerCall& call) {
    const auto request = protocol::ParseMeasureRequest(call.params);
    ++measured_;
    const std::string name = call.device == "host" ? "host" : gpus.at(call.device).name;
    protocol::MeasureReply reply;
    const double speedup = SpeedupOf(request->set.variant.id + name);
    for (const records::Case& one : request->set.workload.cases) {
      for (const char* l2 : {"cold", "warm"}) {
        records::CaseResult result = MakeCaseResult(one.name, speedup);
        result.l2 = l2;
        reply.cases.push_back(result);
      }
    }
    const records::Json device = Describe(call.device);
    reply.device = {device["name"], device["arch"], device["sm_count"], device["memory_bytes"]};
    return protocol::ToJson(reply);
  }

  MachineClock& clock_;
  const std::string artifact_;
  const evaluate::WorkerLimits limits_;
  std::deque<Request> waiting_;
  std::list<Request> running_;
  std::set<std::string> held_;
  bool paused_ = false, stopped_ = false;
  std::int64_t measured_ = 0;
};

}  // namespace cupilot::test
