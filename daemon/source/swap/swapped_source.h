// The one writer of swapped sources: what is compiled in place of the user's file once variants of
// its kernels are proven.
//
// The text is: the variants' includes, the user's file by its absolute path, the variants in their
// own namespaces, each in a file of its own that is included (variant_file.h), and one hook. nvcc's
// host pass has declarations of ours in their place (host_declarations.h): no variant's text
// becomes host code there. On the host device it is host code, and the whole of it is compiled;
// cupilot-nvcc looks into the object that comes of it (client/nvcc/variant_object.h). The
// compile has `-D__cudaLaunchKernel=<hook>` and
// `-D__cudaLaunchKernel_ptsz=<hook>` (HookDefinitions), so that every launch of a kernel of this
// object, however written and from wherever, comes to the hook with the kernel's handle, geometry
// and argument values. With a toolkit before 13 (or -D__NV_LEGACY_LAUNCH) the launcher functions
// call the public cudaLaunchKernel and pass their own address: the same text has a better overload
// for them (HookStubs). What the user's source calls by name, cudaLaunchKernel and
// cudaLaunchKernelEx(C), comes to two more functions, <hook>_call and <hook>_call_ex, which do the
// same for the kernels of this object: by macros in the text, since nvcc writes the plain name into
// the host code of templates after preprocessing. Launches with attributes and cooperative ones
// stay the original's.
//
// The hook runs the first variant whose target is the loaded image's, whose device is right, whose
// guard holds and whose launches are legal; else the original, unchanged. It adds to each guard:
// the original launch is legal, no error of the program's is pending (but for a variant of one
// launch that the driver launches, which leaves it alone), no pointer argument is null unless the
// guard asks is_null of it, and the stream is not capturing: the nodes of a graph are read,
// recognised and set again in ways that a hook in this object cannot see (other objects, libraries,
// the driver), and what they hold is then right with the original only. A compile with
// -DCUPILOT_TUNED_GRAPHS (`cupilot_tune(... GRAPHS tuned)`) says that nobody does, and lets
// variants of one launch without a workspace and with the original's arguments be captured.
// Everything else that bounds the evidence (boxes of scalars, disjoint ranges) must be in the
// published guard's text.
//
// Pure functions; the text depends on nothing but the arguments.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::source {

struct SwappedVariant {
  records::Variant variant;
  std::string target;                // "compute_90,sm_90" | "compute_80,compute_80" | "host-..."
  std::vector<std::string> devices;  // names; empty: any of the target
  std::string guard;                 // the published one; empty: always
  std::string title;                 // of the strategy
  double speedup = 1.0;
};

struct SwappedKernel {
  records::Kernel kernel;
  std::vector<SwappedVariant> variants;  // the first that fits is taken
};

struct SwapRequest {
  std::string source;  // the user's file, absolute
  std::string unit;    // names the object among all of a program: its folder's path, say
  std::vector<SwappedKernel> kernels;
  // The user's macros that are live at the end of the file: the hook stands behind it.
  std::set<std::string> user_macros = {};
};

struct SwappedText {
  std::string file_name;
  std::string text;
  bool operator==(const SwappedText&) const = default;
};

struct SwappedSource {
  std::string text;
  std::string hook;       // "cupilot_hook_<16 digits>"
  std::string file_name;  // "swap.<hash of the text>.cu"
  // What `text` includes from the same folder: "variant.<hash of the text>.cu".
  std::vector<SwappedText> variants;

  // All of it, in the order in which it is to be written: what is included first.
  std::vector<SwappedText> Files() const;
};

// kInvalidArgument: an expression, a name or a type in a variant is not what it may be (the message
// names the variant); kUnsupported: clusters, cooperative launches, tensor maps and constants.
base::Result<SwappedSource> WriteSwappedSource(const SwapRequest& request);

// The options that a compile of the swapped source needs.
std::vector<std::string> HookDefinitions(const std::string& hook);

}  // namespace cupilot::source
