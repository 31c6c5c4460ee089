#ifndef CUPILOT_HOST_SM_60_ATOMIC_FUNCTIONS_H_
#define CUPILOT_HOST_SM_60_ATOMIC_FUNCTIONS_H_
#include "cuda_runtime.h"
#endif
