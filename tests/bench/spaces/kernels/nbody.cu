// Accelerations of n bodies that attract each other. A block stages BLOCK bodies at a time (LOCAL) and
// a thread computes OUTER bodies that lie BLOCK apart. INNER1 unrolls the loop
// over staged bodies, INNER2 that over the thread's own; 0 leaves it to the compiler. With SOA what is
// staged, or read, is four numbers in arrays of their own, without it one vector.
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef OUTER
#define OUTER 1
#endif
#ifndef INNER1
#define INNER1 0
#endif
#ifndef INNER2
#define INNER2 0
#endif
#ifndef SOA
#define SOA 0
#endif
#ifndef LOCAL
#define LOCAL 1
#endif

constexpr int kInner1 = INNER1, kInner2 = INNER2;  // a pragma sees no macros

__device__ inline float4 BodyAt(const float4* bodies, int i) {
#if SOA
  const float* numbers = reinterpret_cast<const float*>(bodies) + 4 * i;
  return make_float4(__ldg(numbers), __ldg(numbers + 1), __ldg(numbers + 2), __ldg(numbers + 3));
#else
  return bodies[i];
#endif
}

__device__ inline void Attract(float3& sum, const float4& own, const float4& other, float softening) {
  const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
  const float inverse = rsqrtf(x * x + y * y + z * z + softening);
  const float factor = other.w * inverse * inverse * inverse;
  sum.x += x * factor;
  sum.y += y * factor;
  sum.z += z * factor;
}

// cupilot: tune
// cupilot: tunable BLOCK = 64, 128, 256, 512
// cupilot: tunable OUTER = 1, 2, 4, 8
// cupilot: tunable INNER1 = 0, 1, 2, 4, 8, 16, 32
// cupilot: tunable INNER2 = 0, 1, 2, 4, 8, 16, 32
// cupilot: tunable SOA = 0, 1
// cupilot: tunable LOCAL = 0, 1
// cupilot: require INNER1*INNER2 <= 256
// cupilot: require INNER2 <= OUTER
// cupilot: launch block=(BLOCK) grid=(ceil_div(n,BLOCK*OUTER))
__global__ void __launch_bounds__(BLOCK) nbody(float* out, const float4* bodies, int n, float softening) {
  const int first = blockIdx.x * (BLOCK * OUTER) + threadIdx.x;
  float4 own[OUTER];
  float3 sum[OUTER];
#pragma unroll
  for (int o = 0; o < OUTER; ++o) {
    own[o] = BodyAt(bodies, min(first + o * BLOCK, n - 1));
    sum[o] = make_float3(0.0f, 0.0f, 0.0f);
  }
#if LOCAL && SOA
  __shared__ float staged[4][BLOCK];
#elif LOCAL
  __shared__ float4 staged[BLOCK];
#endif
  for (int from = 0; from < n; from += BLOCK) {
#if LOCAL
    // Bodies behind the last one have no mass.
    const int mine = from + threadIdx.x;
    const float4 body = mine < n ? BodyAt(bodies, mine) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#if SOA
    staged[0][threadIdx.x] = body.x;
    staged[1][threadIdx.x] = body.y;
    staged[2][threadIdx.x] = body.z;
    staged[3][threadIdx.x] = body.w;
#else
    staged[threadIdx.x] = body;
#endif
    __syncthreads();
    const int count = BLOCK;
#else
    const int count = min(BLOCK, n - from);
#endif
#if INNER1
#pragma unroll kInner1
#endif
    for (int j = 0; j < count; ++j) {
#if LOCAL && SOA
      const float4 other = make_float4(staged[0][j], staged[1][j], staged[2][j], staged[3][j]);
#elif LOCAL
      const float4 other = staged[j];
#else
      const float4 other = BodyAt(bodies, from + j);
#endif
#if INNER2
#pragma unroll kInner2
#endif
      for (int o = 0; o < OUTER; ++o) Attract(sum[o], own[o], other, softening);
    }
  }
#pragma unroll
  for (int o = 0; o < OUTER; ++o) {
    const int to = first + o * BLOCK;
    if (to >= n) continue;
    out[to] = sum[o].x;
    out[n + to] = sum[o].y;
    out[2 * n + to] = sum[o].z;
  }
}
