#include "source/swap/selection_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>

#include "base/hash.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/elf_file.h"
#include "source/swap/variant_file.h"
#include "swap_fixture.h"
#include "tests/support/fake_nvcc.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;

class SelectionCheck : public SwapFolder {
 protected:
  void SetUp() override {
    SwapFolder::SetUp();
    command_.directory = folder_;
    command_.source = Write("main.cu",
                            "#include \"x.h\"\n// cupilot: tune\n"
                            "__global__ void k(int* p) { *p = VALUE; }\nint main() {}\n");
    command_.arguments = {Write("toolkit/bin/nvcc", ""), "-c", command_.source, "-o", "m.o"};
    test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc");
    command_.object = folder_ + "/m.o";
    command_.folder = folder_ + "/object";
    selection_.source = command_.source;
    selection_.swap = "swap." + base::HashHex("swapped") + ".cu";
    selection_.hook = "hook";
    selection_.kernels = {{"k", "", "", {}}};
    selection_.command_hash = records::CommandHash(command_);
    selection_.environment_hash = records::EnvironmentHash(command_);
    selection_.toolchain = ToolchainIdentity(command_);
    for (const std::string& path : {command_.source, Write("x.h", "#define VALUE 2\n")}) {
      selection_.files.push_back(RecordFile(path).value());
    }
    request_.kernels.emplace_back().kernel.closure_source = "__global__ void k(int* p) { *p = 2; }";
    RecordTokens(request_, Summarise(AskCompiler(command_).value().passes), selection_);
    Write("object/" + selection_.swap, "swapped");
    WriteSelection();
  }
  void WriteSelection() {
    Write("object/selection.json", records::CompactJson(records::ToJson(selection_)));
  }
  std::string Reason() { return CheckSelection(command_).reason; }

  records::CompileCommand command_;
  records::Selection selection_;
  SwapRequest request_;
};

TEST_F(SelectionCheck, HoldsForWhatItWasMadeFor) {
  const CheckedSelection checked = CheckSelection(command_);
  EXPECT_TRUE(checked.holds) << checked.reason;
  EXPECT_EQ(checked.id, base::HashHex(base::ReadFile(folder_ + "/object/selection.json").value()));
  EXPECT_EQ(checked.selection.hook, "hook");
}

TEST_F(SelectionCheck, WhatWasSaidAtTheScanIsNotAskedAgain) {
  const auto said = Summarise(AskCompiler(command_).value().passes);
  EXPECT_EQ(CheckSelection(command_, said).reason, "");
  Write("x.h", "#define VALUE 5\n");
  EXPECT_EQ(CheckSelection(command_, said).reason, "");
  const auto now = Summarise(AskCompiler(command_).value().passes);
  EXPECT_THAT(CheckSelection(command_, now).reason, HasSubstr("x.h has changed"));
}

// Also one that holds nothing but a macro, with the time and the size that it had.
TEST_F(SelectionCheck, WhatTheCompilerReadsDecides) {
  const auto time = std::filesystem::last_write_time(folder_ + "/x.h");
  Write("x.h", "#define VALUE 5\n");
  std::filesystem::last_write_time(folder_ + "/x.h", time);
  EXPECT_THAT(Reason(), HasSubstr("x.h has changed"));
  Write("x.h", "#define VALUE 2  // two\n#define OTHER 1\n");
  EXPECT_EQ(Reason(), "") << "the kernel's tokens are what they were";
  std::filesystem::remove(folder_ + "/x.h");
  EXPECT_THAT(Reason(), HasSubstr("cannot be preprocessed"));
}

TEST_F(SelectionCheck, AHeaderThatAppearsIsSeen) {
  Write("main.cu",
        "#if __has_include(\"late.h\")\n#include \"late.h\"\n#endif\n#include \"x.h\"\n"
        "// cupilot: tune\n__global__ void k(int* p) { *p = VALUE; }\nint main() {}\n");
  EXPECT_EQ(Reason(), "");
  Write("late.h", "#define p q\n");
  EXPECT_THAT(Reason(), HasSubstr("has changed"));
}

TEST_F(SelectionCheck, TagsAreAskedFor) {
  std::string text = base::ReadFile(command_.source).value();
  Write("main.cu", text + "// An edit elsewhere.\n");
  EXPECT_EQ(Reason(), "");
  Write("main.cu", text.replace(text.find("tune"), 4, "tune bitwise"));
  EXPECT_THAT(Reason(), HasSubstr("the tags in"));
}

