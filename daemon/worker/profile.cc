#include "worker/profile.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "device/describe.h"
#include "worker/admission.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"
#include "worker/device_turn.h"
#include "worker/fill_recipe.h"
#include "worker/floor.h"
#include "worker/instruction_mix.h"
#include "worker/lease.h"
#include "worker/program.h"
#include "worker/roofline.h"
#include "worker/toolkits.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kCountLimit{30000};
constexpr double kSecondsAPass = 2e-5;  // as many passes as there are counters, over a case's time
constexpr std::size_t kKeptOriginals = 64;

struct ProfiledCase {
  const protocol::ProfileRequest& request;
  const CasePlan& original;
  const CasePlan& plan;  // the candidate's: the same regions, and its workspaces behind them
  const Program& candidate;
  Traffic traffic;
  double original_us = 0, variant_us = 0;
};

class CaseProfile {
 public:
  CaseProfile(const ProfiledCase& profiled, const Json& peaks)
      : profiled_(profiled),
        peaks_(peaks),
        toolkits_(ToolkitsOf(profiled.request.compiler, profiled.request.compile_folder)) {}

  Json Take() {
    const auto begin = steady_clock::now();
    Json record = {
        {"necessary", {{"read", profiled_.traffic.read}, {"written", profiled_.traffic.written}}}};
    Json original = OriginalFacts();
    Json variant = FactsOf(1, profiled_.plan.layout, profiled_.candidate);
    const bool counted = original.contains("counters") && variant.contains("counters");
    record["source"] = counted ? "cupti" : "static";
    if (!counted) {
      record["reason"] = variant.value("reason", original.value("reason", ""));
      AddInstructions(profiled_.request.set.original_artifact, original);
      AddInstructions(profiled_.request.set.candidate_artifact, variant);
    }
    original.erase("reason");
    variant.erase("reason");
    Place(original, profiled_.original_us);
    Place(variant, profiled_.variant_us);
    record["original"] = std::move(original);
    record["variant"] = std::move(variant);
    record["peaks"] = {{"arithmetic", peaks_.value("arithmetic", Json::object())},
                       {"read", peaks_.value("read", 0.0)},
                       {"write", peaks_.value("write", 0.0)},
                       {"copy", peaks_.value("copy", 0.0)}};
    record["seconds"] = std::chrono::duration<double>(steady_clock::now() - begin).count();
    return record;
  }

 private:
  Json OriginalFacts() {
    static auto& kept = *new std::map<std::string, Json>();
    static auto& order = *new std::deque<std::string>();
    const protocol::CandidateSet& set = profiled_.request.set;
    const std::string key = set.device + " " + set.original_artifact + " " +
                            profiled_.original.name + " " + std::to_string(set.seed) + " " +
                            records::HashJson(records::ToJson(set.workload));
    if (const auto known = kept.find(key); known != kept.end()) return known->second;
    Json facts =
        FactsOf(0, profiled_.original.layout, OriginalProgram(profiled_.original, set.kernel.name));
    if (!facts.contains("counters")) return facts;
    if (order.size() >= kKeptOriginals) {
      kept.erase(order.front());
      order.pop_front();
    }
    order.push_back(key);
    kept[key] = facts;
    return facts;
  }

  Json FactsOf(int module, const Layout& layout, const Program& program) {
    auto facts = Count(module, layout, program);
    return facts ? *facts : Json{{"reason", facts.error().message}};
  }

  base::Result<Json> Count(int module, const Layout& layout, const Program& program) {
    const protocol::CandidateSet& set = profiled_.request.set;
    TRY_ASSIGN(const auto inputs, FindInputs(set, profiled_.original, nullptr));
    TRY_ASSIGN(const Lease lease,
               Lease::Take(set.device, Role::kProfile, static_cast<std::size_t>(layout.bytes),
                           {set.original_artifact, set.candidate_artifact}));
    PrepareArena(layout, *inputs, kPoison, lease.memory());
    Json question = {{"op", "counters"},
                     {"module", module},
                     {"bytes", layout.bytes},
                     {"program", ToJson(program, layout, 0)},
                     {"metrics", CuratedMetrics()},
                     {"toolkits", toolkits_},
                     {"restore", Json::array()}};
    for (const Region& region : layout.regions) {
      if (region.input && region.output) {
        question["restore"].push_back({region.offset, region.bytes()});
      }
    }
    const double most = kSecondsAPass * static_cast<double>(CuratedMetrics().size()) *
                        std::max(profiled_.original_us, profiled_.variant_us);
    TRY_ASSIGN(const QuietTurn turn, TakeTurnToMeasure(set.device));
    return lease.runner().Ask(question, kCountLimit + milliseconds(static_cast<int>(1000 * most)));
  }

  void AddInstructions(const std::string& artifact, Json& facts) {
    const auto mix = InstructionMixOf(artifact, toolkits_, profiled_.request.set.work_folder);
    if (mix) {
      facts["instructions"] = *mix;
    } else {
      facts["no_instructions"] = mix.error().message;
    }
  }

  void Place(Json& facts, double time_us) {
    std::map<std::string, double> counters;
    if (facts.contains("counters")) counters = facts["counters"].get<decltype(counters)>();
    facts.update(ToJson(PlaceOnRoofline(peaks_, profiled_.traffic, time_us, counters)));
  }

  const ProfiledCase& profiled_;
  const Json& peaks_;
  const std::vector<std::string> toolkits_;
};

}  // namespace

base::Result<protocol::ProfileReply> Profile(const protocol::ProfileRequest& request) {
  const protocol::CandidateSet& set = request.set;
  if (set.device == "host") {
    return base::Fail(base::Unsupported("the host device has no counters"));
  }
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set.device));
  const std::vector<records::Case> cases = Admit(set, properties).cases;
  TRY_ASSIGN(std::vector<Traffic> traffic, TrafficOf(set, cases, properties));
  // A place is no bound: what is likely, not what is sure.
  for (Traffic& one : traffic) one.read = one.likely_read;
  TRY_ASSIGN(const PeakRates* rates, RatesOf(set.device, properties, set.work_folder));
  protocol::ProfileReply reply;
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    const records::Case& workload = cases[i];
    const auto measured =
        std::find_if(request.cases.begin(), request.cases.end(),
                     [&](const auto& result) { return result.name == workload.name; });
    if (measured == request.cases.end()) continue;
    TRY_ASSIGN(const CasePlan original, PlanCase(set.kernel, workload, properties, nullptr));
    CasePlan plan = original;
    TRY_ASSIGN(const Program program, VariantProgram(set.kernel, set.variant, plan));
    const ProfiledCase profiled{
        request, original, plan, program, traffic[i], measured->original_us, measured->variant_us};
    reply.rooflines[workload.name] = CaseProfile(profiled, rates->peaks()).Take();
  }
  return reply;
}

}  // namespace cupilot::worker
