#include "service/models.h"

#include <algorithm>
#include <utility>

#include "agents/consent.h"
#include "base/file.h"
#include "base/hash.h"
#include "service/documents.h"
#include "service/job_input.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

using records::Json;

double Dollars(agents::NanoDollars money) { return static_cast<double>(money) / 1e9; }

Json TotalsRow(const agents::ModelTotals& totals) {
  return {{"provider", totals.provider},      {"model", totals.model},
          {"requests", totals.requests},      {"answers", totals.answers},
          {"input_tokens", totals.input},     {"output_tokens", totals.output},
          {"dollars", Dollars(totals.spent)}, {"gain", totals.gain}};
}

// The source folder of the project that contains the folder; empty where none does.
std::string KnownProject(Service& service, const std::string& folder) {
  for (const auto& [object, state] : service.objects()) {
    if (!folder.empty() && InProject(service, state, folder)) {
      return service.projects().at(state.build_folder).source_folder;
    }
  }
  return {};
}

}  // namespace

base::Result<> Models::Use(const ModelSurroundings& surroundings) {
  surroundings_ = &surroundings;
  TRY(budget_.Adopt());
  TRY(log_.Trim(settings_.kept_bytes));
  return {};
}

const std::vector<ModelSource>& Models::For(const ModelOwner& owner) {
  static const std::vector<ModelSource> none;
  if (surroundings_ == nullptr) return none;
  const auto [at, fresh] = guarded_.try_emplace(owner.key);
  if (!fresh) return at->second.sources;
  const agents::Guards guards{*surroundings_->alarms, clock_, consent_, budget_,
                              surroundings_->prices,  log_};
  for (const ModelSource& source : surroundings_->providers) {
    at->second.providers.push_back(std::make_unique<agents::GuardedProvider>(
        *source.provider, guards, agents::Redactor({owner.folders, {}}),
        agents::GuardedProvider::Settings{settings_.allow_unknown_price}));
    at->second.sources.push_back({at->second.providers.back().get(), source.model});
  }
  return at->second.sources;
}

std::vector<std::string> Models::ProviderNames() const {
  std::vector<std::string> names;
  if (surroundings_ == nullptr) return names;
  for (const ModelSource& source : surroundings_->providers) {
    names.push_back(source.provider->name());
  }
  return names;
}

JobModels JobModelsOf(Models& models, const ModelOwner& owner) {
  JobModels of;
  of.books = &models;
  of.project = owner.key;
  of.sources = models.For(owner);
  of.requests = models.settings().requests;
  of.begin_share = models.settings().begin_share;
  of.votes = models.settings().votes;
  return of;
}

std::string ModelProject(const std::string& source_folder) { return base::HashHex(source_folder); }

base::Result<Json> ModelsDocument(Service& service, const std::string& folder) {
  Models& models = service.models();
  const agents::ModelSettings& settings = models.settings();
  TRY_ASSIGN(const agents::SpentSums sums, models.budget().Sums(""));
  Json document = {
      {"schema", "cupilot.models/1"},
      {"models", settings.models},
      {"limits",
       {{"kernel_dollars", Dollars(settings.limits.kernel)},
        {"day_dollars", Dollars(settings.limits.day)},
        {"month_dollars", Dollars(settings.limits.month)}}},
      {"spent", {{"day_dollars", Dollars(sums.day)}, {"month_dollars", Dollars(sums.month)}}},
      {"totals", Json::array()},
      {"allowed", Json::array()}};
  TRY_ASSIGN(const auto totals, models.budget().Totals());
  for (const agents::ModelTotals& one : totals) document["totals"].push_back(TotalsRow(one));
  const std::string source_folder = KnownProject(service, folder);
  document["project"] = source_folder;
  TRY_ASSIGN(const auto allowed, models.consent().List());
  for (const agents::Allowance& one : allowed) {
    if (source_folder.empty() || one.project != ModelProject(source_folder)) continue;
    document["allowed"].push_back({{"provider", one.provider}, {"since", one.since}});
  }
  return document;
}

Json ModelsStatusJson(Service& service) {
  if (!service.models().used()) return nullptr;
  std::int64_t asking = 0, open = 0, requests = 0;
  double dollars = 0;
  for (const KernelJob* job : service.Jobs()) {
    const ModelPhase* phase = job->models();
    if (phase == nullptr) continue;
    asking += phase->ended() ? 0 : 1;
    open += phase->open_requests();
    requests += phase->requests();
    dollars += phase->dollars();
  }
  return {
      {"asking", asking}, {"open_requests", open}, {"requests", requests}, {"dollars", dollars}};
}

base::Result<Json> LastExchangeDocument(Service& service, const std::string& reply_folder) {
  TRY_ASSIGN(const auto last, service.models().log().Last());
  if (!last) return base::Fail(base::NotFound("no language model was asked anything yet"));
  const std::string text = records::PrettyJson(agents::ToJson(*last));
  const std::string path = reply_folder + "/" + base::HashHex(text) + ".json";
  TRY(base::WriteFileAtomically(path, text));
  return Json{{"schema", "cupilot.models_last/1"}, {"document", path}};
}

base::Result<Json> AllExchangesDocument(Service& service, const std::string& reply_folder) {
  TRY_ASSIGN(const auto all, service.models().log().All(""));
  if (all.empty()) return base::Fail(base::NotFound("no language model was asked anything yet"));
  std::string lines;
  for (const agents::ExchangeRecord& one : all) lines += agents::ToJson(one).dump() + "\n";
  const std::string path = reply_folder + "/" + base::HashHex(lines) + ".jsonl";
  TRY(base::WriteFileAtomically(path, lines));
  return Json{{"schema", "cupilot.models_last/1"}, {"document", path}, {"count", all.size()}};
}

base::Result<Json> AllowModel(Service& service, const Json& params, bool allow) {
  const std::string provider = records::TextAt(params, "provider");
  const std::string folder = records::TextAt(params, "folder");
  if (provider.empty()) return base::Fail(base::InvalidArgument("no provider is named"));
  const std::string source_folder = KnownProject(service, folder);
  if (source_folder.empty()) {
    return base::Fail(base::NotFound("no tuned project contains " + folder +
                                     "; configure and build it once, so that the daemon knows it"));
  }
  const std::vector<std::string> used = service.models().ProviderNames();
  if (allow && std::find(used.begin(), used.end(), provider) == used.end()) {
    TRY(agents::CheckProviderName(provider));
  }
  agents::Consent& consent = service.models().consent();
  const std::string project = ModelProject(source_folder);
  TRY(allow ? consent.Allow(project, provider) : consent.Forbid(project, provider));
  if (allow) service.OnModelsAllowed();
  return ModelsDocument(service, folder);
}

}  // namespace cupilot::service
