// What a command prints: lines for people, or exactly one JSON document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::client {

// Exit codes (design, section 9).
inline constexpr int kDone = 0;         // done; evaluate: accepted
inline constexpr int kNo = 1;           // rejected, not found, nothing better
inline constexpr int kUsage = 2;        // wrong usage or bad input
inline constexpr int kEnvironment = 3;  // no daemon, no compiler, no such device

// Whether a descriptor is a terminal that can do more than print (TERM is set, and not "dumb").
bool IsCapableTerminal(int file);

int ExitCodeOf(const base::Error& error);

// A column of a table that may be cut, down to so many characters.
struct NarrowColumn {
  std::size_t column = 0;
  std::size_t least = 0;
  bool end_counts = false;  // it is cut at its beginning
};

class Output {
 public:
  explicit Output(bool json);
  // Lines are added to these, which outlive it, and nothing is printed.
  explicit Output(std::vector<std::string>& lines);

  bool json() const { return json_; }
  // Whether what passes by can be shown in place.
  bool terminal() const { return terminal_; }
  // Whether lines may have colours: standard output is a terminal that shows them, and the user
  // does not say NO_COLOR.
  bool colours() const;

  // In JSON mode the one document, else nothing.
  void Document(const records::Json& document);
  // A line for people; nothing in JSON mode.
  void Line(std::string_view text);
  // Rows with aligned columns; the first row is the head. Where lines would be longer than those of
  // the terminal on which they are shown, columns give way, the first of `narrow` first.
  void Table(const std::vector<std::vector<std::string>>& rows,
             const std::vector<NarrowColumn>& narrow = {});
  // A passing state: rewritten in place on a terminal, a plain line on standard error elsewhere.
  void Progress(const std::string& text);
  void EndProgress();
  // Something that the user should know and that changes nothing. Standard error.
  void Warning(const std::string& text);
  // Says the error (standard error; in JSON mode also as the document, with the members of `more`)
  // and returns the exit code.
  int Fail(const base::Error& error, const records::Json& more = records::Json::object());

 private:
  const bool json_;
  const bool terminal_;
  std::vector<std::string>* const lines_ = nullptr;
  bool progress_shown_ = false;
  std::string last_progress_;
};

// Text and numbers of a reply, tolerant of what is missing or null.
std::string TextOf(const records::Json& json, const char* key);
double NumberOf(const records::Json& json, const char* key, double otherwise = 0);
std::string CountOf(const records::Json& json, const char* key);
bool FlagOf(const records::Json& json, const char* key, bool otherwise = false);
// The member, or an empty array or object where there is none of that type.
records::Json ListOf(const records::Json& json, const char* key);
records::Json ObjectOf(const records::Json& json, const char* key);
// "1.42x", or "-" for null.
std::string SpeedupOf(const records::Json& json, const char* key);
// "[1.40, 1.44]", or nothing.
std::string IntervalOf(const records::Json& json, const char* key);
// "12.3 us", "1.20 ms"
std::string Microseconds(double us);
// "12 s", "3 min", "2 h 5 min"
std::string Duration(double seconds);

}  // namespace cupilot::client
