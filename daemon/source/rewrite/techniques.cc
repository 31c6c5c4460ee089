#include "source/rewrite/techniques.h"

#include "search/techniques.h"
#include "source/rewrite/draft.h"
#include "source/rewrite/kernel_features.h"
#include "source/rewrite/technique.h"

namespace cupilot::source {
namespace {

const RewriteTechnique* Find(const std::string& name) {
  for (const RewriteTechnique& technique : RewriteTechniques()) {
    if (name == technique.name) return &technique;
  }
  return nullptr;
}

}  // namespace

base::Result<protocol::ProposeReply> Propose(const protocol::ProposeRequest& request) {
  TRY_ASSIGN(const Draft draft, OpenDraft(request.kernel, request.workload, request.device));
  protocol::ProposeReply reply;
  reply.features = FeaturesOf(draft);
  for (const RewriteTechnique& technique : RewriteTechniques()) {
    if (technique.propose == nullptr) continue;
    protocol::Proposal proposal;
    proposal.technique = technique.name;
    auto parameters = technique.propose(draft);
    proposal.applies = parameters.has_value() && !parameters->empty();
    if (proposal.applies) {
      proposal.parameters = std::move(*parameters);
    } else {
      proposal.reason =
          parameters ? "no other values are worth trying" : parameters.error().message;
    }
    reply.proposals.push_back(std::move(proposal));
  }
  return reply;
}

base::Result<protocol::RewriteReply> Rewrite(const protocol::RewriteRequest& request) {
  TRY_ASSIGN(Draft draft, OpenDraft(request.kernel, request.workload, request.device));
  protocol::RewriteReply reply;
  const auto decline = [&reply](std::string why) {
    reply.declined = true;
    reply.reason = std::move(why);
    return reply;
  };
  if (request.strategy.steps.empty()) return decline("the strategy has no steps");
  std::string title;
  for (const records::StrategyStep& step : request.strategy.steps) {
    const RewriteTechnique* technique = Find(step.technique);
    if (technique == nullptr) {
      return decline("there is no mechanical rewrite for '" + step.technique + "'");
    }
    if (const auto checked = search::CheckStep(step); !checked) {
      return decline(checked.error().message);
    }
    auto done = technique->apply(draft, step.parameters);
    if (!done && done.error().code == base::ErrorCode::kInternal) return base::Fail(done.error());
    if (!done) return decline(step.technique + ": " + done.error().message);
    title += (title.empty() ? "" : ", then ") + *done;
  }
  reply.strategy = request.strategy;
  reply.strategy.title = title;
  reply.variant = CloseDraft(draft, reply.strategy);
  return reply;
}

}  // namespace cupilot::source
