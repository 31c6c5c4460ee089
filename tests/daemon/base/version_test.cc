#include "base/version.h"

#include <gtest/gtest.h>

namespace cupilot::base {
namespace {

TEST(Version, OlderIsByNumbers) {
  EXPECT_TRUE(IsOlderVersion("0.9.1", "0.10.0"));
  EXPECT_FALSE(IsOlderVersion("0.10.0", "0.9.1"));
  EXPECT_FALSE(IsOlderVersion("0.1.0", "0.1.0"));
  EXPECT_FALSE(IsOlderVersion("", "0.1.0"));
  EXPECT_FALSE(IsOlderVersion("unknown", "0.1.0"));
}

}  // namespace
}  // namespace cupilot::base
