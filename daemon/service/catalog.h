// The store in the service's own terms. A verdict is written, with its variant, before anybody acts
// on it. One thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/store.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::service {

struct Proven {
  records::Variant variant;
  records::Evaluation evaluation;
};

// A variant whose swapped source an object's compile refused. It holds for this kernel and compiler
// only.
struct Refusal {
  std::string kernel_key;
  std::string variant;
  std::string toolchain;
  bool operator==(const Refusal&) const = default;
};

class Catalog {
 public:
  explicit Catalog(cache::Store& store) : store_(store) {}

  base::Result<> SaveKernel(const records::Kernel& kernel, const records::Workload& workload);
  // Variant and evaluation together, or neither.
  base::Result<> SaveVerdict(const records::Variant& variant,
                             const records::Evaluation& evaluation);

  // All evaluations of a kernel, oldest first. Records that cannot be read are left out, with a
  // line in the log.
  std::vector<records::Evaluation> Evaluations(const std::string& kernel_key);
  std::optional<records::Variant> FindVariant(const std::string& kernel_key, const std::string& id);
  // The variant's verdict for this workload and target (empty: any), if there is one already.
  std::optional<records::Evaluation> FindVerdict(const std::string& kernel_key,
                                                 const std::string& workload_hash,
                                                 const std::string& target,
                                                 const std::string& variant_id);
  // The accepted variant that no other one beat, for one target (empty: any), but for those whose
  // ids are in `without`. Evidence for another workload does not count.
  std::optional<Proven> Best(const std::string& kernel_key, const records::Workload& workload,
                             const std::string& target, const std::set<std::string>& without = {});

  // What the compiles of an object refused.
  std::vector<Refusal> Refusals(const std::string& object_folder);
  base::Result<> SaveRefusals(const std::string& object_folder,
                              const std::vector<Refusal>& refusals);

  // How far the work on a kernel has come, by KernelJob's key. What another version of cuPilot
  // wrote is not found: it may have other techniques.
  std::optional<records::Json> FindJob(const std::string& key);
  base::Result<> SaveJob(const std::string& key, const records::Json& job);

  // Small facts of the service itself ("snoozed_until").
  std::optional<std::string> Fact(const std::string& name);
  base::Result<> SaveFact(const std::string& name, const std::string& value);

 private:
  cache::Store& store_;
};

// Everything that a workload is, as the text by which evidence is bound to it.
std::string WorkloadHash(const records::Workload& workload);

}  // namespace cupilot::service
