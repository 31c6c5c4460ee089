#include "worker/reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using Kernel = std::function<std::vector<double>(const std::vector<double>& in)>;

// What is measured of a kernel on `in`, and how many runs that took.
struct Measured {
  double reach = 0;
  int runs = 0;
};

Measured Measure(const Kernel& kernel, const std::vector<double>& in) {
  Measured measured;
  const std::vector<double> before = kernel(in);
  const auto reach = MeasureReach(static_cast<double>(in.size()), [&](double density) {
    std::vector<double> moved = in;
    MoveSome(moved.data(), 0, std::ssize(moved), static_cast<std::uint64_t>(++measured.runs),
             density);
    return std::vector<double>{ShareMoved(before, kernel(moved))};
  });
  measured.reach = reach.value_or(std::vector<double>{0})[0];
  return measured;
}

std::vector<double> Ramp(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Each output is a function of `m` neighbours.
Kernel Windows(std::size_t m) {
  return [m](const std::vector<double>& in) {
    std::vector<double> out;
    for (std::size_t i = 0; i + m <= in.size(); i += m) {
      out.push_back(std::accumulate(in.begin() + static_cast<std::ptrdiff_t>(i),
                                    in.begin() + static_cast<std::ptrdiff_t>(i + m), 0.0));
    }
    return out;
  };
}

TEST(Reach, IsTheNumberOfInputsOfAnOutput) {
  for (const std::size_t m : {1u, 3u, 40u, 512u}) {
    const Measured measured = Measure(Windows(m), Ramp(1 << 16));
    EXPECT_NEAR(measured.reach, static_cast<double>(m), 0.2 * static_cast<double>(m));
  }
}

TEST(Reach, OfElementsTakesFewRuns) { EXPECT_LE(Measure(Windows(1), Ramp(1 << 16)).runs, 2); }

// As many outputs as inputs, all of which reach each of them: a layout shows one input an output.
TEST(Reach, OfANormalisedRowIsTheRow) {
  const Kernel normalise = [](const std::vector<double>& in) {
    std::vector<double> out = in;
    for (std::size_t i = 0; i < in.size(); i += 256) {
      const auto row = in.begin() + static_cast<std::ptrdiff_t>(i);
      const double sum = std::accumulate(row, row + 256, 0.0);
      for (std::size_t k = i; k < i + 256; ++k) out[k] /= sum;
    }
    return out;
  };
  EXPECT_NEAR(Measure(normalise, Ramp(1 << 14)).reach, 256, 80);
}

// One row alone: all its outputs move, or none.
TEST(Reach, OfASingleRowIsDrawnOftenEnough) {
  const Kernel normalise = [](const std::vector<double>& in) {
    std::vector<double> out = in;
    const double sum = std::accumulate(in.begin(), in.end(), 0.0);
    for (double& one : out) one /= sum;
    return out;
  };
  const Measured measured = Measure(normalise, Ramp(100));
  EXPECT_GT(measured.reach, 50);
  EXPECT_LE(measured.reach, 100);
}

TEST(Reach, OutputsThatNeverMoveDoNotCount) {
  const Kernel half = [](const std::vector<double>& in) {
    std::vector<double> out = Windows(16)(in);
    for (std::size_t i = 0; i < out.size(); i += 2) out[i] = 7;
    return out;
  };
  EXPECT_NEAR(Measure(half, Ramp(1 << 15)).reach, 16, 4);
  const Kernel none = [](const std::vector<double>&) { return std::vector<double>{1, 2}; };
  EXPECT_EQ(Measure(none, Ramp(100)).reach, 1);
}

// The sums of atomic additions come in another order each time.
TEST(Reach, AnotherOrderIsNoMove) {
  EXPECT_EQ(ShareMoved({1.0, 2.0}, {1.0 + 0x1p-50, 2.0 - 0x1p-50}), 0);
  EXPECT_EQ(ShareMoved({1.0, 2.0}, {1.0 + 0x1p-30, 2.0}), 0.5);
}

TEST(Reach, ZerosAreMovedToo) {
  std::vector<double> values(100, 0.0);
  MoveSome(values.data(), 0, 100, 1, 1);
  for (const double v : values) EXPECT_NE(v, 0);
}

class ReachContentsTest : public ::testing::Test {
 protected:
  std::vector<std::vector<std::byte>> Contents(const std::vector<float>& values) const {
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    return {{bytes, bytes + values.size() * sizeof(float)}, {}};
  }
  const CasePlan plan_ = MakePlan();
};

TEST_F(ReachContentsTest, SparseAndBalancedContentsAreSeen) {
  std::vector<float> values(kCount, 1.0f);
  EXPECT_FALSE(HasManyZeros(plan_.layout, Contents(values)));
  values.assign(kCount, 0.0f);
  values[17] = 1.5f;
  EXPECT_TRUE(HasManyZeros(plan_.layout, Contents(values)));
  EXPECT_FALSE(IsBalanced(plan_.layout, Contents(values)));
  values[18] = -1.5f;
  EXPECT_TRUE(IsBalanced(plan_.layout, Contents(values)));
}

TEST(Reach, ResultsThatAShiftLeavesAloneHaveTermsOfZeros) {
  std::vector<double> terms = {0, 0, 3};
  KeepUnshifted({5, 6, 1}, {5, 7, 1.5}, terms);
  EXPECT_EQ(terms, (std::vector<double>{5, 0, 3}));
}

}  // namespace
}  // namespace cupilot::worker
