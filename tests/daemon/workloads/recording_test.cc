// Recordings that are cut off, foreign or damaged.
#include "workloads/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/daemon/workloads/captured_program.h"

namespace cupilot::workloads {
namespace {

using ::testing::HasSubstr;

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    program_.Allocate(0x700000000, {1, 2, 3, 4});
    const records::Kernel kernel = CapturedProgram::Kernel();
    {
      capture::Recorder recorder(program_.Plan(kernel), program_, 0);
      for (int i = 0; i < 3; ++i) {
        program_.Launch(recorder, kernel, 0x700000000, 0x700000000, 4, 1, [] {});
      }
    }
    bytes_ = *base::ReadFile(program_.file());
  }

  base::Result<Recording> ReadBytes(const std::string& bytes) {
    const std::string path = program_.folder() + "/changed.capture";
    EXPECT_TRUE(base::WriteFileAtomically(path, bytes));
    return Recording::Read(path);
  }

  CapturedProgram program_;
  std::string bytes_;
};

TEST_F(RecordingTest, IsReadWhole) {
  const auto recording = ReadBytes(bytes_);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_TRUE(recording->whole());
  EXPECT_TRUE(recording->on_host());
  EXPECT_EQ(recording->launches_seen(), 3u);
  ASSERT_EQ(recording->counters().size(), 1u);
  EXPECT_EQ(recording->counters().begin()->second.calls, 3u);
  EXPECT_EQ(recording->counters().begin()->second.TotalMicroseconds(), 3);
  EXPECT_EQ(recording->launches().size(), 2u);
  // Contents that are the same are there once.
  EXPECT_TRUE(recording->HasBlob(0));
  EXPECT_FALSE(recording->HasBlob(1));
  EXPECT_EQ(recording->Blob(0)->size(), 16u);
}

TEST_F(RecordingTest, CutOffAnywhereItGivesWhatCameBefore) {
  for (std::size_t size = capture::kHeaderBytes; size < bytes_.size(); ++size) {
    const auto recording = ReadBytes(bytes_.substr(0, size));
    // Only where a launch is there and what it refers to is not, which the order of writing rules
    // out.
    ASSERT_TRUE(recording) << size << ": " << recording.error().message;
    EXPECT_FALSE(recording->whole());
  }
}

TEST_F(RecordingTest, AnyChangedByteIsNoticed) {
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto recording = ReadBytes(changed);
    // A longer length reads as a file that ends early; contents are looked at when they are asked
    // for.
    noticed +=
        !recording || !recording->whole() || !recording->Blob(0) || recording->on_host() != true
            ? 1
            : 0;
  }
  EXPECT_EQ(noticed, bytes_.size());
}

TEST_F(RecordingTest, ForeignFilesAreSaidToBeForeign) {
  EXPECT_THAT(ReadBytes("").error().message, HasSubstr("is no recording"));
  EXPECT_THAT(ReadBytes("#!/bin/sh\necho hello\n").error().message, HasSubstr("is no recording"));
  std::string newer = bytes_;
  newer[8] = 9;
  EXPECT_THAT(ReadBytes(newer).error().message, HasSubstr("another version"));
  const auto missing = Recording::Read(program_.folder() + "/none");
  EXPECT_THAT(missing.error().message, HasSubstr("none: No such file"));
}

TEST_F(RecordingTest, SizesThatCannotBeCostNoMemory) {
  // A chunk of a kernel that claims four billion parameters.
  capture::Payload payload;
  payload.U32(0).Text("k").Text("").U32(0xffffffff);
  std::string bytes = bytes_.substr(0, capture::kHeaderBytes);
  capture::Payload header;
  header.U32(1).U32(0).U64(payload.bytes().size());
  header.U64(capture::Checksum(payload.bytes().data(), payload.bytes().size()));
  bytes += header.bytes() + payload.bytes();
  EXPECT_THAT(ReadBytes(bytes).error().message, HasSubstr("does not hold what"));
}

}  // namespace
}  // namespace cupilot::workloads
