#include "source/swap/variant_function.h"

#include <algorithm>

#include "records/argument_type.h"
#include "source/swap/hook_names.h"
#include "source/swap/pattern.h"
#include "source/swap/variant_text.h"

namespace cupilot::source {
namespace {

using records::Json;
using records::Launch;

constexpr std::int64_t kMostSteps = 64;

class Writer {
 public:
  Writer(const records::Kernel& kernel, const SwappedVariant& variant, std::string name,
         std::size_t kernel_index, std::size_t first_entry)
      : kernel_(kernel),
        published_(variant),
        variant_(variant.variant),
        names_(kernel, variant.variant),
        name_(std::move(name)),
        kernel_index_(kernel_index),
        first_entry_(first_entry),
        entries_(EntriesOf(variant.variant)),
        launches_(records::LaunchesOf(variant.variant)) {}

  base::Result<VariantFunction> Run() {
    TRY(Refuse());
    TRY_ASSIGN(const std::string occupancies, Occupancies());
    TRY_ASSIGN(const std::string guards, Guards());
    const bool plain = IsPlain();
    TRY_ASSIGN(const std::string body, plain ? PlainBody() : StepsBody());
    VariantFunction function;
    function.name = name_;
    function.needs_workspaces = !plain;
    function.checks = std::move(checks_);
    function.text = occupancies +
                    (plain ? "__attribute__((always_inline)) inline bool " : "bool ") + name_ +
                    "(const launch& l, const geometry& o, cudaError_t* result) {\n" +
                    "  long long value = 0;\n" + guards + body + "}\n";
    return function;
  }

 private:
  base::Result<> Refuse() const {
    if (!variant_.tensor_maps.empty() || !variant_.constants.empty()) {
      return base::Fail(base::Unsupported("tensor maps and constants"));
    }
    if (launches_.size() > static_cast<std::size_t>(kMostSteps)) {
      return base::Fail(base::Unsupported("more than 64 launches"));
    }
    for (const Launch& launch : launches_) {
      if (launch.cooperative || !launch.cluster.empty() || launch.overlap_previous) {
        return base::Fail(base::Unsupported("cooperative, cluster and overlapping launches"));
      }
      if (launch.fill.empty() && !IsIdentifier(launch.entry)) {
        return base::Fail(base::InvalidArgument("entry '" + launch.entry + "' is not a name"));
      }
      if (launch.repeat && !IsIdentifier(launch.repeat->second)) {
        return base::Fail(base::InvalidArgument("repeat: the index needs a name"));
      }
    }
    for (const records::Workspace& workspace : variant_.workspace) {
      if (!IsIdentifier(workspace.name)) {
        return base::Fail(
            base::InvalidArgument("workspace '" + workspace.name + "' is not a name"));
      }
    }
    return {};
  }

  // One launch with the original's parameters in their order, without a workspace: needs nothing
  // allocated, and could be a node of a graph in the original's place.
  bool IsPlain() const {
    const Launch& launch = launches_.front();
    return launches_.size() == 1 && variant_.workspace.empty() && launch.fill.empty() &&
           launch.when.empty() && !launch.repeat && HasOriginalArguments(launch);
  }

  static bool HasOriginalGeometry(const Launch& launch) {
    const auto says_nothing = [](const std::string& text) { return text.empty(); };
    return std::all_of(launch.grid.begin(), launch.grid.end(), says_nothing) &&
           std::all_of(launch.block.begin(), launch.block.end(), says_nothing) &&
           launch.shared_bytes.empty();
  }

  bool HasOriginalArguments(const Launch& launch) const {
    if (launch.arguments.empty()) return true;
    if (launch.arguments.size() != kernel_.parameters.size()) return false;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (!launch.arguments[i].is_string()) return false;
      const auto& name = launch.arguments[i].get_ref<const std::string&>();
      if (names_.ParameterIndex(name) != static_cast<int>(i)) return false;
    }
    return true;
  }

