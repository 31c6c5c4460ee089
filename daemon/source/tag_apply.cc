// A tag's words against the kernel's parameters, globals and macros.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/base64.h"
#include "records/expression.h"
#include "records/launch_names.h"
#include "source/syntax/lexer.h"
#include "source/tags.h"

namespace cupilot::source {
namespace {

using records::Access;
using records::Parameter;
using records::ParameterKind;

std::string NameOf(const records::Kernel& kernel, std::size_t index) {
  const std::string& name = kernel.parameters[index].name;
  return name.empty() ? "$" + std::to_string(index) : name;
}

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The value of an object-like macro; other macros in it are followed.
base::Result<std::int64_t> MacroValue(const std::string& name, const std::vector<UserMacro>& macros,
                                      int depth = 0) {
  const auto macro = std::find_if(macros.begin(), macros.end(),
                                  [&](const UserMacro& m) { return m.name == name; });
  if (macro == macros.end() || depth > 16) {
    return base::Fail(base::InvalidArgument("'" + name + "' is not a macro with a value"));
  }
  std::string text;
  for (const Token& token : Lex(macro->value)) {
    std::string word(Spelling(macro->value, token));
    if (token.kind == TokenKind::kIdentifier) {
      TRY_ASSIGN(const std::int64_t value, MacroValue(word, macros, depth + 1));
      word = std::to_string(value);
    } else if (token.kind == TokenKind::kNumber) {
      while (!word.empty() &&
             std::string_view("uUlL").find(word.back()) != std::string_view::npos) {
        word.pop_back();
      }
    }
    text += word + " ";
  }
  return records::EvaluateText(text, {});
}

class Applier {
 public:
  Applier(const Tag& tag, const std::vector<UserMacro>& macros, records::Kernel& kernel)
      : tag_(tag), macros_(macros), kernel_(kernel) {}

  base::Result<> Run() {
    for (const TagTunable& tunable : tag_.tunables) TRY(Tunable(tunable));
    for (const TagRequire& require : tag_.require) {
      TRY(CheckNames(require.expression, require.line, "require"));
      kernel_.require.push_back(require.expression);
    }
    for (const auto* part : {&tag_.launch_block, &tag_.launch_grid}) {
      for (const std::string& text : *part) TRY(CheckNames(text, tag_.launch_line, "launch"));
    }
    if (!tag_.launch_shared_bytes.empty()) {
      TRY(CheckNames(tag_.launch_shared_bytes, tag_.launch_line, "launch"));
    }
    kernel_.launch_block = tag_.launch_block;
    kernel_.launch_grid = tag_.launch_grid;
    kernel_.launch_shared_bytes = tag_.launch_shared_bytes;
    kernel_.tolerance = tag_.tolerance;
    for (const TagTable& table : tag_.tables) TRY(Declare(table));
    for (const TagWorkload& workload : tag_.workloads) TRY(Workload(workload));
    return {};
  }

 private:
  tl::unexpected<base::Error> FailAt(int line, const std::string& what) const {
    return base::Fail(base::InvalidArgument(tag_.file + ":" + std::to_string(line) + ": " + what));
  }

  std::vector<std::string> ParameterNames() const {
    std::vector<std::string> names(kernel_.parameters.size());
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = NameOf(kernel_, i);
    return names;
  }

  base::Result<> Tunable(const TagTunable& tunable) {
    const auto macro = std::find_if(macros_.begin(), macros_.end(),
                                    [&](const UserMacro& m) { return m.name == tunable.name; });
    if (macro == macros_.end() || !macro->under_ifndef) {
      return FailAt(tunable.line, "the tunable " + tunable.name +
                                      " is not a macro that this source defines under '#ifndef " +
                                      tunable.name + "'; define it so");
    }
    auto value = MacroValue(tunable.name, macros_);
    if (!value) {
      return FailAt(tunable.line, "the value of the tunable " + tunable.name +
                                      " is not an integer: " + value.error().message);
    }
    kernel_.tunables.push_back({tunable.name, tunable.values, *value});
    return {};
  }

  base::Result<> CheckNames(const std::string& text, int line, const std::string& where) const {
    const auto expression = records::Expression::Parse(text);
    if (!expression) return FailAt(line, where + ": " + expression.error().message);
    std::vector<std::string> known = ParameterNames();
    for (const records::Tunable& tunable : kernel_.tunables) known.push_back(tunable.name);
    for (const std::string& name : expression->Names()) {
      if (records::IsLaunchName(name) || name.starts_with('$')) continue;
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string why = where;
      why.append(": there is no '").append(name).append("' here; the kernel has ");
      return FailAt(line, why.append(List(known)));
    }
    return {};
  }

