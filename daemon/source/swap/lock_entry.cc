#include "source/swap/lock_entry.h"

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "base/hash.h"
#include "records/launch_names.h"
#include "source/swap/compiled_text.h"
#include "source/swap/edit_window.h"
#include "source/swap/nameless_kernels.h"

namespace cupilot::source {
namespace {

std::string TitleOf(const records::Variant& variant) {
  return variant.strategy ? variant.strategy->title : "";
}

// The first word that is on one side only: "-O3 is gone", "-DN=4 is new".
std::string FirstFlagThatDiffers(const std::vector<std::string>& then,
                                 const std::vector<std::string>& now) {
  const auto lacks = [](const std::vector<std::string>& flags, const std::string& flag) {
    return std::find(flags.begin(), flags.end(), flag) == flags.end();
  };
  for (const std::string& flag : then) {
    if (lacks(now, flag)) return flag + " is gone";
  }
  for (const std::string& flag : now) {
    if (lacks(then, flag)) return flag + " is new";
  }
  return "their order is another";
}

records::LockedFile MarkOf(const std::string& path, const std::string& text,
                           const records::Kernel& kernel, const records::EditWindow& window,
                           bool judged) {
  records::LockedFile file;
  std::vector<records::ClosureRange> needed;
  for (const records::ClosureRange& range : kernel.closure) {
    if (range.file == path) needed.push_back(range);
  }
  if (judged) file.outline = OutlineOf(text, window, needed);
  if (file.outline.empty()) file.hash = base::HashHex(text);
  return file;
}

}  // namespace

base::Result<records::LockedKernel> MakeLockedKernel(const LockSubject& subject, LockJudge& judge) {
  const records::Kernel& kernel = subject.kernel;
  const std::string& source = judge.command().source;
  if (IsNameless(kernel)) {
    return base::Fail(base::Unsupported(
        "what a lambda captures follows from text that a lock file does not hold"));
  }
  records::LockedKernel entry;
  entry.source = PortablePath(source, judge.folders());
  if (entry.source.empty()) {
    return base::Fail(base::Unsupported(source + " lies outside the project"));
  }
  entry.toolchain = judge.toolchain();
  if (entry.toolchain.empty()) {
    return base::Fail(base::Unsupported("the version of its compiler is not known"));
  }
  entry.kernel = kernel.name;
  entry.label = kernel.label;
  entry.signature = kernel.signature;
  entry.kernel_key = kernel.key;
  entry.cmake_targets = {subject.cmake_target};
  entry.target = subject.variant.target;
  entry.devices = subject.variant.devices;
  entry.flags = judge.flags();
  entry.namespaces = kernel.namespaces;
  entry.template_arguments = kernel.template_arguments;
  entry.parameters = kernel.parameters;
  entry.macros_back = kernel.macros_back;
  std::vector<std::string_view> definitions = {kernel.closure_macros};
  for (const auto& [path, text] : subject.files) definitions.push_back(text);
  entry.window =
      MakeEditWindow({kernel.closure_source, subject.variant.variant.source}, definitions);
  std::vector<std::string>& names = entry.window.names;
  const bool judged = !names.empty() && !kernel.depends_on_lines;
  for (std::string& name : NamesLookedUp({subject.variant.variant.source})) {
    names.push_back(std::move(name));
  }
  names.insert(names.end(), kernel.names.begin(), kernel.names.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (HasHiddenLines(kernel)) names = {std::string(kAnyName)};
  entry.tokens = HashOfTokens(subject.compiled, entry.window.names);
  for (const auto& [path, text] : subject.files) {
    records::LockedFile file = MarkOf(path, text, kernel, entry.window, judged);
    file.file = PortableFile(path, judge.folders(), judge.include_folders());
    entry.files.push_back(std::move(file));
  }
  entry.variant = subject.variant.variant;
  entry.workload = subject.workload;
  entry.evaluation = subject.evaluation;
  // How it was measured is for `explain`; another measurement would change the file for nothing.
  entry.evaluation.metrics = records::Json::object();
  // What the launcher would refuse must not spoil the file for the others.
  const auto again = records::ParseLock(records::LockText({{entry}}));
  if (!again) return base::Fail(base::Unsupported(again.error().message));
  if (const auto fits = judge.Judge(entry); fits.fits != LockJudge::Fits::kYes) {
    return base::Fail(base::Unsupported(fits.reason));
  }
  return entry;
}

LockJudge::LockJudge(const records::CompileCommand& command, const ProjectFolders& folders)
    : command_(command),
      folders_(folders),
      toolchain_(CompilerVersion(command)),
      flags_(PortableFlags(command, folders)),
      include_folders_(IncludeFolders(command)) {}

LockJudge::Judgement LockJudge::Judge(const records::LockedKernel& entry) {
  if (entry.toolchain != toolchain_) {
    return {Fits::kOtherCompiler,
            "it was proven with " + entry.toolchain + ", and this is " +
                (toolchain_.empty() ? "a compiler of unknown version" : toolchain_)};
  }
  if (entry.flags != flags_) {
    return {Fits::kOtherFlags,
            "it was proven with other flags: " + FirstFlagThatDiffers(entry.flags, flags_)};
  }
  std::string why = compiled_.empty() ? WhyTextDiffers(entry) : WhyTokensDiffer(entry);
  if (!why.empty()) return {Fits::kOtherText, why};
  return {};
}

std::string LockJudge::WhyTokensDiffer(const records::LockedKernel& entry) {
  if (entry.tokens.empty()) return "an older version of cuPilot wrote the entry";
  if (HashOfTokens(compiled_, entry.window.names) != entry.tokens) {
    std::string why = WhyTextDiffers(entry);
    return why.empty() ? "the compiler reads another text of it" : why;
  }
  const auto& names = entry.window.names;
  if (names.size() != 1 || names.front() != kAnyName) return {};
  // A file of which any edit matters, since the kernel depends on the numbers of lines.
  for (const records::LockedFile& file : entry.files) {
    if (!file.outline.empty()) continue;
    if (std::string why = WhyFileDiffers(entry, file); !why.empty()) return why;
  }
  return {};
}

const std::string* LockJudge::TextOf(const std::string& path) {
  const auto known = texts_.find(path);
  if (known != texts_.end()) return &known->second;
  auto text = base::ReadFile(path);
  return text ? &texts_.emplace(path, std::move(*text)).first->second : nullptr;
}

// A header of the same name that is found before the one that was read.
std::string LockJudge::WhyOtherFile(const records::LockedFile& file) const {
  const std::string path = ActualFile(file.file, folders_, include_folders_);
  for (std::size_t i = 0; i < include_folders_.size(); ++i) {
    if (!path.starts_with(include_folders_[i] + "/")) continue;
    const std::string name = path.substr(include_folders_[i].size());
    for (std::size_t before = 0; before < i; ++before) {
      const std::string other = include_folders_[before] + name;
      if (other != path && base::FileExists(other)) {
        return other + " is found before " + file.file;
      }
    }
    return {};
  }
  return {};
}

std::string LockJudge::WhyFileDiffers(const records::LockedKernel& entry,
                                      const records::LockedFile& file) {
  const std::string path = ActualFile(file.file, folders_, include_folders_);
  const std::string* text = path.empty() ? nullptr : TextOf(path);
  if (text == nullptr) return file.file + " is gone";
  if (std::string other = WhyOtherFile(file); !other.empty()) return other;
  const bool same = file.outline.empty() ? base::HashHex(*text) == file.hash
                                         : OutlineOf(*text, entry.window) == file.outline;
  if (same) return {};
  return file.file == entry.source ? "its text has changed"
                                   : "what it uses of " + file.file + " has changed";
}

std::string LockJudge::WhyTextDiffers(const records::LockedKernel& entry) {
  bool listed = false;
  for (const records::LockedFile& file : entry.files) {
    if (std::string why = WhyFileDiffers(entry, file); !why.empty()) return why;
    listed = listed || file.file == entry.source;
  }
  if (!listed) return "the entry does not say what its source was";
  return records::WhatGuardLeavesOut(KernelOf(entry), entry.evaluation.guard);
}

std::string LockJudge::WhyProjectDiffers(const records::LockedKernel& entry) {
  for (const records::LockedFile& file : entry.files) {
    const bool own = !file.file.starts_with("<") && !file.file.starts_with("/");
    std::string why = own ? WhyFileDiffers(entry, file) : "";
    if (!why.empty()) return why;
  }
  return {};
}

void PutInOrder(SwapRequest& request) {
  std::stable_sort(request.kernels.begin(), request.kernels.end(),
                   [](const SwappedKernel& a, const SwappedKernel& b) {
                     return std::tie(a.kernel.signature, a.kernel.name) <
                            std::tie(b.kernel.signature, b.kernel.name);
                   });
  for (SwappedKernel& kernel : request.kernels) {
    std::stable_sort(kernel.variants.begin(), kernel.variants.end(),
                     [](const SwappedVariant& a, const SwappedVariant& b) {
                       return std::tie(a.target, a.devices) < std::tie(b.target, b.devices);
                     });
  }
}

records::Kernel KernelOf(const records::LockedKernel& entry) {
  records::Kernel kernel;
  kernel.name = entry.kernel;
  const std::size_t scope = entry.kernel.rfind("::");
  kernel.base_name = scope == std::string::npos ? entry.kernel : entry.kernel.substr(scope + 2);
  kernel.label = entry.label;
  kernel.signature = entry.signature;
  kernel.key = entry.kernel_key;
  kernel.namespaces = entry.namespaces;
  kernel.template_arguments = entry.template_arguments;
  kernel.parameters = entry.parameters;
  kernel.macros_back = entry.macros_back;
  return kernel;
}

SwappedVariant VariantOf(const records::LockedKernel& entry) {
  return {entry.variant,          entry.target,           entry.devices,
          entry.evaluation.guard, TitleOf(entry.variant), entry.evaluation.speedup.value_or(1.0)};
}

}  // namespace cupilot::source
