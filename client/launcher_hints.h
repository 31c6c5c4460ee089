// What a build brought, in one line at its end, for users who ask for it (`hints` of the settings:
// CMake then leaves a file `hints` in ROOT, without which nothing is noted).
#pragma once

#include <string>
#include <vector>

#include "records/selection.h"

namespace cupilot::client {

// After a compile of the object with this folder: notes which of its kernels are faster than what
// it held before. `kernels`: what it holds now; empty: the originals. `root`: the folder `cupilot`
// of the build tree.
void NoteForHints(const std::string& root, const std::string& folder,
                  const std::vector<records::SelectedKernel>& kernels);

// cupilot-launcher --hints ROOT, after a link: says on standard output what was noted since the
// last time, once.
void ShowHints(const std::string& root);

}  // namespace cupilot::client
