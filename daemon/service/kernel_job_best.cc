// What is proven of a kernel so far, as its job sees it, and what bounds the best of it.
#include <algorithm>
#include <utility>

#include "evaluate/calls.h"
#include "evaluate/variant_set.h"
#include "log/log.h"
#include "service/kernel_job.h"

namespace cupilot::service {

using records::Json;

std::set<std::string> KernelJob::Refused() const {
  return input_.refused ? input_.refused() : std::set<std::string>();
}

std::shared_ptr<const Proven> KernelJob::Best() const {
  return with_.catalog.Best(input_.kernel.key, input_.workload, input_.place, Refused());
}

double KernelJob::ProvenSpeedup() const {
  const auto best = Best();
  return best && best->evaluation.interval ? (*best->evaluation.interval)[0] : 0.0;
}

// Whether it may be of use for the sizes at which what is proven is not.
bool KernelJob::MayJoin(const std::vector<records::CaseResult>& cases) const {
  std::vector<records::Evaluation> set;
  for (const auto& proven :
       with_.catalog.BestSet(input_.kernel.key, input_.workload, input_.place, Refused())) {
    set.push_back(proven->evaluation);
  }
  return !set.empty() && evaluate::MayJoin(set, cases, input_.workload);
}

// A step's end. What bounds the winner is looked at before models are asked, and when the search is
// over: it has the GPU for itself for seconds, so that where kernels take turns all others come
// before it.
void KernelJob::LookAtWinner() {
  const bool now = finished_ ? looked_at_ < 2 : models_due_ && !models_ && looked_at_ < 1;
  const bool possible = evaluate::DeviceKind(input_.place.device) == "cuda" && failure_.empty();
  if (!possible || !now) return EndStep();
  const auto best = Best();
  const auto known = [](const records::Evaluation& evaluation) {
    return std::any_of(evaluation.metrics.begin(), evaluation.metrics.end(),
                       [](const Json& facts) { return facts.contains("roofline"); });
  };
  if (!best || known(best->evaluation)) return EndStep();
  winner_waits_ = finished_ && input_.takes_turns && begun_in_ != Pass::kWinner;
  if (winner_waits_) return EndStep();
  looked_at_ = finished_ ? 2 : 1;
  looking_ = true;
  Save();
  Enter("profile");
  with_.evaluator.Profile(
      RequestFor(best->variant), best->evaluation,
      [this, alive = alive_, variant = best->variant](base::Result<records::Evaluation> profiled) {
        if (!*alive) return;
        looking_ = false;
        auto saved = profiled
                         ? with_.catalog.SaveVerdict(variant, *profiled, input_.place.toolchain)
                         : base::Result<>(base::Fail(profiled.error()));
        if (saved) saved = with_.pool.AddProfile(*profiled);
        if (!saved) {
          log::Info("what bounds a kernel is not known",
                    {{"kernel", records::LabelOf(input_.kernel)}, {"reason", saved.error()}});
        }
        EndStep();
      });
}

}  // namespace cupilot::service
