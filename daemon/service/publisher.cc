#include "service/publisher.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "records/json.h"
#include "records/launch_names.h"
#include "service/kernel_job.h"
#include "source/swap/compiled_text.h"
#include "source/swap/lock_entry.h"
#include "source/swap/selection_check.h"
#include "source/swap/variant_file.h"

namespace cupilot::service {
namespace {

constexpr std::size_t kMostKnown = 10000;  // files that are not looked at twice

using records::Json;

// A document of the object's folder; null if it is not there or is none.
Json ReadObjectFile(const std::string& folder, const char* name) {
  const auto text = base::ReadFile(folder + "/" + name);
  if (!text) return {};
  auto json = records::ParseJson(*text);
  return json && json->is_object() ? std::move(*json) : Json();
}

// The object's selection if it is the one that was applied or refused.
std::optional<records::Selection> ReadSelection(const std::string& folder, const Applied& wanted) {
  const auto text = base::ReadFile(folder + "/" + source::kSelectionFile);
  if (!text || wanted.selection.empty()) return std::nullopt;
  const auto json = records::ParseJson(*text);
  if (!json) return std::nullopt;
  auto selection = records::ParseSelection(*json);
  if (!selection || !wanted.Is(base::HashHex(*text), *selection)) return std::nullopt;
  return std::move(*selection);
}

}  // namespace

base::Result<bool> PublishFiles::Write(const std::string& path, const std::string& bytes) {
  const std::string hash = base::HashHex(bytes);
  const auto known = on_disk_.find(path);
  if (known != on_disk_.end()) {
    const auto now = base::IdentifyFile(path);
    if (now && *now == known->second.file && known->second.hash == hash) return false;
    on_disk_.erase(known);
  }
  TRY_ASSIGN(const bool written, base::WriteFileIfDifferent(path, bytes));
  if (on_disk_.size() >= kMostKnown) on_disk_.clear();
  if (auto now = base::IdentifyFile(path)) on_disk_[path] = {hash, *now};
  return written;
}

base::Result<> PublishFiles::Touch(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) {
    return base::Fail(base::IoError("cannot touch " + path + ": " + std::strerror(errno)));
  }
  return {};
}

Publisher::Chosen Publisher::Choose(const ObjectScan& scan, const records::Kernel& kernel,
                                    const std::vector<Place>& places,
                                    const std::vector<Refusal>& refusals, bool each,
                                    Published& published) {
  Chosen chosen;
  for (const Place& place : places) {
    const records::Workload workload = WorkloadAt(kernel, place);
    // Only where classes of devices share a target must the program tell them apart.
    const auto sharing = std::count_if(places.begin(), places.end(), [&](const Place& other) {
      return other.target == place.target;
    });
    std::vector<std::string> devices;
    if (sharing > 1) devices = {place.identity.name};
    std::int64_t rank = 0;
    for (const auto& proven :
         catalog_.BestSet(kernel.key, workload, place,
                          RefusedVariants(refusals, kernel.key, scan.toolchain, place.target))) {
      const records::Evaluation& evaluation = proven->evaluation;
      const std::string title = proven->variant.strategy ? proven->variant.strategy->title : "";
      const double speedup = evaluation.speedup.value_or(1.0);
      if (std::string why = records::WhatGuardLeavesOut(kernel, evaluation.guard); !why.empty()) {
        published.problems[records::LabelOf(kernel)] = std::move(why);
        continue;
      }
      source::SwappedVariant variant{
          proven->variant, evaluation.target, devices, evaluation.guard, title, speedup};
      if (each) {
        const source::SwapRequest alone{
            scan.object.command.source, scan.object.folder, {{kernel, {variant}}}};
        if (auto written = source::WriteSwappedSource(alone); !written) {
          published.problems[records::LabelOf(kernel)] = written.error().message;
          continue;
        }
      }
      published.variants[records::LabelOf(kernel)].insert(proven->variant.id);
      chosen.swapped.push_back(std::move(variant));
      chosen.selected.push_back(
          {proven->variant.id, evaluation.target, devices, proven->evidence_hash, title, speedup});
      chosen.evidence.push_back(proven);
      chosen.workloads.push_back(workload);
      chosen.ranks.push_back(rank++);
    }
  }
  return chosen;
}

