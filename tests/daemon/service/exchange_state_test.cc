// The state of a tune through an exchange folder.
#include "service/exchange_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cache/memory_store.h"
#include "records/json.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using ::testing::HasSubstr;

class ExchangeStateTest : public ::testing::Test {
 protected:
  ExchangeStateTest() {
    kernel_.name = "one";
    kernel_.key = "aaaa";
    EXPECT_TRUE(store_.Apply({{cache::Table::kEvaluations, "k", "verdict"},
                              {cache::Table::kVariants, "k", "text \"with\" quotes\n"},
                              {cache::Table::kCounters, "job/x", "how far"}}));
  }
  std::string Text() const { return *base::ReadFile(ExchangeStatePath(folder_.path())); }
  void Put(const std::string& text) const {
    ASSERT_TRUE(base::WriteFileAtomically(ExchangeStatePath(folder_.path()), text));
  }
  base::Error Refused() const {
    cache::MemoryStore other;
    const auto loaded = LoadExchangeState(folder_.path(), kernel_, other);
    EXPECT_FALSE(loaded);
    EXPECT_FALSE(*other.Get(cache::Table::kEvaluations, "k")) << "half of it was read";
    return loaded ? base::Error() : loaded.error();
  }

  test::TemporaryFolder folder_;
  records::Kernel kernel_;
  cache::MemoryStore store_;
};

TEST_F(ExchangeStateTest, ComesBackAsItWas) {
  ASSERT_TRUE(SaveExchangeState(folder_.path(), kernel_, store_));
  cache::MemoryStore other;
  ASSERT_TRUE(LoadExchangeState(folder_.path(), kernel_, other));
  EXPECT_EQ(*other.Get(cache::Table::kEvaluations, "k"), "verdict");
  EXPECT_EQ(*other.Get(cache::Table::kVariants, "k"), "text \"with\" quotes\n");
  EXPECT_EQ(*other.Get(cache::Table::kCounters, "job/x"), "how far");
}

TEST_F(ExchangeStateTest, WithoutAFileThereIsNothing) {
  cache::MemoryStore other;
  EXPECT_TRUE(LoadExchangeState(folder_.path(), kernel_, other));
}

TEST_F(ExchangeStateTest, AnotherKernelsIsRefused) {
  ASSERT_TRUE(SaveExchangeState(folder_.path(), kernel_, store_));
  kernel_.key = "bbbb";
  EXPECT_THAT(Refused().message, HasSubstr("an earlier text of this kernel"));
  kernel_.name = "two";
  const base::Error error = Refused();
  EXPECT_EQ(error.code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("belongs to another kernel, one"));
  EXPECT_THAT(error.message, HasSubstr("take another folder"));
}

TEST_F(ExchangeStateTest, ANewerSchemaIsRefused) {
  Put(R"({"schema": "cupilot.exchange_state/2", "kernel_key": "aaaa", "rows": []})");
  const base::Error error = Refused();
  EXPECT_EQ(error.code, base::ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("newer cuPilot"));
}

TEST_F(ExchangeStateTest, ADamagedOneIsRefused) {
  ASSERT_TRUE(SaveExchangeState(folder_.path(), kernel_, store_));
  const std::string whole = Text();
  Put(whole.substr(0, whole.size() / 2));
  EXPECT_EQ(Refused().code, base::ErrorCode::kCorruption);
  std::string changed = whole;
  changed.replace(changed.find("verdict"), 7, "VERDICT");
  Put(changed);
  EXPECT_THAT(Refused().message, HasSubstr("is damaged; remove it"));
  Put("");
  EXPECT_EQ(Refused().code, base::ErrorCode::kCorruption);
  Put(R"({"schema": "cupilot.exchange_state/1", "kernel_key": "aaaa", "rows": 7})");
  EXPECT_EQ(Refused().code, base::ErrorCode::kCorruption);
}

// A hash that fits, and rows that are none.
TEST_F(ExchangeStateTest, RowsThatAreNoneAreRefused) {
  const records::Json rows =
      records::Json::parse(R"([["evaluations", "k", "v"], ["nowhere", "k", "v"]])");
  Put(records::Json({{"schema", "cupilot.exchange_state/1"},
                     {"kernel_key", "aaaa"},
                     {"rows", rows},
                     {"hash", records::HashJson(rows)}})
          .dump());
  EXPECT_EQ(Refused().code, base::ErrorCode::kCorruption);
}

}  // namespace
}  // namespace cupilot::service
