#include "source/swap/lock_choice.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"

namespace cupilot::source {
namespace {

using records::LockedKernel;

bool IsFor(const LockedKernel& entry, const std::string& target) {
  const auto& targets = entry.cmake_targets;
  return targets.empty() || std::find(targets.begin(), targets.end(), target) != targets.end();
}

// Those about the object, in the file's order.
std::vector<LockedKernel> EntriesFor(const LockFile& file, const LockQuestion& question,
                                     const std::string& source_path) {
  const std::string source = PortablePath(source_path, question.folders);
  std::vector<LockedKernel> entries;
  for (const LockedKernel& entry : file.kernels) {
    if (!source.empty() && entry.source == source && IsFor(entry, question.target)) {
      entries.push_back(entry);
    }
  }
  return entries;
}

std::string DigestOf(const std::vector<LockedKernel>& entries) {
  if (entries.empty()) return {};
  records::Json all = records::Json::array();
  for (const LockedKernel& entry : entries) all.push_back(records::ToJson(entry));
  return records::HashJson(all);
}

bool SameKernel(const LockedKernel& a, const LockedKernel& b) {
  return a.signature == b.signature && a.kernel == b.kernel;
}

class Chooser {
 public:
  Chooser(const std::string& name, const ProjectFolders& folders,
          const records::CompileCommand& command, LockChoice& out)
      : name_(name), command_(command), judge_(command, folders), out_(out) {}

  void SetCompiled(std::vector<records::PassSummary> compiled) {
    judge_.SetCompiled(std::move(compiled));
  }

  // Entries [begin, end) are about one kernel.
  void Take(const LockedKernel* begin, const LockedKernel* end) {
    SwappedKernel swapped{KernelOf(*begin), {}};
    LockJudge::Judgement best{LockJudge::Fits::kOtherCompiler, ""};
    for (const LockedKernel* entry = begin; entry != end; ++entry) {
      if (!MakesTarget(command_, judge_.toolchain(), entry->target)) continue;
      const LockJudge::Judgement judged = judge_.Judge(*entry);
      if (judged.fits == LockJudge::Fits::kYes) swapped.variants.push_back(VariantOf(*entry));
      if (judged.fits > best.fits || best.reason.empty()) best = judged;
    }
    const std::string who = "kernel " + LabelOf(swapped.kernel) + " in " + name_;
    if (swapped.variants.empty()) {
      if (best.reason.empty()) {
        out_.reason = name_ + " has no variant for this compile's architectures";
      } else {
        Note(who + " does not fit " + begin->source + " any more: " + best.reason +
             "; run `cupilot lock`");
      }
      return;
    }
    // One that cannot be written out must not take the others with it.
    SwapRequest alone{out_.request.source, out_.request.unit, {swapped}};
    if (const auto written = WriteSwappedSource(alone); !written) {
      return Note(who + " cannot be compiled in: " + written.error().message);
    }
    for (const LockedKernel* entry = begin; entry != end; ++entry) {
      out_.measured.push_back({entry->variant.id, entry->target, entry->evaluation.text_hash});
    }
    out_.request.kernels.push_back(std::move(swapped));
  }

 private:
  void Note(const std::string& text) {
    out_.notes.push_back("cupilot: " + text);
    out_.reason = text;
  }

  std::string name_;
  const records::CompileCommand& command_;
  LockJudge judge_;
  LockChoice& out_;
};

}  // namespace

LockFile ReadLockFile(const std::string& path) {
  LockFile file;
  file.name = path.substr(path.rfind('/') + 1);
  file.there = !path.empty() && base::FileExists(path);
  if (!file.there) return file;
  const auto text = base::ReadFile(path);
  auto lock =
      text ? records::ParseLock(*text) : base::Result<records::Lock>(base::Fail(text.error()));
  if (!lock) {
    file.error = lock.error().message;
    return file;
  }
  records::SortLock(*lock);
  file.kernels = std::move(lock->kernels);
  return file;
}

LockChoice ChooseFromLock(const LockFile& file, const LockQuestion& question,
                          const records::CompileCommand& command) {
  LockChoice choice;
  choice.there = file.there;
  if (!file.error.empty()) {
    choice.reason = file.name + " is not used: " + file.error;
    choice.notes.push_back("cupilot: " + choice.reason);
    return choice;
  }
  const std::vector<LockedKernel> entries = EntriesFor(file, question, command.source);
  choice.digest = DigestOf(entries);
  if (entries.empty()) {
    choice.reason = file.name + " names no kernel of this source";
    return choice;
  }
  choice.request.source = command.source;
  choice.request.unit = command.folder;
  const auto compiler = AskCompiler(command);
  if (!compiler) {
    choice.reason = file.name + " is not used: " + compiler.error().message;
    return choice;
  }
  Chooser chooser(file.name, question.folders, command, choice);
  std::vector<records::PassSummary> compiled = Summarise(compiler->passes);
  choice.request.user_macros = UserMacrosOf(compiled);
  chooser.SetCompiled(std::move(compiled));
  const LockedKernel* end = entries.data() + entries.size();
  for (const LockedKernel* begin = entries.data(); begin != end;) {
    const LockedKernel* next = std::find_if_not(
        begin, end, [begin](const LockedKernel& entry) { return SameKernel(entry, *begin); });
    chooser.Take(begin, next);
    begin = next;
  }
  PutInOrder(choice.request);
  return choice;
}

std::string DigestFor(const LockFile& file, const LockQuestion& question,
                      const std::string& source) {
  return DigestOf(EntriesFor(file, question, source));
}

}  // namespace cupilot::source
