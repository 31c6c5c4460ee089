#include "client/watch/view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "client/kernel_names.h"
#include "client/output.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr int kMostNow = 3;    // lines of what is in work
constexpr int kFullRows = 14;  // with fewer, only what cannot be left out is shown

std::string ShareText(double share) {
  return std::to_string(std::lround(std::clamp(share, 0.0, 1.0) * 100)) + " %";
}

std::string StateText(const Json& status) {
  std::string text = TextOf(status, "state");
  if (const std::string reason = TextOf(status, "idle_reason"); !reason.empty()) {
    text += ": " + reason;
  }
  if (const std::string until = TextOf(status, "snoozed_until"); !until.empty()) {
    text += " until " + until;
  }
  return text;
}

Style StyleOfState(const std::string& state) {
  if (state == "tuning") return Style::kBusy;
  if (state == "done") return Style::kGood;
  return state == "declined" ? Style::kBad : Style::kFaint;
}

ShownLine HeadLine(const WatchState& state, bool plain) {
  ShownLine line = {{"cuPilot " + TextOf(state.status, "version") + "  ", Style::kHead}};
  if (!state.trouble.empty()) {
    line.push_back({state.trouble, Style::kBad});
    return line;
  }
  if (state.status.empty()) {
    line.push_back({"asking the daemon", Style::kFaint});
    return line;
  }
  const bool tuning = TextOf(state.status, "state") == "tuning";
  line.push_back({StateText(state.status), tuning ? Style::kGood : Style::kBusy});
  if (!plain) {
    line.push_back({"  up " + Duration(NumberOf(state.status, "uptime_seconds")), Style::kFaint});
  }
  return line;
}

std::string SpentText(const Json& status) {
  const Json counters = ObjectOf(status, "counters");
  std::string text = "evaluations " + CountOf(counters, "evaluations") + ", accepted " +
                     CountOf(counters, "accepted") + ", published " +
                     CountOf(counters, "published");
  if (const Json models = ObjectOf(status, "models"); !models.empty()) {
    char cost[48];
    std::snprintf(cost, sizeof cost, "$%.4f", NumberOf(models, "dollars"));
    text += "; models: " + CountOf(models, "requests") + " requests, " + cost;
  }
  return text;
}

// A device and why it is busy or idle.
ShownLine DeviceLine(const Json& device, const Json& status) {
  const std::string name = TextOf(device, "name");
  ShownLine line = {{TextOf(device, "device"), Style::kHead},
                    {(name.empty() ? "" : " " + name) + " (" + TextOf(device, "arch") + ")  "}};
  const std::string use = TextOf(device, "state");
  if (use.empty()) {  // the host: nobody shares it with us knowingly
    const Json worker = ObjectOf(ObjectOf(status, "workers"), "device");
    const bool busy = NumberOf(worker, "running") > 0;
    line.push_back({busy ? "busy" : "idle", busy ? Style::kGood : Style::kFaint});
    return line;
  }
  const std::string why = TextOf(device, "why");
  const bool ours = use == "free";
  line.push_back({use + (why.empty() ? "" : ": " + why), ours                  ? Style::kGood
                                                         : use == "not needed" ? Style::kFaint
                                                                               : Style::kBusy});
  if (ours) {
    line.push_back({", " + ShareText(NumberOf(device, "busy_share")) + " busy, " +
                    CountOf(device, "waiting") + " waiting, " + CountOf(device, "builds_waiting") +
                    " builds waiting"});
  }
  return line;
}

std::vector<ShownLine> DeviceLines(const Json& status) {
  std::vector<ShownLine> lines;
  for (const Json& device : ListOf(status, "devices")) {
    // A daemon that has just begun does not know them yet.
    if (!TextOf(device, "device").empty()) lines.push_back(DeviceLine(device, status));
  }
  if (const std::string none = TextOf(status, "no_gpu"); !none.empty()) {
    lines.push_back({{"no GPU: " + none, Style::kFaint}});
  }
  return lines;
}

std::vector<ShownLine> NowLines(const Json& status) {
  std::vector<ShownLine> lines;
  if (const Json capture = ObjectOf(status, "capturing"); !capture.empty()) {
    lines.push_back(
        {{"now: the test '" + TextOf(capture, "test") + "' shows what kernels are run on"}});
  }
  const Json now = ListOf(status, "now");
  for (const Json& job : now) {
    if (lines.size() == kMostNow && now.size() > kMostNow) {
      lines.push_back({{"     and " + std::to_string(now.size() - kMostNow) + " more"}});
      break;
    }
    const std::string title = TextOf(job, "title");
    lines.push_back({{"now: " + TextOf(job, "kernel") + ", " + TextOf(job, "stage") +
                      (title.empty() ? "" : ", " + title)}});
  }
  return lines;
}

std::string BudgetText(const Json& row) {
  const Json budget = ObjectOf(row, "budget");
  if (budget.empty()) return "-";
  const auto share = [&](const char* used, const char* of) {
    const double all = NumberOf(budget, of);
    return all > 0 ? NumberOf(budget, used) / all : 0;
  };
  return ShareText(
      std::max(share("seconds", "of_seconds"), share("evaluations", "of_evaluations")));
}

