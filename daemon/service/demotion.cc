#include "service/demotion.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "protocol/demotion.h"

namespace cupilot::service {
namespace {

using records::Json;

Json RowOf(const Refusal& refusal) {
  return {{"variant", refusal.variant},
          {"target", refusal.target},
          {"reason", refusal.reason},
          {"evidence", refusal.evidence}};
}

// What the user has to do, if anything.
std::string NextStep(const ObjectState& state) {
  if (!state.target.lock.empty() && base::FileExists(state.target.lock)) {
    return "the lock file decides: `cupilot lock` takes it out";
  }
  if (state.target.apply == "manual") return "`cupilot apply` takes it out of the next build";
  return "the next build does without it";
}

}  // namespace

base::Result<Json> DemotionDocument(Service& service, const Json& params) {
  TRY_ASSIGN(const protocol::Demotion demotion, protocol::DemotionOf(params));
  TRY_ASSIGN(const KernelPlace place, FindKernel(service, demotion.kernel, demotion.folder));
  const std::string date = service.Date();
  Json evidence = protocol::ToJson(demotion);
  evidence["date"] = date;
  const std::set<std::string> variants(demotion.variants.begin(), demotion.variants.end());
  const std::string next = NextStep(*place.object);
  TRY_ASSIGN(const std::vector<Refusal> refusals,
             service.Demote(place.object->build_folder, *place.kernel, variants,
                            protocol::ReasonOf(demotion, date), evidence));
  Json document = {{"schema", "cupilot.demoted/1"},
                   {"kernel", records::LabelOf(*place.kernel)},
                   {"variants", Json::array()},
                   {"message", refusals.empty() ? "it was put aside before; " + next : next}};
  for (const Refusal& refusal : refusals) document["variants"].push_back(RowOf(refusal));
  return document;
}

Json RefusedJson(Service& service, const KernelPlace& place) {
  std::vector<Refusal> refused;
  for (std::size_t i = 0; i < place.object->places.places.size(); ++i) {
    for (Refusal& refusal : service.RefusedOf(*place.object, *place.kernel, i)) {
      if (std::find(refused.begin(), refused.end(), refusal) == refused.end()) {
        refused.push_back(std::move(refusal));
      }
    }
  }
  Json list = Json::array();
  for (const Refusal& refusal : refused) list.push_back(RowOf(refusal));
  return list;
}

}  // namespace cupilot::service
