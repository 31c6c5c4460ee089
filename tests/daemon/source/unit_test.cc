// Units that are kept for who asks for the same again, and what is kept ahead.
#include "source/unit.h"

#include <algorithm>

#include "scan_fixture.h"
#include "source/ahead.h"
#include "source/closure_options.h"
#include "toolkit_for_tests.h"

namespace cupilot::source {
namespace {

constexpr const char* kUnitText = R"(#include <cmath>
#include "size.h"
#ifndef TILE
#define TILE 4
#endif
struct Tile { float of[TILE * SIZE]; };
)";

class UnitTest : public ScanFixture {
 protected:
  void SetUp() override {
    ScanFixture::SetUp();
    Write("size.h", "#define SIZE 3\n");
  }

  std::shared_ptr<const Unit> Kept(const std::string& text) const {
    auto unit = LoadKeptUnit(Command(), text);
    EXPECT_TRUE(unit) << unit.error().message;
    return unit.value_or(nullptr);
  }
  static bool Holds(const Unit& unit, const std::string& text) {
    return unit.parsed.tree.text.find(text) != std::string::npos;
  }
};

TEST_F(UnitTest, IsOneForAllThatAskForTheSame) {
  const auto first = Kept(kUnitText);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(Kept(kUnitText), first);
  EXPECT_NE(Kept(std::string(kUnitText) + "struct Other {};\n"), first);
  const auto other = LoadKeptUnit(Command({"-std=c++17", "-DTILE=8"}), kUnitText);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE(Holds(**other, "8 * 3"));
  EXPECT_EQ(Kept(kUnitText), first) << "it stays beside others";
}

TEST_F(UnitTest, IsReadAnewWhenAFileOfItsOwnChanges) {
  const auto first = Kept(kUnitText);
  ASSERT_NE(first, nullptr);
  Write("size.h", "#define SIZE 1000\n");
  const auto second = Kept(kUnitText);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_TRUE(Holds(*second, "4 * 1000"));
  EXPECT_TRUE(Holds(*first, "4 * 3")) << "who has it still has it";
}

TEST_F(UnitTest, TheLeastLastAskedForGoes) {
  const auto named = [&](int i) { return "struct S" + std::to_string(i) + " {};\n"; };
  const auto first = Kept(named(0));
  for (int i = 1; i < 4; ++i) Kept(named(i));
  EXPECT_EQ(Kept(named(0)), first);
  Kept(named(4));
  EXPECT_EQ(Kept(named(0)), first) << "the second went";
  const auto third = Kept(named(2));
  for (int i = 5; i < 9; ++i) Kept(named(i));
  EXPECT_NE(Kept(named(2)), third);
}

// Before the first candidate asks, its headers are there.
TEST_F(UnitTest, WhatIsKeptAheadHasItsHeadersForOtherValues) {
  const std::string text = "#include <cstdint>\n" + std::string(kUnitText);
  ASSERT_TRUE(KeepUnit(Command(), text));
  const auto kept = Kept(text);
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->parsed.kept_headers);
  const auto other = LoadUnit(*kept, {{"TILE", 16}});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE((*other)->parsed.kept_headers);
  EXPECT_TRUE(Holds(**other, "16 * 3"));
  EXPECT_TRUE((*other)->parsed.errors.empty());
  ASSERT_NE(kept->Leading(), nullptr);
  EXPECT_TRUE(kept->Leading()->Leaves(text, {"TILE"})) << "nor do they have to be read";
  // A unit that nobody announced leaves that to the second one.
  const auto alone = Kept("#include <climits>\n" + std::string(kUnitText));
  ASSERT_NE(alone, nullptr);
  EXPECT_FALSE(alone->parsed.kept_headers);
}

TEST_F(UnitTest, WhatCannotBeReadIsAnError) {
  // There is no main.cu here.
  EXPECT_FALSE(KeepUnit(Command(), ""));
  protocol::ScanRequest request;
  request.command = Command();
  EXPECT_FALSE(KeepForCandidates(request));
}

class AheadTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }
  // No other test reads headers under this standard.
  protocol::ScanRequest Request(const std::string& standard) const {
    Write("main.cu",
          "// cupilot: tune workload(n=64) grid=1 block=64 in=fill(normal,0,1)\n"
          "__global__ void twice(float* in, int n) {\n"
          "  if (threadIdx.x < n) in[threadIdx.x] *= 2;\n}\n");
    protocol::ScanRequest request;
    request.command = Command({"-std=" + standard});
    request.kernels = {"twice"};
    return request;
  }
  // Whether a closure's headers are there, for the first who asks.
  static bool HeadersAreThere(const records::Kernel& kernel) {
    const auto parsed = ParseClosure(kernel, kernel.closure_source);
    EXPECT_TRUE(parsed) << parsed.error().message;
    return parsed && parsed->kept_headers;
  }
};

TEST_F(AheadTest, AScanThatCandidatesFollowHasTheHeadersOfTheirClosures) {
  for (const bool follow : {false, true}) {
    protocol::ScanRequest request = Request(follow ? "c++20" : "c++23");
    request.candidates_follow = follow;
    const auto reply = Scan(request);
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(reply->kernels.size(), 1u);
    WaitForClosureHeaders();
    EXPECT_EQ(HeadersAreThere(reply->kernels[0]), follow);
  }
}

// A scan for a GPU checks closures beside the toolkit's headers, by the same options.
TEST_F(AheadTest, AScanForAGpuHasThoseOfTheToolkitToo) {
  namespace fs = std::filesystem;
  const fs::path toolkit = folder_ + "/cuda";
  fs::create_directories(toolkit / "bin");
  Write("cuda/bin/nvcc", "");
  fs::permissions(toolkit / "bin/nvcc", fs::perms::owner_all);
  fs::copy(folder_ + "/toolkit/include/", toolkit / "include", fs::copy_options::recursive);
  fs::remove(toolkit / "include/cupilot_host_abi.h");
  records::CompileCommand command = Command({"-std=gnu++17"});
  command.arguments[0] = toolkit / "bin/nvcc";
  const auto flags = TranslateCommand(command);
  ASSERT_TRUE(flags) << flags.error().message;
  ASSERT_FALSE(flags->host_toolkit);
  BeginClosureHeaders(*flags);
  WaitForClosureHeaders();
  records::Kernel kernel;
  kernel.standard = flags->preprocess.standard;
  kernel.toolkit_include = flags->toolkit_include;
  const std::string closure = "#include <cuda_runtime.h>\nint other;\n";
  for (const auto& options : {ToolkitParseOptions(kernel), ClosureParseOptions(kernel)}) {
    const auto parsed = Parse(closure, options);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_TRUE(parsed->kept_headers);
  }
}

TEST_F(AheadTest, AProcessThatIsToMakeCandidatesHasThemToo) {
  const protocol::ScanRequest request = Request("gnu++20");
  const auto kept = KeepForCandidates(request);
  ASSERT_TRUE(kept) << kept.error().message;
  records::Kernel kernel;
  kernel.standard = "gnu++20";
  kernel.closure_source = "#include <cuda_runtime.h>\nint other;\n";
  EXPECT_TRUE(HeadersAreThere(kernel));
  kernel.standard = "gnu++23";
  EXPECT_FALSE(HeadersAreThere(kernel));
}

}  // namespace
}  // namespace cupilot::source
