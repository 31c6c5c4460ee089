// What the search for a kernel begins with: what techniques think of it, what won elsewhere, and
// what the strategy pool knows of kernels like it.
#include <utility>

#include "search/near_values.h"
#include "search/number_space.h"
#include "service/kernel_job.h"

namespace cupilot::service {
namespace {

constexpr std::size_t kMostLike = 16;  // kernels like it, of which the best values are asked for

}  // namespace

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
  if (input_.parts.pool) return AddChampionsLike(question);
  advice_.seeds.clear();
  advice_.priors.clear();
  advice_.examples.clear();
}

// Behind those of this very kernel, what won on kernels like it that have tunables of the same
// names.
void KernelJob::AddChampionsLike(const search::PoolQuestion& question) {
  if (input_.kernel.tunables.empty()) return;
  std::vector<search::NearChampion> near;
  for (const search::NearKernel& like : with_.pool.KernelsLike(question, kMostLike)) {
    // Of no workload of this kernel: whatever won there.
    Elsewhere won =
        SplitWinners(with_.catalog.WinnersElsewhere(like.key, {}, input_.place, kMostWinners));
    if (won.champions.empty()) continue;
    near.push_back({like.distance, std::move(won.champions.front())});
  }
  for (search::Values& values : search::ValuesLike(std::move(near), input_.kernel.tunables)) {
    if (elsewhere_.champions.size() >= kMostWinners) return;
    elsewhere_.champions.push_back(std::move(values));
  }
}

search::SearchInput KernelJob::InputOfSearch() const {
  search::SearchInput input;
  input.first_pass = input_.takes_turns;
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
