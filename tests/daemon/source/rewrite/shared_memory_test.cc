// The techniques that move data through shared memory: what they must decline, and what they
// propose where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/rewrite/technique.h"
#include "source/rewrite/techniques.h"
#include "tests/daemon/source/rewrite/shared_memory_cases.h"
#include "tests/daemon/source/scan_fixture.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using records::Json;
using ::testing::HasSubstr;

class SharedMemoryTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  struct Body {
    const char* text;
    const char* reason;  // "" where it applies
  };

  records::Kernel KernelOf(const std::string& body, const std::string& places = kPlaces) const {
    return OneKernel(R"(
// cupilot: tune
__global__ void k(const float* a, const float* b, float* out, const int* order, int w, int h, int n) {
)" + places + body + "\n}\n");
  }

  static records::Case CaseOf(const char* grid, const char* block) {
    records::Case one;
    one.grid = {grid, grid, "1"};
    one.block = {block, block, "1"};
    return one;
  }

  static protocol::Proposal SharedOpinion(const records::Kernel& kernel, const records::Case& one,
                                          const std::string& technique, const char* device) {
    const auto reply = Propose({kernel, one, device});
    EXPECT_TRUE(reply);
    for (const protocol::Proposal& proposal : reply.value_or(protocol::ProposeReply{}).proposals) {
      if (proposal.technique == technique) return proposal;
    }
    ADD_FAILURE() << "no opinion of " << technique;
    return {};
  }

  void ExpectOpinions(const std::string& technique, const std::vector<Body>& bodies) const {
    for (const Body& body : bodies) {
      SCOPED_TRACE(body.text);
      const protocol::Proposal opinion =
          SharedOpinion(KernelOf(body.text), CaseOf("128", "16"), technique, "cuda");
      EXPECT_EQ(opinion.applies, std::string(body.reason).empty());
      EXPECT_THAT(opinion.reason, HasSubstr(body.reason));
    }
  }

  static constexpr const char* kPlaces = R"(
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
)";
};

TEST_F(SharedMemoryTest, StagesOnlyWhatItCanExchange) {
  ExpectOpinions(
      "shared_staging",
      {{"if (x < w && y < h) out[x * h + y] = a[y * w + x];", ""},
       {"if (w > x) if (y <= h) out[y + x * h] = a[y * w + x] * b[x * h + y];", ""},
       {"float* to = out + x * h; if (x >= w || y >= h) return; to[y] = a[y * w + x];", ""},
       {"out[x * h + y] += a[y * w + x];", "not only written"},
       {"out[x * h + y] = a[y * w + x]; out[x] = 0.0f;", "used more than once"},
       {"out[x * h + y] = out[y * w + x];", "used more than once"},
       {"for (int i = 0; i < n; ++i) out[x * h + y] = a[y * w + x + i];", "not only written"},
       {"if (a[y * w + x] > 0.0f) return; out[x * h + y] = a[y * w + x];",
        "ends early by a condition"},
       {"float v = a[y * w + x]; if (v > 1.0f) { v += b[x * h + y]; } out[y * w + x] = v;",
        "is read depends on a condition"},
       {"int t = order[y * w + x]; out[x * h + y + t] = a[y * w + x];", "no access runs across"},
       {"out[y * w + x] = a[y * w + x];", "no access runs across"},
       {"out[x * h + y] = a[x * h + y];", "alike"}});
}

