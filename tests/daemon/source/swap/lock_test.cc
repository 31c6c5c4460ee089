// What a lock file's entries say for a compile, here, in another checkout and after edits.
#include <gmock/gmock.h>

#include "base/hash.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/lock_choice.h"
#include "source/swap/portable_command.h"
#include "swap_fixture.h"
#include "tests/support/fake_nvcc.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kKernelText =
    "namespace app {\n"
    "__device__ float by(float a, float b) { return a * b; }\n"
    "__global__ void scale(float factor, const float* in, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = by(factor, in[i]);\n"
    "}\n"
    "}  // namespace app\n";

class LockTest : public SwapFolder {
 protected:
  void SetUp() override {
    SwapFolder::SetUp();
    folder_ = base::AbsolutePath(folder_, "/");  // as CMake writes paths
    checkout_ = folder_ + "/checkout";
    Checkout(checkout_);
    command_ = CommandIn(checkout_, "toolkit");
    Write("toolkit/bin/nvcc", "");
    test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc");
    std::filesystem::create_directories(checkout_ + "/build");
    Write("toolkit/version.json",
          R"({"cuda": {"version": "13.0.1"}, "cuda_nvcc": {"version": "13.0.88"}})");
  }

  void Checkout(const std::string& folder) const {
    Write(folder.substr(folder_.size() + 1) + "/src/main.cu",
          "#include \"shared.h\"\n" + std::string(kKernelText) + "int main() { return 0; }\n");
    Write(folder.substr(folder_.size() + 1) + "/include/shared.h", "#define SHARED 1\n");
  }
  ProjectFolders FoldersOf(const std::string& checkout) const {
    return {checkout, checkout, checkout + "/build"};
  }
  records::CompileCommand CommandIn(const std::string& checkout, const std::string& toolkit) const {
    records::CompileCommand command;
    command.directory = checkout + "/build";
    command.source = checkout + "/src/main.cu";
    command.object = checkout + "/build/main.cu.o";
    command.folder = checkout + "/build/cupilot/app/main.cu.o";
    command.arguments = {folder_ + "/" + toolkit + "/bin/nvcc",
                         "-O3",
                         "-DDATA=\"" + checkout + "/data\"",
                         "-I" + checkout + "/include",
                         "-isystem",
                         checkout + "/build/made",
                         "-I/elsewhere/include",
                         "-gencode=arch=compute_90,code=[compute_90,sm_90]",
                         "-c",
                         command.source,
                         "-o",
                         command.object};
    return command;
  }

  base::Result<records::LockedKernel> Make(const records::Variant& variant,
                                           const std::string& target) {
    records::Kernel kernel = ScaleKernel();
    kernel.signature = "_ZN3app5scaleEfPKfPfi";
    kernel.key = "key";
    kernel.closure_source = kKernelText;
    records::Workload workload;
    workload.kernel = kernel.name;
    records::Case& one = workload.cases.emplace_back();
    one.name = "only";
    one.grid = one.block = {"1", "1", "1"};
    records::Evaluation evaluation;
    evaluation.variant = variant.id;
    evaluation.target = target;
    evaluation.accepted = true;
    evaluation.guard = "n >= 1";
    evaluation.text_hash = "measured";
    evaluation.metrics = {{"case only", {{"roofline", 1}}}};
    std::vector<std::pair<std::string, std::string>> files;
    for (const char* name : {"/src/main.cu", "/include/shared.h"}) {
      files.emplace_back(checkout_ + name, base::ReadFile(checkout_ + name).value());
    }
    const ProjectFolders folders = FoldersOf(checkout_);
    LockJudge judge(command_, folders);
    const auto compiler = AskCompiler(command_);
    const auto compiled =
        compiler ? Summarise(compiler->passes) : std::vector<records::PassSummary>();
    return MakeLockedKernel({"app",
                             kernel,
                             workload,
                             evaluation,
                             {variant, target, {}, evaluation.guard, "", 1.0},
                             files,
                             compiled},
                            judge);
  }
  void Lock(const std::string& target = "compute_90,sm_90") {
    auto entry = Make(PlainVariant(), target);
    ASSERT_TRUE(entry) << entry.error().message;
    lock_.kernels.push_back(std::move(*entry));
    WriteLock(checkout_);
  }
  void WriteLock(const std::string& checkout) {
    Write(checkout.substr(folder_.size() + 1) + "/cupilot.lock", records::LockText(lock_));
  }
  LockChoice Choose(const records::CompileCommand& command, const std::string& checkout) const {
    return ChooseFromLock(ReadLockFile(checkout + "/cupilot.lock"), {"app", FoldersOf(checkout)},
                          command);
  }
  LockChoice Choose() const { return Choose(command_, checkout_); }
  std::string Note() const {
    const LockChoice choice = Choose();
    return choice.notes.empty() ? "" : choice.notes[0];
  }
  void Edit(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = base::ReadFile(checkout_ + "/" + name).value();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    Write("checkout/" + name, text.replace(at, from.size(), to));
  }

