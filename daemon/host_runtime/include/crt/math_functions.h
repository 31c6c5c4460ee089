#ifndef CUPILOT_HOST_CRT_MATH_FUNCTIONS_H_
#define CUPILOT_HOST_CRT_MATH_FUNCTIONS_H_
#include "../cuda_runtime.h"
#endif
