// The launcher's side of lock files: which one a target names, and which objects are compiled again
// when it says something else.
#pragma once

#include <string>

#include "records/compile_command.h"
#include "source/swap/lock_choice.h"

namespace cupilot::client {

// What the lock file of the target says for this compile; LockChoice::there is false where the
// target names none, or there is none. `root`: the folder `cupilot` of the build tree.
source::LockChoice AskLock(const std::string& root, const std::string& target,
                           const records::CompileCommand& command);

// cupilot-launcher --lock ROOT, at configure: touches the stamps of the objects for which their
// lock file says something else than when they were compiled. Complains about lock files that
// cannot be read, and sources that are not there, on standard output: a line each.
void LookAtLocks(const std::string& root);

}  // namespace cupilot::client
