#include "agents/roles/reviser.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agents/roles/plain_text.h"
#include "agents/roles/prompt.h"
#include "agents/roles/request.h"
#include "agents/roles/strategy_answer.h"

namespace cupilot::agents {
namespace {

constexpr std::int64_t kReviserTokens = 24000;
constexpr std::size_t kMostRevisedStrategy = 16 * 1024;

bool IsOneOf(std::string_view reason, std::initializer_list<std::string_view> reasons) {
  return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

}  // namespace

Finding FindingOf(const records::Evaluation& evaluation) {
  Finding finding;
  finding.reason = evaluation.reason;
  finding.detail = WithoutFolders(evaluation.detail);
  if (IsOneOf(evaluation.reason,
              {"not_faster", "unstable_timing", "faster_than_physics", "timed_out"})) {
    finding.detail = WithRoundedNumbers(finding.detail);
  }
  if (IsOneOf(evaluation.reason,
              {"forbidden_construct", "forbidden_numerics", "build_failed", "invalid_launch"})) {
    finding.kind = Finding::Kind::kBuild;
  } else if (evaluation.accepted || IsOneOf(evaluation.reason, {"not_faster", "unstable_timing"})) {
    finding.kind = Finding::Kind::kProfile;
  } else {
    finding.kind = Finding::Kind::kCheck;
  }
  return finding;
}

records::Json ReviserData(const ReviserInputs& inputs) {
  const Finding& finding = inputs.finding;
  const bool build = finding.kind == Finding::Kind::kBuild;
  records::Json data = BriefData(inputs.brief);
  data["strategy"] = AsData("strategy", StrategyText(inputs.strategy), kMostRevisedStrategy);
  data["variant"] = VariantText(inputs.variant);
  data["build"] = build;
  data["check"] = finding.kind == Finding::Kind::kCheck;
  data["profile"] = finding.kind == Finding::Kind::kProfile;
  const bool bound = finding.kind == Finding::Kind::kProfile && inputs.brief.diagnosis;
  data["reason"] = AsName(bound ? inputs.brief.diagnosis->bound : finding.reason);
  // What a compiler says last is what its first lines led to.
  data["finding"] =
      AsData("finding", CheckText(inputs.brief.workload, finding.detail), kMostFinding, build);
  data["answer_form"] = kVariantForm;
  return data;
}

ModelRequest ReviserRequest(const ReviserInputs& inputs, const RoleSettings& settings) {
  return MakeRequest(
      {"reviser.v1", kReviserTokens, kVariantSchemaName, VariantSchema(), inputs.brief.kernel.key},
      ReviserData(inputs), settings);
}

}  // namespace cupilot::agents
