#include "service/model_questions.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "agents/model_bandit.h"
#include "base/hash.h"
#include "log/log.h"
#include "records/reader.h"

namespace cupilot::service {
namespace {

using records::Json;
using search::evolution::Result;
using search::evolution::Task;
using search::evolution::TaskKind;

// Asking this provider again does not help.
bool EndsProvider(agents::Failure why) {
  using agents::Failure;
  return why == Failure::kNotAllowed || why == Failure::kUnknownPrice ||
         why == Failure::kOverLimit || why == Failure::kNoMoney || why == Failure::kUnauthorised ||
         why == Failure::kUnknownModel || why == Failure::kMissing;
}

// It did answer, and the answer is of no use.
bool IsAnswer(agents::Failure why) {
  using agents::Failure;
  return why == Failure::kRefused || why == Failure::kTruncated || why == Failure::kTooLarge ||
         why == Failure::kMalformed;
}

// From [0, 1), the same each time.
double EvenOf(std::uint64_t seed, int task, std::size_t part) {
  const std::string text =
      std::to_string(seed) + " " + std::to_string(task) + " " + std::to_string(part);
  const std::string digits = base::HashHex(text).substr(0, 12);
  return static_cast<double>(std::stoull(digits, nullptr, 16)) / static_cast<double>(1ull << 48);
}

}  // namespace

ModelName ModelQuestions::NameOf(const Part& part) const {
  const ModelSource& source = input_.models.sources[part.source];
  return {source.provider->name(), source.model};
}

std::optional<std::size_t> ModelQuestions::Choose(const Task& task, std::size_t part) const {
  std::vector<std::size_t> left;
  std::vector<agents::ModelArm> arms;
  const auto totals = input_.models.books->budget().Totals();
  for (std::size_t i = 0; i < input_.models.sources.size(); ++i) {
    if (out_.contains(i)) continue;
    left.push_back(i);
    agents::ModelArm arm;
    const ModelSource& source = input_.models.sources[i];
    for (const agents::ModelTotals& one : totals.value_or(std::vector<agents::ModelTotals>())) {
      if (one.provider != source.provider->name() || one.model != source.model) continue;
      arm.requests = static_cast<double>(one.requests);
      arm.gain = one.gain;
      if (one.requests > 0) {
        arm.price = static_cast<double>(one.spent) / 1e9 / static_cast<double>(one.requests);
      }
    }
    arms.push_back(arm);
  }
  if (left.empty()) return std::nullopt;
  if (left.size() == 1) return left.front();
  return left[agents::ChooseModel(arms, {}, EvenOf(input_.seed, task.id, part))];
}

void ModelQuestions::Ask(const Task& task, const search::evolution::Individual& best) {
  Open& open = open_[task.id];
  open.task = task;
  open.best = best;
  open.parts.resize(
      task.kind == TaskKind::kJudge ? static_cast<std::size_t>(std::max(task.votes, 1)) : 1);
  for (std::size_t part = 0; part < open.parts.size(); ++part) {
    if (!Begin(open, part)) return;
  }
}

agents::ModelRequest ModelQuestions::RequestOf(const Open& open, std::size_t part,
                                               std::size_t source) const {
  agents::RoleSettings settings;
  settings.model = input_.models.sources[source].model;
  settings.project = input_.models.project;
  return roles_.Ask(open.task, open.best, static_cast<int>(part), settings);
}

std::optional<std::size_t> ModelQuestions::SourceOf(const ModelName& by) const {
  for (std::size_t i = 0; i < input_.models.sources.size(); ++i) {
    const ModelSource& source = input_.models.sources[i];
    if (source.provider->name() == by.provider && source.model == by.model) {
      return out_.contains(i) ? std::nullopt : std::optional(i);
    }
  }
  return std::nullopt;
}

bool ModelQuestions::TakeKept(Open& open, std::size_t part) {
  const auto node = kept_.extract({open.task.id, part});
  if (node.empty()) return false;
  const Kept& kept = node.mapped();
  const auto source = SourceOf(kept.by);
  if (!source) return false;
  Part& one = open.parts[part];
  one.source = *source;
  // Its texts; all else is the role's.
  one.request = RequestOf(open, part, *source);
  one.request.role = kept.role;
  one.request.system = kept.system;
  one.request.prompt = kept.prompt;
  one.request.sample = kept.sample;
  one.first = kept.first;
  one.sent = kept.sent - 1;
  sent_ += kept.sent - 1;
  Send(open, part);
  return true;
}

// False: nobody is left, and this question is no more.
bool ModelQuestions::Begin(Open& open, std::size_t part) {
  if (TakeKept(open, part)) return true;
  const auto source = Choose(open.task, part);
  if (!source) {
    handlers_.on_nobody(trouble_.empty() ? "no model is set" : trouble_);
    return false;
  }
  Part& one = open.parts[part];
  one.source = *source;
  one.request = RequestOf(open, part, *source);
  one.first = agents::RequestKey(one.request);
  one.request.sample += OffsetOf(open, one.first) * static_cast<int>(open.parts.size());
  Send(open, part);
  return true;
}

// The same when the task is asked again, whatever was answered meanwhile.
int ModelQuestions::OffsetOf(const Open& open, const std::string& first) {
  const auto [at, fresh] = offsets_.try_emplace(open.task.id, 0);
  if (!fresh) return at->second;
  if (const auto known = answered_.find(first); known != answered_.end()) {
    at->second = known->second;
  }
  for (const auto& [task, other] : open_) {
    if (task != open.task.id && other.parts[0].first == first) ++at->second;
  }
  return at->second;
}

void ModelQuestions::Send(Open& open, std::size_t part) {
  Part& one = open.parts[part];
  // Looking again is no other request.
  if (!one.pending) {
    ++one.sent;
    ++sent_;
  }
  one.pending = false;
  one.call = input_.models.sources[one.source].provider->Send(
      one.request, nullptr, [this, task = open.task.id, part](agents::ModelResult result) {
        OnAnswer(task, part, std::move(result));
      });
}

void ModelQuestions::OnAnswer(int task, std::size_t part, agents::ModelResult result) {
  const auto found = open_.find(task);
  if (found == open_.end()) return;
  Open& open = found->second;
  Part& one = open.parts[part];
  const auto ended = std::move(one.call);  // it runs still: gone when this returns
  if (result) {
    OnText(open, part, *result);
  } else {
    const agents::ModelError& error = result.error();
    if (error.why == agents::Failure::kPending) {
      one.pending = true;
    } else {
      trouble_ = error.message;
      log::Info("a language model gave no answer", {{"kernel", records::LabelOf(input_.kernel)},
                                                    {"role", one.request.role},
                                                    {"why", std::string(agents::Name(error.why))},
                                                    {"message", error.message}});
      if (EndsProvider(error.why)) return AskElsewhere(open, part);
      one.done = true;
      one.answered = IsAnswer(error.why);
      one.why = error.message;
    }
  }
  Look(task);
}

void ModelQuestions::AskElsewhere(Open& open, std::size_t part) {
  out_.insert(open.parts[part].source);
  --open.parts[part].sent;  // it was not asked
  --sent_;
  (void)Begin(open, part);
}

void ModelQuestions::OnText(Open& open, std::size_t part, const agents::ModelAnswer& answer) {
  Part& one = open.parts[part];
  cost_ += answer.cost;
  auto read = roles_.Read(open.task, open.best, answer.text);
  if (read) {
    one.understood = std::move(*read);
    one.done = one.answered = true;
    return;
  }
  auto repair = agents::RepairRequest(one.request, answer.text, read.error());
  if (!repair) {
    one.done = one.answered = true;
    one.why = read.error().message;
    return;
  }
  one.request = std::move(*repair);
  Send(open, part);
}

// What is known of a task by now.
void ModelQuestions::Look(int task) {
  Open& open = open_.at(task);
  bool pending = false;
  for (const Part& part : open.parts) {
    if (part.call) return;
    pending = pending || part.pending;
  }
  if (pending) {
    if (std::exchange(open.told_pending, true)) return;
    return handlers_.on_result(task, {Result::Pending(), std::nullopt}, NameOf(open.parts[0]));
  }
  for (const Part& part : open.parts) {
    if (part.answered) ++answered_[part.first];
  }
  const ModelName by = NameOf(open.parts[0]);
  Understood understood = Combine(open);
  offsets_.erase(task);
  open_.erase(task);
  handlers_.on_result(task, std::move(understood), by);
}

Understood ModelQuestions::Combine(Open& open) const {
  std::int64_t sent = 0;
  bool answered = false;
  std::string why;
  Understood whole;
  if (open.task.kind == TaskKind::kJudge) whole.result = Result::Votes(0, 0);
  for (Part& part : open.parts) {
    sent += part.sent;
    answered = answered || part.answered;
    if (!part.why.empty()) why = part.why;
    if (!part.understood) continue;
    if (open.task.kind == TaskKind::kJudge) {
      whole.result.same += part.understood->result.same;
      whole.result.other += part.understood->result.other;
    } else {
      whole = std::move(*part.understood);
    }
  }
  const bool nothing = open.task.kind != TaskKind::kJudge && !open.parts[0].understood;
  if (!answered) {
    whole = {Result::Unanswered(why), std::nullopt};
  } else if (nothing) {
    whole = {Result::Nothing(why), std::nullopt};
  }
  whole.result.requests = sent;
  return whole;
}

ModelQuestions::Kept ModelQuestions::KeptOf(const Part& part) const {
  const agents::ModelRequest& request = part.request;
  return {NameOf(part), request.role,   request.system, request.prompt,
          part.first,   request.sample, part.sent};
}

void ModelQuestions::Stop() {
  for (const auto& [task, open] : open_) {
    for (std::size_t i = 0; i < open.parts.size(); ++i) {
      const Part& part = open.parts[i];
      if (part.done || part.sent == 0) continue;
      kept_[{task, i}] = KeptOf(part);
      sent_ -= part.sent;
    }
  }
  open_.clear();
}

void ModelQuestions::LookAgain() {
  std::vector<int> tasks;
  tasks.reserve(open_.size());
  for (const auto& [task, open] : open_) tasks.push_back(task);
  for (const int task : tasks) {
    const auto found = open_.find(task);
    if (found == open_.end()) continue;
    for (std::size_t part = 0; part < found->second.parts.size(); ++part) {
      const Part& one = found->second.parts[part];
      if (one.pending && !one.call) Send(found->second, part);
    }
  }
}

int ModelQuestions::pending() const {
  int count = 0;
  for (const auto& [task, open] : open_) {
    for (const Part& part : open.parts) count += part.pending ? 1 : 0;
  }
  return count;
}

bool ModelQuestions::quiet() const {
  for (const auto& [task, open] : open_) {
    for (const Part& part : open.parts) {
      if (part.call) return false;
    }
  }
  return true;
}

Json ModelQuestions::ToJson() const {
  // What is open is asked, and counted, again.
  std::int64_t sent = sent_;
  for (const auto& [task, open] : open_) {
    for (const Part& part : open.parts) sent -= part.sent;
  }
  Json kept = Json::array();
  const auto keep = [&](int task, std::size_t part, const Kept& of) {
    kept.push_back({{"task", task},
                    {"part", part},
                    {"provider", of.by.provider},
                    {"model", of.by.model},
                    {"role", of.role},
                    {"system", of.system},
                    {"prompt", of.prompt},
                    {"sample", of.sample},
                    {"first", of.first},
                    {"sent", of.sent}});
  };
  for (const auto& [key, of] : kept_) keep(key.first, key.second, of);
  for (const auto& [task, open] : open_) {
    for (std::size_t i = 0; i < open.parts.size(); ++i) {
      const Part& part = open.parts[i];
      if (part.done || part.sent == 0) continue;
      keep(task, i, KeptOf(part));
    }
  }
  Json offsets = Json::object();
  for (const auto& [task, offset] : offsets_) offsets[std::to_string(task)] = offset;
  return {{"answered", answered_},   {"offsets", std::move(offsets)},
          {"open", std::move(kept)}, {"sent", sent},
          {"cost", cost_},           {"trouble", trouble_}};
}

void ModelQuestions::Restore(const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "questions", reading);
  Json answered, offsets, open;
  object.Optional("answered", answered)
      .Optional("offsets", offsets)
      .Optional("open", open)
      .Optional("sent", sent_)
      .Optional("cost", cost_)
      .Optional("trouble", trouble_);
  if (offsets.is_object()) {
    for (const auto& [task, offset] : offsets.items()) {
      if (offset.is_number_integer()) offsets_[std::atoi(task.c_str())] = offset.get<int>();
    }
  }
  RestoreOpen(open);
  if (!answered.is_object()) return;
  for (const auto& [key, count] : answered.items()) {
    if (count.is_number_integer()) answered_[key] = count.get<int>();
  }
}

void ModelQuestions::RestoreOpen(const Json& json) {
  if (!json.is_array()) return;
  for (const Json& one : json) {
    records::Reading reading(records::Strictness::kLenient);
    records::ObjectReader object(one, "open", reading);
    Kept kept;
    std::int64_t task = 0, part = 0, sample = 0;
    object.Required("task", task)
        .Required("part", part)
        .Required("provider", kept.by.provider)
        .Required("model", kept.by.model)
        .Required("role", kept.role)
        .Required("system", kept.system)
        .Required("prompt", kept.prompt)
        .Required("sample", sample)
        .Required("first", kept.first)
        .Required("sent", kept.sent);
    // A question that cannot be read is written anew.
    if (reading.error() || part < 0 || kept.sent < 1) continue;
    kept.sample = static_cast<int>(sample);
    kept_[{static_cast<int>(task), static_cast<std::size_t>(part)}] = std::move(kept);
  }
}

}  // namespace cupilot::service