  std::size_t FunctionOf(const std::string& entry) const {
    const auto at = std::find(entries_.begin(), entries_.end(), entry);
    return first_entry_ + static_cast<std::size_t>(at - entries_.begin());
  }

  // A function for each entry of which an expression asks blocks_per_sm.
  base::Result<std::string> Occupancies() {
    std::string text;
    std::string all = published_.guard + " ";
    for (const Launch& launch : launches_) {
      for (const std::string& part : launch.grid) all += part + " ";
      all += launch.when + " " + launch.bytes + " ";
      if (launch.repeat) all += launch.repeat->first + " ";
    }
    for (const records::Workspace& workspace : variant_.workspace) all += workspace.bytes + " ";
    if (all.find("blocks_per_sm") == std::string::npos) return text;
    std::vector<std::pair<std::string, std::string>> found;
    for (const std::string& entry : entries_) {
      const auto launch = std::find_if(launches_.begin(), launches_.end(),
                                       [&](const Launch& l) { return l.entry == entry; });
      Launch shape = *launch;
      shape.grid.clear();
      TRY_ASSIGN(const std::string geometry, Geometry(shape, "    ", "return false;"));
      const std::string index = std::to_string(FunctionOf(entry));
      text += Filled(
          "bool @0_blocks_@1(const launch& l, const geometry& o, long long* blocks) {\n@2"
          "  g.grid_x = g.grid_y = g.grid_z = 1;\n  return occupancy(@1, g, l, blocks);\n}\n",
          {name_, index, geometry});
      found.emplace_back(entry, index);
    }
    for (const auto& [entry, index] : found) {
      occupancy_variables_ += Filled("  long long blocks_@0 = 0;\n", {index});
      names_.AddOccupancy(entry, Filled("@0_blocks_@1(l, o, &blocks_@1)", {name_, index}),
                          Filled("blocks_@0", {index}));
    }
    return text;
  }

  base::Result<std::string> Guards() {
    std::string text = occupancy_variables_;
    std::set<int> asked;
    if (!published_.guard.empty()) {
      auto parsed = records::Expression::Parse(published_.guard);
      if (!parsed) return base::Fail(parsed.error().In("guard '" + published_.guard + "'"));
      TRY_ASSIGN(const std::string guard, names_.Print(published_.guard, "value"));
      if (published_.guard.find("is_null") != std::string::npos) {
        for (const std::string& name : parsed->Names()) asked.insert(names_.ParameterMeant(name));
      }
      text += "  if (!CUPILOT_LIKELY((" + guard + ") && value != 0)) return false;\n";
    }
    std::string pointers;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const bool pointer = kernel_.parameters[i].kind == records::ParameterKind::kPointer;
      if (!pointer || asked.contains(static_cast<int>(i))) continue;
      pointers += (pointers.empty() ? "" : " || ") + ("address(l, " + std::to_string(i) + ") == 0");
    }
    if (!pointers.empty()) {
      text = "  if (!CUPILOT_LIKELY(!(" + pointers + "))) return false;\n" + text;
    }
    return text;
  }

  // `geometry g` of a launch, with the original's where it says nothing. Number by number: copied
  // as a whole it would go through memory, which costs more than the guard.
  base::Result<std::string> Geometry(const Launch& launch, const std::string& indent,
                                     const std::string& failure) const {
    std::string text = indent + "geometry g;\n";
    const auto set = [&](const std::vector<std::string>& expressions, std::size_t index,
                         const std::string& member) -> base::Result<> {
      if (index >= expressions.size() || expressions[index].empty()) {
        text += indent + "g." + member + " = o." + member + ";\n";
        return {};
      }
      TRY_ASSIGN(const std::string printed, names_.Print(expressions[index], "g." + member));
      text += indent;
      text += "if (!(" + printed + ")) " + failure + "\n";
      return {};
    };
    for (std::size_t i = 0; i < 3; ++i) {
      TRY(set(launch.block, i, std::string("block_") + "xyz"[i]));
    }
    TRY(set({launch.shared_bytes}, 0, "shared"));
    for (std::size_t i = 0; i < 3; ++i) {
      TRY(set(launch.grid, i, std::string("grid_") + "xyz"[i]));
    }
    return text;
  }

