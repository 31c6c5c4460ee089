// Searches on what a GPU measured (tests/data/spaces/h100): by evaluations alone, so that no time
// of this machine counts.
#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"
#include "search/measured.h"
#include "search/score.h"
#include "search/strategy.h"

namespace cupilot::search {
namespace {

TEST(RecordedSpacesTest, ThePortfolioIsFarAboveRandomSearch) {
  std::vector<MeasuredSpace> spaces;
  for (const char* kernel : {"convolution", "gemm", "pnpoly"}) {
    const auto text = base::ReadFile(std::string(CUPILOT_SOURCE_FOLDER) +
                                     "/tests/data/spaces/h100/" + kernel + ".measured.json");
    ASSERT_TRUE(text) << kernel;
    auto measured = ParseMeasured(*text);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_GT(measured->rows().size(), 400u);
    spaces.push_back(std::move(*measured));
  }
  std::vector<Arena> arenas;
  for (const MeasuredSpace& space : spaces) {
    auto baseline = Baseline::Make(space, {});
    ASSERT_TRUE(baseline) << baseline.error().message;
    arenas.push_back({&space, std::move(*baseline)});
  }
  const auto score = [&](const char* name, std::uint64_t repeats) {
    return MeanOf(ScoreOf(*FindStrategy(name), arenas, repeats, 1, nullptr).scores);
  };
  const double random = score("random", 20), portfolio = score("portfolio", 2);
  EXPECT_NEAR(random, 0, 0.3);
  EXPECT_GT(portfolio, 0.5);
  EXPECT_GT(portfolio, random + 0.3);
}

}  // namespace
}  // namespace cupilot::search
