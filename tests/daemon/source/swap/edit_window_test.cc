#include "source/swap/edit_window.h"

#include <gmock/gmock.h>

#include "source/swap/piece_words.h"
#include "source/swap/pieces.h"

namespace cupilot::source {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kFile = R"(#include <cstdio>
#define STEP 2
#define TIMES(x) ((x) * kFactor)
#define CHECK(x) do { if ((x) != 0) std::abort(); } while (0)

namespace app {

constexpr int kFactor = 3;
struct Item {
  float value;
  int count;
};

__device__ float Weigh(Item item) { return item.value * item.count; }

// cupilot: tune
// cupilot: workload n=4096 \
//   grid=(n/256) block=256
__global__ void Scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = TIMES(Weigh(Item{in[i], STEP}));
}

struct Options {
  int rounds = 3;
  bool Verbose() const { return rounds > 5; }
};

void Run(const float* in, float* out, int n) {
  Scale<<<n / 256, 256>>>(in, out, n);
  CHECK(cudaGetLastError());
}

}  // namespace app

int main() { return 0; }
)";

// As the source worker writes it.
constexpr const char* kClosure = R"(#include "cuda_runtime.h"
namespace app {
constexpr int kFactor = 3;
struct Item {
  float value;
  int count;
};
__device__ float Weigh(Item item) { return item.value * item.count; }
__global__ void Scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ((Weigh(Item{in[i], 2})) * kFactor);
}
}
)";
constexpr const char* kVariant =
    "__global__ void faster(const float* in, float* out, int n) { Combine(in, out, n); }";

class EditWindowTest : public ::testing::Test {
 protected:
  static std::string Edited(const std::string& from, const std::string& to,
                            std::string text = kFile) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  static std::string Before(const std::string& what, const std::string& more) {
    return Edited(what, more + what);
  }
  // Declared where the kernel's parts are all above.
  static std::string With(const std::string& more, const std::string& text = kFile) {
    return Edited("int main", more + "int main", text);
  }
  bool Kept(const std::string& text, const std::string& original = kFile) const {
    return OutlineOf(text, window_) == OutlineOf(original, window_);
  }
  bool KeptWith(const std::string& more) const { return Kept(With(more)); }

  records::EditWindow window_ = MakeEditWindow({kClosure, kVariant}, {kFile});
};

TEST_F(EditWindowTest, TheFileItselfHasAnOutline) {
  ASSERT_THAT(OutlineOf(kFile, window_), Not(IsEmpty()));
  EXPECT_TRUE(Kept(kFile));
}

TEST_F(EditWindowTest, WhatIsElsewhereMayChange) {
  EXPECT_TRUE(Kept(Before("namespace app {", "// A comment.\n")));
  EXPECT_TRUE(Kept(Before("constexpr int kFactor", "/* another\n   one */\n\n")));
  EXPECT_TRUE(Kept(Edited("item.value * item.count", "item.value *\n    item.count  /* all */")));
  EXPECT_TRUE(Kept(Edited("return 0;", "std::puts(\"{ a string\"); return 0;")));
  EXPECT_TRUE(Kept(Edited("Scale<<<n / 256, 256>>>", "Scale<<<n / 128, 128>>>")));
  EXPECT_TRUE(Kept(Edited("int rounds = 3;", "int rounds = 4;\n  double limit{0.5};")));
  EXPECT_TRUE(Kept(Before("struct Options",
                          "static int Load(const char* n, int i) {\n  return "
                          "i;\n}\n")));
  EXPECT_TRUE(Kept(Before("struct Options",
                          "__global__ void Other(float* out, int n) {\n"
                          "  if (n > 0) out[0] = kFactor;\n}\n")));
  EXPECT_TRUE(KeptWith("namespace tools { int Count(); }\n"));
  EXPECT_TRUE(KeptWith("using Table = std::vector<app::Item>;\n"));
  EXPECT_TRUE(KeptWith("template <> struct Traits<3> { };\n"));
  EXPECT_TRUE(KeptWith("App::App(int n) : size_{n}, in_(n) { Weigh(n); }\n"));
  EXPECT_TRUE(KeptWith("enum class Mode { kFast, kExact };\n"));
  EXPECT_TRUE(KeptWith("static_assert(app::kFactor == 3, \"text\");\n"));
}

