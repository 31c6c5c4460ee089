#include "source/swap/device_text.h"

#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "source/swap/selection_check.h"
#include "source/swap/variant_text.h"
#include "swap_fixture.h"

namespace cupilot::source {
namespace {

class DeviceText : public SwapFolder {
 protected:
  void SetUp() override {
    if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
    SwapFolder::SetUp();
    Write("a.cu", R"(
      namespace app { namespace {
      __global__ void hidden(float* x) { x[threadIdx.x] *= 2.0f; }
      } }
      template <int N> __global__ void unrolled(float* out) {
        float x = out[threadIdx.x];
        #pragma unroll
        for (int i = 0; i < N; ++i) x = x * 1.5f + out[i];
        out[threadIdx.x] = x;
      }
      void Launch(float* x) {
        app::hidden<<<1, 32>>>(x);
        unrolled<3><<<1, 32>>>(x);
        unrolled<700><<<1, 32>>>(x);
      })");
  }

  // The option that packs images so: "size" is Zstandard, "speed" LZ4, as all older nvcc
  // packs. Empty where nvcc leaves no choice.
  std::string Packing(const std::string& mode) const {
    const bool chooses = Run("nvcc --help | grep -q -- --compress-mode") == 0;
    return chooses ? "--compress-mode=" + mode + " " : "";
  }

