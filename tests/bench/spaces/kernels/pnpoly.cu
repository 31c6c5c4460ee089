// Which points lie inside of a polygon of 600 edges, by the parity of crossings. All ways to ask and
// to count are the same decisions, so that all points of the space have the same results.
#ifndef block_size_x
#define block_size_x 256
#endif
#ifndef tile_size
#define tile_size 1
#endif
#ifndef between_method
#define between_method 0
#endif
#ifndef use_method
#define use_method 0
#endif

constexpr int kVertices = 600;
__constant__ float2 vertices[kVertices];

// Whether a horizontal line at y crosses the edge from a to b: one of them is above it.
__device__ inline bool IsBetween(float a, float b, float y) {
#if between_method == 0
  return (a > y) != (b > y);
#elif between_method == 1
  return (a > y && b <= y) || (b > y && a <= y);
#elif between_method == 2
  return fminf(a, b) <= y && fmaxf(a, b) > y;
#else
  return (__float_as_int(y - a) ^ __float_as_int(y - b)) < 0;
#endif
}

// cupilot: tune
// cupilot: tunable block_size_x = 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 960, 992
// cupilot: tunable tile_size = 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20
// cupilot: tunable between_method = 0, 1, 2, 3
// cupilot: tunable use_method = 0, 1, 2
// cupilot: launch block=(block_size_x) grid=(ceil_div(n,block_size_x*tile_size))
__global__ void __launch_bounds__(block_size_x) pnpoly(int* out, const float2* points, int n) {
  const int first = blockIdx.x * (block_size_x * tile_size) + threadIdx.x;
  float2 point[tile_size];
  int crossings[tile_size];
#pragma unroll
  for (int t = 0; t < tile_size; ++t) {
    point[t] = points[min(first + t * block_size_x, n - 1)];
    crossings[t] = use_method == 2 ? 1 : 0;
  }
  float2 from = vertices[kVertices - 1];
  for (int v = 0; v < kVertices; ++v) {
    const float2 to = vertices[v];
    const float slope = (to.x - from.x) / (to.y - from.y);
#pragma unroll
    for (int t = 0; t < tile_size; ++t) {
      const float x = point[t].x, y = point[t].y;
#if use_method == 0
      if (IsBetween(to.y, from.y, y) && x < slope * (y - from.y) + from.x) {
        crossings[t] = !crossings[t];
      }
#elif use_method == 1
      crossings[t] += IsBetween(to.y, from.y, y) && x < slope * (y - from.y) + from.x;
#else
      const bool crosses = IsBetween(to.y, from.y, y) & (x < slope * (y - from.y) + from.x);
      crossings[t] = crosses ? -crossings[t] : crossings[t];
#endif
    }
    from = to;
  }
#pragma unroll
  for (int t = 0; t < tile_size; ++t) {
    const int to = first + t * block_size_x;
    if (to < n) out[to] = use_method == 2 ? crossings[t] < 0 : crossings[t] & 1;
  }
}
