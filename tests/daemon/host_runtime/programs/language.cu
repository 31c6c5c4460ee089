// The language: kernels, functions and variables in the forms in which programs write them.
#include "checks.h"
#include "kernel_library.cuh"

using checks::Buffer;
using checks::Make;

// Templates ---------------------------------------------------------------------------------------
CASE(kernel_launched_from_a_template_in_a_header) {
  Buffer<float> floats(Make<float>(100, [](int i) { return i; }));
  library::ScaleAll<float>(floats, 100, 0.5f);
  SAME_ALL(floats.Read(), Make<float>(100, [](int i) { return i * 0.5; }));
  Buffer<long long> longs(Make<long long>(70, [](int i) { return i; }));
  library::ScaleAll<long long>(longs, 70, 3);
  SAME_ALL(longs.Read(), Make<long long>(70, [](int i) { return 3 * i; }));
}

template <class T>
struct Square {
  __device__ T operator()(T v) const { return v * v; }
};
CASE(template_template_parameter) {
  Buffer<int> data(Make<int>(40, [](int i) { return i; }));
  library::Apply<int, Square><<<2, 32>>>(data, 40);
  SAME_ALL(data.Read(), Make<int>(40, [](int i) { return i * i; }));
}

template <int N, bool Negative = false, class T = int>
__global__ void Fill(T* out) {
  T values[N];
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = static_cast<T>(Negative ? -i : i);
  for (int i = 0; i < N; ++i) out[threadIdx.x * N + i] = values[i];
}
CASE(integer_parameters_and_their_defaults) {
  Buffer<int> out(4 * 5);
  Fill<5><<<1, 4>>>(static_cast<int*>(out));
  SAME_ALL(out.Read(), Make<int>(20, [](int i) { return i % 5; }));
  Fill<2, true><<<1, 10>>>(static_cast<int*>(out));
  SAME_ALL(out.Read(), Make<int>(20, [](int i) { return -(i % 2); }));
  Buffer<double> doubles(6);
  Fill<3, false, double><<<1, 2>>>(static_cast<double*>(doubles));
  SAME_ALL(doubles.Read(), Make<double>(6, [](int i) { return i % 3; }));
}

template <class... T>
__device__ int SumOf(T... values) {
  return (0 + ... + static_cast<int>(values));
}
template <class... T>
__global__ void Variadic(int* out, T... values) {
  *out = SumOf(values...) + static_cast<int>(sizeof...(T));
}
CASE(parameter_packs) {
  Buffer<int> out(1);
  Variadic<<<1, 1>>>(static_cast<int*>(out), 1, 2.5f, static_cast<short>(3));
  SAME(out.Read()[0], 9);
  Variadic<<<1, 1>>>(static_cast<int*>(out));
  SAME(out.Read()[0], 0);
}

template <class T>
__global__ void Specialised(T* out) {
  *out = 1;
}
template <>
__global__ void Specialised<float>(float* out) {
  *out = 2;
}
template __global__ void Specialised<short>(short* out);
CASE(specialisation_and_explicit_instantiation) {
  Buffer<int> ints(1);
  Buffer<float> floats(1);
  Buffer<short> shorts(1);
  Specialised<<<1, 1>>>(static_cast<int*>(ints));
  Specialised<<<1, 1>>>(static_cast<float*>(floats));
  Specialised<short><<<1, 1>>>(shorts);
  SAME(ints.Read()[0], 1);
  SAME(floats.Read()[0], 2.0f);
  SAME(shorts.Read()[0], 1);
}

template <class T>
struct Vector {
  T* data;
  int size;
  __device__ T& operator[](int i) const { return data[i]; }
};
template <class T>
__global__ void Reverse(Vector<T> in, Vector<T> out) {
  for (int i = threadIdx.x; i < in.size; i += blockDim.x) out[i] = in[in.size - 1 - i];
}
CASE(structures_by_value) {
  Buffer<int> in(Make<int>(77, [](int i) { return i; })), out(77);
  Reverse<<<1, 32>>>(Vector<int>{in, 77}, Vector<int>{out, 77});
  SAME_ALL(out.Read(), Make<int>(77, [](int i) { return 76 - i; }));
}

