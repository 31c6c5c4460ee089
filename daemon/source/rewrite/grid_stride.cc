// As many blocks as the device holds at once; each thread walks over the original threads' work in
// strides of the whole grid.
#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

base::Result<> CheckStride(const Draft& draft) {
  TRY(CheckFreePlace(draft));
  const Tree& tree = draft.tree;
  bool along_x = false;
  for (const GlobalIndex& index : GlobalIndices(draft)) along_x = along_x || index.axis == 'x';
  if (!along_x) return base::Fail(base::Unsupported("its threads do not differ along x"));
  for (const NodeId id : Parameters(tree, draft.function)) {
    if (tree.at(id).name.empty()) return base::Fail(base::Unsupported("a parameter has no name"));
  }
  return CheckRepeatable(draft);
}

}  // namespace

base::Result<std::vector<Json>> ProposeGridStride(const Draft& draft) {
  TRY(CheckStride(draft));
  if (draft.device == "host") {
    return base::Fail(base::Unsupported(
        "on the host device the processor's threads walk over the blocks already"));
  }
  std::vector<Json> parameters;
  for (const int blocks : {8, 4, 16, 2, 1}) parameters.push_back(Json{{"blocks_per_sm", blocks}});
  return parameters;
}

base::Result<std::string> ApplyGridStride(Draft& draft, const Json& parameters) {
  TRY(CheckStride(draft));
  TRY_ASSIGN(const std::int64_t blocks, IntegerOf(parameters, "blocks_per_sm", 4));
  if (blocks < 1 || blocks > 64) {
    return base::Fail(base::InvalidArgument("blocks_per_sm must be 1 to 64"));
  }
  TRY(NormalisePlace(draft));
  const Tree& tree = draft.tree;
  const std::string total = FreshPrefix(tree, "total"), at = FreshPrefix(tree, "at");
  Edits edits(tree.text);
  for (const GlobalIndex& index : GlobalIndices(draft)) {
    if (index.axis != 'x') continue;
    const Node& node = tree.at(index.sum);
    edits.Replace(node.begin, node.end, "((" + node.canonical + ")" + at + ")");
  }
  for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kReturn)) {
    edits.Replace(tree.at(id).begin, tree.at(id).end, "continue");
  }
  const Node& body = tree.at(draft.facts.body);
  // Wide enough that the last step past the end does not wrap.
  edits.Insert(body.begin, "{\nfor (long long " + at +
                               " = blockIdx.x * blockDim.x + threadIdx.x; " + at + " < " + total +
                               "; " + at + " += gridDim.x * blockDim.x) ");
  edits.Insert(body.end, "\n}");
  const std::string threads = "(" + draft.grid[0] + ") * (" + draft.block[0] + ")";
  AddParameter(draft, edits, total, threads);
  draft.grid[0] = "min(" + draft.grid[0] + ", " + std::to_string(blocks) + " * sm_count)";
  TRY(Change(draft, edits));
  return "at most " + std::to_string(blocks) + " blocks a multiprocessor, in strides of the grid";
}

}  // namespace cupilot::source