std::vector<double> CurveOf(const Json& row) {
  std::vector<double> values;
  for (const Json& value : ListOf(row, "curve")) {
    if (value.is_number()) values.push_back(value.get<double>());
  }
  return values;
}

// Widths of the columns of the kernels' table; 0: it is left out.
struct TableWidths {
  int kernel = 0, state = 11, best = 7, tried = 6, budget = 6, curve = 0;
};

TableWidths ColumnsFor(const WatchState& state, int columns, Charset charset) {
  constexpr int kMarker = 2, kGap = 2;
  TableWidths widths;
  int longest = 6;
  for (const std::string& name : KernelNames(state.rows)) {
    longest = std::max(longest, Columns(name, charset));
  }
  const auto taken = [&] {
    int sum = kMarker;
    for (const int width : {widths.state, widths.best, widths.tried, widths.budget}) {
      sum += width > 0 ? width + kGap : 0;
    }
    return sum;
  };
  if (columns < 64) widths.budget = 0;
  if (columns < 52) widths.tried = 0;
  if (columns < 40) widths.state = 0;
  if (columns < 26) widths.best = 0;
  const int rest = std::max(0, columns - taken());
  if (columns < 52) {
    widths.kernel = rest;
    return widths;
  }
  widths.kernel = std::min(longest, std::max(14, rest * 3 / 5));
  widths.curve = std::min(60, rest - widths.kernel - kGap);
  return widths;
}

ShownLine TableHead(const TableWidths& widths, Charset charset) {
  std::string text = "  " + Left("kernel", widths.kernel, charset);
  const auto add = [&](const char* name, int width, bool right) {
    if (width <= 0) return;
    text += "  " + (right ? Right(name, width, charset) : Left(name, width, charset));
  };
  add("state", widths.state, false);
  add("best", widths.best, true);
  add("tried", widths.tried, true);
  add("budget", widths.budget, true);
  add("best so far", widths.curve, false);
  return {{text, Style::kHead}};
}

ShownLine TableRow(const Json& row, const std::string& name, bool selected,
                   const TableWidths& widths, Charset charset) {
  const std::string state = TextOf(row, "state");
  const std::string best = SpeedupOf(row, "speedup");
  const std::string kernel = FitEnd(name, widths.kernel, charset);
  ShownLine line = {{(selected ? "> " : "  ") + Left(kernel, widths.kernel, charset),
                     selected ? Style::kSelected : Style::kPlain}};
  const auto add = [&](std::string text, int width, Style style) {
    if (width > 0) line.push_back({"  " + std::move(text), style});
  };
  add(Left(state, widths.state, charset), widths.state, StyleOfState(state));
  add(Right(best, widths.best, charset), widths.best, best == "-" ? Style::kFaint : Style::kGood);
  add(Right(CountOf(row, "tried"), widths.tried, charset), widths.tried, Style::kPlain);
  add(Right(BudgetText(row), widths.budget, charset), widths.budget, Style::kPlain);
  const std::vector<double> curve = CurveOf(row);
  if (curve.empty()) {  // why there is none is worth more than nothing
    add(Fit(TextOf(row, "why"), widths.curve, charset), widths.curve, Style::kFaint);
  } else {
    add(Sparkline(curve, widths.curve, charset), widths.curve, Style::kGood);
  }
  return line;
}

std::vector<ShownLine> TopLines(const WatchState& state, bool full, bool plain) {
  std::vector<ShownLine> lines = {HeadLine(state, plain)};
  if (state.status.empty() || !full) return lines;
  lines.push_back({{SpentText(state.status)}});
  for (ShownLine& line : DeviceLines(state.status)) lines.push_back(std::move(line));
  lines.push_back({});
  return lines;
}

ShownLine KeysLine(const WatchState& state, int columns) {
  const std::string pause = state.paused() ? "p resume" : "p pause";
  if (columns < 60)
    return {{(state.details ? "Esc back  " : "Enter open  ") + pause + "  s snooze  q " +
                 (state.details ? "back" : "quit"),
             Style::kFaint}};
  if (state.details) {
    return {{"Esc or q back  up/down scroll  " + pause + "  s snooze 1 h", Style::kFaint}};
  }
  return {{"up/down choose  Enter details  " + pause + "  s snooze 1 h  q quit", Style::kFaint}};
}

std::vector<ShownLine> BottomLines(const WatchState& state, bool full, int columns) {
  std::vector<ShownLine> lines;
  if (full) {
    lines.push_back({});
    for (ShownLine& line : NowLines(state.status)) lines.push_back(std::move(line));
  }
  if (!state.notice.empty()) lines.push_back({{state.notice, Style::kHead}});
  lines.push_back(KeysLine(state, columns));
  return lines;
}

ShownLine Fitted(const ShownLine& line, int columns, Charset charset) {
  ShownLine fitted;
  int left = columns;
  for (const Span& span : line) {
    std::string text = Fit(span.text, left, charset);
    left -= Columns(text, charset);
    fitted.push_back({std::move(text), span.style});
  }
  return fitted;
}

