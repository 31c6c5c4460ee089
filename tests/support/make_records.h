// Records as tests need them, complete but for what a test is about.
#pragma once

#include <cstdint>
#include <string>

#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::test {

inline records::Parameter MakeParameter(const std::string& name, const std::string& type,
                                        records::ParameterKind kind, std::int64_t bytes,
                                        bool is_signed = true) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = type;
  parameter.kind = kind;
  parameter.bytes = bytes;
  parameter.is_signed = is_signed;
  return parameter;
}

// One small case with one scalar.
inline records::Workload MakeSmallWorkload(const std::string& kernel) {
  records::Argument out;
  out.name = "out";
  out.type = "float*";
  out.count = "256";
  out.access = records::Access::kOut;
  records::Argument n;
  n.name = "n";
  n.type = "int";
  n.value = "256";
  records::Case one;
  one.name = "only";
  one.grid = {"4", "1", "1"};
  one.block = {"64", "1", "1"};
  one.arguments = {out, n};
  records::Workload workload;
  workload.kernel = kernel;
  workload.cases = {one};
  return workload;
}

// An original of 100 us, and what follows from the speedup; `spread` is the interval's on each
// side.
inline records::CaseResult MakeCaseResult(const std::string& name, double speedup,
                                          double spread = 0.001) {
  records::CaseResult result;
  result.name = name;
  result.original_us = 100;
  result.variant_us = 100 / speedup;
  result.speedup = speedup;
  result.interval = {speedup * (1 - spread), speedup * (1 + spread)};
  result.samples = 60;
  result.l2 = "warm";
  return result;
}

}  // namespace cupilot::test
