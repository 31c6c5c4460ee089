// Tells the compiler how many threads a block has, and how many blocks a multiprocessor should
// hold.
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"

namespace cupilot::source {
namespace {

using records::Json;

base::Result<> CheckBounds(const Draft& draft) {
  if (draft.facts.launch_bounds)
    return base::Fail(base::Unsupported("it has launch bounds already"));
  if (draft.facts.body == kNone)
    return base::Fail(base::Unsupported("its body is not in this text"));
  return {};
}

std::int64_t ThreadsOf(const Draft& draft) {
  const Geometry geometry = DraftGeometry(draft);
  return geometry.block[0] * geometry.block[1] * geometry.block[2];
}

// Threads that a multiprocessor holds at most, on every architecture.
constexpr std::int64_t kResidentThreads = 2048;

}  // namespace

base::Result<std::vector<Json>> ProposeLaunchBounds(const Draft& draft) {
  TRY(CheckBounds(draft));
  if (draft.device == "host") {
    return base::Fail(base::Unsupported("the host device has no registers to share out"));
  }
  std::vector<Json> parameters;
  for (const std::int64_t blocks : {0, 2, 4, 8, 1}) {
    if (blocks * ThreadsOf(draft) <= kResidentThreads)
      parameters.push_back(Json{{"min_blocks", blocks}});
  }
  return parameters;
}

base::Result<std::string> ApplyLaunchBounds(Draft& draft, const Json& parameters) {
  TRY(CheckBounds(draft));
  TRY_ASSIGN(const std::int64_t blocks, IntegerOf(parameters, "min_blocks", 0));
  if (blocks < 0 || blocks > 32)
    return base::Fail(base::InvalidArgument("min_blocks must be 0 to 32"));
  const std::int64_t threads = ThreadsOf(draft);
  if (threads < 1 || threads > 1024) {
    return base::Fail(base::Unsupported("its block is not known or not legal"));
  }
  AddGuard(draft, "(" + draft.block[0] + ") * (" + draft.block[1] + ") * (" + draft.block[2] +
                      ") <= " + std::to_string(threads));
  const std::string bounds =
      std::to_string(threads) + (blocks == 0 ? "" : ", " + std::to_string(blocks));
  Edits edits(draft.tree.text);
  edits.Insert(draft.tree.at(draft.function).name_begin, "__launch_bounds__(" + bounds + ") ");
  TRY(Change(draft, edits));
  return "compiled for blocks of " + std::to_string(threads) + " threads" +
         (blocks == 0 ? "" : ", " + std::to_string(blocks) + " a multiprocessor");
}

}  // namespace cupilot::source
