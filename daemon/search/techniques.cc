#include "search/techniques.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "records/expression.h"

namespace cupilot::search {

namespace {

constexpr TechniqueParameter kBlockSize[] = {
    {"x", "threads of a block in x", 1, 1024},
    {"y", "threads of a block in y", 1, 1024},
    {"z", "threads of a block in z", 1, 64},
};
constexpr TechniqueParameter kCoarsening[] = {
    {"form", "one element after the other, or all statement by statement", 0, 0,
     "sequential|jammed"},
    {"stride", "which elements: neighbours, or those a block apart", 0, 0, "element|block"},
    {"x", "elements a thread in x", 1, 1024},
    {"y", "elements a thread in y", 1, 64},
    {"loops", "nests of constant lengths as they are, or written out", 0, 0, "kept|unrolled"},
};
constexpr TechniqueParameter kUnrolling[] = {
    {"factor", "iterations that become one", 2, 64},
    {"accumulators", "1: sums keep their order; 2: each copy has its own partial sum", 1, 2},
};
constexpr TechniqueParameter kLaunchBounds[] = {
    {"min_blocks", "blocks a multiprocessor should hold; 0: not said", 0, 32},
};
constexpr TechniqueParameter kReadOnly[] = {
    {"loads", "pointers marked only, or loads through the read-only path as well", 0, 0,
     "restrict|restrict_ldg"},
};
constexpr TechniqueParameter kVectorized[] = {
    {"width", "elements of one access", 2, 4},
};
constexpr TechniqueParameter kInterchange[] = {
    {"nest", "which pair of loops, in the order of the text", 0, 16},
};
constexpr TechniqueParameter kGridStride[] = {
    {"blocks_per_sm", "blocks that each multiprocessor gets", 1, 64},
};
constexpr TechniqueParameter kPadding[] = {
    {"pad", "elements added to a row of a shared array", 1, 16},
};
constexpr TechniqueParameter kStaging[] = {
    {"tile", "sides of a square tile", 8, 64},
    {"rows", "rows of a tile that each thread handles", 1, 64},
};
constexpr TechniqueParameter kTiling[] = {
    {"tile_m", "outputs of a block in y", 1, 256},
    {"tile_n", "outputs of a block in x", 1, 256},
    {"tile_k", "steps of the loop that a tile holds", 1, 64},
    {"rows_per_thread", "outputs a thread in y", 1, 16},
    {"columns_per_thread", "outputs a thread in x", 1, 16},
};
constexpr TechniqueParameter kMerge[] = {
    {"factor", "original blocks that one block runs", 2, 4096},
};
constexpr TechniqueParameter kJoined[] = {
    {"items", "original blocks, or vectors, that each thread combines", 1, 4096},
    {"width", "elements of one load", 1, 16},
};
constexpr TechniqueParameter kPrivate[] = {
    {"scope", "who holds a private copy", 0, 0, "thread|block"},
    {"items", "elements a thread", 1, 1048576},
    {"width", "elements of one load, of a block's copy", 1, 16},
    {"copies", "copies a block, for threads side by side", 1, 32},
    {"block", "threads of a block that shares a copy; 0: as before", 0, 1024},
};

constexpr TechniqueParameter kClassOfSizes[] = {
    {"guard", "what holds for the launches that it is for", 0, 0, {}, true},
};

constexpr std::string_view kThreadsOfBlock[] = {"x * y <= 1024", "x * y * z <= 1024"};
constexpr std::string_view kThreadsOfStaging[] = {"tile % rows == 0",
                                                  "tile * (tile / rows) <= 1024"};
constexpr std::string_view kThreadsOfTiling[] = {
    "tile_m % rows_per_thread == 0", "tile_n % columns_per_thread == 0",
    "(tile_m / rows_per_thread) * (tile_n / columns_per_thread) <= 1024"};
constexpr std::string_view kWholeLoads[] = {"items % width == 0"};

constexpr Technique kRows[] = {
    {"block_size", "Other block dimensions, with the grid derived again.",
     "occupancy latency dram l2", kBlockSize, true, kThreadsOfBlock},
    {"thread_coarsening", "Each thread does the work of several.", "fp32 latency l2 shared launch",
     kCoarsening, true},
    {"unrolling", "Several iterations of an inner loop become one.", "latency fp32", kUnrolling,
     true},
    {"full_unrolling",
     "Nests of loops of constant lengths are written out.",
     "l2 latency fp32",
     {},
     true},
    {"reciprocal_root",
     "Division by square roots becomes multiplication with reciprocal ones.",
     "fp32 latency",
     {},
     true},
    {"launch_bounds", "Tells the compiler the block size, so that it can plan registers.",
     "occupancy", kLaunchBounds, true},
    {"restrict_readonly", "Says that pointers do not overlap, and loads read-only data as such.",
     "dram l2 latency", kReadOnly, true},
    {"vectorized_access", "Loads and stores of two or four neighbouring elements at once.",
     "dram l2", kVectorized, true},
    {"loop_interchange", "Exchanges two nested loops so that the inner one walks along memory.",
     "dram l2 latency", kInterchange, true},
    {"grid_stride", "As many blocks as the device holds; each walks over the work.",
     "launch latency", kGridStride, true},
    {"shared_padding", "Longer rows of shared arrays, so that columns lie in different banks.",
     "shared", kPadding, true},
    {"shared_staging",
     "Elements that are read along rows and written across them pass through a shared tile.",
     "dram l2", kStaging, true, kThreadsOfStaging},
    {"shared_tiling",
     "A loop's data that several threads of a block need passes through shared tiles.",
     "fp32 l2 dram", kTiling, true, kThreadsOfTiling},
    {"block_merge", "One block runs several of the original blocks, one after the other.",
     "launch latency occupancy", kMerge, false},
    {"joined_blocks",
     "Each thread combines the values of several blocks before its block's threads meet.",
     "dram latency launch", kJoined, true},
    {"private_atomics", "Atomic updates go to a private copy that is added once at the end.",
     "l2 latency shared", kPrivate, true, kWholeLoads},
    {"warp_reduction",
     "Reductions within a warp by shuffles instead of shared memory.",
     "shared latency",
     {},
     false},
    {"pass_fusion",
     "Passes over the same data become one (for example an online softmax).",
     "dram l2",
     {},
     false},
    {"two_phase_reduction",
     "Partial results in a workspace, combined by a second launch.",
     "latency l2",
     {},
     false},
    {"async_copy",
     "Copies to shared memory that overlap with computing.",
     "dram latency",
     {},
     false},
    {"tensor_cores",
     "Matrix products on tensor cores, where the tolerance allows it.",
     "fp32 tensor",
     {},
     false},
    {"size_class", "For launches of some sizes only: the original runs the others.",
     "latency dram l2", kClassOfSizes, true},
};

bool HasWord(std::string_view words, std::string_view word, char separator) {
  while (!words.empty()) {
    const std::size_t end = words.find(separator);
    if (words.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + 1);
  }
  return false;
}

base::Result<> CheckValue(const TechniqueParameter& parameter, const records::Json& value,
                          const std::string& where) {
  if (!parameter.choices.empty()) {
    if (value.is_string() && HasWord(parameter.choices, value.get<std::string>(), '|')) return {};
    return base::Fail(base::InvalidArgument(where + ": one of " + std::string(parameter.choices)));
  }
  if (parameter.expression) {
    if (!value.is_string()) {
      return base::Fail(base::InvalidArgument(where + ": an expression is needed"));
    }
    auto parsed = records::Expression::Parse(value.get<std::string>());
    if (!parsed) return base::Fail(parsed.error().In(where));
    return {};
  }
  if (!value.is_number_integer()) {
    return base::Fail(base::InvalidArgument(where + ": an integer is needed"));
  }
  const auto number = value.get<std::int64_t>();
  if (number < parameter.low || number > parameter.high) {
    return base::Fail(base::InvalidArgument(where + ": not in " + std::to_string(parameter.low) +
                                            " to " + std::to_string(parameter.high)));
  }
  return {};
}

}  // namespace

std::span<const Technique> Techniques() { return kRows; }

const Technique* FindTechnique(std::string_view name) {
  for (const Technique& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const TechniqueParameter* FindParameter(const Technique& row, std::string_view name) {
  for (const TechniqueParameter& parameter : row.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::vector<std::string> WordsOf(const TechniqueParameter& parameter) {
  std::vector<std::string> words;
  std::string_view rest = parameter.choices;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

std::vector<std::int64_t> TwiceAndHalf(const TechniqueParameter& parameter, std::int64_t number) {
  std::vector<std::int64_t> next = {number * 2, number / 2};
  std::erase_if(next, [&](std::int64_t other) {
    return other == number || other < parameter.low || other > parameter.high;
  });
  return next;
}

bool Answers(const Technique& technique, std::string_view bottleneck) {
  return HasWord(technique.bottlenecks, bottleneck, ' ');
}

base::Result<> CheckStep(const records::StrategyStep& step) {
  if (step.technique.starts_with("other:")) return {};
  const Technique* row = FindTechnique(step.technique);
  if (row == nullptr) {
    return base::Fail(base::InvalidArgument("there is no technique '" + step.technique + "'"));
  }
  if (!step.parameters.is_object()) {
    return base::Fail(base::InvalidArgument(step.technique + ".parameters: an object is needed"));
  }
  for (const auto& [key, value] : step.parameters.items()) {
    const std::string where = step.technique + ".parameters." + key;
    const TechniqueParameter* found = FindParameter(*row, key);
    if (found == nullptr) {
      return base::Fail(base::InvalidArgument(where + ": there is no such parameter"));
    }
    TRY(CheckValue(*found, value, where));
  }
  return {};
}

}  // namespace cupilot::search
