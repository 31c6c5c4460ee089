#include "service/place.h"

#include <algorithm>
#include <charconv>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/hash.h"
#include "records/code_targets.h"
#include "records/json.h"

namespace cupilot::service {
namespace {

bool IsGpu(const records::DeviceIdentity& identity) { return identity.arch.rfind("sm_", 0) == 0; }

// Memory is no part of it: what the system keeps for itself changes.
bool SameClass(const records::DeviceIdentity& a, const records::DeviceIdentity& b) {
  return a.name == b.name && a.arch == b.arch && (!IsGpu(a) || a.sm_count == b.sm_count);
}

// Empty if it is not found.
std::string CompilerOf(const records::CompileCommand& command) {
  if (command.arguments.empty()) return {};
  return base::FindProgram(command.arguments[0], command.directory);
}

// 13 of {"cuda": {"version": "13.0.0"}}; 0: not known.
int ToolkitMajor(const std::string& toolkit) {
  const auto text = base::ReadFile(toolkit + "/version.json");
  const auto json = text ? records::ParseJson(*text) : base::Result<records::Json>(records::Json());
  if (!json || !json->is_object() || !json->value("cuda", records::Json()).is_object()) return 0;
  const std::string version = (*json)["cuda"].value("version", "");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

}  // namespace

bool IsAbout(const records::DeviceIdentity& device, const std::string& target, const Place& place) {
  if (!place.identity.arch.empty() && !SameClass(device, place.identity)) return false;
  return place.target.empty() || target == place.target;
}

std::string KeyOf(const Place& place) {
  return base::Hasher()
      .Add(evaluate::DeviceKind(place.device))
      .Add(place.identity.name)
      .Add(place.identity.arch)
      .Add(std::to_string(IsGpu(place.identity) ? place.identity.sm_count : 0))
      .Add(place.target)
      .Add(place.driver)
      .Add(place.toolchain)
      .Hex();
}

std::string DeviceKindOf(const records::CompileCommand& command) {
  return base::IsHostCompiler(CompilerOf(command)) ? "host" : "cuda";
}

std::string DefaultArchitecture(const records::CompileCommand& command) {
  int major = 0;
  for (const std::string& toolkit : base::ToolkitFoldersOf(CompilerOf(command))) {
    if (major == 0) major = ToolkitMajor(toolkit);
  }
  return major == 11 || major == 12 ? "sm_52" : "sm_75";
}

Places HostPlaces(const evaluate::DeviceDescription& host, const std::string& toolchain) {
  Place place;
  place.identity = host.device;
  place.driver = host.driver;
  place.toolchain = toolchain;
  place.alike = {place.device};
  return {{std::move(place)}, ""};
}

Places GpuPlaces(const evaluate::GpuList& gpus, const records::CompileCommand& command,
                 const std::string& toolchain) {
  Places found;
  const std::string otherwise = DefaultArchitecture(command);
  for (const evaluate::DeviceDescription& gpu : gpus.gpus) {
    const auto known =
        std::find_if(found.places.begin(), found.places.end(),
                     [&](const Place& place) { return SameClass(place.identity, gpu.device); });
    if (known != found.places.end()) {
      known->alike.push_back(gpu.name);
      continue;
    }
    const auto targets = records::CodeTargets(command, gpu.device.arch, otherwise);
    const auto loaded = records::LoadedOn(targets, gpu.device.arch);
    if (!loaded) {
      if (found.why_none.empty()) {
        found.why_none = gpu.device.name + ": " + records::WhyNotNative(targets, gpu.device.arch);
      }
      continue;
    }
    Place place;
    place.device = gpu.name;
    place.identity = gpu.device;
    place.target = loaded->Text();
    place.driver = gpu.driver;
    place.toolchain = toolchain;
    place.note = records::WhyNotNative(targets, gpu.device.arch);
    place.alike = {gpu.name};
    found.places.push_back(std::move(place));
  }
  if (!found.places.empty()) found.why_none.clear();
  if (gpus.gpus.empty()) {
    found.why_none = gpus.reason.empty() ? "no NVIDIA GPU was found" : gpus.reason;
  }
  return found;
}

}  // namespace cupilot::service
