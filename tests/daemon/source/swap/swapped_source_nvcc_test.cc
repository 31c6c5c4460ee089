// Swapped sources under the real nvcc, which needs no GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "source/swap/elf_file.h"
#include "source/swap/hook_runtime.h"
#include "swap_fixture.h"

namespace cupilot::source {
namespace {

class SwappedSourceNvcc : public SwapFolder {
 protected:
  void SetUp() override {
    if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
    SwapFolder::SetUp();
  }
};

TEST_F(SwappedSourceNvcc, CompilesForTwoArchitecturesTogether) {
  SwapRequest request;
  request.source = Write("scale.cu", kScaleSource);
  request.unit = "app/scale.cu.o";
  SwappedKernel kernel;
  kernel.kernel = ScaleKernel();
  kernel.variants = {
      {PlainVariant(),
       "compute_90,sm_90",
       {"NVIDIA H200"},
       "n % 2 == 0 && factor != 2 && disjoint(in, 4 * n, out, 4 * n)",
       "two a \"thread\"",
       1.5},
      {StepsVariant(), "compute_90,sm_90", {}, "n >= 1", "steps", 1.2},
      {PlainVariant(), "compute_80,sm_80", {}, "aligned(in, 16) && !is_null(out)", "two", 1.1}};
  request.kernels = {kernel};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  const std::string gencode =
      " -gencode=arch=compute_80,code=[compute_80,sm_80] -gencode=arch=compute_90,code=sm_90";
  const bool knows_20 = Run("nvcc --help | grep -q \"'c++20'\"") == 0;  // from 12 on
  for (const char* options :
       {"-std=c++11", "-std=c++17 -rdc=true -DCUPILOT_TUNED_GRAPHS",
        knows_20 ? "-std=c++20 --default-stream per-thread" : "--default-stream per-thread",
        "-O0 -Xcompiler -Wall,-Wextra,-Wshadow,-Werror",
        "-Xcompiler -D__NV_LEGACY_LAUNCH,-Wall,-Wextra,-Wshadow,-Werror"}) {
    EXPECT_EQ(
        Run("nvcc -c " + std::string(options) + gencode + Joined(HookDefinitions(swapped->hook)) +
            " " + swapped->file_name + " -o swapped.o"),
        0)
        << options << "\n"
        << Log();
    EXPECT_EQ(Log(), "") << options;
  }
}

// Device code refers to none of our kernels; a build whose warnings are errors must not see that.
TEST_F(SwappedSourceNvcc, CompilesWithoutWarningsInAnUnnamedNamespace) {
  std::string text = kScaleSource;
  text.replace(text.find("namespace app {"), 15, "namespace app { namespace {");
  text.replace(text.rfind("}"), 1,
               "} }\nvoid Use(float* x) { app::scale<<<1, 32>>>(2, x, x, 3); }");
  SwapRequest request;
  request.source = Write("scale.cu", text);
  request.unit = "app/scale.cu.o";
  SwappedKernel kernel;
  kernel.kernel = ScaleKernel();
  kernel.kernel.namespaces = {"app", ""};
  kernel.variants = {{PlainVariant(), "compute_90,sm_90", {}, "n >= 1", "", 1.1},
                     {StepsVariant(), "compute_90,sm_90", {}, "", "", 1.1}};
  request.kernels = {kernel};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  EXPECT_EQ(
      Run("nvcc -c -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra" +
          Joined(HookDefinitions(swapped->hook)) + " " + swapped->file_name + " -o swapped.o"),
      0)
      << Log();
  EXPECT_EQ(Log(), "");
}

// What the hook form rests on: every launch, however written, comes to one function of the object
// that defines the kernel.
constexpr const char* kHeader = R"(
#pragma once
#define LAUNCH(kernel, blocks, id) kernel<<<blocks, 32>>>(id)
namespace { template <class T> __global__ void in_header(T id) {} }
template <class T> void LaunchFromHeader(T id) { in_header<T><<<3, 32>>>(id); }
)";
constexpr const char* kMain = R"(
#include "launches.h"
__global__ void plain(int id) {}
namespace a { namespace { __global__ void hidden(int id) {} } }
void FromElsewhere();
void LaunchNested(int id) { a::hidden<<<7, 32>>>(id); }
int main() {
  plain<<<1, 32>>>(11);
  LAUNCH(plain, 2, 12);
  LaunchFromHeader(13);
  void (*pointer)(int) = plain;
  pointer<<<4, 32, 64>>>(14);
  FromElsewhere();
  LaunchNested(17);
  int id = 18;
  void* arguments[] = {&id};
  cudaLaunchKernel((const void*)plain, dim3(8), dim3(32), arguments, 0, 0);
  id = 19;
  cudaLaunchKernel(plain, dim3(9), dim3(32), arguments, 0, 0);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(10);
  config.blockDim = dim3(32);
  cudaLaunchKernelEx(&config, plain, 20);
}
)";
constexpr const char* kElsewhere = R"(
__global__ void plain(int id);
void FromElsewhere() { plain<<<5, 32>>>(15); }
)";
constexpr const char* kPrintingHook = R"(
#include "main.cu"
#include <cstdio>
#if CUDART_VERSION < 13000 || defined(__NV_LEGACY_LAUNCH)
typedef const void* handle_type;
#else
typedef cudaKernel_t handle_type;
#endif
extern "C" __attribute__((visibility("hidden"))) cudaError_t printing_hook(
    handle_type, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  std::printf("id %d grid %u block %u shared %zu\n", *static_cast<int*>(arguments[0]), grid.x,
              block.x, shared);
  return cudaSuccess;
}
extern "C" cudaError_t printing_hook_call(const void*, dim3 grid, dim3, void** arguments, size_t,
                                          cudaStream_t) {
  std::printf("called: %d grid %u\n", *static_cast<int*>(arguments[0]), grid.x);
  return cudaSuccess;
}
extern "C" cudaError_t printing_hook_call_ex(const cudaLaunchConfig_t* config, const void*,
                                             void** arguments) {
  std::printf("extended: %d grid %u\n", *static_cast<int*>(arguments[0]), config->gridDim.x);
  return cudaSuccess;
}
)";

