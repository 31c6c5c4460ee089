#include "workloads/captured.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "blobs/blob_store.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::workloads {
namespace {

using records::Json;

void AddBlob(const std::optional<records::Fill>& fill, std::set<std::string>& blobs) {
  if (!fill || fill->path.rfind(blobs::kBlobScheme, 0) != 0) return;
  blobs.insert(fill->path.substr(blobs::kBlobScheme.size()));
}

Json ToJson(const CapturedLaunches& launches) {
  return {{"name", launches.name},   {"grid", launches.grid},
          {"block", launches.block}, {"shared_bytes", launches.shared_bytes},
          {"calls", launches.calls}, {"microseconds", launches.microseconds},
          {"cases", launches.cases}};
}

Json ToJson(const CapturedReplays& replays) {
  Json json = Json::object();
  for (const auto& [name, replay] : replays) {
    json[name] = {
        {"times", replay.times}, {"reason", replay.reason}, {"rounding", replay.rounding}};
    if (replay.failed) json[name]["failed"] = true;
    if (replay.wanted == 0) continue;
    json[name]["wanted"] = replay.wanted;
    json[name]["seconds"] = replay.seconds;
  }
  return json;
}

// The smaller, the less it says for its case.
auto StrengthOf(const CapturedReplay& replay) {
  return std::tuple(replay.usable(), replay.reason.empty(), replay.times);
}

std::size_t BytesOfBase64(const std::string& text) {
  const auto padding = std::count(text.begin(), text.end(), '=');
  return text.size() / 4 * 3 - static_cast<std::size_t>(padding);
}

// As far as the cases of a record without sizes tell.
bool FitsCase(const records::Case& one, const records::Kernel& kernel) {
  const std::size_t count = std::min(one.arguments.size(), kernel.parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& bytes = one.arguments[i].bytes;
    if (bytes.empty()) continue;
    if (BytesOfBase64(bytes) != static_cast<std::size_t>(kernel.parameters[i].bytes)) return false;
  }
  return std::all_of(one.globals.begin(), one.globals.end(), [&](const records::Global& global) {
    return std::any_of(
        kernel.globals.begin(), kernel.globals.end(), [&](const records::ClosureGlobal& known) {
          return known.symbol == global.symbol &&
                 (global.count.empty() || global.count == std::to_string(known.count));
        });
  });
}

// Bounds are texts: integers may be beyond what a number of JSON holds.
Json ToJson(const Distribution& one) {
  if (one.low.empty()) return {{"kind", one.kind}};
  return {{"kind", one.kind},   {"mean", one.mean},     {"stddev", one.stddev},
          {"zeros", one.zeros}, {"finite", one.finite}, {"low", one.low},
          {"high", one.high},   {"sorted", one.sorted}};
}

Json ToJson(const CapturedFit& fit) {
  return {{"contents", fit.contents},
          {"fill", records::ToJson(fit.fill)},
          {"distribution", ToJson(fit.distribution)}};
}

// What is known of them by case and by name.
template <class Known>
Json ToJson(const std::map<std::string, std::map<std::string, Known>>& cases) {
  Json json = Json::object();
  for (const auto& [name, of_case] : cases) {
    for (const auto& [argument, known] : of_case) json[name][argument] = ToJson(known);
  }
  return json;
}

}  // namespace

// NOLINTNEXTLINE(misc-use-internal-linkage): found by the reader through its argument
void Read(const Json& json, const std::string& path, CapturedSizes& out,
          records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Optional("parameters", out.parameters).Optional("globals", out.globals);
}

// NOLINTNEXTLINE(misc-use-internal-linkage): found by the reader through its argument
void Read(const Json& json, const std::string& path, CapturedLaunches& out,
          records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Optional("name", out.name)
      .Optional("grid", out.grid)
      .Optional("block", out.block)
      .Optional("shared_bytes", out.shared_bytes)
      .Optional("calls", out.calls)
      .Optional("microseconds", out.microseconds)
      .Optional("cases", out.cases);
}

// NOLINTNEXTLINE(misc-use-internal-linkage): likewise
void Read(const Json& json, const std::string& path, CapturedReplay& out,
          records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Optional("times", out.times)
      .Optional("reason", out.reason)
      .Optional("rounding", out.rounding)
      .Optional("wanted", out.wanted)
      .Optional("seconds", out.seconds)
      .Optional("failed", out.failed);
}

