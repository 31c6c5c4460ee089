#include "service/outbound.h"

#include <utility>

#include "base/hash.h"
#include "cache/record.h"
#include "records/private_data.h"
#include "workloads/synthetic.h"

namespace cupilot::service {
namespace {

constexpr std::size_t kMostFitted = 1024;  // cases

// A text in a structure on whose letters the guard depends; empty: none.
std::string TextAskedBy(const std::string& guard, const records::Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    for (const std::string& holder : {parameter.name, "$" + std::to_string(i)}) {
      for (const records::Parameter::Member& member : parameter.members) {
        if (holder.empty() || !records::IsLetter(member)) continue;
        if (guard.find(holder + "." + member.name + " ") == std::string::npos) continue;
        return holder + "." + records::ArrayOf(member);
      }
    }
  }
  return {};
}

}  // namespace

Outbound::Outbound(cache::Store& store, const CapturedWorkloads& captured, std::string blob_folder)
    : store_(store), captured_(captured), blobs_(std::move(blob_folder)), fitted_(kMostFitted) {}

bool Outbound::IsPrivate(const std::string& workload_hash) {
  const auto known = private_.find(workload_hash);
  if (known != private_.end()) return known->second;
  const auto bytes = store_.Get(cache::Table::kWorkloads, workload_hash);
  if (!bytes || !*bytes) return true;
  const auto record = cache::Unseal(**bytes);
  if (!record) return true;
  const auto workload = records::ParseWorkload(record->value);
  return private_[workload_hash] = !workload || records::HoldsData(*workload);
}

records::Evaluation Outbound::Of(records::Evaluation evaluation) {
  if (!IsPrivate(evaluation.workload)) return evaluation;
  return records::WithoutElementValues(std::move(evaluation));
}

base::Result<records::Workload> Outbound::Of(records::Workload workload,
                                             const records::Kernel& kernel) {
  if (!records::HoldsData(workload)) return workload;
  const workloads::Captured* captured = captured_.Find(kernel);
  for (records::Case& one : workload.cases) {
    records::Workload alone;
    alone.kernel = kernel.key;
    alone.cases = {one};
    const std::string key = base::HashHex(records::CompactJson(records::ToJson(alone)));
    if (const records::Case* known = fitted_.Find(key)) {
      one = *known;
      continue;
    }
    const workloads::CapturedFits fits =
        captured == nullptr ? workloads::CapturedFits() : captured->FitsOf(one.name);
    TRY(workloads::MakeSynthetic(one, kernel, blobs_, workloads::Lost::kZeros, fits));
    fitted_.Add(key, one);
  }
  return workload;
}

base::Result<records::LockedKernel> Outbound::Of(records::LockedKernel entry,
                                                 const records::Kernel& kernel) {
  const std::string guard = entry.evaluation.guard;
  if (const std::string text = TextAskedBy(guard, kernel); !text.empty()) {
    return base::Fail(base::Unsupported("its guard asks what the program wrote into '" + text +
                                        "', and that is not to leave this machine"));
  }
  TRY_ASSIGN(entry.workload, Of(std::move(entry.workload), kernel));
  entry.evaluation = Of(std::move(entry.evaluation));
  entry.evaluation.guard = guard;
  return entry;
}

}  // namespace cupilot::service
