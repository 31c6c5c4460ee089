#pragma once
#include "support.cuh"
__device__ int Marked(int value) { return value * 3 - 1; }
