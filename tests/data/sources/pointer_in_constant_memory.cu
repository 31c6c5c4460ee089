// corpus: declined "the variable 'table' holds a pointer"
// corpus: declined "the variable 'settings' holds a pointer"
#include "support.cuh"

struct Settings {
  int count;
  const float* values;
};
__constant__ const float* table;
__constant__ Settings settings;

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=[n]
__global__ void through_pointer(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=[n]
__global__ void through_structure(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = settings.values[i % settings.count];
}

int main() {
  support::Array<float> values(256, 1, 0.5), out(256);
  const float* pointer = values.get();
  const Settings chosen = {100, values.get()};
  support::Check(cudaMemcpyToSymbol(table, &pointer, sizeof pointer));
  support::Check(cudaMemcpyToSymbol(settings, &chosen, sizeof chosen));
  through_pointer<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
  through_structure<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
