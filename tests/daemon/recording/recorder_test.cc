// The recorder over memory of the test's own.
#include "recording/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "tests/support/recording_chunks.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::capture {
namespace {

using test::ReadRecording;
using test::RecordedLaunch;
using test::RecordingChunks;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint64_t AddressOf(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

class FakeMemory : public Memory {
 public:
  template <class Values>
  void Add(Values& values) {
    const std::uint64_t address = AddressOf(values.data());
    regions_[address] = {address, values.size() * sizeof values[0], RegionKind::kManaged};
  }
  template <class Value>
  void AddGlobal(const std::string& symbol, Value& value) {
    globals_[symbol] = {AddressOf(&value), sizeof value, RegionKind::kDevice};
  }
  bool Find(std::uint64_t address, Region& region) override {
    const auto behind = regions_.upper_bound(address);
    if (behind == regions_.begin()) return false;
    region = std::prev(behind)->second;
    return address < region.address + region.bytes;
  }
  bool FindGlobal(const void*, const PlannedGlobal& global, Region& region) override {
    const auto at = globals_.find(global.symbol);
    if (at != globals_.end()) region = at->second;
    return at != globals_.end();
  }
  bool Read(std::uint64_t address, void* to, std::size_t bytes) override {
    EXPECT_TRUE(held);
    most_read = std::max(most_read, bytes);
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return can_read;
  }
  bool Hold() override {
    ++holds;
    if (const auto other = std::exchange(on_hold, nullptr)) other();
    return held = can_hold;
  }
  void Release() override {
    EXPECT_TRUE(held);
    held = false;
  }

  bool can_read = true;
  bool can_hold = true;
  bool held = false;
  int holds = 0;
  std::function<void()> on_hold;  // what other threads do while one waits; once
  std::size_t most_read = 0;

 private:
  std::map<std::uint64_t, Region> regions_;
  std::map<std::string, Region> globals_;
};

PlannedKernel KernelOf(std::vector<PlannedParameter> parameters) {
  return {"_Z1k", "k", std::move(parameters), {}};
}

class RecorderTest : public ::testing::Test {
 protected:
  Recorder& Start(std::vector<PlannedKernel> kernels) {
    plan_.folder = folder_.path();
    plan_.kernels = std::move(kernels);
    recorder_ = std::make_unique<Recorder>(plan_, memory_, 0);
    return *recorder_;
  }
  // One launch of the kernel; `run` is what it does.
  template <class Run>
  void Launch(const Recorder::Kernel& kernel, std::vector<void*> arguments, Run run,
              unsigned int blocks = 1) {
    capture::Launch launch;
    launch.grid = {blocks, 1, 1};
    launch.block = {32, 1, 1};
    launch.arguments = arguments.data();
    const std::uint32_t counter = recorder_->Count(kernel, launch);
    Recorder::Begun recording = recorder_->Before(kernel, counter, launch);
    run();
    if (recording != nullptr) recorder_->After(std::move(recording));
    recorder_->AddTime(counter, 2.5);
  }
  RecordingChunks Finish() {
    recorder_.reset();
    EXPECT_FALSE(memory_.held);
    const auto files = test::RecordingsIn(folder_.path());
    EXPECT_EQ(files.size(), 1u);
    return ReadRecording(files.at(0));
  }

  test::TemporaryFolder folder_;
  Plan plan_;
  FakeMemory memory_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<int> data_ = {1, 2, 3, 4};
  int* pointer_ = data_.data();
};

constexpr auto kPointer = ParameterKind::kPointer;
constexpr auto kScalar = ParameterKind::kScalar;

TEST_F(RecorderTest, BytesBeforeAndAfterOfWhatAPointerPointsInto) {
  memory_.Add(data_);
  Recorder& recorder = Start({KernelOf({{kPointer, 8}, {kScalar, 4}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8, 4});
  int* into = pointer_ + 1;
  int n = 7;
  Launch(*kernel, {&into, &n}, [&] { data_[3] = 40; }, 3);
  const RecordingChunks read = Finish();
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(read.seen, 1u);
  const auto launches = read.LaunchesOf("k");
  ASSERT_EQ(launches.size(), 1u);
  const RecordedLaunch& launch = launches[0];
  EXPECT_EQ(launch.index, 0u);
  ASSERT_EQ(launch.regions.size(), 1u);
  EXPECT_EQ(launch.regions[0].bytes, 16u);
  EXPECT_EQ(launch.regions[0].kind, RegionKind::kManaged);
  const int before[] = {1, 2, 3, 4};
  EXPECT_EQ(read.blobs.at(launch.regions[0].before),
            std::string(reinterpret_cast<const char*>(before), 16));
  EXPECT_EQ(read.blobs.at(launch.regions[0].after),
            std::string(reinterpret_cast<const char*>(data_.data()), 16));
  ASSERT_EQ(launch.pointers.size(), 1u);
  EXPECT_EQ(launch.pointers[0].offset, 4u);
  EXPECT_EQ(launch.arguments[1], std::string(reinterpret_cast<const char*>(&n), 4));
  const test::RecordedCounter& counter = read.counters.at(0);
  EXPECT_EQ(counter.grid[0], 3u);
  EXPECT_EQ(counter.calls, 1u);
  EXPECT_EQ(counter.timed, 1u);
  EXPECT_EQ(counter.microseconds, 2.5);
  EXPECT_EQ(counter.scalars, std::string(8, '\0') + launch.arguments[1]);
}

TEST_F(RecorderTest, TheFirstLaunchAndASampleOfTheOthers) {
  memory_.Add(data_);
  plan_.launches = 3;
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  for (int i = 0; i < 200; ++i) Launch(*kernel, {&pointer_}, [&] { data_[0] = i; });
  Launch(*kernel, {&pointer_}, [] {}, 2);
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.Counter("k", 1)->calls, 200u);
  EXPECT_EQ(read.Counter("k", 1)->microseconds, 500);
  std::set<std::uint64_t> indices;
  int others = 0;
  for (const RecordedLaunch& launch : read.LaunchesOf("k")) {
    if (read.counters.at(launch.counter).grid[0] == 1) indices.insert(launch.index);
    if (read.counters.at(launch.counter).grid[0] == 2) ++others;
  }
  EXPECT_EQ(indices.size(), 4u);
  EXPECT_EQ(indices.count(0), 1u);
  EXPECT_GT(*indices.rbegin(), 3u);  // seed 1 draws later ones, too
  EXPECT_GT(read.replaced, 0);
  EXPECT_EQ(others, 1);
}

// Two threads may count before either of them is asked for.
TEST_F(RecorderTest, TheFirstOfTwoLaunchesAtOnceIsRecorded) {
  memory_.Add(data_);
  plan_.launches = 0;
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  void* arguments[] = {&pointer_};
  capture::Launch launch;
  launch.arguments = arguments;
  const std::uint32_t counter = recorder.Count(*kernel, launch);
  EXPECT_EQ(recorder.Count(*kernel, launch), counter);
  Recorder::Begun recording = recorder.Before(*kernel, counter, launch);
  ASSERT_NE(recording, nullptr);
  recorder.After(std::move(recording));
  EXPECT_EQ(recorder.Before(*kernel, counter, launch), nullptr);
  EXPECT_EQ(Finish().launches.size(), 1u);
}

// A launch that waits is overtaken by those of other threads, which were drawn in its place.
TEST_F(RecorderTest, OfLaunchesOfSeveralThreadsNoMoreAreKept) {
  memory_.Add(data_);
  plan_.launches = 1;
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  Launch(*kernel, {&pointer_}, [] {});
  memory_.on_hold = [&] {
    for (int i = 0; i < 40; ++i) Launch(*kernel, {&pointer_}, [] {});
  };
  Launch(*kernel, {&pointer_}, [] {});
  std::set<std::uint64_t> indices;
  for (const RecordedLaunch& launch : Finish().LaunchesOf("k")) indices.insert(launch.index);
  ASSERT_EQ(indices.size(), 2u);
  EXPECT_EQ(*indices.begin(), 0u);
  EXPECT_GT(*indices.rbegin(), 1u);
}

TEST_F(RecorderTest, WhatDoesNotFitIsLeftOutAndCounted) {
  std::vector<int> large(10000);
  memory_.Add(large);
  memory_.Add(data_);
  plan_.max_bytes = 20000;
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  int* pointer = large.data();
  Launch(*kernel, {&pointer}, [] {}, 1);
  Launch(*kernel, {&pointer_}, [] {}, 2);
  EXPECT_LE(memory_.most_read, 16u);  // and it is not even read
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.launches.size(), 1u);
  EXPECT_EQ(read.left_out, 1u);
  EXPECT_EQ(read.seen, 2u);
}

TEST_F(RecorderTest, FurtherLaunchesLeaveRoomForWhatComesLater) {
  std::vector<int> large(1000);
  memory_.Add(large);
  memory_.Add(data_);
  plan_.launches = 1;
  plan_.max_bytes = 40000;
  PlannedKernel later = KernelOf({{kPointer, 8}});
  later.signature = "_Z1l";
  later.name = "l";
  Recorder& recorder = Start({KernelOf({{kPointer, 8}}), later});
  int* pointer = large.data();
  for (int i = 0; i < 2000; ++i) {
    Launch(*recorder.Find("_Z1k", "k", {8}), {&pointer}, [&] { large[0] = i; });
  }
  Launch(*recorder.Find("_Z1l", "l", {8}), {&pointer}, [] {});
  Launch(*recorder.Find("_Z1l", "l", {8}), {&pointer}, [] {}, 2);
  pointer = nullptr;
  std::vector<int> huge(10000);
  memory_.Add(huge);
  int* more = huge.data();
  Launch(*recorder.Find("_Z1l", "l", {8}), {&more}, [] {}, 3);
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.LaunchesOf("l").size(), 2u);
  EXPECT_EQ(read.left_out, 1u);
  ASSERT_EQ(read.notes.size(), 1u) << "of the kernel that misses something";
  EXPECT_THAT(read.notes[0].second, HasSubstr("--max-size"));
}

// A step or a seed is another argument in each launch.
TEST_F(RecorderTest, KernelsWithManyArgumentsTakeNoRoomFromPlannedOnes) {
  memory_.Add(data_);
  PlannedKernel stepped = KernelOf({{kScalar, 4}});
  stepped.signature = "_Z1s";
  stepped.name = "s";
  Recorder& recorder = Start({KernelOf({{kPointer, 8}}), stepped});
  const auto count = [&](const Recorder::Kernel& kernel, int launches) {
    capture::Launch launch;
    for (int i = 0; i < launches; ++i) {
      void* arguments[] = {&i};
      launch.arguments = arguments;
      EXPECT_NE(recorder.Count(kernel, launch), kNone);
    }
  };
  count(*recorder.Find("_Z1o", "other", {4}), 40000);
  Launch(*recorder.Find("_Z1k", "k", {8}), {&pointer_}, [] {});
  count(*recorder.Find("_Z1s", "s", {4}), 40000);
  Launch(*recorder.Find("_Z1k", "k", {8}), {&pointer_}, [] {}, 2);
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.seen, 80002u);
  std::uint64_t calls = 0;
  for (const auto& [id, counter] : read.counters) calls += counter.calls;
  EXPECT_EQ(calls, 80002u) << "those of more kinds than are told apart are counted together";
  EXPECT_EQ(read.LaunchesOf("k").size(), 1u) << "the second came when there was no room";
  ASSERT_EQ(read.notes.size(), 2u);
  EXPECT_THAT(read.notes[0].second, HasSubstr("too many different arguments"));
}

