#include "source/lower/atomic_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/source/lower/lowered_text.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> ReadsOf(const std::string& head, const std::string& body) {
  const Tree tree = ParseText(head + " { " + body + " }\n");
  std::vector<std::string> texts;
  for (const NodeId id : ReadsBesideCompareAndSwap(tree)) texts.emplace_back(tree.TextOf(id));
  return texts;
}
const std::string kHead = "__global__ void k(unsigned* p, unsigned* q, int i, unsigned v)";
const std::string kSwap = "atomicCAS(p, v, v + 1); ";

TEST(ReadsBesideCompareAndSwap, TheFirstValueOfALoop) {
  EXPECT_THAT(ReadsOf(kHead,
                      "unsigned old = *p, assumed; do { assumed = old; old = atomicCAS(p, "
                      "assumed, v); } while (assumed != old);"),
              ElementsAre("*p"));
  EXPECT_THAT(ReadsOf(kHead, "unsigned old; old = q[ i+1 ]; atomicCAS(&q[i + 1], old, v);"),
              ElementsAre("q[ i+1 ]"));
  EXPECT_THAT(ReadsOf(kHead, "atomicCAS((p), *(p), v);"), ElementsAre("*(p)"));
  EXPECT_THAT(ReadsOf(kHead, "while (*p < v) " + kSwap), ElementsAre("*p"));
  EXPECT_THAT(ReadsOf(kHead,
                      "__shared__ unsigned lock; unsigned was = lock; atomicCAS(&lock, was, "
                      "v);"),
              ElementsAre("lock"));
}
TEST(ReadsBesideCompareAndSwap, InATemplate) {
  EXPECT_THAT(ReadsOf("template <class T> __device__ void f(T* p, T v)",
                      "T old = *p; atomicCAS(p, old, v);"),
              ElementsAre("*p"));
}
TEST(ReadsBesideCompareAndSwap, NoWriteAndNoAddress) {
  EXPECT_THAT(ReadsOf(kHead, kSwap + "*p = v; *p += v; unsigned& r = *p; unsigned* a = &*p; ++*p;"),
              IsEmpty());
}
TEST(ReadsBesideCompareAndSwap, NoOtherPlaceAndNoOtherFunction) {
  EXPECT_THAT(ReadsOf(kHead, kSwap + "unsigned a = *q, b = p[1];"), IsEmpty());
  EXPECT_THAT(ReadsOf("__device__ void f(unsigned* p) { atomicCAS(p, 0u, 1u); }\n" + kHead,
                      "unsigned a = *p;"),
              IsEmpty());
  EXPECT_THAT(ReadsOf(kHead, "unsigned a = *p; atomicAdd(p, a);"), IsEmpty());
}
TEST(ReadsBesideCompareAndSwap, AreLoweredForTheThreadSanitizerOnly) {
  const Tree tree = ParseText(kHead + " { unsigned old = *p; " + kSwap + "}\n");
  LowerOptions options;
  EXPECT_THAT(LoweredText(tree, options), Not(HasSubstr("read_atomic(*p)")));
  options.thread_sanitizer = true;
  EXPECT_THAT(LoweredText(tree, options), HasSubstr("= ::cupilot_host::read_atomic(*p);"));
}
TEST(LowerTest, EachThreadRunsOnItsOwnForTheThreadSanitizer) {
  const Tree tree = ParseText("__global__ void k(int* p) { p[threadIdx.x] = 1; }\n");
  LowerOptions options;
  EXPECT_THAT(LoweredText(tree, options), HasSubstr("run_plain<"));
  options.thread_sanitizer = true;
  EXPECT_THAT(LoweredText(tree, options), HasSubstr("run_waiting<"));
}

}  // namespace
}  // namespace cupilot::source
