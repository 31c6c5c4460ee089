// A picture filtered with 15x15 weights, single precision. `in` is `out` with a border of 7 on every
// side. Points whose padded tile does not fit 48 KiB do not compile ("too much shared data").
#ifndef block_size_x
#define block_size_x 16
#endif
#ifndef block_size_y
#define block_size_y 16
#endif
#ifndef tile_size_x
#define tile_size_x 1
#endif
#ifndef tile_size_y
#define tile_size_y 1
#endif
#ifndef read_only
#define read_only 0
#endif
#ifndef use_padding
#define use_padding 0
#endif
#ifndef use_shmem
#define use_shmem 1
#endif
#ifndef use_cmem
#define use_cmem 1
#endif

constexpr int kSide = 15;
constexpr int kBorder = kSide - 1;  // both sides
__constant__ float weights[kSide * kSide];

__device__ inline float Load(const float* at) {
#if read_only
  return __ldg(at);
#else
  return *at;
#endif
}

// A block makes a tile of (block_size * tile_size) pixels, of which a thread makes every block_size-th.
// cupilot: tune
// cupilot: tunable block_size_x = 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256
// cupilot: tunable block_size_y = 1, 2, 4, 8, 16
// cupilot: tunable tile_size_x = 1, 2, 3, 4
// cupilot: tunable tile_size_y = 1, 2, 3, 4
// cupilot: tunable read_only = 0, 1
// cupilot: tunable use_padding = 0, 1
// cupilot: tunable use_shmem = 0, 1
// cupilot: tunable use_cmem = 1
// cupilot: require use_padding == 0 || block_size_x % 32 != 0
// cupilot: require block_size_x*block_size_y <= 1024
// cupilot: require use_padding == 0 || use_shmem == 1
// cupilot: require use_shmem == 0 || (block_size_x*tile_size_x+14)*(block_size_y*tile_size_y+14) < 12288
// cupilot: launch block=(block_size_x,block_size_y) grid=(ceil_div(width,block_size_x*tile_size_x),ceil_div(height,block_size_y*tile_size_y))
__global__ void __launch_bounds__(block_size_x * block_size_y)
    convolution(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * (block_size_x * tile_size_x) + threadIdx.x;
  const int y = blockIdx.y * (block_size_y * tile_size_y) + threadIdx.y;
  float sum[tile_size_y][tile_size_x] = {};
#if use_shmem
  constexpr int kColumns = block_size_x * tile_size_x + kBorder;
  constexpr int kRows = block_size_y * tile_size_y + kBorder;
  // Padded, the next row of threads goes on in the bank behind the last one's.
  constexpr int kPadding = use_padding ? ((block_size_x - kColumns) % 32 + 32) % 32 : 0;
  __shared__ float tile[kRows][kColumns + kPadding];
  for (int j = threadIdx.y; j < kRows; j += block_size_y) {
    for (int i = threadIdx.x; i < kColumns; i += block_size_x) {
      const int from_x = min(x - static_cast<int>(threadIdx.x) + i, width + kBorder - 1);
      const int from_y = min(y - static_cast<int>(threadIdx.y) + j, height + kBorder - 1);
      tile[j][i] = Load(&in[from_y * (width + kBorder) + from_x]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int v = 0; v < tile_size_y; ++v) {
#pragma unroll
        for (int u = 0; u < tile_size_x; ++u) {
          sum[v][u] += tile[threadIdx.y + v * block_size_y + j][threadIdx.x + u * block_size_x + i] * weights[j * kSide + i];
        }
      }
    }
  }
#else
  // What lies outside of the picture is made of its last pixels, and not written.
  int at[tile_size_y][tile_size_x];
#pragma unroll
  for (int v = 0; v < tile_size_y; ++v) {
#pragma unroll
    for (int u = 0; u < tile_size_x; ++u) {
      at[v][u] = min(y + v * block_size_y, height - 1) * (width + kBorder) + min(x + u * block_size_x, width - 1);
    }
  }
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int v = 0; v < tile_size_y; ++v) {
#pragma unroll
        for (int u = 0; u < tile_size_x; ++u) {
          sum[v][u] += Load(&in[at[v][u] + j * (width + kBorder) + i]) * weights[j * kSide + i];
        }
      }
    }
  }
#endif
#pragma unroll
  for (int v = 0; v < tile_size_y; ++v) {
#pragma unroll
    for (int u = 0; u < tile_size_x; ++u) {
      const int to_x = x + u * block_size_x, to_y = y + v * block_size_y;
      if (to_x < width && to_y < height) out[to_y * width + to_x] = sum[v][u];
    }
  }
}
