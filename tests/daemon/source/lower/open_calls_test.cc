// What a kernel with a call that only an instantiation decides may reach, seen in how its entry is
// lowered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/lower/kernel_facts.h"
#include "source/syntax/query.h"
#include "tests/daemon/source/lower/lowered_text.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The kernel's index is flat, so that nothing but a callee that asks for the thread keeps its
// blocks apart.
const std::string kSmooth = R"(
struct Insulated {
  template <class Real>
  __host__ __device__ static Real Behind(Real inside) { return inside; }
};
template <class Boundary>
__global__ void smooth(const float* u, float* next, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) next[x] = Boundary::Behind(u[x]);
}
__global__ void waits(float* u) {
  if (threadIdx.x == 0) u[blockIdx.x] = 0;
  __syncthreads();
}
)";
constexpr const char* kFlatShape = "shape<::cupilot_host::block_width, true, false>";
constexpr const char* kCurrentShape = "shape<::cupilot_host::block_width, false, true>";

// The entry of `smooth`, where `text` stands behind it.
std::string EntryWith(const std::string& text) {
  const std::string lowered = LoweredText(ParseText(kSmooth + text));
  const std::size_t begin = lowered.find("static int cupilot_entry_smooth");
  if (begin == std::string::npos) return lowered;
  return lowered.substr(begin, lowered.find('\n', begin) - begin);
}
void ExpectPlain(const std::string& text) {
  const std::string entry = EntryWith(text);
  EXPECT_THAT(entry, HasSubstr(kFlatShape)) << text;
  EXPECT_THAT(entry, HasSubstr("run_plain<")) << text;
}
void ExpectCurrent(const std::string& text) {
  EXPECT_THAT(EntryWith(text), HasSubstr(kCurrentShape)) << text;
}

TEST(OpenCalls, AHostMemberThatLaunchesIsNoCallee) {
  ExpectPlain("");
  ExpectPlain(R"(struct Solver {
  void Run(float* a, float* b, int n) {
    smooth<Insulated><<<n / 256, 256>>>(a, b, n);
    waits<<<1, 32>>>(a);
  }
  void wait_sync();
};
)");
  ExpectPlain(R"(struct Solver {
  void Run(float* a, float* b, int n);
  void wait_sync();
};
void Solver::Run(float* a, float* b, int n) {
  smooth<Insulated><<<n / 256, 256>>>(a, b, n);
  wait_sync();
}
)");
  ExpectPlain(R"(struct Solver {
  __host__ explicit Solver(float* a) { waits<<<1, 32>>>(a); }
  template <class Boundary>
  void Run(float* a, float* b, int n) { smooth<Boundary><<<1, 256>>>(a, b, n); wait_sync(); }
  virtual void Wait(float* a) { waits<<<1, 32>>>(a); }
  static void wait_sync();
};
void Use(Solver& solver, float* a) { solver.Run<Insulated>(a, a, 1); }
)");
}
TEST(OpenCalls, ALambdaThatLaunchesIsNoCallee) {
  ExpectPlain(R"(void Run(float* a, float* b, int n) {
  const auto stream_sync = [] {};
  const auto launch = [&] { smooth<Insulated><<<n / 256, 256>>>(a, b, n); stream_sync(); };
  const auto other = [&] { waits<<<1, 32>>>(a); };
  launch();
  other();
}
)");
}
TEST(OpenCalls, NothingIsFollowedIntoAnotherKernel) {
  // May run on the device, where it could do nothing with a kernel's name.
  ExpectPlain(R"(template <class Kernel>
struct Launcher {
  __host__ __device__ static Kernel* Of(Kernel* kernel) { return kernel; }
};
struct Named {
  __host__ __device__ static void Name() { (void)Launcher<void(float*)>::Of(&waits); }
};
)");
}
TEST(OpenCalls, AHostMemberOfAClassThatTheKernelUsesIsNoCallee) {
  const std::string lowered = LoweredText(ParseText(R"(
struct Field {
  float* data;
  void Clear(int n);
  void Fill(int n);
  void stream_sync();
  void Check() const { if (data == nullptr) __assert_fail("data", "field.h", 1, "Check"); }
};
__global__ void waits(Field field) {
  field.data[threadIdx.x] = 0;
  __syncthreads();
}
__global__ void scale(Field field, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) field.data[x] *= 2;
}
struct Solver {
  Field field;
  void Run() { waits<<<1, 32>>>(field); field.stream_sync(); }
};
template <class Owner>
__global__ void of_owner(Owner owner, Solver solver, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) solver.field.data[x] *= 2;
}
)"));
  for (const char* kernel : {"scale", "of_owner"}) {
    const std::size_t begin = lowered.find(std::string("static int cupilot_entry_") + kernel);
    ASSERT_NE(begin, std::string::npos);
    const std::string entry = lowered.substr(begin, lowered.find('\n', begin) - begin);
    EXPECT_THAT(entry, HasSubstr(kFlatShape));
    EXPECT_THAT(entry, HasSubstr("run_plain<"));
  }
}

TEST(OpenCalls, WhatMayRunOnTheDeviceIsACallee) {
  ExpectCurrent(R"(struct Lane {
  template <class Real>
  __device__ static Real Behind(Real inside) { return inside + threadIdx.x; }
};
)");
  ExpectCurrent("struct Lane { __host__ __device__ static int At() { return threadIdx.x; } };\n");
  ExpectCurrent(R"(struct Lane { __device__ static int At(); };
__device__ int Lane::At() { return threadIdx.x; }
)");
  // With --expt-relaxed-constexpr, and by clang always.
  ExpectCurrent(R"(__device__ inline int lane() { return threadIdx.x; }
struct Lane { static constexpr int At(bool known) { return known ? 0 : lane(); } };
)");
}
TEST(OpenCalls, LambdasMayRunOnTheDevice) {
  ExpectCurrent(R"(void Run(float* a) {
  const auto lane = [] __attribute__((device)) (float v) { return v + threadIdx.x; };
  (void)lane;
}
)");
  // Not marked: clang takes it, as both.
  ExpectCurrent(R"(__device__ inline int place() { return threadIdx.x; }
void Run(float* a) {
  const auto lane = [](float v) { return v + place(); };
  (void)lane;
}
)");
}
TEST(OpenCalls, MembersOfAClassOfALambdaAreAsTheLambda) {
  ExpectCurrent(R"(void Run() {
  const auto lane = [] __attribute__((device)) () {
    struct Lane { int At() { return threadIdx.x; } };
    return Lane().At();
  };
  (void)lane;
}
)");
}
TEST(OpenCalls, WaitingCalleesWait) {
  EXPECT_THAT(EntryWith("struct Meeting { __device__ static void Behind() { __syncthreads(); } };"),
              HasSubstr("run_waiting<"));
  EXPECT_THAT(EntryWith("struct Meeting { static void Behind() { waits<<<1, 1>>>(nullptr); } };"),
              Not(HasSubstr("run_waiting<")));
}

}  // namespace
}  // namespace cupilot::source
