// A kernel, variants and a scratch folder for the tests of the swapped source.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

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

class SwapFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/cupilot_swap_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

  // Exit status; output is in Log().
  int Run(const std::string& command) const {
    const int status =
        std::system(("cd " + folder_ + " && (" + command + ") > log.txt 2>&1").c_str());
    return status;
  }
  std::string Log() const { return base::ReadFile(folder_ + "/log.txt").value_or(""); }

  std::string folder_;
};

inline bool HasNvcc() { return std::system("nvcc --version > /dev/null 2>&1") == 0; }

inline std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

}  // namespace cupilot::source
