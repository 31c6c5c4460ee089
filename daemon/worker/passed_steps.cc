#include "worker/passed_steps.h"

namespace cupilot::worker {

using records::Json;

Json ToJson(const PassedSteps& passed) {
  Json json = Json::object();
  for (const auto& [name, one] : passed) {
    Json notes = Json::array();
    for (const records::Check& note : one.notes) notes.push_back({note.name, note.detail});
    json[name] = {{"steps", one.steps},
                  {"notes", std::move(notes)},
                  {"errors", {one.errors.candidate, one.errors.original}},
                  {"exact", one.exact},
                  {"varies", one.varies}};
  }
  return json;
}

PassedSteps ParsePassedSteps(const Json& json) {
  PassedSteps passed;
  if (!json.is_object()) return passed;
  for (const auto& [name, one] : json.items()) {
    try {
      PassedCase read;
      read.steps = one.at("steps").get<Json::object_t>();
      for (const Json& note : one.at("notes")) {
        read.notes.push_back({note.at(0).get<std::string>(), true, note.at(1).get<std::string>()});
      }
      read.errors = {one.at("errors").at(0).get<double>(), one.at("errors").at(1).get<double>()};
      read.exact = one.at("exact").get<bool>();
      read.varies = one.at("varies").get<bool>();
      passed.emplace(name, std::move(read));
    } catch (const Json::exception&) {
      continue;
    }
  }
  return passed;
}

}  // namespace cupilot::worker
