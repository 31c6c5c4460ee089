// What the search for a kernel begins with: what techniques think of it, what won elsewhere, and
// what the strategy pool knows of kernels like it.
#include <utility>

#include "search/number_space.h"
#include "service/kernel_job.h"

namespace cupilot::service {

void KernelJob::AskTechniques() {
  Enter("propose");
  protocol::ProposeRequest request;
  request.kernel = input_.kernel;
  request.workload = HeaviestCase(input_.workload);
  request.device = evaluate::DeviceKind(input_.place.device);
  evaluate::Propose(with_.workers, request, input_.place.device,
                    [this, alive = alive_](base::Result<protocol::ProposeReply> reply) {
                      if (*alive) OnProposals(std::move(reply));
                    });
}

void KernelJob::OnProposals(base::Result<protocol::ProposeReply> reply) {
  if (!reply) {
    Fail(reply.error());
    return EndStep();
  }
  for (protocol::Proposal& proposal : reply->proposals) {
    opinions_.push_back({std::move(proposal.technique), proposal.applies,
                         std::move(proposal.reason), std::move(proposal.parameters)});
  }
  elsewhere_ = SplitWinners(with_.catalog.WinnersElsewhere(input_.kernel.key, workload_hash_,
                                                           input_.place, kMostWinners));
  AskPool(reply->features);
  search_.emplace(InputOfSearch());
  GoOn();
}

void KernelJob::AskPool(const std::optional<records::KernelFeatures>& features) {
  search::PoolQuestion question;
  question.features = features;
  question.device = evaluate::DeviceKind(input_.place.device);
  question.kernel_key = input_.kernel.key;
  if (question.features) {
    AddProfiles(with_.catalog.Evaluations(input_.kernel.key), input_.place.identity, question);
  }
  std::vector<std::string> applicable;
  for (const search::Opinion& opinion : opinions_) {
    if (opinion.applies) applicable.push_back(opinion.technique);
  }
  advice_ = with_.pool.Advise(question, applicable);
  if (input_.parts.pool) return;
  advice_.seeds.clear();
  advice_.priors.clear();
  advice_.examples.clear();
}

search::SearchInput KernelJob::InputOfSearch() const {
  search::SearchInput input;
  input.kernel = input_.kernel.name;
  input.device = evaluate::DeviceKind(input_.place.device);
  if (input_.parts.techniques) input.opinions = opinions_;
  input.numbers = search::SpaceOf(input_.kernel, HeaviestCase(input_.workload));
  input.numbers.limits = maker_.limits();
  input.cases = search::SizedCasesOf(input_.kernel, input_.workload);
  input.numbers.multiprocessors = input_.place.identity.sm_count;
  input.numbers.champions = elsewhere_.champions;
  // What won on this very kernel comes first.
  if (input_.parts.techniques) {
    input.seeds = elsewhere_.seeds;
    input.seeds.insert(input.seeds.end(), advice_.seeds.begin(), advice_.seeds.end());
  }
  input.priors = advice_.priors;
  input.seed = input_.seed;
  input.strategy = input_.strategy;
  return input;
}

}  // namespace cupilot::service
