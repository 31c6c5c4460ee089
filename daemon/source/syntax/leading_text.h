// What a source begins with, preprocessed once for all values of its macros: the headers of the
// command and of its first lines are nearly all of the text, and the same for each of a kernel's
// candidates.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "source/syntax/preprocess.h"

namespace cupilot::source {

class LeadingText {
 public:
  // Null: files of the user are among it, or clang cannot be run. As long as Preprocess().
  static std::shared_ptr<const LeadingText> Read(std::string_view text,
                                                 const PreprocessOptions& options);
  virtual ~LeadingText() = default;

  // Whether what follows can be preprocessed apart from it: not where a macro's name stands in the
  // headers, nor where the rest may ask for a header again that says that it comes once.
  virtual bool Leaves(std::string_view text, const std::vector<std::string>& names) const = 0;
  // As Preprocess() of the same text, with `options` that differ from those before in macros of
  // these names alone; the same but for blanks and line markers. Of macros, comments and branches
  // nothing is told that stands in the headers, as there. Thread-safe.
  virtual base::Result<Preprocessed> Continue(std::string_view text,
                                              const PreprocessOptions& options) const = 0;
};

}  // namespace cupilot::source
