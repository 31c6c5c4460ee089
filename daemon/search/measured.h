// A space of which points were measured, as a value and as a file (`cupilot.measured/1`): what a
// search is run on where there is no GPU.
//
//   {"schema": "cupilot.measured/1", "name": "gemm", "device": "NVIDIA A100",
//    "architecture": "sm_80", "multiprocessors": 108,
//    "space": {"schema": "cupilot.space/1", ...}, "valid": "solved",
//    "rows": [
//     {"at": [64, "kij"], "us": 12.5, "times": [12.4, 12.6], "compile_s": 2.7, "measure_s": 0.1,
//      "registers": 40, "local_bytes": 0, "shared_bytes": 4096},
//     {"at": [32, "kij"], "us": 13.5, "samples": 32},
//     {"at": [64, "ijk"], "reason": "compile", "compile_s": 0.9}
//    ]}
//
// `at` has the values in the order of the space's parameters. A row has `us`, the mean time in
// microseconds, with its samples one by one (`times`) or their number, or `reason`, why there is
// none; and, where that is known, what the compiler said of a thread's registers and local bytes
// and of a block's static shared bytes. `valid`: "solved" (where nothing is said), what the
// space's constraints leave; or "rows", the points of the rows and no others, where the constraints
// are not known. Valid points without a row were not measured. One row a line, as written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "search/resources.h"
#include "search/space.h"
#include "search/space_json.h"

namespace cupilot::search {

struct MeasuredRow {
  Point point;
  std::optional<double> microseconds;  // the mean; nothing: the point failed
  std::int64_t samples = 0;
  std::string reason;          // of a failure; not empty
  double compile_seconds = 0;  // what the point cost when it was measured
  double measure_seconds = 0;  // verification included
  std::int64_t registers = 0, local_bytes = 0, shared_bytes = 0;  // 0: not known, or none
  // Of the samples, in microseconds; empty: only their mean was kept.
  std::vector<double> times = {};

  double seconds() const { return compile_seconds + measure_seconds; }
  BuildReport report() const { return {registers, shared_bytes, compile_seconds, local_bytes}; }
};

enum class ValidPoints { kSolved, kRows };

class MeasuredSpace {
 public:
  static constexpr const char* kSchema = "cupilot.measured/1";

  struct Parts {
    std::string name;
    std::string device;
    std::string architecture;          // of the device; empty: not known
    std::int64_t multiprocessors = 0;  // the same; 0: not known
    SpaceFile space;
    ValidPoints valid = ValidPoints::kSolved;
    std::vector<MeasuredRow> rows;
  };

  // kInvalidArgument names the row: a point that is not valid or has two rows, a time that is not
  // positive, a failure without a reason, another number of times than of samples. And what
  // Space::Make() has to say.
  static base::Result<MeasuredSpace> Make(Parts parts);

  const std::string& name() const { return parts_.name; }
  const std::string& device() const { return parts_.device; }
  const std::string& architecture() const { return parts_.architecture; }
  std::int64_t multiprocessors() const { return parts_.multiprocessors; }
  const SpaceFile& file() const { return parts_.space; }
  ValidPoints valid() const { return parts_.valid; }
  const std::vector<MeasuredRow>& rows() const { return parts_.rows; }
  const Space& space() const { return space_; }
  // Null: it was not measured.
  const MeasuredRow* Find(const Point& point) const;
  bool complete() const { return parts_.rows.size() == space_.size(); }

 private:
  Parts parts_;
  Space space_;
  std::vector<std::uint32_t> by_point_;  // rows in the order of their points
};

// Those points of it alone that were measured: one without a result would cost a replay nothing and
// tell it nothing, which no search meets elsewhere.
base::Result<MeasuredSpace> MeasuredPart(const MeasuredSpace& space);

// Its fastest points, best first, as points of a space whose parameters have the same names: at a
// value that the space does not have stands the nearest one, where there is one, else its standard.
// Points need not be valid. At most `count`; none where a parameter of the space is none of its.
std::vector<Point> ChampionsFor(const Space& space, const MeasuredSpace& elsewhere,
                                std::size_t count);
// Of so many: they recover most of what there is to gain.
inline constexpr std::size_t kChampions = 50;

// Strict; errors name the row: "rows[3].at[1]: 48 is no value of block_y".
base::Result<MeasuredSpace> ParseMeasured(std::string_view text);
std::string TextOf(const MeasuredSpace& measured);

// Of a number or a truth value; nothing: it is none of at most 64 bits, or something else.
std::optional<std::int64_t> WholeNumberOf(const records::Json& value);
// The place of a value in the parameter's list: numbers, truth values and texts, as files have
// them.
std::optional<std::uint16_t> PlaceOf(const SpaceParameter& parameter, const records::Json& value);
// The value at that place: a number, or a text where the parameter has texts.
records::Json ValueJson(const SpaceParameter& parameter, std::uint16_t place);

}  // namespace cupilot::search
