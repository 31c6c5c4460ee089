// Programs as users write them, on the host device. What is checked is in programs/NAME.cu.
#include "tests/daemon/host_runtime/host_program.h"

#include <gmock/gmock.h>

namespace cupilot::test {
namespace {

using HostRuntime = HostProgram;

TEST_F(HostRuntime, BlocksShareMemoryAndMeetAtBarriers) { ExpectAllCasesHold("blocks"); }
TEST_F(HostRuntime, WarpsExchangeValues) { ExpectAllCasesHold("warps"); }
TEST_F(HostRuntime, AtomicOperationsOfEveryKindAndType) { ExpectAllCasesHold("atomics"); }
TEST_F(HostRuntime, TheLanguageInItsForms) { ExpectAllCasesHold("language"); }
TEST_F(HostRuntime, LaunchesOfEveryGeometry) { ExpectAllCasesHold("launches"); }
TEST_F(HostRuntime, ConditionsAndPlacesInOddForms) { ExpectAllCasesHold("guards", {"-O3"}); }
TEST_F(HostRuntime, GroupsWaitAndExchange) { ExpectAllCasesHold("groups"); }
TEST_F(HostRuntime, HalfPrecision) { ExpectAllCasesHold("halves"); }
TEST_F(HostRuntime, CallsOfTheRuntime) { ExpectAllCasesHold("runtime"); }

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
