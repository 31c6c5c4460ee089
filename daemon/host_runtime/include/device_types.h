#ifndef CUPILOT_HOST_DEVICE_TYPES_H_
#define CUPILOT_HOST_DEVICE_TYPES_H_
#include "cuda_runtime.h"
#endif
