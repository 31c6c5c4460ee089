#include "workloads/captured_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/base64.h"
#include "recording/plan.h"
#include "records/json.h"
#include "workloads/synthetic.h"

namespace cupilot::workloads {
namespace {

using records::Kernel;
using records::ParameterKind;

constexpr std::size_t kMostListed = 200;
constexpr double kLittle = 0.5;  // a share of a kernel's time of which people should know

std::int64_t IntegerOf(const std::string& bytes) {
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  return value;
}

// As documents write numbers: the shortest text that reads as the same double.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return records::CanonicalJson(records::Json(value));
}

// A number, exact; nothing for what is written as bytes.
std::optional<std::string> NumberOf(const records::Parameter& parameter, const std::string& bytes) {
  if (parameter.kind == ParameterKind::kInteger && bytes.size() <= 8) {
    const unsigned bits = 8 * static_cast<unsigned>(bytes.size());
    const auto value = static_cast<std::uint64_t>(IntegerOf(bytes));
    if (!parameter.is_signed) return std::to_string(value);
    // The sign of the narrow type.
    const unsigned unused = 64 - bits;
    return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
  }
  if (parameter.kind != ParameterKind::kFloating) return std::nullopt;
  if (bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return FloatText(static_cast<double>(value));
  }
  if (bytes.size() != sizeof(double)) return std::nullopt;
  double value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return FloatText(value);
}

// Launches of the kernel with one geometry and the same scalars, in all processes.
struct Group {
  const RecordedCounter* counter = nullptr;
  std::uint64_t calls = 0;
  double microseconds = 0;
  struct Recorded {
    const Recording* recording;
    const RecordedLaunch* launch;
  };
  std::vector<Recorded> recorded;  // by their index among the group's launches

  double Weight() const {
    return microseconds > 0 ? microseconds : static_cast<double>(calls) * 1e-6;
  }
};

std::vector<Group> GroupsOf(const std::vector<Recording>& recordings, const Kernel& kernel,
                            std::vector<std::string>& notes) {
  using Key = std::tuple<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint64_t,
                         std::string>;
  std::map<Key, Group> groups;
  for (const Recording& recording : recordings) {
    const auto is_this = [&](std::uint32_t id) {
      return IsRecordedAs(recording.kernels().at(id), kernel);
    };
    std::map<std::uint32_t, Group*> by_counter;
    for (const auto& [id, counter] : recording.counters()) {
      if (!is_this(counter.kernel)) continue;
      Group& group = groups[{counter.grid, counter.block, counter.shared_bytes, counter.scalars}];
      group.counter = &counter;
      group.calls += counter.calls;
      group.microseconds += counter.TotalMicroseconds();
      by_counter[id] = &group;
    }
    for (const auto& [id, launch] : recording.launches()) {
      const auto group = by_counter.find(launch.counter);
      if (group != by_counter.end()) group->second->recorded.push_back({&recording, &launch});
    }
    for (const auto& [id, recorded] : recording.kernels()) {
      if (!is_this(id)) continue;
      for (const std::string& note : recorded.notes) {
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
      }
    }
  }
  std::vector<Group> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Group& a, const Group& b) { return a.Weight() > b.Weight(); });
  for (Group& group : sorted) {
    std::stable_sort(
        group.recorded.begin(), group.recorded.end(),
        [](const auto& a, const auto& b) { return a.launch->index < b.launch->index; });
  }
  return sorted;
}

// "width=1920 height=1080": the scalars that differ between groups; geometry where none does.
std::vector<std::string> NamesOf(const std::vector<Group>& groups, const Kernel& kernel) {
  std::vector<std::string> names(groups.size());
  std::size_t at = 0;
  for (const records::Parameter& parameter : kernel.parameters) {
    const auto bytes = static_cast<std::size_t>(parameter.bytes);
    std::vector<std::string> values;
    for (const Group& group : groups) {
      const std::string& scalars = group.counter->scalars;
      const std::string part = at + bytes <= scalars.size() ? scalars.substr(at, bytes) : "";
      values.push_back(NumberOf(parameter, part).value_or(""));
    }
    at += bytes;
    const bool differ = std::any_of(values.begin(), values.end(),
                                    [&](const std::string& value) { return value != values[0]; });
    if (!differ || parameter.name.empty()) continue;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      names[i] += (names[i].empty() ? "" : " ") + parameter.name + "=" + values[i];
    }
  }
  std::map<std::string, int> used;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (names[i].empty()) {
      const auto& grid = groups[i].counter->grid;
      names[i] = "grid " + std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" +
                 std::to_string(grid[2]);
    }
    const int before = used[names[i]]++;
    if (before > 0) names[i] += " (" + std::to_string(before + 1) + ")";
  }
  return names;
}

