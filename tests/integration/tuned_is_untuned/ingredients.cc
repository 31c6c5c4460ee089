#include "ingredients.h"

#include <algorithm>

namespace cupilot::test {
namespace {

using Apply = std::function<void(UserTree&)>;

std::string Fill(std::string text, const std::string& mark, const std::string& value) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

// Adds one to the digit behind `mark`; 9 becomes 1.
Apply Count(const std::string& file, const std::string& mark) {
  return [=](UserTree& tree) {
    std::string& text = tree.files[file];
    const std::size_t at = text.find(mark) + mark.size();
    text[at] = text[at] == '9' ? '1' : static_cast<char>(text[at] + 1);
  };
}

// The one in the place of the other, and back at the next time.
Apply Swap(const std::string& file, const std::string& one, const std::string& other) {
  return [=](UserTree& tree) {
    std::string& text = tree.files[file];
    const bool back = text.find(one) == std::string::npos;
    const std::string& from = back ? other : one;
    // An earlier edit of the history may have taken the place away.
    const std::size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), back ? one : other);
  };
}

// Inserts `text` before `anchor`, or at the end.
Apply Add(const std::string& file, const std::string& anchor, const std::string& text) {
  return [=](UserTree& tree) {
    std::string& whole = tree.files[file];
    const std::size_t at = anchor.empty() ? whole.size() : whole.find(anchor);
    if (at == std::string::npos) return;  // as Swap()
    whole.insert(at, Fill(text, "@", std::to_string(++tree.fresh)));
  };
}

// A file that is there, or is not.
Apply Toggle(const std::string& file, const std::string& text) {
  return [=](UserTree& tree) {
    if (tree.files.erase(file) == 0) tree.files[file] = text;
  };
}

Apply Link(const std::string& file, const std::string& one, const std::string& other) {
  return [=](UserTree& tree) {
    tree.files[file] = "-> " + (tree.files[file] == "-> " + one ? other : one);
  };
}

Apply Touch(const std::string& file) {
  return [=](UserTree& tree) { tree.touched.insert(file); };
}

Apply KeepTime(const std::string& file) {
  return [=](UserTree& tree) { tree.same_time.insert(file); };
}

Apply Variable(const std::string& name, const std::string& value) {
  return [=](UserTree& tree) {
    if (tree.environment.erase(name) == 0) tree.environment[name] = value;
  };
}

Apply Both(const Apply& one, const Apply& other) {
  return [=](UserTree& tree) {
    one(tree);
    other(tree);
  };
}

// With an edit that has the source compiled: the build tool does not see what it is about.
Apply Noted(const Apply& edit) { return Both(edit, Add("main.cu", "// end\n", "// note @\n")); }

const Effect kAlone = Effect::kAlone, kChanges = Effect::kChanges, kOpen = Effect::kOpen;

constexpr const char* kTag =
    "// cupilot: tune\n"
    "// cupilot: workload w grid=4 block=64 n=256 in=integers(0,99)[n] out=[n]\n";

std::string IfMacro(const std::string& condition, const std::string& name) {
  return "#if " + condition + "\n#define " + name + " 3\n#else\n#define " + name + " 2\n#endif\n";
}

