// Variants that win alone and lose in the program are put aside; what was measured stays.
#include <algorithm>
#include <utility>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

bool Holds(const ObjectScan& scan, const std::string& kernel_key) {
  return std::any_of(scan.kernels.begin(), scan.kernels.end(),
                     [&](const records::Kernel& kernel) { return kernel.key == kernel_key; });
}

}  // namespace

base::Result<std::vector<Refusal>> Service::Demote(const std::string& build_folder,
                                                   const records::Kernel& kernel,
                                                   const std::set<std::string>& variants,
                                                   const std::string& reason,
                                                   const records::Json& evidence) {
  std::vector<Refusal> all;
  bool known = false;
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr || state.build_folder != build_folder) continue;
    if (!Holds(*state.scan, kernel.key)) continue;
    const auto published = state.published.variants.find(records::LabelOf(kernel));
    const std::set<std::string> ids = !variants.empty() ? variants
                                      : published == state.published.variants.end()
                                          ? std::set<std::string>()
                                          : published->second;
    const std::vector<Refusal> before = catalog_.Refusals(folder);
    std::vector<Refusal> fresh;
    for (const Place& place : state.places.places) {
      const std::string workload = WorkloadHash(WorkloadAt(kernel, place));
      const std::set<std::string> refused =
          RefusedVariants(before, kernel.key, state.scan->toolchain, place.target);
      for (const std::string& id : ids) {
        const auto proven = catalog_.FindVerdict(kernel.key, workload, place, id);
        if (!proven || !proven->accepted) continue;
        known = true;
        Refusal refusal{kernel.key, id, state.scan->toolchain, place.target, reason, evidence};
        // Classes of devices may share a target.
        if (refused.contains(id) || std::find(fresh.begin(), fresh.end(), refusal) != fresh.end()) {
          continue;
        }
        fresh.push_back(std::move(refusal));
      }
    }
    if (fresh.empty()) continue;
    if (!Refuse(state, fresh)) {
      return base::Fail(base::IoError("the demotion cannot be written down"));
    }
    log::Warning("a variant is put aside", {{"object", folder}, {"reason", reason}});
    state.publish_due = true;
    for (Refusal& refusal : fresh) {
      if (std::find(all.begin(), all.end(), refusal) == all.end())
        all.push_back(std::move(refusal));
    }
  }
  if (!known) {
    return base::Fail(base::NotFound("no variant of " + records::LabelOf(kernel) +
                                     " that the program may hold is known here; it may have been "
                                     "built before its last edit"));
  }
  Later(&Service::Work);
  return all;
}

}  // namespace cupilot::service
