// What is kept where the program's data must not be.
#include "workloads/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/base64.h"
#include "tests/daemon/workloads/captured_program.h"
#include "tests/support/make_records.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::workloads {
namespace {

using records::ParameterKind;
using ::testing::HasSubstr;
using ::testing::Not;

struct View {
  std::uint64_t data = 0;
  std::int32_t width = 1920;
  float scale = 0.73521f;
  char title[8] = "private";
  std::int64_t stride = -4096;
  double secret = 31.41592;  // of no known layout
};

// app::blur(app::View view, const float *in)
records::Kernel KernelOfView() {
  records::Kernel kernel;
  kernel.name = "app::blur";
  kernel.parameters = {
      test::MakeParameter("view", "app::View", ParameterKind::kOther, sizeof(View)),
      test::MakeParameter("in", "const float *", ParameterKind::kPointer, 8)};
  kernel.parameters[0].members = {
      {"width", "int", ParameterKind::kInteger, offsetof(View, width), 4, true},
      {"scale", "float", ParameterKind::kFloating, offsetof(View, scale), 4, false},
      {"title[0]", "char", ParameterKind::kInteger, offsetof(View, title), 1, true},
      {"stride", "long", ParameterKind::kInteger, offsetof(View, stride), 8, true},
      // As a record that somebody changed may say.
      {"beyond", "long", ParameterKind::kInteger, sizeof(View) - 4, 8, true}};
  kernel.parameters[1].element = "float";
  kernel.parameters[1].element_bytes = 4;
  kernel.parameters[1].element_const = true;
  return kernel;
}

records::Fill FileFill(const std::string& path) {
  records::Fill fill;
  fill.kind = "file";
  fill.path = path;
  return fill;
}

class SyntheticTest : public ::testing::Test {
 protected:
  SyntheticTest() : blobs_(folder_ / "blobs"), kernel_(KernelOfView()) {
    const View view;
    records::Argument structure;
    structure.name = "view";
    structure.type = "app::View";
    structure.bytes = base::EncodeBase64({reinterpret_cast<const char*>(&view), sizeof view});
    structure.pointers = {{0, "memory1", 16}};
    records::Argument in;
    in.name = "in";
    in.type = "const float *";
    in.count = "4";
    in.fill = Stored({3, -1, 2, 7});
    case_.name = "only";
    case_.grid = case_.block = {"1", "1", "1"};
    case_.arguments = {structure, in};
    case_.buffers = {{"memory1", "16", Stored({1, 2, 3, 5})},
                     {"memory2", "16", Stored({0, 0, 9, 9}), {{0, "memory1", 0}}}};
    records::Global global;
    global.symbol = "app::scale";
    global.space = "constant";
    global.type = "float";
    global.count = "4";
    global.fill = Stored({4, 4, 4, 4});
    case_.globals = {global};
  }

