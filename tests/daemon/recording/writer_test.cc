#include "recording/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "recording/checksum.h"
#include "tests/support/recording_chunks.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::capture {
namespace {

using test::ReadRecording;
using test::RecordingChunks;

std::string OnlyFile(const test::TemporaryFolder& folder) {
  const std::vector<std::string> files = test::RecordingsIn(folder.path());
  return files.size() == 1 ? files[0] : "";
}

TEST(Checksum, IsThatOfTwoPartsInARow) {
  const std::string text = "sixteen letters, and five";
  const std::uint64_t first = ContinueChecksum(kChecksumStart, text.data(), 16);
  EXPECT_EQ(ContinueChecksum(first, text.data() + 16, text.size() - 16),
            Checksum(text.data(), text.size()));
  for (std::size_t n = 0; n <= text.size(); ++n) {
    EXPECT_EQ(SumBlob(5, text.data(), n).chunk, ContinueChecksum(5, text.data(), n)) << n;
  }
}

// A product's low half moves a flipped sign bit nowhere, so that the next word could undo it.
TEST(Checksum, FlippedSignsDoNotCancelEachOther) {
  for (int first = 0; first < 6; ++first) {
    std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::uint64_t sum = Checksum(values.data(), 32);
    const BlobSums sums = SumBlob(1, values.data(), 32);
    for (int i = first; i < first + 3 && i < 8; ++i) values[static_cast<std::size_t>(i)] *= -1;
    EXPECT_NE(Checksum(values.data(), 32), sum) << first;
    const BlobSums other = SumBlob(1, values.data(), 32);
    EXPECT_FALSE(other.even == sums.even && other.odd == sums.odd) << first;
  }
}

TEST(Writer, WritesEqualBlobsOnce) {
  const test::TemporaryFolder folder;
  {
    Writer writer(folder.path(), 1);
    ASSERT_TRUE(writer.good());
    EXPECT_EQ(writer.Blob("0123456789", 10), 0u);
    EXPECT_EQ(writer.Blob("0123456788", 10), 1u);
    EXPECT_EQ(writer.Blob("0123456789", 10), 0u);
    EXPECT_EQ(writer.Blob("0123456789", 9), 2u);
    EXPECT_EQ(writer.Blob("", 0), 3u);
    struct stat status{};
    ASSERT_EQ(::stat(OnlyFile(folder).c_str(), &status), 0);
    EXPECT_EQ(writer.bytes_written(), static_cast<std::uint64_t>(status.st_size));
  }
  const RecordingChunks read = ReadRecording(OnlyFile(folder));
  EXPECT_EQ(read.device, 1u);
  ASSERT_EQ(read.blobs.size(), 4u);
  EXPECT_EQ(read.blobs.at(0), "0123456789");
  EXPECT_EQ(read.blobs.at(2), "012345678");
  EXPECT_EQ(read.blobs.at(3), "");
}

TEST(Writer, BlobsOfSeveralThreadsAreEachWhole) {
  const test::TemporaryFolder folder;
  {
    Writer writer(folder.path(), 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&writer, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string bytes(static_cast<std::size_t>(1000 + i), static_cast<char>('a' + t));
          EXPECT_NE(writer.Blob(bytes.data(), bytes.size()), kNone);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(ReadRecording(OnlyFile(folder)).blobs.size(), 200u);  // it throws at a wrong checksum
}

TEST(Writer, AFileThatWasCutIsWholeUpToItsLastChunk) {
  const test::TemporaryFolder folder;
  {
    Writer writer(folder.path(), 0);
    writer.Blob("first", 5);
    writer.Blob("second", 6);
  }
  const std::string path = OnlyFile(folder);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  ASSERT_EQ(::truncate(path.c_str(), status.st_size - 1), 0);
  bool whole = true;
  const RecordingChunks read = ReadRecording(path, &whole);
  EXPECT_FALSE(whole);
  ASSERT_EQ(read.blobs.size(), 1u);
  EXPECT_EQ(read.blobs.at(0), "first");
}

// As daemons close them; the next file that is opened may have the number of ours.
TEST(Writer, NeverWritesIntoAnotherFileOfTheProgram) {
  const test::TemporaryFolder folder;
  Writer writer(folder.path(), 0);
  writer.Blob("first", 5);
  const std::string path = OnlyFile(folder);
  struct stat ours{};
  ASSERT_EQ(::stat(path.c_str(), &ours), 0);
  const std::string other = folder.Write("other", "");
  for (int file = 3; file < 1024; ++file) {
    struct stat status{};
    if (::fstat(file, &status) != 0 || status.st_ino != ours.st_ino) continue;
    const int opened = ::open(other.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(opened, 0);
    ASSERT_EQ(::dup2(opened, file), file);
    ::close(opened);
  }
  EXPECT_EQ(writer.Blob("second", 6), kNone);
  EXPECT_FALSE(writer.good());
  EXPECT_EQ(std::filesystem::file_size(other), 0u);
  EXPECT_EQ(ReadRecording(path).blobs.size(), 1u);
}

TEST(Writer, WithoutAFolderItIsNotGood) {
  Writer writer("/nonexistent/folder", 0);
  EXPECT_FALSE(writer.good());
  EXPECT_EQ(writer.Blob("bytes", 5), kNone);
  writer.Chunk(ChunkKind::kNote, Payload().U32(0).Text("nothing"));
}

TEST(Writer, ASecondFileOfTheProcessHasANameOfItsOwn) {
  const test::TemporaryFolder folder;
  const Writer first(folder.path(), 0);
  const Writer second(folder.path(), 0);
  EXPECT_TRUE(second.good());
  EXPECT_EQ(test::RecordingsIn(folder.path()).size(), 2u);
}

}  // namespace
}  // namespace cupilot::capture
