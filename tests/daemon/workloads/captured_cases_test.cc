// From recordings of a program to what its kernel is tuned on.
#include "workloads/captured_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/workloads/captured_program.h"
#include "workloads/synthetic.h"

namespace cupilot::workloads {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kIn = 0x700000000;
constexpr std::uint64_t kOut = 0x700010000;

class CapturedCasesTest : public ::testing::Test {
 protected:
  CapturedCasesTest() : blobs_(folder_ / "blobs") {
    program_.Allocate(kIn, {1, 2, 3, 4});
    program_.Allocate(kOut, {0, 0, 0, 0});
  }

  void Record(const std::function<void(capture::Recorder&)>& run) {
    capture::Recorder recorder(program_.Plan(kernel_), program_, 1);
    run(recorder);
  }
  void LaunchOnce(capture::Recorder& recorder, std::uint64_t in, std::uint64_t out, int n,
                  double microseconds = 10) {
    program_.Launch(recorder, kernel_, in, out, n, microseconds,
                    [&] { program_.Set(kOut, 1, ++value_); });
  }
  base::Result<Captured> Cases(std::size_t most = 6) {
    std::vector<Recording> recordings;
    auto recording = Recording::Read(program_.file());
    EXPECT_TRUE(recording) << (recording ? "" : recording.error().message);
    if (recording) recordings.push_back(std::move(*recording));
    return CasesOf(recordings, kernel_, {most}, blobs_);
  }
  std::vector<float> Contents(const std::optional<records::Fill>& fill) {
    if (!fill || fill->kind != "file") return {};
    const auto bytes = blobs_.Get(fill->path.substr(blobs::kBlobScheme.size()));
    EXPECT_TRUE(bytes);
    std::vector<float> values(bytes->size() / sizeof(float));
    std::memcpy(values.data(), bytes->data(), bytes->size());
    return values;
  }

  test::TemporaryFolder folder_;
  blobs::BlobStore blobs_;
  CapturedProgram program_;
  records::Kernel kernel_ = CapturedProgram::Kernel();
  float value_ = 40;
};

// `in` leads to pointers: equal ones, a null one, one into the middle and one to `out`.
class CapturedTablesTest : public CapturedCasesTest {
 protected:
  static constexpr std::uint64_t kTable = 0x700020000;

  CapturedTablesTest() {
    program_.AllocateWords(kTable, {kIn + 4, 0, kIn + 4, kOut, 0xbad});
    records::Parameter& table = kernel_.parameters[0];
    table.type = table.canonical = "float *const *";
    table.element = "float *";
    table.element_bytes = 8;
    table.pointee = "float";
    table.pointee_bytes = 4;
    table.table = true;
  }
};

// A step that is another one in each launch: what its few cases say holds for few of them.
TEST_F(CapturedCasesTest, WhatTheCasesDoNotCoverIsSaid) {
  Record([&](capture::Recorder& recorder) {
    for (int step = 0; step < 30; ++step) LaunchOnce(recorder, kIn, kOut, step);
  });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->cases.size(), 6u);
  EXPECT_NEAR(captured->Microseconds(), 300, 1e-9);
  EXPECT_NEAR(captured->CoveredMicroseconds(), 60, 1e-9);
  EXPECT_THAT(captured->notes, ElementsAre(HasSubstr("its 6 cases are 20 % of its time")));
}

