#include "client/commands/explain_screen.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

#include "client/commands/evaluation_text.h"
#include "client/output.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kMostTried = 5;
constexpr std::size_t kMostWarnings = 2;
constexpr const char* kMore = "...";

// Columns on a screen: what continues a character of UTF-8 takes none.
std::size_t ColumnsOf(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Fitted(const std::string& text, std::size_t columns) {
  std::string line = text.substr(0, text.find('\n'));
  if (ColumnsOf(line) <= columns && line.size() == text.size()) return line;
  std::string cut;
  std::size_t used = 0;
  for (const char c : line) {
    const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && used + 3 >= columns) break;
    used += begins ? 1 : 0;
    cut += c;
  }
  return cut + kMore;
}

// At words, with two spaces before all lines but the first, which keeps its own; at most `most`
// lines.
std::vector<std::string> Wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::string line, word;
  const auto end_word = [&] {
    if (word.empty()) return;
    const bool fits = ColumnsOf(line) + 1 + ColumnsOf(word) <= kScreenColumns;
    if (line.empty()) {
      line = (lines.empty() && text.starts_with("  ") ? "  " : "") + word;
    } else if (fits) {
      line += " " + word;
    } else {
      lines.push_back(line);
      line = "  " + word;
    }
    word.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == '\n') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  if (!line.empty()) lines.push_back(line);
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() = Fitted(lines.back() + " and more", kScreenColumns - 4) + " " + kMore;
  }
  for (std::string& one : lines) one = Fitted(one, kScreenColumns);
  return lines;
}

void Append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

std::vector<std::string> WhyThis(const Json& document) {
  if (TextOf(document, "verdict") != "accepted") {
    return Wrapped("the original runs: " + TextOf(document, "why_not"), 3);
  }
  std::vector<std::string> lines;
  const Json variants = ListOf(document, "variants");
  const std::string shipped = TextOf(document, "shipped");
  Append(lines, Wrapped("won: " +
                            (variants.size() < 2 ? TextOf(document, "strategy")
                                                 : std::to_string(variants.size()) +
                                                       " variants for different sizes") +
                            ", " + SpeedupOf(document, "speedup") + " " +
                            IntervalOf(document, "interval") +
                            (FlagOf(document, "published") ? ", published" : "") +
                            (shipped.empty() ? "" : ", in the last build as measured"),
                        2));
  const Json device = ObjectOf(document, "device");
  Append(lines, Wrapped("  " + Microseconds(NumberOf(document, "original_us")) + " before, " +
                            Microseconds(NumberOf(document, "variant_us")) + " after" +
                            (NumberOf(document, "floor_us") > 0
                                 ? ", floor " + Microseconds(NumberOf(document, "floor_us"))
                                 : "") +
                            "; " + TextOf(device, "times") + " on " + TextOf(device, "name") +
                            " (" + TextOf(device, "arch") + ")",
                        2));
  for (std::size_t i = 0; variants.size() > 1 && i < std::min<std::size_t>(variants.size(), 3);
       ++i) {
    lines.push_back(Fitted("  " + TextOf(variants[i], "id").substr(0, kIdDigits) + "  " +
                               SpeedupOf(variants[i], "speedup") + "  " +
                               TextOf(variants[i], "strategy"),
                           kScreenColumns));
  }
  const std::string guard = TextOf(document, "guard");
  if (!guard.empty()) lines.push_back(Fitted("  runs where: " + guard, kScreenColumns));
  const Json evaluation = ObjectOf(document, "evaluation");
  std::size_t passed = 0;
  const Json checks = ListOf(evaluation, "checks");
  for (const Json& check : checks) passed += FlagOf(check, "passed") ? 1 : 0;
  lines.push_back(Fitted("  proven " + TextOf(evaluation, "date") + ", " + std::to_string(passed) +
                             " of " + std::to_string(checks.size()) + " checks passed, variant " +
                             TextOf(evaluation, "variant").substr(0, kIdDigits),
                         kScreenColumns));
  if (const std::string why = TextOf(document, "why"); !why.empty()) {
    Append(lines, Wrapped("  " + why, 2));
  }
  return lines;
}

