// What was captured is kept within a limit: which workloads go, and who is told.
#include "tests/daemon/service/captures_fixture.h"
#include "tests/support/fake_capture_runner.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using workloads::Captured;

class CapturesRoomTest : public CapturesTest {
 protected:
  CapturesRoomTest() { settings_.captured_bytes = 4000; }
  ~CapturesRoomTest() override { Stop(); }

  blobs::BlobStore Blobs() const { return blobs::BlobStore(state() + "/blobs"); }
  // The hash of a thousand bytes that do not compress.
  std::string Put(unsigned seed) const {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) {
      seed = seed * 1664525u + 1013904223u;
      bytes += static_cast<char>(seed >> 24);
    }
    return *Blobs().Put(bytes);
  }
  // Whose array holds the first of these, and whose launch left the others.
  Captured WithBlobs(const std::string& name, const std::vector<std::string>& hashes) {
    Captured captured = MakeCaptured(name);
    records::Fill fill;
    fill.kind = "file";
    fill.path = "blob:" + hashes.at(0);
    captured.cases[0].arguments[0].fill = fill;
    for (std::size_t i = 1; i < hashes.size(); ++i) {
      captured.after["seen"]["out" + std::to_string(i)] = hashes[i];
    }
    return captured;
  }
  std::vector<std::string> Kept() const {
    std::vector<std::string> labels;
    for (const Captured* captured : service_->captured().All()) labels.push_back(captured->kernel);
    return labels;
  }
};

TEST_F(CapturesRoomTest, WhatIsTooLargeAloneIsNotKeptAndIsSaidToBeSo) {
  settings_.captured_bytes = 1500;
  Prepare("kernel one a workload=none\nkernel two b\n");
  Start();
  Drain();
  Add({WithBlobs("two", {Put(1)})});
  Captured large = WithBlobs("two", {Put(2), Put(3)});
  large.kernel = "one";
  Add({large});
  Drain();
  EXPECT_THAT(Kept(), ElementsAre("two")) << "it costs the others nothing";
  EXPECT_EQ(Blobs().List().size(), 1u);
  EXPECT_THAT(reply_["kernels"], IsEmpty());
  ASSERT_EQ(reply_["not_kept"].size(), 1u);
  EXPECT_EQ(reply_["not_kept"][0]["kernel"], "one");
  EXPECT_THAT(reply_["not_kept"][0]["reason"].get<std::string>(),
              HasSubstr("captured_gigabytes of the settings allows"));
  // Clients print the problems.
  ASSERT_EQ(reply_["problems"].size(), 1u);
  EXPECT_THAT(reply_["problems"][0].get<std::string>(),
              HasSubstr("the captured workload of one was not kept: it needs"));
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("was not kept: it needs"));
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("was not kept: it needs"));
  const auto shown = WorkloadDocument(*service_, Here({{"kernel", "one"}}));
  EXPECT_THAT(shown.error().message, HasSubstr("was not kept"));
  // Also after a restart, until somebody forgets it.
  Restart();
  Drain();
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("was not kept: it needs"));
  EXPECT_TRUE(DropWorkload(*service_, Here({{"kernel", "one"}})));
  Drain();
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("run `cupilot capture"));
}

TEST_F(CapturesRoomTest, ALargerOneLeavesWhatWasThereInItsPlace) {
  settings_.captured_bytes = 1500;
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({WithBlobs("one", {Put(1)})});
  Add({WithBlobs("one", {Put(2), Put(3)})});
  Drain();
  EXPECT_THAT(Kept(), ElementsAre("one"));
  ASSERT_EQ(Blobs().List().size(), 1u);
  EXPECT_EQ(Blobs().List()[0].hash, Put(1));
  EXPECT_THAT(reply_["problems"].dump(), HasSubstr("what was captured of it before stays"));
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
}

// Else its kernel asks for contents that are gone, until somebody reads the source again.
TEST_F(CapturesRoomTest, AKernelWhoseCaptureWentIsTunedOnItNoMoreAndItIsSaid) {
  settings_.captured_bytes = 2500;
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  Add({WithBlobs("one", {Put(1), Put(2)})});
  Drain();
  ASSERT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "seen");
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("two", {Put(3), Put(4)})});
  EXPECT_EQ(reply_["dropped"][0]["kernel"], "one");
  EXPECT_THAT(reply_["problems"].dump(),
              HasSubstr("the captured workload of one was dropped to make room"));
  Drain();
  EXPECT_THAT(Kept(), ElementsAre("two"));
  // With all of its contents.
  EXPECT_EQ(Blobs().List().size(), 2u);
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("was dropped to make room"));
  EXPECT_THAT(StatusDocument(*service_)["projects"].dump(), HasSubstr("was dropped to make room"));
  // Until it is captured again.
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("one", {Put(5)})});
  Drain();
  EXPECT_EQ(Explain("one")["warnings"].dump().find("to make room"), std::string::npos);
}

