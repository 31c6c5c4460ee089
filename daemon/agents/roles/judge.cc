#include "agents/roles/judge.h"

#include <array>
#include <utility>

#include "agents/roles/answer.h"
#include "agents/roles/kernel_brief.h"
#include "agents/roles/numerics_text.h"
#include "agents/roles/request.h"
#include "agents/roles/strategy_answer.h"
#include "agents/roles/variant_answer.h"

namespace cupilot::agents {
namespace {

using records::Json;

constexpr std::int64_t kJudgeTokens = 8000;

constexpr const char* kVoteForm =
    R"({"same_function": "yes", "why": "what was checked, or the defect"})";

const Json& VoteSchema() {
  static const auto& schema =
      *new Json{{"type", "object"},
                {"additionalProperties", false},
                {"required", {"same_function", "why"}},
                {"properties",
                 {{"same_function", {{"type", "string"}, {"enum", {"yes", "no", "unsure"}}}},
                  {"why", {{"type", "string"}, {"maxLength", 2000}}}}}};
  return schema;
}

}  // namespace

Json JudgeData(const JudgeInputs& inputs) {
  return {{"kernel_name", KernelName(inputs.kernel)},
          {"kernel_source", KernelText(inputs.kernel)},
          {"cases", CasesText(inputs.workload)},
          {"numerics", NumericsText(inputs.workload, inputs.bitwise)},
          {"free_order", FreeOrderOutputs(inputs.workload)},
          {"variant", VariantText(inputs.variant)},
          {"answer_form", kVoteForm}};
}

ModelRequest JudgeRequest(const JudgeInputs& inputs, int number, const RoleSettings& settings) {
  RoleSettings own = settings;
  own.sample = number;
  return MakeRequest(
      {"judge.v1", kJudgeTokens, "cupilot_same_function_1", VoteSchema(), inputs.kernel.key},
      JudgeData(inputs), own);
}

Answer<Vote> ReadVote(const std::string& text) {
  Answer<Json> document = FindDocument(text, VoteSchema());
  if (!document) return tl::unexpected(document.error());
  const auto& word = (*document)["same_function"].get_ref<const std::string&>();
  Vote vote;
  vote.same = word == "yes"  ? SameFunction::kYes
              : word == "no" ? SameFunction::kNo
                             : SameFunction::kUnsure;
  vote.why = OneLine((*document)["why"].get<std::string>());
  return vote;
}

Tally CountVotes(std::span<const Vote> votes) {
  std::array<std::size_t, 3> counts{};
  for (const Vote& vote : votes) ++counts[static_cast<std::size_t>(vote.same)];
  const std::size_t no = counts[static_cast<std::size_t>(SameFunction::kNo)];
  const std::size_t yes = counts[static_cast<std::size_t>(SameFunction::kYes)];
  Tally tally;
  if (votes.empty()) return tally;
  tally.score =
      (static_cast<double>(yes) - static_cast<double>(no)) / static_cast<double>(votes.size());
  tally.drop = no >= 2 && 3 * no > 2 * votes.size();
  return tally;
}

}  // namespace cupilot::agents
