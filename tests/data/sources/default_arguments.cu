// corpus: swapped
#include "support.cuh"

const float kStep = 0.5f;

// Declared before it is defined, with the default values there.
__global__ void ramp(float* out, int n, float step = kStep, unsigned offset = 1u << 2, bool down = false);

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=[n] step=0.5 offset=4 down=false
__global__ void ramp(float* out, int n, float step, unsigned offset, bool down) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = step * (down ? n - i : i) + offset;
}

int main() {
  support::Array<float> up(256), steep(256), down(256);
  ramp<<<4, 64>>>(up.get(), 256);
  ramp<<<4, 64>>>(steep.get(), 256, 2.0f);
  ramp<<<4, 64>>>(down.get(), 200, 0.25f, 7u, true);
  support::Show("up", up);
  support::Show("steep", steep);
  support::Show("down", down);
}
