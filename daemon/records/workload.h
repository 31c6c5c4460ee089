// What a kernel is run on (design: cupilot.workload/1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::records {

// A size or count: an integer or an expression (records/expression.h) over the case's scalars, as
// text ("2073600", "width*height"). In JSON an all-digits text is written as a number.
using Size = std::string;

// How a buffer is filled before a run. Values are a pure function of (seed, argument name, index);
// see device/fill.h.
struct Fill {
  std::string kind;  // normal uniform integers constant iota permutation offsets indices sorted
                     // bits file pointers
  double mean = 0;   // normal
  double stddev = 1;
  Size low;          // uniform [low, high), integers [low, high], indices [low, high), sorted: of
  Size high;         //   integers [low, high], else [low, high), empty: those that there are places
                     //   (0 to count - 1), else 0 and 1; texts, since tags write expressions
  Size value;        // constant
  Size total;        // offsets
  std::string path;  // file: raw little-endian, relative to the folder of the JSON file
  // pointers: entry i of the array is the address of the i-th of as many slices, each of so many
  // bytes and aligned to 256, of memory of their own; `inner`, at most one, is what each is filled
  // with.
  Size bytes;
  std::vector<Fill> inner;
  // normal, uniform, integers: so large a share is zero, at random places; the rest is drawn.
  double zeros = 0;
  bool operator==(const Fill&) const = default;
};

enum class Access { kIn, kOut, kInOut };

struct PointerInBytes {  // a pointer inside a structure passed by value, or inside a buffer
  std::int64_t at = 0;
  std::string buffer;
  std::int64_t offset = 0;
  bool operator==(const PointerInBytes&) const = default;
};

// One argument, in the order of the kernel's parameters. Exactly one of these forms:
//   count set            an array of its own (type is the parameter's, a pointer)
//   buffer set           an address inside a buffer of the case
//   bytes set            a structure by value, base64
//   null                 the null pointer
//   otherwise            a scalar: value
struct Argument {
  std::string name;
  std::string type;  // as the parameter is declared: "const float*", "int"
  Size count;        // elements
  // Of an array of pointers (fill `pointers`) this and order_free are about what those lead to.
  std::optional<Access> access;
  std::optional<Fill> fill;
  bool order_free = false;  // an output whose order is not defined
  std::string buffer;
  Size offset;        // bytes
  std::string bytes;  // base64
  std::vector<PointerInBytes> pointers;
  bool null = false;
  std::string
      value;  // a number as text, exact: "1920", "0.5", "nan", "-inf", "18446744073709551615"
  bool operator==(const Argument&) const = default;
};

struct Buffer {
  std::string name;
  Size bytes;
  std::optional<Fill> fill;
  // Addresses in its bytes, whatever its fill says there.
  std::vector<PointerInBytes> pointers = {};
  bool operator==(const Buffer&) const = default;
};

struct Global {        // a __constant__ or __device__ array that the kernel reads
  std::string symbol;  // qualified
  std::string space;   // "constant" or "device"
  std::string type;    // element type; empty: the symbol's own
  Size count;
  std::optional<Fill> fill;
  Access access = Access::kIn;
  bool operator==(const Global&) const = default;
};

struct LaunchAttributes {
  std::optional<std::int64_t> max_dynamic_shared_bytes;
  std::optional<bool> cooperative;
  std::vector<std::int64_t> cluster;  // empty or three
  bool operator==(const LaunchAttributes&) const = default;
};

struct Case {
  std::string name;
  double weight = 1.0;      // calls times mean time of the original in the program, microseconds
  std::vector<Size> grid;   // three
  std::vector<Size> block;  // three
  Size shared_bytes = "0";
  std::vector<std::string> template_arguments;
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  std::vector<Global> globals;
  std::optional<LaunchAttributes> attributes;
  bool operator==(const Case&) const = default;
};

struct Tolerance {
  std::optional<double> relative;  // max |c - o| / max(|o|, rms(o)) <= relative
  std::optional<double> absolute;
  bool bitwise = false;
  bool operator==(const Tolerance&) const = default;
};

struct Workload {
  static constexpr const char* kSchema = "cupilot.workload/1";
  std::string kernel;  // qualified name
  std::vector<Case> cases;
  std::optional<Tolerance> tolerance;
  bool operator==(const Workload&) const = default;
};

// Strict: unknown keys, wrong types and impossible combinations are errors that name the path of
// the bad key ("cases[0].arguments[1].fill.kind: unknown fill 'gauss'; one of ...").
base::Result<Workload> ParseWorkload(const Json& json);
Json ToJson(const Workload& workload);

}  // namespace cupilot::records