template <class F>
__global__ void ForEach(int* data, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = f(data[i]);
}
struct AddConstant {
  int constant;
  __host__ __device__ int operator()(int v) const { return v + constant; }
};
CASE(functors) {
  Buffer<int> data(Make<int>(50, [](int i) { return i; }));
  ForEach<<<2, 32>>>(static_cast<int*>(data), 50, AddConstant{8});
  SAME_ALL(data.Read(), Make<int>(50, [](int i) { return i + 8; }));
}
CASE(lambdas) {
  Buffer<int> data(Make<int>(50, [](int i) { return i; }));
  const int constant = 5;
  ForEach<<<2, 32>>>(static_cast<int*>(data), 50, [=] __device__(int v) { return v * constant; });
  SAME_ALL(data.Read(), Make<int>(50, [](int i) { return i * 5; }));
}

// Scopes and linkage ------------------------------------------------------------------------------
namespace outer {
namespace {
__global__ void Hidden(int* out) { *out = 1; }
}  // namespace
namespace inner {
__global__ void Kernel(int* out) { *out = 2; }
}  // namespace inner
inline namespace v1 {
__global__ void Versioned(int* out) { *out = 3; }
}  // namespace v1
static __global__ void Internal(int* out) { *out = 4; }
__global__ static void InternalToo(int* out) { *out = 5; }
}  // namespace outer
namespace outer::inner::deep {
__global__ void Kernel(int* out) { *out = 6; }
}  // namespace outer::inner::deep
extern "C" __global__ void PlainName(int* out) { *out = 7; }
extern "C" {
__global__ void PlainNameInBlock(int* out) { *out = 8; }
}
__global__ void __launch_bounds__(64) Bounded(int* out) { *out = 9; }
__launch_bounds__(128, 2) __global__ void BoundedToo(int* out) { *out = 10; }
void __global__ Reordered(int* out) { *out = 11; }
CASE(scopes_and_linkage) {
  Buffer<int> out(1);
  void (*const kernels[])(int*) = {outer::Hidden,      outer::inner::Kernel, outer::Versioned,
                                   outer::Internal,    outer::InternalToo,   outer::inner::deep::Kernel,
                                   PlainName,          PlainNameInBlock,     Bounded,
                                   BoundedToo,         Reordered};
  int expected = 1;
  for (void (*const kernel)(int*) : kernels) {
    kernel<<<1, 1>>>(out);
    SAME(out.Read()[0], expected++);
  }
  outer::Hidden<<<1, 1>>>(out);
  SAME(out.Read()[0], 1);
  library::InlineKernel<<<1, 1>>>(out);
  SAME(out.Read()[0], 77);
}

struct Solver {
  int factor = 3;
  static __device__ int Twice(int v) { return 2 * v; }
  void Run(int* out) const;
};
__global__ void OfSolver(int* out, int factor) { *out = Solver::Twice(factor); }
void Solver::Run(int* out) const { OfSolver<<<1, 1>>>(out, factor); }
CASE(launch_from_a_member_function) {
  Buffer<int> out(1);
  Solver().Run(out);
  SAME(out.Read()[0], 6);
}

// A kernel that is declared before it is defined, with names and defaults in the declaration.
__global__ void Declared(int* out, int value = 12, float = 1.0f);
CASE(default_arguments) {
  Buffer<int> out(1);
  Declared<<<1, 1>>>(out);
  SAME(out.Read()[0], 12);
  Declared<<<1, 1>>>(out, 5);
  SAME(out.Read()[0], 5);
}
__global__ void Declared(int* out, int value, float) { *out = value; }

__global__ void WithDefault(int* out, int a = 3, int b = 2 * (4 + 1)) { *out = a * b; }
CASE(default_arguments_of_a_definition) {
  Buffer<int> out(1);
  WithDefault<<<1, 1>>>(out);
  SAME(out.Read()[0], 30);
  WithDefault<<<1, 1>>>(out, 4);
  SAME(out.Read()[0], 40);
}

