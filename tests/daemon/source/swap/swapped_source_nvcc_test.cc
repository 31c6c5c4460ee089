// Swapped sources under the real nvcc, which needs no GPU.
#include <gmock/gmock.h>
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

// The host's view of a variant: kernels with parameters of all kinds, and device variables.
constexpr const char* kRichVariant = R"(
struct Pair { int a, b; };
using wide = float4;
typedef long long index_type;
enum Mode : unsigned { kA };
__constant__ float taps[2] = {1, 2};
static __device__ const int box[] = {1, 2};
__device__ constexpr int steps[2] = {1, 2};
__device__ float at(const float* in, int i) { static constexpr int offset[] = {0, 1}; return in[i + offset[0]]; }
template <class F> __device__ void apply(F f) { f(0); }
static __global__ void unused(const wide* in, Pair* pairs, index_type n, Mode m, half2* h) {}
__global__ void __launch_bounds__(256) scale_by(float factor, const float* __restrict__ in, float* out, const int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  apply([=](int k) { if (i < n) out[i + k] = factor * at(in, i) + taps[i] + box[i & 1] + steps[i & 1]; });
})";

SwapRequest RequestWith(const std::string& path, const std::string& source) {
  records::Variant variant = PlainVariant();
  variant.source = source;
  variant.includes = {"cuda_fp16.h", "cooperative_groups.h", "cuda/barrier"};
  variant.id = records::VariantId(variant);
  return {
      path, "app/scale.cu.o", {{ScaleKernel(), {{variant, "compute_80,sm_80", {}, "", "", 1.1}}}}};
}

TEST_F(SwappedSourceNvcc, TheHostPassKnowsAVariantByNamesAlone) {
  const auto swapped =
      WriteSwappedSource(RequestWith(Write("scale.cu", kScaleSource), kRichVariant));
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(*swapped);
  for (const char* options : {"-arch=sm_80 -rdc=true", "-arch=sm_80 -G -std=c++20",
                              "--extended-lambda -std=c++17 -gencode=arch=compute_80,code=sm_80 "
                              "-gencode=arch=compute_90,code=sm_90"}) {
    EXPECT_EQ(Run("nvcc -c " + std::string(options) + Joined(HookDefinitions(swapped->hook)) + " " +
                  swapped->file_name + " -o swapped.o"),
              0)
        << options << "\n"
        << Log();
  }
}

// Host code in a variant that no gate has seen: an object, a destructor, what only other compilers
// than the gate's read, a constructor function, host code behind a joined line.
constexpr const char* kHidden[] = {
    "struct Evil { Evil(); }; Evil::Evil() { puts(\"pwned\"); } static Evil evil;",
    "struct Evil { int x; ~Evil() { puts(\"pwned\"); } }; const Evil evil = {1};",
    "\n#ifndef __clang__\nstatic int evil = puts(\"pwned\");\n#endif\n",
    "__attribute__((constructor)) static void evil() { puts(\"pwned\"); }",
    "// \\ \n\nstatic int evil = __builtin_puts(\"pwned\");\n"};

// What is left of an object without what names the variant by its content.
constexpr const char* kShape =
    "(nm swapped.o; objdump -h -w -j .init_array -j .fini_array -j .text.startup -j .ctors "
    "-j .dtors swapped.o; objdump -r -j .init_array swapped.o) 2>&1 | sed -e "
    "'s/cupilot_[0-9a-f]*/cupilot/g; s/cupilot_hook_[0-9a-f]*/hook/g; s/[0-9a-f]\\{8\\}//g' | "
    "sed -e 's/^ *//' | sort";

TEST_F(SwappedSourceNvcc, HiddenHostCodeLeavesNoTraceInTheObject) {
  const std::string path = Write("scale.cu", std::string("#include <iostream>\n") + kScaleSource);
  const auto object_of = [&](const std::string& before) {
    const auto swapped = WriteSwappedSource(RequestWith(path, before + PlainVariant().source));
    if (!swapped) return "not written: " + swapped.error().message;
    Write(*swapped);
    if (Run("nvcc -c -w -arch=sm_80" + Joined(HookDefinitions(swapped->hook)) + " " +
            swapped->file_name + " -o swapped.o") != 0) {
      return std::string();  // refused by the compiler: the original is built
    }
    if (Run("grep -aq pwned swapped.o") == 0) return std::string("its text is in the object");
    Run(kShape);
    return Log();
  };
  const std::string plain = object_of("");
  ASSERT_THAT(plain, ::testing::HasSubstr("init_array"));
  int compiled = 0;
  for (const char* hidden : kHidden) {
    const std::string object = object_of(hidden);
    if (object.empty()) continue;
    ++compiled;
    EXPECT_EQ(object, plain) << hidden;
  }
  EXPECT_GE(compiled, 1);
}

// nvcc's own host pass of two variants with the same kernels.
TEST_F(SwappedSourceNvcc, TheHostPassDoesNotDependOnAVariantsText) {
  const std::string path = Write("scale.cu", kScaleSource);
  const auto host_pass = [&](const std::string& source) {
    const auto swapped = WriteSwappedSource(RequestWith(path, source));
    if (!swapped) return "not written: " + swapped.error().message;
    Write(*swapped);
    if (Run("nvcc -dryrun -c -arch=sm_80" + Joined(HookDefinitions(swapped->hook)) + " " +
            swapped->file_name +
            " -o o.o 2>&1 | sed -n 's/^#\\$ //p' | grep 'cpp4.ii' | grep -- ' -E ' | "
            "sed 's/ -o .*//' > host.sh && sh host.sh > host.ii") != 0) {
      return "not preprocessed: " + Log();
    }
    Run("grep -v '^# ' host.ii | sed 's/cupilot_[0-9a-f]\\{16\\}/cupilot/g; "
        "s/cupilot_hook_[0-9a-f]*/hook/g'");
    const std::string text = Log();
    const std::size_t at = text.find("scale_by");  // behind the toolkit's headers, which are equal
    return at == std::string::npos ? "it has no kernel: " + text.substr(0, 1000)
                                   : text.substr(at - 500);
  };
  std::string other = PlainVariant().source;
  other.insert(other.find("for ("), "if (n == 7) { out[0] = __expf(factor); return; }\n  ");
  const std::string plain = host_pass(PlainVariant().source);
  // The description holds the variant's id.
  const auto without_ids = [](const std::string& text) {
    return std::regex_replace(text, std::regex("[0-9a-f]{40}"), "id");
  };
  EXPECT_EQ(without_ids(host_pass(other)), without_ids(plain));
  for (const char* hidden : kHidden) {
    EXPECT_EQ(without_ids(host_pass(hidden + PlainVariant().source)), without_ids(plain)) << hidden;
  }
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