TEST_F(RecorderTest, ALaunchThatCouldNotBeHeldIsFollowedByOneThatIsTheFirst) {
  memory_.Add(data_);
  plan_.launches = 0;
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  memory_.can_hold = false;
  Launch(*kernel, {&pointer_}, [] {});
  memory_.can_hold = true;
  Launch(*kernel, {&pointer_}, [] {});
  Launch(*kernel, {&pointer_}, [] {});
  EXPECT_EQ(Finish().LaunchesOf("k").size(), 1u);
}

TEST_F(RecorderTest, ALaunchThatFailedGivesItsRoomBack) {
  std::vector<int> large(1000);
  memory_.Add(large);
  plan_.max_bytes = 13000;  // the bytes, which are in the file, and room for twice as many
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  int* pointer = large.data();
  void* arguments[] = {&pointer};
  capture::Launch launch;
  launch.arguments = arguments;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t counter = recorder.Count(*kernel, launch);
    Recorder::Begun recording = recorder.Before(*kernel, counter, launch);
    ASSERT_NE(recording, nullptr) << i;
    recorder.Drop(std::move(recording));
  }
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.launches.size(), 0u);
  EXPECT_EQ(read.counters.at(0).calls, 3u);
}

TEST_F(RecorderTest, SaysWhyLaunchesAreNotRecorded) {
  memory_.Add(data_);
  PlannedKernel global = KernelOf({});
  global.signature = "_Z1g";
  global.globals = {{"missing", true, 4}};
  PlannedKernel foreign = KernelOf({{kPointer, 8}});
  foreign.signature = "_Z1f";
  PlannedKernel changed = KernelOf({{kPointer, 8}});
  changed.signature = "_Z1c";
  Recorder& recorder =
      Start({KernelOf({{kPointer, 8}, {ParameterKind::kHidden, 8}}), global, foreign, changed});
  int mine = 0;
  int* other = &mine;
  const auto* hidden = recorder.Find("_Z1k", "", {8, 8});
  for (int i = 0; i < 2; ++i) Launch(*hidden, {&pointer_, &pointer_}, [] {});
  EXPECT_EQ(memory_.holds, 0);
  Launch(*recorder.Find("_Z1g", "", {}), {}, [] {});
  Launch(*recorder.Find("_Z1f", "", {8}), {&other}, [] {});
  Launch(*recorder.Find("_Z1c", "", {4}), {&mine}, [] {});
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.launches.size(), 0u);
  EXPECT_EQ(read.counters.size(), 4u);
  ASSERT_EQ(read.notes.size(), 4u);
  EXPECT_THAT(read.notes[0].second, HasSubstr("argument 2 leads to pointers"));
  EXPECT_THAT(read.notes[1].second, HasSubstr("variable missing"));
  EXPECT_THAT(read.notes[2].second, HasSubstr("argument 1 points to memory"));
  EXPECT_THAT(read.notes[3].second, HasSubstr("not those that its tag"));
}