TEST_F(SwappedSourceNvcc, AHookSeesEveryLaunchHoweverItIsWritten) {
  Write("launches.h", kHeader);
  Write("main.cu", kMain);
  Write("elsewhere.cu", kElsewhere);
  Write("hook.cu", HookCalls("printing_hook") + kPrintingHook + HookStubs("printing_hook"));
  // The last two: as toolkits before 13 do it, whichever this one is.
  for (const std::string options :
       {"-arch=sm_80", "-arch=sm_80 -rdc=true", "-arch=sm_80 --default-stream per-thread",
        "-arch=sm_80 -rdc=true --default-stream per-thread -O0",
        "-arch=sm_80 -Xcompiler -D__NV_LEGACY_LAUNCH",
        "-arch=sm_80 -Xcompiler -D__NV_LEGACY_LAUNCH --default-stream per-thread -O0"}) {
    const std::string definitions = Joined(HookDefinitions("printing_hook"));
    ASSERT_EQ(Run("nvcc -c " + options + " elsewhere.cu -o elsewhere.o && nvcc -c " + options +
                  definitions + " hook.cu -o hook.o && nvcc " + options +
                  " elsewhere.o hook.o -o program"),
              0)
        << options << Log();
    Run("./program");
    EXPECT_EQ(Log(),
              "id 11 grid 1 block 32 shared 0\nid 12 grid 2 block 32 shared 0\n"
              "id 13 grid 3 block 32 shared 0\nid 14 grid 4 block 32 shared 64\n"
              "id 15 grid 5 block 32 shared 0\nid 17 grid 7 block 32 shared 0\n"
              "called: 18 grid 8\ncalled: 19 grid 9\nextended: 20 grid 10\n")
        << options;
    EXPECT_TRUE(ObjectRefersTo(folder_ + "/hook.o", "printing_hook").value_or(false)) << options;
  }
}

