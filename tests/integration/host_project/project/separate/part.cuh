#pragma once

extern __device__ int calls;
extern __constant__ int offset;
__device__ int Add(int a, int b);
