// Swapped sources under the real nvcc, which needs no GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "source/swap/elf_file.h"
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
  Write(swapped->file_name, swapped->text);
  const std::string gencode =
      " -gencode=arch=compute_80,code=[compute_80,sm_80] -gencode=arch=compute_90,code=sm_90";
  for (const char* options :
       {"-std=c++11", "-std=c++17 -rdc=true", "-std=c++20 --default-stream per-thread",
        "-O0 -Xcompiler -Wall,-Wextra,-Wshadow,-Werror"}) {
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
  Write(swapped->file_name, swapped->text);
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
}
)";
constexpr const char* kElsewhere = R"(
__global__ void plain(int id);
void FromElsewhere() { plain<<<5, 32>>>(15); }
)";
constexpr const char* kPrintingHook = R"(
#include "main.cu"
#include <cstdio>
extern "C" __attribute__((visibility("hidden"))) cudaError_t printing_hook(
    cudaKernel_t, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  std::printf("id %d grid %u block %u shared %zu\n", *static_cast<int*>(arguments[0]), grid.x,
              block.x, shared);
  return cudaSuccess;
}
)";

TEST_F(SwappedSourceNvcc, AHookSeesEveryLaunchHoweverItIsWritten) {
  Write("launches.h", kHeader);
  Write("main.cu", kMain);
  Write("elsewhere.cu", kElsewhere);
  Write("hook.cu", kPrintingHook);
  const std::string definitions = Joined(HookDefinitions("printing_hook"));
  for (const std::string options :
       {"-arch=sm_80", "-arch=sm_80 -rdc=true", "-arch=sm_80 --default-stream per-thread",
        "-arch=sm_80 -rdc=true --default-stream per-thread -O0"}) {
    ASSERT_EQ(Run("nvcc -c " + options + " elsewhere.cu -o elsewhere.o && nvcc -c " + options +
                  definitions + " hook.cu -o hook.o && nvcc " + options +
                  " elsewhere.o hook.o -o program"),
              0)
        << options << Log();
    Run("./program");
    EXPECT_EQ(Log(),
              "id 11 grid 1 block 32 shared 0\nid 12 grid 2 block 32 shared 0\n"
              "id 13 grid 3 block 32 shared 0\nid 14 grid 4 block 32 shared 64\n"
              "id 15 grid 5 block 32 shared 0\nid 17 grid 7 block 32 shared 0\n")
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
  Write(swapped->file_name, swapped->text);
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
  Write(swapped->file_name, swapped->text);
  const std::string definitions = Joined(HookDefinitions(swapped->hook)) + " -std=c++17 ";
  const std::vector<std::pair<std::string, std::string>> builds = {
      {"native", "-gencode=arch=compute_90,code=sm_90"},
      {"older", "-gencode=arch=compute_80,code=compute_80"},  // compute_80 code on every device
      {"threads", "-gencode=arch=compute_90,code=sm_90 -rdc=true --default-stream per-thread"}};
  bool device = true;
  for (const auto& [name, options] : builds) {
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

class SwappedSourceHost : public SwapFolder {};

// The same program on the host device.
TEST_F(SwappedSourceHost, ProgramsComputeTheSameWithAndWithoutVariants) {
  const std::string nvcc = CUPILOT_TEST_HOST_NVCC;
  if (!base::FileExists(nvcc)) GTEST_SKIP() << "cupilot-nvcc is not built";
  Write("target.cu",
        "__global__ void k() {}\nint main() { __builtin_printf(\"%s\", "
        "cupilot_host_architecture((const void*)k)); }");
  ASSERT_EQ(Run(nvcc + " target.cu -o target && ./target"), 0) << Log();
  const auto swapped = WriteSwappedSource(MarkedFor(Log()));
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(swapped->file_name, swapped->text);
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
