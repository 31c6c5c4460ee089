// Tuned = untuned, at every build: small projects, edits of their users, and after each build the
// programs print what they print with CUPILOT_DISABLE=1. Real are CMake, launcher, scan, publisher
// and hook; the evaluator is not: all variants compute what the scan says that the kernel computes.
//
// A history is a line, "SHAPE daemon|lock frozen|naming | INGREDIENTS | STEPS". Steps are edits
// ("defines.gain"), after each of which there is a build, and
//   look     the daemon scans and publishes; a build
//   scan     the first half of that: what is published later may be of files that were edited since
//   publish  the other half; a build
//
// CUPILOT_HISTORY   lines: these in the place of random ones
// CUPILOT_HISTORIES number of random ones (12)
// CUPILOT_SEED      of the first of them; each has the next
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>

#include "tuned_project.h"

namespace cupilot::test {
namespace {

constexpr int kSeed = 20261129;
constexpr int kHistories = 12;
constexpr int kEdits = 6;        // of a random history
constexpr int kIngredients = 3;  // likewise
// Of the edits that leave the kernel alone, so many of a hundred keep the variant (design).
constexpr int kUseful = 95;

struct History {
  std::string shape;
  TunedProject::Options options;
  std::vector<std::string> ingredients, steps;
};

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string Text(const History& history) {
  std::string text = history.shape + (history.options.lock ? " lock" : " daemon") +
                     (history.options.frozen ? " frozen |" : " naming |");
  for (const std::string& word : history.ingredients) text += " " + word;
  text += " |";
  for (const std::string& word : history.steps) text += " " + word;
  return text;
}

History Parse(const std::string& text) {
  const std::size_t one = text.find('|'), two = text.find('|', one + 1);
  const std::vector<std::string> head = Words(text.substr(0, one));
  History history;
  history.shape = head.at(0);
  history.options = {head.at(1) == "lock", head.at(2) == "frozen"};
  history.ingredients = Words(text.substr(one + 1, two - one - 1));
  history.steps = Words(text.substr(two + 1));
  return history;
}

History RandomHistory(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](std::size_t below) { return random() % below; };
  History history;
  history.shape = Shapes()[pick(Shapes().size())];
  history.options = {pick(10) < 3, pick(10) < 7};
  std::vector<std::string> edits;
  const auto& all = Ingredients();
  const auto drawn = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Ingredient& one) { return !one.fixed; }));
  while (history.ingredients.size() < kIngredients) {
    const Ingredient& one = all[1 + pick(drawn - 1)];
    const auto& has = history.ingredients;
    if (std::find(has.begin(), has.end(), one.name) != has.end()) continue;
    history.ingredients.push_back(one.name);
    for (const Edit& edit : one.edits) edits.push_back(one.name + "." + edit.name);
  }
  history.steps = {"look"};
  for (int i = 0; i < kEdits; ++i) {
    const bool late = pick(10) == 0;
    if (late) history.steps.push_back("scan");
    const auto& plain = Ingredients()[0].edits;
    const bool own = !edits.empty() && pick(2) == 0;
    history.steps.push_back(own ? edits[pick(edits.size())]
                                : "plain." + plain[pick(plain.size())].name);
    if (late) history.steps.push_back("publish");
    if (pick(2) == 0) history.steps.push_back("look");
  }
  return history;
}

// What became of edits that left the kernel alone while it was tuned, by edit.
struct Counts {
  int kept = 0, all = 0;
  std::map<std::string, int> reasons;
};

