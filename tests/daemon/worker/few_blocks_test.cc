#include "worker/few_blocks.h"

#include <gtest/gtest.h>

namespace cupilot::worker {
namespace {

using records::Json;

Json Launch(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {{"kernel", "k"}, {"grid", {x, y, z}}, {"block", {32, 1, 1}}};
}

TEST(LeaveFewBlocks, LeavesTheFirstOnes) {
  Json program = {{"steps", {Launch(256, 512, 3)}}};
  EXPECT_TRUE(LeaveFewBlocks("out[blockIdx.x] = 1; // not gridDim", program));
  EXPECT_EQ(program["steps"][0]["grid"], Json({8, 2, 1}));
  EXPECT_EQ(program["steps"][0]["block"], Json({32, 1, 1}));
}

TEST(LeaveFewBlocks, WhereABlockMayDependOnTheirNumberAllStay) {
  for (const char* code :
       {"for (int i = blockIdx.x; i < n; i += gridDim.x) {}", "auto grid = cg::this_grid();",
        "cg::grid_group g;",
        "#define LOOP(i, n) for (int i = blockIdx.x; i < n; i += gridDim.x)\nLOOP(i, n) {}",
        "asm(\"mov.u32 %0, %nctaid.x;\" : \"=r\"(n));"}) {
    Json program = {{"steps", {Launch(256, 1, 1)}}};
    const Json before = program;
    EXPECT_FALSE(LeaveFewBlocks(code, program)) << code;
    EXPECT_EQ(program, before) << code;
  }
}

TEST(LeaveFewBlocks, WhatALaterLaunchReadsIsWrittenByAll) {
  Json two = {{"steps", {Launch(256, 1, 1), Launch(1, 1, 1)}}};
  EXPECT_FALSE(LeaveFewBlocks("", two));
  Json none = {{"steps", Json::array()}};
  EXPECT_FALSE(LeaveFewBlocks("", none));
  Json fill = {{"steps", {{{"kernel", ""}, {"grid", {1, 1, 1}}}}}};
  EXPECT_FALSE(LeaveFewBlocks("", fill));
  Json few = {{"steps", {Launch(4, 2, 1)}}};
  EXPECT_FALSE(LeaveFewBlocks("", few)) << "there are no more";
}

}  // namespace
}  // namespace cupilot::worker
