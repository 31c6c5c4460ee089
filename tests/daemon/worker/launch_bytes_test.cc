// 10,000 random launches through both writers of arguments: the plan that the gate runs, and the
// hook's own text, compiled. Each byte must be the same, or both must refuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "base/file.h"
#include "device/host/host_properties.h"
#include "records/argument_type.h"
#include "source/swap/hook_runtime.h"
#include "source/swap/variant_function.h"
#include "source/swap/variant_text.h"
#include "tests/support/temporary_folder.h"
#include "worker/program.h"

namespace cupilot::worker {
namespace {

constexpr int kLaunches = 10000;
constexpr const char* kTypes[] = {
    "bool",     "char",     "signed char",  "unsigned char", "short",         "unsigned short",
    "int",      "unsigned", "unsigned int", "long",          "unsigned long", "long long",
    "size_t",   "int8_t",   "uint8_t",      "int16_t",       "uint16_t",      "int32_t",
    "uint32_t", "int64_t",  "uint64_t",     "float",         "double",        "unsigned long long"};
// What a kernel is given: q0 to q12 are these integers, then a float, a double and a pointer.
constexpr const char* kIntegers[] = {"bool",  "char",           "signed char", "unsigned char",
                                     "short", "unsigned short", "int",         "unsigned int",
                                     "long",  "unsigned long",  "long long",   "unsigned long long",
                                     "int"};
constexpr std::size_t kNumbers = std::size(kIntegers) + 2;

class Launches {
 public:
  std::mt19937_64 random{20261129};
  std::size_t Pick(std::size_t count) { return random() % count; }

  records::Kernel MakeKernel() {
    records::Kernel kernel;
    kernel.name = kernel.base_name = "k";
    for (std::size_t i = 0; i < kNumbers + 1; ++i) {
      records::Parameter parameter;
      parameter.name = "q" + std::to_string(i);
      const std::string type = i < std::size(kIntegers) ? kIntegers[i]
                               : i + 1 < kNumbers       ? "float"
                               : i < kNumbers           ? "double"
                                                        : "float *";
      parameter.type = parameter.canonical = type;
      const records::ArgumentType* row = records::FindArgumentType(type);
      parameter.kind = row == nullptr  ? records::ParameterKind::kPointer
                       : row->floating ? records::ParameterKind::kFloating
                                       : records::ParameterKind::kInteger;
      parameter.bytes = row == nullptr ? 8 : static_cast<std::int64_t>(row->encode(1)->size());
      parameter.is_signed = type == "char"
                                ? std::numeric_limits<char>::is_signed
                                : type.find("unsigned") == std::string::npos && type != "bool";
      parameter.element = "float";
      parameter.element_bytes = 4;
      kernel.parameters.push_back(parameter);
    }
    return kernel;
  }

  // A number that the parameter holds, often one at its ends.
  std::string ValueOf(const records::Parameter& parameter) {
    if (parameter.kind == records::ParameterKind::kFloating) {
      return std::to_string(static_cast<double>(Pick(4000)) / 16 - 100);
    }
    if (parameter.canonical == "bool") return std::to_string(Pick(2));
    const auto bits = static_cast<unsigned>(8 * parameter.bytes);
    std::uint64_t value = random() >> (64 - bits);
    if (Pick(3) == 0) value = Pick(2) == 0 ? Pick(4) : ~std::uint64_t{0} >> (64 - bits);
    if (Pick(3) == 0) value = Pick(200);
    if (!parameter.is_signed) return std::to_string(value);
    // The sign comes from the highest of its bits.
    return std::to_string(static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits));
  }

  std::string Term() {
    const std::string q = "q" + std::to_string(Pick(std::size(kIntegers)));
    switch (Pick(6)) {
      case 0:
        return std::vector<std::string>{"0",        "1",          "127",
                                        "128",      "255",        "1065353216",
                                        "16777217", "4294967296", "9223372036854775807"}[Pick(9)];
      case 1:
        return "(q" + std::to_string(kNumbers - 1) + " < q" + std::to_string(kNumbers - 2) + " ? " +
               q + " : 3)";
      case 2:
        return "(" + q + " % 100)";
      case 3:
        return "WIDE";
      default:
        return q;
    }
  }
  std::string Expression() {
    const std::string first = Term();
    switch (Pick(5)) {
      case 0:
        return first + " + " + Term();
      case 1:
        return first + " * " + Term();
      case 2:
        return "0 - " + first;
      default:
        return first;
    }
  }