  base::Result<> Declare(const TagTable& table) {
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      if (NameOf(kernel_, i) != table.name) continue;
      TRY(CheckTable(table.line, table.name, kernel_.parameters[i]));
      kernel_.parameters[i].table = true;
      return {};
    }
    return FailAt(table.line, "the kernel has no parameter '" + table.name + "'; it has " +
                                  List(ParameterNames()));
  }

  // Whether it is a pointer to pointers to data.
  base::Result<> CheckTable(int line, const std::string& name, const Parameter& parameter) const {
    if (records::IsTable(parameter)) return {};
    const bool pointer = parameter.kind == ParameterKind::kPointer;
    const std::string why =
        records::PointsToPointers(parameter)
            ? ": what its pointers lead to holds pointers again or has no known size; use a "
              "workload file"
            : ", no pointer to pointers; write " + name + (pointer ? "=fill[count]" : "=NUMBER");
    return FailAt(line, "'" + name + "' is a " + parameter.type + why);
  }

  base::Result<> Workload(TagWorkload workload) {
    const std::vector<std::string> parameters = ParameterNames();
    GiveWeightToParameter(workload, parameters);
    for (const TagValue& value : workload.values) {
      if (value.global) continue;
      if (std::count(parameters.begin(), parameters.end(), value.name) == 0) {
        return FailAt(workload.line, "the kernel has no parameter '" + value.name + "'; it has " +
                                         List(parameters));
      }
    }
    records::Environment environment;
    TRY(Scalars(workload, environment));
    records::Case result;
    result.name = workload.name;
    result.weight = workload.weight;
    TRY_ASSIGN(result.grid, Numbers(workload.grid, workload.line, environment));
    TRY_ASSIGN(result.block, Numbers(workload.block, workload.line, environment));
    TRY_ASSIGN(const auto shared, Numbers({workload.shared_bytes}, workload.line, environment, 0));
    result.shared_bytes = shared.front();
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      TRY_ASSIGN(records::Argument argument, Argument(workload, i, environment));
      if (argument.fill && argument.fill->kind == "pointers") kernel_.parameters[i].table = true;
      result.arguments.push_back(std::move(argument));
    }
    for (const TagValue& value : workload.values) {
      if (!value.global) continue;
      TRY_ASSIGN(records::Global global, Global(workload, value, environment));
      result.globals.push_back(std::move(global));
    }
    kernel_.cases.push_back(std::move(result));
    return {};
  }

  static void GiveWeightToParameter(TagWorkload& workload,
                                    const std::vector<std::string>& parameters) {
    constexpr const char* kWeight = "weight";
    if (workload.weight_text.empty() || Find(workload, kWeight) != nullptr ||
        std::count(parameters.begin(), parameters.end(), kWeight) == 0) {
      return;
    }
    TagValue value;
    value.name = kWeight;
    value.scalar = workload.weight_text;
    workload.values.push_back(std::move(value));
    workload.weight = 1;
  }

  static const TagValue* Find(const TagWorkload& workload, const std::string& name) {
    for (const TagValue& value : workload.values) {
      if (!value.global && value.name == name) return &value;
    }
    return nullptr;
  }

