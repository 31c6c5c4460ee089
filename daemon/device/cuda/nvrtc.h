// NVIDIA's run-time compiler, opened at run time: text to cubin in this process, about ten times as
// fast as nvcc for a small kernel (the first call of a process costs seconds).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda/api.h"

namespace cupilot::device::cuda {

struct Nvrtc {
  const NvrtcApi* api = nullptr;
  std::string version;  // "13.0"
};

// From the toolkit in this folder (".../cuda-13.0"), or else where the loader looks; opened once a
// process and folder. kUnavailable says what is missing.
base::Result<Nvrtc> OpenNvrtc(const std::string& toolkit);

struct NvrtcResult {
  bool failed = false;  // the text does not compile
  std::string log;
  std::string cubin;
  std::string ptx;  // that the cubin was made of
};

// `options` as nvcc's; "--gpu-architecture=sm_90" among them. kToolFailed: the compiler itself
// fails.
base::Result<NvrtcResult> CompileWithNvrtc(const Nvrtc& nvrtc, const std::string& text,
                                           const std::vector<std::string>& options);

}  // namespace cupilot::device::cuda