  void CheckTypes(const std::string& entry, const std::string& types) {
    checks_ += "static_assert(cupilot_types::accepts<decltype(&" +
               QualifiedEntry(kernel_, variant_, entry) + "), cupilot_types::list<" + types +
               "> >::value, \"parameters of " + entry + "\");\n";
  }

  std::string OriginalTypes() const {
    std::string types;
    for (const records::Parameter& parameter : kernel_.parameters) {
      types += (types.empty() ? "" : ", ") + parameter.canonical;
    }
    return types;
  }

  base::Result<std::string> PlainBody() {
    const Launch& launch = launches_.front();
    const std::string function = std::to_string(FunctionOf(launch.entry));
    const std::string kernel = std::to_string(kernel_index_);
    CheckTypes(launch.entry, OriginalTypes());
    if (HasOriginalGeometry(launch)) {
      return Filled(
          "  if (!both_fit(@0, @1, o, l) || !CUPILOT_LIKELY(may_start(l))) return false;\n"
          "  return launch_only(@0, @1, *l.grid, *l.block, l.shared, l, result);\n",
          {kernel, function});
    }
    TRY_ASSIGN(const std::string geometry, Geometry(launch, "  ", "return false;"));
    return geometry + Filled(
                          "  if (!original_is_legal(@0, l, o) || !fits(@1, g, l)) return false;\n"
                          "  if (!CUPILOT_LIKELY(may_start(l))) return false;\n"
                          "  return launch_only(@0, @1, dimensions(g.grid_x, g.grid_y, g.grid_z),\n"
                          "                     dimensions(g.block_x, g.block_y, g.block_z), "
                          "(size_t)g.shared, l, "
                          "result);\n",
                          {kernel, function});
  }

  struct Arguments {
    std::string types;
    std::string definitions;  // statements before the array
    std::string array;        // "void* arguments[] = {...};"
  };

