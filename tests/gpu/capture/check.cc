// What a recording of the program says, beside what the program itself saved and how often it
// launched.
//
//   check RECORDING launches SAVED   each recorded launch, against the bytes that the program saved
//   check RECORDING counts LAUNCHES  the program's launches, as program.cu makes them
//   check RECORDING notes            prints notes
//
// Prints a line of figures (a JSON object), or what is wrong, and fails.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "recording.h"

namespace {

struct SavedBuffer {
  std::uint64_t address = 0;
  std::string before, after;
};
using SavedLaunch = std::vector<SavedBuffer>;

int Wrong(const std::string& text) {
  std::printf("%s\n", text.c_str());
  return 1;
}

std::map<std::pair<std::string, std::uint64_t>, SavedLaunch> ReadSaved(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::map<std::pair<std::string, std::uint64_t>, SavedLaunch> all;
  std::string word, name;
  std::uint64_t index = 0;
  std::size_t count = 0;
  while (file >> word >> name >> index >> count) {
    SavedLaunch& launch = all[{name, index}];
    for (std::size_t i = 0; i < count; ++i) {
      SavedBuffer& buffer = launch.emplace_back();
      std::size_t bytes = 0;
      file >> buffer.address >> bytes;
      file.get();
      buffer.before.resize(bytes);
      buffer.after.resize(bytes);
      file.read(buffer.before.data(), static_cast<std::streamsize>(bytes));
      file.read(buffer.after.data(), static_cast<std::streamsize>(bytes));
    }
  }
  return all;
}

std::string NameOf(const Recording& recording, const RecordedLaunch& launch, bool extra) {
  const std::string& signature = recording.kernels.at(launch.kernel).signature;
  if (signature.find("blend") != std::string::npos) return "blend";
  if (signature.find("gather") != std::string::npos) return "gather";
  if (signature.find("scale") == std::string::npos) return "";
  if (extra) return "scale_extra";
  return recording.counters.at(launch.counter).grid[0] == 32 ? "scale" : "scale_half";
}

int Launches(const Recording& recording, const char* path) {
  const auto saved = ReadSaved(path);
  if (saved.empty()) return Wrong("the program saved nothing");
  const bool extra = saved.begin()->first.first == "scale_extra";
  std::map<std::string, int> compared;
  int bytes = 0, globals = 0;
  for (const auto& [id, launch] : recording.launches) {
    const std::string name = NameOf(recording, launch, extra);
    const auto at = saved.find({name, launch.index});
    const std::string what = name + " " + std::to_string(launch.index);
    if (at == saved.end()) return Wrong("launch " + what + " was recorded, but not made");
    // Regions that the program did not save are of no launch.
    if (launch.regions.size() != at->second.size()) {
      return Wrong("launch " + what + " has " + std::to_string(launch.regions.size()) +
                   " regions instead of " + std::to_string(at->second.size()));
    }
    for (const SavedBuffer& buffer : at->second) {
      const RecordedRegion* found = nullptr;
      for (const RecordedRegion& region : launch.regions) {
        if (buffer.address >= region.address &&
            buffer.address + buffer.before.size() <= region.address + region.bytes) {
          found = &region;
        }
      }
      if (found == nullptr) return Wrong("a buffer of launch " + what + " was not recorded");
      const auto same = [&](std::uint32_t blob, const std::string& expected) {
        const auto at_blob = recording.blobs.find(blob);
        return at_blob != recording.blobs.end() &&
               at_blob->second.compare(buffer.address - found->address, expected.size(),
                                       expected) == 0;
      };
      if (!same(found->before, buffer.before)) return Wrong("launch " + what + " differs before");
      if (!same(found->after, buffer.after)) return Wrong("launch " + what + " differs after");
      bytes += static_cast<int>(buffer.before.size() * 2);
    }
    if (name == "blend") {
      if (launch.globals.size() != 3) return Wrong("blend has no globals");
      float weights[4], bias = 0, before = 0, after = 0;
      for (const RecordedGlobal& global : launch.globals) {
        const std::string& blob = recording.blobs.at(global.before);
        if (global.symbol == "weights") std::memcpy(weights, blob.data(), sizeof weights);
        if (global.symbol == "app::bias") std::memcpy(&bias, blob.data(), sizeof bias);
        if (global.symbol != "calls") continue;
        std::memcpy(&before, blob.data(), sizeof before);
        std::memcpy(&after, recording.blobs.at(global.after).data(), sizeof after);
      }
      if (weights[2] != -0.25f || bias != 0.5f) return Wrong("the constants of blend are wrong");
      if (before != static_cast<float>(launch.index) || after != before + 1) {
        return Wrong("the counting variable of blend is wrong");
      }
      ++globals;
    }
    if (name == "gather" && launch.pointers_in_memory != 3) return Wrong("gather's table is wrong");
    ++compared[name];
  }
  if (!extra && (compared["scale"] < 3 || compared["scale_half"] < 3 || compared["blend"] < 3 ||
                 compared["gather"] < 3)) {
    return Wrong("not all kernels were recorded");
  }
  if (extra && compared["scale_extra"] != static_cast<int>(saved.size())) {
    return Wrong("not all launches were recorded");
  }
  std::printf("{\"launches\": %zu, \"bytes_compared\": %d, \"with_globals\": %d}\n",
              recording.launches.size(), bytes, globals);
  return 0;
}

int Counts(const Recording& recording, std::uint64_t launches) {
  std::map<std::string, std::uint64_t> calls;
  std::uint64_t all = 0, timed = 0;
  double microseconds = 0;
  for (const auto& [id, counter] : recording.counters) {
    const std::string& signature = recording.kernels.at(counter.kernel).signature;
    const std::size_t work = signature.find("workILi");
    const bool blend = signature.find("blendE4Pairi") != std::string::npos;  // unnamed namespace
    calls[blend                       ? "blend"
          : work == std::string::npos ? signature
                                      : signature.substr(work, 10)] += counter.calls;
    all += counter.calls;
    timed += counter.timed;
    microseconds += counter.microseconds;
  }
  std::map<std::string, std::uint64_t> expected = {
      {"_ZN3app5scaleEPfPKffi", 60}, {"_ZN3app6gatherEPKPfS0_ii", 20}, {"blend", 20}};
  for (int thread = 0; thread < 4; ++thread) {
    for (std::uint64_t i = 0; i < launches / 4; ++i) {
      ++expected[("workILi" + std::to_string((i + static_cast<std::uint64_t>(thread)) % 27) + "EEv")
                     .substr(0, 10)];
    }
  }
  expected["workILi5EE"] += 20;
  for (const auto& [name, count] : expected) {
    if (calls[name] != count) {
      return Wrong(name + ": " + std::to_string(calls[name]) + " launches instead of " +
                   std::to_string(count));
    }
  }
  if (calls.size() != expected.size()) return Wrong("there are kernels that the program has not");
  if (recording.seen != all) return Wrong("the end says another number of launches");
  if (timed != all) {
    return Wrong(std::to_string(timed) + " of " + std::to_string(all) + " launches are timed");
  }
  std::printf("{\"launches\": %llu, \"kernels\": %zu, \"gpu_ms\": %.3f}\n",
              static_cast<unsigned long long>(all), expected.size(), microseconds / 1e3);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Recording recording;
  RecordingReader reader(argv[1]);
  if (!reader.Read(recording)) return Wrong("the recording is not whole");
  const std::string what = argv[2];
  if (what == "notes") {
    for (const std::string& note : recording.notes) std::printf("%s\n", note.c_str());
    std::uint64_t timed = 0;
    for (const auto& [id, counter] : recording.counters) timed += counter.timed;
    std::printf("seen %llu, left out %llu, recorded %zu, bytes %llu, timed %llu, ended %d\n",
                static_cast<unsigned long long>(recording.seen),
                static_cast<unsigned long long>(recording.left_out), recording.launches.size(),
                static_cast<unsigned long long>(recording.bytes),
                static_cast<unsigned long long>(timed), recording.ended ? 1 : 0);
    return 0;
  }
  if (!recording.ended) return Wrong("the recording has no end");
  if (argc != 4) return 2;
  return what == "launches" ? Launches(recording, argv[3])
                            : Counts(recording, std::strtoull(argv[3], nullptr, 10));
}
