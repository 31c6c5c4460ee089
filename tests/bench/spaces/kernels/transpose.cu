// out is in with rows and columns exchanged. A block handles a tile of TILEX vectors by TILEY rows of
// one of both matrices: of `in` with CR, which is then read in rows, else of `out`, which is then
// written in rows. LOCAL stages the tile in shared memory, padded by one number with PADD, so that the
// other matrix is accessed in rows, too. DIAGONAL gives blocks their tiles along diagonals. width and
// height are multiples of the tiles. Blocks of more than 1024 threads, which the space does not
// exclude, are refused at the launch.
// The source's own point needs aligned arrays, as other points do: what the original needs, candidates may.
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef CR
#define CR 1
#endif
#ifndef LOCAL
#define LOCAL 0
#endif
#ifndef PADD
#define PADD 0
#endif
#ifndef DIAGONAL
#define DIAGONAL 0
#endif
#ifndef WGX
#define WGX 16
#endif
#ifndef WGY
#define WGY 16
#endif
#ifndef TILEX
#define TILEX 16
#endif
#ifndef TILEY
#define TILEY 16
#endif

constexpr int kThreads = WGX * WGY;
constexpr int kBound = kThreads < 1024 ? kThreads : 1024;

struct alignas(4 * VECTOR) Numbers {
  float v[VECTOR];
};

// cupilot: tune
// cupilot: tunable VECTOR = 1, 2, 4
// cupilot: tunable CR = 0, 1
// cupilot: tunable LOCAL = 0, 1
// cupilot: tunable PADD = 0, 1
// cupilot: tunable DIAGONAL = 0, 1
// cupilot: tunable WGX = 1, 2, 4, 8, 16, 32, 64
// cupilot: tunable WGY = 1, 2, 4, 8, 16, 32, 64
// cupilot: tunable TILEX = 1, 2, 4, 8, 16, 32, 64
// cupilot: tunable TILEY = 1, 2, 4, 8, 16, 32, 64
// cupilot: require TILEX == WGX
// cupilot: require TILEY % WGY == 0
// cupilot: require LOCAL == 0 || TILEY <= WGX*WGY
// cupilot: require PADD == 0 || LOCAL == 1
// cupilot: require LOCAL == 0 || VECTOR == 1
// cupilot: require TILEX*VECTOR <= 64
// cupilot: require WGX*WGY >= 32
// cupilot: launch block=(WGX,WGY) grid=((CR ? width : height)/(TILEX*VECTOR),(CR ? height : width)/TILEY)
__global__ void __launch_bounds__(kBound) transpose(float* out, const float* in, int width, int height) {
#if DIAGONAL
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  const int block_y = block % gridDim.y, block_x = (block / gridDim.y + block_y) % gridDim.x;
#else
  const int block_x = blockIdx.x, block_y = blockIdx.y;
#endif
  // Of the matrix that has the tile; a row of the other one is as long as this one is high.
  const int pitch = CR ? width : height, other_pitch = CR ? height : width;
  const int left = block_x * (TILEX * VECTOR), top = block_y * TILEY;
#if LOCAL
  __shared__ float tile[TILEY][TILEX + PADD];
  const int thread = threadIdx.y * WGX + threadIdx.x;
  const int far_y = thread % TILEY;
#if CR
#pragma unroll
  for (int y = threadIdx.y; y < TILEY; y += WGY) tile[y][threadIdx.x] = in[(top + y) * pitch + left + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int x = thread / TILEY; x < TILEX; x += kThreads / TILEY) out[(left + x) * other_pitch + top + far_y] = tile[far_y][x];
#else
#pragma unroll
  for (int x = thread / TILEY; x < TILEX; x += kThreads / TILEY) tile[far_y][x] = in[(left + x) * other_pitch + top + far_y];
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < TILEY; y += WGY) out[(top + y) * pitch + left + threadIdx.x] = tile[y][threadIdx.x];
#endif
#else
#pragma unroll
  for (int y = threadIdx.y; y < TILEY; y += WGY) {
    const int x = left + threadIdx.x * VECTOR;
#if CR
    const Numbers numbers = *reinterpret_cast<const Numbers*>(&in[(top + y) * pitch + x]);
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) out[(x + v) * other_pitch + top + y] = numbers.v[v];
#else
    Numbers numbers;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) numbers.v[v] = in[(x + v) * other_pitch + top + y];
    *reinterpret_cast<Numbers*>(&out[(top + y) * pitch + x]) = numbers;
#endif
  }
#endif
}
