// What must not leave this machine is taken out of texts before they are sent, and out of what is
// kept of them: keys and tokens, e-mail addresses, the user's paths. Finding them is a matter of
// known forms; what looks like anything else stays.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"

namespace cupilot::agents {

class Redactor {
 public:
  struct Rules {
    // Absolute folders and what stands in their place: {"/data/me/project", "<project>"}. Home
    // folders (/home/NAME, /Users/NAME, /root) become "<home>" without being named here.
    std::vector<std::pair<std::string, std::string>> folders;
    std::vector<base::Secret> secrets;  // taken out wherever they stand
  };

  Redactor() = default;
  explicit Redactor(Rules rules);

  // A pure function of the rules and the text; what it made it leaves as it is. Time and memory are
  // linear in the text, for each folder and secret.
  std::string operator()(std::string_view text) const;

 private:
  Rules rules_;
};

}  // namespace cupilot::agents
