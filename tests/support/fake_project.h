// A user's project without CMake, compiler or CUDA: a source of a language of its own, the folders
// and files that module and launcher make, and builds as the launcher does them.
//
// A line "kernel NAME BODY [weight=W] [smaller=CASE] [refuses=REASON] [more=TYPE] [bytes=N]
// [workload=none] [tunable=T] [loops=N] [declined=WHY]" of the source is a tagged kernel: its key
// is NAME and BODY, its case "only" has the weight W, there is a smaller case CASE beside it, every
// technique declines it for REASON, it has another parameter of the type TYPE (where the command
// defines a macro of that name, of its value), what its first parameter leads to has N bytes, its
// tag says no workload, its tunable T is 16, or 32, and its features (which else nobody knows) are
// those of a kernel with N loops, and it is not tuned for this WHY, which the scan warns of, too. A
// line "__global__ void NAME(..." is a kernel without a tag. All other lines are what stands around
// it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evaluate/evaluator.h"
#include "records/compile_command.h"
#include "records/kernel.h"
#include "records/selection.h"
#include "tests/support/fake_workers.h"

namespace cupilot::test {

class FakeProject {
 public:
  // Makes the project in `root` (folders source, build, toolkit); what is there stays.
  explicit FakeProject(std::string root);

  // .../cupilot/app/main.cu.o of the project in `root`, whether it is there or not. Who only looks
  // asks for this: a program that a process writes cannot be run as long as a child that it started
  // meanwhile has the file open.
  static std::string ObjectFolderIn(const std::string& root);

  const std::string& build_folder() const { return build_; }
  std::string source() const { return source_ + "/main.cu"; }
  std::string header() const { return source_ + "/main.h"; }
  // .../cupilot/app/main.cu.o
  const std::string& object_folder() const { return object_; }
  const records::CompileCommand& command() const { return command_; }
  records::CompileCommand& command() { return command_; }

  // It is that of another target, which compiles the same source.
  void SetTarget(const std::string& name);

  // In the user's editor. It is newer than the object then.
  void WriteSource(const std::string& text) const;
  // As editors save that write a new file and rename it over the old one.
  void SaveByRename(const std::string& text) const;
  // project.json; `options` are more keys of its only target: "apply", "kernels", "numerics".
  void Configure(const records::Json& options = records::Json::object()) const;
  // The registration in the state folder of the daemon.
  void Register(const std::string& state_folder) const;

  // One compile, as the launcher does it, which leaves an object newer than all that it is made of:
  // true if the swapped source was taken. `refuse`: the
  // swapped source does not compile, the compiler said `log`.
  bool Compile(bool refuse = false, const std::string& log = "error") const;
  // What later compiles make of a variant for a target, as a hash; empty: that cannot be read.
  using Code = std::function<std::string(const std::string& variant, const std::string& target)>;
  void MakeCode(Code code) { code_ = std::move(code); }
  // With CUPILOT=0.
  void CompileTurnedOff() const;
  // The name of the published swapped source; empty: none, or an empty selection.
  std::string PublishedSwap() const;
  // Ids of the published variants.
  std::vector<std::string> PublishedVariants() const;
  // True if the stamp was touched after the last compile.
  bool StampIsNew() const;

 private:
  void WriteApplied(const std::string& selection, const std::string& reason,
                    const std::string& compiled = {}, const records::Json& text = nullptr) const;
  records::Json TextOf(const records::Selection& selection) const;
  void AgeStamp() const;
  void WriteObject() const;

  std::string source_, build_, object_;
  records::CompileCommand command_;
  Code code_;
};

// What the source workers of such projects answer, by op: scan, propose, rewrite, retune.
const std::map<std::string, FakeWorkers::Answer>& AnswersForFakeProjects();
// Lets the workers answer scan, propose, rewrite and describe_device for such projects.
void AnswerForFakeProjects(FakeWorkers& workers);

// An accepted (or, at 1 or less, a rejected) evaluation of the request with this speedup.
records::Evaluation MakeEvaluation(const evaluate::EvaluateRequest& request, double speedup);
// A speedup between 0.5 and 1.5 by the variant's id: the same in every run.
double SpeedupOf(const std::string& variant_id);

}  // namespace cupilot::test