class TunedIsUntuned : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { machine_ = std::make_unique<UserMachine>(); }
  static void TearDownTestSuite() { machine_.reset(); }

  // Plays it until something is wrong.
  void Play(const History& history, std::map<std::string, Counts>* counts = nullptr) {
    history_ = &history;
    std::vector<std::string> programs = {"app"};
    bool by_time = false;
    for (const std::string& name : history.ingredients) {
      const Ingredient* one = FindIngredient(name);
      ASSERT_NE(one, nullptr) << name;
      programs.insert(programs.end(), one->targets.begin(), one->targets.end());
      by_time = by_time || one->by_time;
    }
    project_.emplace(*machine_, MakeTree(history.shape, history.ingredients, history.options.lock),
                     programs, history.options);
    ASSERT_EQ(project_->Configure(), "") << Text(history);
    ASSERT_NO_FATAL_FAILURE(BuildAndCompare("first build"));
    for (const std::string& step : history.steps) {
      ++steps_;
      ASSERT_NO_FATAL_FAILURE(Step(step, by_time, counts));
      if (HasFailure()) return;
    }
    if (!by_time) CompareWithoutUs();
  }

  void Step(const std::string& step, bool by_time, std::map<std::string, Counts>* counts) {
    if (step == "scan" || step == "look") {
      ASSERT_EQ(project_->Scan(), "") << Where(step);
    }
    if (step == "scan") return;
    const std::string before = original_;
    const int tuned = tuned_;
    if (step == "publish" || step == "look") {
      ASSERT_EQ(project_->Publish(), "") << Where(step);
      ASSERT_NO_FATAL_FAILURE(BuildAndCompare(step));
      // In the tuned object the original is what it was.
      if (!by_time) {
        EXPECT_EQ(original_, before) << Where(step);
      }
      looks_ += 1;
      launched_ += tuned_ > 0 ? 1 : 0;
      return;
    }
    const Edit* edit = FindEdit(step);
    ASSERT_NE(edit, nullptr) << step;
    project_->Apply(*edit);
    ASSERT_NO_FATAL_FAILURE(BuildAndCompare(step));
    // The time of a build may make up for an edit.
    if (edit->effect == Effect::kChanges && !by_time) {
      EXPECT_NE(original_, before) << Where(step);
    }
    if (counts == nullptr || by_time || edit->effect != Effect::kAlone || original_ != before) {
      return;
    }
    if (tuned == 0) return;
    Counts& count = (*counts)[step];
    count.all += 1;
    if (tuned_ >= tuned) {
      count.kept += 1;
    } else {
      count.reasons[project_->Reasons()] += 1;
    }
  }

  std::string Where(const std::string& step) const {
    return "at '" + step + "' (step " + std::to_string(steps_) + ") of CUPILOT_HISTORY='" +
           Text(*history_) + "'\n" + project_->Reasons();
  }

  void BuildAndCompare(const std::string& step) {
    ASSERT_EQ(project_->Build(), "") << Where(step);
    const TunedProject::Seen tuned = project_->Run(false), untuned = project_->Run(true);
    EXPECT_EQ(tuned.output, untuned.output) << Where(step);
    original_ = untuned.output;
    tuned_ = tuned.tuned;
    if (std::getenv("CUPILOT_HISTORY") != nullptr) {
      std::printf("%s: %d tuned; %s\n%s", step.c_str(), tuned_, project_->Reasons().c_str(),
                  original_.c_str());
      std::fflush(stdout);
    }
  }

  // The original in a tuned object is what a build without us makes.
  void CompareWithoutUs() {
    project_->TouchSources();
    ASSERT_NO_FATAL_FAILURE(BuildAndCompare("touched sources"));
    const std::string with_us = original_;
    project_->TouchSources();
    ASSERT_EQ(project_->Build({{"CUPILOT", "0"}}), "") << Where("CUPILOT=0");
    EXPECT_EQ(project_->Run(false).output, with_us) << Where("CUPILOT=0");
  }

  static std::unique_ptr<UserMachine> machine_;
  std::optional<TunedProject> project_;
  const History* history_ = nullptr;
  std::string original_;
  int tuned_ = 0;
  int steps_ = 0;
  static int looks_, launched_;
};
std::unique_ptr<UserMachine> TunedIsUntuned::machine_;
int TunedIsUntuned::looks_ = 0;
int TunedIsUntuned::launched_ = 0;

