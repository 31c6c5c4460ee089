#ifndef CUPILOT_HOST_CUDA_PROFILER_API_H_
#define CUPILOT_HOST_CUDA_PROFILER_API_H_
#include "cuda_runtime_api.h"
#endif
