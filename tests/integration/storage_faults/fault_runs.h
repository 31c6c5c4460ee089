// Runs stories of a faulty disk, one for each fault and place, and keeps what they said.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cupilot::test {

struct ToldWrite {
  int table = 0;
  std::string key;
  std::string hash;  // of the value; empty: deleted
};
struct ToldBatch {
  std::vector<ToldWrite> writes;
  bool applied = false;  // the store said so; else it may be there or not
};

// What a story said until its end.
struct Told {
  int exit_code = -1;
  bool killed = false;
  std::string text;    // all of it, for messages
  std::string errors;  // standard error
  std::vector<ToldBatch> batches;
  std::vector<std::string> failures;  // steps that failed, with the reason
  // Words of the steps of a name that were done, and whether another one was begun.
  std::vector<std::string> done(const std::string& step) const;
  bool IsOpen(const std::string& step) const;
  std::string calls;  // empty: it did not come to its end
  std::string reads;
};
Told LiveStory(const std::string& story, const std::string& root, const std::string& fault,
               long at);

struct FaultRun {
  std::string fault;
  long at = 0;
  std::string root;
  Told told;
  // `at` counts calls that read.
  bool OfReading() const;
};

// Lives the story with each fault at its calls, two at a time, in folders in which `clear` was
// called first, and hands the end of each to `check`. Every `stride`-th call of each fault,
// beginning at another one for each; all of them where CUPILOT_ALL_FAULTS is set. Prints how many
// there were and returns that; ends early after a failure.
struct FaultPlan {
  std::string story;
  long stride = 1;
  long read_stride = 1;            // of faults of reading
  std::vector<std::string> roots;  // one a thread
  std::function<void(const std::string& root)> clear;
  std::function<void(const FaultRun& run)> check;
};
// `well`: what the story said without a fault.
long LiveWithFaults(const FaultPlan& plan, const Told& well);
// All of them are asked for.
bool AllFaults();

// A folder in memory where there is one with room: nothing here needs a real disk.
std::string FolderForFaults();

}  // namespace cupilot::test
