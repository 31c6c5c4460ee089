#include "source/swap/lz4_block.h"

#include <gtest/gtest.h>

namespace cupilot::source {
namespace {

using namespace std::string_literals;

// "abc" three times, of which the last six bytes reach into themselves, and "end".
const std::string kRepeats =
    "\x32"
    "abc"
    "\x03\x00"
    "\x30"
    "end"s;
const std::string kRepeated = "abcabcabcend";

TEST(Lz4Block, IsUnpacked) {
  EXPECT_EQ(UnpackLz4Block(kRepeats, kRepeated.size()).value_or("refused"), kRepeated);
  EXPECT_EQ(UnpackLz4Block("\x10x"s, 1).value_or("refused"), "x");
  EXPECT_EQ(UnpackLz4Block("\0"s, 0).value_or("refused"), "");
  // Lengths above 14 go on in bytes of their own: 15 + 255 + 2 literals, 4 + 15 + 0 of the match.
  const std::string literals(272, 'q');
  const std::string block = "\xff\xff\x02"s + literals +
                            "\x01\x00\x00"
                            "\x10z"s;
  EXPECT_EQ(UnpackLz4Block(block, 272 + 19 + 1).value_or("refused"), std::string(291, 'q') + "z");
}

TEST(Lz4Block, WhatIsNoneIsRefused) {
  for (std::size_t end = 0; end < kRepeats.size(); ++end) {
    EXPECT_FALSE(UnpackLz4Block(kRepeats.substr(0, end), kRepeated.size())) << end;
  }
  for (const std::size_t bytes : {std::size_t{0}, kRepeated.size() - 1, kRepeated.size() + 1}) {
    EXPECT_FALSE(UnpackLz4Block(kRepeats, bytes)) << bytes;
  }
  EXPECT_FALSE(UnpackLz4Block("\x10x\x02\x00\x10y"s, 6)) << "a match before the begin";
  EXPECT_FALSE(UnpackLz4Block("\x10x\x00\x00\x10y"s, 6)) << "a match of what it writes";
  EXPECT_FALSE(UnpackLz4Block("\xf0" + std::string(64, '\xff'), 1 << 20)) << "a length without end";
}

}  // namespace
}  // namespace cupilot::source
