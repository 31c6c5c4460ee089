// The part of the work on a kernel in which language models are asked: joins the evolution
// (search/evolution, which says what is next), the questions (model_questions.h) and the kernel's
// search, in which each variant of a model is an idea that is evaluated like all others. A
// structure counts with the best values of its tunables (variant_numbers.h). Variants are evaluated
// in sets: all that wait when no question is open, in the order of their tasks; so the order does
// not depend on which answer came first, and a replay makes the same evaluations in the same order,
// bit for bit. What it holds can be
// written down at any time, and goes on from there. On the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "records/json.h"
#include "search/evolution/evolution.h"
#include "search/kernel_search.h"
#include "service/catalog.h"
#include "service/job_input.h"
#include "service/model_questions.h"
#include "service/model_roles.h"
#include "service/variant_numbers.h"

namespace cupilot::service {

class ModelPhase {
 public:
  struct Collaborators {
    const JobInput& input;
    Catalog& catalog;
    search::DeviceLimits limits;
    // An answer came, and was taken in: something may be next, and there is something to write
    // down. Never from within a call of this class's.
    std::function<void()> news;
  };

  // Begins from what the search has found so far. `evaluations`: what it may use.
  static std::unique_ptr<ModelPhase> Begin(Collaborators with, const search::KernelSearch& search,
                                           std::int64_t evaluations);
  // kCorruption where the record is damaged or belongs to another kernel's work.
  static base::Result<std::unique_ptr<ModelPhase>> Restore(Collaborators with,
                                                           const search::KernelSearch& search,
                                                           const records::Json& json);
  ModelPhase(const ModelPhase&) = delete;
  ModelPhase& operator=(const ModelPhase&) = delete;
  ~ModelPhase();

  // The next variant to evaluate, which is an idea of the search from now on. Nothing: answers or
  // results are awaited, or it has ended.
  std::optional<search::Candidate> Next(search::KernelSearch& search);
  // What became of an idea that Next() gave. `evaluation`: null where there was none.
  void Report(const search::Candidate& candidate, const search::Outcome& outcome,
              const records::Evaluation* evaluation);

  // A variant that was made here; null: none.
  const records::Variant* Find(const std::string& id) const;

  // Nothing more is asked, for a reason.
  void Stop(const std::string& why);
  // What is under way is cancelled, and asked again when there is work again: the kernel's budget
  // is used up, and may be greater one day.
  void Pause();
  bool ended() const { return evolution_->stopped(); }
  // Nothing can be done before an answer comes.
  bool waiting() const;
  // Waiting, and only for answers that somebody has to bring (an exchange folder, a batch).
  bool pending() const;
  void LookAgain();
  int open_requests() const { return questions_->pending(); }
  std::int64_t requests() const { return questions_->sent(); }
  double dollars() const { return static_cast<double>(questions_->cost()) / 1e9; }

  records::Json ToJson() const;
  // For people: requests, cost, ideas, who wrote which variant, what is open, why it ended.
  records::Json Document() const;

 private:
  // Variants of one task that are evaluated, one after the other.
  struct Tuned {
    bool may_run = false;  // is of the set that is evaluated now
    std::unique_ptr<VariantNumbers> numbers;
    std::vector<int> told;  // ideas, in their order
    int open = 0;           // idea; 0: none is outstanding
  };
  struct Made {
    records::Variant variant;
    ModelName by;
  };

  explicit ModelPhase(Collaborators with);
  base::Result<> Read(const search::KernelSearch& search, const records::Json& json);
  base::Result<> ReadTuned(const search::KernelSearch& search,
                           const std::vector<records::Json>& tuned);
  void Prepare();
  void FirstMembers(const search::KernelSearch& search);
  search::evolution::Input InputOf() const;
  search::evolution::Settings SettingsOf() const;
  // Asks the evolution for all that it has now.
  void Pump();
  void Start(const search::evolution::Task& task);
  // Once a set is done and all questions are answered, the next one is all that waits.
  void BeginSet();
  bool AnyMayRun() const;
  void OnResult(int task, Understood understood, const ModelName& by);
  void EndTuned(int task);
  std::optional<records::Evaluation> FindEvaluation(const std::string& variant) const;
  const records::Variant* Keep(records::Variant variant, const ModelName& by) const;
  search::evolution::Evidence EvidenceFor(const search::Outcome& outcome,
                                          const records::Evaluation* evaluation) const;
  void BookGain(const Tuned& tuned);

  Collaborators with_;
  std::string workload_hash_;
  std::string example_;  // a variant that was measured before
  search::evolution::Individual original_;
  std::vector<search::evolution::Individual> given_;
  std::int64_t evaluations_ = 0;
  std::optional<search::evolution::Evolution> evolution_;
  std::unique_ptr<ModelRoles> roles_;
  std::unique_ptr<ModelQuestions> questions_;
  mutable std::map<std::string, Made> made_;  // by id; with those of the store that were looked up
  std::map<std::string, int> ideas_;          // of the search, by variant
  std::map<int, Tuned> tuned_;                // by task
  std::vector<search::evolution::Task> unasked_;  // of an earlier process, not asked again yet
  double best_gain_ = 0;                          // logarithm; of what is proven
  bool pumping_ = false;
};

}  // namespace cupilot::service
