#include "source/waiting.h"

#include <gmock/gmock.h>

#include "scan_fixture.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;

class WaitingTest : public ScanFixture {
 protected:
  // Why a kernel with this body is declined.
  std::string Declined(const std::string& body) const {
    return OneKernel(
               "__device__ int Read(int* p) { return atomicAdd(p, 0); }\n"
               "__device__ bool TryLock(int* p) { return atomicCAS(p, 0, 1) == 0; }\n"
               "__device__ int Bump(int* p) { return atomicAdd(p, 1); }\n"
               "// cupilot: tune\n__global__ void k(int* p, int* q, int n) {\n" +
               body + "\n}\n")
        .declined;
  }
};

TEST_F(WaitingTest, LocksAndBarriersAreWaitedFor) {
  for (const char* body : {
           "while (atomicCAS(p, 0, 1) != 0) {}",
           "while (atomicExch(&p[3], 1) == 1);",
           "do {} while (atomicAdd(p, 0) < n);",
           "for (;;) { if (atomicOr(p, 0) == n) break; }",
           "for (int tries = 0; Read(p) < n; ++tries) {}",
           "bool done = false; while (!done) { if (TryLock(p)) { q[0]++; done = true; } }",
           "int seen = 0; do { seen = atomicAdd(p + n, 0); } while (seen == 0);",
           "while (true) { int* lock = p + n; if (atomicCAS(lock, 0, 1) == 0) return; }",
           "while (__ldcg(p) == 0) {}",
       }) {
    EXPECT_THAT(Declined(body), HasSubstr("it waits for other threads in a loop")) << body;
  }
}

TEST_F(WaitingTest, OtherLoopsWithAtomicsAreNot) {
  for (const char* body : {
           // Some thread always succeeds.
           "int old = *p, seen; do { seen = old; old = atomicCAS(p, seen, seen * 3); } "
           "while (old != seen);",
           // Another element each round.
           "for (int i = 0; i < n; ++i) if (atomicCAS(&p[q[i]], 0, 1) == 0) q[i] = -1;",
           "int i = 0; while (i < n) { int v = q[i]; if (atomicExch(p + v, 1) == 0) q[i] = 0; ++i; "
           "}",
           // Work that is handed out.
           "for (int i = atomicAdd(p, 1); i < n; i = atomicAdd(p, 1)) q[i] = i;",
           "int i; while ((i = Bump(p)) < n) q[i] = i;",
           // It counts.
           "for (int i = 0; i < n; ++i) { if (q[i] < 0) atomicCAS(p, 0, 1); }",
           "for (int i = 0; i < n; ++i) { if (atomicCAS(p, 0, 1) == 0) q[i] = 1; }",
       }) {
    EXPECT_EQ(Declined(body), "") << body;
  }
}

TEST(Scope, IsTheSystemsUnlessAnotherIsWritten) {
  EXPECT_TRUE(IsOfSystemScope("cuda::atomic_ref<int>"));
  EXPECT_TRUE(IsOfSystemScope("cuda::std::atomic<float>"));
  EXPECT_TRUE(IsOfSystemScope("const cuda::atomic<int, cuda::std::thread_scope_system> &"));
  EXPECT_FALSE(IsOfSystemScope("cuda::atomic_ref<int, cuda::std::thread_scope_device>"));
  EXPECT_FALSE(IsOfSystemScope("cuda::barrier<cuda::std::thread_scope_block>"));
  EXPECT_FALSE(IsOfSystemScope("my::atomic<int>"));
}

}  // namespace
}  // namespace cupilot::source
