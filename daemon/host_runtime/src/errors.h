// The error state: a thread's last error, and the failure of a kernel, which stays.
#pragma once

#include "cuda_runtime_api.h"

namespace cupilot_host {

// Remembers an error as the calling thread's last one and returns it; success is passed through.
cudaError_t Note(cudaError_t error);
// A kernel failed: every later call of the process says so.
void SetSticky(cudaError_t error);
cudaError_t Sticky();

}  // namespace cupilot_host