Ingredient Plain() {
  const auto top = [](const std::string& text) { return Add("main.cu", "// top\n", text); };
  const auto above = [](const std::string& text) { return Add("main.cu", "// above\n", text); };
  const auto below = [](const std::string& text) { return Add("main.cu", "// below\n", text); };
  const auto end = [](const std::string& text) { return Add("main.cu", "// end\n", text); };
  return {"plain",
          {},
          "",
          "",
          "7",
          "",
          {{"number", kChanges, Count("main.cu", "in[i] * ")},
           {"comment_top", kAlone, top("// it's \"quoted\" { @\n")},
           {"comment_in_kernel", kAlone, Add("main.cu", "  if (i < n)", "  // @\n")},
           {"comment_on_lines", kAlone, above("/* number @\n   on two lines */\n")},
           {"blank_lines", kAlone, top("\n\n")},
           {"spaces", kAlone, Swap("main.cu", "i < n", "i  <  n")},
           {"host_number", kAlone, Count("main.cu", "start = ")},
           {"host_function_above", kAlone, above("inline int helper_@(int n) { return n + 1; }\n")},
           {"host_function_below", kAlone, below("inline int helper_@(int n) { return n + 1; }\n")},
           {"device_function", kAlone, above("__device__ inline int device_@() { return 1; }\n")},
           {"kernel", kAlone, below("__global__ void kernel_@(int* x) { x[0] = 1; }\n")},
           {"structure", kAlone, above("struct Settings_@ { int count = 3; };\n")},
           {"alias", kAlone, above("using Real_@ = double;\n")},
           {"template", kAlone, below("template <class T> T twice_@(T x) { return x + x; }\n")},
           {"namespace", kAlone, below("namespace tools_@ { int count(const char*); }\n")},
           {"static_assert", kAlone, above("static_assert(sizeof(int) == 4, \"@\");\n")},
           {"include", kAlone, top("#include <vector>\n")},
           {"macro_top", kAlone, top("#define UNUSED_@ 1\n")},
           {"macro_end", kAlone, end("#define UNUSED_@ 1\n")},
           {"touch", kAlone, Touch("main.cu")},
           {"returns", kAlone,
            [](UserTree& tree) {
              if (tree.returns.erase("main.cu") == 0) tree.returns.insert("main.cu");
            }}},
          {},
          ""};
}

