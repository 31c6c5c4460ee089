// What is to be captured: a small text file, named by CUPILOT_CAPTURE, that `cupilot capture`
// writes and the captured program's runtime reads. A line each:
//
//   cupilot-capture-plan 1
//   folder PATH              where recordings are written
//   launches N               further launches that are recorded, drawn at random, for each geometry
//                            and scalars, besides the first
//   max_bytes N              of all recordings of one process
//   seed N
//   cupti PATH               libcupti, where it is not found otherwise
//   kernel SIGNATURE         mangled name; the lines below it, up to the next one, are about it
//   name TEXT                qualified, as people say it; a launch whose signature is unknown is
//                            this kernel's where the name alone is
//   parameter KIND BYTES     pointer, scalar, structure, table, hidden (format.h), in their order
//   global SPACE BYTES NAME  constant or device; qualified
//
// In the texts that go to the end of a line, "\n" is a line's end and "\\" a backslash.
// Only the standard library is used: it is linked into other people's programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recording/format.h"

namespace cupilot::capture {

inline constexpr char kPlanVariable[] = "CUPILOT_CAPTURE";

struct PlannedParameter {
  ParameterKind kind = ParameterKind::kUnknown;
  std::uint32_t bytes = 0;
};

struct PlannedGlobal {
  std::string symbol;  // qualified
  bool constant = true;
  std::uint64_t bytes = 0;
};

struct PlannedKernel {
  std::string signature;
  std::string name;
  std::vector<PlannedParameter> parameters;
  std::vector<PlannedGlobal> globals;
};

struct Plan {
  std::string folder;
  std::uint64_t launches = 2;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
  std::uint64_t seed = 1;
  std::string cupti;
  std::vector<PlannedKernel> kernels;
  std::vector<std::string> problems;  // of reading it: a sentence for each kernel that was left out
};

// Whether a runtime's name of a kernel may be the planned one: equal but for spaces, and but for
// namespaces that compilers leave out of template arguments ("a::f<T>" is "a::f<b::T>").
bool MayName(const std::string& planned, const std::string& name);

// A kernel without a signature is left out: nothing that is launched could be this kernel.
std::string PrintPlan(const Plan& plan);

// False, with a sentence that names the line, if the text is no plan. A kernel with a line that is
// not understood is left out: the others are captured.
bool ParsePlan(const std::string& text, Plan& plan, std::string& error);
bool ReadPlan(const std::string& path, Plan& plan, std::string& error);

}  // namespace cupilot::capture
