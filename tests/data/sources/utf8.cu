// corpus: swapped
// Größen, 数値, and identifiers with letters of other alphabets.
#include "support.cuh"

// „Anführungszeichen“ und ein Komma、
__device__ float Doubled(float α) { return 2.0f * α; }

// cupilot: tune
// cupilot: workload größte grid=4 block=64 n=256 data=normal[n]
__global__ void wachsen(float* data, int n) {  // ← here
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const char text[] = "é€𝄞";
  if (i < n) data[i] = Doubled(data[i]) + float(sizeof(text));
}

static int zähler(int größe) { return größe + 1; }

int main() {
  support::Array<float> data(256, 1, 0.5);
  wachsen<<<4, 64>>>(data.get(), zähler(255));
  support::Show("Daten", data);
}