__global__ void Overloaded(int* out, int) { *out = 1; }
__global__ void Overloaded(int* out, float) { *out = 2; }
CASE(overloads) {
  Buffer<int> out(1);
  Overloaded<<<1, 1>>>(out, 1);
  SAME(out.Read()[0], 1);
  Overloaded<<<1, 1>>>(out, 1.0f);
  SAME(out.Read()[0], 2);
}

#define MAKE_KERNEL(Name, T, expression) \
  __global__ void Name(T* data, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i < n) { T x = data[i]; data[i] = (expression); } \
  }
MAKE_KERNEL(CubeInt, int, x * x * x)
MAKE_KERNEL(HalfDouble, double, x / 2)
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 15) / 16, 16>>>(__VA_ARGS__, n)
CASE(kernels_and_launches_in_macros) {
  Buffer<int> ints(Make<int>(20, [](int i) { return i; }));
  Buffer<double> doubles(Make<double>(33, [](int i) { return i; }));
  LAUNCH(CubeInt, 20, ints);
  LAUNCH(HalfDouble, 33, doubles);
  SAME_ALL(ints.Read(), Make<int>(20, [](int i) { return i * i * i; }));
  SAME_ALL(doubles.Read(), Make<double>(33, [](int i) { return i / 2.0; }));
}

#ifdef __CUDACC__
__host__ __device__ int OnBothSides(int v) { return v + 1; }
#endif
__forceinline__ __device__ float Inlined(float v) { return v * 2; }
__noinline__ __device__ float NotInlined(float v) { return v + 1; }
static __device__ __host__ inline float Clamp(float v, float low, float high) {
  return v < low ? low : v > high ? high : v;
}
__device__ int Factorial(int n) { return n <= 1 ? 1 : n * Factorial(n - 1); }
__global__ void Functions(float* out) {
  out[0] = Inlined(NotInlined(3.0f));
  out[1] = Clamp(17.0f, 0.0f, 4.0f);
  out[2] = OnBothSides(4);
  out[3] = Factorial(5);
}
CASE(functions) {
  Buffer<float> out(4);
  Functions<<<1, 1>>>(out);
  SAME_ALL(out.Read(), (std::vector<float>{8, 4, 5, 120}));
  SAME(OnBothSides(1), 2);
}

