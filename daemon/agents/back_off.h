// How long to wait before a request is sent again. A pure function of what happened and a random
// number.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "agents/provider.h"

namespace cupilot::agents {

struct BackOff {
  int attempts = 4;                       // requests sent for one answer, the first included
  std::chrono::milliseconds first{1000};  // the longest wait after the first attempt
  std::chrono::milliseconds longest{60000};
  // A provider that wants us to wait longer than this is left to whoever asked.
  std::chrono::milliseconds longest_wish{600000};
};

// The wait before attempt `sent` + 1, or nothing: it is not to be sent again. Only what cost
// nothing is: too many requests, a provider that fails for now, no connection. The wait doubles
// with each attempt up to `longest` and is drawn by `random` from [0, 1) out of its upper half;
// where the provider said how long, that long and a little more.
std::optional<std::chrono::milliseconds> WaitBefore(const BackOff& back_off,
                                                    const ModelError& error, int sent,
                                                    double random);

// What the headers (names in lower case) say of when to come back: `retry-after-ms`, or
// `retry-after` in seconds or as a date (RFC 9110), of which `now` since the epoch is taken.
std::optional<std::chrono::milliseconds> RetryAfter(
    const std::map<std::string, std::string>& headers, std::chrono::nanoseconds now);

}  // namespace cupilot::agents