// Headers, and how they are found.
std::vector<Ingredient> HeaderIngredients() {
  return {
      {"defines",
       {{"cfg.h", "#define GAIN 2\n"}},
       "",
       "#include \"cfg.h\"\n",
       "GAIN",
       "",
       {{"gain", kChanges, Count("cfg.h", "GAIN ")},
        {"unused", kAlone, Add("cfg.h", "", "#define UNUSED_@ 1\n")},
        {"comment", kAlone, Add("cfg.h", "", "// @\n")},
        {"touch", kAlone, Touch("cfg.h")},
        {"same_time", kChanges, Noted(Both(KeepTime("cfg.h"), Count("cfg.h", "GAIN ")))}}},
      {"declares",
       {{"decl.h",
         "#pragma once\nstruct Config { static constexpr int kGain = 3; int unused; };\n"
         "__device__ inline int scaled(int x) { return x * Config::kGain; }\n"}},
       "",
       "#include \"decl.h\"\n",
       "scaled(i % 5)",
       "",
       {{"gain", kChanges, Count("decl.h", "kGain = ")},
        {"helper", kChanges, Swap("decl.h", "x * Config", "x + Config")},
        {"unused", kAlone, Add("decl.h", "", "inline int unused_@() { return 1; }\n")},
        {"comment", kAlone, Add("decl.h", "struct", "// @\n")},
        {"same_time", kChanges, Noted(Both(KeepTime("decl.h"), Count("decl.h", "kGain = ")))}}},
      {"nested",
       {{"outer.h", "#include \"inner/inner.h\"\n"}, {"inner/inner.h", "#define DEPTH 4\n"}},
       "",
       "#include \"outer.h\"\n",
       "DEPTH",
       "",
       {{"depth", kChanges, Count("inner/inner.h", "DEPTH ")}}},
      {"forced",
       {{"forced.h", "#define FORCED 5\n"}},
       "target_compile_options(app PRIVATE \"SHELL:-include "
       "${CMAKE_CURRENT_SOURCE_DIR}/forced.h\")\n",
       "",
       "FORCED",
       "",
       {{"number", kChanges, Count("forced.h", "FORCED ")}}},
      {"folders",
       {{"first/.keep", ""}, {"second/ordered.h", "#define ORDERED 6\n"}},
       "target_include_directories(app PRIVATE first second)\n",
       "#include <ordered.h>\n",
       "ORDERED",
       "",
       {{"earlier", kChanges, Noted(Toggle("first/ordered.h", "#define ORDERED 9\n"))},
        {"number", kOpen, Count("second/ordered.h", "ORDERED ")}}},
      {"declared_folders",
       {{"one/.keep", ""}, {"two/placed.h", "constexpr int kPlaced = 6;\n"}},
       "target_include_directories(app PRIVATE one two)\n",
       "#include <placed.h>\n",
       "kPlaced",
       "",
       {{"earlier", kChanges, Noted(Toggle("one/placed.h", "constexpr int kPlaced = 9;\n"))}}},
      {"beside",
       {{"far/beside.h", "#define BESIDE 6\n"}},
       "target_include_directories(app PRIVATE far)\n",
       "#include \"beside.h\"\n",
       "BESIDE",
       "",
       {{"appears", kChanges, Noted(Toggle("beside.h", "#define BESIDE 9\n"))}}},
      {"next",
       {{"wrap/wrap.h", "#include_next <wrap.h>\n"},
        {"middle/.keep", ""},
        {"last/wrap.h", "#define WRAPPED 3\n"}},
       "target_include_directories(app PRIVATE wrap middle last)\n",
       "#include <wrap.h>\n",
       "WRAPPED",
       "",
       {{"number", kOpen, Count("last/wrap.h", "WRAPPED ")},
        {"middle", kChanges, Noted(Toggle("middle/wrap.h", "#define WRAPPED 11\n"))}}},
      {"asks",
       {},
       "",
       "#if __has_include(\"late.h\")\n#include \"late.h\"\n#else\n#define LATE 2\n#endif\n",
       "LATE",
       "",
       {{"appears", kChanges, Noted(Toggle("late.h", "#define LATE 5\n"))}}},
      {"asks_only",
       {},
       "",
       IfMacro("__has_include(\"late_only.h\")", "ASKED"),
       "ASKED",
       "",
       {{"appears", kChanges, Noted(Toggle("late_only.h", "\n"))}}},
      {"linked",
       {{"real_a.h", "#define LINKED 3\n"},
        {"real_b.h", "#define LINKED 8\n"},
        {"link.h", "-> real_a.h"}},
       "",
       "#include \"link.h\"\n",
       "LINKED",
       "",
       {{"retarget", kChanges, Noted(Link("link.h", "real_a.h", "real_b.h"))},
        {"number", kOpen, Count("real_a.h", "LINKED ")}}},
      {"linked_folder",
       {{"inc_a/held.h", "constexpr int kHeld = 3;\n"},
        {"inc_b/held.h", "constexpr int kHeld = 8;\n"},
        {"inc", "-> inc_a"}},
       "target_include_directories(app PRIVATE inc)\n",
       "#include \"held.h\"\n",
       "kHeld",
       "",
       {{"retarget", kChanges, Noted(Link("inc", "inc_a", "inc_b"))}}},
      {"system",
       {{"sys/sys.h", "#define SYSTEM 3\n"}},
       "target_include_directories(app SYSTEM PRIVATE sys)\n",
       "#include <sys.h>\n",
       "SYSTEM",
       "",
       {{"number", kChanges, Count("sys/sys.h", "SYSTEM ")}}},
      {"table",
       {{"table.def", "1, 2, 3\n"}},
       "",
       "__device__ inline int entry(int k) {\n  const int t[] = {\n#include \"table.def\"\n  };\n"
       "  return t[k % 3];\n}\n",
       "entry(i)",
       "",
       {{"number", kChanges, Count("table.def", "1, ")}}},
      {"body",
       {{"body.inc", "return k + 3;\n"}},
       "",
       "__device__ inline int body(int k) {\n#include \"body.inc\"\n}\n",
       "body(i)",
       "",
       {{"number", kChanges, Count("body.inc", "k + ")}}},
      {"named",
       {{"named_a.h", "#define NAMED 3\n"}, {"named_b.h", "#define NAMED 7\n"}},
       "",
       "#define HEADER \"named_a.h\"\n#include HEADER\n",
       "NAMED",
       "",
       {{"other", kChanges, Swap("main.cu", "named_a", "named_b")}}},
      {"packed",
       {{"pack.h", "#pragma pack(push, 1)\n"}, {"unpack.h", "#pragma pack(pop)\n"}},
       "",
       "#include \"pack.h\"\nstruct Packed { char a; int b; };\n#include \"unpack.h\"\n",
       "int(sizeof(Packed))",
       "",
       {{"align", kChanges, Swap("pack.h", "push, 1", "push, 4")}}},
      {"guard",
       {{"cond.h", IfMacro("defined(SWITCH)", "CONDITION")}},
       "",
       "// switch\n#include \"cond.h\"\n",
       "CONDITION",
       "",
       {{"switch", kChanges, Swap("main.cu", "// switch\n", "#define SWITCH\n")}}},
      {"generated",
       {{"gen.in", "#define GENERATED 4\n"}},
       "add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/gen.h COMMAND ${CMAKE_COMMAND} -E "
       "copy\n"
       "  ${CMAKE_CURRENT_SOURCE_DIR}/gen.in ${CMAKE_CURRENT_BINARY_DIR}/gen.h DEPENDS gen.in)\n"
       "target_sources(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/gen.h)\n"
       "target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR})\n",
       "#include \"gen.h\"\n",
       "GENERATED",
       "",
       {{"number", kChanges, Count("gen.in", "GENERATED ")}}},
      {"configured",
       {{"conf.h.in", "#define CONFIGURED 4\n"}},
       "configure_file(conf.h.in conf.h)\n"
       "target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR})\n",
       "#include \"conf.h\"\n",
       "CONFIGURED",
       "",
       {{"number", kChanges, Count("conf.h.in", "CONFIGURED ")}}},
  };
}