// One recorded launch as a case.
class CaseMaker {
 public:
  CaseMaker(const Group::Recorded& recorded, const RecordedCounter& counter, const Kernel& kernel,
            blobs::BlobStore& blobs)
      : recording_(*recorded.recording),
        launch_(*recorded.launch),
        counter_(counter),
        kernel_(kernel),
        blobs_(blobs) {}

  base::Result<records::Case> Make() {
    if (launch_.arguments.size() != kernel_.parameters.size()) {
      return base::Fail(base::InvalidArgument("it was launched with other parameters"));
    }
    for (const std::uint32_t n : counter_.grid) case_.grid.push_back(std::to_string(n));
    for (const std::uint32_t n : counter_.block) case_.block.push_back(std::to_string(n));
    case_.shared_bytes = std::to_string(counter_.shared_bytes);
    case_.template_arguments = kernel_.template_arguments;
    SetAttributes();
    FindShared();
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) TRY(AddArgument(i));
    for (const RecordedGlobal& global : launch_.globals) TRY(AddGlobal(global));
    return std::move(case_);
  }

  // What the launch left, by name.
  std::map<std::string, std::string> TakeAfter() { return std::move(after_); }
  std::vector<std::string> TakeNotes() { return std::move(notes_); }
  // The recording's contents by the hash that its fills name, but for tables of pointers.
  std::map<std::string, std::uint32_t> TakeContents() { return std::move(contents_); }

 private:
  void SetAttributes() {
    records::LaunchAttributes attributes;
    bool any = false;
    constexpr std::uint64_t kWithoutOptIn = 48 * 1024;
    if (counter_.shared_bytes > kWithoutOptIn) {
      attributes.max_dynamic_shared_bytes = static_cast<std::int64_t>(
          std::max(launch_.max_dynamic_shared_bytes, counter_.shared_bytes));
      any = true;
    }
    if (launch_.cooperative) any = *(attributes.cooperative = true);
    if (launch_.cluster[0] > 0) {
      attributes.cluster.assign(launch_.cluster.begin(), launch_.cluster.end());
      any = true;
    }
    if (any) case_.attributes = attributes;
  }

  // Allocations to which more than one pointer leads, or one not to the first byte, or one in a
  // structure or in memory, and those that hold pointers: they become buffers of the case.
  void FindShared() {
    for (std::uint32_t r = 0; r < launch_.regions.size(); ++r) {
      int leads = 0;
      bool plain = true;
      for (const RecordedPointer& pointer : launch_.pointers) {
        if (pointer.region != r) continue;
        ++leads;
        const records::Parameter& parameter = kernel_.parameters[pointer.holder];
        plain = plain && pointer.offset == 0 && parameter.kind == ParameterKind::kPointer &&
                parameter.element_bytes > 0 &&
                launch_.regions[r].bytes % static_cast<std::uint64_t>(parameter.element_bytes) == 0;
      }
      for (const RecordedPointer& pointer : launch_.in_memory) {
        plain = plain && pointer.holder != r && pointer.region != r;
      }
      if (leads > 1 || !plain) buffers_[r] = "memory" + std::to_string(buffers_.size() + 1);
    }
  }

  static std::string NameOf(const records::Parameter& parameter, std::size_t i) {
    return parameter.name.empty() ? "$" + std::to_string(i) : parameter.name;
  }

  const RecordedPointer* PointerAt(std::size_t parameter, std::uint64_t at) const {
    for (const RecordedPointer& pointer : launch_.pointers) {
      if (pointer.holder == parameter && pointer.at == at) return &pointer;
    }
    return nullptr;
  }

  base::Result<records::Fill> FillOf(std::uint32_t blob) {
    TRY_ASSIGN(const std::string bytes, recording_.Blob(blob));
    return FillOf(bytes, blob);
  }

  // `blob`: where the recording has them; kNone: nowhere.
  base::Result<records::Fill> FillOf(const std::string& bytes, std::uint32_t blob) {
    records::Fill fill;
    fill.kind = "file";
    TRY_ASSIGN(const std::string hash, blobs_.Put(bytes));
    if (blob != capture::kNone) contents_[hash] = blob;
    fill.path = std::string(blobs::kBlobScheme) + hash;
    return fill;
  }

  // Notes what the launch left there.
  base::Result<> SetAfter(const std::string& name, std::uint32_t before, std::uint32_t after) {
    if (after == capture::kNone || after == before) return {};
    TRY_ASSIGN(const std::string bytes, recording_.Blob(after));
    TRY_ASSIGN(after_[name], blobs_.Put(bytes));
    return {};
  }

  base::Result<> AddBuffer(std::uint32_t r) {
    const std::string& name = buffers_.at(r);
    const RecordedRegion& region = launch_.regions[r];
    for (const records::Buffer& buffer : case_.buffers) {
      if (buffer.name == name) return {};
    }
    records::Buffer buffer{name, std::to_string(region.bytes), {}};
    TRY_ASSIGN(std::string bytes, recording_.Blob(region.before));
    for (const RecordedPointer& pointer : launch_.in_memory) {
      if (pointer.holder != r) continue;
      buffer.pointers.push_back({static_cast<std::int64_t>(pointer.at), buffers_.at(pointer.region),
                                 static_cast<std::int64_t>(pointer.offset)});
      // The address was the program's.
      std::memset(bytes.data() + pointer.at, 0, 8);
    }
    const bool holds = !buffer.pointers.empty();
    TRY_ASSIGN(buffer.fill, FillOf(bytes, holds ? capture::kNone : region.before));
    case_.buffers.push_back(std::move(buffer));
    // What a launch leaves of addresses says nothing elsewhere.
    if (!holds) return SetAfter(name, region.before, region.after);
    for (const RecordedPointer& pointer : launch_.in_memory) {
      if (pointer.holder == r) TRY(AddBuffer(pointer.region));
    }
    return {};
  }

  // The words of a table that are no address of an allocation and not null: behind the table's end,
  // or pointers that nothing can follow.
  base::Result<> NoteUnknown(std::size_t i, const RecordedPointer& table) {
    TRY_ASSIGN(const std::string bytes, recording_.Blob(launch_.regions[table.region].before));
    std::set<std::uint64_t> followed;
    for (const RecordedPointer& pointer : launch_.in_memory) {
      if (pointer.holder == table.region) followed.insert(pointer.at);
    }
    std::size_t unknown = 0;
    for (std::uint64_t at = table.offset; at + 8 <= bytes.size(); at += 8) {
      const bool null = bytes.compare(at, 8, std::string(8, '\0')) == 0;
      unknown += !null && followed.count(at) == 0 ? 1 : 0;
    }
    if (unknown == 0) return {};
    notes_.push_back("argument " + std::to_string(i + 1) + " leads to " + std::to_string(unknown) +
                     " words that are no addresses of memory that the device's runtime allocated");
    return {};
  }

  base::Result<> AddArgument(std::size_t i) {
    const records::Parameter& parameter = kernel_.parameters[i];
    const std::string& bytes = launch_.arguments[i];
    records::Argument argument;
    argument.name = NameOf(parameter, i);
    argument.type = parameter.type;
    if (parameter.kind == ParameterKind::kPointer) {
      TRY(SetPointer(i, argument));
    } else if (const auto number = NumberOf(parameter, bytes)) {
      argument.value = *number;
    } else {
      TRY(SetStructure(i, argument));
    }
    case_.arguments.push_back(std::move(argument));
    return {};
  }

  base::Result<> SetPointer(std::size_t i, records::Argument& argument) {
    const records::Parameter& parameter = kernel_.parameters[i];
    const RecordedPointer* pointer = PointerAt(i, 0);
    if (pointer == nullptr) {
      argument.null = true;
      return {};
    }
    const RecordedRegion& region = launch_.regions[pointer->region];
    // What a launch left as it was may have been written with the same values.
    const bool written = !parameter.element_const || region.before != region.after;
    argument.access = written ? records::Access::kInOut : records::Access::kIn;
    if (records::PointsToPointers(parameter)) TRY(NoteUnknown(i, *pointer));
    if (buffers_.count(pointer->region) != 0) {
      argument.buffer = buffers_.at(pointer->region);
      argument.offset = std::to_string(pointer->offset);
      return AddBuffer(pointer->region);
    }
    argument.count =
        std::to_string(region.bytes / static_cast<std::uint64_t>(parameter.element_bytes));
    TRY_ASSIGN(argument.fill, FillOf(region.before));
    return SetAfter(argument.name, region.before, region.after);
  }

  base::Result<> SetStructure(std::size_t i, records::Argument& argument) {
    std::string bytes = launch_.arguments[i];
    for (const RecordedPointer& pointer : launch_.pointers) {
      if (pointer.holder != i) continue;
      TRY(AddBuffer(pointer.region));
      argument.pointers.push_back({static_cast<std::int64_t>(pointer.at),
                                   buffers_.at(pointer.region),
                                   static_cast<std::int64_t>(pointer.offset)});
      // The address was the program's.
      std::memset(bytes.data() + pointer.at, 0, 8);
    }
    argument.bytes = base::EncodeBase64(bytes);
    return {};
  }

  base::Result<> AddGlobal(const RecordedGlobal& recorded) {
    for (const records::ClosureGlobal& known : kernel_.globals) {
      if (known.symbol != recorded.symbol) continue;
      records::Global global;
      global.symbol = known.symbol;
      global.space = known.space;
      global.type = known.element;
      global.count = std::to_string(known.count);
      global.access = known.space == "device" ? records::Access::kInOut : records::Access::kIn;
      TRY_ASSIGN(global.fill, FillOf(recorded.before));
      case_.globals.push_back(std::move(global));
      return SetAfter(known.symbol, recorded.before, recorded.after);
    }
    return {};
  }

  const Recording& recording_;
  const RecordedLaunch& launch_;
  const RecordedCounter& counter_;
  const Kernel& kernel_;
  blobs::BlobStore& blobs_;
  records::Case case_;
  std::map<std::uint32_t, std::string> buffers_;  // regions that are buffers of the case
  std::map<std::string, std::string> after_;
  std::map<std::string, std::uint32_t> contents_;
  std::vector<std::string> notes_;
};

