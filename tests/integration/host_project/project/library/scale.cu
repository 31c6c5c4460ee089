#include "scale.cuh"

void Scale(float* data, int n, float factor) { ScaleKernel<<<(n + 127) / 128, 128>>>(data, n, factor); }
