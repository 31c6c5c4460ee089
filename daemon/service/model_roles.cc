#include "service/model_roles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "agents/roles/aligner.h"
#include "agents/roles/judge.h"
#include "agents/roles/novelty.h"
#include "agents/roles/reviser.h"
#include "agents/roles/roofline_analyst.h"
#include "agents/roles/strategist.h"
#include "agents/roles/translator.h"
#include "agents/roles/variant_answer.h"
#include "search/resources.h"
#include "search/techniques.h"

namespace cupilot::service {
namespace {

namespace evolution = search::evolution;
using evolution::Result;
using evolution::TaskKind;

using Priors = std::map<std::string, evolution::Prior>;

std::vector<agents::TechniqueRow> TechniqueRows(const Priors& priors) {
  std::vector<agents::TechniqueRow> rows;
  for (const search::Technique& technique : search::Techniques()) {
    agents::TechniqueRow row;
    row.name = technique.name;
    row.what = technique.what;
    row.bottlenecks = technique.bottlenecks;
    if (const auto prior = priors.find(row.name); prior != priors.end()) {
      row.prior = std::exp(prior->second.log_gain);
    }
    for (const search::TechniqueParameter& one : technique.parameters) {
      row.parameters.push_back({std::string(one.name), std::string(one.what), one.low, one.high,
                                std::string(one.choices), one.expression});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What the record and the table of architectures say; peaks are an evaluation's matter.
agents::DeviceFacts DeviceFactsOf(const records::DeviceIdentity& device) {
  agents::DeviceFacts facts;
  facts.name = device.name;
  facts.arch = device.arch;
  facts.sm_count = device.sm_count;
  const search::DeviceLimits limits = search::LimitsOf(device.arch);
  facts.max_shared_bytes = limits.shared_bytes.value_or(0);
  facts.max_threads_per_sm = limits.sm_threads.value_or(0);
  facts.shared_bytes_per_sm = limits.sm_shared_bytes.value_or(0);
  facts.registers_per_sm = limits.sm_registers.value_or(0);
  return facts;
}

}  // namespace

ModelRoles::ModelRoles(const JobInput& input, VariantFinders finders, std::string example)
    : input_(input), finders_(std::move(finders)), example_(std::move(example)) {}

// Of a variant, or, where there is none, of the original, about which the example says something.
agents::KernelBrief ModelRoles::BriefOf(const std::string& variant, bool diagnosed) const {
  agents::KernelBrief brief;
  brief.kernel = input_.kernel;
  brief.workload = input_.workload;
  brief.bitwise = input_.numerics == "bitwise";
  const records::DeviceIdentity& device = input_.place.identity;
  brief.device = DeviceFactsOf(device);
  const bool original = variant.empty();
  const auto evaluation = finders_.evaluation(original ? example_ : variant);
  if (!evaluation) return brief;
  const agents::DevicePeaks peaks = agents::PeaksOf(*evaluation);
  brief.device.dram_gb_per_s = peaks.dram_gb_per_s;
  brief.device.fp32_tflops = peaks.fp32_tflops;
  brief.device.fp64_tflops = peaks.fp64_tflops;
  brief.device.launch_us = peaks.launch_us;
  for (const records::CaseResult& one : evaluation->cases) {
    if (one.l2 == "warm" && !brief.device.host()) continue;
    brief.times.push_back({one.name, one.original_us, original ? 0 : one.variant_us, one.floor_us});
  }
  if (diagnosed) {
    brief.diagnosis = agents::Diagnose(*evaluation, input_.workload,
                                       original ? agents::Side::kOriginal : agents::Side::kVariant);
  }
  return brief;
}

struct ModelRoles::Inputs {
  static agents::StrategistInputs Strategist(const ModelRoles& self, const evolution::Task& task,
                                             const evolution::Individual& best) {
    agents::StrategistInputs inputs;
    inputs.brief = self.BriefOf(best.variant.id, !task.bottleneck.empty());
    inputs.techniques = TechniqueRows(task.pool ? self.input_.models.priors : Priors());
    for (const evolution::Individual& parent : task.parents) {
      if (parent.strategy.steps.empty()) continue;
      agents::MeasuredStrategy measured;
      measured.strategy = parent.strategy;
      measured.speedup = std::exp(parent.log_gain);
      measured.bound = parent.bound;
      inputs.parents.push_back(std::move(measured));
    }
    for (const evolution::FailedIdea& one : task.failed) {
      inputs.failed.push_back({one.title, one.reason});
    }
    if (task.pool) inputs.examples = self.input_.models.examples;
    inputs.count = std::min(task.wanted, agents::kMostStrategies);
    return inputs;
  }
  static agents::TranslatorInputs Translator(const ModelRoles& self, const evolution::Task& task) {
    agents::TranslatorInputs inputs;
    inputs.brief = self.BriefOf(task.parent.id, !task.bottleneck.empty());
    inputs.strategy = task.strategy;
    for (const evolution::Failure& one : task.earlier) {
      inputs.earlier.push_back({one.reason, one.detail});
    }
    if (const records::Variant* parent = self.finders_.variant(task.parent.id)) {
      inputs.parents.push_back(*parent);
    }
    return inputs;
  }
  static agents::JudgeInputs Judge(const ModelRoles& self, const evolution::Task& task) {
    agents::JudgeInputs inputs;
    inputs.kernel = self.input_.kernel;
    inputs.workload = self.input_.workload;
    inputs.bitwise = self.input_.numerics == "bitwise";
    inputs.variant = self.VariantOf(task);
    return inputs;
  }
  static agents::ReviserInputs Reviser(const ModelRoles& self, const evolution::Task& task) {
    agents::ReviserInputs inputs;
    const auto evaluation = self.finders_.evaluation(task.variant.id);
    inputs.finding = evaluation ? agents::FindingOf(*evaluation)
                                : agents::Finding{agents::Finding::Kind::kBuild,
                                                  task.finding.reason, task.finding.detail};
    const bool profile = inputs.finding.kind == agents::Finding::Kind::kProfile;
    inputs.brief = self.BriefOf(profile ? task.variant.id : "", profile);
    inputs.strategy = task.strategy;
    inputs.variant = self.VariantOf(task);
    return inputs;
  }
  static agents::AlignerInputs Aligner(const ModelRoles& self, const evolution::Task& task) {
    return {self.input_.kernel, TechniqueRows({}), task.strategy, self.VariantOf(task)};
  }
};

records::Variant ModelRoles::VariantOf(const evolution::Task& task) const {
  const records::Variant* variant = finders_.variant(task.variant.id);
  return variant == nullptr ? records::Variant() : *variant;
}

agents::ModelRequest ModelRoles::Ask(const evolution::Task& task, const evolution::Individual& best,
                                     int number, const agents::RoleSettings& settings) const {
  agents::ModelRequest request;
  switch (task.kind) {
    case TaskKind::kStrategist:
      request = agents::StrategistRequest(Inputs::Strategist(*this, task, best), settings);
      break;
    case TaskKind::kTranslate:
      request = agents::TranslatorRequest(Inputs::Translator(*this, task), settings);
      break;
    case TaskKind::kJudge:
      request = agents::JudgeRequest(Inputs::Judge(*this, task), number, settings);
      break;
    case TaskKind::kRevise:
      request = agents::ReviserRequest(Inputs::Reviser(*this, task), settings);
      break;
    case TaskKind::kAlign:
      request = agents::AlignerRequest(Inputs::Aligner(*this, task), settings);
      break;
    case TaskKind::kEvaluate:
      break;
  }
  return request;
}

agents::Answer<Understood> ModelRoles::Read(const evolution::Task& task,
                                            const evolution::Individual& best,
                                            const std::string& text) const {
  switch (task.kind) {
    case TaskKind::kStrategist: {
      auto read = agents::ReadStrategies(text, Inputs::Strategist(*this, task, best));
      if (!read) return tl::unexpected(read.error());
      std::vector<evolution::Plan> plans;
      for (agents::ProposedStrategy& one : *read) plans.push_back({std::move(one.strategy), {}});
      return Understood{Result::Plans(std::move(plans)), std::nullopt};
    }
    case TaskKind::kTranslate:
    case TaskKind::kRevise: {
      auto read = agents::ReadVariant(text, input_.kernel);
      if (!read) return tl::unexpected(read.error());
      records::Variant& variant = read->variant;
      variant.strategy = task.strategy;
      if (variant.strategy->steps.empty()) variant.strategy->steps = read->steps;
      if (variant.strategy->title.empty()) {
        variant.strategy->title = search::TitleOf(variant.strategy->steps);
      }
      const std::string& parent = task.kind == TaskKind::kRevise ? task.variant.id : task.parent.id;
      if (!parent.empty()) variant.parents = {parent};
      variant.id = records::VariantId(variant);
      return Understood{Result::Variant(FactsOf(variant)), std::move(variant)};
    }
    case TaskKind::kJudge: {
      const auto vote = agents::ReadVote(text);
      if (!vote) return tl::unexpected(vote.error());
      return Understood{Result::Votes(vote->same == agents::SameFunction::kYes ? 1 : 0,
                                      vote->same == agents::SameFunction::kNo ? 1 : 0),
                        std::nullopt};
    }
    case TaskKind::kAlign: {
      auto read = agents::ReadAligned(text, Inputs::Aligner(*this, task));
      if (!read) return tl::unexpected(read.error());
      return Understood{Result::Aligned(std::move(*read)), std::nullopt};
    }
    case TaskKind::kEvaluate:
      break;
  }
  return Understood{Result::Nothing("nobody is asked for that"), std::nullopt};
}

evolution::VariantFacts FactsOf(const records::Variant& variant) {
  return {variant.id, agents::NoveltyKey(variant), static_cast<int>(variant.tunables.size())};
}

evolution::Evidence EvidenceOf(const search::Outcome& outcome,
                               const records::Evaluation* evaluation,
                               const records::Workload& workload) {
  using Kind = search::Outcome::Kind;
  evolution::Evidence evidence;
  evidence.reason = outcome.reason;
  evidence.speedup = outcome.speedup;
  evidence.floor_share = outcome.floor_share;
  // What is beaten was not proven to the end: no more than measured.
  const bool accepted = outcome.kind == Kind::kAccepted && outcome.reason.empty();
  evidence.kind = accepted                        ? evolution::Evidence::Kind::kAccepted
                  : outcome.kind == Kind::kFailed ? evolution::Evidence::Kind::kFailed
                                                  : evolution::Evidence::Kind::kRejected;
  // It cannot run on the device, so that it was not built.
  if (outcome.kind == Kind::kDeclined) {
    evidence.reason = "invalid_launch";
    evidence.detail = outcome.reason;
  }
  if (evaluation == nullptr) return evidence;
  evidence.detail = evaluation->detail.substr(0, evolution::kDetailBytes);
  if (evidence.speedup) {
    const auto diagnosis = agents::Diagnose(*evaluation, workload, agents::Side::kVariant);
    if (diagnosis) evidence.bound = diagnosis->bound;
  }
  return evidence;
}

}  // namespace cupilot::service
