// One kernel of this folder: its source with the tag that cuPilot itself reads, its space, and what
// it is run on. And what a launch of it needs, laid out in a device's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/element.h"
#include "records/expression.h"
#include "records/workload.h"
#include "search/space.h"
#include "search/space_json.h"
#include "source/tag_parser.h"

namespace cupilot::spaces {

struct Benchmark {
  std::string name;
  std::string text;  // of the source
  source::Tag tag;
  // Of "// bench: repeat=EXPRESSION index=PARAMETER": a point is so many launches in a row, and
  // that parameter counts them. Empty: one launch.
  std::string repeat, index;
  search::SpaceFile space_file;
  search::Space space;
  records::Workload workload;
};

// FOLDER/kernels/NAME.cu, FOLDER/workloads/NAME.json (NAME.small.json), and the space's file.
// kInvalidArgument where one is wrong, or the tag says another space than the file, or another
// launch than the workload, or the standard values are not the source's own, or no valid point.
base::Result<Benchmark> ReadBenchmark(const std::string& folder, const std::string& name,
                                      bool small);

// The source's own values: the standard ones, as ReadBenchmark() has seen.
inline search::Point OwnPoint(const Benchmark& benchmark) { return *benchmark.space.Standard(); }

// The case's scalars by name.
records::Environment ScalarsOf(const records::Case& one);

// The space's file with the launch that the tag says, and the case's integers.
search::SpaceFile SpaceWithLaunch(const Benchmark& benchmark);

// "block_size_x=64" for each parameter, as macros.
std::vector<std::string> DefinesOf(const search::Space& space, const search::Point& point);

// An array of the case, at a place of the device's memory.
struct Region {
  std::string name;
  bool global = false;  // a variable of the module
  bool output = false;
  bool input = false;
  device::ElementType type;
  std::int64_t count = 0;  // elements
  std::int64_t offset = 0;
  std::int64_t bytes() const { return count * type.size(); }
};

class Memory {
 public:
  // Allocates, fills and uploads what the benchmark's only case says.
  static base::Result<Memory> Make(const Benchmark& benchmark, device::Device& device);

  const std::vector<Region>& regions() const { return regions_; }
  const Region* Find(const std::string& name) const;
  // What was filled in, also after launches; empty for outputs.
  const std::vector<std::byte>& contents(const Region& region) const;
  std::byte* mapped(const Region& region) const { return mapping_.data() + region.offset; }

  // Outputs full of 0xff, what is read and written as it was.
  base::Result<> Reset(device::Device& device) const;

 private:
  std::vector<Region> regions_;
  std::vector<std::vector<std::byte>> contents_;  // by region
  std::span<std::byte> mapping_;
};

// The launches of one point of one loaded module.
class PointLaunch {
 public:
  // kInvalidArgument: the module has not what the case names, or an expression has no value.
  static base::Result<PointLaunch> Make(const Benchmark& benchmark, const Memory& memory,
                                        const search::Point& point, device::Device& device,
                                        device::ModuleId module, const device::ModuleInfo& info);
  // All of them, in order.
  base::Result<> Launch(device::Device& device);

 private:
  device::Launch launch_;
  std::vector<std::vector<std::byte>> values_;
  std::int64_t repeat_ = 1;
  int index_ = -1;  // of the argument that counts launches
};

}  // namespace cupilot::spaces
