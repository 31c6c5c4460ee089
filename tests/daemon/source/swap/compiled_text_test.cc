// What is asked of a compiler about its text, and what of the answer decides.
#include "source/swap/compiled_text.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "source/swap/ask_compiler.h"
#include "swap_fixture.h"
#include "tests/support/fake_nvcc.h"

namespace cupilot::source {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

std::string HashOf(const std::string& text, const std::vector<std::string>& names,
                   const std::map<std::string, std::string>& macros = {}) {
  return HashOfTokens(Summarise({{"host", text, macros}}), names);
}

TEST(CompiledText, NamesThatAreLookedUpDecide) {
  const std::string text = "int f(int a) { return a; }\nint g() { return 1; }\n";
  const std::string before = HashOf(text, {"f"});
  EXPECT_EQ(HashOf("\n\n" + text + "int h();\n", {"f"}), before);
  EXPECT_EQ(HashOf("int f(int a) {\n return a; }\nint g() { return 2; }\n", {"f"}), before);
  EXPECT_NE(HashOf("int f(int a) { return a + 1; }\n", {"f"}), before);
  EXPECT_NE(HashOf(text + "int f(short);\n", {"f"}), before) << "an overload";
  EXPECT_NE(HashOf("namespace n { " + text + "}\n", {"f"}), before) << "another scope";
  EXPECT_NE(HashOf(text + "using namespace n;\n", {"f"}), before);
  EXPECT_NE(HashOf("#pragma pack(1)\n" + text, {"f"}), before);
  EXPECT_NE(HashOf(text, {"f", "g"}), before);
  EXPECT_NE(HashOf(text, {std::string(kAnyName)}),
            HashOf(text + "int h();\n", {std::string(kAnyName)}));
}

TEST(CompiledText, MacrosThatStandBehindDecideByTheirNames) {
  const std::string text = "int f();\n";
  const std::string before = HashOf(text, {"f"}, {{"n", "n 1"}});
  EXPECT_EQ(HashOf(text, {"f"}, {{"n", "n 2"}}), before);
  EXPECT_NE(HashOf(text, {"f"}, {{"f", "f g"}}), before);
  EXPECT_NE(HashOf(text, {"f"}, {{"f", "f g"}}), HashOf(text, {"f"}, {{"f", "f h"}}));
}

TEST(CompiledText, EachPassIsPartOfIt) {
  const std::vector<records::CompilerPass> one = {{"host", "int f();\n", {}}};
  std::vector<records::CompilerPass> two = one;
  two.push_back({"900", "int f();\n", {}});
  EXPECT_NE(HashOfTokens(Summarise(one), {"f"}), HashOfTokens(Summarise(two), {"f"}));
}

// A text that cannot be split is compared as a whole.
TEST(CompiledText, WhatCannotBeSplitIsLookedAtWhole) {
  EXPECT_NE(HashOf("int f() {\n", {"f"}), HashOf("int f() { int g;\n", {"f"}));
}

TEST(CompiledText, TagsAreKnownByWhatTheyStandAbove) {
  const std::string text = "// cupilot: tune\n__global__ void a() {}\n__global__ void b() {}\n";
  EXPECT_EQ(HashOfTags("int x;\n"), "");
  EXPECT_EQ(HashOfTags("int x;\n" + text + "int y;\n"), HashOfTags(text));
  EXPECT_NE(HashOfTags("// cupilot: tune\n__global__ void b() {}\n"), HashOfTags(text));
  EXPECT_NE(HashOfTags("// cupilot: tune bitwise\n__global__ void a() {}\n"), HashOfTags(text));
}

TEST(UserLines, AreThoseBetweenMarkersOfTheUser) {
  const UserLines lines = UserLinesOf(
      "# 1 \"<built-in>\"\n#define __x 1\n# 1 \"main.cu\"\n# 1 \"/s/h.h\" 1 3\nint s;\n"
      "#define S 1\n# 2 \"main.cu\" 2\n# 1 \"cfg.h\" 1\n#define N 2\n#define M(a) a\n#undef M\n"
      "# 3 \"main.cu\" 2\nint u;\n#pragma push_macro(\"N\")\n#define N 3\n#pragma "
      "pop_macro(\"N\")\n",
      [](const std::string& name) { return name.starts_with("/s/"); });
  EXPECT_THAT(lines.text, AllOf(HasSubstr("int u;"), Not(HasSubstr("int s;"))));
  EXPECT_THAT(lines.files, ElementsAre("main.cu", "cfg.h"));
  EXPECT_THAT(lines.macros, ElementsAre(Pair("N", "N 2")));
}

class AskCompilerTest : public SwapFolder {
 protected:
  void SetUp() override {
    SwapFolder::SetUp();
    folder_ = base::AbsolutePath(folder_, "/");
    std::filesystem::create_directories(folder_ + "/toolkit/bin");
    command_.directory = folder_;
    command_.arguments = {folder_ + "/toolkit/bin/nvcc",
                          "-DK=\"a b\"",
                          "-I",
                          folder_ + "/in c",
                          "-c",
                          "main.cu",
                          "-o",
                          "main.o"};
    command_.source = folder_ + "/main.cu";
    command_.object = folder_ + "/main.o";
  }
  CompilerAnswer Ask() {
    auto answer = AskCompiler(command_);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? std::move(*answer) : CompilerAnswer{};
  }
  records::CompileCommand command_;
};

TEST_F(AskCompilerTest, TellsMacrosFoldersFilesAndPasses) {
  test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc", "-O2 -fopenmp", /*device=*/true);
  Write("in c/cfg.h", "#define ONLY 1\n");
  Write("main.cu",
        "#include <cstddef>\n#include \"cfg.h\"\n#ifdef __CUDA_ARCH__\nint device_side;\n"
        "#endif\nconst char* k = K;\n");
  const CompilerAnswer answer = Ask();
  ASSERT_EQ(answer.passes.size(), 2u);
  EXPECT_EQ(answer.passes[0].name, "host");
  EXPECT_EQ(answer.passes[1].name, "900");
  EXPECT_THAT(answer.passes[0].text, AllOf(HasSubstr("k = \"a b\""), Not(HasSubstr("device_side")),
                                           Not(HasSubstr("size_t"))));
  EXPECT_THAT(answer.passes[1].text, HasSubstr("device_side"));
  EXPECT_THAT(answer.passes[0].macros, Contains(Pair("ONLY", "ONLY 1")));
  EXPECT_THAT(answer.files, ElementsAre(folder_ + "/main.cu", folder_ + "/in c/cfg.h"));
  EXPECT_THAT(answer.setup.predefined,
              AllOf(Contains("-D__OPTIMIZE__=1"), Contains(StartsWith("-D__GNUC__=")),
                    Contains(HasSubstr("-D_OPENMP="))));
  EXPECT_THAT(answer.setup.macros, Contains("-DK=\"a b\""));
  EXPECT_THAT(answer.setup.folders, AllOf(Contains(folder_ + "/in c"), Contains("/usr/include")));
  EXPECT_THAT(answer.setup.system_folders,
              AllOf(Contains("/usr/include"), Not(Contains(folder_ + "/in c"))));
}

TEST_F(AskCompilerTest, VariablesOfTheRecordedEnvironmentDecide) {
  test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc");
  Write("main.cu", "#include <here.h>\n");
  Write("one/here.h", "int one;\n");
  command_.environment = {{"CPATH", folder_ + "/one"}};
  EXPECT_THAT(Ask().passes[0].text, HasSubstr("int one;"));
  command_.environment.clear();
  EXPECT_THAT(AskCompiler(command_).error().message, HasSubstr("here.h: No such file"));
}

// As in many containers.
TEST_F(AskCompilerTest, AProjectBelowUsrIsTheUsers) {
  test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc");
  std::string project = "/usr/src/cupilot_test.XXXXXX";
  if (::mkdtemp(project.data()) == nullptr) GTEST_SKIP() << "/usr/src cannot be written";
  std::ofstream(project + "/cfg.h") << "#define ONLY 1\nint mine;\n";
  Write("main.cu", "#include <cstddef>\n#include \"cfg.h\"\n");
  command_.arguments.insert(command_.arguments.begin() + 1, "-I" + project);
  const CompilerAnswer answer = Ask();
  std::filesystem::remove_all(project);
  ASSERT_FALSE(answer.passes.empty());
  EXPECT_THAT(answer.passes[0].text, AllOf(HasSubstr("int mine;"), Not(HasSubstr("size_t"))));
  EXPECT_THAT(answer.files, Contains(project + "/cfg.h"));
}

TEST_F(AskCompilerTest, ACompilerThatCannotBeAskedIsNamed) {
  EXPECT_THAT(AskCompiler(command_).error().message, HasSubstr("cannot be run"));
  Write("toolkit/bin/nvcc", "#!/bin/sh\necho no such option >&2\nexit 1\n");
  std::filesystem::permissions(folder_ + "/toolkit/bin/nvcc", std::filesystem::perms::owner_all);
  EXPECT_THAT(AskCompiler(command_).error().message, HasSubstr("no such option"));
}

}  // namespace
}  // namespace cupilot::source