TEST_F(CapturedTablesTest, BecomeBuffersThatHoldPointers) {
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kTable, kOut, 4); });
  auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(captured->cases.size(), 1u);
  const records::Case& one = captured->cases[0];
  ASSERT_EQ(one.buffers.size(), 3u);
  const records::Buffer& table = one.buffers[0];
  EXPECT_EQ(one.arguments[0].buffer, table.name);
  EXPECT_EQ(one.arguments[0].access, records::Access::kIn);
  EXPECT_EQ(one.arguments[1].buffer, one.buffers[2].name);
  const std::vector<records::PointerInBytes> pointers = {
      {0, one.buffers[1].name, 4}, {16, one.buffers[1].name, 4}, {24, one.buffers[2].name, 0}};
  EXPECT_EQ(table.pointers, pointers);
  EXPECT_THAT(Contents(one.buffers[1].fill), ElementsAre(1, 2, 3, 4));
  // The program's addresses are not kept, and what is none is said.
  const auto bytes = blobs_.Get(table.fill->path.substr(blobs::kBlobScheme.size()));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->substr(0, 32), std::string(32, '\0'));
  EXPECT_THAT(captured->notes,
              ElementsAre(HasSubstr("argument 1 leads to 1 words that are no addresses")));
  // What the launch left behind the table is there, too.
  records::Fill after;
  after.kind = "file";
  after.path = "blob:" + captured->after.at(one.name).at(one.buffers[2].name);
  EXPECT_THAT(Contents(after), ElementsAre(0, 41, 0, 0));
  const auto again = ParseCaptured(ToJson(*captured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cases, captured->cases);
  // Fitted, memory is known by what leads there.
  ASSERT_TRUE(MakeSynthetic(*captured, blobs_));
  EXPECT_EQ(captured->cases[0].buffers[0].fill->kind, "constant");
  EXPECT_EQ(captured->cases[0].buffers[0].pointers, pointers);
  EXPECT_EQ(captured->cases[0].buffers[1].fill->kind, "sorted");
}

TEST_F(CapturedTablesTest, AreNotFollowedUndeclared) {
  kernel_.parameters[0].table = false;
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kTable, kOut, 4); });
  const auto captured = Cases();
  ASSERT_FALSE(captured);
  EXPECT_THAT(captured.error().message,
              HasSubstr("argument 1 leads to pointers in memory, which its tag does not declare"));
}

TEST_F(CapturedCasesTest, StructuresWithPointersInThemAreSaidByArgument) {
  kernel_.parameters[0].element_has_pointers = true;
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kIn, kOut, 4); });
  const auto captured = Cases();
  ASSERT_FALSE(captured);
  EXPECT_THAT(captured.error().message, HasSubstr("argument 1 leads to pointers in memory"));
}

