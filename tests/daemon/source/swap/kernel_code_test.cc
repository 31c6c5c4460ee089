#include "source/swap/kernel_code.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "source/swap/device_text.h"
#include "swap_fixture.h"

namespace cupilot::source {
namespace {

// A user's file, and the text of each of its kernels alone, as the scan writes it.
constexpr const char* kUnit = R"(#include <cstdio>
#include <cassert>
#include "config.h"
__constant__ float before[7];
__constant__ float taps[4] = {1, 2, 3, 4};
__device__ int table[3] = {5, 6, 7};
__device__ const char* words[2] = {"yes", "no"};
__global__ void first(float* x) { x[1] = before[threadIdx.x]; printf("first %f\n", x[0]); }
__global__ void macro(float* x) { x[threadIdx.x] *= SCALE; }
template <class T, int N> __global__ void unrolled(T* x, int n) {
  __shared__ T s[N];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (x[0] > T(100000)) printf("big %d\n", n);
  x[threadIdx.x] = s[N - 1 - threadIdx.x] + T(table[n % 3]);
}
template __global__ void unrolled<float, 32>(float*, int);
namespace { 
__device__ __noinline__ float helper(float x) { return sinf(x) * FACTOR; }
__global__ void hidden(float* x) { x[threadIdx.x] = helper(x[threadIdx.x]) + helper(x[1]); }
}
__global__ void filter(float* x) { x[threadIdx.x] *= taps[threadIdx.x & 3]; }
#line 40 "there.cu"
__global__ void careful(float* x, int n) { assert(n < 100); printf("%s\n", words[n]); x[n] = 1; }
void Use(float* x) { hidden<<<1, 32>>>(x); }
)";
const std::map<std::string, std::string> kAlone = {
    {"_Z5macroPf", "__global__ void macro(float* x) { x[threadIdx.x] *= 3.0f; }"},
    {"_Z8unrolledIfLi32EEvPT_i", R"(
__device__ int table[3] = {5, 6, 7};
__global__ void unrolled(float* x, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (x[0] > float(100000)) printf("big %d\n", n);
  x[threadIdx.x] = s[32 - 1 - threadIdx.x] + float(table[n % 3]);
})"},
    {"_ZN12_GLOBAL__N_16hiddenEPf", R"(namespace {
__device__ __noinline__ float helper(float x) { return sinf(x) * 2.5f; }
__global__ void hidden(float* x) { x[threadIdx.x] = helper(x[threadIdx.x]) + helper(x[1]); }
}
void Use(float* x) { hidden<<<1, 32>>>(x); })"},
    {"_Z6filterPf", R"(
__constant__ float before[7];
__constant__ float taps[4] = {1, 2, 3, 4};
__global__ void filter(float* x) { x[threadIdx.x] *= taps[threadIdx.x & 3]; })"},
    {"_Z7carefulPfi", R"(
__device__ const char* words[2] = {"yes", "no"};
#line 40 "there.cu"
__global__ void careful(float* x, int n) { assert(n < 100); printf("%s\n", words[n]); x[n] = 1; })"}};
constexpr const char* kHeaders = "#include <cstdio>\n#include <cassert>\n";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class KernelCodeTest : public SwapFolder {
 protected:
  void SetUp() override {
    if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
    SwapFolder::SetUp();
    Write("config.h", "#define SCALE 3.0f\n");
  }

  static base::Result<KernelCode> Find(std::string cubin, const std::string& kernel) {
    // Alone a template's instance is an ordinary kernel.
    const std::string plain = kernel.substr(0, kernel.find("IfLi32E"));
    return KernelCodeOf(std::move(cubin), 90, [&](const std::string& mangled) {
      const std::string stable = StableName(mangled);
      return stable == kernel || (plain != kernel && stable.starts_with(plain + "Pf"));
    });
  }

  KernelCode Found(std::string cubin, const std::string& kernel) {
    auto code = Find(std::move(cubin), kernel);
    EXPECT_TRUE(code) << kernel << ": " << code.error().message;
    return code ? *code : KernelCode();
  }

  // Images of an object; `name`: of its file, from which nvcc makes names.
  std::string ObjectImage(const std::string& text, const std::string& options) {
    Write("unit.cu", text);
    EXPECT_EQ(Run("nvcc -c -arch=sm_90 -DFACTOR=2.5f -Wno-deprecated-gpu-targets " + options +
                  " unit.cu -o unit.o"),
              0)
        << Log();
    const auto entries = FatEntriesOf(folder_ + "/unit.o");
    EXPECT_TRUE(entries) << entries.error().message;
    for (const FatEntry& entry : *entries) {
      if (entry.kind == FatEntry::Kind::kMachineCode) return entry.bytes;
    }
    return {};
  }

  // Compiled once for all tests.
  const std::string& AloneImage(const std::string& kernel, const std::string& options) {
    static std::map<std::string, std::string> made;
    std::string& image = made[options + " " + kernel];
    if (!image.empty()) return image;
    Write("alone.cu", kHeaders + kAlone.at(kernel));
    EXPECT_EQ(Run("nvcc -cubin -arch=sm_90 " + options + " alone.cu -o alone.cubin"), 0) << Log();
    return image = base::ReadFile(folder_ + "/alone.cubin").value();
  }
};

TEST_F(KernelCodeTest, AKernelAmongOthersIsTheSameCodeAsAlone) {
  for (const std::string mode : {"-rdc=false", "-rdc=true"}) {
    const std::string object = ObjectImage(kUnit, mode);
    for (const auto& [kernel, text] : kAlone) {
      const KernelCode theirs = Found(object, kernel);
      const KernelCode ours = Found(AloneImage(kernel, mode), kernel);
      EXPECT_EQ(WhyCodeDiffers(theirs, ours), "") << mode << " " << kernel;
      EXPECT_GT(theirs.registers, 0);
      EXPECT_GT(theirs.parameter_bytes, 0);
    }
  }
}

TEST_F(KernelCodeTest, PackingAndLineNumbersAreNoCode) {
  const std::string packed = ObjectImage(kUnit, "-lineinfo -Xfatbin=-compress-all");
  for (const auto& [kernel, text] : kAlone) {
    EXPECT_EQ(
        WhyCodeDiffers(Found(packed, kernel), Found(AloneImage(kernel, "-rdc=false"), kernel)), "");
  }
  const std::string hidden = "_ZN12_GLOBAL__N_16hiddenEPf";
  EXPECT_EQ(WhyCodeDiffers(Found(ObjectImage(kUnit, "-G"), hidden),
                           Found(AloneImage(hidden, "-G"), hidden)),
            "");
}

// One edit of each kernel at a time.
TEST_F(KernelCodeTest, WhatDiffersIsNamed) {
  struct Edit {
    std::string kernel, from, to, why;
    std::string why_relocatable = why;
  };
  const std::string macro = "_Z5macroPf", unrolled = "_Z8unrolledIfLi32EEvPT_i",
                    filter = "_Z6filterPf", careful = "_Z7carefulPfi",
                    hidden = "_ZN12_GLOBAL__N_16hiddenEPf";
  const std::string instructions = "has other instructions than the one that is tuned";
  const std::vector<std::vector<Edit>> all = {
      {{macro, "SCALE; }", "4.0f; }", instructions},
       {unrolled, "{5, 6, 7}", "{5, 6, 8}", "reads other values of the table 'table'"},
       {filter, "{1, 2, 3, 4}", "{1, 2, 3, 5}", "reads other values of the table 'taps'"},
       {careful, "\"no\"", "\"nO\"", "reads other values of the table 'words'"},
       {hidden, "FACTOR", "2.75f", instructions,
        "calls another function '(anonymous namespace)::helper(float)'"}},
      {{unrolled, "big %d", "Big %d",
        R"(names the text "Big %d\n" where the one that is tuned names the text "big %d\n")"},
       {filter, "before[7]", "before[9]", instructions, ""}},
      {{unrolled, "s[N];", "s[N + 32];",
        "uses 1280 bytes of shared memory, the one that is tuned 1152",
        "uses 256 bytes of shared memory, the one that is tuned 128"}}};
  for (const bool relocatable : {false, true}) {
    const std::string mode = relocatable ? "-rdc=true" : "-rdc=false";
    for (const std::vector<Edit>& edits : all) {
      std::string text = kUnit;
      for (const Edit& edit : edits) text = Replaced(text, edit.from, edit.to);
      const std::string object = ObjectImage(text, mode);
      for (const Edit& edit : edits) {
        EXPECT_EQ(WhyCodeDiffers(Found(object, edit.kernel),
                                 Found(AloneImage(edit.kernel, mode), edit.kernel)),
                  relocatable ? edit.why_relocatable : edit.why)
            << mode << " " << edit.to;
      }
    }
  }
  EXPECT_NE(WhyCodeDiffers(Found(ObjectImage(kUnit, "-use_fast_math"), hidden),
                           Found(AloneImage(hidden, "-rdc=false"), hidden)),
            "");
}

TEST_F(KernelCodeTest, WhatCannotBeComparedIsSaid) {
  EXPECT_EQ(Find("no image", "_Z5macroPf").error().code, base::ErrorCode::kUnsupported);
  const std::string object = ObjectImage(kUnit, "");
  EXPECT_EQ(Find(object, "_Z5otherPf").error().code, base::ErrorCode::kNotFound);
  EXPECT_EQ(KernelCodeOf(object, 90, [](const std::string&) { return true; }).error().code,
            base::ErrorCode::kUnsupported);
  Write("unit.cu", kAlone.at("_Z5macroPf"));
  for (const auto& [options, kind] : std::map<std::string, FatEntry::Kind>{
           {"-gencode=arch=compute_80,code=compute_80", FatEntry::Kind::kPtx},
           {"-dc -gencode=arch=compute_80,code=lto_80", FatEntry::Kind::kIntermediate}}) {
    ASSERT_EQ(Run("nvcc -c " + options + " unit.cu -o unit.o"), 0) << Log();
    const auto entries = FatEntriesOf(folder_ + "/unit.o", true);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1u) << options;
    EXPECT_EQ(entries->front().kind, kind);
    EXPECT_EQ(entries->front().bytes.find(".visible .entry") != std::string::npos,
              kind == FatEntry::Kind::kPtx);
  }
}

TEST_F(KernelCodeTest, AnyBytesAreRead) {
  const std::string object = ObjectImage(kUnit, "-rdc=true");
  unsigned state = 1;
  const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  int read = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = object;
    for (int k = 0; k < 20; ++k)
      damaged[64 + next() % (damaged.size() - 64)] = static_cast<char>(next());
    read += Find(damaged, "_Z5macroPf") ? 1 : 0;
    (void)Find(damaged, "_ZN12_GLOBAL__N_16hiddenEPf");
  }
  EXPECT_LT(read, 300);
}

}  // namespace
}  // namespace cupilot::source