// Histories that failed once, by what they are about.
struct Fixed {
  const char* name;
  const char* history;
};
std::ostream& operator<<(std::ostream& out, const Fixed& fixed) { return out << fixed.history; }
constexpr Fixed kFixed[] = {
    {"header_of_macros", "plain daemon frozen | defines | look defines.gain"},
    {"header_of_macros_locked", "plain lock frozen | defines | look defines.gain"},
    {"forced_header", "plain daemon frozen | forced | look forced.number"},
    {"optimised", "plain daemon frozen | optimised | look"},
    {"clang", "plain daemon frozen | clang | look"},
    {"openmp", "plain daemon frozen | openmp | look"},
    {"separable", "plain daemon frozen | separable | look"},
    {"vectors", "plain daemon frozen | vectors | look"},
    {"fast", "plain daemon frozen | fast | look"},
    {"built_in", "plain daemon frozen | built_in | look"},
    {"append_flags", "plain daemon frozen | appended | look appended.append look"},
    {"list_of_definitions", "plain daemon frozen | list | look"},
    {"words_for_host", "plain daemon frozen | host_words | look"},
    {"folder_for_host", "plain daemon frozen | after | look after.appears look"},
    {"header_of_macros_of_header", "plain daemon frozen | nested | look nested.depth"},
    {"header_with_its_old_time", "plain daemon frozen | declares | look declares.same_time"},
    {"earlier_folder", "plain daemon frozen | declared_folders | look declared_folders.earlier"},
    {"earlier_folder_of_macros", "plain daemon frozen | folders | look folders.earlier"},
    {"header_beside_the_source", "plain daemon frozen | beside | look beside.appears"},
    {"next_header", "plain daemon frozen | next | look next.number look next.middle"},
    {"asked_header_that_is_empty", "plain daemon frozen | asks_only | look asks_only.appears"},
    {"other_link", "plain daemon frozen | linked | look linked.retarget"},
    {"seconds", "plain daemon frozen | second | look"},
    {"seconds_locked", "overloaded lock naming | asserts defines second | look defines.gain look"},
    {"packed_structure", "plain daemon frozen | packed | look packed.align look"},
    {"include_level", "plain daemon frozen | level | look"},
    {"base_file", "plain daemon frozen | base_file | look"},
    {"function_at_level_0", "plain daemon frozen | top_level | look"},
    {"overload_below", "plain daemon naming | overload | look overload.below look"},
    {"asked_header", "plain daemon frozen | asks | look asks.appears"},
    {"attributes_behind_names",
     "plain daemon frozen | attributed | look attributed.bias look "
     "attributed.type look attributed.comment"},
    {"attributes_behind_names_locked",
     "plain lock frozen | attributed | look attributed.bias look attributed.type"},
};

class FixedHistories : public TunedIsUntuned, public ::testing::WithParamInterface<Fixed> {};

TEST_P(FixedHistories, PrintTheSame) { Play(Parse(GetParam().history)); }

INSTANTIATE_TEST_SUITE_P(All, FixedHistories, ::testing::ValuesIn(kFixed),
                         [](const auto& param) { return std::string(param.param.name); });

int NumberOf(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

class RandomHistories : public TunedIsUntuned, public ::testing::WithParamInterface<std::string> {
 public:
  static void TearDownTestSuite() {
    int kept = 0, all = 0;
    for (const auto& [edit, count] : counts_) {
      kept += count.kept;
      all += count.all;
      if (count.kept == count.all) continue;
      std::printf("  %s: %d of %d kept\n", edit.c_str(), count.kept, count.all);
      for (const auto& [reason, times] : count.reasons) {
        std::printf("    %d x %s\n", times, reason.c_str());
      }
    }
    std::printf("%d of %d edits elsewhere kept the variant; after %d of %d looks one ran\n", kept,
                all, launched_, looks_);
    EXPECT_GE(kept * 100, all * kUseful);
    TunedIsUntuned::TearDownTestSuite();
  }

 protected:
  static std::map<std::string, Counts> counts_;
};
std::map<std::string, Counts> RandomHistories::counts_;

TEST_P(RandomHistories, PrintTheSame) { Play(Parse(GetParam()), &counts_); }

std::vector<std::string> Chosen() {
  std::vector<std::string> chosen;
  if (const char* lines = std::getenv("CUPILOT_HISTORY")) {
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) chosen.push_back(line);
    return chosen;
  }
  const int seed = NumberOf("CUPILOT_SEED", kSeed),
            count = NumberOf("CUPILOT_HISTORIES", kHistories);
  for (int i = 0; i < count; ++i) {
    chosen.push_back(Text(RandomHistory(static_cast<unsigned>(seed + i))));
  }
  std::printf("%d histories from seed %d on\n", count, seed);
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(All, RandomHistories, ::testing::ValuesIn(Chosen()));

}  // namespace
}  // namespace cupilot::test