  std::map<std::string, std::string> HashesOfCubin(const std::string& options) {
    EXPECT_EQ(Run("nvcc -cubin " + options + " a.cu -o a.cubin"), 0) << Log();
    const std::string bytes = base::ReadFile(folder_ + "/a.cubin").value();
    const auto hashes = TextHashesOfCubin(std::as_bytes(std::span(bytes)));
    EXPECT_TRUE(hashes) << hashes.error().message;
    return {hashes->begin(), hashes->end()};
  }
};

TEST_F(DeviceText, AnObjectHoldsTheCodeThatACubinHas) {
  const std::string common =
      "-c -gencode=arch=compute_80,code=[compute_80,sm_80] -gencode=arch=compute_90,code=sm_90 ";
  for (const auto& [way, modes] : std::map<std::string, std::vector<std::string>>{
           {"", {"", Packing("size")}}, {"-rdc=true ", {Packing("speed")}}}) {
    std::map<int, std::map<std::string, std::string>> cubins;
    for (const int architecture : {80, 90}) {
      cubins[architecture] = HashesOfCubin(way + "-arch=sm_" + std::to_string(architecture));
      ASSERT_EQ(cubins[architecture].size(), 3u);
    }
    for (const std::string& mode : modes) {
      ASSERT_EQ(Run("nvcc " + common + way + mode + "a.cu -o a.o"), 0) << Log();
      const auto images = DeviceImagesOf(folder_ + "/a.o");
      ASSERT_TRUE(images) << way << mode << ": " << images.error().message;
      ASSERT_EQ(images->size(), 2u) << way << mode;
      for (const auto& [architecture, cubin] : cubins) {
        for (const auto& [name, hash] : cubin) {
          EXPECT_EQ(HashIn(*images, architecture, name), hash) << way << mode << name;
        }
      }
      EXPECT_EQ(HashIn(*images, 86, "_Z8unrolledILi3EEvPf"), "");
      EXPECT_NE(HashIn(*images, 80, "_Z8unrolledILi3EEvPf"),
                HashIn(*images, 90, "_Z8unrolledILi3EEvPf"));
      EXPECT_EQ(HashIn(*images, 80, "_Z8unrolledILi4EEvPf"), "");
    }
  }
}

// The premise of evidence: the code that was measured, in a unit of its own, is the code that ships
// in the user's object, beside other kernels and images.
TEST_F(DeviceText, ASwappedObjectHasTheCodeThatWasMeasured) {
  SwappedKernel swapped;
  swapped.kernel = ScaleKernel();
  swapped.kernel.closure_source = kScaleSource;
  const std::string target = "compute_90,sm_90";
  swapped.variants = {{PlainVariant(), target, {}, "n % 2 == 0", "", 1.5},
                      {StepsVariant(), target, {}, "n % 2 == 1", "", 1.2}};
  const std::string more =
      "__global__ void other(int* x) { *x = 3; }\nvoid Other(int* x) { other<<<1, 1>>>(x); }";
  const auto source =
      WriteSwappedSource({Write("scale.cu", kScaleSource + more), "unit", {swapped}});
  ASSERT_TRUE(source) << source.error().message;
  Write(*source);
  ASSERT_EQ(
      Run("nvcc -O3 -c -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 " +
          Joined(HookDefinitions(source->hook)) + " " + source->file_name + " -o swapped.o"),
      0)
      << Log();
  const auto images = DeviceImagesOf(folder_ + "/swapped.o");
  ASSERT_TRUE(images) << images.error().message;
  int compared = 0;
  for (const SwappedVariant& variant : swapped.variants) {
    std::vector<std::string> hashes;
    Write("a.cu", CandidateText(swapped.kernel, variant.variant).value());
    for (const auto& [name, hash] : HashesOfCubin("-O3 -arch=sm_90")) {
      if (name.find("cupilot_") == std::string::npos) {
        EXPECT_EQ(HashIn(*images, 90, name), hash) << name;
        continue;
      }
      // The object's own have other names, see below.
      hashes.push_back(hash);
      ++compared;
    }
    const std::string space = records::VariantNamespace(variant.variant.id);
    const std::string whole = TextOfVariant(*images, 90, space);
    // In the other image the bodies are not there: they trap.
    EXPECT_NE(whole, TextOfVariant(*images, 80, space));
    EXPECT_EQ(TextOfVariant(*images, 86, space), "");
    if (hashes.size() == 1) {
      EXPECT_EQ(whole, hashes[0]);
    } else {
      ASSERT_EQ(hashes.size(), 2u);
      EXPECT_EQ(whole, base::Hasher()
                           .Add(std::min(hashes[0], hashes[1]))
                           .Add(std::max(hashes[0], hashes[1]))
                           .Hex());
    }
  }
  EXPECT_EQ(compared, 3);
}

// What the daemon sees of a build with other flags than those that were measured.
TEST_F(DeviceText, OtherFlagsMakeOtherCodeOfAVariant) {
  SwappedKernel swapped;
  swapped.kernel = ScaleKernel();
  swapped.kernel.closure_source = kScaleSource;
  const std::string target = "compute_90,sm_90";
  swapped.variants = {{PlainVariant(), target, {}, "", "", 1.5}};
  const std::string& id = swapped.variants[0].variant.id;
  const std::string space = records::VariantNamespace(id);
  const auto source = WriteSwappedSource({Write("scale.cu", kScaleSource), "unit", {swapped}});
  ASSERT_TRUE(source) << source.error().message;
  Write(*source);
  Write("a.cu", CandidateText(swapped.kernel, swapped.variants[0].variant).value());
  std::string measured;
  for (const auto& [name, hash] : HashesOfCubin("-O3 -arch=sm_90")) {
    if (name.find(space) != std::string::npos) measured = hash;
  }
  ASSERT_NE(measured, "");
  const std::map<std::string, ShippedCode> expected = {{"-O3", ShippedCode::kSame},
                                                       {"-O3 -lineinfo", ShippedCode::kSame},
                                                       {"-Xptxas -O0", ShippedCode::kDifferent}};
  for (const auto& [flags, code] : expected) {
    ASSERT_EQ(Run("nvcc -c -arch=sm_90 " + flags + " " + Joined(HookDefinitions(source->hook)) +
                  " " + source->file_name + " -o swapped.o"),
              0)
        << Log();
    const auto images = DeviceImagesOf(folder_ + "/swapped.o");
    ASSERT_TRUE(images) << images.error().message;
    const std::vector<ShippedText> shipped = {{id, target, TextOfVariant(*images, 90, space)}};
    EXPECT_EQ(CompareShipped(shipped, id, target, measured), code) << flags;
  }
}

TEST_F(DeviceText, AChangedKernelHasAnotherHashAndTheOthersTheirs) {
  const auto before = HashesOfCubin("-arch=sm_90");
  std::string text = base::ReadFile(folder_ + "/a.cu").value();
  text.replace(text.find("2.0f"), 4, "3.0f");
  Write("a.cu", text);
  const auto after = HashesOfCubin("-arch=sm_90");
  ASSERT_EQ(before.size(), after.size());
  int changed = 0;
  for (const auto& [name, hash] : before) {
    const bool same = after.contains(name) && after.at(name) == hash;
    if (!same) ++changed;
    EXPECT_EQ(same, name.find("hidden") == std::string::npos) << name;
  }
  EXPECT_EQ(changed, 1);
}

TEST_F(DeviceText, RelocatableObjectsAreReadToo) {
  ASSERT_EQ(Run("nvcc -dc -arch=sm_90 a.cu -o a.o"), 0) << Log();
  const auto images = DeviceImagesOf(folder_ + "/a.o");
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 1u);
  EXPECT_NE(HashIn(*images, 90, "_Z8unrolledILi700EEvPf"), "");
}

TEST_F(DeviceText, AnyBytesAreRead) {
  ASSERT_EQ(Run("nvcc -c -arch=sm_90 " + Packing("size") + "a.cu -o a.o"), 0) << Log();
  const std::string bytes = base::ReadFile(folder_ + "/a.o").value();
  const std::size_t fat = bytes.find("\x50\xed\x55\xba");
  ASSERT_NE(fat, std::string::npos);
  unsigned state = 1;
  const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  int read = 0;
  for (int i = 0; i < 120; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 3; ++k) damaged[fat + next() % 160] = static_cast<char>(next());
    if (DeviceImagesOf(Write("damaged.o", damaged))) ++read;
    std::string cubin = damaged.substr(fat, next() % 4096);
    EXPECT_FALSE(TextHashesOfCubin(std::as_bytes(std::span(cubin))));
  }
  EXPECT_LT(read, 120);
  EXPECT_FALSE(DeviceImagesOf(Write("text.o", "not an object")));
  EXPECT_FALSE(DeviceImagesOf(folder_ + "/missing.o"));
}