base::Result<records::Selection> Publisher::Select(const ObjectScan& scan,
                                                   const std::vector<Place>& places, bool each,
                                                   std::vector<source::SwappedText>& texts,
                                                   Published& published) {
  records::Selection selection;
  selection.source = scan.object.command.source;
  selection.command_hash = scan.command_hash;
  selection.environment_hash = records::EnvironmentHash(scan.object.command);
  selection.toolchain = scan.toolchain;
  selection.files = scan.files;
  source::SwapRequest request;
  request.source = scan.object.command.source;
  request.unit = scan.object.folder;
  const std::vector<Refusal> refusals = catalog_.Refusals(scan.object.folder);
  for (const records::Kernel& kernel : scan.kernels) {
    if (!kernel.declined.empty() || kernel.cases.empty()) continue;
    Chosen chosen = Choose(scan, kernel, places, refusals, each, published);
    if (chosen.swapped.empty()) continue;
    request.kernels.push_back({kernel, std::move(chosen.swapped)});
    selection.closure.insert(selection.closure.end(), kernel.closure.begin(), kernel.closure.end());
    selection.kernels.push_back(
        {kernel.name, kernel.signature, kernel.key, std::move(chosen.selected)});
  }
  if (request.kernels.empty()) return selection;
  source::PutInOrder(request);
  request.user_macros = source::UserMacrosOf(scan.compiled);
  TRY_ASSIGN(const source::SwappedSource swapped, source::WriteSwappedSource(request));
  selection.swap = swapped.file_name;
  selection.hook = swapped.hook;
  source::RecordTokens(request, scan.compiled, selection);
  texts = swapped.Files();
  return selection;
}

base::Result<Published> Publisher::Publish(const ObjectScan& scan,
                                           const std::vector<Place>& places) {
  Published published;
  std::vector<source::SwappedText> texts;
  auto selected = Select(scan, places, false, texts, published);
  // Rarely: then each is tried alone, so that one that cannot be written out leaves the others.
  if (!selected) {
    published = {};
    selected = Select(scan, places, true, texts, published);
  }
  TRY_ASSIGN(const records::Selection selection, std::move(selected));
  const std::string& folder = scan.object.folder;
  const std::string path = folder + "/" + source::kSelectionFile;
  if (selection.kernels.empty() && !base::FileExists(path)) return published;
  for (const source::SwappedText& one : texts) {
    TRY_ASSIGN(const bool written, files_.Write(folder + "/" + one.file_name, one.text));
    published.wrote = published.wrote || written;
  }
  const std::string bytes = records::PrettyJson(records::ToJson(selection));
  TRY_ASSIGN(published.changed, files_.Write(path, bytes));
  published.wrote = published.wrote || published.changed;
  published.selection = base::HashHex(bytes);
  published.swap = selection.swap;
  return published;
}

namespace {

bool IsPublished(const Published& published, const std::string& id) {
  return std::any_of(published.variants.begin(), published.variants.end(),
                     [&](const auto& entry) { return entry.second.contains(id); });
}

// The texts that the scan saw. kCancelled: one is another now.
base::Result<std::vector<std::pair<std::string, std::string>>> TextsOf(const ObjectScan& scan) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const records::SelectedFile& file : scan.files) {
    TRY_ASSIGN(std::string text, base::ReadFile(file.path));
    if (base::HashHex(text) != file.hash) {
      return base::Fail(base::Cancelled(file.path + " was edited and not looked at yet"));
    }
    texts.emplace_back(file.path, std::move(text));
  }
  return texts;
}

}  // namespace

