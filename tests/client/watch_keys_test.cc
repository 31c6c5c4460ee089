// Keys of `cupilot watch`.
#include <gmock/gmock.h>

#include "client/watch/keys.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WatchKeys, LettersAndSequences) {
  KeyReader reader;
  EXPECT_THAT(reader.Feed("jkpsq\r\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[F"),
              ElementsAre(Key::kDown, Key::kUp, Key::kPause, Key::kSnooze, Key::kQuit, Key::kEnter,
                          Key::kUp, Key::kDown, Key::kUp, Key::kPageUp, Key::kPageDown, Key::kHome,
                          Key::kEnd));
  EXPECT_FALSE(reader.pending());
}

TEST(WatchKeys, ASequenceMayComeInParts) {
  KeyReader reader;
  EXPECT_THAT(reader.Feed("\x1b"), IsEmpty());
  EXPECT_TRUE(reader.pending());
  EXPECT_THAT(reader.Feed("["), IsEmpty());
  EXPECT_THAT(reader.Feed("5"), IsEmpty());
  EXPECT_THAT(reader.Feed("~j"), ElementsAre(Key::kPageUp, Key::kDown));
}

TEST(WatchKeys, EscapeAloneIsTheKey) {
  KeyReader reader;
  EXPECT_THAT(reader.Feed("\x1b"), IsEmpty());
  EXPECT_THAT(reader.EndPending(), ElementsAre(Key::kEscape));
  EXPECT_FALSE(reader.pending());
  EXPECT_THAT(reader.Feed("\x1b\x1b"), ElementsAre(Key::kEscape));
  EXPECT_TRUE(reader.pending());
}

// What a terminal may send for keys that nobody here knows does nothing: no letter of it is a key.
TEST(WatchKeys, UnknownSequencesDoNothing) {
  KeyReader reader;
  EXPECT_THAT(reader.Feed("\x1b[1;5q\x1bq\x1b[200~"),
              ElementsAre(Key::kOther, Key::kOther, Key::kOther));
  EXPECT_THAT(reader.Feed("\x1b[" + std::string(100, ';')), ::testing::Not(IsEmpty()));
}

class WatchKeysTest : public ::testing::Test {
 protected:
  WatchKeysTest() {
    Json rows = Json::array();
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      rows.push_back({{"kernel", name}, {"project", "/p"}});
    }
    Adopt(rows, state_);
  }
  WatchAction Do(Key key) { return Press(key, 2, state_); }
  WatchState state_;
};

TEST_F(WatchKeysTest, TheSelectionStaysAmongTheRows) {
  Do(Key::kUp);
  EXPECT_EQ(state_.selected, 0u);
  Do(Key::kDown);
  Do(Key::kPageDown);
  EXPECT_EQ(state_.selected, 3u);
  Do(Key::kPageDown);
  EXPECT_EQ(state_.selected, 4u);
  Do(Key::kPageUp);
  EXPECT_EQ(state_.selected, 2u);
  Do(Key::kHome);
  EXPECT_EQ(state_.selected, 0u);
  Do(Key::kEnd);
  EXPECT_EQ(state_.selected, 4u);
}

TEST_F(WatchKeysTest, EnterOpensAndEscapeAndQGoBack) {
  for (const Key back : {Key::kEscape, Key::kQuit}) {
    Do(Key::kHome);
    Do(Key::kDown);
    EXPECT_EQ(Do(Key::kEnter), WatchAction::kExplain);
    EXPECT_TRUE(state_.details);
    EXPECT_EQ(state_.opened.kernel, "b");
    Do(Key::kDown);  // scrolls
    EXPECT_EQ(state_.scroll, 1u);
    EXPECT_EQ(state_.selected, 1u);
    EXPECT_EQ(Do(back), WatchAction::kNone);
    EXPECT_FALSE(state_.details);
  }
  EXPECT_EQ(Do(Key::kEscape), WatchAction::kNone);
  EXPECT_EQ(Do(Key::kQuit), WatchAction::kQuit);
}

TEST_F(WatchKeysTest, EnterWithoutKernelsOpensNothing) {
  Adopt(Json::array(), state_);
  EXPECT_EQ(Do(Key::kEnter), WatchAction::kNone);
  EXPECT_FALSE(state_.details);
}

TEST_F(WatchKeysTest, PauseEndsASnooze) {
  EXPECT_EQ(Do(Key::kPause), WatchAction::kPause);
  state_.status["idle_reason"] = "snoozed";
  EXPECT_EQ(Do(Key::kPause), WatchAction::kResume);
  EXPECT_EQ(Do(Key::kSnooze), WatchAction::kSnooze);
}

}  // namespace
}  // namespace cupilot::client
