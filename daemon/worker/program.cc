#include "worker/program.h"

#include <algorithm>
#include <cstring>

#include "records/argument_type.h"
#include "records/workload_fit.h"
#include "source/swap/variant_text.h"
#include "worker/admission.h"
#include "worker/tables.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::int64_t kMostSharedBytes = 227 << 10;  // what a block has on the largest GPUs

std::string Hex(const std::vector<std::byte>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15u];
  }
  return text;
}

class VariantPlanner {
 public:
  VariantPlanner(const records::Kernel& kernel, const records::Variant& variant, CasePlan& plan)
      : kernel_(kernel),
        variant_(variant),
        plan_(plan),
        environment_(WithValues(plan.environment, variant)) {}

  base::Result<Program> Run() {
    if (!variant_.tensor_maps.empty() || !variant_.constants.empty()) {
      return base::Fail(base::Unsupported("tensor maps and constants cannot be run here yet"));
    }
    if (!variant_.guard.empty()) {
      TRY_ASSIGN(const std::int64_t holds, Value(variant_.guard, "guard"));
      if (holds == 0) {
        return base::Fail(base::InvalidArgument("the variant's guard does not hold for the case '" +
                                                plan_.name + "'"));
      }
    }
    Program program;
    program.globals = plan_.globals;
    for (const records::Workspace& workspace : variant_.workspace)
      TRY(AddWorkspace(workspace, program));
    for (const records::Launch& launch : records::LaunchesOf(variant_)) {
      if (!launch.when.empty()) {
        TRY_ASSIGN(const std::int64_t when, Value(launch.when, "when"));
        if (when == 0) continue;
      }
      if (launch.repeat || launch.cooperative || !launch.cluster.empty()) {
        return base::Fail(base::Unsupported(
            "repeated, cooperative and clustered launches cannot be run here yet"));
      }
      TRY_ASSIGN(Step step, launch.fill.empty() ? LaunchStep(launch) : FillStep(launch));
      program.steps.push_back(std::move(step));
    }
    return program;
  }

 private:
  base::Result<std::int64_t> Value(const std::string& text, const std::string& what) const {
    auto value = records::EvaluateText(text, environment_);
    if (!value) {
      return base::Fail(base::InvalidArgument(what + " '" + text + "': " + value.error().message));
    }
    return *value;
  }

  base::Result<> AddWorkspace(const records::Workspace& workspace, Program& program) {
    TRY_ASSIGN(const std::int64_t bytes, Value(workspace.bytes, "workspace " + workspace.name));
    const std::int64_t most =
        std::min(records::kMostBufferBytes, plan_.most_bytes - plan_.layout.bytes);
    if (bytes <= 0 || bytes > most) {
      return base::Fail(base::InvalidArgument(
          "the workspace '" + workspace.name + "' would have " + std::to_string(bytes) +
          " bytes, and 1 to " + std::to_string(most) + " are possible on this device"));
    }
    Region region;
    region.name = workspace.name;
    region.count = bytes;
    region.type = device::ElementType{};
    region.workspace = true;
    region.zeroed = workspace.zeroed;
    plan_.layout.Add(std::move(region));
    if (workspace.zeroed) {
      Step step;
      step.fill_offset = plan_.layout.regions.back().offset;
      step.fill_bytes = bytes;
      program.steps.push_back(std::move(step));
    }
    return {};
  }

  const Region* FindWorkspace(const std::string& name) const {
    for (const Region& region : plan_.layout.regions) {
      if (region.workspace && region.name == name) return &region;
    }
    return nullptr;
  }

  base::Result<Step> FillStep(const records::Launch& launch) const {
    const Region* region = FindWorkspace(launch.fill);
    if (region == nullptr) {
      return base::Fail(base::InvalidArgument("fill: there is no workspace '" + launch.fill + "'"));
    }
    Step step;
    step.fill_offset = region->offset;
    TRY_ASSIGN(step.fill_bytes, Value(launch.bytes, "fill of " + launch.fill));
    if (step.fill_bytes < 0 || step.fill_bytes > region->bytes()) {
      return base::Fail(base::InvalidArgument("fill: more bytes than '" + launch.fill + "' has"));
    }
    step.byte = launch.byte;
    return step;
  }

  base::Result<> Geometry(const std::vector<std::string>& texts,
                          const std::array<std::int64_t, 3>& original, const char* what,
                          std::array<std::int64_t, 3>& out) const {
    out = original;
    for (std::size_t i = 0; i < texts.size() && i < 3; ++i) {
      TRY_ASSIGN(out[i], Value(texts[i], what));
    }
    for (const std::int64_t size : out) {
      if (size < 1 || size > 2147483647) {
        return base::Fail(base::InvalidArgument(std::string(what) + " has a dimension of " +
                                                std::to_string(size)));
      }
    }
    return {};
  }

