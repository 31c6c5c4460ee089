// app::scale with variants of one launch and of several steps: for the tests here and for the
// programs that run on a GPU (tests/gpu).
#pragma once

#include <string>
#include <vector>

#include "source/swap/swapped_source.h"
#include "tests/support/make_records.h"

namespace cupilot::source {

using test::MakeParameter;

// app::scale(float factor, const float* in, float* out, int n)
inline records::Kernel ScaleKernel() {
  records::Kernel kernel;
  kernel.name = "app::scale";
  kernel.base_name = "scale";
  kernel.namespaces = {"app"};
  kernel.parameters = {
      MakeParameter("factor", "float", records::ParameterKind::kFloating, 4),
      MakeParameter("in", "const float *__restrict", records::ParameterKind::kPointer, 8),
      MakeParameter("out", "float *", records::ParameterKind::kPointer, 8),
      MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  return kernel;
}

inline constexpr const char* kScaleSource = R"(
namespace app {
__global__ void scale(float factor, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
}  // namespace app
)";

// Two elements a thread, half the grid.
inline records::Variant PlainVariant() {
  records::Variant variant;
  variant.kernel = "app::scale";
  variant.source = R"(
__global__ void __launch_bounds__(256) scale_by(float factor, const float* in, float* out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  for (int k = 0; k < PER; ++k) if (i + k < n) out[i + k] = factor * in[i + k];
})";
  records::Launch launch;
  launch.entry = "scale_by";
  launch.grid = {"ceil_div(grid_x, PER)", "1", "1"};
  variant.launches = {launch};
  variant.values["PER"] = 2;
  variant.id = records::VariantId(variant);
  return variant;
}

// Through a workspace, in three steps, one of them repeated.
inline records::Variant StepsVariant() {
  records::Variant variant;
  variant.kernel = "app::scale";
  variant.source = R"(
__global__ void first(const float* in, float* partial, long long n, int step) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n && step == 1) partial[i] = in[i];
}
__global__ void second(float factor, const float* partial, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * partial[i];
})";
  variant.workspace = {{"partial", "4 * n", true}, {"other", "max(1, n % 7)", false}};
  records::Launch first;
  first.entry = "first";
  first.arguments = {records::Json("in"), records::Json("partial"),
                     records::Json{{"type", "long long"}, {"value", "n + 0"}},
                     records::Json{{"type", "int"}, {"value", "step"}}};
  first.repeat = {"2", "step"};
  records::Launch clear;
  clear.fill = "other";
  clear.bytes = "max(1, n % 7)";
  records::Launch second;
  second.entry = "second";
  second.arguments = {records::Json("factor"), records::Json("partial"), records::Json("out"),
                      records::Json("n")};
  second.grid = {"min(ceil_div(n, block_x), 65536 * blocks_per_sm(second))", "1", "1"};
  second.when = "n > 0";
  variant.launches = {first, clear, second};
  variant.id = records::VariantId(variant);
  return variant;
}

// Each launch of the variant adds one to seen[index] (device_behaviour.cu). `before` is text of its
// source.
inline void Mark(SwappedVariant& published, const std::string& before, int index) {
  std::string& source = published.variant.source;
  source.insert(source.find(before), "if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&seen[" +
                                         std::to_string(index) + "], 1);\n  ");
  published.variant.id = records::VariantId(published.variant);
}

struct MarkedTargets {
  std::vector<std::string> expected;  // variants for these should run where the program says so
  std::vector<std::string> foreign;   // and for these nowhere: they mark seen[3]
  std::vector<std::string> devices;   // names; empty: any
};

// What device_behaviour.cu expects: the plain variant takes even n, the one of steps odd n above
// 100.
inline SwapRequest MarkedRequest(const std::string& source, const MarkedTargets& targets) {
  SwapRequest request;
  request.source = source;
  request.unit = "device_behaviour";
  SwappedKernel kernel;
  kernel.kernel = ScaleKernel();
  for (const std::string& target : targets.foreign) {
    SwappedVariant other{PlainVariant(), target, {}, "", "foreign", 2.0};
    Mark(other, "int i = (", 3);
    kernel.variants.push_back(other);
  }
  for (const std::string& target : targets.expected) {
    SwappedVariant plain{PlainVariant(), target, targets.devices, "n % 2 == 0", "plain", 1.5};
    Mark(plain, "int i = (", 1);
    SwappedVariant steps{StepsVariant(), target, targets.devices, "n % 2 == 1 && n > 100", "", 1.2};
    Mark(steps, "int i = ", 2);
    kernel.variants.push_back(plain);
    kernel.variants.push_back(steps);
  }
  request.kernels = {kernel};
  return request;
}

}  // namespace cupilot::source
