#include "workloads/fitted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "device/fill.h"
#include "tests/daemon/workloads/captured_program.h"
#include "workloads/synthetic.h"

namespace cupilot::workloads {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const device::ElementType kFloat = device::ElementTypeOf("float", 4);
const device::ElementType kInt = device::ElementTypeOf("int", 4);

// As the device fills it.
std::string Filled(device::FillRecipe recipe, const device::ElementType& type, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(count * type.size()), '\0');
  EXPECT_TRUE(device::FillBuffer(reinterpret_cast<std::byte*>(bytes.data()), count, type, recipe,
                                 {1, "x", 0}));
  return bytes;
}

TEST(Fitted, FindsTheDistributionsThatFillsDrawFrom) {
  device::FillRecipe recipe;
  recipe.kind = device::FillKind::kNormal;
  recipe.mean = 3;
  recipe.stddev = 2;
  const Fitted normal = Fit(Filled(recipe, kFloat, 20000), kFloat);
  EXPECT_EQ(normal.fill.kind, "normal");
  EXPECT_NEAR(normal.fill.mean, 3, 0.1);
  EXPECT_NEAR(normal.fill.stddev, 2, 0.1);
  recipe.kind = device::FillKind::kUniform;
  recipe.low = -1;
  recipe.high = 4;
  const Fitted uniform = Fit(Filled(recipe, kFloat, 20000), kFloat);
  EXPECT_EQ(uniform.fill.kind, "uniform");
  EXPECT_NEAR(std::stod(uniform.fill.low), -1, 0.01);
  EXPECT_NEAR(std::stod(uniform.fill.high), 4, 0.01);
}

TEST(Fitted, FindsWhatIntegersAre) {
  EXPECT_EQ(Fit(Bytes<int>({0, 1, 2, 3}), kInt).fill.kind, "iota");
  EXPECT_EQ(Fit(Bytes<int>({2, 0, 3, 1}), kInt).fill.kind, "permutation");
  EXPECT_EQ(Fit(Bytes<int>({7, 7, 7}), kInt).fill.kind, "constant");
  const Fitted sorted = Fit(Bytes<int>({1, 1, 5, 9}), kInt);
  EXPECT_EQ(sorted.fill.kind, "sorted");
  const Fitted any = Fit(Bytes<int>({5, -2, 5, 9}), kInt);
  EXPECT_EQ(any.fill.kind, "integers");
  EXPECT_EQ(any.fill.low, "-2");
  EXPECT_EQ(any.fill.high, "9");
}

TEST(Fitted, BytesOfUnknownTypesAreBits) {
  EXPECT_EQ(Fit("abcdef", device::ElementTypeOf("app::Cell", 6)).fill.kind, "bits");
}

TEST(Fitted, WhatIsSyntheticHoldsNothingOfTheData) {
  test::TemporaryFolder folder;
  blobs::BlobStore blobs(folder / "blobs");
  CapturedProgram program;
  std::vector<float> sparse(64, 0.0f);
  sparse[7] = 42.5f;
  sparse[9] = -3;
  program.Allocate(0x700000000, sparse);
  program.Allocate(0x700010000, {0, 0, 0, 0});
  const records::Kernel kernel = CapturedProgram::Kernel();
  {
    capture::Recorder recorder(program.Plan(kernel), program, 0);
    program.Launch(recorder, kernel, 0x700000000, 0x700010000, 64, 1,
                   [&] { program.Set(0x700010000, 0, 5); });
  }
  std::vector<Recording> recordings;
  recordings.push_back(*Recording::Read(program.file()));
  auto captured = CasesOf(recordings, kernel, {}, blobs);
  ASSERT_TRUE(captured);
  ASSERT_TRUE(MakeSynthetic(*captured, blobs));
  EXPECT_TRUE(captured->synthetic);
  EXPECT_TRUE(BlobsOf(*captured).empty());
  EXPECT_EQ(captured->cases[0].arguments[0].fill->kind, "normal");
  EXPECT_EQ(captured->cases[0].arguments[1].fill->kind, "constant");
  ASSERT_EQ(captured->notes.size(), 1u);
  EXPECT_THAT(captured->notes[0], HasSubstr("97 % of in is zero"));
}

}  // namespace
}  // namespace cupilot::workloads