// Which recorded launches become cases: of each geometry, the heaviest first, a later launch where
// there is one (the first one's data is often that of a beginning), then further ones.
std::vector<std::vector<std::size_t>> Choose(const std::vector<Group>& groups, std::size_t most) {
  std::vector<std::vector<std::size_t>> chosen(groups.size());
  std::size_t count = 0;
  for (std::size_t round = 0; count < most; ++round) {
    bool any = false;
    for (std::size_t i = 0; i < groups.size() && count < most; ++i) {
      const std::size_t recorded = groups[i].recorded.size();
      if (round >= recorded) continue;
      chosen[i].push_back(recorded - 1 - round);
      ++count;
      any = true;
    }
    if (!any) break;
  }
  return chosen;
}

// A mangled name that holds no more than the function's own and its parameters' types: not what
// nvcc writes of one that other files do not see.
bool IsSameForAllCompilers(const std::string& signature) {
  return signature.starts_with("_Z") && !signature.starts_with("_ZL") &&
         signature.find("_GLOBAL__N_") == std::string::npos &&
         signature.find("_INTERNAL_") == std::string::npos;
}

capture::ParameterKind PlannedKind(const records::Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kPointer:
      if (parameter.element_has_pointers) return capture::ParameterKind::kHidden;
      if (!records::PointsToPointers(parameter)) return capture::ParameterKind::kPointer;
      return parameter.table ? capture::ParameterKind::kTable : capture::ParameterKind::kHidden;
    case ParameterKind::kInteger:
    case ParameterKind::kFloating:
      return capture::ParameterKind::kScalar;
    case ParameterKind::kOther:
      break;
  }
  return parameter.bytes < 8 ? capture::ParameterKind::kScalar : capture::ParameterKind::kStructure;
}

}  // namespace