TEST_F(SharedMemoryTest, TilesOnlyWhatAllThreadsRead) {
  ExpectOpinions(
      "shared_tiling",
      {{"if (x < w && y < h) { float s = 0; for (int i = 0; i < n; ++i) s += a[y * n + i] * b[i * "
        "w "
        "+ x]; out[y * w + x] = s; }",
        ""},
       {"float s = out[y * w + x]; for (int i = 0; i < n; i++) { const float d = a[x * n + i] - "
        "b[y "
        "* n + i]; s = fmaf(d, d, s); } out[y * w + x] = s;",
        ""},
       {"float s = 0; for (int i = 0; i < n; i += 2) s += a[y * n + i] * b[i * w + x]; out[x] = s;",
        "does not count in ones"},
       {"float s = 0; for (int i = 0; i < x; ++i) s += a[y * n + i] * b[i * w + x]; out[x] = s;",
        "length is not the same"},
       {"float s = 0; for (int i = 0; i < n; ++i) { if (s > 9.0f) break; s += a[y * n + i] * b[i * "
        "w + x]; } out[x] = s;",
        "a 'break'"},
       {"float s = 0; for (int i = 0; i < n; ++i) { s += a[y * n + i] * b[i * w + x]; out[i] = s; "
        "}",
        "its loop writes memory"},
       {"float s = 0; for (int i = 0; i < n; ++i) s += a[y * n + i] * out[i * w + x]; out[x] = s;",
        "writes what its loop reads"},
       {"float s = 0; for (int i = 0; i < n; ++i) s += i > 3 ? a[y * n + i] * b[i * w + x] : 0.0f; "
        "out[x] = s;",
        "depends on a condition"},
       {"float s = 0; for (int i = 0; i < n; ++i) s += a[order[i]] * b[i * w + x]; out[x] = s;",
        "depends on what is computed"},
       {"float s = 0; for (int i = 0; i < n; ++i) s += a[y * n + i]; out[x] = s;",
        "reads nothing that threads along y share"},
       {"if (x != 3) { float s = 0; for (int i = 0; i < n; ++i) s += a[y * n + i] * b[i * w + x]; "
        "out[x] = s; }",
        "more than upper bounds"},
       {"int s = 0; for (int i = 0; i < n; ++i) s += order[y * n + i] / order[i * w + x]; out[x] = "
        "s;",
        "divides integers"}});
}

TEST_F(SharedMemoryTest, NoThreadBeyondTheOriginalsWorks) {
  const char* copy = "out[x * h + y] = a[y * w + x];";
  const auto at = [&](const std::string& places, const std::string& guard) {
    // 25 * 6 threads along each axis: no multiple of any tile.
    return SharedOpinion(KernelOf(guard + copy, places), CaseOf("25", "6"), "shared_staging",
                         "cuda");
  };
  EXPECT_TRUE(at(kPlaces, "if (x < w && y < h) ").applies);
  for (const char* guard :
       {"", "if (x < w) ", "if (x < w || y < h) ", "if (x + 1 < w && y < h) "}) {
    SCOPED_TRACE(guard);
    EXPECT_THAT(at(kPlaces, guard).reason, HasSubstr("no guard keeps more from working"));
  }
  // A place that wraps is below every limit again.
  const std::string narrow = R"(
  unsigned char x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
)";
  EXPECT_THAT(at(narrow, "if (x < w && y < h) ").reason,
              HasSubstr("no guard keeps more from working"));
}

TEST_F(SharedMemoryTest, LargeTilesComeFirstWhereThereAreEnoughOfThem) {
  const records::Kernel kernel = KernelOf(
      "if (x < w && y < h) { float s = 0; for (int i = 0; i < n; ++i) s += a[y * n + i] * b[i * w "
      "+ "
      "x]; out[y * w + x] = s; }");
  const auto first = [&](const char* grid) {
    const protocol::Proposal opinion =
        SharedOpinion(kernel, CaseOf(grid, "16"), "shared_tiling", "cuda");
    EXPECT_TRUE(opinion.applies) << opinion.reason;
    return opinion.parameters.empty() ? 0 : opinion.parameters.front()["tile_m"].get<int>();
  };
  EXPECT_GT(first("128"), first("8"));
}

TEST_F(SharedMemoryTest, TheHostHasNoUseForThem) {
  for (const TechniqueCase& one : SharedMemoryCases()) {
    if (one.declines) continue;
    const records::Kernel kernel = OneKernel(one.source);
    ASSERT_FALSE(kernel.cases.empty());
    const protocol::Proposal opinion =
        SharedOpinion(kernel, kernel.cases.front(), one.technique, "host");
    EXPECT_FALSE(opinion.applies);
    EXPECT_THAT(opinion.reason, HasSubstr("memory like any other"));
  }
}

}  // namespace
}  // namespace cupilot::source
