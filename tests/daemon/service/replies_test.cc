#include "service/replies.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

TEST(Replies, WhatNobodyFetchedGoesAfterAWhile) {
  const test::TemporaryFolder folder;
  const std::string replies = folder / "replies";
  ASSERT_TRUE(base::MakeFolders(replies));
  const auto write = [&](const std::string& name, std::chrono::minutes age) {
    ASSERT_TRUE(base::WriteFileAtomically(replies + "/" + name, "{}"));
    std::filesystem::last_write_time(replies + "/" + name,
                                     std::filesystem::file_time_type::clock::now() - age);
  };
  write("old.json", Replies::kKept + std::chrono::minutes(1));
  write("new.json", Replies::kKept - std::chrono::minutes(1));
  const Replies kept(replies);
  EXPECT_FALSE(base::FileExists(replies + "/old.json"));
  EXPECT_TRUE(base::FileExists(replies + "/new.json"));
  write("new.json", Replies::kKept + std::chrono::minutes(1));
  EXPECT_EQ(kept.folder(), replies);
  EXPECT_FALSE(base::FileExists(replies + "/new.json"));
}

TEST(Replies, ADocumentInAFileIsTheSame) {
  const test::TemporaryFolder folder;
  const Replies replies(folder / "replies");
  const records::Json document = {{"schema", "cupilot.history/1"}, {"text", "a\"b"}};
  const auto named = replies.InFile(records::CompactJson(document));
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ((*named)["schema"], "cupilot.reply_file/1");
  const auto text = base::ReadFile((*named)["document"].get<std::string>());
  ASSERT_TRUE(text);
  EXPECT_EQ(*records::ParseJson(*text), document);
}

}  // namespace
}  // namespace cupilot::service
