// Each thread does the work of several: neighbouring ones, or ones a block apart.
#include <numeric>
#include <optional>

#include "source/rewrite/constant_nests.h"
#include "source/rewrite/jam.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

// How a factor is shared between the block's and the grid's size. On the host device, rows of
// blocks are what threads of the processor share out: blocks become narrower. Elsewhere blocks keep
// their size and become fewer.
struct Shares {
  std::int64_t block = 1, grid = 1;
};
std::optional<Shares> SharesOf(const Draft& draft, std::size_t axis, std::int64_t factor) {
  const Geometry geometry = DraftGeometry(draft);
  Shares shares;
  if (draft.device == "host") {
    shares.block = std::gcd(geometry.block[axis], factor);
    shares.grid = factor / shares.block;
  } else {
    shares.grid = std::gcd(geometry.grid[axis], factor);
    shares.block = factor / shares.grid;
  }
  const bool divides =
      geometry.block[axis] % shares.block == 0 && geometry.grid[axis] % shares.grid == 0;
  return divides ? std::optional(shares) : std::nullopt;
}

bool HasLoop(const Draft& draft) {
  return FindBelow(draft.tree, draft.facts.body,
                   [&](NodeId id) { return IsLoop(draft.tree.at(id).kind); }) != kNone;
}

// Factors along x and y, the most promising first.
using Factors = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Registers hold what several statements share; a warp's accesses stay side by side.
Factors JammedOnGpu(bool rows) {
  if (!rows) return {{4, 1}, {2, 1}, {8, 1}};
  return {{4, 4}, {8, 8}, {4, 8}, {8, 4}, {2, 4}, {1, 8}, {1, 4}, {2, 2}, {4, 1}, {1, 2}, {2, 1}};
}

// Long rows that the compiler makes vectors of.
Factors JammedOnHost(bool rows) {
  if (!rows) return {{16, 1}, {8, 1}, {32, 1}, {4, 1}, {64, 1}};
  return {{16, 1}, {32, 4}, {8, 1}, {16, 2}, {32, 1}, {4, 1}, {8, 4}, {64, 1}};
}

void Divide(Draft& draft, std::string& size, std::int64_t divisor) {
  if (divisor == 1) return;
  const std::string by = std::to_string(divisor);
  AddGuard(draft, "(" + size + ") % " + by + " == 0");
  size = "(" + size + ") / " + by;
}

}  // namespace

base::Result<std::vector<Json>> ProposeCoarsening(const Draft& draft) {
  TRY(CheckFreePlace(draft));
  TRY(CheckRepeatable(draft));
  const Geometry geometry = DraftGeometry(draft);
  const bool rows = geometry.grid[1] * geometry.block[1] > 1;
  const bool on_host = draft.device == "host";
  std::vector<Json> parameters;
  const char* apart = on_host ? "element" : "block";
  const auto add = [&](const char* form, std::int64_t x, std::int64_t y, const char* stride) {
    if (!SharesOf(draft, 0, x) || !SharesOf(draft, 1, y)) return;
    Json row = {{"form", form}, {"x", x}};
    if (y > 1) row["y"] = y;
    if (!on_host) row["stride"] = stride;
    parameters.push_back(row);
  };
  if (rows && !on_host && ConstantNests(draft)) {
    // Neighbouring rows read much of the same, which the loops written out load once.
    for (const std::int64_t y : {4, 8, 2}) {
      if (!SharesOf(draft, 1, y)) continue;
      parameters.push_back(Json{
          {"form", "jammed"}, {"x", 1}, {"y", y}, {"stride", "element"}, {"loops", "unrolled"}});
    }
  }
  if (HasLoop(draft)) {
    for (const auto& [x, y] : on_host ? JammedOnHost(rows) : JammedOnGpu(rows))
      add("jammed", x, y, apart);
  }
  if (rows) {
    for (const std::int64_t y : {8, 4, 2}) add("sequential", 1, y, apart);
    // Rows side by side are whole sectors of what is written across them.
    for (const std::int64_t y : {8, 4}) {
      if (!on_host) add("sequential", 1, y, "element");
    }
  }
  for (const std::int64_t x : {4, 8, 16, 2}) add("sequential", x, 1, apart);
  return parameters;
}

base::Result<std::string> ApplyCoarsening(Draft& draft, const Json& parameters) {
  TRY(CheckFreePlace(draft));
  TRY(NormalisePlace(draft));
  JamOptions options;
  const std::string form = WordOf(parameters, "form", "sequential");
  options.jammed = form == "jammed";
  options.strided = WordOf(parameters, "stride", "element") == "block";
  std::int64_t factors[2];
  TRY_ASSIGN(factors[0], IntegerOf(parameters, "x", 1));
  TRY_ASSIGN(factors[1], IntegerOf(parameters, "y", 1));
  for (const std::int64_t factor : factors) {
    if (factor < 1 || factor > 1024)
      return base::Fail(base::InvalidArgument("x and y must be 1 to 1024"));
  }
  if (factors[0] * factors[1] == 1)
    return base::Fail(base::InvalidArgument("nothing to join: x = y = 1"));
  options.x = static_cast<int>(factors[0]);
  options.y = static_cast<int>(factors[1]);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::string total = "(" + draft.grid[axis] + ") * (" + draft.block[axis] + ")";
    AddGuard(draft, total + " <= 2147483647");  // places are computed as int
    if (factors[axis] == 1) continue;
    const auto shares = SharesOf(draft, axis, factors[axis]);
    if (!shares) {
      return base::Fail(base::Unsupported("the launch cannot be divided by " +
                                          std::to_string(factors[axis]) + " along " + kAxes[axis]));
    }
    Divide(draft, draft.block[axis], shares->block);
    Divide(draft, draft.grid[axis], shares->grid);
  }
  TRY(JamThreads(draft, options));
  draft.any_block = options.strided;
  const bool unrolled = WordOf(parameters, "loops", "kept") == "unrolled";
  if (unrolled) TRY(WriteOutNests(draft));
  std::string shape;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (factors[axis] > 1) {
      shape +=
          (shape.empty() ? "" : " x ") + std::to_string(factors[axis]) + " along " + kAxes[axis];
    }
  }
  return "each thread does " + shape + (options.strided ? ", a block apart" : "") +
         (options.jammed ? ", statement by statement" : ", one after the other") +
         (unrolled ? ", loops written out" : "");
}

}  // namespace cupilot::source