  std::string checkout_;
  records::CompileCommand command_;
  records::Lock lock_;
};

TEST_F(LockTest, AnEntryHoldsNothingOfThisMachine) {
  Lock();
  const records::LockedKernel& entry = lock_.kernels[0];
  EXPECT_EQ(entry.source, "src/main.cu");
  EXPECT_EQ(entry.toolchain, "nvcc 13.0.88");
  EXPECT_THAT(entry.flags, ElementsAre("-O3", "-DDATA=\"<project>/data\"", "-Iinclude",
                                       "-isystem=<build>/made"));
  EXPECT_EQ(records::LockText(lock_).find(folder_), std::string::npos);
  EXPECT_TRUE(entry.evaluation.metrics.empty());
  EXPECT_THAT(ActualFlags(entry.flags, {"/p", "/p", "/b"}),
              ElementsAre("-O3", "-DDATA=\"/p/data\"", "-I", "/p/include", "-isystem", "/b/made"));
}

TEST_F(LockTest, MakesWhatTheDaemonMakes) {
  Lock();
  const LockChoice choice = Choose();
  EXPECT_THAT(choice.notes, IsEmpty());
  ASSERT_THAT(choice.request.kernels, SizeIs(1));
  records::Kernel kernel = ScaleKernel();
  const SwapRequest published{
      command_.source,
      command_.folder,
      {{kernel, {{PlainVariant(), "compute_90,sm_90", {}, "n >= 1", "", 1.0}}}}};
  EXPECT_EQ(WriteSwappedSource(choice.request).value().Files(),
            WriteSwappedSource(published).value().Files());
  ASSERT_THAT(choice.measured, SizeIs(1));
  EXPECT_EQ(choice.measured[0].hash, "measured");
}

TEST_F(LockTest, TheOrderIsTheSameForBoth) {
  const auto named = [](const std::string& name, const std::string& target) {
    records::Kernel kernel = ScaleKernel();
    kernel.signature = name;
    SwappedVariant variant{PlainVariant(), target, {}, "", "", 1.0};
    return SwappedKernel{kernel, {variant}};
  };
  SwapRequest request{"/s.cu", "u", {named("b", "t"), named("a", "t")}};
  request.kernels[0].variants.push_back({PlainVariant(), "s", {}, "", "", 1.0});
  PutInOrder(request);
  EXPECT_EQ(request.kernels[0].kernel.signature, "a");
  EXPECT_EQ(request.kernels[1].variants[0].target, "s");
}

TEST_F(LockTest, HoldsInAnotherCheckoutWithAnotherToolkitOfTheVersion) {
  Lock();
  const std::string other = folder_ + "/other/place";
  Checkout(other);
  WriteLock(other);
  Write("usr/bin/nvcc", "");
  test::WriteFakeNvcc(folder_ + "/usr/bin/nvcc");
  std::filesystem::create_directories(other + "/build");
  Write("usr/version.json", R"({"cuda_nvcc": {"version": "13.0.88"}})");
  const LockChoice choice = Choose(CommandIn(other, "usr"), other);
  EXPECT_THAT(choice.notes, IsEmpty());
  EXPECT_THAT(choice.request.kernels, SizeIs(1));
  Write("usr/version.json", R"({"cuda_nvcc": {"version": "12.8.93"}})");
  const LockChoice older = Choose(CommandIn(other, "usr"), other);
  ASSERT_THAT(older.notes, SizeIs(1));
  EXPECT_THAT(older.notes[0], HasSubstr("proven with nvcc 13.0.88, and this is nvcc 12.8.93"));
}

