// What kind of kernel it is, as numbers: a fixed vector, by which kernels that are alike are found
// (search/strategy_pool.h). Computed from the syntax tree and the heaviest case by the source
// worker (source/rewrite/kernel_features.h) and, where the original was disassembled, from its
// instructions. It holds no text of the kernel. A value; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "records/json.h"

namespace cupilot::records {

// One component. Its place on the scale from 0 to 1, where distances are taken, is value / full, or
// log2(1 + value) / log2(1 + full), at most 1.
struct FeatureRow {
  std::string_view name;
  double full = 1;
  bool logarithmic = false;
  double weight = 1;  // of its squared difference in a distance
  std::string_view what;
};

// "As written": each operation counts once, one in a loop 8 times for each level, at most three.
// Changing what a component means, or its place, is a new version.
inline constexpr FeatureRow kFeatureRows[] = {
    // Operations, of all that were counted.
    {"float_share", 1, false, 1.5, "additions, products and the like of floating type"},
    {"integer_share", 1, false, 0.5, "the same of integers, indices among them"},
    {"special_share", 1, false, 1.5, "roots, exponentials, sines, divisions"},
    {"atomic_share", 1, false, 2, "atomic updates"},
    // Global memory, of all accesses as written.
    {"coalesced_share", 1, false, 1.5, "neighbouring threads in x touch neighbouring elements"},
    {"uniform_share", 1, false, 1, "all threads along x touch the same element"},
    {"strided_share", 1, false, 1.5, "neighbouring threads touch elements that lie apart"},
    {"indirect_share", 1, false, 1.5, "where is read from memory"},
    {"write_share", 1, false, 0.5, "stores"},
    {"stencil_offsets", 27, true, 1.5, "the most places at constant distances in one array"},
    {"reuse_share", 1, false, 1.5, "in a loop, and the same for all threads along one axis"},
    {"operations_per_byte", 64, true, 1.5, "floating operations by bytes of global memory"},
    // Control.
    {"loops", 8, true, 0.5, "in the text"},
    {"loop_depth", 4, false, 1, "of the deepest nest"},
    {"constant_loops", 1, false, 0.5, "share of loops of which both ends are constants"},
    {"branches", 16, true, 0.5, "if, switch and ?:"},
    // Threads together.
    {"shared_bytes", 65536, true, 1, "of shared arrays whose size is written"},
    {"shared_share", 1, false, 1, "accesses of shared memory, of all accesses of memory"},
    {"barriers", 8, true, 1, "in the text"},
    {"loop_barriers", 4, true, 1, "those in loops"},
    {"warp_exchanges", 8, true, 1, "shuffles, votes and the like"},
    {"reductions", 4, true, 1.5, "sums, products and extremes that loops form"},
    {"device_calls", 8, true, 0.25, "calls of the user's functions"},
    // Data.
    {"half_share", 1, false, 1, "arrays of half, bfloat16 and narrower floating types"},
    {"single_share", 1, false, 0.5, "arrays of float and vectors of it"},
    {"double_share", 1, false, 1, "arrays of double"},
    {"integer_data_share", 1, false, 0.5, "arrays of integers"},
    {"access_bytes", 16, true, 0.5, "mean width of an access"},
    {"inputs", 8, true, 0.5, "arrays that are only read"},
    {"outputs", 4, true, 0.5, "arrays that are written"},
    {"scalars", 8, true, 0.25, "parameters that are no arrays"},
    // The heaviest case.
    {"block_dimensions", 3, false, 0.75, "of more than one thread"},
    {"grid_dimensions", 3, false, 0.75, "of more than one block"},
    {"block_threads", 1024, true, 0.5, "threads a block"},
    {"grid_blocks", 1048576, true, 0.5, "blocks, to the nearest power of two"},
    {"case_bytes", 1073741824, true, 0.75, "of all arrays, to the nearest power of two"},
    // The instructions of the original, as shares; all 0 where nobody has disassembled it. They
    // count only between kernels of which both are known.
    {"code_fp32", 1, false, 1, "floating arithmetic"},
    {"code_fp64", 1, false, 1, "double arithmetic"},
    {"code_fp16", 1, false, 1, "half arithmetic"},
    {"code_integer", 1, false, 0.5, "integers, indices among them"},
    {"code_special", 1, false, 1, "the special function unit"},
    {"code_tensor", 1, false, 2, "tensor cores"},
    {"code_shuffle", 1, false, 1, "exchanges within a warp"},
    {"code_global", 1, false, 1, "global memory"},
    {"code_shared", 1, false, 1, "shared memory"},
    {"code_local", 1, false, 1, "local memory: spills and indexed arrays"},
    {"code_atomic", 1, false, 2, "atomic updates"},
    {"code_control", 1, false, 0.5, "branches"},
    {"code_barrier", 1, false, 1, "barriers"},
    {"code_convert", 1, false, 0.5, "conversions"},
};
inline constexpr std::size_t kFeatureCount = std::size(kFeatureRows);

// The place of a component in the table; a name that it lacks does not compile.
consteval std::size_t FeatureAt(std::string_view name) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (kFeatureRows[i].name == name) return i;
  }
  throw "there is no such component";
}

struct KernelFeatures {
  static constexpr const char* kSchema = "cupilot.kernel_features/1";
  std::array<double, kFeatureCount> values{};
  bool operator==(const KernelFeatures&) const = default;
};

// Whether its components of instructions say something.
bool KnowsCode(const KernelFeatures& features);
// Takes over the shares of the instructions by class, as the worker counts them ("fp32", "global",
// ...); of no instructions nothing.
void AddCode(KernelFeatures& features, const std::map<std::string, std::int64_t>& instructions);

// From 0 (alike in all that is known of both) to 1: the root of the weighted mean of squared
// differences on the scale of the table. Instructions take part where both know them.
double Distance(const KernelFeatures& a, const KernelFeatures& b);

// {"schema", and each component that is not 0 by its name}. Strict: an unknown component, and a
// value that is negative or no number, are errors.
base::Result<KernelFeatures> ParseKernelFeatures(const Json& json);
Json ToJson(const KernelFeatures& features);

}  // namespace cupilot::records
