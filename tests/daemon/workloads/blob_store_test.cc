#include "blobs/blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::blobs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BlobStoreTest : public ::testing::Test {
 protected:
  BlobStoreTest() : blobs_(folder_ / "blobs") {}

  std::string PathOf(const std::string& hash) const { return folder_ / ("blobs/" + hash + ".zst"); }
  std::string PutAt(const std::string& bytes, long seconds) {
    const std::string hash = *blobs_.Put(bytes);
    const utimbuf times{seconds, seconds};
    EXPECT_EQ(::utime(PathOf(hash).c_str(), &times), 0);
    return hash;
  }
  // That does not compress.
  static std::string Noise(std::size_t count, unsigned seed) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      bytes += static_cast<char>(seed >> 24);
    }
    return bytes;
  }

  test::TemporaryFolder folder_;
  BlobStore blobs_;
};

TEST_F(BlobStoreTest, GivesBackWhatWasPutAndKeepsItOnceAndSmall) {
  const std::string zeros(1 << 20, '\0');
  const auto hash = blobs_.Put(zeros);
  ASSERT_TRUE(hash);
  EXPECT_EQ(*hash, base::HashHex(zeros));
  EXPECT_EQ(*blobs_.Put(zeros), *hash);
  ASSERT_EQ(blobs_.List().size(), 1u);
  EXPECT_LT(blobs_.List()[0].stored_bytes, 10000u);
  EXPECT_EQ(*blobs_.Get(*hash), zeros);
  EXPECT_EQ(*blobs_.Get(*blobs_.Put("")), "");
  struct stat status{};
  ASSERT_EQ(::stat(std::string(folder_ / "blobs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u);
}

TEST_F(BlobStoreTest, WhatIsNotThereOrDamagedIsSaid) {
  EXPECT_THAT(blobs_.Get(std::string(40, 'a')).error().message, HasSubstr("not here any more"));
  EXPECT_EQ(blobs_.Get("../../etc/passwd").error().code, base::ErrorCode::kInvalidArgument);
  const std::string hash = *blobs_.Put("hello");
  ASSERT_TRUE(base::WriteFileAtomically(PathOf(hash), *base::ReadFile(PathOf(*blobs_.Put("no")))));
  EXPECT_EQ(blobs_.Get(hash).error().code, base::ErrorCode::kCorruption);
  ASSERT_TRUE(base::WriteFileAtomically(PathOf(hash), "garbage"));
  EXPECT_EQ(blobs_.Get(hash).error().code, base::ErrorCode::kCorruption);
}

TEST_F(BlobStoreTest, OneIsRemovedByItsHash) {
  const std::string hash = *blobs_.Put("hello");
  EXPECT_FALSE(blobs_.Remove("../blobs"));
  EXPECT_TRUE(blobs_.Has(hash));
  EXPECT_TRUE(blobs_.Remove(hash));
  EXPECT_FALSE(blobs_.Has(hash));
}

TEST_F(BlobStoreTest, WhatNobodyNeedsGoesAfterAWhileAndTheOldestBeyondTheLimit) {
  const std::string unneeded = PutAt(Noise(1000, 1), 100);
  const std::string fresh = PutAt(Noise(1000, 2), 900);
  const std::string old_one = PutAt(Noise(1000, 3), 200);
  const std::string new_one = PutAt(Noise(1000, 4), 300);
  const std::set<std::string> used = {old_one, new_one};
  EXPECT_TRUE(blobs_.Evict(used, 1 << 20, 500).empty());
  EXPECT_FALSE(blobs_.Has(unneeded));
  EXPECT_TRUE(blobs_.Has(fresh));
  EXPECT_THAT(blobs_.Evict(used, 2500, 500), ElementsAre(old_one));
  EXPECT_FALSE(blobs_.Has(old_one));
  EXPECT_TRUE(blobs_.Has(new_one));
}

}  // namespace
}  // namespace cupilot::blobs
