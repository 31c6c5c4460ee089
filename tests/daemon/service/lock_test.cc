// The verb "lock": what a project's lock files would hold, and that a lock file decides.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/file.h"
#include "records/lock.h"
#include "service/lock_document.h"
#include "service/requests.h"
#include "source/swap/lock_choice.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LockDocumentTest : public ServiceTest {
 protected:
  std::string lock_file() const { return folder_ / "source/cupilot.lock"; }

  Json Ask(const std::string& output = "") {
    const auto document = LockDocument(*service_, folder_ / "source", output, folder_ / "replies");
    EXPECT_TRUE(document) << document.error().message;
    return document ? *document : Json::object();
  }
  records::Lock LockIn(const Json& document) const {
    if (document["locks"].empty()) return {};
    const auto text = base::ReadFile(document["locks"][0]["document"].get<std::string>());
    const auto lock = records::ParseLock(text.value_or(""));
    EXPECT_TRUE(lock) << lock.error().message;
    return lock ? *lock : records::Lock();
  }
  static std::vector<std::string> Kernels(const records::Lock& lock) {
    std::vector<std::string> names;
    for (const records::LockedKernel& entry : lock.kernels) names.push_back(entry.kernel);
    return names;
  }
};

TEST_F(LockDocumentTest, HoldsWhatIsPublished) {
  Prepare("kernel two b\nkernel one a\n");
  Start();
  Drain();
  const Json document = Ask();
  EXPECT_EQ(document["schema"], "cupilot.locked/1");
  EXPECT_THAT(document["problems"], IsEmpty());
  EXPECT_EQ(document["locks"][0]["path"], lock_file());
  EXPECT_EQ(document["locks"][0]["kernels"], 2);
  EXPECT_THAT(document["locks"][0]["targets"], ElementsAre("host-x86-64-v3"));
  const records::Lock lock = LockIn(document);
  EXPECT_THAT(Kernels(lock), ElementsAre("one", "two"));
  const auto published = project_.PublishedVariants();
  for (const records::LockedKernel& entry : lock.kernels) {
    EXPECT_THAT(published, ::testing::Contains(entry.variant.id));
    EXPECT_EQ(entry.source, "main.cu");
    EXPECT_EQ(entry.target, "host-x86-64-v3");
    EXPECT_THAT(entry.cmake_targets, ElementsAre("app"));
    EXPECT_EQ(entry.evaluation.speedup, 1.5);
    EXPECT_THAT(entry.workload.cases, SizeIs(1));
  }
  // The same question, the same bytes.
  EXPECT_EQ(Ask(), document);
}

// From the lock file the launcher makes the very text that was published.
TEST_F(LockDocumentTest, MakesThePublishedSource) {
  Prepare("kernel two b\nkernel one a\n");
  Start();
  Drain();
  const std::string text = records::LockText(LockIn(Ask()));
  ASSERT_TRUE(base::WriteFileAtomically(lock_file(), text));
  const source::LockChoice choice = source::ChooseFromLock(
      source::ReadLockFile(lock_file()),
      {"app", {folder_ / "source", folder_ / "source", project_.build_folder()}},
      project_.command());
  EXPECT_THAT(choice.notes, IsEmpty());
  const auto swapped = source::WriteSwappedSource(choice.request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  EXPECT_EQ(swapped->file_name, project_.PublishedSwap());
  EXPECT_THAT(swapped->variants, SizeIs(2));
  for (const source::SwappedText& one : swapped->Files()) {
    EXPECT_EQ(one.text, base::ReadFile(project_.object_folder() + "/" + one.file_name).value_or(""))
        << one.file_name;
  }
}

TEST_F(LockDocumentTest, WhatManualHoldsBackIsNotPinned) {
  Prepare("kernel one a\n", {{"apply", "manual"}});
  Start();
  Drain();
  EXPECT_THAT(LockIn(Ask()).kernels, IsEmpty());
  service_->Apply("");
  EXPECT_THAT(LockIn(Ask()).kernels, SizeIs(1));
}

TEST_F(LockDocumentTest, GoesWhereTargetsOrThePersonSay) {
  Prepare("kernel one a\n", {{"lock", folder_ / "elsewhere/pinned.lock"}});
  Start();
  Drain();
  Json document = Ask();
  EXPECT_EQ(document["locks"][0]["path"], folder_ / "elsewhere/pinned.lock");
  EXPECT_EQ(LockIn(document).kernels[0].source, "../source/main.cu");
  document = Ask(folder_ / "my.lock");
  EXPECT_EQ(document["locks"][0]["path"], folder_ / "my.lock");
  EXPECT_EQ(LockIn(document).kernels[0].source, "source/main.cu");
}

TEST_F(LockDocumentTest, AFileThatWasEditedSinceIsNotPinned) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  project_.WriteSource("kernel one b\n");
  const Json document = Ask();
  EXPECT_THAT(LockIn(document).kernels, IsEmpty());
  ASSERT_THAT(document["problems"], SizeIs(1));
  EXPECT_THAT(document["problems"][0].get<std::string>(), HasSubstr("was edited"));
}

TEST_F(LockDocumentTest, AFolderWithoutAProjectIsAnError) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto document = LockDocument(*service_, "/elsewhere", "", folder_ / "replies");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, base::ErrorCode::kNotFound);
}

TEST_F(LockDocumentTest, IsAVerb) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Requests requests(*service_, state(), [] {});
  const Json message = {{"id", 1}, {"verb", "lock"}, {"params", {{"folder", folder_ / "source"}}}};
  const auto reply = records::ParseJson(requests.Handle("peer", message.dump()));
  ASSERT_TRUE(reply);
  EXPECT_THAT(LockIn((*reply)["result"]).kernels, SizeIs(1));
}

// Where the lock file decides, a publication changes no compile.
TEST_F(LockDocumentTest, NoStampIsTouchedBesideALockFile) {
  ASSERT_TRUE(base::WriteFileAtomically(lock_file(), records::LockText({})));
  Prepare("kernel one a\n", {{"lock", lock_file()}});
  Start();
  Drain();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(Row("one")["published"], false);
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("`cupilot lock` pins it"));
  ASSERT_TRUE(base::WriteFileAtomically(lock_file(), records::LockText(LockIn(Ask()))));
  EXPECT_EQ(Row("one")["published"], true);
}

}  // namespace
}  // namespace cupilot::service