// What the language makes of text elsewhere.
std::vector<Ingredient> LanguageIngredients() {
  return {
      {"traits",
       {},
       "",
       "template <class T> struct Traits { static constexpr int value = 3; };\n// traits\n",
       "Traits<int>::value",
       "",
       {{"specialised", kChanges,
         Swap("main.cu", "// traits\n",
              "template <> struct Traits<int> { static constexpr int value = 8; };\n")},
        {"other", kAlone,
         Add("main.cu", "// below\n",
             "struct Other_@ {};\ntemplate <> struct Traits<Other_@> { int value; };\n")}}},
      {"overload",
       {},
       "",
       "__device__ inline int pick(long x) { return int(x % 3); }\n// pick\n",
       "pick(i)",
       "// pick below\n",
       {{"above", kChanges,
         Swap("main.cu", "// pick\n", "__device__ inline int pick(int x) { return x + 50; }\n")},
        {"below", kAlone,
         Swap("main.cu", "// pick below\n",
              "__device__ inline int pick(short x) { return x + 70; }\n"
              "namespace app { __device__ inline int pick(int x) { return x + 80; } }\n")}}},
      {"inner",
       {},
       "",
       "__device__ inline int depth() { return 3; }\n// depth\n",
       "depth()",
       "",
       {{"hidden", kChanges,
         Swap("main.cu", "// depth\n",
              "namespace app { __device__ inline int depth() { return 9; } }\n")}}},
      {"hidden_name",
       {},
       "",
       "",
       "3",
       "",
       {{"n", kAlone, Add("main.cu", "// end\n", "#undef n\n#define n (n + 1)\n")},
        {"i", kAlone, Add("main.cu", "// end\n", "#undef i\n#define i 5\n")},
        {"out", kAlone, Add("main.cu", "// end\n", "#undef out\n#define out in\n")},
        {"k0", kAlone, Add("main.cu", "// end\n", "#undef k0\n#define k0 other\n")},
        {"type", kAlone, Add("main.cu", "// end\n", "#undef int\n#define int long\n")},
        {"builtin", kAlone, Add("main.cu", "// end\n", "#undef blockIdx\n#define blockIdx 0\n")}}},
      {"types",
       {{"types.h", "using Number = short;\n"}},
       "",
       "#include \"types.h\"\n",
       "int(Number(70000 + i))",
       "",
       {{"wide", kChanges, Swap("types.h", "= short", "= int")}}},
      {"defaults",
       {},
       "",
       "__device__ inline int shifted(int x, int by = 2) { return x + by; }\n",
       "shifted(i)",
       "",
       {{"number", kChanges, Count("main.cu", "int by = ")}}},
      {"device_table",
       {},
       "",
       "__device__ const int kTable[4] = {1, 2, 3, 4};\n",
       "kTable[i % 4]",
       "",
       {{"number", kChanges, Count("main.cu", "kTable[4] = {")}}},
      {"constant_table",
       {},
       "",
       "__constant__ int weights[4] = {1, 2, 3, 4};\n",
       "weights[i % 4]",
       "",
       {{"number", kChanges, Count("main.cu", "weights[4] = {")}}},
      {"operator",
       {},
       "",
       "struct Pair { int a, b; };\n"
       "__device__ inline Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + 4}; }\n",
       "(Pair{i, 1} + Pair{2, 3}).b",
       "",
       {{"number", kChanges, Count("main.cu", "x.b + ")}}},
      {"enumeration",
       {{"mode.h", "enum Mode { kFirst = 3, kSecond };\n"}},
       "",
       "#include \"mode.h\"\n",
       "kSecond",
       "",
       {{"number", kChanges, Count("mode.h", "kFirst = ")}}},
      {"branch",
       {{"branch.h", "#pragma once\nconstexpr bool kBranch = true;\n"}},
       "",
       "#include \"branch.h\"\ntemplate <bool kTake> __device__ int branch(int x) {\n"
       "  if constexpr (kTake) return x + 4;\n  return x;\n}\n",
       "branch<kBranch>(i)",
       "",
       {{"other", kChanges, Swap("branch.h", "true", "false")}}},
      {"lambda",
       {},
       "",
       "__device__ inline int with(int x) {\n  auto f = [=](int y) { return y * 4 + x; };\n"
       "  return f(2);\n}\n",
       "with(i)",
       "",
       {{"number", kChanges, Count("main.cu", "y * ")}}},
      {"continued",
       {{"cont.h", "#define CONTINUED 1 + \\\n  2\n"}},
       "",
       "#include \"cont.h\"\n",
       "(CONTINUED)",
       "",
       {{"number", kChanges, Count("cont.h", "\\\n  ")}}},
      {"pushed",
       {{"pushed.h", "#undef PUSHED\n#define PUSHED 3\n"}},
       "",
       "#define PUSHED 1\n#pragma push_macro(\"PUSHED\")\n#include \"pushed.h\"\n"
       "__device__ inline int pushed() { return PUSHED; }\n#pragma pop_macro(\"PUSHED\")\n",
       "pushed() + PUSHED",
       "",
       {{"number", kChanges, Count("pushed.h", "#define PUSHED ")}}},
      {"line",
       {},
       "",
       "",
       "__LINE__",
       "",
       {{"shift", kChanges, Add("main.cu", "// top\n", "// @\n")},
        {"below", kOpen, Add("main.cu", "// end\n", "// @\n")}}},
      {"line_helper",
       {{"here.h", "__device__ inline int here() { return __LINE__; }\n"}},
       "",
       "#include \"here.h\"\n",
       "here()",
       "",
       {{"shift", kChanges, Add("here.h", "__device__", "// @\n")},
        {"source", kOpen, Add("main.cu", "// top\n", "// @\n")}}},
      {"line_macro",
       {{"at.h", "#define HERE() (__LINE__)\n"}},
       "",
       "#include \"at.h\"\n",
       "HERE()",
       "",
       {{"shift", kChanges, Add("main.cu", "// top\n", "\n")}}},
      {"line_constant",
       {},
       "",
       "constexpr int kLine = __LINE__;\n",
       "kLine",
       "",
       {{"shift", kChanges, Add("main.cu", "// top\n", "\n\n")}}},
      {"counter",
       {},
       "",
       "constexpr int kCount = __COUNTER__;\n",
       "kCount",
       "",
       {{"above", kChanges,
         Add("main.cu", "// top\n", "static_assert(__COUNTER__ >= 0, \"@\");\n")},
        {"below", kOpen, Add("main.cu", "// end\n", "static_assert(__COUNTER__ >= 0, \"@\");\n")}}},
      {"level",
       {{"level.h", "#define LEVEL __INCLUDE_LEVEL__\n"}},
       "",
       "#include \"level.h\"\n",
       "LEVEL",
       "",
       {}},
      {"top_level",
       {},
       "",
       "",
       "3",
       "int top_level();\n#if __INCLUDE_LEVEL__ == 0\nint top_level() { return 1; }\n#endif\n",
       {},
       {},
       "  start = top_level();\n"},
      {"file_name", {}, "", "", "int(sizeof(__FILE__))", "", {}},
      {"base_file", {}, "", "", "int(sizeof(__BASE_FILE__))", "", {}},
      {"second", {}, "", "", "int(__TIME__[7])", "", {}, {}, "", true},
      {"timestamp",
       {},
       "",
       "",
       "int(__TIMESTAMP__[18])",
       "",
       {{"touch", kOpen, Touch("main.cu")}},
       {},
       "",
       true},
  };
}

