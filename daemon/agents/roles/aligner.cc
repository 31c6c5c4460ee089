#include "agents/roles/aligner.h"

#include <utility>

#include "agents/roles/answer.h"
#include "agents/roles/kernel_brief.h"
#include "agents/roles/prompt.h"
#include "agents/roles/request.h"
#include "agents/roles/strategy_answer.h"
#include "agents/roles/variant_answer.h"

namespace cupilot::agents {
namespace {

using records::Json;

constexpr std::int64_t kAlignerTokens = 6000;
constexpr std::size_t kMostShownStrategy = 16 * 1024;

constexpr const char* kAlignedForm = R"({"title": "a short name for the whole",
 "steps": [
   {"technique": "unrolling",
    "parameters": [{"name": "factor", "value": 4}],
    "rationale": "what the code does",
    "expected_gain": 1.3}]})";

const Json& AlignedSchema() {
  static const auto& schema =
      *new Json{{"type", "object"},
                {"additionalProperties", false},
                {"required", {"title", "steps"}},
                {"properties",
                 {{"title", {{"type", "string"}, {"minLength", 1}, {"maxLength", 200}}},
                  {"steps", StepsSchema()}}}};
  return schema;
}

}  // namespace

Json AlignerData(const AlignerInputs& inputs) {
  return {{"techniques", TechniquesText(inputs.techniques)},
          {"kernel_name", KernelName(inputs.kernel)},
          {"kernel_source", KernelText(inputs.kernel)},
          {"variant", VariantText(inputs.variant)},
          {"strategy", AsData("strategy", StrategyText(inputs.strategy), kMostShownStrategy)},
          {"answer_form", kAlignedForm}};
}

ModelRequest AlignerRequest(const AlignerInputs& inputs, const RoleSettings& settings) {
  return MakeRequest(
      {"aligner.v1", kAlignerTokens, "cupilot_strategy_1", AlignedSchema(), inputs.kernel.key},
      AlignerData(inputs), settings);
}

Answer<records::Strategy> ReadAligned(const std::string& text, const AlignerInputs& inputs) {
  Answer<Json> document = FindDocument(text, AlignedSchema());
  if (!document) return tl::unexpected(document.error());
  auto steps = ReadSteps((*document)["steps"], inputs.techniques, "steps");
  if (!steps) return tl::unexpected(steps.error());
  records::Strategy strategy;
  strategy.title = OneLine((*document)["title"].get<std::string>());
  strategy.bottleneck = inputs.strategy.bottleneck;
  strategy.steps = std::move(*steps);
  return strategy;
}

}  // namespace cupilot::agents