  base::Result<Step> LaunchStep(const records::Launch& launch) const {
    Step step;
    step.kernel = source::EntryName(kernel_, variant_, launch.entry);
    TRY(Geometry(launch.grid, plan_.grid, "grid", step.grid));
    TRY(Geometry(launch.block, plan_.block, "block", step.block));
    if (step.block[0] * step.block[1] * step.block[2] > 1024) {
      return base::Fail(base::InvalidArgument("a block has more than 1024 threads"));
    }
    step.shared_bytes = plan_.shared_bytes;
    if (!launch.shared_bytes.empty()) {
      TRY_ASSIGN(step.shared_bytes, Value(launch.shared_bytes, "shared_bytes"));
      if (step.shared_bytes < 0 || step.shared_bytes > kMostSharedBytes) {
        return base::Fail(base::InvalidArgument(
            std::to_string(step.shared_bytes) + " bytes of shared memory, and 0 to " +
            std::to_string(kMostSharedBytes) + " are possible"));
      }
    }
    if (launch.arguments.empty()) {
      step.arguments = plan_.arguments;
      return step;
    }
    for (const Json& argument : launch.arguments) {
      TRY_ASSIGN(ArgumentValue value, Argument(argument));
      step.arguments.push_back(std::move(value));
    }
    return step;
  }

  base::Result<ArgumentValue> Argument(const Json& argument) const {
    if (argument.is_string()) {
      const std::string name = argument.get<std::string>();
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        if (kernel_.parameters[i].name == name || name == "$" + std::to_string(i)) {
          return plan_.arguments[i];
        }
      }
      if (const Region* region = FindWorkspace(name)) {
        ArgumentValue value;
        value.bytes.resize(sizeof(void*));
        value.pointers.push_back({0, region->offset});
        return value;
      }
      return base::Fail(base::InvalidArgument("arguments: there is no '" + name + "'"));
    }
    const std::string name = argument.value("type", "");
    const records::ArgumentType* const type = records::FindArgumentType(name);
    if (type == nullptr) {
      return base::Fail(base::InvalidArgument("arguments: type '" + name + "' is none of " +
                                              records::ArgumentTypeNames()));
    }
    const Json text = argument.value("value", Json());
    TRY_ASSIGN(const std::int64_t number,
               Value(text.is_string() ? text.get<std::string>() : text.dump(), "argument"));
    auto bytes = type->encode(number);
    if (!bytes) {
      return base::Fail(base::InvalidArgument("arguments: " + std::to_string(number) +
                                              " is no value of type '" + name + "'"));
    }
    ArgumentValue value;
    value.bytes = std::move(*bytes);
    return value;
  }

  const records::Kernel& kernel_;
  const records::Variant& variant_;
  CasePlan& plan_;
  const records::Environment environment_;
};

}  // namespace

Program OriginalProgram(const CasePlan& plan, const std::string& kernel) {
  Program program;
  program.globals = plan.globals;
  Step step;
  step.kernel = kernel;
  step.grid = plan.grid;
  step.block = plan.block;
  step.shared_bytes = plan.shared_bytes;
  step.arguments = plan.arguments;
  program.steps.push_back(std::move(step));
  return program;
}

base::Result<Program> VariantProgram(const records::Kernel& kernel, const records::Variant& variant,
                                     CasePlan& plan) {
  return VariantPlanner(kernel, variant, plan).Run();
}

Json ToJson(const Program& program, const Layout& layout, std::int64_t base) {
  Json steps = Json::array();
  for (const Step& step : program.steps) {
    Json entry = {{"kernel", step.kernel},
                  {"grid", step.grid},
                  {"block", step.block},
                  {"shared_bytes", step.shared_bytes},
                  {"fill_offset", step.fill_offset + base},
                  {"fill_bytes", step.fill_bytes},
                  {"byte", step.byte},
                  {"arguments", Json::array()}};
    for (const ArgumentValue& value : step.arguments) {
      Json pointers = Json::array();
      for (const ArgumentValue::Pointer& pointer : value.pointers) {
        pointers.push_back({pointer.at, pointer.offset + base});
      }
      entry["arguments"].push_back({{"bytes", Hex(value.bytes)}, {"pointers", pointers}});
    }
    steps.push_back(std::move(entry));
  }
  Json globals = Json::array();
  for (const GlobalUse& global : program.globals) {
    const Region& region = layout.regions[static_cast<std::size_t>(global.region)];
    globals.push_back({{"symbol", global.symbol},
                       {"offset", region.offset + base},
                       {"bytes", region.bytes()},
                       {"copy_back", global.copy_back}});
  }
  Json json = {{"steps", steps}, {"globals", globals}};
  if (Json tables = TablesJson(layout, base); !tables.is_null()) {
    json["tables"] = std::move(tables);
  }
  return json;
}

}  // namespace cupilot::worker
