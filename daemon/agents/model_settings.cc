#include "agents/model_settings.h"

#include <cmath>

namespace cupilot::agents {

ModelSettings ReadModelSettings(const records::Json& settings) {
  const auto dollars = [&settings](const char* key) {
    return static_cast<NanoDollars>(std::llround(settings[key].get<double>() * 1e9));
  };
  ModelSettings result;
  result.models = settings["models"].get<std::string>();
  result.limits.kernel = dollars("model_dollars_per_kernel");
  result.limits.day = dollars("model_dollars_per_day");
  result.limits.month = dollars("model_dollars_per_month");
  result.requests = static_cast<std::int64_t>(settings["model_requests_per_kernel"].get<double>());
  result.begin_share = settings["model_begin_percent"].get<double>() / 100;
  result.votes = static_cast<int>(settings["model_votes"].get<double>());
  result.allow_unknown_price = settings["model_unknown_price"].get<bool>();
  result.kept_bytes =
      static_cast<std::uint64_t>(settings["model_exchanges_gigabytes"].get<double>() * 0x1p30);
  return result;
}

}  // namespace cupilot::agents
