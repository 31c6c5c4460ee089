// Questions to language models that are under way for one kernel: which of several models is asked,
// an answer that cannot be used is repaired once, the votes of a judge are counted, what waits for
// an exchange folder is looked for again. On the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/provider.h"
#include "agents/roles/role.h"
#include "records/json.h"
#include "search/evolution/task.h"
#include "service/job_input.h"
#include "service/model_roles.h"

namespace cupilot::service {

// Who made an answer.
struct ModelName {
  std::string provider;
  std::string model;
};

class ModelQuestions {
 public:
  struct Handlers {
    // A task's result, kPending too (then the real one comes later). Never before Ask() returned.
    std::function<void(int task, Understood understood, const ModelName& by)> on_result;
    // Nobody is left who may be asked, for this reason.
    std::function<void(const std::string& why)> on_nobody;
  };
  // All must outlive it.
  ModelQuestions(const JobInput& input, const ModelRoles& roles, Handlers handlers)
      : input_(input), roles_(roles), handlers_(std::move(handlers)) {}
  ModelQuestions(const ModelQuestions&) = delete;
  ModelQuestions& operator=(const ModelQuestions&) = delete;

  void Ask(const search::evolution::Task& task, const search::evolution::Individual& best);
  // What is pending is asked again: its answer may be there.
  void LookAgain();
  // What is under way is cancelled, and nothing is heard of it.
  void Stop() { open_.clear(); }

  int pending() const;  // requests that wait for their answers elsewhere
  bool quiet() const;   // no answer is on its way
  bool idle() const { return open_.empty(); }
  std::int64_t sent() const { return sent_; }
  std::int64_t cost() const { return cost_; }              // of answers, in billionths of a dollar
  const std::string& trouble() const { return trouble_; }  // the latest, in words; may be empty

  // How often each question was answered, and the sums: a question that is asked once more wants
  // another answer.
  records::Json ToJson() const;
  void Restore(const records::Json& json);

 private:
  struct Part {
    agents::ModelRequest request;
    std::unique_ptr<agents::ModelCall> call;
    std::size_t source = 0;
    bool pending = false;
    bool done = false;
    std::optional<Understood> understood;
    bool answered = false;  // though it may be of no use: `why`
    std::string why;
    std::int64_t sent = 0;
    std::string first;  // RequestKey of what was asked first
  };
  struct Open {
    search::evolution::Task task;
    search::evolution::Individual best;
    std::vector<Part> parts;  // one; of a judge one a vote
    bool told_pending = false;
  };

  // Of those that may be asked; nothing: there is none.
  std::optional<std::size_t> Choose(const search::evolution::Task& task, std::size_t part) const;
  bool Begin(Open& open, std::size_t part);
  void Send(Open& open, std::size_t part);
  void OnAnswer(int task, std::size_t part, agents::ModelResult result);
  void OnText(Open& open, std::size_t part, const agents::ModelAnswer& answer);
  // Somebody else is asked in its place, where somebody is left.
  void AskElsewhere(Open& open, std::size_t part);
  void Look(int task);
  Understood Combine(Open& open) const;
  ModelName NameOf(const Part& part) const;

  const JobInput& input_;
  const ModelRoles& roles_;
  Handlers handlers_;
  std::map<int, Open> open_;             // by task
  std::map<std::string, int> answered_;  // by the key of the request
  std::set<std::size_t> out_;            // sources that are asked no more
  std::int64_t sent_ = 0;
  std::int64_t cost_ = 0;
  std::string trouble_;
};

}  // namespace cupilot::service
