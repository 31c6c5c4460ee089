#include "schedule.h"

#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>

#include "cupilot_host_schedule.h"
#include "failure.h"

namespace cupilot_host {
namespace {

constexpr unsigned int kLanes = 32;
constexpr std::string_view kShuffled = "blocks-shuffled=";

bool ReadWord(std::string_view word, Schedule& schedule) {
  schedule.one_block = true;
  if (word == "one-block") return true;
  if (word == "threads-forward" || word == "threads-reversed" || word == "warps-reversed") {
    if (schedule.threads != ThreadOrder::kAny) return false;
    schedule.threads = word == "threads-forward"    ? ThreadOrder::kForward
                       : word == "threads-reversed" ? ThreadOrder::kReversed
                                                    : ThreadOrder::kWarpsReversed;
    return true;
  }
  if (schedule.blocks != BlockOrder::kForward) return false;
  if (word == "blocks-reversed") {
    schedule.blocks = BlockOrder::kReversed;
    return true;
  }
  if (!word.starts_with(kShuffled)) return false;
  const std::string digits(word.substr(kShuffled.size()));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  schedule.blocks = BlockOrder::kShuffled;
  schedule.seed = std::strtoul(digits.c_str(), nullptr, 10);
  return true;
}

bool Parse(std::string_view text, Schedule& schedule) {
  constexpr std::string_view kBetween = " ,";
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(kBetween, at);
    if (!ReadWord(text.substr(at, end - at), schedule)) return false;
    at = text.find_first_not_of(kBetween, end);
  }
  return true;
}

Schedule& Current() {
  static Schedule schedule = [] {
    Schedule read;
    const char* text = std::getenv("CUPILOT_HOST_SCHEDULE");
    if (text != nullptr && !Parse(text, read)) Die("CUPILOT_HOST_SCHEDULE is not understood");
    return read;
  }();
  return schedule;
}

// Of the seed alone (splitmix64).
unsigned long Mixed(unsigned long seed) {
  unsigned long z = seed + 0x9e3779b97f4a7c15ul;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
  return z ^ (z >> 31);
}

}  // namespace

// Shuffled: steps of a length that has no factor in common with the count come to every block once.
unsigned long Schedule::BlockAt(unsigned long position, unsigned long count) const {
  if (blocks == BlockOrder::kForward || count < 2) return position;
  if (blocks == BlockOrder::kReversed) return count - 1 - position;
  unsigned long step = Mixed(seed) % count;
  while (std::gcd(step, count) != 1) step = (step + 1) % count;
  const unsigned long first = Mixed(seed + 1) % count;
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long>((static_cast<Wide>(position) * step + first) % count);
}

unsigned int Schedule::ThreadAt(unsigned int position, unsigned int count) const {
  if (threads == ThreadOrder::kReversed) return count - 1 - position;
  if (threads != ThreadOrder::kWarpsReversed) return position;
  // The last warp, which comes first, may be shorter.
  const unsigned int warps = (count + kLanes - 1) / kLanes;
  const unsigned int last = count - (warps - 1) * kLanes;
  if (position < last) return (warps - 1) * kLanes + position;
  const unsigned int behind = position - last;
  return (warps - 2 - behind / kLanes) * kLanes + behind % kLanes;
}

const Schedule& CurrentSchedule() { return Current(); }

}  // namespace cupilot_host

extern "C" int cupilot_host_set_schedule(const char* text) {
  cupilot_host::Schedule schedule;
  if (!cupilot_host::Parse(text, schedule)) return 1;
  cupilot_host::Current() = schedule;
  return 0;
}
