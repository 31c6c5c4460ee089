/* What a CUDA source includes, for the host device: qualifiers, built-in types and variables, device
 * functions, the runtime API and its C++ forms. For C++11 and up. */
#ifndef CUPILOT_HOST_CUDA_RUNTIME_H_
#define CUPILOT_HOST_CUDA_RUNTIME_H_

#include "crt/host_defines.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "crt/library_functions.h"
#include "device_launch_parameters.h"
#include "cupilot_host_abi.h"
#include "cupilot_host_lowered.h"
#include "device_atomic_functions.h"
#include "device_functions.h"
#include "crt/warp_functions.h"
#include "math_functions.h"
#include "crt/runtime_templates.h"
#endif

#endif
