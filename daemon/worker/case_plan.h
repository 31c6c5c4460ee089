// One case of a workload made concrete: every size a number, every argument the bytes that a launch
// passes, every buffer a place in one arena. Pure values; nothing is allocated or run here.
//
// The arena is one stretch of memory that judge and runner share. Each region (an argument's array,
// a buffer of the case, a global variable's contents, a workspace) stands between red zones; every
// byte of the arena that is in no region is red zone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/element.h"
#include "device/fill.h"
#include "protocol/worker_messages.h"
#include "records/expression.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::worker {

inline constexpr std::int64_t kRedZone = 4096;   // at least so many bytes between regions
inline constexpr std::int64_t kAlignment = 256;  // of a region, as cudaMalloc's
inline constexpr std::int64_t kSliceZone = 256;  // at least so many bytes between slices
// Where regions seem to lie when launch expressions ask for addresses: aligned like the real arena.
inline constexpr std::uint64_t kNominalBase = std::uint64_t{1} << 40;

struct Region {
  // An address among its bytes: byte `offset` of `region`. What stands there: tables.h.
  struct Entry {
    std::int64_t at = 0;
    int region = 0;
    std::int64_t offset = 0;
  };
  // What a table leads to is one region, so that all of it is one input or output. Between the
  // slices lies what belongs to none of them.
  struct Slices {
    std::int64_t count = 0;     // 0: the region is not cut into slices
    std::int64_t elements = 0;  // of each
    std::int64_t stride = 0;    // elements from the beginning of one to that of the next
  };

  std::string name;  // of the argument, buffer, global or workspace; "ptrs[*]": what ptrs leads to
  std::int64_t offset = 0;
  std::int64_t count = 0;  // elements
  device::ElementType type;
  bool input = false;   // has defined contents before the launch
  bool output = false;  // may be written
  bool workspace = false;
  bool zeroed = false;      // workspace: cleared before the first launch
  bool order_free = false;  // compared as a set
  bool declared = false;    // the fill is a generator of its own kind, so that it may be redrawn
  std::optional<device::FillRecipe> fill;
  // Of structures that are widened: their numbers; the type has a widened structure's size.
  std::vector<protocol::TwinMember> members;
  std::vector<Entry> entries = {};
  bool table = false;  // all its words may be addresses
  Slices slices = {};

  std::int64_t bytes() const { return count * type.size(); }
};

// Elements' components: four for each float4.
inline std::int64_t ComponentsOf(const Region& region) { return region.count * region.type.lanes; }

struct Layout {
  std::vector<Region> regions;
  std::int64_t bytes = 0;  // of the arena

  // Puts a region behind the others, with its red zones.
  void Add(Region region);
};

// A parameter's value. Pointers are written when the arena's address is known.
struct ArgumentValue {
  struct Pointer {
    std::int64_t at = 0;      // byte inside the value
    std::int64_t offset = 0;  // in the arena
  };
  std::vector<std::byte> bytes;
  std::vector<Pointer> pointers;
};

// What a pointer parameter refers to, for guards.
struct Reference {
  int region = -1;          // -1: the null pointer
  std::int64_t offset = 0;  // bytes into the region
  std::int64_t bytes = 0;   // to the region's end
  bool written = false;
};

struct GlobalUse {
  std::string symbol;
  int region = 0;
  bool copy_back = false;
};

struct CasePlan {
  std::string name;
  records::Environment environment;  // scalars, pointers, geometry; without tunables
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::vector<ArgumentValue> arguments;              // by parameter
  std::vector<std::optional<Reference>> references;  // by parameter; nullopt: no pointer
  std::vector<GlobalUse> globals;
  Layout layout;
  // That the layout may have on the device, with workspaces.
  std::int64_t most_bytes = INT64_MAX;
};

// What is wider than in the original, for the double twin.
struct Widening {
  std::vector<bool> parameters;
  std::vector<std::string> globals;
  std::vector<protocol::TwinStructure> structures = {};  // those among the parameters
};

// kInvalidArgument: the workload is illegal for the kernel; the message names the path.
base::Result<CasePlan> PlanCase(const records::Kernel& kernel, const records::Case& workload,
                                const device::Properties& device, const Widening* widening);

// A scalar of an argument ("1920", "0.5", "nan", "true") as `bytes` bytes of the parameter's kind.
base::Result<std::vector<std::byte>> ScalarBytes(const records::Parameter& parameter,
                                                 const std::string& value);

}  // namespace cupilot::worker
