// What of the daemon's records leaves the machine, in exports, reports and lock files: captured
// contents become what fits them, and nothing is said of single elements. On the loop thread.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "blobs/blob_store.h"
#include "cache/store.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/lock.h"
#include "records/workload.h"
#include "service/captured_workloads.h"
#include "service/kept.h"

namespace cupilot::service {

class Outbound {
 public:
  // What fits the contents of the workloads in `captured` is known; of others they are read.
  Outbound(cache::Store& store, const CapturedWorkloads& captured, std::string blob_folder);

  // Whether what was evaluated on the workload of this hash may tell of somebody's data; also where
  // the store does not know it any more.
  bool IsPrivate(const std::string& workload_hash);
  // Says still what was measured, and on which workload, by its hash.
  records::Evaluation Of(records::Evaluation evaluation);
  // Of this kernel: fitted where it holds data, and the same each time. kInvalidArgument.
  base::Result<records::Workload> Of(records::Workload workload, const records::Kernel& kernel);
  base::Result<records::LockedKernel> Of(records::LockedKernel entry,
                                         const records::Kernel& kernel);

 private:
  cache::Store& store_;
  const CapturedWorkloads& captured_;
  blobs::BlobStore blobs_;
  std::map<std::string, bool> private_;      // by a workload's hash
  Kept<std::string, records::Case> fitted_;  // by a case as it is; contents may be large
};

}  // namespace cupilot::service