  records::Fill Stored(const std::vector<float>& values) {
    const auto hash =
        blobs_.Put({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    return FileFill("blob:" + hash.value());
  }
  View Structure() const {
    const auto bytes = base::DecodeBase64(case_.arguments[0].bytes);
    View view;
    EXPECT_EQ(bytes->size(), sizeof view);
    std::memcpy(&view, bytes->data(), sizeof view);
    return view;
  }
  std::string Text() const {
    records::Workload workload;
    workload.kernel = kernel_.name;
    workload.cases = {case_};
    return records::CompactJson(records::ToJson(workload));
  }

  test::TemporaryFolder folder_;
  blobs::BlobStore blobs_;
  records::Kernel kernel_;
  records::Case case_;
};

TEST_F(SyntheticTest, OfAStructureItsShapeStaysAndItsDataGoes) {
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  const View view = Structure();
  EXPECT_EQ(view.width, 1920);
  EXPECT_EQ(view.stride, -4096);
  EXPECT_EQ(view.scale, 0.7f);
  EXPECT_EQ(std::string(view.title, 8), std::string(8, '\0'));
  EXPECT_EQ(view.secret, 0);
  const std::vector<records::PointerInBytes> pointers = {{0, "memory1", 16}};
  EXPECT_EQ(case_.arguments[0].pointers, pointers);
}

TEST_F(SyntheticTest, OfAStructureWithoutAKnownLayoutNothingButItsSizeStays) {
  kernel_.parameters[0].members.clear();
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  const auto bytes = base::DecodeBase64(case_.arguments[0].bytes);
  EXPECT_EQ(*bytes, std::vector<std::byte>(sizeof(View)));
}

TEST_F(SyntheticTest, OfALambdaItsIntegersStay) {
  kernel_.parameters[0].members.clear();
  records::MadeType made;
  made.name = "app::View";
  made.integers = {{"width", offsetof(View, width), 4, true}};
  kernel_.made_types = {made};
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  EXPECT_EQ(Structure().width, 1920);
  EXPECT_EQ(Structure().stride, 0);
}

TEST_F(SyntheticTest, ANumberOfHalfPrecisionIsRounded) {
  const std::uint16_t pi = 0x4248;  // 3.140625
  kernel_.parameters[0] = test::MakeParameter("h", "__half", ParameterKind::kOther, 2);
  case_.arguments[0].bytes = base::EncodeBase64({reinterpret_cast<const char*>(&pi), 2});
  case_.arguments[0].pointers.clear();
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  const std::vector<std::byte> three = {std::byte{0x00}, std::byte{0x42}};
  EXPECT_EQ(*base::DecodeBase64(case_.arguments[0].bytes), three);
}

TEST_F(SyntheticTest, ACaseNamesNoCapturedContentsAnyMore) {
  ASSERT_THAT(Text(), HasSubstr("blob:"));
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  EXPECT_THAT(Text(), Not(HasSubstr("blob:")));
  EXPECT_EQ(case_.arguments[1].count, "4");
  EXPECT_EQ(case_.buffers[0].bytes, "16");
  EXPECT_EQ(case_.buffers[1].fill->kind, "constant");
  EXPECT_EQ(case_.buffers[1].pointers.size(), 1u);
  EXPECT_EQ(case_.globals[0].fill->value, "4");
}

TEST_F(SyntheticTest, ContentsThatAreGoneAreZerosForWhoNeedsShapesAlone) {
  case_.arguments[1].fill = FileFill("blob:" + std::string(40, 'a'));
  records::Case shapes = case_;
  EXPECT_EQ(MakeSynthetic(case_, kernel_, blobs_).error().code, base::ErrorCode::kNotFound);
  ASSERT_TRUE(MakeSynthetic(shapes, kernel_, blobs_, Lost::kZeros));
  EXPECT_EQ(shapes.arguments[1].fill->kind, "constant");
  EXPECT_EQ(shapes.arguments[1].fill->value, "0");
  EXPECT_EQ(shapes.arguments[1].count, "4");
}

TEST_F(SyntheticTest, WhatIsNoCapturedContentsStaysAsItIs) {
  case_.arguments[1].fill = FileFill("own.bin");
  ASSERT_TRUE(MakeSynthetic(case_, kernel_, blobs_));
  EXPECT_EQ(case_.arguments[1].fill->path, "own.bin");
}

TEST_F(SyntheticTest, ARecordKnowsItsStructuresWithoutTheKernel) {
  Captured captured;
  captured.kernel = kernel_.name;
  captured.file = "/p/blur.cu";
  captured.parameters = {"app::View", "const float *"};
  captured.members = MembersOf(kernel_);
  captured.cases = {case_};
  auto again = ParseCaptured(ToJson(captured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->members, captured.members);
  ASSERT_TRUE(MakeSynthetic(*again, blobs_));
  case_ = again->cases[0];
  EXPECT_EQ(Structure().width, 1920);
  EXPECT_EQ(Structure().secret, 0);
  EXPECT_TRUE(BlobsOf(*again).empty());
}

TEST(SyntheticRecord, HoldsNothingOfTheDataButWhatItIsLike) {
  test::TemporaryFolder folder;
  blobs::BlobStore blobs(folder / "blobs");
  CapturedProgram program;
  std::vector<float> sparse(64, 0.0f);
  sparse[7] = 42.5f;
  sparse[9] = -3;
  program.Allocate(0x700000000, sparse);
  program.Allocate(0x700010000, {0, 0, 0, 0});
  const records::Kernel kernel = CapturedProgram::Kernel();
  {
    capture::Recorder recorder(program.Plan(kernel), program, 0);
    program.Launch(recorder, kernel, 0x700000000, 0x700010000, 64, 1,
                   [&] { program.Set(0x700010000, 0, 5); });
  }
  std::vector<Recording> recordings;
  recordings.push_back(*Recording::Read(program.file()));
  auto captured = CasesOf(recordings, kernel, {}, blobs);
  ASSERT_TRUE(captured);
  EXPECT_TRUE(captured->fits.empty());
  CaptureChoice choice;
  choice.fits = true;
  auto kept = *CasesOf(recordings, kernel, choice, blobs);
  ASSERT_TRUE(MakeSynthetic(*captured, blobs));
  EXPECT_TRUE(captured->synthetic);
  EXPECT_TRUE(BlobsOf(*captured).empty());
  const records::Case& one = captured->cases[0];
  EXPECT_GT(one.arguments[0].fill->zeros, 0.9);
  EXPECT_EQ(one.arguments[1].fill->kind, "constant");
  EXPECT_TRUE(captured->notes.empty());
  EXPECT_TRUE(captured->after.empty());
  const Distribution in = captured->distributions.at(one.name).at("in");
  EXPECT_EQ(in.kind, one.arguments[0].fill->kind);
  EXPECT_NEAR(in.zeros, 62.0 / 64, 1e-9);
  EXPECT_EQ(in.low, "-3");
  EXPECT_EQ(in.high, "42.5");
  EXPECT_NEAR(in.mean, 39.5 / 64, 1e-9);
  const auto again = ParseCaptured(ToJson(*captured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->distributions, captured->distributions);
  EXPECT_EQ(again->cases, captured->cases);

  // What fits was found before the contents went; then nobody reads them.
  EXPECT_FALSE(BlobsOf(kept).empty());
  auto later = ParseCaptured(ToJson(kept));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->fits, kept.fits);
  const blobs::BlobStore none(folder / "none");
  ASSERT_TRUE(MakeSynthetic(*later, none));
  EXPECT_EQ(ToJson(*later), ToJson(*captured));
  // Of other contents it says nothing.
  kept.fits.at(one.name).at("in").contents = "others";
  EXPECT_FALSE(MakeSynthetic(kept, none));
}

TEST(Fitter, ReadsContentsOnceForEachTypeAndSaysWhatCannotBeRead) {
  std::vector<std::string> read;
  Fitter fitter([&read](const std::string& hash) -> base::Result<std::string> {
    read.push_back(hash);
    if (hash == "gone") return base::Fail(base::NotFound("it is gone"));
    return std::string(8, '\1');
  });
  const auto bytes = [](std::int64_t size) {
    EXPECT_EQ(size, 8);
    return device::ElementType{device::Number::kSigned, 1, 1};
  };
  const auto words = [](std::int64_t) {
    return device::ElementType{device::Number::kSigned, 4, 1};
  };
  EXPECT_EQ(fitter.Of("a", bytes)->fill.value, "1");
  EXPECT_EQ(fitter.Of("a", bytes)->fill.value, "1");
  EXPECT_EQ(fitter.Of("a", words)->fill.value, "16843009");
  EXPECT_EQ(fitter.Of("a", words)->fill.value, "16843009");
  EXPECT_EQ(fitter.Of("a", bytes)->fill.value, "1");
  EXPECT_EQ(fitter.Of("gone", bytes).error().code, base::ErrorCode::kNotFound);
  EXPECT_EQ(read, (std::vector<std::string>{"a", "a", "gone"}));

  // A case whose contents cannot be read has no fits, and that is no error.
  records::Case one;
  one.arguments.emplace_back().name = "x";
  one.arguments[0].fill.emplace().kind = "file";
  one.arguments[0].fill->path = "blob:gone";
  Captured captured;
  captured.parameters = {"const char *"};
  EXPECT_TRUE(FindFits(one, captured, fitter).empty());
  one.arguments[0].fill->path = "blob:a";
  one.arguments[0].count = "8";
  EXPECT_EQ(FindFits(one, captured, fitter).at("x").fill.value, "1");
}

}  // namespace
}  // namespace cupilot::workloads
