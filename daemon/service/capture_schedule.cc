#include "service/capture_schedule.h"

#include <map>
#include <utility>

#include "base/hash.h"

namespace cupilot::service {
namespace {

struct Group {
  std::set<std::string> signatures;
  std::set<std::string> builds;
  bool lacks = false;
  bool all_gone = true;  // of those that lack a workload
  CaptureDemand demand;
};

std::string SignatureOf(const CaptureObject::Kernel& kernel) {
  base::Hasher hasher;
  hasher.Add(kernel.file).Add(kernel.label);
  for (const std::string& parameter : kernel.parameters) hasher.Add(parameter);
  return hasher.Hex();
}

void Join(const CaptureObject& object, Group& group) {
  CaptureDemand& demand = group.demand;
  demand.id = object.id;
  demand.ready &= object.read;
  group.builds.insert(object.build);
  bool lacks = false;
  for (const CaptureObject::Kernel& kernel : object.kernels) {
    group.signatures.insert(SignatureOf(kernel));
    lacks |= kernel.lacks;
    group.all_gone &= kernel.gone || !kernel.lacks;
  }
  if (!lacks) return;
  group.lacks = true;
  demand.built &= object.built;
  demand.places.insert(object.places.begin(), object.places.end());
}

// The key is of all kernels of the test, not of those that lack a workload: a try after which some
// still do is not another one's beginning.
CaptureDemand Finish(Group group) {
  base::Hasher hasher;
  for (const std::string& signature : group.signatures) hasher.Add(signature);
  hasher.Add("builds");
  for (const std::string& build : group.builds) hasher.Add(build);
  group.demand.key = hasher.Hex();
  group.demand.ready &= group.demand.built;
  group.demand.gone = group.all_gone;
  return std::move(group.demand);
}

std::string Named(const std::string& test) { return "the test '" + test + "'"; }

}  // namespace

std::vector<CaptureDemand> DemandsOf(const std::vector<CaptureObject>& objects) {
  std::map<CaptureId, Group> groups;
  for (const CaptureObject& object : objects) Join(object, groups[object.id]);
  std::vector<CaptureDemand> demands;
  for (auto& [id, group] : groups) {
    if (group.lacks) demands.push_back(Finish(std::move(group)));
  }
  return demands;
}

bool IsDue(const CaptureDemand& demand, const CaptureTry* last) {
  if (!demand.ready) return false;
  if (last == nullptr || last->key != demand.key) return true;
  return !last->ended && last->begun < kMostBegun;
}

std::string NoteOf(const CaptureDemand& demand, const CaptureTry* last) {
  const std::string& test = demand.id.test;
  if (!demand.built) return "waits for the next build and its capture by " + Named(test);
  if (!demand.ready || IsDue(demand, last)) return "waits for the capture by " + Named(test);
  if (!last->ended) {
    return "the capture by " + Named(test) + " was interrupted " + std::to_string(last->begun) +
           " times; it is tried again after the next build, or run `cupilot capture -- PROGRAM`";
  }
  if (last->failure.empty() && demand.gone) {
    return "what the capture test '" + test + "' showed of it is not kept";
  }
  if (last->failure.empty()) {
    return "the capture test '" + test + "' showed no launch of it that can be used: see " +
           last->log;
  }
  return "the capture test '" + test + "' failed (" + last->failure + "): see " + last->log +
         "; it is run again when its kernels are built again, or after a configure";
}

base::Result<CaptureCommand> CommandOf(const Project& project, const std::string& name) {
  if (const CaptureTest* test = project.FindCaptureTest(name)) {
    if (test->words.empty()) {
      return base::Fail(base::NotFound("the command of the capture test '" + name +
                                       "' is not written yet: configure again"));
    }
    return CaptureCommand{test->folder, test->words};
  }
  if (project.ctest && project.ctest->empty()) {
    return base::Fail(base::NotFound(
        Named(name) +
        " cannot be run: testing is not enabled; call enable_testing() in the project's top "
        "folder, name a command with cupilot_capture_test(), or run `cupilot capture -- PROGRAM`"));
  }
  CaptureCommand command{
      project.build_folder,
      {project.ctest.value_or("ctest"), "--test-dir", project.build_folder, "-R",
       "^" + EscapedForCTest(name) + "$", "--no-tests=error", "--output-on-failure"}};
  if (!project.configuration.empty()) {
    command.words.insert(command.words.end(), {"-C", project.configuration});
  }
  return command;
}

std::string EscapedForCTest(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string("\\^$.[]*+?|()").find(c) != std::string::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace cupilot::service
