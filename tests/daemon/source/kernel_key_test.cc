#include "source/kernel_key.h"

#include <gmock/gmock.h>

#include "scan_fixture.h"

namespace cupilot::source {
namespace {

class KernelKeyTest : public ScanFixture {
 protected:
  std::string Key(const std::string& text,
                  std::vector<std::string> flags = {"-O3", "-std=c++17"}) const {
    return OneKernel(text, std::move(flags)).key;
  }
};

constexpr const char* kText = R"(#define STEP 2
constexpr int kOffset = 3;
struct Item { float a; int b; };
__device__ float f(Item i) { return i.a + i.b; }
// cupilot: tune
__global__ void k(float* x) { x[kOffset] = f(Item{x[0], STEP}); }
)";

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(KernelKeyTest, DoesNotDependOnFormTagsOrTheRestOfTheFile) {
  const std::string key = Key(kText);
  EXPECT_EQ(Key(Replace(kText, "{ return i.a + i.b; }", "{\n  // sum\n  return i.a\n  + i.b;\n}")),
            key);
  EXPECT_EQ(Key(Replace(kText, "tune\n", "tune\n// cupilot: tolerance relative=1e-3\n")), key);
  EXPECT_EQ(
      Key(Replace(kText, "struct Item", "int unrelated;\n__global__ void other() {}\nstruct Item")),
      key);
  EXPECT_EQ(Key(Replace(kText, "#define STEP 2", "#define UNUSED 9\n#define STEP 2")), key);
  EXPECT_EQ(Key(Replace(kText, "#define STEP 2", "#define TWO 2\n#define STEP TWO")), key);
}

TEST_F(KernelKeyTest, ChangesWithTheTokensThatTheKernelReaches) {
  const std::string key = Key(kText);
  EXPECT_NE(Key(Replace(kText, "i.a + i.b", "i.a - i.b")), key);
  EXPECT_NE(Key(Replace(kText, "STEP 2", "STEP 3")), key);
  EXPECT_NE(Key(Replace(kText, "kOffset = 3", "kOffset = 4")), key);
  EXPECT_NE(Key(Replace(kText, "int b", "short b")), key);
  EXPECT_NE(Key(Replace(Replace(kText, "f(Item i)", "g(Item i)"), "= f(", "= g(")), key);
  // An overload that is better changes the callee.
  EXPECT_NE(Key(Replace(kText, "// cupilot",
                        "__device__ float f(const Item& i, int = 0) { return 1; }\n"
                        "// cupilot")),
            key);
}

TEST_F(KernelKeyTest, ALineNumberInTheTextIsKnown) {
  EXPECT_FALSE(OneKernel(kText).depends_on_lines);
  EXPECT_FALSE(OneKernel(Replace(kText, "struct Item", "int unrelated = __LINE__;\nstruct Item"))
                   .depends_on_lines);
  for (const char* macros :
       {"#define STEP __LINE__", "#define HERE() __LINE__\n#define STEP HERE()",
        "#define STEP __COUNTER__"}) {
    const std::string text = Replace(kText, "#define STEP 2", macros);
    EXPECT_TRUE(OneKernel(text).depends_on_lines) << macros;
    // Why: with a line more above it is another kernel.
    if (std::string(macros).find("COUNTER") != std::string::npos) continue;
    EXPECT_NE(Key(text), Key("\n" + text)) << macros;
  }
}

TEST_F(KernelKeyTest, CodeThatIsLinkedIsOtherCode) {
  const std::string key = Key(kText, {"-O3", "-std=c++17", "-rdc=true"});
  EXPECT_NE(key, Key(kText));
  EXPECT_EQ(key, Key(kText, {"-O3", "-std=c++17", "-dc"}));
  EXPECT_EQ(key, Key(kText, {"-O3", "-std=c++17", "-rdc", "true"}));
}

TEST_F(KernelKeyTest, DependsOnTheFlagsThatMatter) {
  const std::string key = Key(kText);
  EXPECT_EQ(Key(kText, {"-O3", "-std=c++17", "-I.", "-Wall", "-g", "-lineinfo", "-DUNRELATED=1",
                        "-MD", "-MF", "x.d", "-Xcompiler=-Wextra"}),
            key);
  EXPECT_NE(Key(kText, {"-O3", "-std=c++17", "--use_fast_math"}), key);
  EXPECT_NE(Key(kText, {"-O2", "-std=c++17"}), key);
  EXPECT_NE(Key(kText, {"-O3", "-std=c++17", "-Xcompiler=-march=native"}), key);
}

}  // namespace
}  // namespace cupilot::source