// What the command, the environment and the compiler say.
std::vector<Ingredient> CommandIngredients() {
  const auto option = [](const std::string& word) {
    return "target_compile_options(app PRIVATE " + word + ")\n";
  };
  const auto toggled = [](const std::string& line) {
    return std::vector<Edit>{{"without", kChanges, Swap("CMakeLists.txt", line, "# without\n")}};
  };
  const std::string openmp = option("-Xcompiler=-fopenmp"),
                    avx2 = option("-Xcompiler=-march=x86-64-v3"),
                    fast = option("-Xcompiler=-ffast-math"), list = option("-DLISTA=1,LISTK=3"),
                    words = option("\"SHELL:-Xcompiler \\\"-Wall -DHOSTK=3\\\"\""),
                    word = option("-Xcompiler=-DWORDK=3"),
                    undefined = option("\"SHELL:-UNAMEK -DNAMEK=3\"");
  const std::string rdc = "set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n";
  return {
      {"optimised",
       {},
       "",
       IfMacro("defined(__OPTIMIZE__)", "OPTIMISED"),
       "OPTIMISED",
       "",
       {{"debug", kChanges, Swap("CMakeLists.txt", "Release", "Debug")}}},
      {"asserts",
       {},
       "",
       IfMacro("defined(NDEBUG)", "ASSERTS"),
       "ASSERTS",
       "",
       {{"debug", kChanges, Swap("CMakeLists.txt", "Release", "Debug")}}},
      {"clang", {}, "", IfMacro("defined(__clang__)", "CLANG"), "CLANG", "", {}},
      {"gnu_major", {}, "", "", "__GNUC__", "", {}},
      {"gnu_minor", {}, "", "", "__GNUC_MINOR__", "", {}},
      {"arch", {}, "", IfMacro("defined(__CUDA_ARCH__)", "ARCH"), "ARCH", "", {}},
      {"toolkit", {}, "", "", "__CUDACC_VER_MAJOR__", "", {}},
      {"built_in",
       {},
       "",
       IfMacro("__has_builtin(__builtin_ia32_pause) && !__has_builtin(__builtin_rotateleft32)",
               "BUILT"),
       "BUILT",
       "",
       {}},
      {"attribute",
       {},
       "",
       IfMacro("__has_attribute(diagnose_if) || __has_cpp_attribute(clang::fallthrough)",
               "ATTRIBUTE"),
       "ATTRIBUTE",
       "",
       {}},
      {"openmp",
       {},
       openmp + "target_link_options(app PRIVATE -fopenmp)\n",
       IfMacro("defined(_OPENMP)", "OPENMP"),
       "OPENMP",
       "",
       toggled(openmp)},
      {"separable",
       {},
       rdc,
       IfMacro("defined(__CUDACC_RDC__)", "SEPARABLE"),
       "SEPARABLE",
       "",
       toggled(rdc)},
      {"vectors", {}, avx2, IfMacro("defined(__AVX2__)", "VECTORS"), "VECTORS", "", toggled(avx2)},
      {"fast", {}, fast, IfMacro("defined(__FAST_MATH__)", "FAST"), "FAST", "", toggled(fast)},
      {"language",
       {},
       "set_target_properties(app PROPERTIES CUDA_STANDARD 17)\n",
       "",
       "int(__cplusplus / 100 % 100)",
       "",
       {{"newer", kChanges, Swap("CMakeLists.txt", "CUDA_STANDARD 17", "CUDA_STANDARD 20")}}},
      {"flag",
       {},
       "target_compile_definitions(app PRIVATE FLAG=2)\n",
       "",
       "FLAG",
       "",
       {{"number", kChanges, Count("CMakeLists.txt", "FLAG=")},
        {"unrelated", kOpen,
         Add("CMakeLists.txt", "# end", "target_compile_definitions(app PRIVATE UNRELATED_@)\n")}}},
      {"source_flag",
       {},
       "set_source_files_properties(main.cu PROPERTIES COMPILE_DEFINITIONS PER=2)\n",
       "",
       "PER",
       "",
       {{"number", kChanges, Count("CMakeLists.txt", "PER=")}}},
      {"list", {}, list, IfMacro("defined(LISTK)", "LISTED"), "LISTED", "", {}},
      {"host_words", {}, words, IfMacro("defined(HOSTK)", "WORDS"), "WORDS", "", {}},
      {"host_word", {}, word, IfMacro("defined(WORDK)", "WORD"), "WORD", "", toggled(word)},
      {"undefined", {}, undefined, IfMacro("defined(NAMEK)", "NAMEDK"), "NAMEDK", "", {}},
      {"after",
       {{"after/.keep", ""}},
       option("\"SHELL:-Xcompiler -idirafter,${CMAKE_CURRENT_SOURCE_DIR}/after\""),
       IfMacro("__has_include(<after_all.h>)", "AFTER"),
       "AFTER",
       "",
       {{"appears", kChanges, Noted(Toggle("after/after_all.h", "\n"))}}},
      {"appended",
       {},
       "",
       "#ifndef APPENDED\n#define APPENDED 1\n#endif\n",
       "APPENDED",
       "",
       {{"append", kOpen, Noted(Variable("NVCC_APPEND_FLAGS", "-DAPPENDED=7"))},
        {"prepend", kOpen, Noted(Variable("NVCC_PREPEND_FLAGS", "-DAPPENDED=5"))}}},
      {"search_path",
       {{"searched/env.h", "\n"}, {"searched_cxx/env_cxx.h", "\n"}},
       "",
       IfMacro("__has_include(<env.h>)", "SEARCHED_ENV") +
           IfMacro("__has_include(<env_cxx.h>)", "SEARCHED_CXX"),
       "(SEARCHED_ENV + 2 * SEARCHED_CXX)",
       "",
       {{"set", kChanges, Noted(Variable("CPATH", "@SOURCE/searched"))},
        {"cxx", kChanges, Noted(Variable("CPLUS_INCLUDE_PATH", "@SOURCE/searched_cxx"))}}},
      {"shared_source",
       {},
       "add_executable(other main.cu)\ntarget_compile_definitions(other PRIVATE WHO=4)\n"
       "target_include_directories(other PRIVATE\n"
       "  $<TARGET_PROPERTY:app,INCLUDE_DIRECTORIES>)\n"
       "cupilot_tune(other@LOCK)\n",
       "#ifndef WHO\n#define WHO 1\n#endif\n",
       "WHO",
       "",
       {{"number", kChanges, Count("CMakeLists.txt", "WHO=")}},
       {"other"}},
      {"more",
       {{"more.h", "#define MORE 3\n"},
        {"more.cu", std::string("#include \"more.h\"\nnamespace more {\n") + kTag +
                        "__global__ void k1(const int* in, int* out, int n) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  if (i < n) out[i] = in[i] * MORE + 2;\n}\n}\n"
                        "void launch_more(const int* in, int* out, int n) {\n"
                        "  more::k1<<<n / 64, 64>>>(in, out, n);\n}\n"}},
       "target_sources(app PRIVATE more.cu)\n",
       "#include \"more.h\"\n",
       "MORE",
       "void launch_more(const int* in, int* out, int n);\n",
       {{"number", kChanges, Count("more.h", "MORE ")},
        {"own", kChanges, Count("more.cu", "MORE + ")},
        {"comment", kAlone, Add("more.cu", "void launch", "// @\n")}},
       {},
       "  launch_more(values, values + n, n);\n  sum(\"more::k1\", values + n, n);\n"},
  };
}

