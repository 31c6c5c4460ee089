#include "evaluate/new_losses.h"

#include <algorithm>
#include <set>

namespace cupilot::evaluate {
namespace {

std::string KindOf(const std::string& loss) { return loss.substr(0, loss.find(' ')); }

std::string Describe(const std::string& loss) {
  const std::string kind = KindOf(loss), instruction = loss.substr(loss.find(' ') + 1);
  if (kind == "approximate") return "computes approximately (" + instruction + ")";
  if (kind == "ftz") return "flushes what is tiny to zero (" + instruction + ")";
  return "rounds to " + kind + " (" + instruction + ")";
}

}  // namespace

std::string NewLosses(const protocol::BuildReply& build, const std::vector<std::string>& entries,
                      bool tolerated, const Losses& of_original) {
  const auto is_own = [&](const std::string& kernel) {
    return std::find(entries.begin(), entries.end(), kernel) != entries.end();
  };
  const bool compared = std::any_of(build.text_hashes.begin(), build.text_hashes.end(),
                                    [&](const auto& kernel) { return !is_own(kernel.first); });
  if (!compared) return {};
  std::set<std::string> known;
  for (const Losses* losses : {&build.losses, &of_original}) {
    for (const auto& [kernel, loss] : *losses) {
      if (!is_own(kernel)) known.insert(KindOf(loss));
    }
  }
  for (const auto& [kernel, loss] : build.losses) {
    const std::string kind = KindOf(loss);
    const bool format = kind != "approximate" && kind != "ftz";
    if (!is_own(kernel) || known.contains(kind) || (format && tolerated)) continue;
    return "'" + kernel + "' " + Describe(loss) + ", which the original does not";
  }
  return {};
}

}  // namespace cupilot::evaluate
