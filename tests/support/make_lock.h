// Entries of lock files as tests need them.
#pragma once

#include <string>

#include "records/lock.h"
#include "tests/support/make_records.h"

namespace cupilot::test {

// For the kernel n::NAME of src/NAME.cu; its files are not recorded.
inline records::LockedKernel MakeLockedKernel(const std::string& name, const std::string& target) {
  records::LockedKernel entry;
  entry.source = "src/" + name + ".cu";
  entry.kernel = "n::" + name;
  entry.signature = "_ZN1n" + name;
  entry.kernel_key = "key";
  entry.cmake_targets = {"app"};
  entry.target = target;
  entry.toolchain = "nvcc 13.0.48";
  entry.flags = {"-O3"};
  entry.namespaces = {"n"};
  entry.parameters = {MakeParameter("x", "float *", records::ParameterKind::kPointer, 8)};
  entry.files = {{entry.source, "", "hash"}};
  entry.variant.kernel = entry.kernel;
  entry.variant.source = "__global__ void v(float* x) {\n  x[0] = 1;\n}\n";
  entry.variant.entry = "v";
  entry.variant.id = records::VariantId(entry.variant);
  entry.workload.kernel = entry.kernel;
  records::Case& one = entry.workload.cases.emplace_back();
  one.name = "only";
  one.grid = one.block = {"1", "1", "1"};
  records::Argument& argument = one.arguments.emplace_back();
  argument.name = "x";
  argument.type = "float*";
  argument.count = "4";
  argument.access = records::Access::kOut;
  entry.evaluation.variant = entry.variant.id;
  entry.evaluation.target = target;
  entry.evaluation.accepted = true;
  entry.evaluation.speedup = 1.5;
  entry.evaluation.cases = {MakeCaseResult("only", 1.5)};
  return entry;
}

}  // namespace cupilot::test