  // A value of the type and a parameter, in some order.
  records::Variant MakeVariant(const char* type) {
    records::Variant variant;
    variant.kernel = "k";
    variant.source = "__global__ void v();";
    variant.values["WIDE"] = static_cast<int>(Pick(300));
    variant.values["q6"] = 7;  // hidden by the parameter
    records::Launch launch;
    launch.entry = "v";
    launch.grid = launch.block = {"1", "1", "1"};
    const records::Json value = {{"type", type}, {"value", Expression()}};
    const records::Json other = "q" + std::to_string(Pick(kNumbers));
    launch.arguments = {value, other};
    if (Pick(2) == 0) launch.arguments = {other, value};
    variant.launches.push_back(launch);
    variant.id = records::VariantId(variant);
    return variant;
  }
};

// What the hook's functions ask of the rest of it, and a program that reads launches (a variant's
// number, then eight bytes for each parameter) and writes what would be passed.
constexpr const char* kStubs = R"(
#undef CUPILOT_LIKELY
#define CUPILOT_LIKELY(condition) (condition)
static unsigned char written[2][8];
static const unsigned long* sizes;
static bool error_pending() { return false; }
static bool original_is_legal(int, const launch&, const geometry&) { return true; }
static bool captured(cudaStream_t) { return false; }
static void refused(int, int, cudaError_t*) {}
static bool fits(int, const geometry&, const launch&) { return true; }
static cudaError_t start(int, const geometry&, void** arguments, const launch&) {
  for (int i = 0; i < 2; ++i) memcpy(written[i], arguments[i], sizes[i]);
  return cudaSuccess;
}
)";

std::string EntryDeclaration(const records::Kernel& kernel, const records::Variant& variant,
                             std::string* sizes) {
  std::string types;
  *sizes += "{";
  for (const records::Json& argument : variant.launches[0].arguments) {
    const std::string type =
        argument.is_string()
            ? kernel.parameters[std::stoul(argument.get<std::string>().substr(1))].canonical
            : argument.value("type", "");
    types += (types.empty() ? "" : ", ") + type;
    *sizes += "sizeof(" + type + "), ";
  }
  *sizes += "}, ";
  return "namespace " + records::VariantNamespace(variant.id) + " { void v(" + types + "); }\n";
}

std::string HookProgram(const records::Kernel& kernel,
                        const std::vector<records::Variant>& variants) {
  std::string entries = "#include <stdint.h>\n#include <stddef.h>\n", functions, sizes, calls;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    entries += EntryDeclaration(kernel, variants[v], &sizes);
    source::SwappedVariant published;
    published.variant = variants[v];
    const auto function = source::WriteVariantFunction(kernel, published, 0, v, 0);
    EXPECT_TRUE(function) << function.error().message;
    if (!function) continue;
    functions += function->text;
    calls += function->name + ", ";
  }
  return entries + source::HookPrologue() + records::PrintedHelpers() + kStubs + functions +
         "typedef bool (*function)(const launch&, const geometry&, cudaError_t*);\n"
         "const function all[] = {" +
         calls + "};\nconst unsigned long all_sizes[][2] = {" + sizes +
         "};\n}\n}\n#endif\nusing namespace cupilot_swap;\n"
         "int main() {\n  dim3 one(1, 1, 1);\n  unsigned long long given[" +
         std::to_string(kernel.parameters.size() + 1) +
         "];\n  while (fread(given, sizeof given, 1, stdin) == 1) {\n"
         "    void* arguments[sizeof given / 8];\n"
         "    for (unsigned i = 1; i < sizeof given / 8; ++i) arguments[i - 1] = given + i;\n"
         "    launch l = {&one, &one, arguments, 0, 0, 0};\n"
         "    geometry o = {1, 1, 1, 1, 1, 1, 0};\n    cudaError_t result = cudaSuccess;\n"
         "    memset(written, 0, sizeof written);\n    sizes = all_sizes[given[0]];\n"
         "    unsigned char ran = all[given[0]](l, o, &result);\n"
         "    fwrite(&ran, 1, 1, stdout);\n    fwrite(written, sizeof written, 1, stdout);\n"
         "  }\n}\n";
}

