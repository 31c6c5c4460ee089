// Makes of recordings of a program's processes what is kept of one kernel. Reads the contents of
// memory that the chosen launches need, and puts them into the blob store. No threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "blobs/blob_store.h"
#include "recording/plan.h"
#include "records/kernel.h"
#include "workloads/captured.h"
#include "workloads/recording.h"

namespace cupilot::workloads {

struct CaptureChoice {
  // Each case costs the search time: the heaviest geometries, then further launches of them.
  std::size_t most_cases = 6;
  bool counts_only = false;  // its tag says what it is run on: only how often and how long
  bool fits = false;         // what fits the contents is found, too (Captured::fits)
};

// What of the plan belongs to the kernel (recording/plan.h).
capture::PlannedKernel PlannedOf(const records::Kernel& kernel);

// Whether what a program registered under these names is this kernel.
bool IsRecordedAs(const RecordedKernel& recorded, const records::Kernel& kernel);

// kNotFound, with the recordings' notes, where no launch of the kernel was recorded.
base::Result<Captured> CasesOf(const std::vector<Recording>& recordings,
                               const records::Kernel& kernel, const CaptureChoice& choice,
                               blobs::BlobStore& blobs);

}  // namespace cupilot::workloads
