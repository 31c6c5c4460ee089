// The keys of services: from the environment, from a file that is the user's alone, or from
// systemd. They are nowhere else: no setting holds one, and no message.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace cupilot::agents {

// Where one may be; empty: not there. Looked at in this order.
struct KeySource {
  std::string variable;    // of the environment: "OPENAI_API_KEY"
  std::string file;        // a path; only its owner, who is this user, may read it (0600, 0400)
  std::string credential;  // a file's name in $CREDENTIALS_DIRECTORY, where systemd puts them
};

// kNotFound with the places where it could be, kUnavailable for a file that others can read or that
// is none of ours, kInvalidArgument for what cannot be a key (empty, not one word of printable
// ASCII). Messages name variables and files, never what is in them.
//
// A variable that was used is removed from this process's environment, so that workers and what
// they run do not inherit it: to be called before there are other threads.
base::Result<base::Secret> TakeKey(const KeySource& source);

// Keys that were taken, for whoever needs the same one again. On one thread.
class KeyRing {
 public:
  // As TakeKey; a key that was found is the same each time.
  base::Result<base::Secret> Take(const KeySource& source);

 private:
  std::map<std::string, base::Secret> taken_;  // by the places
};

}  // namespace cupilot::agents
