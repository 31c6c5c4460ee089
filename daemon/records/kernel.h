// What the source worker found out about one tagged kernel of one translation unit. Internal to us
// (worker, daemon, store); not a format that users write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/json.h"
#include "records/workload.h"

namespace cupilot::records {

enum class ParameterKind { kPointer, kInteger, kFloating, kOther };

struct Parameter {
  // A number in a structure that is passed by value: "frame.width", "dims[2]", "v.x" behind the
  // parameter's own name and a dot. Pointers, and types that no expression can read, are none.
  struct Member {
    std::string name;
    std::string canonical;                       // "float", "__half"
    ParameterKind kind = ParameterKind::kOther;  // kInteger or kFloating
    std::int64_t offset = 0;                     // bytes
    std::int64_t bytes = 0;
    bool is_signed = false;
    bool operator==(const Member&) const = default;
  };
  std::string name;       // may be empty (unnamed)
  std::string type;       // as written: "const float *"
  std::string canonical;  // fully qualified canonical type, valid in C++ after the user's text
  ParameterKind kind = ParameterKind::kOther;
  std::int64_t bytes = 0;  // of the parameter itself
  std::string element;     // pointer: canonical element type without const
  std::int64_t element_bytes = 0;
  bool element_const = false;         // pointer to const
  bool element_has_pointers = false;  // pointer to structures with addresses in them
  bool is_signed = false;             // integer
  // Pointer to pointers: what these lead to, as the element; empty where that holds pointers itself
  // or its size is not known.
  std::string pointee;
  std::int64_t pointee_bytes = 0;
  bool pointee_const = false;
  bool table = false;  // the tag declares them: ptrs=pointers(count, bytes)
  // Of a structure whose layout its text tells; else none, though it may have some.
  std::vector<Member> members;
};

// Pointer to pointers to data, which workloads can give.
inline bool IsTable(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kPointer && parameter.pointee_bytes > 0;
}
// Pointer to what is a pointer itself, also of more levels.
inline bool PointsToPointers(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kPointer &&
         parameter.element.find('*') != std::string::npos;
}

struct Tunable {
  std::string name;  // a macro that the source defines under #ifndef
  std::vector<std::int64_t> values;
  std::int64_t default_value = 0;  // of the source, as compiled
};

// A stretch of a file that belongs to the kernel's closure.
struct ClosureRange {
  std::string file;        // absolute
  std::int64_t begin = 0;  // byte offsets [begin, end)
  std::int64_t end = 0;
  std::string hash;  // of these bytes
};

// A __constant__ or __device__ variable that the closure reads.
struct ClosureGlobal {
  std::string symbol;   // qualified
  std::string space;    // "constant" | "device"
  std::string element;  // element type
  std::int64_t element_bytes = 0;
  std::int64_t count = 0;
};

// A type that we wrote because the user's has no name: the function object that is measured, and
// given to variants, in the place of a lambda.
struct MadeType {
  // What an expression reads as an integer: "f.count".
  struct Integer {
    std::string name;
    std::int64_t offset = 0;  // bytes
    std::int64_t bytes = 0;
    bool is_signed = false;
    bool operator==(const Integer&) const = default;
  };
  std::vector<std::string> namespaces;  // outermost first; "" is an unnamed one
  std::string name;                     // qualified, as a parameter's canonical type
  std::string text;                     // "struct cupilot_lambda_... {...};"
  std::vector<Integer> integers;        // its members of integer types
  bool holds_pointers = false;          // or members whose own members are not known
  bool operator==(const MadeType&) const = default;
};

struct Kernel {
  std::string name;                     // qualified: "image::blur"
  std::string base_name;                // "blur"
  std::vector<std::string> namespaces;  // enclosing, outermost first; "" is an unnamed one
  // Of an instantiated template, as they stand between < and >: its closure_source holds the kernel
  // with these arguments as an ordinary one.
  std::vector<std::string> template_arguments;
  // What people see and say where the name alone does not tell: "image::blur<float, 4>",
  // "image::blur(const float *, int)". See LabelOf().
  std::string label;
  std::string signature;  // mangled name
  std::string key;        // kernel_key
  // Of an instantiation that no text can name (of a lambda): by what it is recognised when a
  // program registers it, the signature or, on the host device, "image::map FviE" with its type;
  // and the types that stand for those without a name.
  std::string instance;
  std::vector<MadeType> made_types;
  std::string file;  // absolute path of the definition, after #line
  std::int64_t line = 0;
  std::vector<Parameter> parameters;
  std::vector<ClosureGlobal> globals;
  std::vector<Tunable> tunables;
  std::vector<std::string> require;
  std::vector<std::string> launch_block;  // of the tag's launch line: three expressions, or empty
  std::vector<std::string> launch_grid;
  std::string launch_shared_bytes;
  std::vector<Case> cases;  // workloads of the tag; names of arguments in parameter order
  std::optional<Tolerance> tolerance;
  bool synchronises = false;  // reaches a barrier, a warp intrinsic or shared memory
  bool uses_atomics = false;
  // Its text holds the number of a line (__LINE__) or a counter, or what a lambda captures has
  // types that follow from other text than the closure's: any edit is one of the kernel.
  bool depends_on_lines = false;
  // A self-contained translation unit with the kernel and all it reaches: includes of toolkit and
  // standard headers, then the declarations, macros expanded. No host code. With a tunable's macro
  // redefined the text differs: see the worker's `closure` operation.
  std::string closure_source;
  // The user's macros that are live at the kernel, as #define lines: a variant's source may use
  // them, so they stand between closure_source and the variant when a candidate is built.
  std::string closure_macros;
  // Of those that are others at the end of the file, behind which variants are compiled in, how
  // they are at the kernel: "#define NAME tokens" or "#undef NAME".
  std::vector<std::string> macros_back;
  std::string standard;  // -std= that its source is compiled with: "c++20"
  // The folder of the CUDA toolkit's headers that its source is compiled with; empty for the host
  // device's.
  std::string toolkit_include;
  std::vector<ClosureRange> closure;
  // What its text looks up, as it is written and as closure_source has it (of an instantiation they
  // differ).
  std::vector<std::string> names;
  // Why it cannot be tuned (file:line: reason), empty if it can.
  std::string declined;
};

// "image::blur<float, 4>"; the plain name without arguments.
std::string NameWithArguments(const std::string& name, const std::vector<std::string>& arguments);

// The label, or the name where that is enough.
const std::string& LabelOf(const Kernel& kernel);

// Whether `name` as people write it means the kernel of this label: the whole one or a suffix of it
// after "::", with or without template arguments and parameters, however spaced.
bool NamesKernel(const std::string& name, const std::string& label);
// The same of a kernel: also by its template arguments as they are written in code, where the label
// has other words for them ("static_cast<image::Mode>(1)" for "image::Mode::kExact").
bool NamesKernel(const std::string& name, const Kernel& kernel);

base::Result<Kernel> ParseKernel(const Json& json);  // lenient: what we wrote ourselves
Json ToJson(const Kernel& kernel);

}  // namespace cupilot::records
