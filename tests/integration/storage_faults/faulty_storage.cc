// faulty_storage STORY ROOT FAULT N: a story of the store or of the publisher (story.h) in the
// folder ROOT, in which the N-th call that changes a file (or reads) has the FAULT
// (faulty_calls.h); ROOT.keep is a folder that the model of the disk may use. "-" as FAULT: none;
// the calls are its last line.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "base/file.h"
#include "tests/integration/storage_faults/faulty_calls.h"
#include "tests/integration/storage_faults/story.h"

namespace cupilot::test {

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void TakeStep(const std::string& name, const StoryStep& step) {
  Say("begin " + name);
  auto result = step();
  if (!result) {
    Say("failed " + name + ": " + result.error().message);
    HealDisk();
    result = step();
  }
  if (!result) {
    Say("stuck " + name + ": " + result.error().message);
    std::_Exit(3);
  }
  Say("done " + name + " " + *result);
}

namespace {

struct Named {
  void (*prepare)(const std::string& root);
  void (*live)(const std::string& root);
};
const std::map<std::string, Named> kStories = {
    {"store", {[](const std::string&) {}, LiveWithStore}},
    {"upgrade", {PrepareUpgrade, LiveWithUpgrade}},
    {"publisher", {PreparePublisher, LiveWithPublisher}},
};

int Main(int argc, char** argv) {
  if (argc != 5 || !kStories.contains(argv[1])) return 2;
  const std::string root = argv[2];
  const Named& story = kStories.at(argv[1]);
  if (!base::MakeFolders(root) || !base::MakeFolders(root + ".keep")) return 2;
  story.prepare(root);
  BeginDiskFaults({root, root + ".keep", FaultNamed(argv[3]), std::atol(argv[4])});
  story.live(root);
  Say("reads " + DiskReads());
  Say("calls " + DiskCalls());
  return 0;
}

}  // namespace
}  // namespace cupilot::test

int main(int argc, char** argv) { return cupilot::test::Main(argc, argv); }
