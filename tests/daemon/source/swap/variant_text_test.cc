#include "source/swap/variant_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "source/swap/entry_bodies.h"

namespace cupilot::source {
namespace {

records::Kernel Blur() {
  records::Kernel kernel;
  kernel.name = "image::blur";
  kernel.base_name = "blur";
  kernel.namespaces = {"image", ""};
  kernel.closure_source = "#include <cmath>\nnamespace image { namespace {\nint user;\n} }";
  kernel.closure_macros = "#define TILE 8";
  return kernel;
}

records::Variant Faster() {
  records::Variant variant;
  variant.kernel = "image::blur";
  variant.includes = {"cuda_fp16.h"};
  variant.source = "__global__ void fast(float* x) { x[0] = BX; }";
  variant.entry = "fast";
  variant.values["BX"] = 64;
  variant.id = records::VariantId(variant);
  return variant;
}

TEST(EntryBodies, AreFoundBehindAttributesCommentsAndLiterals) {
  const std::string source = R"(
    // __global__ void not_me() {}
    __device__ float f(float x) { return x; }
    template <int N> static __global__ void __launch_bounds__(64 * 2) a(int n, int (&b)[2]) {
      const char* s = "} )\" {"; char c = '}'; /* } */ int big = 1'000'000; if (n) { f(0); }
    }
    extern __global__ void declared(int);
    __global__ __cluster_dims__(2, 1, 1) void b() { auto r = R"x(})y")x"; }
  )";
  const auto entries = FindEntryBodies(source);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_EQ(source[(*entries)[0].begin], '{');
  EXPECT_EQ(source.substr((*entries)[0].end - 7, 7), "}\n    }");
  EXPECT_EQ((*entries)[1].name, "declared");
  EXPECT_EQ((*entries)[1].end, 0u);
  EXPECT_EQ((*entries)[2].name, "b");
}

TEST(EntryBodies, RefusesBracketsThatDoNotMatch) {
  EXPECT_FALSE(FindEntryBodies("__global__ void a() { if (x) { }"));
  EXPECT_FALSE(FindEntryBodies("__global__ void a(int n] { }"));
  EXPECT_FALSE(FindEntryBodies("} namespace evil {"));
  EXPECT_FALSE(FindEntryBodies("__global__ v}"));
  EXPECT_FALSE(FindEntryBodies("__global__ void a() } namespace evil { void b() {}"));
  EXPECT_FALSE(FindEntryBodies("/* open"));
  EXPECT_FALSE(FindEntryBodies("const char* s = \"open\n;"));
}

TEST(EntryBodies, BracesOfDirectivesAreNotTheSources) {
  const auto entries = FindEntryBodies(
      "#pragma unroll // {}\n__global__ void a() {\n  #define B { \\\n }\n}  // \\\n }\n");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->size(), 1u);
  // Each closes the namespace of the variant, or leaves it open, once it is preprocessed.
  for (const char* source : {"#define A {\n}", "#_global__ void f() { // }\n R\"x(})x\"; }",
                             "#define A }\n{", "#define A /*\n{ */ }", "  # pragma {\n }"}) {
    EXPECT_FALSE(FindEntryBodies(source)) << source;
  }
}

TEST(VariantText, StandsInItsOwnNamespaceInsideTheKernels) {
  const records::Variant variant = Faster();
  const auto text = VariantText(Blur(), variant);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text,
            "#pragma push_macro(\"BX\")\n#undef BX\n#define BX 64\n"
            "namespace image { namespace { namespace " +
                records::VariantNamespace(variant.id) + " {\n" + variant.source +
                "\n} } } \n#undef BX\n#pragma pop_macro(\"BX\")\n");
  EXPECT_EQ(QualifiedEntry(Blur(), variant, "fast"),
            "::image::" + records::VariantNamespace(variant.id) + "::fast");
}

// Two objects of a program may hold the same variant, of a kernel template in a header say.
TEST(VariantText, IsOfItsOwnObjectInASwappedSource) {
  const records::Variant variant = Faster();
  const auto text = VariantText(Blur(), variant, {}, "app/blur.cu.o");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(
      text->find("namespace " + records::VariantNamespace(variant.id) + " {\ninline namespace " +
                 UnitNamespace(Blur(), "app/blur.cu.o") + " {\n" + variant.source + "\n} } } } \n"),
      std::string::npos)
      << *text;
  EXPECT_TRUE(UnitNamespace(Blur(), "app/blur.cu.o").starts_with("of_blur_"));
  EXPECT_NE(UnitNamespace(Blur(), "app/blur.cu.o"), UnitNamespace(Blur(), "other/blur.cu.o"));
}