TEST_F(SwappedSourceNvcc, AnObjectThatDoesNotCallTheHookIsTold) {
  SwapRequest request;
  request.source = Write("scale.cu", kScaleSource);
  request.unit = "app/scale.cu.o";
  request.kernels = {{ScaleKernel(), {{PlainVariant(), "compute_80,sm_80", {}, "", "", 1.1}}}};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  for (const char* options : {"", "-rdc=true -O3 -Xcompiler -ffunction-sections"}) {
    const std::string compile = "nvcc -c -arch=sm_80 " + std::string(options) + " ";
    ASSERT_EQ(Run(compile + swapped->file_name + " -o without.o"), 0) << Log();
    ASSERT_EQ(Run(compile + Joined(HookDefinitions(swapped->hook)) + " " + swapped->file_name +
                  " -o with.o"),
              0)
        << Log();
    EXPECT_FALSE(ObjectRefersTo(folder_ + "/without.o", swapped->hook).value_or(true)) << options;
    EXPECT_TRUE(ObjectRefersTo(folder_ + "/with.o", swapped->hook).value_or(false)) << options;
  }
  const std::string description = ElfSection(folder_ + "/with.o", ".cupilot").value_or("");
  EXPECT_NE(description.find("\"kernel\":\"app::scale\""), std::string::npos) << description;
}

SwapRequest MarkedFor(const std::string& target) {
  const std::string folder = std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/daemon/source/swap/";
  return MarkedRequest(folder + "device_behaviour.cu", {{target}, {"compute_10,sm_10"}, {}});
}

// On a device, where there is one: CUPILOT_TEST_KEEP=FOLDER keeps the programs for another machine.
TEST_F(SwappedSourceNvcc, ProgramsComputeTheSameWithAndWithoutVariants) {
  const auto swapped = WriteSwappedSource(MarkedFor("compute_90,sm_90"));
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  const std::vector<std::pair<std::string, std::string>> builds = {
      {"native", "-gencode=arch=compute_90,code=sm_90"},
      {"older", "-gencode=arch=compute_80,code=compute_80"},  // compute_80 code on every device
      {"threads", "-gencode=arch=compute_90,code=sm_90 -rdc=true --default-stream per-thread"}};
  bool device = true;
  for (const auto& [name, options] : builds) {
    const std::string definitions = Joined(HookDefinitions(swapped->hook)) + " -std=c++17 ";
    ASSERT_EQ(Run("nvcc " + options + definitions + swapped->file_name + " -o " + name), 0)
        << Log();
    const std::string expected = name == "older" ? "original" : "tuned";
    device = device && WEXITSTATUS(Run("./" + name + " " + expected)) != 3;
    if (!device) continue;
    EXPECT_EQ(Log(), "") << name;
    Run("./" + name + " " + expected + " first");
    EXPECT_EQ(Log(), "") << name << ", captured first";
    Run("CUPILOT_DISABLE=1 ./" + name + " original");
    EXPECT_EQ(Log(), "") << name << ", disabled";
  }
  if (const char* keep = std::getenv("CUPILOT_TEST_KEEP")) {
    Run("cp native older threads " + std::string(keep));
  }
  if (!device) GTEST_SKIP() << "the programs compile; there is no device to run them";
}

// The number of the line that holds `part`.
std::string LineOf(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "none";
  return std::to_string(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// What debuggers and profilers show of a variant's device code: a file that people can read, and a
// name with the original's in it, though its entry is called otherwise.
TEST_F(SwappedSourceNvcc, LinesOfDeviceCodeLeadToTheVariantsFile) {
  SwapRequest request;
  request.source = Write("scale.cu", kScaleSource);
  request.unit = "app/scale.cu.o";
  SwappedVariant steps{StepsVariant(), "compute_90,sm_90", {}, "n >= 1", "steps", 1.1};
  request.kernels = {{ScaleKernel(), {steps}}};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  ASSERT_EQ(Run("nvcc -lineinfo -ptx -arch=compute_90 " + Joined(HookDefinitions(swapped->hook)) +
                " " + swapped->file_name + " -o swapped.ptx"),
            0)
      << Log();
  const std::string ptx = base::ReadFile(folder_ + "/swapped.ptx").value_or("");
  std::smatch file;
  const std::regex declaration("\\.file\\s+(\\d+) \"[^\"]*" + swapped->variants[0].file_name);
  ASSERT_TRUE(std::regex_search(ptx, file, declaration)) << ptx;
  const std::string line = LineOf(swapped->variants[0].text, "partial[i] = in[i]");
  EXPECT_TRUE(std::regex_search(ptx, std::regex("\\.loc\\s+" + file[1].str() + " " + line + " ")))
      << line;
  int entries = 0;
  const std::regex entry("\\.entry (\\w+)\\(");
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), entry), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name.find("cupilot_image") != std::string::npos) continue;
    EXPECT_NE(name.find("scale"), std::string::npos) << name;
    ++entries;
  }
  EXPECT_EQ(entries, 3);  // the original and two steps
}