TEST_F(EditWindowTest, AFunctionThatOnlyUsesAKernelMayMove) {
  const std::string run =
      "void Run(const float* in, float* out, int n) {\n"
      "  Scale<<<n / 256, 256>>>(in, out, n);\n"
      "  CHECK(cudaGetLastError());\n}\n";
  EXPECT_TRUE(Kept(Edited("struct Options", run + "struct Options", Edited(run, ""))));
}

TEST_F(EditWindowTest, TheClosureMayNot) {
  EXPECT_FALSE(Kept(Edited("item.value *", "item.value +")));
  EXPECT_FALSE(Kept(Edited("kFactor = 3", "kFactor = 4")));
  EXPECT_FALSE(Kept(Edited("int count;", "short count;")));
  EXPECT_FALSE(Kept(Edited("if (i < n)", "if (i <= n)")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "static ")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "template <class T> ")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "template <auto V = []{ return 1; }> ")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "[[nodiscard]] ")));
}

TEST_F(EditWindowTest, ItsOrderAndItsScopesStay) {
  const std::string factor = "constexpr int kFactor = 3;\n";
  EXPECT_FALSE(Kept(Edited("// cupilot: tune", factor + "// cupilot: tune", Edited(factor, ""))));
  EXPECT_FALSE(Kept(
      Edited("}  // namespace app", "}}", Before("__device__ float Weigh", "namespace deep {\n"))));
  EXPECT_FALSE(Kept(Edited("namespace app {", "namespace other {")));
  EXPECT_FALSE(Kept(Edited("namespace app {", "inline namespace app {")));
  EXPECT_FALSE(Kept(Edited("// cupilot: tune", "} extern \"C\" {\n// cupilot: tune")));
  // The same namespace, opened once more.
  EXPECT_TRUE(Kept(Before("struct Options", "}\nnamespace app {\n")));
}

TEST_F(EditWindowTest, DirectivesStayWhereTheyAre) {
  EXPECT_FALSE(Kept(Edited("STEP 2", "STEP 3")));
  EXPECT_FALSE(KeptWith("#include <vector>\n"));
  EXPECT_FALSE(KeptWith("#pragma once\n"));
  EXPECT_FALSE(Kept(Edited("#define STEP 2\n", "")));
  const std::string step = "#define STEP 2\n";
  EXPECT_FALSE(Kept(Edited("struct Options", step + "struct Options", Edited(step, ""))));
  EXPECT_FALSE(
      Kept(Edited("}  // namespace app", "#endif\n}", Before("__global__ void Scale", "#if 0\n"))));
  EXPECT_TRUE(Kept(Edited("#define STEP 2", "#  define  STEP /* two */ 2  // steps")));
  EXPECT_FALSE(Kept(Edited("#define STEP 2", "#define STEP 2 /* begins")));
  EXPECT_FALSE(KeptWith("_Pragma(\"pack(1)\")\n"));
  EXPECT_FALSE(Kept(Edited("return 0;", "_Pragma(\"pack(1)\") return 0;")));
}

TEST_F(EditWindowTest, NamesThatAreLookedUpMayNotBeDeclared) {
  for (const char* more : {"float Weigh(float x);\n",
                           "int Weigh = 3;\n",
                           "struct Combine;\n",
                           "template <class T> void Combine(T, T, int);\n",
                           "using app::Weigh;\n",
                           "using Weigh = float;\n",
                           "typedef float Weigh;\n",
                           "enum { kOther, Weigh };\n",
                           "enum Mode : int { Weigh };\n",
                           "static union { int Weigh; float other; };\n",
                           "namespace Item {}\n",
                           "namespace Item = app;\n",
                           "void (*Weigh)(int);\n",
                           "int (Weigh)(int);\n",
                           "auto [first, Weigh] = Pair();\n",
                           "float a, *Weigh[3];\n",
                           "DEFINE(float, Weigh)\n",
                           "extern int first, Weigh;\n",
                           "concept Weigh = true;\n",
                           "template <> float Weigh<int>(int);\n",
                           "float tools::Weigh(int) { return 1; }\n",
                           "struct Host { friend float Weigh(Host) { return 1; } };\n",
                           "extern \"C\" float Weigh(float);\n",
                           "int begin(int*);\n"}) {
    EXPECT_FALSE(KeptWith(more)) << more;
  }
  // But where nobody looks them up.
  for (const char* more : {"struct Host { float Weigh(int) { return 1; } };\n",
                           "void Local() { int Weigh = 2; }\n", "void Local(int Weigh);\n",
                           "int other = Weigh(app::Item{});\n", "enum class Mode { kFast };\n"}) {
    EXPECT_TRUE(KeptWith(more)) << more;
  }
}