records::Case CaseOf(const records::Kernel& kernel, Launches& launches) {
  records::Case one;
  one.name = "all";
  one.grid = one.block = {"1", "1", "1"};
  for (const records::Parameter& parameter : kernel.parameters) {
    records::Argument argument;
    argument.name = parameter.name;
    if (parameter.kind == records::ParameterKind::kPointer) {
      argument.count = "1";
    } else {
      argument.value = launches.ValueOf(parameter);
    }
    one.arguments.push_back(argument);
  }
  return one;
}

// As the hook's program writes it; without a launch only the first byte counts.
std::string Planned(const records::Kernel& kernel, const records::Variant& variant, CasePlan plan) {
  std::string bytes(17, '\0');
  const auto program = VariantProgram(kernel, variant, plan);
  if (!program) return bytes;
  bytes[0] = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const ArgumentValue& value = program->steps.at(0).arguments.at(i);
    std::memcpy(bytes.data() + 1 + 8 * i, value.bytes.data(), value.bytes.size());
  }
  return bytes;
}

TEST(LaunchBytes, AreTheSameInTheGateAndInTheHook) {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no g++";
  Launches launches;
  const records::Kernel kernel = launches.MakeKernel();
  std::vector<records::Variant> variants;
  for (int round = 0; round < 4; ++round) {
    for (const char* type : kTypes) variants.push_back(launches.MakeVariant(type));
  }
  std::string given, expected;
  std::vector<std::string> shown;
  const device::Properties host = device::DescribeHost();
  int refused = 0;
  for (int i = 0; i < kLaunches; ++i) {
    const std::uint64_t v = launches.Pick(variants.size());
    const auto plan = PlanCase(kernel, CaseOf(kernel, launches), host, nullptr);
    ASSERT_TRUE(plan) << plan.error().message;
    given.append(reinterpret_cast<const char*>(&v), 8);
    for (const ArgumentValue& value : plan->arguments) {
      std::uint64_t slot = 0;
      std::memcpy(&slot, value.bytes.data(), value.bytes.size());
      if (!value.pointers.empty()) slot = 4096;
      given.append(reinterpret_cast<const char*>(&slot), 8);
    }
    const std::string bytes = Planned(kernel, variants[v], *plan);
    refused += bytes[0] == 0 ? 1 : 0;
    expected += bytes;
  }
  const test::TemporaryFolder folder;
  const std::string text = folder.Write("hook.cc", HookProgram(kernel, variants));
  const std::string launches_file = folder.Write("launches", given);
  const std::string program = folder.path() + "/hook", results = folder.path() + "/results";
  ASSERT_EQ(std::system(("g++ -std=c++17 -O0 -w -I '" CUPILOT_TEST_SOURCE_DIR
                         "/daemon/host_runtime/include' -DCUPILOT_HOST_ABI_VERSION=1 '" +
                         text + "' -o '" + program + "' && '" + program + "' < '" + launches_file +
                         "' > '" + results + "'")
                            .c_str()),
            0);
  const auto passed = base::ReadFile(results);
  ASSERT_TRUE(passed);
  ASSERT_EQ(passed->size(), expected.size());
  for (std::size_t i = 0; i < kLaunches; ++i) {
    const std::string hook = passed->substr(17 * i, 17), gate = expected.substr(17 * i, 17);
    if (hook[0] == 0 && gate[0] == 0) continue;
    std::uint64_t v = 0;
    std::memcpy(&v, given.data() + i * 8 * (kernel.parameters.size() + 1), 8);
    ASSERT_EQ(hook, gate) << "launch " << i << " of " << records::ToJson(variants[v]).dump();
  }
  EXPECT_GT(refused, kLaunches / 50);
  EXPECT_LT(refused, kLaunches / 2);
}

}  // namespace
}  // namespace cupilot::worker