std::string ReplayText(const CapturedReplay& replay) {
  char runs[80];
  if (replay.cut_short()) {
    std::snprintf(runs, sizeof runs, "replayed %lld times within %.3g s, equal",
                  static_cast<long long>(replay.times), replay.seconds);
  } else {
    std::snprintf(runs, sizeof runs, "%lld equal runs", static_cast<long long>(replay.times));
  }
  return (replay.reason.empty() ? "the same bits as in the program" : replay.reason) + ", " + runs;
}

CapturedSizes SizesOf(const records::Kernel& kernel) {
  CapturedSizes sizes;
  for (const records::Parameter& parameter : kernel.parameters) {
    sizes.parameters.push_back({parameter.bytes, parameter.element_bytes, parameter.pointee_bytes});
  }
  for (const records::ClosureGlobal& global : kernel.globals) {
    sizes.globals[global.symbol] = global.element_bytes * global.count;
  }
  return sizes;
}

// NOLINTNEXTLINE(misc-use-internal-linkage): likewise
void Read(const Json& json, const std::string& path, Distribution& out, records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Required("kind", out.kind)
      .Optional("mean", out.mean)
      .Optional("stddev", out.stddev)
      .Optional("zeros", out.zeros)
      .Optional("finite", out.finite)
      .Optional("low", out.low)
      .Optional("high", out.high)
      .Optional("sorted", out.sorted);
}

// NOLINTNEXTLINE(misc-use-internal-linkage): likewise
void Read(const Json& json, const std::string& path, CapturedFit& out, records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Required("contents", out.contents)
      .Required("fill", out.fill)
      .Required("distribution", out.distribution);
}

std::int64_t Captured::Calls() const {
  std::int64_t calls = 0;
  for (const CapturedLaunches& some : launches) calls += some.calls;
  return calls;
}

double Captured::Microseconds() const {
  double microseconds = 0;
  for (const CapturedLaunches& some : launches) microseconds += some.microseconds;
  return microseconds;
}

double Captured::CoveredMicroseconds() const {
  double microseconds = 0;
  for (const CapturedLaunches& some : launches) {
    if (!some.cases.empty()) microseconds += some.microseconds;
  }
  return microseconds;
}

const CapturedReplay* Captured::FindReplay(const std::string& kernel_key,
                                           const std::string& name) const {
  const auto of_text = replays.find(kernel_key);
  if (of_text == replays.end()) return nullptr;
  const auto replay = of_text->second.find(name);
  return replay == of_text->second.end() ? nullptr : &replay->second;
}

CapturedFits Captured::FitsOf(const std::string& name) const {
  const auto found = fits.find(name);
  return found == fits.end() ? CapturedFits() : found->second;
}

CapturedReplays Captured::WeakestReplays() const {
  CapturedReplays weakest;
  for (const auto& [key, of_text] : replays) {
    for (const auto& [name, replay] : of_text) {
      const auto [known, added] = weakest.try_emplace(name, replay);
      if (!added && StrengthOf(replay) < StrengthOf(known->second)) known->second = replay;
    }
  }
  return weakest;
}

std::string Captured::WhyUnused(const std::string& kernel_key, const std::string& name) const {
  const CapturedReplay* replay = FindReplay(kernel_key, name);
  return replay == nullptr || replay->usable() ? "" : replay->reason;
}

base::Result<Captured> ParseCaptured(const Json& json) {
  Captured out;
  Json workload;
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  object.Schema(Captured::kSchema)
      .Required("kernel", out.kernel)
      .Required("file", out.file)
      .Optional("parameters", out.parameters)
      .Optional("members", out.members)
      .Optional("sizes", out.sizes)
      .Optional("program", out.program)
      .Optional("device", out.device)
      .Optional("date", out.date)
      .Optional("used", out.used)
      .Optional("replaces_tag", out.replaces_tag)
      .Optional("synthetic", out.synthetic)
      .Optional("launches", out.launches)
      .Optional("workload", workload)
      .Optional("after", out.after)
      .Optional("distributions", out.distributions)
      .Optional("fits", out.fits)
      .Optional("notes", out.notes)
      .Optional("replays_of", out.replays);
  if (!reading.ok()) return base::Fail(*reading.error());
  if (workload.is_object()) {
    TRY_ASSIGN(records::Workload parsed, records::ParseWorkload(workload));
    out.cases = std::move(parsed.cases);
  }
  return out;
}