TEST_F(SelectionCheck, AUserMacroOfAVariantsNameIsSeen) {
  request_.kernels[0].variants.emplace_back().variant.source = "int lane;";
  RecordTokens(request_, Summarise(AskCompiler(command_).value().passes), selection_);
  WriteSelection();
  EXPECT_EQ(Reason(), "");
  Write("x.h", "#define VALUE 2\n#define lane (1 + lane)\n");
  EXPECT_THAT(Reason(), HasSubstr("x.h has changed"));
}

TEST_F(SelectionCheck, AnOlderVersionsIsNotTaken) {
  selection_.tokens.clear();
  WriteSelection();
  EXPECT_THAT(Reason(), HasSubstr("older version"));
}

TEST_F(SelectionCheck, CommandEnvironmentAndCompilerAreAskedFor) {
  const records::CompileCommand before = command_;
  command_.arguments.insert(command_.arguments.begin() + 1, "-DX");
  EXPECT_EQ(Reason(), "the command has changed");
  command_ = before;
  command_.arguments.insert(command_.arguments.begin() + 1, "-Wall");  // changes no code
  EXPECT_EQ(Reason(), "");
  command_ = before;
  command_.environment = {{"CPATH", "/x"}};
  EXPECT_THAT(Reason(), HasSubstr("environment"));
  command_ = before;
  Write("toolkit/bin/nvcc", "#!/bin/sh\n# another compiler\n");
  EXPECT_EQ(Reason(), "the compiler has changed");
}

TEST_F(SelectionCheck, OnlyThePublishedTextIsCompiled) {
  Write("object/" + selection_.swap, "tampered");
  EXPECT_THAT(Reason(), HasSubstr("not the one that was published"));
  std::filesystem::remove(folder_ + "/object/" + selection_.swap);
  EXPECT_THAT(Reason(), HasSubstr("missing"));
  selection_.swap = "../object/" + selection_.swap;
  WriteSelection();
  EXPECT_THAT(Reason(), HasSubstr("no plain name"));
}

// A compile that fails for want of a file would be taken for the variant's fault.
TEST_F(SelectionCheck, WithoutAVariantsFileTheOriginalIsCompiled) {
  const SwappedText variant{"variant." + base::HashHex("the variant") + ".cu", "the variant"};
  const std::string swapped = "#include \"/p/main.cu\"\n" + IncludeOf(variant);
  selection_.swap = "swap." + base::HashHex(swapped) + ".cu";
  Write("object/" + selection_.swap, swapped);
  WriteSelection();
  EXPECT_EQ(Reason(), variant.file_name + " is missing");
  Write("object/" + variant.file_name, "another");
  EXPECT_EQ(Reason(), variant.file_name + " is not the one that was published");
  Write("object/" + variant.file_name, variant.text);
  EXPECT_EQ(Reason(), "");
}

TEST_F(SelectionCheck, RefusedOnesAreNotTriedAgain) {
  const std::string id = CheckSelection(command_).id;
  Write("object/refused.json", "{\"selection\":\"" + id + "\"}");
  EXPECT_THAT(Reason(), HasSubstr("refused"));
  Write("object/refused.json", "{\"selection\":\"another\"}");
  EXPECT_EQ(Reason(), "");
  for (const char* garbage : {"", "{", "[]", "{\"selection\":1}", "\xff"}) {
    Write("object/refused.json", garbage);
    EXPECT_EQ(Reason(), "");
  }
}

TEST_F(SelectionCheck, ShippedTextIsWhatTheLauncherSaid) {
  EXPECT_TRUE(ReadShippedText(folder_ + "/object").empty());
  Write(
      "object/applied.json",
      R"({"schema":"cupilot.applied/1","text":[{"variant":"a","target":"compute_90,sm_90","hash":"b"},
            {"variant":"c"}, 3, {"variant":1,"hash":"d"}]})");
  const auto shipped = ReadShippedText(folder_ + "/object");
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].variant + " " + shipped[0].target + " " + shipped[0].hash,
            "a compute_90,sm_90 b");
  for (const char* garbage : {"", "{", "[]", "{\"text\":3}", "{\"text\":null}", "\xff"}) {
    Write("object/applied.json", garbage);
    EXPECT_TRUE(ReadShippedText(folder_ + "/object").empty()) << garbage;
  }
}

