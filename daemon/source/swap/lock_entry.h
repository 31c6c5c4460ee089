// Entries of a lock file: made from what the daemon has proven for an object, and judged, without
// a parser, for a compile anywhere.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"
#include "records/lock.h"
#include "source/swap/portable_command.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

// One proven variant of one kernel of an object.
struct LockSubject {
  std::string cmake_target;
  const records::Kernel& kernel;
  const records::Workload& workload;
  const records::Evaluation& evaluation;
  SwappedVariant variant;
  // Every file of the user's that the scan read, the source first, with its text.
  const std::vector<std::pair<std::string, std::string>>& files;
  const std::vector<records::PassSummary>& compiled;  // what the compiler made of them
};

// Judges entries for one compile. Files are read once.
class LockJudge {
 public:
  LockJudge(const records::CompileCommand& command, const ProjectFolders& folders);

  // The order of the judgement: a later reason is about an entry that fits better.
  enum class Fits { kOtherCompiler, kOtherFlags, kOtherText, kYes };
  struct Judgement {
    Fits fits = Fits::kYes;
    std::string reason;  // "its text has changed"
  };
  // By what the compiler reads, if that is known, else by the files.
  Judgement Judge(const records::LockedKernel& entry);
  void SetCompiled(std::vector<records::PassSummary> compiled) { compiled_ = std::move(compiled); }
  // Only the text of the project's own files: what can be said without the compile.
  std::string WhyProjectDiffers(const records::LockedKernel& entry);

  const records::CompileCommand& command() const { return command_; }
  const ProjectFolders& folders() const { return folders_; }
  const std::string& toolchain() const { return toolchain_; }
  const std::vector<std::string>& flags() const { return flags_; }
  const std::vector<std::string>& include_folders() const { return include_folders_; }

 private:
  std::string WhyFileDiffers(const records::LockedKernel& entry, const records::LockedFile& file);
  std::string WhyTextDiffers(const records::LockedKernel& entry);
  std::string WhyTokensDiffer(const records::LockedKernel& entry);
  std::string WhyOtherFile(const records::LockedFile& file) const;
  const std::string* TextOf(const std::string& path);

  const records::CompileCommand& command_;
  const ProjectFolders& folders_;
  std::string toolchain_;
  std::vector<std::string> flags_;
  std::vector<std::string> include_folders_;
  std::map<std::string, std::string> texts_;
  std::vector<records::PassSummary> compiled_;
};

// `judge`: for the object's compile. kUnsupported: it cannot be pinned, with the reason ("src/a.cu
// lies outside the project").
base::Result<records::LockedKernel> MakeLockedKernel(const LockSubject& subject, LockJudge& judge);

// The order in which kernels and variants are written out, so that a published selection and a lock
// file make the same bytes of the same variants.
void PutInOrder(SwapRequest& request);

// The entry as the writer of swapped sources takes it.
records::Kernel KernelOf(const records::LockedKernel& entry);
SwappedVariant VariantOf(const records::LockedKernel& entry);

}  // namespace cupilot::source