  base::Result<Arguments> ArgumentsOf(const Launch& launch, const std::string& failure) const {
    Arguments out;
    std::string addresses;
    if (launch.arguments.empty()) {
      out.types = OriginalTypes();
      out.array = "      void** arguments = l.arguments;\n";
      return out;
    }
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Json& argument = launch.arguments[i];
      const std::string separator = i == 0 ? "" : ", ";
      std::string type;
      std::string address;
      if (argument.is_string()) {
        const auto& name = argument.get_ref<const std::string&>();
        const int parameter = names_.ParameterIndex(name);
        if (parameter >= 0) {
          type = kernel_.parameters[static_cast<std::size_t>(parameter)].canonical;
          address = "l.arguments[" + std::to_string(parameter) + "]";
        } else if (IsWorkspace(name)) {
          type = "void*";
          address = "&workspace_" + name;
        } else {
          return base::Fail(base::InvalidArgument("arguments: unknown name '" + name + "'"));
        }
      } else {
        TRY_ASSIGN(const std::string definition, ValueArgument(argument, i, failure));
        out.definitions += definition;
        TRY_ASSIGN(const records::ArgumentType* row, TypeOf(argument));
        type = row->canonical;
        address = "&argument_" + std::to_string(i);
      }
      out.types += separator + type;
      addresses += separator + address;
    }
    out.array = "      void* arguments[] = {" + addresses + "};\n";
    return out;
  }

  static base::Result<const records::ArgumentType*> TypeOf(const Json& argument) {
    const std::string name = argument.value("type", std::string());
    const records::ArgumentType* type = records::FindArgumentType(name);
    if (type == nullptr) {
      return base::Fail(base::InvalidArgument("arguments: type '" + name + "' is none of " +
                                              records::ArgumentTypeNames()));
    }
    return type;
  }

  base::Result<std::string> ValueArgument(const Json& argument, std::size_t index,
                                          const std::string& failure) const {
    TRY_ASSIGN(const records::ArgumentType* row, TypeOf(argument));
    const std::string type(row->canonical);
    const Json value = argument.value("value", Json());
    const std::string expression = value.is_string() ? value.get<std::string>() : value.dump();
    TRY_ASSIGN(const std::string printed, names_.Print(expression, "value"));
    const std::string name = "argument_" + std::to_string(index);
    std::string text = "      if (!(" + printed + ")) " + failure + "\n      " + type + " " + name +
                       " = (" + type + ")value;\n";
    if (!row->floating) {
      text += "      if ((long long)" + name + " != value || (" + name + " < 0) != (value < 0)) " +
              failure + "\n";
    }
    return text;
  }

  bool IsWorkspace(const std::string& name) const {
    return std::any_of(variant_.workspace.begin(), variant_.workspace.end(),
                       [&](const records::Workspace& w) { return w.name == name; });
  }

  // Two rounds over the same statements: the first only checks, so that after the first launch has
  // been queued nothing can fail any more but a launch itself.
  base::Result<std::string> StepsBody() {
    std::string text = "  if (error_pending() || !original_is_legal(" +
                       std::to_string(kernel_index_) +
                       ", l, o) || captured(l.stream)) return false;\n  long long total = 0;\n";
    std::string open;
    for (const records::Workspace& workspace : variant_.workspace) {
      TRY_ASSIGN(const std::string bytes, names_.Print(workspace.bytes, "value"));
      const std::string& name = workspace.name;
      text += Filled(
          "  long long offset_@0 = 0;\n"
          "  if (!(@1) || !add_bytes(value, &total, &offset_@0)) return false;\n"
          "  const long long bytes_@0 = value;\n  void* workspace_@0 = 0;\n",
          {name, bytes});
      open += Filled("      workspace_@0 = arena + offset_@0;\n", {name});
      if (workspace.zeroed) {
        open += Filled(
            "      if (cudaMemsetAsync(workspace_@0, 0, (size_t)bytes_@0, l.stream) != "
            "cudaSuccess) {\n        cleared();\n        close_arena(arena, l);\n        return "
            "false;\n      }\n",
            {name});
      }
    }
    text += "  char* arena = 0;\n  bool queued = false;\n";
    text += "  static pthread_mutex_t plan = PTHREAD_MUTEX_INITIALIZER;\n";
    text += "  for (int round = 0; round < 2; ++round) {\n";
    text += "    if (round == 1) {\n";
    if (!variant_.workspace.empty()) {
      text += "      arena = open_arena(total, l);\n      if (arena == 0) return false;\n" + open;
    }
    text += "      pthread_mutex_lock(&plan);\n    }\n";
    for (const Launch& launch : launches_) {
      TRY_ASSIGN(const std::string step, Step(launch));
      text += step;
    }
    return text + Closing();
  }

  // A failure in the first round: the original. In the second only a launch can fail; what was
  // queued before it stands, and its error is the launch's.
  std::string Closing() const {
    const std::string close =
        variant_.workspace.empty() ? "" : "      if (arena != 0) close_arena(arena, l);\n";
    return "    continue;\n  stop:\n    if (round == 0) return false;\n"
           "    if (!queued) refused(" +
           std::to_string(kernel_index_) +
           ", l.device, result);\n    pthread_mutex_unlock(&plan);\n" + close +
           "    return queued;\n  }\n  pthread_mutex_unlock(&plan);\n" + close + "  return true;\n";
  }

  base::Result<std::string> Step(const Launch& launch) {
    const std::string failure = "goto stop;";
    std::string text = "    do {\n";
    if (!launch.when.empty()) {
      TRY_ASSIGN(const std::string when, names_.Print(launch.when, "value"));
      text += "      if (!(" + when + ")) goto stop;\n      if (value == 0) break;\n";
    }
    std::string index;
    if (launch.repeat) {
      TRY_ASSIGN(const std::string count, names_.Print(launch.repeat->first, "value"));
      index = launch.repeat->second;
      text += "      if (!(" + count + ") || value < 0 || value > 65536) goto stop;\n";
      text += "      const long long count = value;\n      for (long long cupilot_index_" + index +
              " = 0; cupilot_index_" + index + " < count; ++cupilot_index_" + index + ") {\n";
      names_.AddIndex(index);
    }
    auto body = launch.fill.empty() ? LaunchStep(launch, failure) : FillStep(launch, failure);
    if (!index.empty()) names_.RemoveIndex(index);
    TRY_ASSIGN(const std::string inner, std::move(body));
    text += inner;
    if (launch.repeat) text += "      }\n";
    return text + "    } while (false);\n";
  }

  base::Result<std::string> LaunchStep(const Launch& launch, const std::string& failure) {
    TRY_ASSIGN(const std::string geometry, Geometry(launch, "      ", failure));
    TRY_ASSIGN(const Arguments arguments, ArgumentsOf(launch, failure));
    const std::string function = std::to_string(FunctionOf(launch.entry));
    CheckTypes(launch.entry, arguments.types);
    return "      {\n" + geometry + arguments.definitions + arguments.array +
           "      if (round == 0) {\n        if (!fits(" + function +
           ", g, l)) goto stop;\n      } else {\n        *result = start(" + function +
           ", g, arguments, l);\n        if (*result != cudaSuccess) goto stop;\n"
           "        queued = true;\n      }\n      }\n";
  }

  base::Result<std::string> FillStep(const Launch& launch, const std::string& failure) const {
    if (!IsWorkspace(launch.fill)) {
      return base::Fail(base::InvalidArgument("fill: unknown workspace '" + launch.fill + "'"));
    }
    TRY_ASSIGN(const std::string bytes,
               names_.Print(launch.bytes.empty() ? "0" : launch.bytes, "value"));
    return "      if (!(" + bytes + ") || value < 0 || value > bytes_" + launch.fill + ") " +
           failure + "\n      if (round == 1) {\n        *result = cudaMemsetAsync(workspace_" +
           launch.fill + ", " + std::to_string(launch.byte) +
           ", (size_t)value, l.stream);\n        if (*result != cudaSuccess) goto stop;\n      }\n";
  }

  const records::Kernel& kernel_;
  const SwappedVariant& published_;
  const records::Variant& variant_;
  HookNames names_;
  std::string name_;
  std::size_t kernel_index_;
  std::size_t first_entry_;
  std::vector<std::string> entries_;
  std::vector<Launch> launches_;
  std::string occupancy_variables_;
  std::string checks_;
};

}  // namespace

std::vector<std::string> EntriesOf(const records::Variant& variant) {
  std::vector<std::string> entries;
  for (const Launch& launch : records::LaunchesOf(variant)) {
    if (!launch.fill.empty()) continue;
    if (std::find(entries.begin(), entries.end(), launch.entry) == entries.end()) {
      entries.push_back(launch.entry);
    }
  }
  return entries;
}

base::Result<VariantFunction> WriteVariantFunction(const records::Kernel& kernel,
                                                   const SwappedVariant& variant,
                                                   std::size_t kernel_index,
                                                   std::size_t variant_index,
                                                   std::size_t first_entry) {
  const std::string name =
      "variant_" + std::to_string(kernel_index) + "_" + std::to_string(variant_index);
  auto function = Writer(kernel, variant, name, kernel_index, first_entry).Run();
  if (!function) return base::Fail(function.error().In("variant " + variant.variant.id));
  return function;
}

}  // namespace cupilot::source
