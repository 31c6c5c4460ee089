// What a kernel needs of its translation unit: the declarations that it reaches outside the
// toolkit's and the compiler's headers, as a text of its own. Pure functions of a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/kernel.h"
#include "source/syntax/preprocess.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Namespaces and extern "C" around a declaration.
struct Scope {
  std::string open;  // "namespace image {", "extern \"C\" {"
  bool operator==(const Scope&) const = default;
};

// A stretch of the text with one or more declarations of namespace scope (`struct {...} a, b;` is
// one).
struct Chunk {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  // past the semicolon or the brace
  std::vector<NodeId> declarations;
  std::vector<Scope> scopes;
  std::vector<std::string> namespaces;  // outermost first, "" for an unnamed one
  std::string text;                     // without line markers and host-only members
};

struct Closure {
  std::vector<Chunk> chunks;         // in the order of the text
  std::vector<NodeId> leaves;        // system declarations that they refer to
  std::vector<std::string> headers;  // to include, "cuda_runtime.h" first
};

// `root`: the kernel's definition. `system_includes`: the order in which the user includes headers.
// `also`: a node whose types_used are reached too (Instantiation::uses). Other kernels of the same
// name are left out.
Closure CollectClosure(const Tree& tree, NodeId root,
                       const std::vector<std::string>& system_includes, NodeId also = kNone);

// Text without line markers and empty lines.
std::string WithoutMarkers(std::string_view text);

// The self-contained unit (records::Kernel::closure_source).
std::string PrintClosure(const Closure& closure);

// Where the chunks stand in the user's files; hashes are left empty.
std::vector<records::ClosureRange> RangesOf(const Closure& closure, const Preprocessed& source);

// Nodes of a chunk's declarations, host-only members left out.
std::vector<NodeId> NodesOf(const Tree& tree, const Chunk& chunk);

// A member function or friend that no device code can call: not part of the text.
bool IsHostOnlyMember(const Tree& tree, NodeId id);

}  // namespace cupilot::source