Publisher::Locked Publisher::Lock(const ObjectScan& scan, const std::vector<Place>& places,
                                  const Published& published,
                                  const source::ProjectFolders& folders) {
  Locked locked;
  const auto texts = TextsOf(scan);
  if (!texts) {
    locked.problems.push_back(texts.error().message);
    return locked;
  }
  source::LockJudge judge(scan.object.command, folders);
  const std::vector<Refusal> refusals = catalog_.Refusals(scan.object.folder);
  for (const records::Kernel& kernel : scan.kernels) {
    if (!kernel.declined.empty() || kernel.cases.empty()) continue;
    Published unused;
    const Chosen chosen = Choose(scan, kernel, places, refusals, true, unused);
    for (std::size_t i = 0; i < chosen.swapped.size(); ++i) {
      if (!IsPublished(published, chosen.swapped[i].variant.id)) continue;
      auto entry = source::MakeLockedKernel(
          {scan.object.target, kernel, chosen.workloads[i], chosen.evidence[i]->evaluation,
           chosen.swapped[i], *texts, scan.compiled},
          judge);
      if (entry) {
        entry->rank = chosen.ranks[i];
        locked.kernels.push_back(std::move(*entry));
      } else {
        locked.problems.push_back(records::LabelOf(kernel) + ": " + entry.error().message);
      }
    }
  }
  return locked;
}

base::Result<> Publisher::TouchStamp(const std::string& object_folder) {
  return files_.Touch(object_folder + "/" + source::kStampFile);
}

Published ReadPublished(const std::string& object_folder) {
  Published published;
  const auto text = base::ReadFile(object_folder + "/" + source::kSelectionFile);
  if (!text) return published;
  const auto json = records::ParseJson(*text);
  const auto selection = json ? records::ParseSelection(*json)
                              : base::Result<records::Selection>(records::Selection());
  if (!json || !selection) return published;
  published.selection = base::HashHex(*text);
  published.swap = selection->swap;
  for (const records::SelectedKernel& kernel : selection->kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      published.variants[kernel.kernel].insert(variant.id);
    }
  }
  return published;
}

bool Applied::Is(const std::string& id, const records::Selection& other) const {
  if (selection.empty()) return false;
  return selection == id || (!compiled.empty() && compiled == records::CompiledHash(other));
}

Applied ReadAppliedSelection(const std::string& object_folder) {
  const Json json = ReadObjectFile(object_folder, source::kAppliedFile);
  return {records::TextAt(json, "selection"), records::TextAt(json, "compiled")};
}

std::vector<AppliedVariant> ReadApplied(const std::string& object_folder) {
  std::vector<AppliedVariant> applied;
  const auto selection = ReadSelection(object_folder, ReadAppliedSelection(object_folder));
  if (!selection) return applied;
  for (const records::SelectedKernel& kernel : selection->kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      applied.push_back({kernel.kernel_key, variant.id, variant.target, selection->toolchain});
    }
  }
  return applied;
}

namespace {

// The log, and the texts of the variants' files that it names: errors name files, not namespaces.
std::string WithNamedVariants(const std::string& folder, const std::string& swap, std::string log) {
  const auto text = base::ReadFile(folder + "/" + swap);
  if (!text) return log;
  std::string named;
  for (const std::string& name : source::VariantFilesOf(*text)) {
    if (log.find(name) != std::string::npos) {
      named += base::ReadFile(folder + "/" + name).value_or("");
    }
  }
  return log + named;
}

}  // namespace

std::vector<Refusal> ReadRefusal(const std::string& object_folder) {
  const Json refused = ReadObjectFile(object_folder, source::kRefusedFile);
  const auto selection = ReadSelection(object_folder, {records::TextAt(refused, "selection"), ""});
  if (!selection) return {};
  const std::string log =
      WithNamedVariants(object_folder, selection->swap, records::TextAt(refused, "log"));
  std::vector<Refusal> all, named;
  for (const records::SelectedKernel& kernel : selection->kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      all.push_back({kernel.kernel_key, variant.id, selection->toolchain});
      if (log.find(records::VariantNamespace(variant.id)) != std::string::npos) {
        named.push_back(all.back());
      }
    }
  }
  return named.empty() ? all : named;
}

bool Holds(const Refusal& refusal, const std::string& kernel_key, const std::string& toolchain,
           const std::string& target) {
  return refusal.kernel_key == kernel_key && refusal.toolchain == toolchain &&
         (refusal.target.empty() || refusal.target == target);
}

std::set<std::string> RefusedVariants(const std::vector<Refusal>& refusals,
                                      const std::string& kernel_key, const std::string& toolchain,
                                      const std::string& target) {
  std::set<std::string> ids;
  for (const Refusal& refusal : refusals) {
    if (Holds(refusal, kernel_key, toolchain, target)) ids.insert(refusal.variant);
  }
  return ids;
}

}  // namespace cupilot::service
