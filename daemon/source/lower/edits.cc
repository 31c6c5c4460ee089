#include "source/lower/edits.h"

#include <algorithm>

namespace cupilot::source {

void Edits::Blank(std::uint32_t begin, std::uint32_t end) {
  std::string spaces(text_.substr(begin, end - begin));
  for (char& c : spaces) c = c == '\n' ? '\n' : ' ';
  Replace(begin, end, std::move(spaces));
}

std::vector<std::uint32_t> Edits::Places() const {
  std::vector<std::uint32_t> places;
  for (const Edit& edit : edits_) places.insert(places.end(), {edit.begin, edit.end});
  return places;
}

std::string Edits::Apply(std::uint32_t begin, std::uint32_t end) const {
  std::vector<const Edit*> sorted;
  sorted.reserve(edits_.size());
  for (const Edit& edit : edits_) sorted.push_back(&edit);
  // At one place insertions come before what is replaced there.
  std::sort(sorted.begin(), sorted.end(), [](const Edit* a, const Edit* b) {
    if (a->begin != b->begin) return a->begin < b->begin;
    const bool a_inserts = a->begin == a->end, b_inserts = b->begin == b->end;
    if (a_inserts != b_inserts) return a_inserts;
    return a->order < b->order;
  });
  std::string result;
  result.reserve((end - begin) + (end - begin) / 4);
  std::uint32_t at = begin;
  for (const Edit* edit : sorted) {
    if (edit->begin < at) continue;  // inside what was replaced
    result.append(text_.substr(at, edit->begin - at));
    result.append(edit->what);
    at = edit->end;
  }
  result.append(text_.substr(at, end - at));
  return result;
}

}  // namespace cupilot::source