TEST_F(LockTest, TheCompilerSaysItsVersionItself) {
  const auto says = [&](const std::string& text) {
    Write("toolkit/bin/nvcc", "#!/bin/sh\necho '" + text + "'\n");
    std::filesystem::permissions(folder_ + "/toolkit/bin/nvcc", std::filesystem::perms::owner_all);
    return CompilerVersion(command_);
  };
  EXPECT_EQ(CompilerVersion(command_), "nvcc 13.0.88");  // its toolkit's
  EXPECT_EQ(says("Cuda compilation tools, release 12.8, V12.8.93"), "nvcc 12.8.93");
  EXPECT_EQ(says("something else, which is longer"), "nvcc 13.0.88");
}

TEST_F(LockTest, WhatIsStaleIsNamed) {
  Lock();
  const std::string digest = Choose().digest;
  Edit("src/main.cu", "return 0", "return 1");
  EXPECT_EQ(Note(), "");
  Edit("src/main.cu", "a * b", "b * a");
  EXPECT_EQ(Note(),
            "cupilot: kernel app::scale in cupilot.lock does not fit src/main.cu any more: its "
            "text has changed; run `cupilot lock`");
  EXPECT_THAT(Choose().request.kernels, IsEmpty());
  EXPECT_EQ(Choose().digest, digest);
  Edit("src/main.cu", "b * a", "a * b");
  Edit("include/shared.h", "SHARED 1", "SHARED 2");  // the kernel does not name it
  EXPECT_EQ(Note(), "");
  Edit("include/shared.h", "#define SHARED 2", "#define n 3");
  EXPECT_THAT(Note(), HasSubstr("what it uses of include/shared.h has changed"));
  std::filesystem::remove(checkout_ + "/include/shared.h");
  EXPECT_THAT(Choose().reason, HasSubstr("shared.h: No such file"));
  EXPECT_THAT(Choose().request.kernels, IsEmpty());
}

TEST_F(LockTest, AHeaderThatIsFoundBeforeTheOneThatWasReadIsSeen) {
  Lock();
  lock_.kernels[0].flags.insert(lock_.kernels[0].flags.begin() + 2, "-Iearlier");
  WriteLock(checkout_);
  command_.arguments.insert(command_.arguments.begin() + 3, "-I" + checkout_ + "/earlier");
  EXPECT_EQ(Note(), "");
  Write("checkout/earlier/shared.h", "#define SHARED 3\n");
  EXPECT_EQ(Note(), "");
  Write("checkout/earlier/shared.h", "#define n 3\n");
  EXPECT_THAT(Note(), HasSubstr("earlier/shared.h is found before include/shared.h"));
}

TEST_F(LockTest, FlagsThatChangeCodeAreComparedOthersNot) {
  Lock();
  command_.arguments.insert(command_.arguments.begin() + 1, {"-Wall", "-lineinfo", "-MD"});
  EXPECT_EQ(Note(), "");
  command_.arguments[4] = "-O1";
  EXPECT_THAT(Note(), HasSubstr("other flags: -O3 is gone"));
  command_.arguments[4] = "-O3";
  command_.environment = {{"NVCC_APPEND_FLAGS", "--use_fast_math"}};
  EXPECT_THAT(Note(), HasSubstr("--use_fast_math is new"));
}

