#include "device/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace cupilot::device {
namespace {

TEST(Element, KnowsScalarsVectorsAndOthers) {
  EXPECT_EQ(ElementTypeOf("const float", 4), (ElementType{Number::kFloat32, 4, 1}));
  EXPECT_EQ(ElementTypeOf("float4", 16), (ElementType{Number::kFloat32, 4, 4}));
  EXPECT_EQ(ElementTypeOf("unsigned char", 1), (ElementType{Number::kUnsigned, 1, 1}));
  EXPECT_EQ(ElementTypeOf("ns::Point", 12), (ElementType{Number::kOpaque, 12, 1}));
  EXPECT_EQ(ElementTypeOf("float", 8).number, Number::kOpaque) << "a size that is not a float's";
}

TEST(Element, WidensFloatingComponentsOnly) {
  EXPECT_EQ(Widened(ElementTypeOf("float2", 8)), ElementTypeOf("double2", 16));
  EXPECT_EQ(Widened(ElementTypeOf("int", 4)), ElementTypeOf("int", 4));
}

class EveryType : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryType, BulkIsOneByOne) {
  const ElementType type = ElementTypeOf(GetParam(), 0);
  std::vector<double> values;
  for (int i = 0; i < 1300; ++i) values.push_back(100 * std::sin(i));
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<std::byte> bulk(values.size() * static_cast<std::size_t>(type.bytes)), single = bulk;
  WriteNumbers(bulk.data(), 1, count - 1, type, values.data() + 1);
  for (std::int64_t i = 1; i < count; ++i) {
    WriteNumber(single.data(), i, type, values[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(bulk, single);
  std::vector<double> read(values.size());
  ReadNumbers(bulk.data(), 0, count, type, read.data());
  for (std::int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(read[static_cast<std::size_t>(i)], ReadNumber(single.data(), i, type)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Element, EveryType,
                         ::testing::Values("float", "double", "__half", "__nv_bfloat16", "char",
                                           "unsigned char", "short", "int", "unsigned int",
                                           "long long"));

TEST(Element, HalvesRoundToEvenAndOverflowToInfinity) {
  const ElementType half = ElementTypeOf("__half", 2);
  std::byte data[2];
  const auto round = [&](double value) {
    WriteNumber(data, 0, half, value);
    return ReadNumber(data, 0, half);
  };
  const double ulp = 2 * Roundoff(half);
  EXPECT_EQ(round(1 + ulp / 2), 1);
  EXPECT_EQ(round(1 + 3 * ulp / 2), 1 + 2 * ulp);
  EXPECT_EQ(round(SmallestNormal(half) / 4), SmallestNormal(half) / 4) << "subnormal";
  EXPECT_TRUE(std::isinf(round(1e6)));
  EXPECT_TRUE(std::isnan(round(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Element, IntegersSaturate) {
  const ElementType type = ElementTypeOf("signed char", 1);
  std::byte data[1];
  WriteNumber(data, 0, type, 1e9);
  EXPECT_EQ(ReadInteger(data, 0, type), std::numeric_limits<signed char>::max());
  WriteNumber(data, 0, type, -1e9);
  EXPECT_EQ(ReadInteger(data, 0, type), std::numeric_limits<signed char>::min());
}

}  // namespace
}  // namespace cupilot::device