TEST_F(CapturedCasesTest, ALaunchBecomesACaseWithItsDataAndWhatItLeft) {
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kIn, kOut, 4); });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->kernel, "app::blur");
  EXPECT_THAT(captured->parameters, ElementsAre("const float *", "float *", "int"));
  ASSERT_EQ(captured->cases.size(), 1u);
  const records::Case& one = captured->cases[0];
  EXPECT_THAT(one.grid, ElementsAre("4", "1", "1"));
  EXPECT_THAT(one.block, ElementsAre("32", "1", "1"));
  EXPECT_EQ(one.weight, 10);
  ASSERT_EQ(one.arguments.size(), 3u);
  EXPECT_EQ(one.arguments[0].count, "4");
  EXPECT_EQ(one.arguments[0].access, records::Access::kIn);
  EXPECT_THAT(Contents(one.arguments[0].fill), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(one.arguments[1].access, records::Access::kInOut);
  EXPECT_THAT(Contents(one.arguments[1].fill), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(one.arguments[2].value, "4");
  records::Fill after;
  after.kind = "file";
  after.path = "blob:" + captured->after.at(one.name).at("out");
  EXPECT_THAT(Contents(after), ElementsAre(0, 41, 0, 0));
  // It is a workload as people write them, and comes back from the store as it was.
  const auto again = ParseCaptured(ToJson(*captured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cases, captured->cases);
  EXPECT_EQ(again->after, captured->after);
  EXPECT_EQ(BlobsOf(*again).size(), 3u);
}

TEST_F(CapturedCasesTest, GeometriesAreNamedByTheirScalarsAndWeighTheirTime) {
  Record([&](capture::Recorder& recorder) {
    for (int i = 0; i < 10; ++i) LaunchOnce(recorder, kIn, kOut, 4, 1);
    LaunchOnce(recorder, kIn, kOut, 2, 90);
  });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(captured->launches.size(), 2u);
  EXPECT_EQ(captured->launches[0].name, "n=2");
  EXPECT_EQ(captured->launches[1].name, "n=4");
  EXPECT_EQ(captured->launches[1].calls, 10);
  EXPECT_EQ(captured->Microseconds(), 100);
  // Of the ten, the first and one more were recorded: they share the weight.
  EXPECT_THAT(captured->launches[1].cases, ElementsAre("n=4", "n=4 #2"));
  double weight = 0;
  for (const records::Case& one : captured->cases) weight += one.weight;
  EXPECT_DOUBLE_EQ(weight, 100);
}

TEST_F(CapturedCasesTest, FewCasesAreOfTheHeaviestGeometries) {
  Record([&](capture::Recorder& recorder) {
    for (int n = 1; n <= 4; ++n) LaunchOnce(recorder, kIn, kOut, n, n);
  });
  const auto captured = Cases(2);
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(captured->cases.size(), 2u);
  EXPECT_EQ(captured->cases[0].name, "n=4");
  EXPECT_EQ(captured->cases[1].name, "n=3");
  EXPECT_EQ(captured->launches.size(), 4u);
}

TEST_F(CapturedCasesTest, PointersIntoOneAllocationShareABuffer) {
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kOut + 8, kOut, 2); });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  const records::Case& one = captured->cases.at(0);
  ASSERT_EQ(one.buffers.size(), 1u);
  EXPECT_EQ(one.buffers[0].bytes, "16");
  EXPECT_EQ(one.arguments[0].buffer, one.buffers[0].name);
  EXPECT_EQ(one.arguments[0].offset, "8");
  EXPECT_EQ(one.arguments[1].offset, "0");
  EXPECT_EQ(captured->after.at(one.name).count(one.buffers[0].name), 1u);
}

TEST_F(CapturedCasesTest, WhatMayBeWrittenCountsAsWrittenThoughItStayedAsItWas) {
  Record([&](capture::Recorder& recorder) {
    program_.Launch(recorder, kernel_, kIn, kOut, 4, 1, [] {});
  });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->cases.at(0).arguments[0].access, records::Access::kIn);
  EXPECT_EQ(captured->cases.at(0).arguments[1].access, records::Access::kInOut);
}

TEST_F(CapturedCasesTest, NullStaysNullAndAStructureKeepsItsPointers) {
  kernel_.parameters[0] =
      test::MakeParameter("view", "app::View", records::ParameterKind::kOther, 16);
  struct {
    std::uint64_t data;
    std::uint32_t width, height;
  } view{kIn + 4, 3, 1};
  static_assert(sizeof view == 16);
  Record([&](capture::Recorder& recorder) {
    const auto* known = recorder.Find(kernel_.signature, "", {16, 8, 4});
    std::uint64_t null = 0;
    int n = 1;
    void* arguments[] = {&view, &null, &n};
    capture::Launch launch;
    launch.grid = launch.block = {1, 1, 1};
    launch.arguments = arguments;
    recorder.After(recorder.Before(*known, recorder.Count(*known, launch), launch));
  });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  const records::Argument& structure = captured->cases.at(0).arguments.at(0);
  ASSERT_EQ(structure.pointers.size(), 1u);
  EXPECT_EQ(structure.pointers[0].at, 0);
  EXPECT_EQ(structure.pointers[0].offset, 4);
  EXPECT_EQ(structure.bytes, "AAAAAAAAAAADAAAAAQAAAA==");  // without the program's address
  EXPECT_TRUE(captured->cases[0].arguments[1].null);
}

