#include "agents/roles/translator.h"

#include <algorithm>

#include "agents/roles/prompt.h"
#include "agents/roles/request.h"
#include "agents/roles/strategy_answer.h"

namespace cupilot::agents {
namespace {

constexpr std::int64_t kTranslatorTokens = 24000;
constexpr std::size_t kMostTranslatedStrategy = 16 * 1024;
constexpr std::size_t kMostShownParents = 2;
constexpr std::size_t kMostEarlier = 3;
constexpr std::size_t kMostOfAttempt = 400;  // bytes of each detail
constexpr std::size_t kMostEarlierText = 4 * 1024;

std::string EarlierText(const TranslatorInputs& inputs) {
  const std::vector<EarlierAttempt>& earlier = inputs.earlier;
  std::string text;
  const std::size_t begin = earlier.size() - std::min(earlier.size(), kMostEarlier);
  for (std::size_t i = begin; i < earlier.size(); ++i) {
    const EarlierAttempt& attempt = earlier[i];
    text += std::to_string(i - begin + 1) + ". " + OneLine(attempt.reason);
    const std::string detail = CheckText(inputs.brief.workload, attempt.detail);
    if (!detail.empty()) text += ": " + ShortReason(detail, kMostOfAttempt);
    text += "\n";
  }
  return text;
}

}  // namespace

records::Json TranslatorData(const TranslatorInputs& inputs) {
  std::string parents;
  for (std::size_t i = 0; i < std::min(inputs.parents.size(), kMostShownParents); ++i) {
    parents += (i > 0 ? "\n\n" : "") + VariantText(inputs.parents[i]);
  }
  records::Json data = BriefData(inputs.brief);
  // Evolution on code alone has none.
  const bool given = !inputs.strategy.title.empty() || !inputs.strategy.steps.empty();
  data["strategy"] = "";
  if (given) {
    data["strategy"] = AsData("strategy", StrategyText(inputs.strategy), kMostTranslatedStrategy);
  }
  data["parents"] = parents;
  const std::string earlier = EarlierText(inputs);
  data["earlier"] = earlier.empty() ? earlier : AsData("earlier", earlier, kMostEarlierText);
  data["answer_form"] = kVariantForm;
  return data;
}

ModelRequest TranslatorRequest(const TranslatorInputs& inputs, const RoleSettings& settings) {
  return MakeRequest({"translator.v2", kTranslatorTokens, kVariantSchemaName, VariantSchema(),
                      inputs.brief.kernel.key},
                     TranslatorData(inputs), settings);
}

}  // namespace cupilot::agents
