// Keys of `cupilot watch`: bytes to keys, and what a key does. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/watch/state.h"

namespace cupilot::client {

enum class Key {
  kOther,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kPause,
  kSnooze,
  kQuit,
  kRedraw,
};

// A terminal sends Escape alone for the key, and first for arrows and others.
class KeyReader {
 public:
  std::vector<Key> Feed(std::string_view bytes);
  // A sequence has begun: if nothing follows soon (over a network it may take a while), it was the
  // key.
  bool pending() const { return !pending_.empty(); }
  std::vector<Key> EndPending();

 private:
  std::string pending_;
};

// What is to be done outside of the state.
enum class WatchAction { kNone, kQuit, kPause, kResume, kSnooze, kExplain, kRedraw };

// `page`: PageOf().
WatchAction Press(Key key, std::size_t page, WatchState& state);

}  // namespace cupilot::client
