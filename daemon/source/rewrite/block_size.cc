// Other block dimensions, with the grid derived again. Two kinds of kernels can take them: those
// that know their place only as blockIdx * blockDim + threadIdx, where any shape that covers the
// same threads will do; and those whose block shares its work out by strides of blockDim.x, where
// fewer threads take more steps each. Steps before may have made a kernel one of the first kind.
#include <algorithm>
#include <charconv>

#include "source/lower/attributes.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

// Wide rows of threads first: they touch consecutive addresses on every device.
std::vector<Json> FreeShapes(const Geometry& geometry) {
  std::vector<Json> shapes;
  const auto add = [&](std::int64_t x, std::int64_t y) {
    if (x == geometry.block[0] && y == geometry.block[1]) return;
    const std::int64_t total_x = geometry.grid[0] * geometry.block[0];
    const std::int64_t total_y = geometry.grid[1] * geometry.block[1];
    if (total_x % x != 0 || total_y % y != 0) return;
    shapes.push_back(Json{{"x", x}, {"y", y}, {"z", geometry.block[2]}});
  };
  if (geometry.grid[1] * geometry.block[1] == 1) {
    for (const std::int64_t x : {1024, 512, 128, 64, 32}) add(x, 1);
  } else {
    for (const auto& [x, y] : {std::pair<std::int64_t, std::int64_t>{256, 1},
                               {64, 4},
                               {32, 8},
                               {8, 32},
                               {4, 64},
                               {512, 2},
                               {128, 1},
                               {8, 8},
                               {16, 64}}) {
      add(x, y);
    }
  }
  return shapes;
}

// Powers of two below the block's own width: what halving loops over the block can take.
std::vector<Json> SharedShapes(const Geometry& geometry) {
  std::vector<Json> shapes;
  for (const std::int64_t x : {32, 64, 8, 128, 1, 256, 512}) {
    if (x < geometry.block[0]) {
      shapes.push_back(Json{{"x", x}, {"y", geometry.block[1]}, {"z", geometry.block[2]}});
    }
  }
  return shapes;
}

std::string IsPowerOfTwo(const std::string& value) {
  // n is a power of two exactly where it divides 2^30 (of a block's sizes).
  return "1073741824 % (" + value + ") == 0";
}

enum class Freedom { kAnyShape, kFewerAlongX };

// kUnsupported with the reason that fits the kernel's kind where it can take no other block.
base::Result<Freedom> FreedomOf(const Draft& draft) {
  if (draft.any_block) return Freedom::kAnyShape;
  const auto free = CheckFreePlace(draft);
  if (free) return Freedom::kAnyShape;
  const auto shared = CheckStridedBlock(draft);
  if (shared) return Freedom::kFewerAlongX;
  return base::Fail(draft.facts.barrier || draft.facts.shared ? shared.error() : free.error());
}

// What the kernel's own launch bounds allow; a launch of more threads fails.
base::Result<std::int64_t> MostThreads(const Draft& draft) {
  constexpr std::int64_t kMost = 1024;
  if (!draft.facts.launch_bounds) return kMost;
  const std::string bound = LaunchBoundOf(draft.tree.TextOf(draft.function));
  const std::size_t begin = bound.find_first_not_of(" \t");
  const std::size_t end = bound.find_last_not_of(" \t") + 1;
  std::int64_t threads = 0;
  const auto [rest, error] =
      begin == std::string::npos
          ? std::from_chars_result{nullptr, std::errc::invalid_argument}
          : std::from_chars(bound.data() + begin, bound.data() + end, threads);
  if (error != std::errc() || rest != bound.data() + end) {
    return base::Fail(base::Unsupported("its launch bounds are no plain number: '" + bound + "'"));
  }
  return std::min(threads, kMost);
}

}  // namespace

base::Result<std::vector<Json>> ProposeBlockSize(const Draft& draft) {
  TRY_ASSIGN(const Freedom freedom, FreedomOf(draft));
  TRY_ASSIGN(const std::int64_t most, MostThreads(draft));
  const Geometry geometry = DraftGeometry(draft);
  std::vector<Json> shapes =
      freedom == Freedom::kAnyShape ? FreeShapes(geometry) : SharedShapes(geometry);
  std::erase_if(shapes, [&](const Json& shape) {
    std::int64_t threads = 1;
    for (const char* axis : kAxes) threads *= shape[axis].get<std::int64_t>();
    return threads > most;
  });
  return shapes;
}

base::Result<std::string> ApplyBlockSize(Draft& draft, const Json& parameters) {
  std::int64_t shape[3];
  std::int64_t threads = 1;
  const Geometry before = DraftGeometry(draft);
  for (std::size_t d = 0; d < 3; ++d) {
    TRY_ASSIGN(shape[d], IntegerOf(parameters, kAxes[d], before.block[d]));
    if (shape[d] < 1 || shape[d] > 1024) {
      return base::Fail(base::InvalidArgument("x, y, z must be 1 to 1024"));
    }
    threads *= shape[d];
  }
  if (threads > 1024) return base::Fail(base::InvalidArgument("more than 1024 threads a block"));
  TRY_ASSIGN(const Freedom freedom, FreedomOf(draft));
  TRY_ASSIGN(const std::int64_t most, MostThreads(draft));
  if (threads > most) {
    return base::Fail(base::Unsupported("its launch bounds allow blocks of " +
                                        std::to_string(most) + " threads at most"));
  }
  if (freedom == Freedom::kAnyShape) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (before.grid[d] * before.block[d] % shape[d] != 0) {
        return base::Fail(base::Unsupported("the workload's threads along " +
                                            std::string(kAxes[d]) + " are no multiple of " +
                                            std::to_string(shape[d])));
      }
    }
    TRY(NormalisePlace(draft));
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string size = std::to_string(shape[d]);
      const std::string total = "(" + draft.grid[d] + ") * (" + draft.block[d] + ")";
      AddGuard(draft, total + " % " + size + " == 0");
      draft.grid[d] = total + " / " + size;
      draft.block[d] = size;
    }
  } else {
    if (shape[1] != before.block[1] || shape[2] != before.block[2]) {
      return base::Fail(base::Unsupported("the block shares its work out along x only"));
    }
    if ((shape[0] & (shape[0] - 1)) != 0) {
      return base::Fail(base::Unsupported("x must be a power of two where a block halves itself"));
    }
    AddGuard(draft, draft.block[0] + " >= " + std::to_string(shape[0]) + " && " +
                        IsPowerOfTwo(draft.block[0]));
    draft.block[0] = std::to_string(shape[0]);
  }
  return "blocks of " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " x " +
         std::to_string(shape[2]) + " threads";
}

}  // namespace cupilot::source
