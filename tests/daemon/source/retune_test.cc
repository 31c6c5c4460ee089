#include <gmock/gmock.h>

#include "scan_fixture.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RetuneTest : public ScanFixture {
 protected:
  protocol::RewriteReply Retuned(const std::string& text, std::int64_t value) const {
    protocol::RetuneRequest request;
    request.kernel = OneKernel(text);
    EXPECT_EQ(request.kernel.declined, "");
    request.command = Command();
    request.values = {{"TILE", value}};
    auto reply = Retune(request);
    EXPECT_TRUE(reply.has_value());
    return reply ? std::move(*reply) : protocol::RewriteReply{};
  }
};

const std::string kHead = "#ifndef TILE\n#define TILE 16\n#endif\n";
const std::string kTag = R"(// cupilot: tune
// cupilot: tunable TILE = 8, 16, 32
// cupilot: require TILE <= 1024
// cupilot: launch block=(TILE,2) grid=(ceil_div(n,TILE)) shared=4*TILE
)";

TEST_F(RetuneTest, CopiesWhatDependsOnTheMacroAndNothingElse) {
  const protocol::RewriteReply reply = Retuned(kHead + R"(namespace a {
constexpr int kTwice = 2 * TILE;
__device__ int plain(int v) { return v + 1; }
__device__ int scaled(int v) { return v * kTwice; }
)" + kTag + R"(__global__ void k(int* x, int n) { x[threadIdx.x] = plain(scaled(n)); }
}
)",
                                               32);
  ASSERT_FALSE(reply.declined) << reply.reason;
  const records::Variant& variant = reply.variant;
  EXPECT_EQ(variant.kernel, "a::k");
  EXPECT_EQ(variant.id, records::VariantId(variant));
  EXPECT_THAT(variant.source, HasSubstr("constexpr int kTwice = 2 * 32"));
  EXPECT_THAT(variant.source, HasSubstr("int scaled(int v)"));
  EXPECT_THAT(variant.source, HasSubstr("__global__ void k("));
  EXPECT_THAT(variant.source, Not(HasSubstr("int plain(int v)")));
  EXPECT_THAT(variant.source, Not(HasSubstr("namespace")));
  ASSERT_EQ(variant.launches.size(), 1u);
  EXPECT_EQ(variant.launches[0].entry, "k");
  EXPECT_THAT(variant.launches[0].block, ElementsAre("32", "2", "1"));
  EXPECT_THAT(variant.launches[0].grid, ElementsAre("ceil_div(n,32)", "1", "1"));
  EXPECT_EQ(variant.launches[0].shared_bytes, "4*32");
  EXPECT_THAT(reply.strategy.title, HasSubstr("TILE=32"));
}

// The source's own grid leaves out the last n % 16; another divisor would leave out others.
TEST_F(RetuneTest, WhereTheGridIsAQuotientItIsForSizesThatNeitherDivisorCuts) {
  const std::string kernel = "__global__ void k(int* x, int n) { x[n] = TILE; }\n";
  const auto with_grid = [&](const std::string& grid) {
    return kHead +
           "// cupilot: tune\n// cupilot: tunable TILE = 8, 16, 32\n"
           "// cupilot: launch block=(TILE) grid=" +
           grid + "\n" + kernel;
  };
  EXPECT_EQ(Retuned(with_grid("(n/TILE)"), 32).variant.guard, "(n) % (32) == 0 && (n) % (16) == 0");
  EXPECT_EQ(Retuned(with_grid("(n/TILE,4)"), 16).variant.guard, "") << "the source's own grid";
  EXPECT_EQ(Retuned(with_grid("((n+TILE-1)/TILE)"), 32).variant.guard, "");
  EXPECT_EQ(Retuned(with_grid("(ceil_div(n,TILE))"), 32).variant.guard, "");
}

TEST_F(RetuneTest, CopiesTheOverloadsOfACopiedFunction) {
  const protocol::RewriteReply reply = Retuned(kHead + R"(
__device__ float f(float v) { return v + 1; }
__device__ int f(int v) { return v * TILE; }
)" + kTag + "__global__ void k(float* x, int n) { x[f(n)] = f(1.0f); }\n",
                                               8);
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.variant.source, HasSubstr("float f(float v)"));
}

TEST_F(RetuneTest, CopiesHelpersOfAnUnnamedNamespace) {
  const protocol::RewriteReply reply = Retuned(
      kHead + "namespace a { namespace {\nstruct Acc { float v[TILE]; };\n}\n" + kTag +
          "__global__ void k(float* x, int n) { Acc acc; acc.v[0] = n; x[0] = acc.v[0]; }\n}\n",
      8);
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.variant.source, HasSubstr("struct Acc { float v[8]; };"));
}

TEST_F(RetuneTest, DeclinesWhatCannotBeCopied) {
  EXPECT_THAT(Retuned(kHead + "__constant__ float w[TILE] = {};\n" + kTag +
                          "__global__ void k(float* x, int n) { x[n] = w[0]; }\n",
                      8)
                  .reason,
              HasSubstr("cannot be copied"));
  EXPECT_THAT(Retuned(kHead + "namespace u { __device__ int f() { return TILE; } }\n" + kTag +
                          "__global__ void k(int* x, int n) { x[n] = u::f(); }\n",
                      8)
                  .reason,
              HasSubstr("beside the kernel's"));
  EXPECT_THAT(Retuned(kHead + "__device__ int f() { return TILE; }\n" + kTag +
                          "__global__ void k(int* x, int n) { x[n] = ::f(); }\n",
                      8)
                  .reason,
              HasSubstr("with its namespace"));
  EXPECT_THAT(Retuned(kHead + "struct P { int v[TILE]; };\n" + kTag +
                          "__global__ void k(int* x, int n, P p) { x[n] = p.v[0]; }\n",
                      8)
                  .reason,
              HasSubstr("a parameter depends"));
}

TEST_F(RetuneTest, RefusesATunableThatIsNone) {
  protocol::RetuneRequest request;
  request.kernel = OneKernel(kHead + kTag + "__global__ void k(int* x, int n) { x[n] = TILE; }\n");
  request.command = Command();
  request.values = {{"OTHER", 1}};
  const auto reply = Retune(request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_TRUE(reply->declined);
}

TEST_F(RetuneTest, TheTagsTunablesHaveTheSourcesDefault) {
  const records::Kernel kernel = OneKernel(
      "#define BASE (1 << 0)\n#undef BASE\n#define BASE 4\n#ifndef TILE\n#define TILE (BASE * 4)\n"
      "#endif\n" +
      kTag + "__global__ void k(int* x, int n) { x[n] = TILE; }\n");
  ASSERT_EQ(kernel.tunables.size(), 1u);
  EXPECT_EQ(kernel.tunables[0].default_value, 16);
  EXPECT_THAT(kernel.tunables[0].values, ElementsAre(8, 16, 32));
  EXPECT_THAT(kernel.require, ElementsAre("TILE <= 1024"));
}

}  // namespace
}  // namespace cupilot::source
