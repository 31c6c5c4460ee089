#include "source/rewrite/techniques.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/install_layout.h"
#include "records/expression.h"
#include "source/rewrite/block_size.h"
#include "source/syntax/parse.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

using records::Json;

struct Unit {
  Tree tree;
  NodeId kernel = kNone;
};

base::Result<Unit> LoadClosure(const records::Kernel& kernel) {
  ParseOptions options;
  options.file_name = "closure.cu";
  options.system_folders = {base::HostToolkitFolder() + "/include"};
  options.defines = {"__CUDACC__", "__NVCC__"};
  TRY_ASSIGN(ParseOutcome outcome, Parse(kernel.closure_source, options));
  Unit unit;
  unit.tree = std::move(outcome.tree);
  unit.kernel = FindDefinition(unit.tree, kernel.name);
  if (unit.kernel == kNone) {
    return base::Fail(base::Unsupported("the kernel was not found in its closure"));
  }
  return unit;
}

std::optional<std::array<std::int64_t, 3>> ShapeOf(const Json& parameters) {
  std::array<std::int64_t, 3> shape{1, 1, 1};
  static constexpr const char* kNames[] = {"x", "y", "z"};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto it = parameters.find(kNames[d]);
    if (it == parameters.end()) continue;
    if (!it->is_number_integer()) return std::nullopt;
    shape[d] = it->get<std::int64_t>();
  }
  const bool legal =
      shape[0] >= 1 && shape[1] >= 1 && shape[2] >= 1 && shape[0] * shape[1] * shape[2] <= 1024;
  return legal ? std::optional(shape) : std::nullopt;
}

std::array<std::int64_t, 3> BlockOf(const records::Case& workload) {
  std::array<std::int64_t, 3> block{1, 1, 1};
  for (std::size_t d = 0; d < 3 && d < workload.block.size(); ++d) {
    block[d] = records::EvaluateText(workload.block[d], {}).value_or(1);
  }
  return block;
}

// Wide rows of threads first: they touch consecutive addresses on every device.
std::vector<Json> ShapesFor(const records::Case& workload) {
  const std::array<std::int64_t, 3> block = BlockOf(workload);
  std::vector<Json> shapes;
  const auto add = [&](std::int64_t x, std::int64_t y) {
    if (x == block[0] && y == block[1]) return;
    shapes.push_back(Json{{"x", x}, {"y", y}, {"z", block[2]}});
  };
  if (block[1] == 1) {
    for (const std::int64_t x : {1024, 512, 128, 64, 32}) add(x, 1);
  } else {
    for (const auto& [x, y] : {std::pair<std::int64_t, std::int64_t>{256, 1},
                               {64, 4},
                               {32, 8},
                               {512, 2},
                               {8, 32},
                               {128, 1},
                               {16, 64},
                               {8, 8},
                               {4, 64}}) {
      add(x, y);
    }
  }
  return shapes;
}

std::string RenamedKernel(const Unit& unit, const std::string& name) {
  const Node& node = unit.tree.at(unit.kernel);
  std::string text(unit.tree.TextOf(unit.kernel));
  return text.replace(node.name_begin - node.begin, node.name_end - node.name_begin, name);
}

}  // namespace

base::Result<protocol::ProposeReply> Propose(const protocol::ProposeRequest& request) {
  TRY_ASSIGN(const Unit unit, LoadClosure(request.kernel));
  protocol::ProposeReply reply;
  protocol::Proposal block_size;
  block_size.technique = "block_size";
  const auto safe = CheckBlockSize(unit.tree, unit.kernel, request.kernel.synchronises);
  block_size.applies = safe.has_value();
  if (safe) {
    block_size.parameters = ShapesFor(request.workload);
  } else {
    block_size.reason = safe.error().message;
  }
  reply.proposals.push_back(std::move(block_size));
  return reply;
}

base::Result<protocol::RewriteReply> Rewrite(const protocol::RewriteRequest& request) {
  TRY_ASSIGN(const Unit unit, LoadClosure(request.kernel));
  protocol::RewriteReply reply;
  const auto decline = [&reply](std::string why) {
    reply.declined = true;
    reply.reason = std::move(why);
    return reply;
  };
  records::Variant variant;
  variant.kernel = request.kernel.name;
  records::Launch launch;
  launch.entry = request.kernel.base_name + "_variant";
  std::string title;
  for (const records::StrategyStep& step : request.strategy.steps) {
    if (step.technique != "block_size") {
      return decline("there is no mechanical rewrite for '" + step.technique + "'");
    }
    if (auto safe = CheckBlockSize(unit.tree, unit.kernel, request.kernel.synchronises); !safe) {
      return decline(safe.error().message);
    }
    const auto shape = ShapeOf(step.parameters);
    if (!shape) return decline("block_size: x, y, z must be at least 1 and at most 1024 together");
    ApplyBlockSize(*shape, launch, variant.guard);
    title += (title.empty() ? "" : ", then ") +
             ("blocks of " + std::to_string((*shape)[0]) + " x " + std::to_string((*shape)[1]) +
              " x " + std::to_string((*shape)[2]) + " threads");
  }
  if (title.empty()) return decline("the strategy has no steps");
  variant.source = RenamedKernel(unit, launch.entry);
  variant.launches.push_back(std::move(launch));
  reply.strategy = request.strategy;
  reply.strategy.title = title;
  variant.strategy = reply.strategy;
  variant.id = records::VariantId(variant);
  reply.variant = std::move(variant);
  return reply;
}

}  // namespace cupilot::source
