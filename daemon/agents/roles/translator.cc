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

}  // namespace

records::Json TranslatorData(const TranslatorInputs& inputs) {
  std::string parents;
  for (std::size_t i = 0; i < std::min(inputs.parents.size(), kMostShownParents); ++i) {
    parents += (i > 0 ? "\n\n" : "") + VariantText(inputs.parents[i]);
  }
  records::Json data = BriefData(inputs.brief);
  data["strategy"] = AsData("strategy", StrategyText(inputs.strategy), kMostTranslatedStrategy);
  data["parents"] = parents;
  data["answer_form"] = kVariantForm;
  return data;
}

ModelRequest TranslatorRequest(const TranslatorInputs& inputs, const RoleSettings& settings) {
  return MakeRequest({"translator.v1", kTranslatorTokens, kVariantSchemaName, VariantSchema(),
                      inputs.brief.kernel.key},
                     TranslatorData(inputs), settings);
}

}  // namespace cupilot::agents
