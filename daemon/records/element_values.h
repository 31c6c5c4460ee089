// Values of elements in what checks say ("'out'[5]: expected 1.5, got 2"): written here and nowhere
// else, so that they can be left out again where such a text leaves the machine and the values are
// of somebody's data.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "records/json.h"

namespace cupilot::records {

// A number of a buffer as text. Only the sentences below can be made of it.
class ElementValue {
 public:
  explicit ElementValue(std::string text) : text_(std::move(text)) {}
  static ElementValue Of(double value);  // with nine digits
  const std::string& TextForTest() const { return text_; }

 private:
  friend std::string Expected(const ElementValue& expected);
  friend std::string ExpectedGot(const ElementValue& expected, const ElementValue& got);
  friend std::string ExpectedGotExact(const ElementValue& expected, const ElementValue& got,
                                      const ElementValue& exact);
  friend std::string HoldsAsBefore(const ElementValue& held);
  friend std::string WasAndIs(const ElementValue& before, const ElementValue& after);
  friend std::string InsteadOf(const ElementValue& found, const ElementValue& expected);
  std::string text_;
};

// "expected 1.5"
std::string Expected(const ElementValue& expected);
// "expected 1.5, got 2"
std::string ExpectedGot(const ElementValue& expected, const ElementValue& got);
// "expected 1.5, got 2 (exact 1.625)"
std::string ExpectedGotExact(const ElementValue& expected, const ElementValue& got,
                             const ElementValue& exact);
// "it holds 7 as before the run"
std::string HoldsAsBefore(const ElementValue& held);
// "it was 1 and is 2"
std::string WasAndIs(const ElementValue& before, const ElementValue& after);
// "2 instead of 1.5"
std::string InsteadOf(const ElementValue& found, const ElementValue& expected);

// The text without such values, and without those that watched runs name
// (host_runtime/watch/undefined_calls.cc); where an element is, errors and the fill stay. It says
// so at its end. Also of texts that were cut anywhere; a text without values stays as it is.
std::string WithoutElementValues(std::string_view text);
// Of all texts in it, but for those of the keys "source" and "text": programs.
void LeaveOutElementValues(Json& json);

}  // namespace cupilot::records
