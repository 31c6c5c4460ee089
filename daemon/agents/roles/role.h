// What the roles of language models have in common. A role turns values into a request and the
// answer's text into a value or a complaint: pure, no I/O, any thread. What a model writes stays
// what the reader of its role makes of it; it never becomes a setting, a path, a verdict or a
// number that counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "agents/provider.h"

namespace cupilot::agents {

// Who is asked, and for whom: what a request has that no role decides.
struct RoleSettings {
  std::string model;            // as the provider names it
  std::int64_t max_tokens = 0;  // of the answer, thinking included; 0: the role's own
  std::optional<double> temperature;
  std::optional<std::int64_t> seed;
  int sample = 0;       // which of several answers to the same question
  std::string project;  // as in ModelRequest
};

// Why an answer cannot be used, in words for who gave it; at most kMostComplaint bytes of UTF-8.
struct Complaint {
  std::string message;  // "strategies[0].steps[1].technique: ..."
  bool operator==(const Complaint&) const = default;
};
inline constexpr std::size_t kMostComplaint = 2000;

template <class T>
using Answer = tl::expected<T, Complaint>;

inline tl::unexpected<Complaint> Complain(std::string message) {
  if (message.size() > kMostComplaint) {
    std::size_t end = kMostComplaint;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80) --end;
    message.resize(end);
  }
  return tl::unexpected<Complaint>(Complaint{std::move(message)});
}

// The same question again with what was wrong with its answer; nothing for a request that is such a
// repair itself: an answer is repaired once. `answer` is data in it, and bounded.
std::optional<ModelRequest> RepairRequest(const ModelRequest& request, const std::string& answer,
                                          const Complaint& complaint);
bool IsRepair(const ModelRequest& request);

}  // namespace cupilot::agents