Json ToJson(const Captured& captured) {
  records::Workload workload;
  workload.kernel = captured.kernel;
  workload.cases = captured.cases;
  Json launches = Json::array();
  for (const CapturedLaunches& some : captured.launches) launches.push_back(ToJson(some));
  Json replays_of = Json::object();
  for (const auto& [key, of_text] : captured.replays) replays_of[key] = ToJson(of_text);
  Json json = {{"schema", Captured::kSchema},
               {"kernel", captured.kernel},
               {"file", captured.file},
               {"parameters", captured.parameters},
               {"program", captured.program},
               {"device", captured.device},
               {"date", captured.date},
               {"replaces_tag", captured.replaces_tag},
               {"synthetic", captured.synthetic},
               {"launches", std::move(launches)},
               {"after", captured.after},
               {"notes", captured.notes},
               {"replays", ToJson(captured.WeakestReplays())},
               {"replays_of", std::move(replays_of)}};
  if (captured.used > 0) json["used"] = captured.used;
  if (captured.sizes) {
    json["sizes"] = {{"parameters", captured.sizes->parameters},
                     {"globals", captured.sizes->globals}};
  }
  Json members = Json::array();
  for (const auto& of_parameter : captured.members) {
    members.push_back(records::ArrayJson(of_parameter));
  }
  const bool structures = std::any_of(captured.members.begin(), captured.members.end(),
                                      [](const auto& some) { return !some.empty(); });
  if (structures) json["members"] = std::move(members);
  if (!captured.distributions.empty()) json["distributions"] = ToJson(captured.distributions);
  if (!captured.fits.empty()) json["fits"] = ToJson(captured.fits);
  // A workload has at least one case.
  if (!captured.cases.empty()) json["workload"] = records::ToJson(workload);
  return json;
}

std::set<std::string> BlobsOf(const Captured& captured) {
  std::set<std::string> blobs;
  for (const records::Case& one : captured.cases) {
    for (const records::Argument& argument : one.arguments) AddBlob(argument.fill, blobs);
    for (const records::Buffer& buffer : one.buffers) AddBlob(buffer.fill, blobs);
    for (const records::Global& global : one.globals) AddBlob(global.fill, blobs);
  }
  for (const auto& [name, contents] : captured.after) {
    for (const auto& [argument, blob] : contents) blobs.insert(blob);
  }
  return blobs;
}

bool IsOf(const Captured& captured, const records::Kernel& kernel) {
  if (captured.parameters.size() != kernel.parameters.size()) return false;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (captured.parameters[i] != kernel.parameters[i].canonical) return false;
  }
  if (captured.sizes) return *captured.sizes == SizesOf(kernel);
  return std::all_of(captured.cases.begin(), captured.cases.end(),
                     [&](const records::Case& one) { return FitsCase(one, kernel); });
}

bool AreOfOneKernel(const Captured& a, const Captured& b) {
  return a.file == b.file && a.kernel == b.kernel && a.parameters == b.parameters &&
         (!a.sizes || !b.sizes || *a.sizes == *b.sizes);
}

std::vector<records::Case> UsableCases(const Captured& captured, const records::Kernel& kernel) {
  std::set<std::string> order_free;
  for (const records::Case& tagged : kernel.cases) {
    for (const records::Argument& argument : tagged.arguments) {
      if (argument.order_free) order_free.insert(argument.name);
    }
  }
  std::vector<records::Case> cases;
  for (const records::Case& one : captured.cases) {
    if (!captured.WhyUnused(kernel.key, one.name).empty()) continue;
    cases.push_back(one);
    for (records::Argument& argument : cases.back().arguments) {
      argument.order_free = argument.order_free || order_free.count(argument.name) != 0;
    }
  }
  return cases;
}

}  // namespace cupilot::workloads
