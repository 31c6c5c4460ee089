// The picture that `cupilot watch` shows: a pure function of its state and the terminal.
#pragma once

#include <string>
#include <vector>

#include "client/watch/state.h"
#include "client/watch/text.h"

namespace cupilot::client {

enum class Style { kPlain, kHead, kSelected, kGood, kBusy, kBad, kFaint };

struct Span {
  std::string text;
  Style style = Style::kPlain;
};
using ShownLine = std::vector<Span>;

struct ViewSize {
  int columns = 80;
  int rows = 24;
  friend bool operator==(const ViewSize&, const ViewSize&) = default;
};

// At most size.rows lines of at most size.columns. Scrolls the state so that what is selected is
// seen.
std::vector<ShownLine> Picture(WatchState& state, ViewSize size, Charset charset);

// For what is no terminal: the same without keys, selection, and what changes all the time by
// itself; as many lines as it takes.
std::vector<std::string> PlainPicture(const WatchState& state, int columns, Charset charset);

// Rows of kernels, or lines of an explanation, that Picture() shows at once.
std::size_t PageOf(const WatchState& state, ViewSize size, Charset charset);

}  // namespace cupilot::client
