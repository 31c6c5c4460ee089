// cupilot.explain/1 on one screen: why this variant, what was tried, why the original still runs,
// what comes next, what it cost. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::client {

inline constexpr std::size_t kScreenColumns = 80;
inline constexpr std::size_t kScreenLines = 24;  // one of them is the shell's prompt

// At most kScreenLines - 1 lines of at most kScreenColumns characters. `file`: as it is shown.
std::vector<std::string> ExplainScreen(const records::Json& document, const std::string& file);

// Both also in the long form.
std::string CostLine(const records::Json& document);
// "workers: building 60 min, proving 79 s": where their time went since the daemon began, summed
// over processes, the longest first. Empty if none worked for the kernel.
std::string TimesLine(const records::Json& document);
// "pinned: wider, variant 0123...", one line a mark.
std::vector<std::string> MarkLines(const records::Json& document);

}  // namespace cupilot::client
