// The tag above a kernel: comments whose lines begin with "cupilot:". One directive a line:
//
//   directive  = "tune" | "bitwise" | workload | tunable | require | launch | tolerance ;
//   workload   = "workload" [ NAME ] { "weight=" NUMBER | "grid=" dims | "block=" dims
//              | "shared=" EXPRESSION | [ "global:" ] NAME "=" value } ;
//              (of tables alone: they are declared, for captures, and no workload is said)
//   value      = scalar | array | table ;
//   scalar     = NUMBER | EXPRESSION | "null" | "true" | "false" ;
//   array      = [ access ] [ "unordered" ] [ fill ] "[" EXPRESSION "]" ;
//              (of a global: [ ] may be missing)
//   table      = [ access ] [ "unordered" ] "pointers(" count "," bytes [ "," fill ] ")" ;
//              (both EXPRESSIONs; bytes, fill and access are of what each pointer leads to)
//   access     = "in" | "out" | "inout" ;
//   fill       = KIND [ "(" argument { "," argument } ")" ] ;
//   tunable    = "tunable" NAME "=" INTEGER { "," INTEGER } ;
//   require    = "require" EXPRESSION ;
//   launch     = "launch" { "block=" dims | "grid=" dims | "shared=" EXPRESSION } ;
//   tolerance  = "tolerance" ( "bitwise" | { "relative=" NUMBER | "absolute=" NUMBER } ) ;
//   dims       = EXPRESSION | "(" EXPRESSION [ "," EXPRESSION [ "," EXPRESSION ] ] ")" ;
//
// Of weight, grid, block and shared what is an array, or comes a second time, is the value of a
// parameter of that name; so is a weight that is said once where the kernel has such a parameter.
//
// EXPRESSION is that of records/expression.h; outside brackets it ends at white space. In a //
// comment a backslash at the line's end continues the directive. Only the form is judged here:
// which names a kernel has is known to tags.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/workload.h"
#include "source/syntax/preprocess.h"

namespace cupilot::source {

struct TagValue {
  std::string name;
  bool global = false;
  bool array = false;
  std::string scalar;  // as written
  std::optional<records::Access> access;
  bool unordered = false;
  std::optional<records::Fill> fill;
  std::string count;  // expression; empty: not said (globals only)

  bool IsTable() const { return fill && fill->kind == "pointers"; }
};

struct TagWorkload {
  int line = 0;
  std::string name;
  double weight = 1.0;
  std::string weight_text;               // as written; empty: it is not
  std::vector<std::string> grid, block;  // three each
  std::string shared_bytes = "0";
  std::vector<TagValue> values;
};

// Pointers in memory of which no workload is said: those of captures are followed.
struct TagTable {
  int line = 0;
  std::string name;
};

struct TagTunable {
  int line = 0;
  std::string name;
  std::vector<std::int64_t> values;
};

struct TagRequire {
  int line = 0;
  std::string expression;
};

struct Tag {
  std::string file;
  int line = 0;  // of the first directive
  int last_line = 0;
  bool tune = false;
  std::vector<TagWorkload> workloads;
  std::vector<TagTable> tables;
  std::vector<TagTunable> tunables;
  std::vector<TagRequire> require;
  int launch_line = 0;  // 0: no launch directive
  std::vector<std::string> launch_grid, launch_block;
  std::string launch_shared_bytes;
  std::optional<records::Tolerance> tolerance;
};

// Directives of one comment, added to `tag`. kInvalidArgument "file:line: what is wrong and what to
// write" for the first bad one.
base::Result<> ParseTagComment(const TagComment& comment, Tag& tag);

// Three expressions of "120", "(120)", "(120,135)", "(120,135,1)".
base::Result<std::vector<std::string>> ParseDimensions(std::string_view text);

}  // namespace cupilot::source