struct ShapeText {
  std::string name, before, head, after, launch;
};

const std::vector<ShapeText>& ShapeTexts() {
  static const std::vector<ShapeText> shapes = {
      {"plain", "namespace app {\n", "__global__ void k0(", "}\n", "app::k0"},
      {"global", "", "__global__ void k0(", "", "k0"},
      {"static", "namespace app {\n", "static __global__ void k0(", "}\n", "app::k0"},
      {"unnamed", "namespace app {\nnamespace {\n", "__global__ void k0(", "}\n}\n", "app::k0"},
      {"extern", "namespace app {\n", "extern \"C\" __global__ void k0(", "}\n", "app::k0"},
      {"template", "namespace app {\n", "template <class T, int kExtra>\n__global__ void k0(",
       "}\n", "app::k0<int, 5>"},
      {"overloaded", "namespace app {\n__global__ void k0(int* x) { x[0] = 1; }\n",
       "__global__ void k0(", "}\n", "app::k0"},
  };
  return shapes;
}

std::string MainText(const ShapeText& shape, const std::vector<const Ingredient*>& used) {
  std::string above, terms, below, calls;
  for (const Ingredient* one : used) {
    above += one->above;
    if (!one->term.empty()) terms += " + " + one->term;
    below += one->below;
    calls += one->call;
  }
  // The tag of a template stands above the whole of it.
  return "// top\n#include <cuda_runtime.h>\n#include <cstdio>\n" + above + "// above\n" +
         shape.before + kTag + shape.head +
         "const int* in, int* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) out[i] = in[i] * 3" +
         terms + (shape.name == "template" ? " + kExtra" : "") + ";\n}\n" + shape.after + below +
         "// below\n"
         "static void sum(const char* name, const int* values, int n) {\n"
         "  cudaDeviceSynchronize();\n  long total = 0;\n"
         "  for (int i = 0; i < n; ++i) total = total * 31 + values[i];\n"
         "  std::printf(\"%s %lx\\n\", name, total);\n}\n"
         "int main(int argc, char**) {\n"
         "  const int n = 256;\n  int start = 1;\n  int* values = nullptr;\n"
         "  if (argc > 1) {\n    std::puts(cupilot_host_architecture((const void*)(void (*)(const "
         "int*, "
         "int*, int))" +
         shape.launch +
         "));\n    return start > 9;\n  }\n"
         "  cudaMallocManaged(&values, 2 * n * sizeof(int));\n"
         "  for (int i = 0; i < n; ++i) values[i] = i % 99;\n  " +
         shape.launch +
         "<<<n / 64, 64>>>(values, values + n, n);\n  sum(\"app::k0\", values + n, n);\n" + calls +
         "}\n// end\n";
}

