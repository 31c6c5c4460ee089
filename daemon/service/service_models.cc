// Language models in the service: whose sources are sent to whom.
#include <algorithm>

#include "service/service.h"

namespace cupilot::service {
namespace {

constexpr std::chrono::milliseconds kAnswersPeriod{30'000};

}  // namespace

// Of a project without a source folder nothing can be allowed. Whether something is, is asked with
// each request (guarded_provider.h).
JobModels Service::ModelsFor(const ObjectState& state) {
  const auto project = projects_.find(state.build_folder);
  if (!models_.used() || project == projects_.end()) return {};
  const std::string& sources = project->second.source_folder;
  if (sources.empty()) return {};
  return JobModelsOf(
      models_, {ModelProject(sources), {{sources, "<project>"}, {state.build_folder, "<build>"}}});
}

// Answers that somebody brings are no events: they are looked for, seldom, while some are awaited.
void Service::WatchAnswers() {
  const auto jobs = AllJobs();
  const bool pending =
      std::any_of(jobs.begin(), jobs.end(), [](const KernelJob* job) { return job->pending(); });
  if (!pending) return models_timer_.Cancel();
  if (models_timer_.active()) return;
  models_timer_.Start(kAnswersPeriod, [this] {
    if (obstacle_.empty()) {
      for (KernelJob* job : AllJobs()) {
        if (job->pending()) job->LookForAnswers();
      }
    }
    Work();
  });
}

std::vector<const KernelJob*> Service::Jobs() const {
  const auto jobs = AllJobs();
  return {jobs.begin(), jobs.end()};
}

void Service::OnModelsAllowed() {
  for (const auto& [key, job] : jobs_) (void)job->ReconsiderModels();
  Later(&Service::Work);
}

}  // namespace cupilot::service
