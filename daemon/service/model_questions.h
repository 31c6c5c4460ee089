// Questions to language models that are under way for one kernel: which of several models is asked,
// an answer that cannot be used is repaired once, the votes of a judge are counted, what waits for
// an exchange folder is looked for again. On the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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
  // What is under way is cancelled, and nothing is heard of it. Asked again, it is the same
  // question.
  void Stop();

  int pending() const;  // requests that wait for their answers elsewhere
  bool quiet() const;   // no answer is on its way
  bool idle() const { return open_.empty(); }
  std::int64_t sent() const { return sent_; }
  std::int64_t cost() const { return cost_; }              // of answers, in billionths of a dollar
  const std::string& trouble() const { return trouble_; }  // the latest, in words; may be empty

  // How often each question was answered, and the sums: a question that is asked once more, or by
  // two tasks at once, wants another answer. What is open is kept as it was asked: by the time that
  // its answer is there more is known of the kernel (a profile, a better variant), and a prompt
  // that is written anew would be another question.
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

  // What an earlier process had asked.
  struct Kept {
    ModelName by;
    std::string role, system, prompt, first;
    int sample = 0;
    std::int64_t sent = 0;
  };
  agents::ModelRequest RequestOf(const Open& open, std::size_t part, std::size_t source) const;
  std::optional<std::size_t> SourceOf(const ModelName& by) const;
  // Asks it again as it was; false: nothing is kept, or who was asked may not be asked any more.
  bool TakeKept(Open& open, std::size_t part);
  Kept KeptOf(const Part& part) const;
  void RestoreOpen(const records::Json& json);

  // Of those that may be asked; nothing: there is none.
  std::optional<std::size_t> Choose(const search::evolution::Task& task, std::size_t part) const;
  bool Begin(Open& open, std::size_t part);
  // By how much the samples of a task are later than the first that the question ever had.
  int OffsetOf(const Open& open, const std::string& first);
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
  std::map<int, Open> open_;                          // by task
  std::map<std::string, int> answered_;               // by the key of the request
  std::map<int, int> offsets_;                        // by task, while it is not answered
  std::map<std::pair<int, std::size_t>, Kept> kept_;  // by task and part, until it is asked
  std::set<std::size_t> out_;                         // sources that are asked no more
  std::int64_t sent_ = 0;
  std::int64_t cost_ = 0;
  std::string trouble_;
};

}  // namespace cupilot::service