TEST_F(CapturedCasesTest, AnyFloatingScalarComesBackAsItWas) {
  kernel_.parameters[2] = test::MakeParameter("e", "float", records::ParameterKind::kFloating, 4);
  for (const float value : {1e-5f, 0.1f, 1e10f, -3.25f, 1e-40f, 3.4e38f, 16777217.0f, 0.0f}) {
    SCOPED_TRACE(value);
    std::filesystem::remove(program_.file());
    Record([&](capture::Recorder& recorder) {
      const auto* known = recorder.Find(kernel_.signature, "", {8, 8, 4});
      std::uint64_t in = kIn, out = kOut;
      float scalar = value;
      void* arguments[] = {&in, &out, &scalar};
      capture::Launch launch;
      launch.grid = launch.block = {1, 1, 1};
      launch.arguments = arguments;
      recorder.After(recorder.Before(*known, recorder.Count(*known, launch), launch));
    });
    const auto captured = Cases();
    ASSERT_TRUE(captured) << captured.error().message;
    const auto again = ParseCaptured(ToJson(*captured));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(static_cast<float>(std::stod(again->cases.at(0).arguments.at(2).value)), value);
  }
}

TEST_F(CapturedCasesTest, GlobalsThatTheKernelReadsAreRecorded) {
  records::ClosureGlobal scale;
  scale.symbol = "scale";
  scale.space = "constant";
  scale.element = "float";
  scale.element_bytes = 4;
  scale.count = 2;
  kernel_.globals = {scale};
  program_.Allocate(CapturedProgram::kGlobal, {0.5f, 2});
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kIn, kOut, 4); });
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  const records::Case& one = captured->cases.at(0);
  ASSERT_EQ(one.globals.size(), 1u);
  EXPECT_EQ(one.globals[0].count, "2");
  EXPECT_THAT(Contents(one.globals[0].fill), ElementsAre(0.5f, 2));
}

TEST_F(CapturedCasesTest, WhatATagSaysOfOrderHolds) {
  Record([&](capture::Recorder& recorder) {
    LaunchOnce(recorder, kIn, kOut, 4);
    LaunchOnce(recorder, kIn, kOut, 3);
  });
  auto captured = Cases();
  ASSERT_TRUE(captured);
  ASSERT_EQ(captured->cases.size(), 2u);
  records::Kernel tagged = kernel_;
  tagged.cases = {captured->cases[0]};
  tagged.cases[0].arguments[1].order_free = true;
  tagged.key = "text";
  captured->replays["text"][captured->cases[0].name] = {.times = 3, .reason = "differs"};
  const auto cases = UsableCases(*captured, tagged);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].name, captured->cases[1].name);
  EXPECT_FALSE(cases[0].arguments[0].order_free);
  EXPECT_TRUE(cases[0].arguments[1].order_free);
}

TEST_F(CapturedCasesTest, WhatWasNotLaunchedOrCannotBeCapturedIsSaid) {
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, 0x123456789000, kOut, 4); });
  const auto captured = Cases();
  ASSERT_FALSE(captured);
  EXPECT_EQ(captured.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(captured.error().message, HasSubstr("argument 1 points to memory"));
  kernel_.signature = "_Zother";
  EXPECT_THAT(Cases().error().message, HasSubstr("app::blur: it was not launched"));
  // A template without an instance has none, and a launch whose name is unknown is not its own.
  kernel_.signature.clear();
  EXPECT_THAT(Cases().error().message,
              HasSubstr("app::blur: it was not launched (its source uses no instance"));
}

TEST_F(CapturedCasesTest, OfAnotherSignatureItIsNotTheKernels) {
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kIn, kOut, 4); });
  const auto captured = Cases();
  ASSERT_TRUE(captured);
  EXPECT_TRUE(IsOf(*captured, kernel_));
  kernel_.parameters[2].canonical = "long";
  EXPECT_FALSE(IsOf(*captured, kernel_));
}

