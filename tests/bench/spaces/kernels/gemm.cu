// out = a b, single precision: a has k rows of m numbers, b has k rows of n, out has n rows of m.
// m, n and k are multiples of the tiles. The parameters are those of CLBlast's kernel: a block of
// MDIMC x NDIMC threads makes a tile of MWG x NWG in steps of KWG, of which KWI are unrolled; SA and SB
// stage the operands in shared memory, filled by the same threads as MDIMA columns (NDIMB) wide;
// VWM and VWN are the widths of accesses; with STRM (STRN) a thread's vectors lie MDIMC (NDIMC)
// vectors apart, else side by side.
// The source's own point needs aligned arrays, as other points do: what the original needs, candidates may.
#ifndef MWG
#define MWG 64
#endif
#ifndef NWG
#define NWG 64
#endif
#ifndef KWG
#define KWG 16
#endif
#ifndef MDIMC
#define MDIMC 16
#endif
#ifndef NDIMC
#define NDIMC 16
#endif
#ifndef MDIMA
#define MDIMA 16
#endif
#ifndef NDIMB
#define NDIMB 16
#endif
#ifndef KWI
#define KWI 2
#endif
#ifndef VWM
#define VWM 4
#endif
#ifndef VWN
#define VWN 4
#endif
#ifndef STRM
#define STRM 0
#endif
#ifndef STRN
#define STRN 0
#endif
#ifndef SA
#define SA 1
#endif
#ifndef SB
#define SB 1
#endif

constexpr int kThreads = MDIMC * NDIMC;
constexpr int kVectorsM = MWG / MDIMC / VWM;  // of a thread
constexpr int kVectorsN = NWG / NDIMC / VWN;

struct alignas(VWM < 4 ? 4 * VWM : 16) VectorM {
  float v[VWM];
};
struct alignas(VWN < 4 ? 4 * VWN : 16) VectorN {
  float v[VWN];
};

// Which of the tile's vectors is a thread's i-th.
__device__ inline int PlaceM(int i) { return STRM ? i * MDIMC + threadIdx.x : threadIdx.x * kVectorsM + i; }
__device__ inline int PlaceN(int i) { return STRN ? i * NDIMC + threadIdx.y : threadIdx.y * kVectorsN + i; }

// cupilot: tune
// cupilot: tunable MWG = 16, 32, 64, 128
// cupilot: tunable NWG = 16, 32, 64, 128
// cupilot: tunable KWG = 16, 32
// cupilot: tunable MDIMC = 8, 16, 32
// cupilot: tunable NDIMC = 8, 16, 32
// cupilot: tunable MDIMA = 8, 16, 32
// cupilot: tunable NDIMB = 8, 16, 32
// cupilot: tunable KWI = 2
// cupilot: tunable VWM = 1, 2, 4, 8
// cupilot: tunable VWN = 1, 2, 4, 8
// cupilot: tunable STRM = 0, 1
// cupilot: tunable STRN = 0, 1
// cupilot: tunable SA = 0, 1
// cupilot: tunable SB = 0, 1
// cupilot: require KWG % KWI == 0
// cupilot: require MWG % (MDIMC*VWM) == 0
// cupilot: require NWG % (NDIMC*VWN) == 0
// cupilot: require MWG % (MDIMA*VWM) == 0
// cupilot: require NWG % (NDIMB*VWN) == 0
// cupilot: require KWG % ((MDIMC*NDIMC)/MDIMA) == 0
// cupilot: require KWG % ((MDIMC*NDIMC)/NDIMB) == 0
// cupilot: require !(MWG == 128 && NWG == 128 && MDIMC == 8 && NDIMC == 8)
// cupilot: launch block=(MDIMC,NDIMC) grid=(m/MWG,n/NWG)
__global__ void __launch_bounds__(MDIMC * NDIMC)
    gemm(float* out, const float* a, const float* b, int m, int n, int k) {
  const int base_m = blockIdx.x * (MWG / VWM), base_n = blockIdx.y * (NWG / VWN);  // in vectors
  const VectorM* from_a = reinterpret_cast<const VectorM*>(a) + base_m;
  const VectorN* from_b = reinterpret_cast<const VectorN*>(b) + base_n;
  const int pitch_a = m / VWM, pitch_b = n / VWN;
#if SA || SB
  const int thread = threadIdx.y * MDIMC + threadIdx.x;
#endif
#if SA
  __shared__ VectorM tile_a[KWG][MWG / VWM];
#endif
#if SB
  __shared__ VectorN tile_b[KWG][NWG / VWN];
#endif
  float sum[kVectorsN][VWN][kVectorsM][VWM] = {};
  for (int step = 0; step < k; step += KWG) {
#if SA
#pragma unroll
    for (int row = thread / MDIMA; row < KWG; row += kThreads / MDIMA) {
#pragma unroll
      for (int i = 0; i < MWG / VWM / MDIMA; ++i) {
        const int column = i * MDIMA + thread % MDIMA;
        tile_a[row][column] = from_a[(step + row) * pitch_a + column];
      }
    }
#endif
#if SB
#pragma unroll
    for (int row = thread / NDIMB; row < KWG; row += kThreads / NDIMB) {
#pragma unroll
      for (int i = 0; i < NWG / VWN / NDIMB; ++i) {
        const int column = i * NDIMB + thread % NDIMB;
        tile_b[row][column] = from_b[(step + row) * pitch_b + column];
      }
    }
#endif
#if SA || SB
    __syncthreads();
#endif
    for (int inner = 0; inner < KWG; inner += KWI) {
#pragma unroll
      for (int u = 0; u < KWI; ++u) {
        const int row = inner + u;
        VectorM of_a[kVectorsM];
        VectorN of_b[kVectorsN];
#pragma unroll
        for (int i = 0; i < kVectorsM; ++i) {
#if SA
          of_a[i] = tile_a[row][PlaceM(i)];
#else
          of_a[i] = from_a[(step + row) * pitch_a + PlaceM(i)];
#endif
        }
#pragma unroll
        for (int i = 0; i < kVectorsN; ++i) {
#if SB
          of_b[i] = tile_b[row][PlaceN(i)];
#else
          of_b[i] = from_b[(step + row) * pitch_b + PlaceN(i)];
#endif
        }
#pragma unroll
        for (int j = 0; j < kVectorsN; ++j) {
#pragma unroll
          for (int w = 0; w < VWN; ++w) {
#pragma unroll
            for (int i = 0; i < kVectorsM; ++i) {
#pragma unroll
              for (int v = 0; v < VWM; ++v) sum[j][w][i][v] += of_a[i].v[v] * of_b[j].v[w];
            }
          }
        }
      }
    }
#if SA || SB
    __syncthreads();
#endif
  }
  VectorM* to = reinterpret_cast<VectorM*>(out) + base_m;
#pragma unroll
  for (int j = 0; j < kVectorsN; ++j) {
#pragma unroll
    for (int w = 0; w < VWN; ++w) {
      const int row = (base_n + PlaceN(j)) * VWN + w;
#pragma unroll
      for (int i = 0; i < kVectorsM; ++i) {
        VectorM vector;
#pragma unroll
        for (int v = 0; v < VWM; ++v) vector.v[v] = sum[j][w][i][v];
        to[row * pitch_a + PlaceM(i)] = vector;
      }
    }
  }
}
