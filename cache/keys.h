// The keys of the store: content hashes, composed so that a prefix finds what belongs together
// (FORMAT.md). Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "records/evaluation.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::cache {

// Hash of a build folder's absolute path.
std::string ProjectKey(std::string_view build_folder);
// "<kernel_key>"
std::string KernelKey(std::string_view kernel_key);
// Hash of the workload's document.
std::string WorkloadKey(const records::Workload& workload);
// "<kernel_key>/<variant id>"; VariantPrefix() finds all of a kernel.
std::string VariantKey(std::string_view kernel_key, std::string_view variant_id);
std::string VariantPrefix(std::string_view kernel_key);
// "<kernel_key>/<device class>/<variant id>/<hash of workload, target, toolchain, driver, seed>":
// evidence of one variant for one device is found by prefix, and new evidence under other
// conditions does not overwrite old. `holds_for`: the toolchain whose builds it is about, where the
// evaluation's own name of it is not all (two compilers of one name).
std::string EvaluationKey(const records::Evaluation& evaluation, std::string_view holds_for = {});
std::string EvaluationPrefix(std::string_view kernel_key);
std::string EvaluationPrefix(std::string_view kernel_key, const records::DeviceIdentity& device);
// "pool/<id>", of an entry of the strategy pool.
std::string PoolKey(std::string_view id);
std::string PoolPrefix();
// Hash of our folder of one object in a build tree.
std::string SelectionKey(std::string_view object_folder);

// What makes two devices of one class: name, architecture, count of processors, memory.
std::string DeviceClass(const records::DeviceIdentity& device);

}  // namespace cupilot::cache
