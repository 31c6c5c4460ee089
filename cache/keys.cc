#include "cache/keys.h"

#include "base/hash.h"
#include "records/read_parts.h"

namespace cupilot::cache {
namespace {

std::string Compose(std::string_view first, std::string_view second) {
  return std::string(first) + "/" + std::string(second);
}

}  // namespace

std::string ProjectKey(std::string_view build_folder) { return base::HashHex(build_folder); }

std::string KernelKey(std::string_view kernel_key) { return std::string(kernel_key); }

std::string WorkloadKey(const records::Workload& workload) {
  return records::HashJson(records::ToJson(workload));
}

std::string VariantKey(std::string_view kernel_key, std::string_view variant_id) {
  return Compose(kernel_key, variant_id);
}

std::string VariantPrefix(std::string_view kernel_key) { return Compose(kernel_key, ""); }

std::string EvaluationKey(const records::Evaluation& evaluation, std::string_view holds_for) {
  base::Hasher conditions;
  conditions.Add(evaluation.workload)
      .Add(evaluation.target)
      .Add(evaluation.toolchain)
      .Add(evaluation.driver)
      .Add(std::to_string(evaluation.seed));
  if (!holds_for.empty() && holds_for != evaluation.toolchain) conditions.Add(holds_for);
  return EvaluationPrefix(evaluation.kernel_key, evaluation.device) +
         Compose(evaluation.variant, conditions.Hex());
}

std::string EvaluationPrefix(std::string_view kernel_key) { return Compose(kernel_key, ""); }

std::string EvaluationPrefix(std::string_view kernel_key, const records::DeviceIdentity& device) {
  return Compose(kernel_key, DeviceClass(device)) + "/";
}

std::string PoolKey(std::string_view id) { return Compose("pool", id); }

std::string PoolPrefix() { return "pool/"; }

std::string SelectionKey(std::string_view object_folder) { return base::HashHex(object_folder); }

std::string DeviceClass(const records::DeviceIdentity& device) {
  return records::HashJson(records::ToJson(device));
}

}  // namespace cupilot::cache
