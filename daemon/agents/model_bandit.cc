#include "agents/model_bandit.h"

#include <algorithm>
#include <cmath>

namespace cupilot::agents {

std::size_t ChooseModel(const std::vector<ModelArm>& arms, const BanditSettings& settings,
                        double random) {
  const auto price_of = [&settings](const ModelArm& arm) {
    return std::max(0.0, arm.price) + settings.other_price;
  };
  if (random < settings.explore) {
    const double part = random / settings.explore;
    return std::min(arms.size() - 1,
                    static_cast<std::size_t>(part * static_cast<double>(arms.size())));
  }
  double all = 1;
  for (const ModelArm& arm : arms) all += arm.requests;
  const auto worth = [&](const ModelArm& arm) {
    const double requests = arm.requests + settings.believed_requests;
    const double gain = (arm.gain + settings.believed_gain * settings.believed_requests) / requests;
    // The scale of gains is that of the believed one; half of it did best in made-up afternoons.
    const double unsure = settings.believed_gain / 2 * std::sqrt(2 * std::log(all) / requests);
    return (gain + unsure) / price_of(arm);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (worth(arms[i]) > worth(arms[best])) best = i;
  }
  return best;
}

}  // namespace cupilot::agents