TEST_F(LockTest, TheCompilesTargetsChoose) {
  Lock();
  Lock("compute_80,sm_86");
  Lock("host-x86-64-v3");
  const auto targets = [&] {
    std::vector<std::string> found;
    for (const SwappedKernel& kernel : Choose().request.kernels) {
      for (const SwappedVariant& variant : kernel.variants) found.push_back(variant.target);
    }
    return found;
  };
  const auto compile_for = [&](const std::string& word) { command_.arguments[7] = word; };
  EXPECT_THAT(targets(), ElementsAre("compute_90,sm_90"));
  compile_for("-gencode=arch=compute_80,code=[compute_80,sm_80]");  // PTX for sm_86's driver
  EXPECT_THAT(targets(), ElementsAre("compute_80,sm_86"));
  compile_for("-arch=native");  // whatever that is where it is compiled
  EXPECT_THAT(targets(), ElementsAre("compute_80,sm_86", "compute_90,sm_90"));
  compile_for("-gencode=arch=compute_75,code=sm_75");
  EXPECT_THAT(targets(), IsEmpty());
  EXPECT_THAT(Choose().notes, IsEmpty());
  EXPECT_THAT(Choose().reason, HasSubstr("architectures"));
}

TEST_F(LockTest, TheHostDevicesCompilerTakesTheHostsEntries) {
  Write("toolkit/include/cupilot_host_abi.h", "");
  Lock("host-x86-64-v3");
  ASSERT_THAT(Choose().request.kernels, SizeIs(1));
  EXPECT_THAT(lock_.kernels[0].toolchain, HasSubstr("cupilot-nvcc 13.0.88"));
  // Of the C++ compiler behind it the major version counts.
  Write("toolkit/g++", "#!/bin/sh\necho 99.1.0\n");
  std::filesystem::permissions(folder_ + "/toolkit/g++", std::filesystem::perms::owner_all);
  command_.arguments.push_back("-ccbin=" + folder_ + "/toolkit/g++");
  EXPECT_THAT(Note(), HasSubstr("this is cupilot-nvcc 13.0.88, g++ 99"));
}

TEST_F(LockTest, OtherTargetsAndSourcesAreNotMeant) {
  Lock();
  const LockFile file = ReadLockFile(checkout_ + "/cupilot.lock");
  EXPECT_THAT(DigestFor(file, {"other", FoldersOf(checkout_)}, command_.source), IsEmpty());
  EXPECT_THAT(DigestFor(file, {"app", FoldersOf(checkout_)}, checkout_ + "/src/other.cu"),
              IsEmpty());
  EXPECT_THAT(DigestFor(file, {"app", FoldersOf(checkout_)}, command_.source), SizeIs(40));
}

TEST_F(LockTest, WhatCannotBePinnedSaysWhy) {
  command_.source = "/elsewhere/main.cu";
  auto made = Make(PlainVariant(), "compute_90,sm_90");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("outside the project"));
  command_ = CommandIn(checkout_, "no_toolkit");
  made = Make(PlainVariant(), "compute_90,sm_90");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("version"));
}

TEST_F(LockTest, AFileThatCannotBeReadDecidesAllTheSame) {
  EXPECT_FALSE(Choose().there);
  for (const char* garbage : {"", "{", "[]", "{\"schema\":\"cupilot.lock/1\"}", "\xff"}) {
    Write("checkout/cupilot.lock", garbage);
    const LockChoice choice = Choose();
    EXPECT_TRUE(choice.there);
    EXPECT_EQ(choice.digest, "");
    ASSERT_THAT(choice.notes, SizeIs(1));
    EXPECT_THAT(choice.notes[0], HasSubstr("cupilot: cupilot.lock is not used: "));
  }
}

// A variant that is not whole is left out, the others stay.
TEST_F(LockTest, AVariantThatCannotBeWrittenOutIsLeftOut) {
  Lock();
  records::LockedKernel bad = lock_.kernels[0];
  bad.signature = "another";
  bad.variant.source = "}  void evil() {";
  bad.variant.id = bad.evaluation.variant = records::VariantId(bad.variant);
  lock_.kernels.push_back(bad);
  WriteLock(checkout_);
  const LockChoice choice = Choose();
  EXPECT_THAT(choice.request.kernels, SizeIs(1));
  ASSERT_THAT(choice.notes, SizeIs(1));
  EXPECT_THAT(choice.notes[0], HasSubstr("cannot be compiled in"));
}

}  // namespace
}  // namespace cupilot::source
