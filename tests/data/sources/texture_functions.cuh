#pragma once

__device__ float Fetch(unsigned long long handle, int i) { return tex1Dfetch<float>(handle, i); }
