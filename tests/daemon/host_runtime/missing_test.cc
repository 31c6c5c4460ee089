// What the host device does not have: a build that needs it ends with one line that names it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostLacks : public HostProgram {
 protected:
  static ProgramRun Build(const std::string& text) {
    const std::string source = folder().Write("lacking.cu", text);
    RunOptions options;
    options.folder = std::filesystem::path(source).parent_path();
    return RunProgram({CUPILOT_HOST_NVCC, "-c", "lacking.cu", "-o", folder() / "lacking.o"},
                      options);
  }
  // `text` does not build: one line says so, that begins with the place and the construct.
  static void Expect(int line, const std::string& construct, const std::string& text) {
    const ProgramRun run = Build(text);
    EXPECT_EQ(run.exit_code, 1) << text;
    EXPECT_THAT(run.errors, ::testing::StartsWith(
                                "lacking.cu:" + std::to_string(line) +
                                ": error: cupilot: the host device does not have " + construct));
    EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
  }
};

// Code of both sides is compiled once, so that it takes the branch for hosts: that is said.
TEST_F(HostLacks, TheMacroThatTellsTheSidesApart) {
  const auto warned = [](const std::string& text) {
    const ProgramRun run = Build(text);
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return run.errors;
  };
  EXPECT_EQ(
      warned(R"(__host__ __device__ float root(float x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return -1;
#endif
}
template <class T> __device__ T twice(T x) {
#if 0
#elif \
  __CUDA_ARCH__ >= 700
  return x;
#endif
  return x + x;
}
__global__ void k(float* f) {
  # ifdef __CUDA_ARCH__
  f[1] = 1;
  # endif
  f[0] = root(16.f) + twice(1.f) + twice(2);
}
)"),
      "lacking.cu:2: warning: cupilot: 'root' depends on __CUDA_ARCH__, which the host device "
      "does not define: it takes the branch for hosts\n"
      "lacking.cu:10: warning: cupilot: 'twice' depends on __CUDA_ARCH__, which the host "
      "device does not define: it takes the branch for hosts\n"
      "lacking.cu:17: warning: cupilot: 'k' depends on __CUDA_ARCH__, which the host device "
      "does not define: it takes the branch for hosts\n");
  EXPECT_EQ(warned(R"(#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300
#error too old
#endif
int host() {
#ifdef __CUDA_ARCH__
  return 1;
#endif
  return 0;
}
__global__ void k(float* f) {
  // #if __CUDA_ARCH__
  /* of old:
#ifdef __CUDA_ARCH__
  */
#ifdef MY__CUDA_ARCH__
#endif
  f[0] = 1;
}
)"),
            "");
}

TEST_F(HostLacks, Textures) {
  Expect(2, "cudaTextureObject_t (nor cudaResourceDesc", R"(
__global__ void k(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, threadIdx.x, 0); }
int main() { cudaResourceDesc what; }
)");
  Expect(2, "tex3D", "\n__global__ void k(float* out) { *out = tex3D<float>(1ull, 1, 2, 3); }\n");
}
TEST_F(HostLacks, Surfaces) {
  Expect(1, "surf2Dread", "__global__ void k(float* out) { surf2Dread(out, 1ull, 0, 0); }\n");
}
TEST_F(HostLacks, TensorCores) {
  Expect(1, "nvcuda::wmma (<mma.h>)", R"(#include <mma.h>
using namespace nvcuda;
__global__ void k(half* a) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;
  wmma::load_matrix_sync(f, a, 16);
}
)");
}
TEST_F(HostLacks, LaunchesByDeviceCode) {
  const std::string text = R"(__global__ void child(int* p) { *p = 1; }
__host__ __device__ void both(int* p);
template <class T> __global__ void parent(T* p) {
  child<<<1, 1>>>(p);
}
void host(int* p) { child<<<1, 1>>>(p); }
)";
  Expect(4, "launches by device code (dynamic parallelism)", text);
}
TEST_F(HostLacks, InlinePtx) {
  Expect(4, "inline PTX (asm)", R"(__device__ unsigned lane() {
  unsigned lane;
  asm volatile("" ::: "memory");
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
)");
}
TEST_F(HostLacks, Clusters) {
  Expect(2, "__cluster_dims__", "\n__global__ void __cluster_dims__(2, 1, 1) k(int* p) {}\n");
  Expect(2, "cooperative_groups::this_cluster", R"(#include <cooperative_groups.h>
__global__ void k() { auto cluster = cooperative_groups::this_cluster(); cluster.sync(); }
)");
}
TEST_F(HostLacks, FunctionsAndTypesOfTheRuntime) {
  Expect(2, "cudaGraphNode_t", R"(int main() {
  cudaGraphNode_t node;
  cudaGraphAddEmptyNode(&node, 0, 0, 0);
}
)");
  Expect(1, "cudaGraphInstantiate", "int main() { return cudaGraphInstantiate(0, 0, 0); }\n");
  Expect(1, "cudaDeviceProp::maxTexture1D", "int f(cudaDeviceProp p) { return p.maxTexture1D; }\n");
}
TEST_F(HostLacks, TheDriverInterface) {
  Expect(2, "cuInit", "#include <cuda.h>\nint main() { return cuInit(0); }\n");
}
TEST_F(HostLacks, HeadersOfTheToolkit) {
  for (const std::string header :
       {"curand.h", "cublas_v2.h", "cub/cub.cuh", "thrust/device_vector.h", "cuda/barrier"}) {
    Expect(2, "<" + header + ">", "\n#include <" + header + ">\n");
  }
}
// A declaration in the class is what a device has, too.
TEST_F(HostLacks, KernelsDefinedInAClass) {
  Expect(2, "kernels that are defined in a friend declaration", R"(class Box {
  friend __global__ void k(Box* box) { box->v = 1; }
  int v;
};
)");
}
// Only an instantiation shows that these are missing.
TEST_F(HostLacks, NamesThatDependOnTemplates) {
  Expect(1, "__vibmax_s32",
         R"(template <class T> __global__ void k(T* p) { *p = __vibmax_s32(p[0], p[1], p + 1); }
void f(int* p) { k<<<1, 1>>>(p); }
)");
}

TEST_F(HostLacks, WhatIsTheUsersOwnFaultTheCompilerSays) {
  ProgramRun run = Build("__global__ void k(int* p) { *p = missing_name; }\n");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("lacking.cu:1:"));
  EXPECT_THAT(run.errors, HasSubstr("missing_name"));
  EXPECT_THAT(run.errors, Not(HasSubstr("host device does not have")));
  run = Build("#include <no/such/header.h>\n");
  EXPECT_THAT(run.errors, HasSubstr("fatal error: no/such/header.h"));
  EXPECT_THAT(run.errors, Not(HasSubstr("host device does not have")));
}
TEST_F(HostLacks, WarningsAreStillSeen) {
  const ProgramRun run = Build("#warning take care\n__global__ void k(int* p) { *p = 1; }\n");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("take care"));
}

}  // namespace
}  // namespace cupilot::test
