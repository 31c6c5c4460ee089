#ifndef CUPILOT_HOST_SM_30_INTRINSICS_H_
#define CUPILOT_HOST_SM_30_INTRINSICS_H_
#include "cuda_runtime.h"
#endif