TEST_F(CapturesRoomTest, ContentsThatOthersNameStay) {
  settings_.captured_bytes = 2500;
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  Add({WithBlobs("one", {Put(1), Put(2)})});
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("two", {Put(2)})});
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("three", {Put(3)})});
  Drain();
  EXPECT_THAT(Kept(), UnorderedElementsAre("two", "three"));
  std::vector<std::string> stored;
  for (const blobs::BlobFile& file : Blobs().List()) stored.push_back(file.hash);
  EXPECT_THAT(stored, UnorderedElementsAre(Put(2), Put(3)));
}

// One that is tuned on, or replayed, is used.
TEST_F(CapturesRoomTest, WhatWasUsedLongestAgoGoesFirst) {
  settings_.captured_bytes = 2500;
  settings_.seconds_per_kernel = 0;
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  Add({WithBlobs("one", {Put(1)})});
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("two", {Put(2)})});
  Drain();
  clock_.Advance(std::chrono::hours(1));
  // As each verdict on it and each replay note it.
  service_->captured().NoteUse(
      *FindKernel(*service_, "one", "")->kernel,
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.WallTime()).count());
  clock_.Advance(std::chrono::hours(1));
  Restart();
  Drain();
  Add({WithBlobs("three", {Put(3)})});
  Drain();
  EXPECT_THAT(Kept(), UnorderedElementsAre("one", "three"));
}

TEST_F(CapturesRoomTest, AKernelThatIsTunedUsesWhatWasCaptured) {
  settings_.seconds_per_kernel = 2 * 3600;
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({WithBlobs("one", {Put(1)})});
  const std::int64_t captured = service_->captured().All().at(0)->used;
  EXPECT_GT(captured, 0);
  clock_.Advance(std::chrono::hours(1));
  Drain();
  ASSERT_EQ(tuned_on_.back(), "one: seen;");
  EXPECT_EQ(service_->captured().All().at(0)->used, captured + 3600 * 1000);
}

// All of one run are of one moment.
TEST_F(CapturesRoomTest, OfEqualAgeWhatCostsItsProgramLeastGoes) {
  settings_.captured_bytes = 2500;
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  std::vector<Captured> all = {WithBlobs("one", {Put(1)}), WithBlobs("two", {Put(2)}),
                               WithBlobs("three", {Put(3)})};
  all[0].launches[0].microseconds = 900;
  all[1].launches[0].microseconds = 10;
  all[2].launches[0].microseconds = 500;
  Add(all);
  Drain();
  EXPECT_THAT(Kept(), UnorderedElementsAre("one", "three"));
  EXPECT_EQ(reply_["not_kept"][0]["kernel"], "two");
  EXPECT_THAT(reply_["kernels"], ElementsAre("one", "three"));
}

TEST_F(CapturesRoomTest, WhatLostItsContentsOnTheWayIsNotKept) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({WithBlobs("one", {std::string(40, 'a')})});
  Drain();
  EXPECT_THAT(Kept(), IsEmpty());
  EXPECT_THAT(reply_["problems"].dump(), HasSubstr("its contents went meanwhile"));
}

// The test that showed it shows it again, but two that have no room beside each other do not take
// turns for ever.
TEST_F(CapturesRoomTest, ATestShowsAgainWhatWentButNotForEver) {
  settings_.captured_bytes = 1500;
  test::FakeCaptureRunner runner;
  captures_ = &runner;
  Prepare("kernel one a workload=none\nkernel two b\n", {{"capture_test", "run"}});
  Start();
  Drain();
  ASSERT_EQ(runner.runs().size(), 1u);
  const auto show = [&](unsigned seed) {
    Captured captured = WithBlobs("two", {Put(seed)});
    captured.kernel = "one";
    Add({captured});
  };
  show(1);
  runner.End("");
  Drain();
  ASSERT_EQ(FindKernel(*service_, "one", "")->kernel->cases.size(), 1u);
  for (std::size_t runs = 2; runs <= static_cast<std::size_t>(kMostBegun); ++runs) {
    clock_.Advance(std::chrono::hours(1));
    Add({WithBlobs("two", {Put(100 + static_cast<unsigned>(runs))})});
    Drain();
    ASSERT_EQ(runner.runs().size(), runs);
    clock_.Advance(std::chrono::hours(1));
    show(static_cast<unsigned>(runs));
    runner.End("");
    Drain();
    EXPECT_THAT(Kept(), ElementsAre("one"));
  }
  clock_.Advance(std::chrono::hours(1));
  Add({WithBlobs("two", {Put(200)})});
  Drain();
  EXPECT_EQ(runner.runs().size(), static_cast<std::size_t>(kMostBegun));
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("was dropped to make room"));
  EXPECT_THAT(Row("one")["why"].get<std::string>(),
              HasSubstr("what the capture test 'run' showed of it is not kept"));
  Stop();
  captures_ = nullptr;
}

}  // namespace
}  // namespace cupilot::service