// The best first; what has no time last.
std::vector<std::string> WhatWasTried(const Json& document) {
  const Json tried = ListOf(document, "tried");
  std::vector<Json> rows(tried.begin(), tried.end());
  std::map<std::string, int> reasons;
  std::size_t verdicts = 0;
  for (const Json& one : rows) {
    const std::string verdict = TextOf(one, "verdict");
    verdicts += verdict == "accepted" || verdict == "beaten" || verdict == "rejected" ? 1 : 0;
    if (verdict == "rejected") ++reasons[TextOf(one, "reason")];
  }
  std::erase_if(rows, [](const Json& one) { return NumberOf(one, "speedup") <= 0; });
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return NumberOf(a, "speedup") > NumberOf(b, "speedup");
  });
  std::string why;
  for (const auto& [reason, count] : reasons) {
    why += (why.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
  }
  // After a rejection or an import a search begins anew, with all that was measured.
  const Json cost = ObjectOf(document, "cost");
  if (rows.empty() && NumberOf(cost, "evaluations") > 0) {
    why = "this search has just begun; `cupilot history` has what was measured before";
  } else if (!why.empty()) {
    why = "rejected: " + why;
  }
  std::vector<std::string> lines = {Fitted(
      "tried: " + std::to_string(verdicts) + (why.empty() ? "" : "; " + why), kScreenColumns)};
  for (std::size_t i = 0; i < std::min(rows.size(), kMostTried); ++i) {
    const std::string reason = TextOf(rows[i], "reason");
    const std::string verdict = TextOf(rows[i], "verdict");
    constexpr std::size_t kRest = 26;  // speedup and verdict
    lines.push_back(Fitted("  " + SpeedupOf(rows[i], "speedup") + "  " +
                               Fitted(TextOf(rows[i], "title"), kScreenColumns - kRest - 14) +
                               "  " + (reason.empty() ? verdict : reason),
                           kScreenColumns));
  }
  const std::size_t dropped = ListOf(document, "dropped").size();
  const std::size_t declined = ListOf(document, "declined").size();
  std::string rest;
  if (declined > 0) {
    rest += std::to_string(declined) + (declined == 1 ? " technique does" : " techniques do") +
            " not apply";
  }
  if (NumberOf(document, "same_code") > 0) {
    rest += (rest.empty() ? "" : ", ") + CountOf(document, "same_code") + " were the same code";
  }
  if (dropped > 0) rest += (rest.empty() ? "" : ", ") + std::string("some exceed the device");
  if (rows.size() > kMostTried || !rest.empty()) {
    lines.push_back(
        Fitted("  " + (rest.empty() ? "" : rest + "; ") + "all of it: cupilot explain --full",
               kScreenColumns));
  }
  return lines;
}

}  // namespace

std::string CostLine(const Json& document) {
  const Json cost = ObjectOf(document, "cost");
  char dollars[48];
  std::snprintf(dollars, sizeof dollars, "$%.2f", NumberOf(cost, "dollars"));
  const std::string count = CountOf(cost, "evaluations");
  const std::string device = TextOf(ObjectOf(document, "device"), "device");
  return "cost: " + Duration(NumberOf(cost, "seconds")) + " of work" +
         (device.starts_with("cuda") ? " on the GPU" : "") + ", " + count +
         (count == "1" ? " evaluation, " : " evaluations, ") + dollars + " for models";
}

std::string TimesLine(const Json& document) {
  std::vector<std::pair<double, std::string>> times;
  const Json spent = ObjectOf(ObjectOf(document, "cost"), "spent_seconds");
  for (const auto& [purpose, seconds] : spent.items()) {
    if (seconds.is_number() && seconds.get<double>() >= 1) {
      times.emplace_back(seconds.get<double>(), purpose);
    }
  }
  std::ranges::sort(times, std::greater());
  std::string text;
  for (auto& [seconds, words] : times) {
    std::ranges::replace(words, '_', ' ');
    text += (text.empty() ? "workers: " : ", ") + words + " " + Duration(seconds);
  }
  return text;
}

std::vector<std::string> MarkLines(const Json& document) {
  std::vector<std::string> lines;
  for (const Json& mark : ListOf(document, "marks")) {
    lines.push_back(TextOf(mark, "mark") + " by you on " + TextOf(mark, "date") + ": " +
                    TextOf(mark, "title") + ", variant " +
                    TextOf(mark, "variant").substr(0, kIdDigits));
  }
  return lines;
}

std::vector<std::string> ExplainScreen(const Json& document, const std::string& file) {
  std::vector<std::string> lines =
      Wrapped(TextOf(document, "kernel") + " (" + file + ":" + CountOf(document, "line") +
                  "): " + TextOf(document, "state"),
              2);
  Append(lines, WhyThis(document));
  const std::vector<std::string> marks = MarkLines(document);
  for (std::size_t i = 0; i < std::min<std::size_t>(marks.size(), 2); ++i) {
    lines.push_back(Fitted(marks[i], kScreenColumns));
  }
  Append(lines, WhatWasTried(document));
  const Json models = ObjectOf(document, "models");
  if (!models.empty()) {
    lines.push_back(Fitted(
        "models: " + TextOf(models, "state") + ", " + CountOf(models, "requests") + " requests" +
            (TextOf(models, "trouble").empty() ? ""
                                               : "; last trouble: " + TextOf(models, "trouble")),
        kScreenColumns));
  }
  // The end is as long as it is; what stands before it gives way.
  std::vector<std::string> end;
  std::size_t warned = 0;
  for (const Json& warning : ListOf(document, "warnings")) {
    if (!warning.is_string()) continue;
    if (++warned > kMostWarnings) break;
    end.push_back(Fitted("warning: " + warning.get<std::string>(), kScreenColumns));
  }
  // Before the end `next` says what is left.
  if (!TextOf(document, "ended").empty()) Append(end, Wrapped(ExpectedLine(document), 2));
  end.push_back(Fitted(CostLine(document), kScreenColumns));
  if (const std::string times = TimesLine(document); !times.empty()) {
    end.push_back(Fitted(times, kScreenColumns));
  }
  if (!TextOf(document, "next").empty())
    Append(end, Wrapped("next: " + TextOf(document, "next"), 2));
  const std::size_t room = kScreenLines - 1 - end.size();
  if (lines.size() > room) {
    lines.resize(room);
    lines.back() = "  ... (cupilot explain --full)";
  }
  Append(lines, std::move(end));
  return lines;
}

}  // namespace cupilot::client
