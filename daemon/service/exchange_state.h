// How far a tune through an exchange folder has come: FOLDER/state.json, so that the next run, in
// another process or on another machine with the folder copied, goes on there. It holds the rows of
// the run's store (jobs, variants, evaluations), each with what it is evidence for: what was made
// on another class of devices or with another toolchain is found as a proposal, like all that was
// proven elsewhere.
//
//   {"schema": "cupilot.exchange_state/1", "kernel": "image::blur", "kernel_key": "...",
//    "rows": [["evaluations", KEY, VALUE], ...], "hash": "..."}
//
// `hash` is that of the rows (canonical JSON): a file that was damaged is refused, never half read.
#pragma once

#include <string>

#include "base/result.h"
#include "cache/store.h"
#include "records/kernel.h"

namespace cupilot::service {

std::string ExchangeStatePath(const std::string& folder);

// Puts what the file holds into the store; without a file nothing. kInvalidArgument with what to do
// where it is of another kernel, or of another text of this one; kUnsupported for one that a newer
// cuPilot wrote; kCorruption for a damaged one.
base::Result<> LoadExchangeState(const std::string& folder, const records::Kernel& kernel,
                                 cache::Store& store);
// Whole or not at all; on disk when it returns.
base::Result<> SaveExchangeState(const std::string& folder, const records::Kernel& kernel,
                                 cache::Store& store);

}  // namespace cupilot::service