capture::PlannedKernel PlannedOf(const Kernel& kernel) {
  capture::PlannedKernel planned;
  planned.signature = kernel.signature;
  planned.name = records::LabelOf(kernel);
  for (const records::Parameter& parameter : kernel.parameters) {
    planned.parameters.push_back(
        {PlannedKind(parameter), static_cast<std::uint32_t>(parameter.bytes)});
  }
  for (const records::ClosureGlobal& global : kernel.globals) {
    planned.globals.push_back({global.symbol, global.space == "constant",
                               static_cast<std::uint64_t>(global.element_bytes * global.count)});
  }
  return planned;
}

bool IsRecordedAs(const RecordedKernel& recorded, const Kernel& kernel) {
  if (kernel.signature.empty()) return false;  // a template of which the source uses no instance
  if (recorded.signature == kernel.signature) return true;
  // One of the same name with other parameters, as another target may have it.
  if (kernel.template_arguments.empty() && IsSameForAllCompilers(recorded.signature) &&
      IsSameForAllCompilers(kernel.signature)) {
    return false;
  }
  return recorded.name == records::LabelOf(kernel) ||
         recorded.name == records::NameWithArguments(kernel.name, kernel.template_arguments);
}

base::Result<Captured> CasesOf(const std::vector<Recording>& recordings, const Kernel& kernel,
                               const CaptureChoice& choice, blobs::BlobStore& blobs) {
  Captured captured;
  captured.kernel = records::LabelOf(kernel);
  captured.file = kernel.file;
  for (const records::Parameter& parameter : kernel.parameters) {
    captured.parameters.push_back(parameter.canonical);
  }
  captured.members = MembersOf(kernel);
  captured.sizes = SizesOf(kernel);
  const std::vector<Group> groups = GroupsOf(recordings, kernel, captured.notes);
  const std::vector<std::string> names = NamesOf(groups, kernel);
  const auto chosen = Choose(groups, choice.most_cases);
  // Where recordings have what the cases' fills name: there it is read sooner than where it is
  // kept.
  std::map<std::string, std::pair<const Recording*, std::uint32_t>> contents;
  Fitter fitter([&contents](const std::string& hash) -> base::Result<std::string> {
    const auto at = contents.find(hash);
    if (at == contents.end()) return base::Fail(base::NotFound("they were not recorded"));
    return at->second.first->Blob(at->second.second);
  });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    CapturedLaunches launches;
    launches.name = names[i];
    launches.grid.assign(group.counter->grid.begin(), group.counter->grid.end());
    launches.block.assign(group.counter->block.begin(), group.counter->block.end());
    launches.shared_bytes = static_cast<std::int64_t>(group.counter->shared_bytes);
    launches.calls = static_cast<std::int64_t>(group.calls);
    launches.microseconds = group.microseconds;
    for (std::size_t k = 0; k < chosen[i].size(); ++k) {
      CaseMaker maker(group.recorded[chosen[i][k]], *group.counter, kernel, blobs);
      auto made = maker.Make();
      if (!made) {
        captured.notes.push_back(names[i] + ": " + made.error().message);
        continue;
      }
      made->name = names[i] + (k == 0 ? "" : " #" + std::to_string(k + 1));
      made->weight = group.Weight() / static_cast<double>(chosen[i].size());
      launches.cases.push_back(made->name);
      if (auto after = maker.TakeAfter(); !after.empty()) captured.after[made->name] = after;
      for (const std::string& note : maker.TakeNotes()) {
        captured.notes.push_back(made->name + ": " + note);
      }
      const Recording* recording = group.recorded[chosen[i][k]].recording;
      for (const auto& [hash, blob] : maker.TakeContents()) contents[hash] = {recording, blob};
      if (choice.fits) {
        if (auto fits = FindFits(*made, captured, fitter); !fits.empty()) {
          captured.fits[made->name] = std::move(fits);
        }
      }
      captured.cases.push_back(std::move(*made));
    }
    if (captured.launches.size() < kMostListed) {
      captured.launches.push_back(std::move(launches));
      continue;
    }
    // Of thousands of geometries the lightest are one row.
    CapturedLaunches& rest = captured.launches.back();
    rest.name = "all others";
    rest.calls += launches.calls;
    rest.microseconds += launches.microseconds;
  }
  const double total = captured.Microseconds(), covered = captured.CoveredMicroseconds();
  if (!captured.cases.empty() && total > 0 && covered < kLittle * total) {
    captured.notes.push_back("its " + std::to_string(captured.cases.size()) + " cases are " +
                             std::to_string(static_cast<int>(100 * covered / total)) +
                             " % of its time: launches with another geometry or other integers "
                             "run the original (is one a step or a seed?)");
  }
  if (!captured.cases.empty() || (choice.counts_only && !captured.launches.empty())) {
    return captured;
  }
  std::string why = captured.launches.empty() ? "it was not launched" : "no launch was recorded";
  if (kernel.signature.empty()) why += " (its source uses no instance of this template)";
  for (const std::string& note : captured.notes) why += "; " + note;
  return base::Fail(base::NotFound(captured.kernel + ": " + why));
}

}  // namespace cupilot::workloads
