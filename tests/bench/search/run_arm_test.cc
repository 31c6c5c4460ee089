// Runs of arms from recordings: those of the repository, and one that is made here with documents
// for the mechanics only (mechanics_answers.h), in which a byte is changed.
#include "tests/bench/search/run_arm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"
#include "tests/support/answering_provider.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/fake_project.h"
#include "tests/support/make_records.h"
#include "tests/support/manual_clock.h"
#include "tests/support/mechanics_answers.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Workers and an evaluator that answer by themselves.
class SoonWorkers final : public evaluate::Workers {
 public:
  explicit SoonWorkers(loop::Loop& loop) : loop_(loop) { test::AnswerForFakeProjects(fake_); }
  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override {
    fake_.Call(std::move(call), std::move(done));
    loop_.Post([this] { fake_.RunOne(); });
  }
  void Pause() override {}
  void Resume() override {}
  void Stop() override {}
  evaluate::WorkerCounters counters() const override { return {}; }
  test::FakeWorkers& fake() { return fake_; }

 private:
  loop::Loop& loop_;
  test::FakeWorkers fake_;
};

class SoonEvaluator final : public evaluate::Evaluator {
 public:
  explicit SoonEvaluator(loop::Loop& loop)
      : loop_(loop), fake_([this](const evaluate::EvaluateRequest& request) {
          const auto t = request.variant.values.find("T");
          return test::MakeEvaluation(request, t == request.variant.values.end()
                                                   ? mechanical_
                                                   : 2 + t->second.get<double>() / 100);
        }) {}
  void Evaluate(evaluate::EvaluateRequest request,
                base::Callback<records::Evaluation> done) override {
    fake_.Evaluate(std::move(request), std::move(done));
    loop_.Post([this] { fake_.AnswerOne(); });
  }
  void Profile(evaluate::EvaluateRequest request, records::Evaluation evaluation,
               base::Callback<records::Evaluation> done) override {
    fake_.Profile(std::move(request), std::move(evaluation), std::move(done));
  }
  void Replay(evaluate::EvaluateRequest request, protocol::LeftBehind after,
              base::Callback<protocol::ReplayReply> done) override {
    fake_.Replay(std::move(request), std::move(after), std::move(done));
  }
  const std::vector<std::string>& evaluated() const { return fake_.evaluated(); }
  double mechanical_ = 1.5;  // speedup of what techniques make

 private:
  loop::Loop& loop_;
  test::FakeEvaluator fake_;
};

// An exchange folder in one: while nothing is given, all is pending.
class GivenAnswers final : public agents::Provider {
 public:
  GivenAnswers(loop::Loop& loop, bool& given) : loop_(loop), given_(given), inner_(Answers()) {}
  const std::string& name() const override { return name_; }
  agents::ProviderTraits traits() const override { return {.sends = true, .costs = false}; }
  std::string Bytes(const agents::ModelRequest& request) const override { return request.prompt; }
  std::unique_ptr<agents::ModelCall> Send(agents::ModelRequest request, agents::TextHandler text,
                                          agents::AnswerHandler done) override {
    loop_.Post([this] { inner_.AnswerOne(); });
    return inner_.Send(std::move(request), std::move(text), std::move(done));
  }
  std::size_t asked() const { return inner_.asked().size(); }

 private:
  test::AnsweringProvider::Answers Answers() {
    return [this](const agents::ModelRequest& request) -> agents::ModelResult {
      if (given_) return test::MechanicsAnswer(request);
      agents::ModelError error;
      error.why = agents::Failure::kPending;
      return tl::unexpected(error);
    };
  }
  loop::Loop& loop_;
  bool& given_;
  std::string name_ = "exchange /somebody's/folder";
  test::AnsweringProvider inner_;
};

class RunArmTest : public ::testing::Test {
 protected:
  RunArmTest() {
    surroundings_.providers = {{&provider_, ""}};
    side_.workers = &workers_;
    side_.evaluator = &evaluator_;
    side_.models = &surroundings_;
    begin_.kernel = "example";
    begin_.arm = "evolution";
    begin_.evaluations = 24;
    begin_.requests = 8;
    begin_.workload = test::MakeSmallWorkload("one");
    begin_.identity = {"a processor", "host-x86-64-v3", 2, 1024};
    begin_.scanned = ScannedKernel();
  }