std::string CMakeText(const std::vector<const Ingredient*>& used, bool lock) {
  const std::string locked = lock ? " LOCK cupilot.lock" : "";
  std::string more;
  for (const Ingredient* one : used) more += Fill(one->cmake, "@LOCK", locked);
  return "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES CXX)\n"
         "set(CMAKE_BUILD_TYPE Release)\nfind_package(CuPilot REQUIRED)\ncupilot_enable_cuda()\n"
         "add_executable(app main.cu)\n" +
         more + "cupilot_tune(app" + locked + ")\n# end\n";
}

// Of fixed histories alone: one more among the others would change all random ones.
std::vector<Ingredient> FixedIngredients() {
  return {
      {"attributed",
       {{"bias.h",
         "static const int kBias __attribute__((unused)) = 3;\n"
         "typedef int Whole __attribute__((aligned(4)));\n"}},
       "",
       "#include \"bias.h\"\n",
       "(Whole)(kBias + i % 3)",
       "",
       {{"bias", kChanges, Count("bias.h", "= ")},
        {"type", kChanges, Swap("bias.h", "typedef int Whole", "typedef bool Whole")},
        {"comment", kAlone, Add("bias.h", "typedef", "// @\n")}},
       {},
       "",
       false,
       true},
  };
}

}  // namespace

