// `cupilot lock`: the file that is written, and what is said about it.
#include <gmock/gmock.h>

#include "base/file.h"
#include "base/hash.h"
#include "client/commands/lock_changes.h"
#include "records/lock.h"
#include "tests/client/client_fixture.h"
#include "tests/support/make_lock.h"

namespace cupilot::client {
namespace {

using records::Json;
using test::MakeLockedKernel;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGpu = "compute_90,sm_90";
constexpr const char* kHost = "host-x86-64-v3";

class LockCommandTest : public ClientTest {
 protected:
  std::string path() { return xdg_.folder() / "project/cupilot.lock"; }
  std::string Present() { return base::ReadFile(path()).value_or(""); }

  // The daemon's answer is this lock; written anew each time, since who reads it deletes it.
  void Publish(const records::Lock& lock) {
    daemon_.On("lock", [this, lock](const Json&) -> base::Result<Json> {
      const std::string document = xdg_.folder().Write("reply.json", records::LockText(lock));
      return Json{{"schema", "cupilot.locked/1"},
                  {"locks",
                   {{{"path", path()},
                     {"document", document},
                     {"kernels", lock.kernels.size()},
                     {"targets", {kHost}}}}},
                  {"problems", {"n::odd: /x/odd.cu lies outside the project"}}};
    });
    ASSERT_TRUE(daemon_.Start());
  }
};

TEST_F(LockCommandTest, WritesTheFileAndSaysWhatIsNew) {
  const records::Lock lock{{MakeLockedKernel("blur", kHost), MakeLockedKernel("edge", kHost)}};
  Publish(lock);
  auto run = Run({"lock"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(Present(), records::LockText(lock));
  EXPECT_THAT(run.output, HasSubstr("project/cupilot.lock: 2 entries, written"));
  EXPECT_THAT(run.output, HasSubstr("added n::blur for host-x86-64-v3: "));
  EXPECT_THAT(run.output, HasSubstr("1.50x"));
  EXPECT_THAT(run.output, HasSubstr("not pinned: n::odd: /x/odd.cu lies outside the project"));
  EXPECT_FALSE(base::FileExists(xdg_.folder() / "reply.json"));
  run = Run({"lock"});
  EXPECT_THAT(run.output, HasSubstr("2 entries, as it was"));
  EXPECT_THAT(run.output, Not(HasSubstr("added")));
  EXPECT_EQ(daemon_.requests()[0]["params"]["folder"], xdg_.folder().path());
}

TEST_F(LockCommandTest, DiffWritesNothing) {
  Publish({{MakeLockedKernel("blur", kHost)}});
  const auto run = Run({"lock", "--diff"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("1 entry, not written"));
  EXPECT_EQ(Present(), "");
  const Json document = RunJson({"lock", "--diff"}, 1);
  EXPECT_EQ(document["schema"], "cupilot.lock_changes/1");
  EXPECT_EQ(document["files"][0]["changes"][0]["change"], "added");
  EXPECT_EQ(document["files"][0]["written"], false);
}

TEST_F(LockCommandTest, TheOutputIsThePersonsAndAbsolute) {
  Publish({{MakeLockedKernel("blur", kHost)}});
  Run({"lock", "-o", "sub/x.lock"});
  EXPECT_EQ(daemon_.requests()[0]["params"]["output"], xdg_.folder() / "sub/x.lock");
}

TEST_F(LockCommandTest, NothingPublishedKeepsWhatIsThere) {
  xdg_.folder().Write("project/cupilot.lock", "what was there");
  Publish({});
  const auto run = Run({"lock"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("it stays as it is"));
  EXPECT_EQ(Present(), "what was there");
}

TEST_F(LockCommandTest, AFileThatCannotBeReadIsReplacedAndSaid) {
  xdg_.folder().Write("project/cupilot.lock", "<<<<<<< HEAD");
  Publish({{MakeLockedKernel("blur", kHost)}});
  const auto run = Run({"lock"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("is replaced as a whole"));
  EXPECT_TRUE(records::ParseLock(Present()));
}

TEST_F(LockCommandTest, VerifyAndDiffTogetherAreWrongUsage) {
  EXPECT_EQ(Run({"lock", "--verify", "--diff"}).exit_code, 2);
}

class LockChangesTest : public ::testing::Test {
 protected:
  static std::string Words(const LockChanges& changes) {
    const char* const words[] = {"added", "changed", "removed", "kept"};
    std::string text;
    for (const LockChange& change : changes.changes) {
      text += std::string(words[static_cast<int>(change.kind)]) + " " + change.kernel + "; ";
    }
    return text;
  }
  LockChanges Compare(const records::Lock& before, const records::Lock& now) {
    return CompareLocks(before, now, {kHost}, folder_.path());
  }
  test::TemporaryFolder folder_;
};

TEST_F(LockChangesTest, AreNamed) {
  records::LockedKernel changed = MakeLockedKernel("b", kHost);
  changed.evaluation.speedup = 1.75;
  const LockChanges changes = Compare(
      {{MakeLockedKernel("a", kHost), MakeLockedKernel("b", kHost), MakeLockedKernel("c", kHost)}},
      {{MakeLockedKernel("a", kHost), changed, MakeLockedKernel("d", kHost)}});
  EXPECT_EQ(Words(changes), "changed n::b; added n::d; removed n::c; ");
  EXPECT_THAT(changes.changes[0].text, HasSubstr("1.75x; was 1.50x"));
  EXPECT_EQ(changes.same, 1u);
  EXPECT_EQ(changes.lock.kernels.size(), 3u);
}

// What another machine has proven stays while the project's files do.
TEST_F(LockChangesTest, OtherMachinesEntriesStayWhileTheirTextDoes) {
  const records::Lock before{{MakeLockedKernel("a", kGpu)}};
  const records::Lock now{{MakeLockedKernel("a", kHost)}};
  EXPECT_EQ(Words(Compare(before, now)), "added n::a; removed n::a; ");  // its source is gone
  folder_.Write("src/a.cu", "text");
  records::Lock same = before;
  same.kernels[0].files[0].hash = base::HashHex("text");
  const LockChanges changes = Compare(same, now);
  EXPECT_EQ(Words(changes), "added n::a; kept n::a; ");
  EXPECT_EQ(changes.lock.kernels.size(), 2u);
  EXPECT_EQ(changes.lock.kernels[0].target, kGpu);
}

// As versions wrote them that pinned what a program had.
TEST_F(LockChangesTest, AKeptEntryLosesAProgramsContents) {
  records::Lock before{{MakeLockedKernel("a", kGpu)}};
  records::LockedKernel& entry = before.kernels[0];
  folder_.Write("src/a.cu", "text");
  entry.files[0].hash = base::HashHex("text");
  entry.workload.cases[0].arguments[0].fill.emplace().kind = "file";
  entry.workload.cases[0].arguments[0].fill->path = "blob:feedf00d";
  entry.evaluation.guard = "n == 4";
  entry.evaluation.checks = {{"undefined", true, "a conversion of 3.25 to 'int'"}};
  const LockChanges changes = Compare(before, {{MakeLockedKernel("a", kHost)}});
  ASSERT_EQ(changes.lock.kernels.size(), 2u);
  EXPECT_EQ(changes.lock.kernels[0].workload.cases[0].arguments[0].fill->kind, "constant");
  EXPECT_EQ(changes.lock.kernels[0].evaluation.guard, "n == 4");
  const std::string text = records::LockText(changes.lock);
  EXPECT_THAT(text, Not(HasSubstr("feedf00d")));
  EXPECT_THAT(text, Not(HasSubstr("3.25")));
  EXPECT_TRUE(records::ParseLock(text));
}

}  // namespace
}  // namespace cupilot::client