TEST_F(RecorderTest, WhatCannotBeHeldOrReadIsNoted) {
  memory_.Add(data_);
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  memory_.can_hold = false;
  Launch(*kernel, {&pointer_}, [] {});
  memory_.can_hold = true;
  memory_.can_read = false;
  Launch(*kernel, {&pointer_}, [] {});
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.launches.size(), 0u);
  ASSERT_EQ(read.notes.size(), 2u);
  EXPECT_THAT(read.notes[0].second, HasSubstr("did not end in time"));
  EXPECT_THAT(read.notes[1].second, HasSubstr("cannot be read"));
}

TEST_F(RecorderTest, PointersInStructuresAreFound) {
  memory_.Add(data_);
  struct Image {
    int width, height;
    int* pixels;
    double scale;
  };
  Recorder& recorder = Start({KernelOf({{ParameterKind::kStructure, sizeof(Image)}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {sizeof(Image)});
  Image image = {4, 6, data_.data() + 2, 1.5};
  Launch(*kernel, {&image}, [] {});
  image.pixels = data_.data();
  Launch(*kernel, {&image}, [] {});
  // Two ints side by side look like an address and are none.
  image.height = 7;
  Launch(*kernel, {&image}, [] {});
  const RecordingChunks read = Finish();
  ASSERT_EQ(read.counters.size(), 2u);
  EXPECT_EQ(read.counters.at(0).calls, 2u);
  const RecordedLaunch& launch = read.launches.at(0);
  ASSERT_EQ(launch.pointers.size(), 1u);
  EXPECT_EQ(launch.pointers[0].at, 8u);
  EXPECT_EQ(launch.pointers[0].offset, 8u);
}

TEST_F(RecorderTest, TablesAreFollowedOneLevel) {
  std::vector<float> first(3), second(5);
  std::vector<void*> table = {first.data(), nullptr, second.data() + 2, first.data()};
  memory_.Add(first);
  memory_.Add(second);
  memory_.Add(table);
  Recorder& recorder = Start({KernelOf({{ParameterKind::kTable, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  void** start = table.data();
  Launch(*kernel, {&start}, [&] { second[2] = 8; });
  const RecordingChunks read = Finish();
  const RecordedLaunch& launch = read.launches.at(0);
  ASSERT_EQ(launch.regions.size(), 3u);
  ASSERT_EQ(launch.in_memory.size(), 3u);
  EXPECT_EQ(launch.in_memory[1].at, 16u);
  EXPECT_EQ(launch.in_memory[1].offset, 8u);
  EXPECT_EQ(launch.regions[launch.in_memory[1].region].bytes, 20u);
  EXPECT_EQ(launch.in_memory[2].region, launch.in_memory[0].region);
  EXPECT_EQ(launch.regions[0].before, launch.regions[0].after);
  EXPECT_NE(launch.regions[2].before, launch.regions[2].after);
}

TEST_F(RecorderTest, ATableInAPoolOfMemoryIsNotFollowed) {
  std::vector<std::uint64_t> pool((8 << 20) / 8 + 1);
  memory_.Add(pool);
  Recorder& recorder = Start({KernelOf({{ParameterKind::kTable, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  std::uint64_t* start = pool.data();
  Launch(*kernel, {&start}, [] {});
  EXPECT_EQ(memory_.most_read, 0u);
  const RecordingChunks read = Finish();
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_THAT(read.notes[0].second, HasSubstr("more than 8 MiB"));
}

TEST_F(RecorderTest, GlobalsAreReadAndConstantOnesOnlyOnce) {
  int weights = 3;
  int count = 4;
  memory_.AddGlobal("weights", weights);
  memory_.AddGlobal("count", count);
  PlannedKernel planned = KernelOf({});
  planned.globals = {{"weights", true, 4}, {"count", false, 4}};
  Recorder& recorder = Start({planned});
  Launch(*recorder.Find("_Z1k", "k", {}), {}, [&] { ++count; });
  const RecordingChunks read = Finish();
  const RecordedLaunch& launch = read.launches.at(0);
  ASSERT_EQ(launch.globals.size(), 2u);
  EXPECT_TRUE(launch.globals[0].constant);
  EXPECT_EQ(launch.globals[0].after, kNone);
  EXPECT_EQ(read.blobs.at(launch.globals[1].before), std::string("\4\0\0\0", 4));
  EXPECT_EQ(read.blobs.at(launch.globals[1].after), std::string("\5\0\0\0", 4));
}

TEST_F(RecorderTest, KernelsOfOneNameInTwoFilesAreTwo) {
  Recorder& recorder = Start({});
  const auto* first = recorder.Find("_ZN1kE", "k", {8});
  EXPECT_EQ(recorder.Find("_ZN1kE", "k", {8}), first);
  const auto* second = recorder.Find("_ZN1kE", "k", {4, 4});
  EXPECT_NE(first, second);
  EXPECT_EQ(second->parameters.size(), 2u);
  EXPECT_EQ(Finish().kernels.size(), 2u);
}

TEST_F(RecorderTest, ANameAloneIsEnoughWhereItIsTheOnlyOne) {
  PlannedKernel same = KernelOf({});
  same.signature = "_Z2k2";
  Recorder& recorder = Start({KernelOf({})});
  EXPECT_NE(recorder.Find("_ZL1k", "k", {})->planned, nullptr);
  EXPECT_EQ(recorder.Find("_Z5other", "other", {})->planned, nullptr);
  Recorder& both = Start({KernelOf({}), same});
  EXPECT_EQ(both.Find("_ZL1k", "k", {})->planned, nullptr);
  EXPECT_NE(both.Find("_Z2k2", "k", {})->planned, nullptr);
}

// Read while the program still runs, as after a kill.
TEST_F(RecorderTest, CountsAreInTheFileBeforeTheEnd) {
  Recorder& recorder = Start({});
  int n = 1;
  Launch(*recorder.Find("_Z1k", "k", {4}), {&n}, [] {});
  const RecordingChunks read = ReadRecording(test::RecordingsIn(folder_.path()).at(0));
  EXPECT_FALSE(read.ended);
  EXPECT_EQ(read.counters.at(0).calls, 1u);
}

TEST_F(RecorderTest, NothingFollowsTheEnd) {
  memory_.Add(data_);
  Recorder& recorder = Start({KernelOf({{kPointer, 8}})});
  const auto* kernel = recorder.Find("_Z1k", "k", {8});
  std::uintmax_t bytes = 0;
  Launch(*kernel, {&pointer_}, [&] {
    data_[0] = 9;
    recorder.Finish();
    bytes = std::filesystem::file_size(test::RecordingsIn(folder_.path()).at(0));
  });
  Launch(*kernel, {&pointer_}, [] {});
  const RecordingChunks read = Finish();
  EXPECT_EQ(std::filesystem::file_size(test::RecordingsIn(folder_.path()).at(0)), bytes);
  EXPECT_EQ(read.seen, 1u);
  EXPECT_EQ(read.launches.size(), 0u);
}

TEST_F(RecorderTest, AForkedChildLeavesTheFileAlone) {
  Recorder& recorder = Start({});
  const auto* kernel = recorder.Find("_Z1k", "k", {4});
  int n = 1;
  Launch(*kernel, {&n}, [] {});
  const pid_t child = ::fork();
  if (child == 0) {
    recorder.Abandon();
    Plan plan;
    plan.folder = folder_.path();
    auto* const own = new Recorder(plan, memory_, 0);
    const bool good = own->good();
    own->Finish();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Launch(*kernel, {&n}, [] {});
  recorder_.reset();
  std::map<std::string, std::uint64_t> seen;
  for (const std::string& path : test::RecordingsIn(folder_.path())) {
    const RecordingChunks read = ReadRecording(path);
    EXPECT_TRUE(read.ended);
    seen[std::filesystem::path(path).filename()] = read.seen;
  }
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[std::to_string(::getpid()) + ".capture"], 2u);
  EXPECT_EQ(seen[std::to_string(child) + ".capture"], 0u);
}

TEST_F(RecorderTest, ThreadsMissNoLaunch) {
  Recorder& recorder = Start({});
  const auto* kernel = recorder.Find("_Z1k", "k", {4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) Launch(*kernel, {&i}, [] {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RecordingChunks read = Finish();
  EXPECT_EQ(read.seen, 2000u);
  EXPECT_EQ(read.counters.size(), 500u);
  for (const auto& [id, counter] : read.counters) EXPECT_EQ(counter.calls, 4u);
}

}  // namespace
}  // namespace cupilot::capture