// A target with other macros gives a kernel of one name other parameters.
TEST_F(CapturedCasesTest, OfOneNameWithOtherParametersItIsAnotherKernels) {
  records::Kernel other = kernel_;
  other.signature = "_ZN3app4blurEPKdPdi";
  capture::Plan plan = program_.Plan(kernel_);
  plan.kernels.push_back(PlannedOf(other));
  {
    capture::Recorder recorder(plan, program_, 1);
    recorder.Find(other.signature, "app::blur", {8, 8, 4});
    program_.Launch(recorder, other, kIn, kOut, 2, 1, [] {});
  }
  EXPECT_THAT(Cases().error().message, HasSubstr("app::blur: it was not launched"));
  kernel_ = other;
  const auto captured = Cases();
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->cases.size(), 1u);
}

// Structures and arrays keep their names when they grow.
TEST_F(CapturedCasesTest, OfOtherSizesItIsNotTheKernels) {
  records::ClosureGlobal scale;
  scale.symbol = "scale";
  scale.space = "constant";
  scale.element = "float";
  scale.element_bytes = 4;
  scale.count = 2;
  kernel_.globals = {scale};
  program_.Allocate(CapturedProgram::kGlobal, {0.5f, 2});
  Record([&](capture::Recorder& recorder) { LaunchOnce(recorder, kIn, kOut, 4); });
  const auto made = Cases();
  ASSERT_TRUE(made);
  const auto captured = ParseCaptured(ToJson(*made));
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->sizes, SizesOf(kernel_));
  EXPECT_TRUE(IsOf(*captured, kernel_));
  records::Kernel other = kernel_;
  other.parameters[0].element_bytes = 8;
  EXPECT_FALSE(IsOf(*captured, other)) << "what an array holds";
  other = kernel_;
  other.parameters[2].bytes = 8;
  EXPECT_FALSE(IsOf(*captured, other)) << "a structure by value";
  other = kernel_;
  other.globals[0].count = 3;
  EXPECT_FALSE(IsOf(*captured, other)) << "an array that is read";
  other.globals.clear();
  EXPECT_FALSE(IsOf(*captured, other)) << "one that is read no more";
  // Of a record without sizes, as older ones, the cases tell some of it.
  Captured older = *captured;
  older.sizes.reset();
  EXPECT_TRUE(IsOf(older, kernel_));
  EXPECT_FALSE(IsOf(older, other));
  older.cases[0].globals.clear();
  EXPECT_TRUE(IsOf(older, other));
  older.cases[0].arguments[2].bytes = "AAAAAAAAAAA=";  // eight
  EXPECT_FALSE(IsOf(older, other));
}

TEST_F(CapturedCasesTest, ReplaysAreOfOneTextOfTheKernel) {
  Captured captured;
  captured.replays["before"]["seen"] = {.times = 1, .reason = "run 2 differs"};
  captured.replays["after"]["seen"] = {.times = 100, .wanted = 100, .seconds = 10};
  captured.replays["after"]["slow"] = {.times = 7, .wanted = 100, .seconds = 10};
  captured.kernel = "k";
  captured.file = "/p/k.cu";
  const auto again = ParseCaptured(ToJson(captured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->WhyUnused("before", "seen"), "run 2 differs");
  EXPECT_EQ(again->WhyUnused("after", "seen"), "");
  EXPECT_EQ(again->FindReplay("before", "slow"), nullptr);
  EXPECT_FALSE(again->FindReplay("after", "seen")->cut_short());
  EXPECT_TRUE(again->FindReplay("after", "slow")->cut_short());
  EXPECT_EQ(ReplayText(*again->FindReplay("after", "seen")),
            "the same bits as in the program, 100 equal runs");
  EXPECT_EQ(ReplayText(*again->FindReplay("after", "slow")),
            "the same bits as in the program, replayed 7 times within 10 s, equal");
  // Who asks for no text gets what says least.
  EXPECT_EQ(again->WeakestReplays().at("seen").reason, "run 2 differs");
}

}  // namespace
}  // namespace cupilot::workloads
