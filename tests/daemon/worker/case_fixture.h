// A kernel `scale(in, out, factor, n)`, a case of it, and its plan, for tests of the stages.
#pragma once

#include <gtest/gtest.h>

#include "device/host/host_properties.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

inline constexpr int kCount = 1000;

inline records::Parameter Pointer(const std::string& name, bool is_const) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.kind = records::ParameterKind::kPointer;
  parameter.bytes = 8;
  parameter.element = "float";
  parameter.element_bytes = 4;
  parameter.element_const = is_const;
  return parameter;
}

inline records::Parameter Scalar(const std::string& name, records::ParameterKind kind,
                                 const std::string& type) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = type;
  parameter.kind = kind;
  parameter.bytes = 4;
  parameter.is_signed = true;
  return parameter;
}

inline records::Kernel MakeKernel() {
  records::Kernel kernel;
  kernel.name = kernel.base_name = "scale";
  kernel.parameters = {Pointer("in", true), Pointer("out", false),
                       Scalar("factor", records::ParameterKind::kFloating, "float"),
                       Scalar("n", records::ParameterKind::kInteger, "int")};
  return kernel;
}

inline records::Case MakeCase() {
  records::Case one;
  one.name = "all";
  one.grid = {"ceil_div(n, 64)", "1", "1"};
  one.block = {"64", "1", "1"};
  one.arguments.resize(4);
  const char* names[] = {"in", "out", "factor", "n"};
  for (std::size_t i = 0; i < 4; ++i) one.arguments[i].name = names[i];
  one.arguments[0].count = "n";
  one.arguments[0].fill.emplace();
  one.arguments[0].fill->kind = "normal";
  one.arguments[1].count = "n";
  one.arguments[2].value = "1.5";
  one.arguments[3].value = std::to_string(kCount);
  return one;
}

inline base::Result<CasePlan> Plan(const records::Case& one, const Widening* widening = nullptr) {
  return PlanCase(MakeKernel(), one, device::DescribeHost(), widening);
}

inline CasePlan MakePlan(const records::Case& one = MakeCase()) {
  auto plan = Plan(one);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan.value_or(CasePlan{});
}

}  // namespace cupilot::worker
