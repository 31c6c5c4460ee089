#include "service/restart_note.h"

#include "records/json.h"

namespace cupilot::service {
namespace {

using records::Json;

Json ReadNote(const std::string& note) {
  const auto json = records::ParseJson(note);
  return json && json->is_object() ? *json : Json::object();
}

}  // namespace

std::string RunningNote(int pid, const std::string& version, const std::string& date) {
  return records::CompactJson({{"pid", pid}, {"version", version}, {"date", date}}) + "\n";
}

std::string EndedNote(int pid, const std::string& version, const std::string& date,
                      const std::string& reason) {
  return records::CompactJson(
             {{"pid", pid}, {"version", version}, {"date", date}, {"ended", reason}}) +
         "\n";
}

std::string StartedBecause(const std::string& note) {
  const Json before = ReadNote(note);
  const std::string version = records::TextAt(before, "version");
  const std::string date = records::TextAt(before, "date");
  if (version.empty()) return "none ran here before";
  const std::string reason = records::TextAt(before, "ended");
  if (!reason.empty()) return "the one before it (" + version + ") ended " + date + ": " + reason;
  return "the one before it (" + version + ", begun " + date +
         ") did not end by itself: it was killed, crashed, or the machine went down";
}

int PidOf(const std::string& note) {
  const Json before = ReadNote(note);
  const auto pid = before.find("pid");
  return pid != before.end() && pid->is_number_integer() ? pid->get<int>() : 0;
}

std::string VersionOf(const std::string& note) {
  return records::TextAt(ReadNote(note), "version");
}

}  // namespace cupilot::service
