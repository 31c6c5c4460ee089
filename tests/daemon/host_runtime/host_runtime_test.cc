// Programs as users write them, on the host device. What is checked is in programs/NAME.cu. Only
// where loops are what is tested, the compiler is asked for more than -O1, which takes it twice as
// long.
#include "tests/daemon/host_runtime/host_program.h"

#include <gmock/gmock.h>

#include <sstream>

namespace cupilot::test {
namespace {

using HostRuntime = HostProgram;

TEST_F(HostRuntime, BlocksShareMemoryAndMeetAtBarriers) { ExpectAllCasesHold("blocks"); }
TEST_F(HostRuntime, WarpsExchangeValues) { ExpectAllCasesHold("warps"); }
TEST_F(HostRuntime, AtomicOperationsOfEveryKindAndType) { ExpectAllCasesHold("atomics", {"-O0"}); }
TEST_F(HostRuntime, TheLanguageInItsForms) { ExpectAllCasesHold("language"); }
TEST_F(HostRuntime, CalleesThatOnlyTheLaunchDecides) { ExpectAllCasesHold("callees"); }
TEST_F(HostRuntime, FunctionsAndVariablesOfOtherObjects) {
  const std::string header = "extern __device__ int factor;\n__device__ int rotate(int v);\n";
  const std::string other = folder().Write("other.cu", header + R"(__device__ int factor = 5;
__device__ int rotate(int v) {
  __shared__ int box[32];
  box[threadIdx.x] = v;
  __syncthreads();
  return box[(threadIdx.x + 1) % 32];
}
)");
  const std::string main = folder().Write("separate.cu", "#include <cstdio>\n" + header + R"(
__global__ void k(int* out) { out[threadIdx.x] = rotate(threadIdx.x) + factor; }
int main() {
  int *out, ten = 10;
  cudaMallocManaged(&out, 32 * sizeof(int));
  k<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  printf("%d %d\n", out[0], out[31]);
  cudaMemcpyToSymbol(factor, &ten, sizeof ten);
  k<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  printf("%d %d\n", out[0], out[31]);
}
)");
  const std::string program = Compile(main, {"-O1", "-rdc=true", other});
  if (program.empty()) return;
  EXPECT_EQ(RunProgram({program}).output, "6 5\n11 10\n");
}
TEST_F(HostRuntime, LaunchesOfEveryGeometry) { ExpectAllCasesHold("launches", {"-O2"}); }
TEST_F(HostRuntime, GroupsWaitAndExchange) { ExpectAllCasesHold("groups", {"-O0"}); }
TEST_F(HostRuntime, HalfPrecision) { ExpectAllCasesHold("halves"); }
TEST_F(HostRuntime, AtomicObjectsAndReferences) { ExpectAllCasesHold("atomic_refs"); }
TEST_F(HostRuntime, CallsOfTheRuntime) { ExpectAllCasesHold("runtime", {"-O0"}); }

// The four standards that CUDA has; warnings are errors, as some users have it.
TEST_F(HostRuntime, EveryHeaderInEveryStandard) {
  for (const char* standard : {"11", "14", "17", "20"}) {
    const std::string program =
        Compile(SourceOf("standards.cu"), {"-O0", "-std=c++" + std::string(standard), "-Xcompiler",
                                           "-Wall,-Wextra,-Wpedantic,-Werror"});
    if (program.empty()) continue;
    const ProgramRun run = RunProgram({program});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    EXPECT_EQ(run.output, "32 32 1024\n64 64 1024\n") << standard;
  }
}
// Also where the program that reads a pipe does not end.
TEST_F(HostRuntime, WhatKernelsPrintIsThereAfterTheySynchronise) {
  const std::string program = Compile(folder().Write("prints.cu", R"(#include <cstdio>
#include <unistd.h>
__global__ void k() { printf("block %d, thread %d of %s\n", blockIdx.x, threadIdx.x, "many"); }
int main() {
  k<<<2, 2>>>();
  cudaDeviceSynchronize();
  _exit(0);
}
)"));
  if (program.empty()) return;
  std::vector<std::string> lines;
  std::istringstream output(RunProgram({program}).output);
  for (std::string line; std::getline(output, line);) lines.push_back(line);
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(
                         "block 0, thread 0 of many", "block 0, thread 1 of many",
                         "block 1, thread 0 of many", "block 1, thread 1 of many"));
}

// GCC says which loops it has vectorised; nobody has promised it that the arrays do not overlap.
TEST_F(HostRuntime, AKernelWithoutSynchronisationIsALoopThatIsVectorised) {
  const std::string source = folder().Write("vectorised.cu", R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
void run(int n, float* x, float* y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)");
  const ProgramRun run =
      RunProgram({CUPILOT_HOST_NVCC, "-O3", "-Xcompiler", "-fopt-info-vec-optimized", "-c", source,
                  "-o", folder() / "vectorised.o"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output + run.errors, ::testing::HasSubstr("loop vectorized"));
}

}  // namespace
}  // namespace cupilot::test
