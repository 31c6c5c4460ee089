#include "agents/back_off.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>

namespace cupilot::agents {
namespace {

std::optional<double> NumberOf(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value > 1e9) return std::nullopt;
  return value;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", in seconds since the epoch; by hand, since strptime reads names
// by the locale.
std::optional<std::int64_t> DateOf(const std::string& text) {
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm date{};
  std::array<char, 4> month{};
  if (std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &date.tm_mday, month.data(),
                  &date.tm_year, &date.tm_hour, &date.tm_min, &date.tm_sec) != 6) {
    return std::nullopt;
  }
  const auto found = std::find_if(kMonths.begin(), kMonths.end(), [&month](const char* name) {
    return std::strcmp(name, month.data()) == 0;
  });
  if (found == kMonths.end()) return std::nullopt;
  date.tm_mon = static_cast<int>(found - kMonths.begin());
  date.tm_year -= 1900;
  return ::timegm(&date);
}

}  // namespace

std::optional<std::chrono::milliseconds> WaitBefore(const BackOff& back_off,
                                                    const ModelError& error, int sent,
                                                    double random) {
  const bool for_nothing = error.why == Failure::kRateLimited ||
                           error.why == Failure::kOverloaded || error.why == Failure::kUnreachable;
  if (!for_nothing || error.may_cost || sent >= back_off.attempts) return std::nullopt;
  const double doubled =
      static_cast<double>(back_off.first.count()) * std::ldexp(1.0, std::max(0, sent - 1));
  const double most = std::min(doubled, static_cast<double>(back_off.longest.count()));
  const auto part = [random](double whole) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(whole * random));
  };
  if (!error.retry_after) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(most / 2)) + part(most / 2);
  }
  if (*error.retry_after > back_off.longest_wish) return std::nullopt;
  // Others were told the same time: not all of us at once.
  return *error.retry_after + part(static_cast<double>(back_off.first.count()));
}

std::optional<std::chrono::milliseconds> RetryAfter(
    const std::map<std::string, std::string>& headers, std::chrono::nanoseconds now) {
  if (const auto found = headers.find("retry-after-ms"); found != headers.end()) {
    if (const auto number = NumberOf(found->second)) {
      return std::chrono::milliseconds(static_cast<std::int64_t>(*number));
    }
  }
  const auto found = headers.find("retry-after");
  if (found == headers.end()) return std::nullopt;
  if (const auto seconds = NumberOf(found->second)) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  const auto date = DateOf(found->second);
  if (!date) return std::nullopt;
  const auto until =
      std::chrono::seconds(*date) - std::chrono::duration_cast<std::chrono::milliseconds>(now);
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::duration_cast<std::chrono::milliseconds>(until));
}

}  // namespace cupilot::agents
