#include "client/watch/keys.h"

#include <algorithm>
#include <utility>

namespace cupilot::client {
namespace {

Key KeyOfLetter(char letter) {
  switch (letter) {
    case '\r':
    case '\n':
      return Key::kEnter;
    case 'k':
      return Key::kUp;
    case 'j':
      return Key::kDown;
    case ' ':
      return Key::kPageDown;
    case 'b':
      return Key::kPageUp;
    case 'g':
      return Key::kHome;
    case 'G':
      return Key::kEnd;
    case 'p':
      return Key::kPause;
    case 's':
      return Key::kSnooze;
    case 'q':
    case '\x03':  // where the terminal does not make a signal of it
    case '\x04':
      return Key::kQuit;
    case '\x0c':
      return Key::kRedraw;
    default:
      return Key::kOther;
  }
}

// What follows Escape, with its end.
Key KeyOfSequence(std::string_view sequence) {
  static constexpr std::pair<std::string_view, Key> kSequences[] = {
      {"[A", Key::kUp},      {"OA", Key::kUp},        {"[B", Key::kDown},   {"OB", Key::kDown},
      {"[5~", Key::kPageUp}, {"[6~", Key::kPageDown}, {"[H", Key::kHome},   {"OH", Key::kHome},
      {"[1~", Key::kHome},   {"[F", Key::kEnd},       {"OF", Key::kEnd},    {"[4~", Key::kEnd},
      {"[7~", Key::kHome},   {"[8~", Key::kEnd},      {"[D", Key::kEscape}, {"OD", Key::kEscape},
      {"[C", Key::kEnter},   {"OC", Key::kEnter},     {"OM", Key::kEnter},
  };
  for (const auto& [text, key] : kSequences) {
    if (text == sequence) return key;
  }
  return Key::kOther;
}

// Of what follows Escape: '[' then parameters and a final byte, 'O' and one byte, or one byte.
bool IsWhole(std::string_view sequence) {
  if (sequence.empty()) return false;
  if (sequence[0] == 'O') return sequence.size() == 2;
  if (sequence[0] != '[') return true;
  const char last = sequence.back();
  return sequence.size() > 1 && last >= 0x40 && last <= 0x7e;
}

constexpr std::size_t kLongest = 32;  // of a sequence that is one
// Of an explanation: how many they are is known when they are drawn, and limited there.
constexpr std::size_t kManyLines = 1 << 20;

void MoveBy(std::ptrdiff_t by, std::size_t count, std::size_t& at) {
  const auto last = static_cast<std::ptrdiff_t>(count == 0 ? 0 : count - 1);
  at = static_cast<std::size_t>(
      std::clamp(static_cast<std::ptrdiff_t>(at) + by, std::ptrdiff_t{0}, last));
}

}  // namespace

std::vector<Key> KeyReader::Feed(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char byte : bytes) {
    if (byte == '\x1b') {
      if (!pending_.empty()) keys.push_back(Key::kEscape);  // twice the key
      pending_ = byte;
    } else if (pending_.empty()) {
      keys.push_back(KeyOfLetter(byte));
    } else {
      pending_ += byte;
      const std::string_view sequence = std::string_view(pending_).substr(1);
      if (!IsWhole(sequence) && sequence.size() < kLongest) continue;
      // With Alt a letter comes behind Escape: that is no key of ours.
      keys.push_back(KeyOfSequence(sequence));
      pending_.clear();
    }
  }
  return keys;
}

std::vector<Key> KeyReader::EndPending() {
  if (pending_.empty()) return {};
  const Key key = pending_.size() == 1 ? Key::kEscape : Key::kOther;
  pending_.clear();
  return {key};
}

WatchAction Press(Key key, std::size_t page, WatchState& state) {
  const std::size_t count = state.details ? kManyLines : state.rows.size();
  std::size_t& at = state.details ? state.scroll : state.selected;
  const auto far = static_cast<std::ptrdiff_t>(std::max<std::size_t>(page, 1));
  state.notice.clear();
  switch (key) {
    case Key::kUp:
      MoveBy(-1, count, at);
      return WatchAction::kNone;
    case Key::kDown:
      MoveBy(1, count, at);
      return WatchAction::kNone;
    case Key::kPageUp:
      MoveBy(-far, count, at);
      return WatchAction::kNone;
    case Key::kPageDown:
      MoveBy(far, count, at);
      return WatchAction::kNone;
    case Key::kHome:
      at = 0;
      return WatchAction::kNone;
    case Key::kEnd:
      MoveBy(static_cast<std::ptrdiff_t>(count), count, at);
      return WatchAction::kNone;
    case Key::kEnter:
      if (state.details || state.selected >= state.rows.size()) return WatchAction::kNone;
      state.details = true;
      state.opened = KernelOf(state.rows[state.selected]);
      state.explanation.clear();
      state.scroll = 0;
      return WatchAction::kExplain;
    case Key::kEscape:
      state.details = false;
      return WatchAction::kNone;
    case Key::kQuit:
      if (!state.details) return WatchAction::kQuit;
      state.details = false;
      return WatchAction::kNone;
    case Key::kPause:
      return state.paused() ? WatchAction::kResume : WatchAction::kPause;
    case Key::kSnooze:
      return WatchAction::kSnooze;
    case Key::kRedraw:
      return WatchAction::kRedraw;
    case Key::kOther:
      return WatchAction::kNone;
  }
  return WatchAction::kNone;
}

}  // namespace cupilot::client