TEST(ShippedCodeOf, IsComparedByVariantAndTarget) {
  const std::string target = "compute_90,sm_90";
  const std::vector<ShippedText> shipped = {
      {"a", target, "one"}, {"a", "compute_80,sm_80", "two"}, {"b", target, ""}};
  EXPECT_EQ(CompareShipped(shipped, "a", target, "one"), ShippedCode::kSame);
  EXPECT_EQ(CompareShipped(shipped, "a", target, "two"), ShippedCode::kDifferent);
  EXPECT_EQ(CompareShipped(shipped, "a", "compute_80,sm_80", "two"), ShippedCode::kSame);
  EXPECT_EQ(CompareShipped(shipped, "a", "compute_86,sm_86", "one"), ShippedCode::kUnknown);
  EXPECT_EQ(CompareShipped(shipped, "c", target, "one"), ShippedCode::kUnknown);
  EXPECT_EQ(CompareShipped({}, "a", target, "one"), ShippedCode::kUnknown);
}

TEST(ShippedCodeOf, IsUnknownWhereOneSideSaysNothing) {
  const std::string target = "compute_90,sm_90";
  EXPECT_EQ(CompareShipped({{"a", target, ""}}, "a", target, "one"), ShippedCode::kUnknown);
  EXPECT_EQ(CompareShipped({{"a", target, "one"}}, "a", target, ""), ShippedCode::kUnknown);
}

TEST(ShippedCodeOf, IsDifferentWhereOneOfSeveralDiffers) {
  const std::string target = "compute_90,sm_90";
  EXPECT_EQ(CompareShipped({{"a", target, "one"}, {"a", target, "two"}}, "a", target, "one"),
            ShippedCode::kDifferent);
}

TEST_F(SelectionCheck, AnEmptySelectionIsTheOriginal) {
  selection_.kernels.clear();
  selection_.swap.clear();
  WriteSelection();
  const CheckedSelection checked = CheckSelection(command_);
  EXPECT_FALSE(checked.holds);
  std::filesystem::remove(folder_ + "/object/selection.json");
  EXPECT_EQ(Reason(), "no selection");
}

class ElfFileTest : public SwapFolder {};

TEST_F(ElfFileTest, FindsCallsAndSections) {
  Write("a.cc", R"(
    extern "C" __attribute__((visibility("hidden"), noinline, noclone, section(".text.own"))) int hook(int x) { __asm__ volatile(""); return x; }
    extern "C" __attribute__((visibility("hidden"), noinline, used)) int lonely(int x) { return x; }
    int call(int x) { return hook(x); }
    __attribute__((section(".cupilot"), used)) static const char text[] = "line\n";
  )");
  for (const char* options : {"-O0", "-O2", "-O2 -g -ffunction-sections"}) {
    ASSERT_EQ(Run("g++ -c -fPIC " + std::string(options) + " a.cc -o a.o"), 0) << Log();
    EXPECT_EQ(ObjectRefersTo(folder_ + "/a.o", "hook").value_or(false), true) << options;
    EXPECT_EQ(ObjectRefersTo(folder_ + "/a.o", "lonely").value_or(true), false) << options;
    EXPECT_EQ(ElfSection(folder_ + "/a.o", ".cupilot").value_or(""), std::string("line\n\0", 6));
    EXPECT_EQ(ElfSection(folder_ + "/a.o", ".other").value_or("x"), "");
  }
}

TEST_F(ElfFileTest, AnyBytesAreRead) {
  Write("a.cc", "int f(); int g() { return f(); }");
  ASSERT_EQ(Run("g++ -c a.cc -o a.o"), 0) << Log();
  const std::string bytes = base::ReadFile(folder_ + "/a.o").value();
  unsigned state = 1;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 8; ++k) {
      state = state * 1664525 + 1013904223;
      damaged[state % damaged.size()] = static_cast<char>(state >> 24);
    }
    damaged.resize(damaged.size() - (state >> 8) % damaged.size());
    const std::string path = Write("damaged.o", damaged);
    static_cast<void>(ObjectRefersTo(path, "_Z1fv"));
    static_cast<void>(ElfSection(path, ".text"));
  }
  EXPECT_FALSE(ObjectRefersTo(Write("text.o", "not an object"), "f"));
  EXPECT_FALSE(ObjectRefersTo(folder_ + "/missing.o", "f"));
}

}  // namespace
}  // namespace cupilot::source
