// A workload whose output lies over its input.
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

TEST(OverlapTest, WhatOnlyTheOverlapSpoilsIsAliasUnsafe) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const Json workload = {
      {"schema", "cupilot.workload/1"},
      {"kernel", "triple"},
      {"cases",
       {{{"name", "in place"},
         {"grid", {1, 1, 1}},
         {"block", {64, 1, 1}},
         {"buffers", {{{"name", "both"}, {"bytes", 256}, {"fill", normal}}}},
         {"arguments",
          {{{"name", "in"}, {"type", "const float*"}, {"buffer", "both"}, {"offset", 0}},
           {{"name", "out"}, {"type", "float*"}, {"buffer", "both"}, {"offset", 0}}}}}}}};
  StepsRig rig("triple",
               "__global__ void triple(const float* in, float* out) {\n"
               "  out[threadIdx.x] = 3.0f * in[threadIdx.x];\n}\n",
               workload);
  const auto variant = [](const std::string& body) {
    return Json{
        {"schema", "cupilot.variant/1"},
        {"kernel", "triple"},
        {"source", "__global__ void other(const float* in, float* out) {\n" + body + "\n}\n"},
        {"entry", "other"}};
  };
  const protocol::VerifyReply unsafe =
      rig.Verify(variant("out[threadIdx.x] = 0.0f;\n__syncthreads();\n"
                         "out[threadIdx.x] = 3.0f * in[threadIdx.x];"));
  EXPECT_EQ(unsafe.reason, "alias_unsafe") << unsafe.detail;
  const protocol::VerifyReply wrong = rig.Verify(variant("out[threadIdx.x] = 2.0f;"));
  EXPECT_EQ(wrong.reason, "wrong_values") << wrong.detail;
  const protocol::VerifyReply right =
      rig.Verify(variant("out[threadIdx.x] = in[threadIdx.x] * 3.0f;"));
  EXPECT_TRUE(right.passed) << right.reason << ": " << right.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