// A function that asks where it runs, in kernels whose threads run as loops and as waiting threads.
__device__ int Place() { return blockIdx.x * 1000 + threadIdx.x + 100 * threadIdx.y; }
__device__ int FlatPlace() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int DeepPlace() { return Place() + 1; }
struct Here {
  int x;
  __device__ Here() : x(threadIdx.x) {}
  __device__ int Block() const { return blockIdx.x; }
};
__global__ void AskPlace(int* out) {
  out[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = Place();
}
__global__ void AskPlaceByOneIndex(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = DeepPlace();
}
__global__ void AskPlaceWithBarrier(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  out[i] = Place();
}
__global__ void OnlyFunctionsKnow(int* out) { out[FlatPlace()] = Here().x + 10 * Here().Block(); }
CASE(functions_that_ask_for_the_thread) {
  Buffer<int> out(60);
  AskPlace<<<3, dim3(4, 5)>>>(out);
  SAME_ALL(out.Read(), Make<int>(60, [](int i) { return i / 20 * 1000 + i % 4 + 100 * (i / 4 % 5); }));
  AskPlaceByOneIndex<<<3, 20>>>(out);
  SAME_ALL(out.Read(), Make<int>(60, [](int i) { return i / 20 * 1000 + i % 20 + 1; }));
  AskPlaceWithBarrier<<<3, 20>>>(out);
  SAME_ALL(out.Read(), Make<int>(60, [](int i) { return i / 20 * 1000 + i % 20; }));
  OnlyFunctionsKnow<<<6, 10>>>(out);
  SAME_ALL(out.Read(), Make<int>(60, [](int i) { return i % 10 + 10 * (i / 10); }));
}
template <class T>
__device__ T TemplatePlace() {
  return static_cast<T>(threadIdx.x);
}
template <class T>
__global__ void AskTemplate(T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = TemplatePlace<T>();
}
CASE(template_functions_that_ask_for_the_thread) {
  Buffer<int> out(64);
  AskTemplate<<<2, 32>>>(static_cast<int*>(out));
  SAME_ALL(out.Read(), Make<int>(64, [](int i) { return i % 32; }));
}
__global__ void LambdaInside(int* out) {
  const auto place = [&](int offset) { return static_cast<int>(threadIdx.x) + offset; };
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = place(100);
}
CASE(lambda_inside_a_kernel) {
  Buffer<int> out(64);
  LambdaInside<<<4, 16>>>(out);
  SAME_ALL(out.Read(), Make<int>(64, [](int i) { return i % 16 + 100; }));
}

// Variables ---------------------------------------------------------------------------------------
__constant__ float weights[4];
__constant__ int single;
static __constant__ double initialised[2] = {1.5, 2.5};
__device__ int counter;
__device__ float table[3] = {1, 2, 3};
__device__ const int fixed = 42;
__managed__ int managed = 6;
namespace tables {
__constant__ int offsets[2] = {10, 20};
__device__ int calls;
}  // namespace tables
__global__ void ReadVariables(float* out) {
  const int i = threadIdx.x;
  if (i < 4) out[i] = weights[i];
  if (i == 4) out[i] = single;
  if (i == 5) out[i] = static_cast<float>(initialised[1]);
  if (i == 6) out[i] = table[2];
  if (i == 7) out[i] = fixed + tables::offsets[1];
  if (i == 8) out[i] = managed;
  atomicAdd(&counter, 2);
  if (i == 0) tables::calls += 1;
}
CASE(constant_and_device_variables) {
  const float host[4] = {1, 4, 9, 16};
  const int nine = 9, zero = 0;
  WORKS(cudaMemcpyToSymbol(weights, host, sizeof host));
  WORKS(cudaMemcpyToSymbol(single, &nine, sizeof nine));
  WORKS(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
  WORKS(cudaMemcpyToSymbol(tables::calls, &zero, sizeof zero));
  Buffer<float> out(9);
  ReadVariables<<<1, 9>>>(out);
  SAME_ALL(out.Read(), (std::vector<float>{1, 4, 9, 16, 9, 2.5f, 3, 62, 6}));
  const float eight = 8;
  WORKS(cudaMemcpyToSymbol(weights, &eight, sizeof eight, 2 * sizeof(float)));
  managed = 5;
  ReadVariables<<<1, 9>>>(out);
  SAME_ALL(out.Read(), (std::vector<float>{1, 4, 8, 16, 9, 2.5f, 3, 62, 5}));
  int count = 0;
  WORKS(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  SAME(count, 36);
  WORKS(cudaMemcpyFromSymbol(&count, tables::calls, sizeof count));
  SAME(count, 2);
  float last[2];
  WORKS(cudaMemcpyFromSymbol(last, weights, sizeof last, 2 * sizeof(float)));
  SAME(last[0], 8.0f);
  void* address = nullptr;
  WORKS(cudaGetSymbolAddress(&address, table));
  float from_address = 0;
  WORKS(cudaMemcpy(&from_address, static_cast<float*>(address) + 1, sizeof(float), cudaMemcpyDeviceToHost));
  SAME(from_address, 2.0f);
  std::size_t bytes = 0;
  WORKS(cudaGetSymbolSize(&bytes, weights));
  SAME(bytes, sizeof weights);
  FAILS_WITH(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, host, sizeof host, sizeof(float)));
}

struct Settings {
  float scale;
  int shift;
  unsigned char flags[6];
};
__constant__ Settings settings;
__global__ void UseSettings(float* out) { *out = settings.scale * settings.shift + settings.flags[5]; }
CASE(constant_structures) {
  Settings host = {2.5f, 4, {0, 0, 0, 0, 0, 3}};
  WORKS(cudaMemcpyToSymbol(settings, &host, sizeof host));
  Buffer<float> out(1);
  UseSettings<<<1, 1>>>(out);
  SAME(out.Read()[0], 13.0f);
}

// Types and arithmetic ----------------------------------------------------------------------------
__global__ void VectorTypes(float4* out, const float4* in, int2* pairs, uchar4* bytes) {
  const int i = threadIdx.x;
  float4 v = __ldg(&in[i]);
  v.x += 1;
  v.w = v.y * v.z;
  out[i] = v;
  const float2 low = make_float2(v.x, v.y);
  pairs[i] = make_int2(static_cast<int>(low.x), -i);
  bytes[i] = make_uchar4(i, i + 1, 255, 0);
}
CASE(vector_types) {
  Buffer<float4> in(Make<float4>(8, [](int i) { return make_float4(i, 2 * i, 3, 4); })), out(8);
  Buffer<int2> pairs(8);
  Buffer<uchar4> bytes(8);
  VectorTypes<<<1, 8>>>(out, in, pairs, bytes);
  for (int i = 0; i < 8; ++i) {
    const float4 v = out.Read()[i];
    SAME(v.x, i + 1.0f);
    SAME(v.y, 2.0f * i);
    SAME(v.w, 6.0f * i);
    SAME(pairs.Read()[i].x, i + 1);
    SAME(pairs.Read()[i].y, -i);
    SAME(static_cast<int>(bytes.Read()[i].y), i + 1);
    SAME(static_cast<int>(bytes.Read()[i].z), 255);
  }
  SAME(sizeof(float3), std::size_t{12});
  SAME(alignof(float4), std::size_t{16});
  SAME(alignof(double2), std::size_t{16});
  SAME(sizeof(short3), std::size_t{6});
}

__global__ void Loads(const int* __restrict__ in, int* out) {
  const int i = threadIdx.x;
  out[i] = __ldg(in + i) + __ldcg(in + i) + __ldcs(in + i) + __ldca(&in[i]);
}
CASE(read_only_loads) {
  Buffer<int> in(Make<int>(32, [](int i) { return i; })), out(32);
  Loads<<<1, 32>>>(in, out);
  SAME_ALL(out.Read(), Make<int>(32, [](int i) { return 4 * i; }));
}

__global__ void Bits(int* out) {
  int n = 0;
  out[n++] = __popc(0xff0fu);
  out[n++] = __popcll(0xff00000000000001ull);
  out[n++] = __clz(1);
  out[n++] = __clz(0);
  out[n++] = __clzll(1);
  out[n++] = __ffs(8);
  out[n++] = __ffs(0);
  out[n++] = __brev(1u) == 0x80000000u;
  out[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x7210) == 0x77221100u;
  out[n++] = __mulhi(1 << 30, 8);
  out[n++] = __umulhi(0x80000000u, 6u);
  out[n++] = __mul24(-3, 5);
  out[n++] = __sad(3, -4, 10);
  out[n++] = __funnelshift_l(0x80000000u, 1u, 1);
  out[n++] = __float_as_int(1.0f) == 0x3f800000;
  out[n++] = __int_as_float(0x40000000) == 2.0f;
  out[n++] = __float2int_rn(2.5f);
  out[n++] = __float2int_rz(-2.7f);
  out[n++] = __float2int_rd(-2.2f);
  out[n++] = __float2int_ru(2.1f);
  out[n++] = min(3, -2) + max(4u, 7u);
  out[n++] = __double2hiint(1.0) == 0x3ff00000;
  out[n++] = abs(-5) + static_cast<int>(fabsf(-2.0f));
}
CASE(bits_and_conversions) {
  Buffer<int> out(23, -1000);
  Bits<<<1, 1>>>(out);
  SAME_ALL(out.Read(), (std::vector<int>{12, 9, 31, 32, 63, 4, 0, 1, 1, 2, 3, -15, 17, 3, 1, 1, 2, -2,
                                         -3, 3, 5, 1, 7}));
}

__global__ void Arithmetic(float* out, float x) {
  int n = 0;
  out[n++] = rsqrtf(x) * sqrtf(x);
  out[n++] = fmaf(x, 2.0f, 1.0f);
  out[n++] = fminf(x, 3.0f) + fmaxf(x, 3.0f);
  out[n++] = __fdividef(x, 2.0f);
  out[n++] = floorf(-x / 3.0f);
  out[n++] = __fmul_rn(x, x);
  out[n++] = __saturatef(x);
  out[n++] = powf(x, 2.0f);
  out[n++] = static_cast<float>(isnan(x)) + static_cast<float>(isinf(x * 1e38f));
  out[n++] = std::abs(-x) + ::fabs(-x);
  out[n++] = expf(0.0f) + __expf(0.0f) + logf(1.0f) + cosf(0.0f);
  out[n++] = copysignf(x, -1.0f);
}
CASE(arithmetic) {
  Buffer<float> out(12);
  Arithmetic<<<1, 1>>>(out, 4.0f);
  SAME_ALL(out.Read(), (std::vector<float>{1, 9, 7, 2, -2, 16, 1, 16, 1, 8, 3, -4}));
}

__global__ void Prints(int n) {
  if (threadIdx.x < n) printf("thread %d of %d\n", threadIdx.x, blockDim.x);
}
CASE(printing) {
  Prints<<<1, 4>>>(0);
  WORKS(cudaDeviceSynchronize());
}

constexpr int Doubled(int v) { return 2 * v; }
__global__ void RelaxedConstexpr(int* out) { *out = Doubled(21) + static_cast<int>(std::max(1, 2)); }
CASE(constexpr_functions_of_the_host) {
  Buffer<int> out(1);
  RelaxedConstexpr<<<1, 1>>>(out);
  SAME(out.Read()[0], 44);
}

__global__ void SwitchAndGoto(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = 0;
  switch (i % 4) {
    case 0:
      value = 10;
      break;
    case 1:
      value = 20;
      [[fallthrough]];
    case 2:
      value += 5;
      break;
    default:
      goto done;
  }
  value *= 2;
done:
  out[i] = value;
}
CASE(control_flow) {
  Buffer<int> out(30, -1);
  SwitchAndGoto<<<2, 16>>>(out, 27);
  SAME_ALL(out.Read(), Make<int>(30, [](int i) {
             const int values[] = {20, 50, 10, 0};
             return i < 27 ? values[i % 4] : -1;
           }));
}

namespace naming {
__global__ void Shift(int* out, int Shift) { out[threadIdx.x] += Shift; }
template <class T>
__global__ void Scale(T* Scale, T by) {
  Scale[threadIdx.x] *= by;
}
}  // namespace naming
CASE(a_parameter_with_the_name_of_its_kernel) {
  Buffer<int> out(8, 1);
  naming::Shift<<<1, 8>>>(out, 4);
  naming::Scale<int><<<1, 8>>>(out, 3);
  SAME_ALL(out.Read(), Make<int>(8, [](int) { return 15; }));
}

CASE(a_configuration_in_braces) {
  Buffer<int> out(8, 1);
  naming::Shift<<<{1, 1, 1}, {8, 1, 1}>>>(out, 4);
  naming::Shift<<<{1}, { 8 }, 0>>>(out, 1);
  SAME_ALL(out.Read(), Make<int>(8, [](int) { return 6; }));
}

__global__ void WideVectors(double4_32a* out, double4_16a* other) {
  out[threadIdx.x] = make_double4_32a(threadIdx.x, 1, 2, 3);
  other[threadIdx.x] = make_double4_16a(out[threadIdx.x].x, 4, 5, 6);
}
CASE(wide_vectors_have_the_alignment_of_their_name) {
  SAME(alignof(double4_32a), std::size_t{32});
  SAME(alignof(double4_16a), std::size_t{16});
  SAME(sizeof(longlong4_32a), std::size_t{32});
  Buffer<double4_32a> out(4);
  Buffer<double4_16a> other(4);
  WideVectors<<<1, 4>>>(out, other);
  SAME(out.Read()[3].x, 3.0);
  SAME(other.Read()[2].x + other.Read()[2].w, 8.0);
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