TEST_F(EditWindowTest, WhatActsWithoutANameIsAlwaysLookedAt) {
  for (const char* more :
       {"Vector operator+(Vector a, Vector b);\n", "using namespace app;\n", "using enum Mode;\n",
        "template <> struct std::hash<Host> {};\n",
        "namespace std { template <> struct hash<Host> {}; }\n", "asm(\".globl x\");\n",
        "template <class T> requires requires(T t) { t.x; }\n",
        "struct Host { friend bool operator==(Host, Host); };\n", "LIBRARY_NAMESPACE_BEGIN\n",
        "float operator\"\"_f(long double);\n"}) {
    EXPECT_FALSE(KeptWith(more)) << more;
  }
  EXPECT_TRUE(KeptWith("struct Less { bool operator()(int, int) const; };\n"));
}

TEST_F(EditWindowTest, MacrosThatHideADeclarationAreSeen) {
  const std::string text = std::string(
                               "#define HELP Weigh\n#define MORE HELP\n#define GLUE(a) a##h\n"
                               "#define HOST(name) void name()\n#define LIMIT 5\n") +
                           kFile;
  window_ = MakeEditWindow({kClosure}, {text});
  EXPECT_THAT(window_.macros, UnorderedElementsAre("GLUE", "HELP", "MORE", "TIMES"));
  const auto kept = [&](const std::string& more) { return Kept(With(more, text), text); };
  EXPECT_FALSE(kept("float MORE(float);\n"));
  EXPECT_FALSE(kept("float GLUE(Weig)(float);\n"));
  EXPECT_FALSE(kept("HOST(Weigh);\n"));
  EXPECT_TRUE(kept("HOST(Other);\n"));
  EXPECT_TRUE(kept("int table[LIMIT];\n"));
  EXPECT_TRUE(kept("int Local() { return TIMES(3); }\n"));
  // A macro that opens a scope: nothing can be said.
  EXPECT_THAT(MakeEditWindow({kClosure}, {"#define BEGIN namespace x {\n"}).names, IsEmpty());
}

TEST_F(EditWindowTest, TagsOfTheKernelStay) {
  EXPECT_FALSE(Kept(Edited("// cupilot: tune\n", "// cupilot: tune\n// cupilot: bitwise\n")));
  EXPECT_FALSE(Kept(Edited("block=256", "block=128")));
  EXPECT_FALSE(Kept(Edited("n=4096", "n=8192")));
  EXPECT_FALSE(Kept(Before("__global__ void Scale", "void Between() {}\n")));
  EXPECT_TRUE(Kept(Before("struct Options", "// cupilot: tune\n__global__ void Fresh() {}\n")));
}

TEST_F(EditWindowTest, CommentsAndStringsThatSwallowCodeAreSeen) {
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "/* not closed\n")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "const char* text = R\"x(\n")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "// goes on \\\n")));
  EXPECT_FALSE(Kept(Before("__device__ float Weigh", "// goes on too \\ \n")));
  EXPECT_FALSE(
      Kept(Edited("struct Options", "*/struct Options", Before("constexpr int kFactor", "/*"))));
  EXPECT_TRUE(Kept(Before("__device__ float Weigh", "// It's \"here\" /* and {\n")));
}

TEST_F(EditWindowTest, WhatOnlyACompilerReadsHasNoOutline) {
  for (const char* more :
       {"void Weird() <% %>\n", "int a\\\nb;\n", "}\n", "namespace open {\n", "void f(\n",
        "#if 1\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n", "#else\n", "#if 1\n",
        "const char* t = \"what?\?/\";\n", "namespace a ATTRIBUTE {\nint b;\n}\n"}) {
    EXPECT_THAT(OutlineOf(With(more), window_), IsEmpty()) << more;
  }
  EXPECT_THAT(OutlineOf("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f();\n"
                        "#ifdef __cplusplus\n}\n#endif\n",
                        window_),
              Not(IsEmpty()));
}

TEST_F(EditWindowTest, AnUnfinishedEndIsLookedAt) {
  EXPECT_FALSE(Kept(std::string(kFile) + "struct Last { int a; }"));
  EXPECT_TRUE(Kept(std::string(kFile) + "struct Last { int a; };"));
}

