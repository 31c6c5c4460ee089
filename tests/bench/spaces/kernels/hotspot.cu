// Heat on a chip: `steps` steps of a stencil of five, of which a launch makes temporal_tiling_factor.
// A block loads its tile with a margin of as many cells, and makes the steps in shared memory; what
// the margin lacks is not written. Cells beyond the chip are as warm as its edge. Launches write to
// `out` and `scratch` in turn, so that the last one writes to `out`. The steps of one launch are the
// point's choice, so that only the launches of all steps together compute the same: a tag cannot say
// that, and `cupilot tune` does not take this kernel.
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
#ifndef temporal_tiling_factor
#define temporal_tiling_factor 1
#endif
#ifndef loop_unroll_factor_t
#define loop_unroll_factor_t 1
#endif
#ifndef sh_power
#define sh_power 0
#endif

constexpr int kMargin = temporal_tiling_factor;
constexpr int kUnrolled = loop_unroll_factor_t;  // a pragma sees no macros
constexpr int kTileX = block_size_x * tile_size_x, kTileY = block_size_y * tile_size_y;
constexpr int kColumns = kTileX + 2 * kMargin, kRows = kTileY + 2 * kMargin;

// cupilot: tunable block_size_x = 1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 960, 992, 1024
// cupilot: tunable block_size_y = 1, 2, 4, 8, 16, 32
// cupilot: tunable tile_size_x = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
// cupilot: tunable tile_size_y = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
// cupilot: tunable temporal_tiling_factor = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
// cupilot: tunable loop_unroll_factor_t = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
// cupilot: tunable sh_power = 0, 1
// cupilot: require block_size_x*block_size_y >= 32
// cupilot: require block_size_x*block_size_y <= 1024
// cupilot: require temporal_tiling_factor % loop_unroll_factor_t == 0
// cupilot: require (block_size_x*tile_size_x+2*temporal_tiling_factor)*(block_size_y*tile_size_y+2*temporal_tiling_factor)*(2+sh_power)*4 <= 49152
// cupilot: launch block=(block_size_x,block_size_y) grid=(ceil_div(width,block_size_x*tile_size_x),ceil_div(height,block_size_y*tile_size_y))
// bench: repeat=ceil_div(steps,temporal_tiling_factor) index=launch
__global__ void __launch_bounds__(block_size_x * block_size_y)
    hotspot(float* out, float* scratch, const float* in, const float* power, int width, int height, int steps, int launch, float rx, float ry, float rz) {
  __shared__ float cells[2][kRows][kColumns];
#if sh_power
  __shared__ float powers[kRows][kColumns];
#endif
  const int launches = (steps + temporal_tiling_factor - 1) / temporal_tiling_factor;
  const int mine = min(temporal_tiling_factor, steps - launch * temporal_tiling_factor);
  const bool to_out = (launches - launch) % 2 == 1;
  const float* from = launch == 0 ? in : to_out ? scratch : out;
  float* to = to_out ? out : scratch;
  const int left = blockIdx.x * kTileX - kMargin, top = blockIdx.y * kTileY - kMargin;
  for (int j = threadIdx.y; j < kRows; j += block_size_y) {
    for (int i = threadIdx.x; i < kColumns; i += block_size_x) {
      const int at = min(max(top + j, 0), height - 1) * width + min(max(left + i, 0), width - 1);
      cells[0][j][i] = from[at];
#if sh_power
      powers[j][i] = power[at];
#endif
    }
  }
  __syncthreads();
  // What is right is smaller by one cell on each side after each step.
#pragma unroll kUnrolled
  for (int t = 0; t < temporal_tiling_factor; ++t) {
    if (t < mine) {
      for (int j = threadIdx.y + t + 1; j < kRows - t - 1; j += block_size_y) {
        for (int i = threadIdx.x + t + 1; i < kColumns - t - 1; i += block_size_x) {
          const int x = left + i, y = top + j;
          if (x < 0 || x >= width || y < 0 || y >= height) continue;
          const float centre = cells[t % 2][j][i];
          const float above = y > 0 ? cells[t % 2][j - 1][i] : centre;
          const float below = y < height - 1 ? cells[t % 2][j + 1][i] : centre;
          const float before = x > 0 ? cells[t % 2][j][i - 1] : centre;
          const float behind = x < width - 1 ? cells[t % 2][j][i + 1] : centre;
#if sh_power
          const float heat = powers[j][i];
#else
          const float heat = power[y * width + x];
#endif
          cells[1 - t % 2][j][i] = centre + heat + (above + below - 2.0f * centre) * ry + (before + behind - 2.0f * centre) * rx - centre * rz;
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < tile_size_y; ++v) {
#pragma unroll
    for (int u = 0; u < tile_size_x; ++u) {
      const int i = threadIdx.x + u * block_size_x, j = threadIdx.y + v * block_size_y;
      const int x = blockIdx.x * kTileX + i, y = blockIdx.y * kTileY + j;
      if (x < width && y < height) to[y * width + x] = cells[mine % 2][j + kMargin][i + kMargin];
    }
  }
}