const std::vector<Ingredient>& Ingredients() {
  static const std::vector<Ingredient> all = [] {
    std::vector<Ingredient> list = {Plain()};
    for (const auto& more :
         {HeaderIngredients(), LanguageIngredients(), CommandIngredients(), FixedIngredients()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

const Ingredient* FindIngredient(const std::string& name) {
  const auto& all = Ingredients();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Ingredient& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Edit* FindEdit(const std::string& name) {
  const std::size_t dot = name.find('.');
  const Ingredient* owner = FindIngredient(name.substr(0, dot));
  if (owner == nullptr || dot == std::string::npos) return nullptr;
  const auto found = std::find_if(owner->edits.begin(), owner->edits.end(), [&](const Edit& one) {
    return one.name == name.substr(dot + 1);
  });
  return found == owner->edits.end() ? nullptr : &*found;
}

const std::vector<std::string>& Shapes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const ShapeText& shape : ShapeTexts()) list.push_back(shape.name);
    return list;
  }();
  return names;
}

UserTree MakeTree(const std::string& shape, const std::vector<std::string>& ingredients,
                  bool lock) {
  std::vector<const Ingredient*> used = {FindIngredient("plain")};
  for (const std::string& name : ingredients) used.push_back(FindIngredient(name));
  UserTree tree;
  for (const Ingredient* one : used) tree.files.insert(one->files.begin(), one->files.end());
  const auto& shapes = ShapeTexts();
  const auto found = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const ShapeText& one) { return one.name == shape; });
  tree.files["main.cu"] = MainText(*found, used);
  tree.files["CMakeLists.txt"] = CMakeText(used, lock);
  return tree;
}

}  // namespace cupilot::test
