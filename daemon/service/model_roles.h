// What a task of the evolution asks of a model, and what the answer says: the evolution's values to
// the roles' and back. Pure, but for what the finders read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agents/roles/kernel_brief.h"
#include "agents/roles/role.h"
#include "records/evaluation.h"
#include "records/variant.h"
#include "search/evolution/task.h"
#include "search/kernel_search.h"
#include "service/job_input.h"

namespace cupilot::service {

// An answer that could be read. Of a variant: its id, kernel and parents are ours.
struct Understood {
  search::evolution::Result result;
  std::optional<records::Variant> variant;
};

// By id; null and nothing: not known.
struct VariantFinders {
  std::function<const records::Variant*(const std::string& id)> variant;
  std::function<std::optional<records::Evaluation>(const std::string& id)> evaluation;
};

class ModelRoles {
 public:
  // Both must outlive it. `example`: a variant that was measured, for what is known of the
  // original; may be empty.
  ModelRoles(const JobInput& input, VariantFinders finders, std::string example);

  // The request of a task that asks; `number` is that of a judge's vote. `best`: of the evolution,
  // when the task was given.
  agents::ModelRequest Ask(const search::evolution::Task& task,
                           const search::evolution::Individual& best, int number,
                           const agents::RoleSettings& settings) const;
  // Of a judge: one vote.
  agents::Answer<Understood> Read(const search::evolution::Task& task,
                                  const search::evolution::Individual& best,
                                  const std::string& text) const;

 private:
  agents::KernelBrief BriefOf(const std::string& variant, bool diagnosed) const;
  records::Variant VariantOf(const search::evolution::Task& task) const;
  struct Inputs;

  const JobInput& input_;
  VariantFinders finders_;
  std::string example_;
};

// What an evaluation says to the evolution; of one that was never made, how it ended.
search::evolution::Evidence EvidenceOf(const search::Outcome& outcome,
                                       const records::Evaluation* evaluation,
                                       const records::Workload& workload);

search::evolution::VariantFacts FactsOf(const records::Variant& variant);

}  // namespace cupilot::service