// A name abbreviates what came before in it: what is left out has to be left out of what is said.
TEST(DeviceTextNames, WhatIsInternalToAFileIsNoPartOfAName) {
  const std::string internal = "_ZN15_INTERNAL_a_cu_12_GLOBAL__N_14helpEPNS0_1TE";
  EXPECT_TRUE(IsSameName(internal, "_ZN12_GLOBAL__N_14helpEPNS_1TE"));
  EXPECT_FALSE(IsSameName(internal, "_ZN12_GLOBAL__N_14helpEPNS_1UE"));
  EXPECT_TRUE(IsSameName("scale", "scale"));
}

TEST(DeviceTextNames, UnnamedNamespacesLoseWhatNamesTheFile) {
  EXPECT_EQ(StableName("_ZN3app33_GLOBAL__N__0123456789ab_4_a_cu_16hiddenEPf"),
            "_ZN3app12_GLOBAL__N_16hiddenEPf");
  EXPECT_EQ(StableName("_ZN3app33_GLOBAL__N__ba9876543210_4_b_cu_16hiddenEPf"),
            "_ZN3app12_GLOBAL__N_16hiddenEPf");
  for (const char* plain :
       {"_Z1kILi3EEvPf", "_Z1kILi300EEvPf", "_ZN3app5scaleEfPKfPfi", "_Z1kIN1a1bEEvT_S1_S1_",
        "_Z1kRA10_f", "_ZN5HELLa3fooEv", "", "9", "99999999999999999999999999999"}) {
    EXPECT_EQ(StableName(plain), plain);
  }
  // A literal in front does not hide the name behind it.
  EXPECT_EQ(StableName("_Z1kILi33EN33_GLOBAL__N__0123456789ab_4_a_cu_11tEEvT0_"),
            "_Z1kILi33EN12_GLOBAL__N_11tEEvT0_");
}

}  // namespace
}  // namespace cupilot::source