  records::Kernel ScannedKernel() {
    protocol::ScanRequest scan;
    scan.source_text = "kernel one a\n";
    records::Kernel kernel;
    evaluate::Scan(workers_, scan, "host", [&](base::Result<protocol::ScanReply> reply) {
      ASSERT_TRUE(reply) << reply.error().message;
      kernel = reply->kernels.at(0);
    });
    while (kernel.name.empty()) loop_.RunOnce(true);
    return kernel;
  }
  base::Result<ArmRun> Live(const Recording& recording, Recording* used = nullptr) {
    return RunArm(loop_, clock_, *FindArm("evolution"), recording, &side_, used);
  }
  base::Result<ArmRun> Replayed(const Recording& recording) {
    return RunArm(loop_, clock_, *FindArm("evolution"), recording, nullptr);
  }

  test::TemporaryFolder folder_;
  loop::Loop loop_;
  test::ManualClock clock_;
  bool given_ = true;
  SoonWorkers workers_{loop_};
  SoonEvaluator evaluator_{loop_};
  GivenAnswers provider_{loop_, given_};
  service::ModelSurroundings surroundings_;
  LiveSide side_;
  Recording begin_;
};

TEST_F(RunArmTest, IsTheSameFromItsRecording) {
  const auto live = Live(begin_);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_THAT(live->used.exchanges, Not(IsEmpty()));
  EXPECT_THAT(live->curve.best, Contains(2.64));
  const std::string path = folder_ / "evolution.jsonl.zst";
  ASSERT_TRUE(WriteRecording(path, live->used));
  const auto recording = ReadRecording(path);
  ASSERT_TRUE(recording) << recording.error().message;
  const std::size_t asked = provider_.asked();
  const std::size_t evaluated = evaluator_.evaluated().size();
  for (int i = 0; i < 2; ++i) {
    const auto again = Replayed(*recording);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(Csv({again->curve}), Csv({live->curve}));
    EXPECT_EQ(again->ended, live->ended);
    EXPECT_EQ(again->used.exchanges.size(), recording->exchanges.size()) << "all is asked for";
  }
  EXPECT_EQ(provider_.asked(), asked);
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
  // What another arm measured is measured once.
  ASSERT_TRUE(Live(begin_));
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
}

// A folder's name is not recorded, nor anything else that is of this machine.
TEST_F(RunArmTest, SaysWhoAnsweredWithoutThePlace) {
  const auto live = Live(begin_);
  ASSERT_TRUE(live) << live.error().message;
  for (const agents::ExchangeRecord& one : live->used.exchanges) {
    EXPECT_EQ(one.provider, "exchange");
    EXPECT_THAT(one.sent, Not(IsEmpty()));
  }
}

TEST_F(RunArmTest, AChangedPromptByteIsAMissThatShowsTheRequest) {
  const auto live = Live(begin_);
  ASSERT_TRUE(live) << live.error().message;
  Recording changed = live->used;
  ASSERT_GE(changed.exchanges.size(), 3u);
  agents::ModelRequest& request = changed.exchanges[2].request;
  const std::string prompt = request.prompt;
  request.prompt.back() ^= 1;
  const auto again = Replayed(changed);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(again.error().message, HasSubstr("no answer was recorded for this request"));
  EXPECT_THAT(again.error().message, HasSubstr("role: " + request.role));
  EXPECT_THAT(again.error().message, HasSubstr(prompt));
}

TEST_F(RunArmTest, AnEvaluationThatIsNotThereIsAMiss) {
  const auto live = Live(begin_);
  ASSERT_TRUE(live) << live.error().message;
  Recording changed = live->used;
  const std::string variant = changed.facts.evaluations.begin()->first;
  changed.facts.evaluations.erase(variant);
  const auto again = Replayed(changed);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("no evaluation was recorded of variant " + variant));
}

