// Tags and the kernels they stand above: finding the pairs, and turning a tag into what a kernel's
// record says (workload cases, tunables, launch line, tolerance).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/kernel.h"
#include "source/substitute.h"
#include "source/syntax/preprocess.h"
#include "source/syntax/tree.h"
#include "source/tag_parser.h"

namespace cupilot::source {

// Where the bytes of a preprocessed text say that they come from (line markers).
class Places {
 public:
  explicit Places(std::string_view text);
  struct Place {
    std::string file;
    int line = 0;
  };
  Place At(std::uint32_t offset) const;
  // "file:line".
  std::string Name(std::uint32_t offset) const;

 private:
  struct Marker {
    std::uint32_t offset;  // of the line after the marker
    std::string file;
    int line;
  };
  std::string_view text_;
  std::vector<Marker> markers_;
};

struct TaggedKernel {
  NodeId kernel = kNone;  // the definition, or kNone if only a declaration was found
  Tag tag;
  std::string error;  // the first bad directive: "file:line: ..."
};

struct TagReport {
  std::vector<TaggedKernel>
      kernels;  // in the order of the text; those with a `tune` directive only
  std::vector<std::string> warnings;  // tags above nothing, tags without `tune`
};

// A tag belongs to the next declaration of its file, if that is a kernel.
TagReport AttachTags(const Preprocessed& source, const Tree& tree, const Places& places);

// The tag with values in the place of these names in its expressions (the integer parameters of an
// instantiated template).
Tag WithValues(Tag tag, const NamedValues& values);

// Fills tunables, require, launch_*, cases and tolerance of a kernel whose parameters and globals
// are known. kInvalidArgument "file:line: ..." for what does not fit the kernel.
base::Result<> ApplyTag(const Tag& tag, const std::vector<UserMacro>& macros,
                        records::Kernel& kernel);

}  // namespace cupilot::source
