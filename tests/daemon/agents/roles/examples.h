// A kernel, its workload and inputs of each role that say all that they can.
#pragma once

#include <string>

#include "agents/roles/aligner.h"
#include "agents/roles/judge.h"
#include "agents/roles/reviser.h"
#include "agents/roles/strategist.h"
#include "agents/roles/translator.h"

namespace cupilot::agents {

inline records::Parameter PointerParameter(const std::string& name, const std::string& type) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = type;
  parameter.kind = records::ParameterKind::kPointer;
  return parameter;
}

inline records::Parameter IntegerParameter(const std::string& name) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = "int";
  parameter.kind = records::ParameterKind::kInteger;
  return parameter;
}

inline records::Kernel ExampleKernel() {
  records::Kernel kernel;
  kernel.name = "rows::row_sum";
  kernel.base_name = "row_sum";
  kernel.namespaces = {"rows"};
  kernel.key = "0123456789012345678901234567890123456789";
  kernel.parameters = {PointerParameter("in", "const float *"), PointerParameter("sums", "float *"),
                       IntegerParameter("count"), IntegerParameter("width")};
  kernel.closure_source =
      "namespace rows {\n"
      "// A block a row.\n"
      "__global__ void row_sum(const float* in, float* sums, int count, int width) {\n"
      "  float sum = 0.0f;\n"
      "  for (int i = 0; i < width; ++i) sum += in[blockIdx.x * width + i];\n"
      "  if (threadIdx.x == 0) sums[blockIdx.x] = sum;\n"
      "}\n"
      "}\n";
  return kernel;
}

inline records::Argument ScalarArgument(const std::string& name, const std::string& value) {
  records::Argument argument;
  argument.name = name;
  argument.type = "int";
  argument.value = value;
  return argument;
}

inline records::Argument ArrayArgument(const std::string& name, const std::string& count,
                                       records::Access access) {
  records::Argument argument;
  argument.name = name;
  argument.count = count;
  argument.access = access;
  return argument;
}

inline records::Workload ExampleWorkload() {
  records::Workload workload;
  workload.kernel = "rows::row_sum";
  for (const auto& [name, weight, width] :
       {std::tuple{"wide", 3.0, "1000"}, std::tuple{"odd", 1.0, "259"}}) {
    records::Case one;
    one.name = name;
    one.weight = weight;
    one.grid = {"40", "1", "1"};
    one.block = {"64", "1", "1"};
    one.arguments = {ArrayArgument("in", "40000", records::Access::kIn),
                     ArrayArgument("sums", "40", records::Access::kOut),
                     ScalarArgument("count", "40"), ScalarArgument("width", width)};
    workload.cases.push_back(one);
  }
  return workload;
}

inline records::Strategy ExampleStrategy(const std::string& technique) {
  records::Strategy strategy;
  strategy.title = "Try " + technique;
  strategy.bottleneck = "latency";
  strategy.steps = {{technique, {{"factor", 4}}, "keeps more loads in flight", 1.3}};
  return strategy;
}

inline records::Variant ExampleVariant() {
  records::Variant variant;
  variant.kernel = "rows::row_sum";
  variant.source =
      "__global__ void quick(const float* in, float* sums, int count, int width) {\n"
      "  const int row = blockIdx.x * THREADS + threadIdx.x;\n"
      "  if (row < count) sums[row] = in[row * width];\n"
      "}\n";
  records::Launch launch;
  launch.entry = "quick";
  launch.grid = {"ceil_div(count, THREADS)", "1", "1"};
  launch.block = {"THREADS", "1", "1"};
  variant.launches = {launch};
  variant.tunables["THREADS"] = {32, 64};
  variant.values["THREADS"] = 32;
  return variant;
}

inline std::vector<TechniqueRow> ExampleTechniques() {
  TechniqueRow unrolling{"unrolling", "Several iterations become one.", "latency fp32", {}, 1.2};
  unrolling.parameters.push_back({"factor", "iterations that become one", 2, 64, "", false});
  TechniqueRow coarsening{"thread_coarsening", "Each thread does more.", "latency l2", {}, 0};
  coarsening.parameters.push_back({"form", "how", 0, 0, "sequential|jammed", false});
  return {unrolling, coarsening, {"warp_reduction", "Shuffles.", "shared latency", {}, 0}};
}

inline KernelBrief ExampleBrief() {
  KernelBrief brief;
  brief.kernel = ExampleKernel();
  brief.workload = ExampleWorkload();
  brief.device.name = "NVIDIA H200";
  brief.device.arch = "sm_90";
  brief.device.sm_count = 132;
  brief.device.max_shared_bytes = 232448;
  brief.device.max_threads_per_sm = 2048;
  brief.device.shared_bytes_per_sm = 233472;
  brief.device.registers_per_sm = 65536;
  brief.device.l2_bytes = 50 << 20;
  brief.device.dram_gb_per_s = 4312.7;
  brief.device.fp32_tflops = 61.37;
  brief.device.fp64_tflops = 30.1;
  brief.device.launch_us = 2.31;
  brief.times = {{"wide", 41.234, 20.456, 3.512}};
  Diagnosis diagnosis;
  diagnosis.bound = "latency";
  diagnosis.case_name = "wide";
  diagnosis.time_us = 20.456;
  diagnosis.floor_share = 0.1717;
  diagnosis.evidence = "counters";
  diagnosis.metrics = {{"warps that wait at barriers", "3.1 per issue", "fewer barriers"}};
  brief.diagnosis = diagnosis;
  return brief;
}

// Nothing in it is empty.
inline KernelBrief FullBrief() {
  KernelBrief brief = ExampleBrief();
  brief.kernel.template_arguments = {"float", "4"};
  brief.kernel.closure_macros = "#define LANES 32\n";
  brief.kernel.tunables = {{"BLOCK", {32, 64}, 64}};
  brief.workload.cases[0].arguments[1].order_free = true;
  brief.workload.cases[1].arguments[0].buffer = brief.workload.cases[1].arguments[1].buffer = "b";
  brief.device.arch = "host-x86-64-v3";
  return brief;
}

inline StrategistInputs FullStrategistInputs() {
  StrategistInputs inputs;
  inputs.brief = FullBrief();
  inputs.techniques = ExampleTechniques();
  inputs.parents = {{ExampleStrategy("unrolling"), 1.4234, "", "latency"},
                    {ExampleStrategy("warp_reduction"), std::nullopt, "wrong_values", ""}};
  inputs.failed = {{"thread_coarsening", "not_faster: registers were spilled"}};
  inputs.examples = {{"a row softmax on sm_90", ExampleStrategy("unrolling"), 1.72, ""},
                     {"sums of rows", ExampleStrategy("warp_reduction"), 0, ""}};
  return inputs;
}

inline TranslatorInputs FullTranslatorInputs() {
  return {FullBrief(),
          ExampleStrategy("unrolling"),
          {{"build_failed", "/tmp/x/candidate.cu(3): error: expected a \";\""}},
          {ExampleVariant()}};
}

inline ReviserInputs FullReviserInputs(Finding::Kind kind) {
  return {FullBrief(),
          ExampleStrategy("unrolling"),
          ExampleVariant(),
          {kind, "wrong_values", "sums[7]: expected 1, got 2"}};
}

inline AlignerInputs FullAlignerInputs() {
  return {ExampleKernel(), ExampleTechniques(), ExampleStrategy("unrolling"), ExampleVariant()};
}

inline JudgeInputs FullJudgeInputs() {
  return {ExampleKernel(), FullBrief().workload, false, ExampleVariant()};
}

}  // namespace cupilot::agents