TEST_F(EditWindowTest, WhatTheClosureNeedsMustBeInTheOutline) {
  const std::string text = "void other();\n__device__ float Weigh(float x) { return x; }\n";
  const auto range = [&](const std::string& from, const std::string& to) {
    return records::ClosureRange{"/a.cu", static_cast<std::int64_t>(text.find(from)),
                                 static_cast<std::int64_t>(text.find(to) + to.size()), ""};
  };
  EXPECT_THAT(OutlineOf(text, window_, {range("__device__", "x; }")}), Not(IsEmpty()));
  EXPECT_THAT(OutlineOf(text, window_, {range("void other", ";")}), IsEmpty());
  EXPECT_THAT(OutlineOf(text, window_, {{"/a.cu", 1000, 1001, ""}}), IsEmpty());
}

TEST_F(EditWindowTest, AnyBytesAreRead) {
  const std::string text = kFile;
  unsigned state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 6; ++k) {
      state = state * 1664525 + 1013904223;
      damaged[(state >> 8) % damaged.size()] = "{}()[]<>;:#\"'\\/*\n RN=,"[(state >> 3) % 23];
    }
    state = state * 1664525 + 1013904223;
    damaged.resize(damaged.size() - (state >> 8) % damaged.size());
    static_cast<void>(OutlineOf(damaged, window_));
    static_cast<void>(MakeEditWindow({damaged}, {damaged}));
  }
}

TEST(Pieces, HaveNamesAndScopes) {
  const Pieces pieces = SplitIntoPieces(
      "#define X\nnamespace a::b {\nstatic int One(int two) { return 3; }\nstruct Four { int five; "
      "} six;\n}\nextern \"C\" { int seven[8], *nine = Ten(eleven); }\n");
  ASSERT_TRUE(pieces.readable);
  ASSERT_EQ(pieces.pieces.size(), 6u);
  EXPECT_EQ(pieces.pieces[0].kind, Piece::Kind::kDirective);
  EXPECT_EQ(pieces.pieces[1].kind, Piece::Kind::kScope);
  EXPECT_THAT(pieces.pieces[2].declares, UnorderedElementsAre("One"));
  EXPECT_THAT(pieces.pieces[3].declares, UnorderedElementsAre("Four", "six"));
  EXPECT_THAT(pieces.pieces[5].declares, UnorderedElementsAre("seven", "nine"));
  EXPECT_THAT(pieces.scopes[pieces.pieces[3].scope],
              ::testing::ElementsAre("namespace a", "namespace b"));
  EXPECT_THAT(pieces.scopes[pieces.pieces[5].scope], ::testing::ElementsAre("extern \"C\""));
}

// A declaration has its name wherever attributes stand.
TEST(Pieces, HaveTheirNamesBesideAttributes) {
  for (const char* text : {
           "static const int kBias __attribute__((unused)) = 1;",
           "static const int kBias [[gnu::unused]] = 1;",
           "static const int kBias __attribute((unused)) = 1;",
           "static const int kBias alignas(4) = 3;",
           "static const int kBias MAYBE_UNUSED = 3;",
           "static const int kBias UNUSED(really) __attribute__((aligned(4))) = 3;",
           "int a = 1, kBias __attribute__((unused)) = 3;",
           "typedef float kBias __attribute__((aligned(8)));",
           "using kBias __attribute__((aligned(8))) = float;",
           "template <int N> constexpr int kBias __attribute__((unused)) = N;",
           "const auto kBias __attribute__((unused)) = [](int x) { return x; };",
           "int ns::kBias __attribute__((unused)) = 4;",
           "int kBias __attribute__((unused)) (int x) { return x; }",
           "[[maybe_unused]] __attribute__((unused)) static const int kBias{3};",
           "static const FOO kBias = 1;",
           "static const int KBIAS = 1, kBias = 2;",
       }) {
    const Pieces pieces = SplitIntoPieces(text);
    ASSERT_EQ(pieces.pieces.size(), 1u) << text;
    EXPECT_THAT(pieces.pieces[0].declares, ::testing::Contains("kBias")) << text;
  }
  EXPECT_THAT(SplitIntoPieces("static const FOO BAR = 1;").pieces[0].declares,
              ::testing::Contains("BAR"));
}

TEST(PlainDirectives, HaveNoCommentsAndSingleBlanks) {
  EXPECT_EQ(PlainDirective("#  define A(x)\\\n   x /* y */ + \"a // b\"  // c"),
            "#define A(x) x + \"a // b\"");
  EXPECT_EQ(PlainDirective("#define A /* goes on"), "");
  EXPECT_EQ(PlainDirective("#define A R\"(text"), "");
}

}  // namespace
}  // namespace cupilot::source
