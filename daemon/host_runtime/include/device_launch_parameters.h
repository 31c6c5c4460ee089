/* The built-in variables of device code. The lowering replaces each use by the executing thread's own
 * value; there is no such object in a program. */
#ifndef CUPILOT_HOST_DEVICE_LAUNCH_PARAMETERS_H_
#define CUPILOT_HOST_DEVICE_LAUNCH_PARAMETERS_H_

#include "vector_types.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
#ifdef __cplusplus
}
/* A constant on every device, so nothing has to be passed for it. */
__device__ constexpr int warpSize = 32;
#endif

#endif
