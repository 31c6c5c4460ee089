// NVIDIA's driver, opened at run time. Nothing here creates a context.
#pragma once

#include <string>

#include "base/result.h"
#include "device/cuda/api.h"

namespace cupilot::device::cuda {

// The driver's functions, initialised; opened once a process. kUnavailable says what is missing and
// what to do. Thread-safe.
base::Result<const DriverApi*> OpenDriver();

// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string ErrorText(const DriverApi& driver, Status status);

// "580.65.06, CUDA 13.0": the driver and the newest toolkit that it serves; for records.
std::string DriverVersion(const DriverApi& driver);

}  // namespace cupilot::device::cuda