  // Integers by name, also those that are expressions over others; tunables at their defaults.
  base::Result<> Scalars(const TagWorkload& workload, records::Environment& environment) const {
    for (const records::Tunable& tunable : kernel_.tunables) {
      environment.integers[tunable.name] = tunable.default_value;
    }
    std::string problem;
    for (std::size_t round = 0; round <= kernel_.parameters.size(); ++round) {
      problem.clear();
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        if (kernel_.parameters[i].kind != ParameterKind::kInteger) continue;
        const std::string name = NameOf(kernel_, i);
        const TagValue* value = Find(workload, name);
        if (value == nullptr || value->array) continue;
        std::string text = value->scalar;
        if (text == "true" || text == "false") text = text == "true" ? "1" : "0";
        const auto number = records::EvaluateText(text, environment);
        if (number) {
          environment.integers[name] = *number;
          environment.integers["$" + std::to_string(i)] = *number;
        } else {
          problem = name + "=" + value->scalar + ": " + number.error().message;
        }
      }
      if (problem.empty()) return {};
    }
    return FailAt(workload.line, problem);
  }

  base::Result<std::vector<std::string>> Numbers(const std::vector<std::string>& expressions,
                                                 int line, const records::Environment& environment,
                                                 std::int64_t least = 1) const {
    std::vector<std::string> numbers;
    for (const std::string& text : expressions) {
      const auto value = records::EvaluateText(text, environment);
      if (!value) return FailAt(line, "'" + text + "': " + value.error().message);
      if (*value < least) {
        return FailAt(line, "'" + text + "' is " + std::to_string(*value) +
                                "; it must be at least " + std::to_string(least));
      }
      numbers.push_back(std::to_string(*value));
    }
    return numbers;
  }

  base::Result<records::Argument> Argument(const TagWorkload& workload, std::size_t index,
                                           const records::Environment& environment) const {
    const Parameter& parameter = kernel_.parameters[index];
    records::Argument argument;
    argument.name = NameOf(kernel_, index);
    argument.type = parameter.type;
    const TagValue* value = Find(workload, argument.name);
    if (value == nullptr) {
      const bool pointer = parameter.kind == ParameterKind::kPointer;
      return FailAt(workload.line,
                    "the parameter '" + argument.name + "' (" + parameter.type +
                        ") has no value; write " + argument.name +
                        (records::PointsToPointers(parameter) ? "=pointers(count, bytes)"
                         : pointer                            ? "=fill[count]"
                                                              : "=NUMBER"));
    }
    if (value->IsTable()) TRY(CheckTable(workload.line, argument.name, parameter));
    switch (parameter.kind) {
      case ParameterKind::kPointer:
        TRY(Array(workload, *value, parameter, environment, argument));
        return argument;
      case ParameterKind::kInteger:
        if (value->array) return FailAt(workload.line, "'" + argument.name + "' is no pointer");
        argument.value = std::to_string(environment.integers.at(argument.name));
        return argument;
      case ParameterKind::kFloating: {
        TRY_ASSIGN(argument.value, Floating(workload.line, *value, environment));
        return argument;
      }
      case ParameterKind::kOther:
        if (value->scalar != "{}" || parameter.bytes <= 0) break;
        argument.bytes =
            base::EncodeBase64(std::string(static_cast<std::size_t>(parameter.bytes), '\0'));
        return argument;
    }
    return FailAt(workload.line,
                  "the parameter '" + argument.name + "' is a " + parameter.type +
                      ", which a tag can only give as {}, all bytes zero; use a workload file");
  }

  base::Result<std::string> Floating(int line, const TagValue& value,
                                     const records::Environment& environment) const {
    std::string text = value.scalar;
    if (text == "nan" || text == "inf" || text == "-inf") return text;
    while (text.size() > 1 && (text.back() == 'f' || text.back() == 'F') && text.find("0x") != 0) {
      text.pop_back();
    }
    char* end = nullptr;
    const double given = std::strtod(text.c_str(), &end);
    // As a workload file would have it, so that what we write can be given back to us.
    if (!text.empty() && end == text.c_str() + text.size()) {
      return std::isfinite(given) ? records::CanonicalJson(given) : text;
    }
    const auto number = records::EvaluateText(text, environment);
    if (value.array || !number) {
      return FailAt(line, "'" + value.name + "=" + value.scalar + "' is not a number");
    }
    return std::to_string(*number);
  }

  base::Result<> Array(const TagWorkload& workload, const TagValue& value,
                       const Parameter& parameter, const records::Environment& environment,
                       records::Argument& argument) const {
    if (!value.array) {
      if (value.scalar == "null" || value.scalar == "0" || value.scalar == "nullptr") {
        argument.null = true;
        return {};
      }
      return FailAt(workload.line, "'" + value.name + "' is a pointer; write " + value.name +
                                       "=fill[count], or " + value.name + "=null");
    }
    if (value.IsTable()) return Table(workload.line, value, parameter, environment, argument);
    if (records::PointsToPointers(parameter)) {
      return FailAt(workload.line, "'" + value.name + "' leads to pointers in memory (" +
                                       parameter.type + "); write " + value.name +
                                       "=pointers(count, bytes)");
    }
    if (parameter.element_bytes == 0) {
      return FailAt(workload.line, "'" + value.name + "' points to " + parameter.element +
                                       ", which no fill can make; use a workload file");
    }
    TRY(Numbers({value.count}, workload.line, environment));
    TRY_ASSIGN(argument.count, Count(value.count, environment));
    argument.order_free = value.unordered;
    argument.fill = value.fill;
    if (value.access) {
      argument.access = value.access;
    } else if (parameter.element_const) {
      argument.access = Access::kIn;
    } else {
      argument.access = value.fill ? Access::kInOut : Access::kOut;
    }
    if (parameter.element_const && argument.access != Access::kIn) {
      return FailAt(workload.line, "'" + value.name + "' points to const; its access is 'in'");
    }
    if (argument.access == Access::kOut) return {};
    return CheckFill(workload.line, value.name, parameter.element, environment, argument.fill);
  }

  // Access, order and inner fill are those of what the pointers lead to.
  base::Result<> Table(int line, const TagValue& value, const Parameter& parameter,
                       const records::Environment& environment, records::Argument& argument) const {
    TRY(Numbers({value.count, value.fill->bytes}, line, environment));
    const auto bytes = records::EvaluateText(value.fill->bytes, environment);
    if (bytes && *bytes % parameter.pointee_bytes != 0) {
      return FailAt(line, value.name + ": " + std::to_string(*bytes) + " bytes are no whole " +
                              parameter.pointee + "; one has " +
                              std::to_string(parameter.pointee_bytes));
    }
    TRY_ASSIGN(argument.count, Count(value.count, environment));
    argument.order_free = value.unordered;
    argument.access = value.access.value_or(parameter.pointee_const ? Access::kIn : Access::kInOut);
    if (parameter.pointee_const && argument.access != Access::kIn) {
      return FailAt(line, "'" + value.name + "' leads to const data; its access is 'in'");
    }
    argument.fill = value.fill;
    TRY_ASSIGN(argument.fill->bytes, Count(value.fill->bytes, environment));
    if (argument.access == Access::kOut) return {};
    std::vector<records::Fill>& inner = argument.fill->inner;
    std::optional<records::Fill> fill;
    if (!inner.empty()) fill = inner.front();
    if (!fill && parameter.pointee != "float" && parameter.pointee != "double") {
      return FailAt(line, "what '" + value.name +
                              "' leads to is read and has no fill; say what it holds, for example "
                              "pointers(count,bytes,integers(0,255))");
    }
    TRY(CheckFill(line, value.name, parameter.pointee, environment, fill));
    inner.assign(1, *fill);
    return {};
  }

  // An expression stays one, so that extents are known at other sizes; but tunables are no names of
  // a case.
  base::Result<std::string> Count(const std::string& text,
                                  const records::Environment& environment) const {
    TRY_ASSIGN(const auto expression, records::Expression::Parse(text));
    for (const std::string& name : expression.Names()) {
      for (const records::Tunable& tunable : kernel_.tunables) {
        if (tunable.name != name) continue;
        TRY_ASSIGN(const std::int64_t value, expression.Evaluate(environment));
        return std::to_string(value);
      }
    }
    return text;
  }

  base::Result<> CheckFill(int line, const std::string& name, const std::string& element,
                           const records::Environment& environment,
                           std::optional<records::Fill>& fill) const {
    if (!fill) {
      if (element != "float" && element != "double") {
        return FailAt(line, "'" + name +
                                "' is read and has no fill; say what it holds, for example " +
                                name + "=integers(0,255)[count] or indices(0,n)[count]");
      }
      fill.emplace();
      fill->kind = "normal";
    }
    const bool keys = fill->kind == "sorted" && element != "float" && element != "double";
    if (keys || fill->kind == "integers" || fill->kind == "indices" || fill->kind == "offsets") {
      for (const std::string* bound : {&fill->low, &fill->high, &fill->total}) {
        if (bound->empty()) continue;
        const auto number = records::EvaluateText(*bound, environment);
        if (!number) {
          return FailAt(line, name + ": '" + *bound + "': " + number.error().message);
        }
      }
    }
    return {};
  }

  base::Result<records::Global> Global(const TagWorkload& workload, const TagValue& value,
                                       const records::Environment& environment) const {
    const records::ClosureGlobal* found = nullptr;
    std::vector<std::string> known;
    for (const records::ClosureGlobal& global : kernel_.globals) {
      known.push_back(global.symbol);
      if (global.symbol == value.name || global.symbol.ends_with("::" + value.name))
        found = &global;
    }
    if (found == nullptr) {
      return FailAt(workload.line, "the kernel reaches no global '" + value.name + "'" +
                                       (known.empty() ? "" : "; it reaches " + List(known)));
    }
    records::Global global;
    global.symbol = found->symbol;
    global.space = found->space;
    global.count = value.count.empty() ? std::to_string(found->count) : value.count;
    TRY(Numbers({global.count}, workload.line, environment));
    TRY_ASSIGN(global.count, Count(global.count, environment));
    global.fill = value.fill;
    global.access = value.access.value_or(Access::kIn);
    TRY(CheckFill(workload.line, value.name, found->element, environment, global.fill));
    return global;
  }

  const Tag& tag_;
  const std::vector<UserMacro>& macros_;
  records::Kernel& kernel_;
};

}  // namespace

base::Result<> ApplyTag(const Tag& tag, const std::vector<UserMacro>& macros,
                        records::Kernel& kernel) {
  return Applier(tag, macros, kernel).Run();
}

}  // namespace cupilot::source
