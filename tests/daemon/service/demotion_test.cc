// A variant that wins alone and loses in the program is put aside (`cupilot bench`).
#include "service/demotion.h"

#include "protocol/demotion.h"
#include "service/history.h"
#include "tests/daemon/service/two_winners_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class DemotionTest : public TwoWinnersTest {
 protected:
  Json Loss(const std::vector<std::string>& variants) const {
    protocol::Demotion demotion;
    demotion.kernel = "one";
    demotion.folder = project_.build_folder();
    demotion.variants = variants;
    demotion.program = "./app";
    demotion.speedup = 0.93;
    demotion.low = 0.91;
    demotion.high = 0.95;
    demotion.pairs = {{9.3, 10}, {9.2, 10}, {9.4, 10}, {9.3, 10}, {9.3, 10}};
    return protocol::ToJson(demotion);
  }
};

constexpr const char* kWhy = "loses in the program ./app: 0.930x [0.910, 0.950] in 5 pairs, ";

TEST_F(DemotionTest, TheNextSelectionLeavesItOutAndTheEvidenceStays) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  ASSERT_THAT(best, Not(IsEmpty()));
  const Json reply = Ask("demote", Loss({best}));
  ASSERT_TRUE(reply.contains("result")) << reply.dump(1);
  EXPECT_EQ(reply["result"]["schema"], "cupilot.demoted/1");
  ASSERT_THAT(reply["result"]["variants"], SizeIs(1));
  EXPECT_EQ(reply["result"]["variants"][0]["variant"], best);
  EXPECT_EQ(reply["result"]["message"], "the next build does without it");
  DrainUntil([&] { return Published() != best; });
  const std::string next = Published();
  EXPECT_THAT(next, Not(IsEmpty()));
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr(kWhy));
  // Also for a later daemon.
  Restart();
  Drain();
  EXPECT_EQ(Published(), next);
  const auto place = FindKernel(*service_, "one", "");
  ASSERT_TRUE(place);
  const Json history = records::Json::parse(History(*service_).Text(*place));
  ASSERT_THAT(history["refused"], SizeIs(1));
  EXPECT_EQ(history["refused"][0]["variant"], best);
  EXPECT_THAT(history["refused"][0]["reason"].get<std::string>(), HasSubstr(kWhy));
  EXPECT_THAT(history["refused"][0]["evidence"]["pairs"], SizeIs(5));
  bool kept = false;
  for (const Json& evaluation : history["evaluations"]) {
    kept = kept || (evaluation["variant"] == best && evaluation["verdict"] == "accepted");
  }
  EXPECT_TRUE(kept) << "what it won alone";
}

TEST_F(DemotionTest, WithoutAnIdItIsWhatIsPublished) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  EXPECT_EQ(Ask("demote", Loss({}))["result"]["variants"][0]["variant"], best);
  DrainUntil([&] { return Published() != best; });
}

TEST_F(DemotionTest, TwiceIsOnce) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  Ask("demote", Loss({best}));
  Drain();
  const Json again = Ask("demote", Loss({best}))["result"];
  EXPECT_THAT(again["variants"], IsEmpty());
  EXPECT_THAT(again["message"].get<std::string>(), HasSubstr("put aside before"));
  const auto place = FindKernel(*service_, "one", "");
  ASSERT_TRUE(place);
  EXPECT_THAT(records::Json::parse(History(*service_).Text(*place))["refused"], SizeIs(1));
}

TEST_F(DemotionTest, WhoAppliesByHandIsToldTo) {
  Prepare("kernel one a\n", {{"apply", "manual"}});
  Start();
  Drain();
  service_->Apply("");
  const std::string best = Published();
  ASSERT_THAT(best, Not(IsEmpty()));
  EXPECT_THAT(Ask("demote", Loss({best}))["result"]["message"].get<std::string>(),
              HasSubstr("cupilot apply"));
  Drain();
  EXPECT_EQ(Published(), best);
  service_->Apply("");
  EXPECT_NE(Published(), best);
}

TEST_F(DemotionTest, OnlyACertainLossOfAKnownVariantCounts) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  const auto code = [&](const std::function<void(Json&)>& change) {
    Json params = Loss({best});
    change(params);
    const Json reply = Ask("demote", params);
    return reply.contains("error") ? reply["error"]["code"].get<std::string>() : "done";
  };
  EXPECT_EQ(code([](Json& p) { p["high"] = 1.0; }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p["low"] = 0.94; }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p["low"] = "0.9"; }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p["pairs"].erase(0); }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p["pairs"][0] = 7; }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p.erase("kernel"); }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p = 7; }), "invalid_argument");
  EXPECT_EQ(code([](Json& p) { p["kernel"] = "two"; }), "not_found");
  EXPECT_EQ(code([](Json& p) { p["variants"] = {"0123"}; }), "not_found");
  Drain();
  EXPECT_EQ(Published(), best);
  EXPECT_THAT(Explain("one")["warnings"], IsEmpty());
}

TEST(Demotion, TravelsAsItIs) {
  protocol::Demotion demotion{"k", "/f", {"a", "b"}, "app", 0.9, 0.8, 0.95, {}};
  for (int i = 0; i < 5; ++i) demotion.pairs.emplace_back(0.9, 1.0 + i);
  const auto read = protocol::DemotionOf(protocol::ToJson(demotion));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, demotion);
}

}  // namespace
}  // namespace cupilot::service
