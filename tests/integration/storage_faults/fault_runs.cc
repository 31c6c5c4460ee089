#include "tests/integration/storage_faults/fault_runs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "records/json.h"
#include "tests/support/run_program.h"

namespace cupilot::test {
namespace {

constexpr std::array kFaults = {"full", "error", "broken", "short", "short_once",
                                "kill", "lost",  "zeros",  "mixed"};
constexpr std::array kReadFaults = {"unreadable", "unreadable_on", "short_read"};

ToldBatch BatchOf(const std::string& text) {
  ToldBatch batch;
  const records::Json json = records::Json::parse(text);
  for (const records::Json& write : json) {
    batch.writes.push_back(
        {write[0].get<int>(), write[1].get<std::string>(), write[2].get<std::string>()});
  }
  return batch;
}

// What follows the word and a blank, if the line begins so.
bool TakeWord(const std::string& line, const std::string& word, std::string& rest) {
  if (line.rfind(word + " ", 0) != 0) return false;
  rest = line.substr(word.size() + 1);
  return true;
}

Told Read(const ProgramRun& run) {
  Told told;
  told.exit_code = run.exit_code;
  told.killed = run.exit_code == 128 + SIGKILL;
  told.text = run.output;
  told.errors = run.errors;
  std::istringstream lines(run.output);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (TakeWord(line, "batch", rest)) told.batches.push_back(BatchOf(rest));
    if (line == "applied") told.batches.back().applied = true;
    if (TakeWord(line, "failed", rest)) told.failures.push_back(rest);
    if (TakeWord(line, "calls", rest)) told.calls = rest;
    if (TakeWord(line, "reads", rest)) told.reads = rest;
  }
  return told;
}

bool IsWanted(const std::string& fault) {
  const char* only = std::getenv("CUPILOT_FAULT");
  return only == nullptr || fault == only;
}

// Every `stride`-th of the calls at which the fault means something, for each of the faults.
template <class Faults>
void AddRuns(const Faults& faults, const std::string& calls, long stride,
             std::vector<FaultRun>& runs) {
  long offset = 0;
  for (const std::string fault : faults) {
    ++offset;
    if (!IsWanted(fault)) continue;
    const char only = fault == "short_read" ? 'R' : fault.starts_with("short") ? 'w' : 0;
    long number = offset;
    for (long at = 1; at <= static_cast<long>(calls.size()); ++at) {
      if (only != 0 && calls[static_cast<std::size_t>(at - 1)] != only) continue;
      if (number++ % stride == 0) runs.push_back({fault, at, "", {}});
    }
  }
}

}  // namespace

std::vector<std::string> Told::done(const std::string& step) const {
  std::vector<std::string> words;
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (TakeWord(line, "done " + step, rest)) words.push_back(rest);
  }
  return words;
}

bool Told::IsOpen(const std::string& step) const {
  std::size_t begun = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) begun += line == "begin " + step ? 1 : 0;
  return begun > done(step).size();
}

bool FaultRun::OfReading() const {
  return std::find(kReadFaults.begin(), kReadFaults.end(), fault) != kReadFaults.end();
}

Told LiveStory(const std::string& story, const std::string& root, const std::string& fault,
               long at) {
  return Read(RunProgram({CUPILOT_FAULTY_STORAGE, story, root, fault, std::to_string(at)}));
}

bool AllFaults() { return std::getenv("CUPILOT_ALL_FAULTS") != nullptr; }

long LiveWithFaults(const FaultPlan& plan, const Told& well) {
  std::vector<FaultRun> runs;
  AddRuns(kFaults, well.calls, AllFaults() ? 1 : plan.stride, runs);
  AddRuns(kReadFaults, well.reads, AllFaults() ? 1 : plan.read_stride, runs);
  std::atomic<std::size_t> next{0};
  std::atomic<long> met{0};
  std::vector<std::thread> threads;
  for (const std::string& root : plan.roots) {
    threads.emplace_back([&, root] {
      for (std::size_t i = next++; i < runs.size() && !::testing::Test::HasFailure(); i = next++) {
        FaultRun& run = runs[i];
        SCOPED_TRACE(plan.story + " " + run.fault + " " + std::to_string(run.at));
        run.root = root;
        plan.clear(root);
        run.told = LiveStory(plan.story, root, run.fault, run.at);
        met += run.told.killed || !run.told.failures.empty() ? 1 : 0;
        plan.check(run);
        run.told = {};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%s: %zu faults at %zu calls and %zu that read, %ld of which a step saw\n",
              plan.story.c_str(), runs.size(), well.calls.size(), well.reads.size(), met.load());
  return met;
}

std::string FolderForFaults() {
  namespace fs = std::filesystem;
  constexpr std::uintmax_t kRoom = std::uintmax_t{256} << 20;
  std::error_code error;
  const bool room = fs::space("/dev/shm", error).available >= kRoom && !error &&
                    ::access("/dev/shm", W_OK | X_OK) == 0;
  return room ? "/dev/shm" : fs::temp_directory_path().string();
}

}  // namespace cupilot::test