// The opened kernel: its curve, and what `cupilot explain` says.
std::vector<ShownLine> DetailsHead(const WatchState& state, int columns, Charset charset) {
  const Json row = OpenedRow(state);
  std::vector<ShownLine> lines = {
      {{state.opened.kernel, Style::kHead},
       {"  " + TextOf(row, "state"), StyleOfState(TextOf(row, "state"))}}};
  const std::vector<double> curve = CurveOf(row);
  if (!curve.empty()) {
    char end[32];
    std::snprintf(end, sizeof end, "  %.2fx", curve.back());
    lines.push_back(
        {{"best so far  "},
         {Sparkline(curve, std::max(8, std::min(60, columns - 24)), charset), Style::kGood},
         {end}});
  }
  lines.push_back(
      {{"tried " + CountOf(row, "tried") + ", of its budget used: " + BudgetText(row)}});
  lines.push_back({});
  return lines;
}

std::vector<ShownLine> DetailsBody(const WatchState& state, int columns, Charset charset) {
  std::vector<ShownLine> lines;
  for (const std::string& text : state.explanation) {
    for (std::string& part : Wrap(text, columns, charset)) lines.push_back({{std::move(part)}});
  }
  if (lines.empty()) lines.push_back({{"asking the daemon", Style::kFaint}});
  return lines;
}

std::vector<ShownLine> Body(const WatchState& state, int columns, Charset charset) {
  if (state.details) return DetailsBody(state, columns, charset);
  const TableWidths widths = ColumnsFor(state, columns, charset);
  std::vector<ShownLine> lines;
  lines.reserve(state.rows.size());
  const std::vector<std::string> names = KernelNames(state.rows);
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    lines.push_back(TableRow(state.rows[i], names[i], i == state.selected, widths, charset));
  }
  if (lines.empty() && state.rows_known) {
    lines.push_back({{"no tagged kernel is known; write `// cupilot: tune` above one and build"}});
  }
  return lines;
}

std::vector<ShownLine> Above(const WatchState& state, ViewSize size, Charset charset) {
  if (state.details) return DetailsHead(state, size.columns, charset);
  std::vector<ShownLine> lines = TopLines(state, size.rows >= kFullRows, false);
  if (!state.rows.empty() && size.rows >= 4) {
    lines.push_back(TableHead(ColumnsFor(state, size.columns, charset), charset));
  }
  return lines;
}

std::vector<ShownLine> Below(const WatchState& state, ViewSize size) {
  if (state.details) {
    std::vector<ShownLine> lines = {{}};
    if (!state.notice.empty()) lines.push_back({{state.notice, Style::kHead}});
    if (!state.trouble.empty()) lines.push_back({{state.trouble, Style::kBad}});
    lines.push_back(KeysLine(state, size.columns));
    return lines;
  }
  return BottomLines(state, size.rows >= kFullRows, size.columns);
}

}  // namespace

std::size_t PageOf(const WatchState& state, ViewSize size, Charset charset) {
  const auto taken =
      static_cast<int>(Above(state, size, charset).size() + Below(state, size).size());
  return static_cast<std::size_t>(std::max(1, size.rows - taken));
}

std::vector<ShownLine> Picture(WatchState& state, ViewSize size, Charset charset) {
  const std::vector<ShownLine> body = Body(state, size.columns, charset);
  const std::size_t page = PageOf(state, size, charset);
  std::size_t& first = state.details ? state.scroll : state.top;
  if (!state.details) {
    if (state.selected < first) first = state.selected;
    if (state.selected >= first + page) first = state.selected - page + 1;
  }
  first = std::min(first, body.size() > page ? body.size() - page : 0);
  std::vector<ShownLine> lines = Above(state, size, charset);
  for (std::size_t i = first; i < std::min(body.size(), first + page); ++i) {
    lines.push_back(body[i]);
  }
  std::vector<ShownLine> below = Below(state, size);
  // Keys stand at the bottom, where they do not move.
  const auto rows = static_cast<std::size_t>(std::max(1, size.rows));
  while (lines.size() + below.size() < rows) lines.push_back({});
  for (ShownLine& line : below) lines.push_back(std::move(line));
  if (lines.size() > rows) lines.resize(rows);
  for (ShownLine& line : lines) line = Fitted(line, size.columns, charset);
  return lines;
}

std::vector<std::string> PlainPicture(const WatchState& state, int columns, Charset charset) {
  std::vector<ShownLine> lines = TopLines(state, true, true);
  const TableWidths widths = ColumnsFor(state, columns, charset);
  if (!state.rows.empty()) lines.push_back(TableHead(widths, charset));
  const std::vector<std::string> names = KernelNames(state.rows);
  for (std::size_t i = 0; i < names.size(); ++i) {
    lines.push_back(TableRow(state.rows[i], names[i], false, widths, charset));
  }
  for (ShownLine& line : NowLines(state.status)) lines.push_back(std::move(line));
  std::vector<std::string> texts;
  for (const ShownLine& line : lines) {
    std::string text;
    for (const Span& span : Fitted(line, columns, charset)) text += span.text;
    while (!text.empty() && text.back() == ' ') text.pop_back();
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace cupilot::client