class SwappedSourceHost : public SwapFolder {};

TEST_F(SwappedSourceHost, LinesLeadToTheVariantsFile) {
  const std::string nvcc = Quoted(CUPILOT_TEST_HOST_NVCC);
  if (!base::FileExists(CUPILOT_TEST_HOST_NVCC)) GTEST_SKIP() << "cupilot-nvcc is not built";
  SwapRequest request;
  request.source = Write("scale.cu", kScaleSource);
  request.unit = "app/scale.cu.o";
  SwappedVariant steps{StepsVariant(), "host-x86-64-v3", {}, "n >= 1", "steps", 1.1};
  request.kernels = {{ScaleKernel(), {steps}}};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  ASSERT_EQ(Run(nvcc + " -g -MD -MF o.d" + Joined(HookDefinitions(swapped->hook)) + " -c " +
                swapped->file_name + " -o o.o"),
            0)
      << Log();
  const SwappedText& variant = swapped->variants[0];
  EXPECT_NE(base::ReadFile(folder_ + "/o.d").value_or("").find(variant.file_name),
            std::string::npos)
      << "the dependency file";
  ASSERT_EQ(Run("objdump --wide --dwarf=decodedline o.o"), 0) << Log();
  const std::string lines = Log();
  for (const char* part : {"partial[i] = in[i]", "factor * partial[i]"}) {
    const std::string line = LineOf(variant.text, part);
    EXPECT_TRUE(std::regex_search(lines, std::regex(variant.file_name + "\\s+" + line + "\\s")))
        << part << " in line " << line;
  }
  EXPECT_TRUE(std::regex_search(lines, std::regex("scale\\.cu\\s+5\\s"))) << "the original's";
}

// The same program on the host device.
TEST_F(SwappedSourceHost, ProgramsComputeTheSameWithAndWithoutVariants) {
  const std::string nvcc = Quoted(CUPILOT_TEST_HOST_NVCC);
  if (!base::FileExists(CUPILOT_TEST_HOST_NVCC)) GTEST_SKIP() << "cupilot-nvcc is not built";
  Write("target.cu",
        "__global__ void k() {}\nint main() { __builtin_printf(\"%s\", "
        "cupilot_host_architecture((const void*)k)); }");
  ASSERT_EQ(Run(nvcc + " target.cu -o target && ./target"), 0) << Log();
  const auto swapped = WriteSwappedSource(MarkedFor(Log()));
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  for (const char* options : {"-O3 -std=c++17", "-O0 -std=c++14"}) {
    ASSERT_EQ(Run(nvcc + " " + options + Joined(HookDefinitions(swapped->hook)) + " -c " +
                  swapped->file_name + " -o o.o && " + nvcc + " o.o -o program -lpthread"),
              0)
        << Log();
    EXPECT_TRUE(ObjectRefersTo(folder_ + "/o.o", swapped->hook).value_or(false));
    EXPECT_EQ(Run("./program tuned"), 0);
    EXPECT_EQ(Log(), "") << options;
    EXPECT_EQ(Run("CUPILOT_DISABLE=1 ./program original"), 0);
    EXPECT_EQ(Log(), "") << options << ", disabled";
  }
}

}  // namespace
}  // namespace cupilot::source