TEST(VariantText, CandidateHoldsIncludesClosureMacrosAndVariantInThisOrder) {
  const auto text = CandidateText(Blur(), Faster());
  ASSERT_TRUE(text) << text.error().message;
  const std::size_t include = text->find("#include <cuda_fp16.h>");
  const std::size_t closure = text->find("int user;");
  const std::size_t macros = text->find("#define TILE 8\n");
  const std::size_t variant = text->find("void fast");
  EXPECT_LT(include, closure);
  EXPECT_LT(closure, macros);
  EXPECT_LT(macros, variant);
  EXPECT_NE(variant, std::string::npos);
}

// What the preprocessor says of a unit of these macros: whether the variant's body is compiled.
std::string Compiled(const std::string& text, const std::string& macros) {
  std::string pattern = ::testing::TempDir() + "/cupilot_text_XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return "no folder";
  std::ofstream(pattern + "/a.cc") << text;
  const int status = std::system(
      ("cd " + pattern + " && g++ -E -P " + macros + " a.cc > a.txt 2> log.txt").c_str());
  const std::string out = base::ReadFile(pattern + "/a.txt").value_or("");
  std::filesystem::remove_all(pattern);
  if (status != 0) return "does not preprocess";
  const bool body = out.find("x[0] = 64") != std::string::npos;
  const bool trap = out.find("__trap()") != std::string::npos;
  return body ? (trap ? "both" : "body") : (trap ? "trap" : "neither");
}

TEST(VariantText, BodiesTrapWhereTheyAreNotProven) {
  records::Variant variant = Faster();
  variant.includes.clear();
  const auto text = [&](const std::vector<std::string>& targets) {
    return VariantText(Blur(), variant, targets).value();
  };
  const std::string plain = text({"compute_90,sm_90", "compute_80,sm_80"});
  const std::string special = text({"compute_90a,sm_90a"});
  const std::string family = text({"compute_100f,sm_100f"});
  const std::string all_90 = text({"compute_90a,sm_90a", "compute_90,sm_90"});
  const std::string image_90 = "-D__CUDA_ARCH__=900", image_80 = "-D__CUDA_ARCH__=800";
  const std::string image_90a = image_90 +
                                " -D__CUDA_ARCH_FEAT_SM90_ALL -D__CUDA_ARCH_SPECIFIC__=900 "
                                "-D__CUDA_ARCH_FAMILY_SPECIFIC__=900";
  const std::string image_90a_12 = image_90 + " -D__CUDA_ARCH_FEAT_SM90_ALL";
  const std::string image_100f = "-D__CUDA_ARCH__=1000 -D__CUDA_ARCH_FAMILY_SPECIFIC__=1000";
  const std::string image_100a = image_100f + " -D__CUDA_ARCH_SPECIFIC__=1000";
  for (const std::string& one : {plain, special, family, all_90}) {
    EXPECT_EQ(Compiled(one, "-D__CUDA_ARCH__=750"), "trap");
  }
  EXPECT_EQ(Compiled(plain, image_90), "body");
  EXPECT_EQ(Compiled(plain, image_80), "body");
  EXPECT_EQ(Compiled(plain, image_90a), "trap");
  EXPECT_EQ(Compiled(plain, image_90a_12), "trap");
  EXPECT_EQ(Compiled(special, image_90), "trap");
  EXPECT_EQ(Compiled(special, image_90a), "body");
  EXPECT_EQ(Compiled(special, image_90a_12), "body");
  EXPECT_EQ(Compiled(all_90, image_90), "body");
  EXPECT_EQ(Compiled(all_90, image_90a), "body");
  EXPECT_EQ(Compiled(family, image_100f), "body");
  EXPECT_EQ(Compiled(family, image_100a), "trap");
  const auto host = VariantText(Blur(), Faster(), {"host-x86-64-v3"});
  EXPECT_EQ(host->find("__CUDA_ARCH__"), std::string::npos);
}

TEST(VariantText, OnlyPlainValuesAndNamesReachTheText) {
  for (const char* value : {"64\\n#include <x>", "a b", "", "f()", "defined"}) {
    records::Variant variant = Faster();
    variant.values["BX"] = value;
    EXPECT_FALSE(VariantText(Blur(), variant)) << value;
  }
  records::Variant variant = Faster();
  variant.values["B X"] = 1;
  EXPECT_FALSE(VariantText(Blur(), variant));
  variant = Faster();
  variant.includes = {"x>\n#define a"};
  EXPECT_FALSE(CandidateText(Blur(), variant));
  variant.includes = {"iostream"};  // has an object that is made before main()
  EXPECT_FALSE(CandidateText(Blur(), variant));
  variant = Faster();
  variant.source = "} int outside; namespace x {";
  EXPECT_FALSE(CandidateText(Blur(), variant));
}

}  // namespace
}  // namespace cupilot::source
