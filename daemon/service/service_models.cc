// Language models in the service: whose sources are sent to whom.
#include "service/service.h"

namespace cupilot::service {

// Of a project without a source folder nothing can be allowed. Whether something is, is asked with
// each request (guarded_provider.h).
JobModels Service::ModelsFor(const ObjectState& state) {
  const auto project = projects_.find(state.build_folder);
  if (!models_.used() || project == projects_.end()) return {};
  const std::string& sources = project->second.source_folder;
  if (sources.empty()) return {};
  ModelOwner owner{ModelProject(sources),
                   {{sources, "<project>"}, {state.build_folder, "<build>"}}};
  JobModels models;
  models.books = &models_;
  models.sources = models_.For(owner);
  models.project = owner.key;
  models.begin_share = models_.settings().begin_share;
  models.requests = models_.settings().requests;
  return models;
}

}  // namespace cupilot::service