// As with an exchange folder: what was told so far is kept, and the next run goes on behind it.
TEST_F(RunArmTest, GoesOnWhenAnswersAreThere) {
  given_ = false;
  Recording used;
  const auto open = Live(begin_, &used);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_GT(open->open_requests, 0);
  EXPECT_THAT(used.exchanges, IsEmpty());
  const std::size_t evaluated = evaluator_.evaluated().size();
  EXPECT_GT(evaluated, 0u);
  given_ = true;
  side_.facts = {};
  const auto whole = Live(used);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->open_requests, 0);
  const std::vector<std::string>& all = evaluator_.evaluated();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_GT(all.size(), evaluated);
}

// Two lines of work that ask the same at once want two answers, also from a recording.
TEST_F(RunArmTest, TheSameQuestionTwiceHasTwoAnswers) {
  evaluator_.mechanical_ = 0.9;  // so that there is one parent, the original
  begin_.arm = "code";
  const auto live = RunArm(loop_, clock_, *FindArm("code"), begin_, &side_);
  ASSERT_TRUE(live) << live.error().message;
  std::set<std::pair<std::string, int>> questions;
  std::set<std::string> prompts;
  for (const agents::ExchangeRecord& one : live->used.exchanges) {
    EXPECT_TRUE(questions.emplace(one.request.prompt, one.request.sample).second);
    prompts.insert(one.request.prompt);
  }
  EXPECT_LT(prompts.size(), questions.size());
  const auto again = RunArm(loop_, clock_, *FindArm("code"), live->used, nullptr);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(Csv({again->curve}), Csv({live->curve}));
}

TEST_F(RunArmTest, AnArmWithoutModelsAsksNone) {
  const auto run = RunArm(loop_, clock_, *FindArm("mechanical"), begin_, &side_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(provider_.asked(), 0u);
  EXPECT_EQ(run->curve.best.back(), 1.5);
  const auto numbers = RunArm(loop_, clock_, *FindArm("numbers"), begin_, &side_);
  ASSERT_TRUE(numbers) << numbers.error().message;
  EXPECT_EQ(workers_.fake().Count("rewrite"), static_cast<int>(run->used.facts.replies.size()) - 1)
      << "numbers are no strategies";
}

TEST_F(RunArmTest, ADamagedRecordingIsRefused) {
  const std::string path = folder_ / "x.jsonl.zst";
  ASSERT_TRUE(WriteRecording(path, begin_));
  std::string bytes = *base::ReadFile(path);
  ASSERT_TRUE(base::WriteFileAtomically(path, bytes.substr(0, bytes.size() / 2)));
  const auto read = ReadRecording(path);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(path));
  EXPECT_EQ(ReadRecording(folder_ / "none").error().code, base::ErrorCode::kNotFound);
}

// What was recorded on a real machine leads where it led, whatever was changed since: without a
// compiler, a device or a model.
TEST(Recordings, OfTheRepositoryAreWhole) {
  loop::Loop loop;
  const test::ManualClock clock;
  int count = 0;
  ASSERT_TRUE(fs::is_directory(CUPILOT_BENCH_RECORDINGS));
  for (const auto& entry : fs::recursive_directory_iterator(CUPILOT_BENCH_RECORDINGS)) {
    if (entry.path().extension() != ".zst") continue;
    SCOPED_TRACE(entry.path().string());
    const auto recording = ReadRecording(entry.path());
    ASSERT_TRUE(recording) << recording.error().message;
    const Arm* arm = FindArm(recording->arm);
    ASSERT_NE(arm, nullptr);
    const auto first = RunArm(loop, clock, *arm, *recording, nullptr);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = RunArm(loop, clock, *arm, *recording, nullptr);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(Csv({first->curve}), Csv({second->curve}));
    EXPECT_EQ(first->used.exchanges.size(), recording->exchanges.size());
    EXPECT_EQ(first->used.facts.evaluations.size(), recording->facts.evaluations.size());
    ++count;
  }
  EXPECT_EQ(count, 3 * static_cast<int>(Arms().size())) << "each arm of three kernels";
}

}  // namespace
}  // namespace cupilot::bench
