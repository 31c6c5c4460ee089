#include "client/watch/state.h"

#include <algorithm>
#include <utility>

#include "client/output.h"

namespace cupilot::client {

using records::Json;

bool WatchState::paused() const { return TextOf(status, "idle_reason") == "snoozed"; }

WatchedKernel KernelOf(const Json& row) { return {TextOf(row, "kernel"), TextOf(row, "project")}; }

void Adopt(Json rows, WatchState& state) {
  if (!rows.is_array()) rows = Json::array();
  if (state.selected < state.rows.size()) {
    const WatchedKernel kept = KernelOf(state.rows[state.selected]);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Json& row) { return KernelOf(row) == kept; });
    if (found != rows.end()) state.selected = static_cast<std::size_t>(found - rows.begin());
  }
  state.rows = std::move(rows);
  state.rows_known = true;
  state.selected = std::min(state.selected, state.rows.empty() ? 0 : state.rows.size() - 1);
}

Json OpenedRow(const WatchState& state) {
  for (const Json& row : state.rows) {
    if (KernelOf(row) == state.opened) return row;
  }
  return Json::object();
}

}  // namespace cupilot::client
