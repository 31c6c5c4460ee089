#include "source/rewrite/draft.h"

#include <utility>

#include "records/expression.h"
#include "records/launch_names.h"
#include "source/closure_options.h"
#include "source/syntax/parse.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

base::Result<> Look(Draft& draft, const std::string& text) {
  TRY_ASSIGN(ParseOutcome outcome, ParseClosure(draft.kernel, text));
  draft.tree = std::move(outcome.tree);
  draft.function = FindDefinition(draft.tree, draft.kernel.name);
  if (draft.function == kNone) {
    return base::Fail(base::Unsupported("the kernel was not found in its closure"));
  }
  draft.facts = FactsOf(draft.tree, draft.function);
  return {};
}

std::int64_t NumberOf(const std::string& expression, const records::Environment& environment) {
  return records::EvaluateText(expression, environment).value_or(1);
}

records::Environment EnvironmentOf(const Draft& draft) {
  const Geometry original = OriginalGeometry(draft);
  records::Environment environment;
  for (std::size_t d = 0; d < 3; ++d) {
    environment.integers["grid_" + std::string(kAxes[d])] = original.grid[d];
    environment.integers["block_" + std::string(kAxes[d])] = original.block[d];
  }
  return environment;
}

}  // namespace

base::Result<Draft> OpenDraft(const records::Kernel& kernel, const records::Case& workload,
                              const std::string& device) {
  Draft draft;
  draft.kernel = kernel;
  draft.workload = workload;
  draft.device = device;
  for (const char* axis : kAxes) {
    draft.grid.push_back("grid_" + std::string(axis));
    draft.block.push_back("block_" + std::string(axis));
  }
  TRY(Look(draft, kernel.closure_source));
  return draft;
}

base::Result<> Change(Draft& draft, const Edits& edits) {
  const auto looked = Look(draft, edits.Apply());
  if (!looked) {
    return base::Fail(
        base::Internal("a rewritten kernel does not parse: " + looked.error().message));
  }
  return {};
}

void AddParameter(Draft& draft, Edits& edits, const std::string& name, const std::string& value) {
  const std::vector<NodeId> own = Parameters(draft.tree, draft.function);
  edits.Insert(draft.tree.at(draft.function).parameters_end,
               (own.empty() ? "int " : ", int ") + name);
  if (draft.arguments.empty()) {
    for (const NodeId id : own) draft.arguments.push_back(draft.tree.at(id).name);
  }
  draft.arguments.push_back(records::Json{{"type", "int"}, {"value", value}});
  AddGuard(draft, value + " <= 2147483647");
}

void AddGuard(Draft& draft, const std::string& condition) {
  draft.guard += (draft.guard.empty() ? "(" : " && (") + condition + ")";
}

std::string NameInExpressions(const Draft& draft, NodeId parameter) {
  const std::string& name = draft.tree.at(parameter).name;
  for (std::size_t i = 0; i < draft.kernel.parameters.size(); ++i) {
    if (draft.kernel.parameters[i].name == name) {
      return records::NameInExpressions(draft.kernel, i, records::TunableNames(draft.kernel, {}));
    }
  }
  return name;
}

records::Variant CloseDraft(const Draft& draft, const records::Strategy& strategy) {
  records::Variant variant;
  variant.kernel = draft.kernel.name;
  variant.template_arguments = draft.kernel.template_arguments;
  records::Launch launch;
  launch.entry = draft.kernel.base_name + "_variant";
  const Node& node = draft.tree.at(draft.function);
  std::string text(draft.tree.TextOf(draft.function));
  text.replace(node.name_begin - node.begin, node.name_end - node.name_begin, launch.entry);
  for (const std::string& name : draft.added) {
    const NodeId id = FindDefinition(draft.tree, name);
    if (id != kNone) variant.source += std::string(draft.tree.TextOf(id)) + "\n";
  }
  variant.source += text;
  launch.grid = draft.grid;
  launch.block = draft.block;
  launch.arguments = draft.arguments;
  variant.guard = draft.guard;
  variant.launches.push_back(std::move(launch));
  variant.strategy = strategy;
  variant.id = records::VariantId(variant);
  return variant;
}

Geometry OriginalGeometry(const Draft& draft) {
  Geometry geometry;
  for (std::size_t d = 0; d < 3; ++d) {
    if (d < draft.workload.grid.size()) geometry.grid[d] = NumberOf(draft.workload.grid[d], {});
    if (d < draft.workload.block.size()) geometry.block[d] = NumberOf(draft.workload.block[d], {});
  }
  return geometry;
}

Geometry DraftGeometry(const Draft& draft) {
  const records::Environment environment = EnvironmentOf(draft);
  Geometry geometry;
  for (std::size_t d = 0; d < 3; ++d) {
    geometry.grid[d] = NumberOf(draft.grid[d], environment);
    geometry.block[d] = NumberOf(draft.block[d], environment);
  }
  return geometry;
}

}  // namespace cupilot::source
