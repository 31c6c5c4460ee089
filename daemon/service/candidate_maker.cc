#include "service/candidate_maker.h"

#include <utility>

#include "evaluate/calls.h"
#include "evaluate/lined_workers.h"
#include "records/read_parts.h"
#include "search/number_space.h"
#include "search/size_classes.h"
#include "service/kernel_workload.h"

namespace cupilot::service {

CandidateMaker::CandidateMaker(evaluate::Workers& workers, const JobInput& input)
    : workers_(workers), input_(input), limits_(search::LimitsOf(input.place.identity.arch)) {}

std::optional<search::Outcome> CandidateMaker::Make(const search::Candidate& candidate,
                                                    Made made) const {
  const std::string& device = input_.place.device;
  // An earlier one's next step comes before a later one's first.
  evaluate::LinedWorkers line(workers_, input_.kernel.key, input_.kernel.key, candidate.id);
  if (candidate.retunes()) {
    // What the tag says of its launch is enough to see that it cannot be.
    records::Variant asked = search::LaunchedByTag(input_.kernel);
    NarrowToClass(candidate.strategy, asked);
    if (auto dropped = WhyDropped(candidate, asked)) return dropped;
    protocol::RetuneRequest request;
    request.command = input_.command;
    request.source_text = input_.source_text;
    request.kernel = input_.kernel;
    request.values = candidate.values;
    evaluate::Retune(line, request, device, std::move(made));
    return std::nullopt;
  }
  protocol::RewriteRequest request;
  request.command = input_.command;
  request.kernel = input_.kernel;
  request.workload = HeaviestCase(input_.workload);
  request.strategy = candidate.strategy;
  request.device = evaluate::DeviceKind(device);
  evaluate::Rewrite(line, request, device, std::move(made));
  return std::nullopt;
}

std::optional<search::Outcome> CandidateMaker::WhyDropped(const search::Candidate& candidate,
                                                          const records::Variant& variant) const {
  records::Environment values;
  for (const auto& [name, value] : variant.values) {
    if (value.is_number_integer()) values.integers[name] = value.get<std::int64_t>();
  }
  for (const auto& [name, value] : candidate.values) values.integers[name] = value;
  const auto excess = search::WhyNotLaunched(variant, values, input_.workload, limits_);
  if (!excess) return std::nullopt;
  search::Outcome outcome;
  outcome.kind = search::Outcome::Kind::kDeclined;
  outcome.limit = excess->limit;
  outcome.reason = "it cannot run: " + excess->detail;
  return outcome;
}

void NarrowToClass(const records::Strategy& asked, records::Variant& variant) {
  if (asked.steps.empty() || asked.steps.back().technique != search::kSizeClass) return;
  const records::StrategyStep& step = asked.steps.back();
  const std::string guard = records::TextAt(step.parameters, "guard");
  variant.guard = variant.guard.empty() ? guard : "(" + variant.guard + ") && (" + guard + ")";
  if (!variant.strategy) return;
  variant.strategy->steps.push_back(step);
  variant.strategy->title += ", then for launches with " + guard;
}

}  // namespace cupilot::service
