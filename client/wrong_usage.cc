#include "client/wrong_usage.h"

#include <algorithm>

namespace cupilot::client {
namespace {

// Letters that are to be changed, left out, put in or swapped with the next.
std::size_t DistanceOf(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) distance[i][0] = i;
  for (std::size_t k = 0; k <= b.size(); ++k) distance[0][k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t change = a[i - 1] == b[k - 1] ? 0 : 1;
      distance[i][k] = std::min(
          {distance[i - 1][k] + 1, distance[i][k - 1] + 1, distance[i - 1][k - 1] + change});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        distance[i][k] = std::min(distance[i][k], distance[i - 2][k - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

std::string Quoted(const std::string& command) { return "`cupilot " + command + "`"; }

// As what follows the group `command`; the first words are also looked for in the groups, as "stop"
// for "daemon stop".
std::string NearestCommand(const DescribedProgram& program, const std::string& command,
                           const std::string& word) {
  std::vector<std::string> words;
  for (const DescribedCommand* one : CommandsBelow(program, command)) {
    words.push_back(LastWord(one->name));
  }
  const std::string before = command.empty() ? "" : command + " ";
  if (const std::string nearest = NearestWord(word, words); !nearest.empty()) {
    return before + nearest;
  }
  for (const DescribedCommand& one : program.commands) {
    if (command.empty() && LastWord(one.name) == word) return one.name;
  }
  return {};
}

std::string CommandsOf(const DescribedProgram& program, const std::string& group) {
  std::string text;
  for (const DescribedCommand* one : CommandsBelow(program, group)) {
    text += (text.empty() ? "" : ", ") + LastWord(one->name);
  }
  return text;
}

// A command is missing behind `command`, which is a group or nothing.
std::string NoCommand(const DescribedProgram& program, const std::string& command,
                      const std::vector<std::string>& rest) {
  const std::string before = command.empty() ? "" : command + " ";
  if (rest.empty()) {
    return command.empty() ? "a command is missing"
                           : Quoted(command) + " needs one of: " + CommandsOf(program, command);
  }
  if (rest[0].starts_with("-")) {
    return "'" + rest[0] + "' is no option of `cupilot" + (command.empty() ? "" : " " + command) +
           "`";
  }
  std::string text = "'" + before + rest[0] + "' is no command";
  if (const std::string nearest = NearestCommand(program, command, rest[0]); !nearest.empty()) {
    text += "; the nearest is " + Quoted(nearest);
  } else if (!command.empty()) {
    text += "; there are: " + CommandsOf(program, command);
  }
  return text;
}

}  // namespace

std::string NearestWord(const std::string& word, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : words) {
    const std::size_t distance = DistanceOf(word, one);
    if (distance >= least || distance >= one.size()) continue;
    least = distance;
    nearest = one;
  }
  return nearest;
}

std::string WrongUsage(const DescribedProgram& program, const std::string& command,
                       const std::vector<std::string>& rest, const std::string& found) {
  const bool group = command.empty() ||
                     std::any_of(program.commands.begin(), program.commands.end(),
                                 [&](const auto& one) { return one.group && one.name == command; });
  return (group ? NoCommand(program, command, rest) : found) + "\n" +
         Quoted(command + (command.empty() ? "" : " ") + "--help") +
         (group ? " lists the commands" : " shows the usage");
}

}  // namespace cupilot::client
