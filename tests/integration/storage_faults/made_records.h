// Records that differ by a number.
#pragma once

#include <string>

#include "records/evaluation.h"
#include "records/variant.h"
#include "tests/support/make_records.h"

namespace cupilot::test {

inline records::Variant NumberedVariant(const std::string& kernel, int number,
                                        std::size_t more_bytes = 0) {
  records::Variant variant;
  variant.kernel = kernel;
  variant.entry = "faster";
  variant.source = "__global__ void faster(float *out, int n) { /* " + std::to_string(number) +
                   std::string(more_bytes, 'x') + " */ }";
  variant.strategy.emplace();
  variant.strategy->title = "number " + std::to_string(number);
  variant.strategy->steps.resize(1);
  variant.strategy->steps[0].technique = "launch_bounds";
  variant.id = records::VariantId(variant);
  return variant;
}

inline records::Evaluation AcceptedEvaluation(const records::Variant& variant,
                                              const std::string& kernel_key,
                                              const std::string& workload_hash, double speedup) {
  records::Evaluation evaluation;
  evaluation.variant = variant.id;
  evaluation.kernel_key = kernel_key;
  evaluation.workload = workload_hash;
  evaluation.target = "host-x86-64-v3";
  evaluation.device = {"a processor", "host-x86-64-v3", 2, 1024};
  evaluation.toolchain = "toolchain";
  evaluation.date = "2026-11-21T08:30:00Z";
  evaluation.accepted = true;
  const records::CaseResult result = MakeCaseResult("only", speedup);
  evaluation.cases = {result};
  evaluation.speedup = speedup;
  evaluation.interval = result.interval;
  return evaluation;
}

}  // namespace cupilot::test
