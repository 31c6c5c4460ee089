// The file of its own in which a variant's text stands beside a swapped source: what a debugger
// shows and to what the lines of a profile lead. It is named by its content, never changed once
// written, and the swapped source includes it by that name. Pure functions of their arguments.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

// `places`: the rows of `kernel` that hold this one variant, one for each target and device that it
// is proven for; at least one. Errors are those of VariantText.
base::Result<SwappedText> WriteVariantFile(const SwapRequest& request, const SwappedKernel& kernel,
                                           const std::vector<const SwappedVariant*>& places);

// The line of a swapped source that brings it in, with its end.
std::string IncludeOf(const SwappedText& file);

// The names of all such files that a swapped source includes.
std::vector<std::string> VariantFilesOf(const std::string& swapped_text);

// Whether the bytes are those that the name promises.
bool IsVariantFile(const std::string& name, const std::string& bytes);

}  // namespace cupilot::source
