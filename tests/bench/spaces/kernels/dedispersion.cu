// Samples of all channels added up with the delays of each dispersion measure. `in` has channels rows
// of `pitch` samples; a delay is delays[channel] * dm / 2^dm_bits samples. Threads run along
// dispersion measures in x and along samples in y; with tile_stride a thread's own lie a block apart,
// else side by side.
#ifndef block_size_x
#define block_size_x 8
#endif
#ifndef block_size_y
#define block_size_y 32
#endif
#ifndef tile_size_x
#define tile_size_x 1
#endif
#ifndef tile_size_y
#define tile_size_y 1
#endif
#ifndef tile_stride_x
#define tile_stride_x 0
#endif
#ifndef tile_stride_y
#define tile_stride_y 0
#endif

// cupilot: tune
// cupilot: tunable block_size_x = 1, 2, 4, 8, 16, 32
// cupilot: tunable block_size_y = 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256
// cupilot: tunable tile_size_x = 1, 2, 3, 4
// cupilot: tunable tile_size_y = 1, 2, 3, 4, 5, 6, 7, 8
// cupilot: tunable tile_stride_x = 0, 1
// cupilot: tunable tile_stride_y = 0, 1
// cupilot: require block_size_x*block_size_y >= 32
// cupilot: require block_size_x*block_size_y <= 1024
// cupilot: require tile_size_x > 1 || tile_stride_x == 0
// cupilot: require tile_size_y > 1 || tile_stride_y == 0
// cupilot: launch block=(block_size_x,block_size_y) grid=(ceil_div(dms,block_size_x*tile_size_x),ceil_div(samples,block_size_y*tile_size_y))
__global__ void __launch_bounds__(block_size_x * block_size_y)
    dedispersion(float* out, const float* in, const int* delays, int dms, int dm_bits, int samples, int channels, int pitch) {
  constexpr int kStepX = tile_stride_x ? block_size_x : 1, kStepY = tile_stride_y ? block_size_y : 1;
  const int first_dm = blockIdx.x * (block_size_x * tile_size_x) + threadIdx.x * (tile_stride_x ? 1 : tile_size_x);
  const int first_sample = blockIdx.y * (block_size_y * tile_size_y) + threadIdx.y * (tile_stride_y ? 1 : tile_size_y);
  // What lies outside is computed as the last, and not written.
  int dm[tile_size_x], sample[tile_size_y];
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) dm[i] = min(first_dm + i * kStepX, dms - 1);
#pragma unroll
  for (int j = 0; j < tile_size_y; ++j) sample[j] = min(first_sample + j * kStepY, samples - 1);
  float sum[tile_size_x][tile_size_y] = {};
  for (int channel = 0; channel < channels; ++channel) {
    const int delay = delays[channel];
    const float* row = in + channel * pitch;
#pragma unroll
    for (int i = 0; i < tile_size_x; ++i) {
      const float* from = row + ((delay * dm[i]) >> dm_bits);
#pragma unroll
      for (int j = 0; j < tile_size_y; ++j) sum[i][j] += from[sample[j]];
    }
  }
#pragma unroll
  for (int i = 0; i < tile_size_x; ++i) {
#pragma unroll
    for (int j = 0; j < tile_size_y; ++j) {
      const int to_dm = first_dm + i * kStepX, to_sample = first_sample + j * kStepY;
      if (to_dm < dms && to_sample < samples) out[to_dm * samples + to_sample] = sum[i][j];
    }
  }
}
