#include "search/measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "records/reader.h"

namespace cupilot::search {
namespace {

using records::Json;

constexpr std::array<std::pair<std::string_view, ValidPoints>, 2> kValid = {{
    {"solved", ValidPoints::kSolved},
    {"rows", ValidPoints::kRows},
}};

std::string RowName(std::size_t row) { return "rows[" + std::to_string(row) + "]"; }

base::Error RowError(std::size_t row, const std::string& what) {
  return base::InvalidArgument(RowName(row) + ": " + what);
}

bool IsDuration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

base::Result<> CheckRow(const MeasuredRow& row, std::size_t index) {
  if (row.microseconds) {
    if (!std::isfinite(*row.microseconds) || *row.microseconds <= 0) {
      return base::Fail(RowError(index, "the time is not positive"));
    }
    if (!row.reason.empty()) {
      return base::Fail(RowError(index, "has both a time and a reason why there is none"));
    }
  } else if (row.reason.empty()) {
    return base::Fail(RowError(index, "has neither a time (us) nor a reason why there is none"));
  }
  if (row.samples < 0) return base::Fail(RowError(index, "samples: less than none"));
  if (!row.times.empty() && static_cast<std::size_t>(row.samples) != row.times.size()) {
    return base::Fail(RowError(index, "times: their number is not that of samples"));
  }
  if (std::min({row.registers, row.local_bytes, row.shared_bytes}) < 0) {
    return base::Fail(RowError(index, "registers, local_bytes, shared_bytes: less than none"));
  }
  if (!IsDuration(row.compile_seconds) || !IsDuration(row.measure_seconds)) {
    return base::Fail(RowError(index, "compile_s, measure_s: not a duration"));
  }
  return {};
}

MeasuredRow ReadRow(const Json& json, const std::string& path,
                    const std::vector<SpaceParameter>& parameters, records::Reading& reading) {
  MeasuredRow row;
  std::vector<Json> at;
  double microseconds = 0;
  records::ObjectReader object(json, path, reading);
  object.Required("at", at)
      .Optional("us", microseconds)
      .Optional("samples", row.samples)
      .Optional("times", row.times)
      .Optional("reason", row.reason)
      .Optional("compile_s", row.compile_seconds)
      .Optional("measure_s", row.measure_seconds)
      .Optional("registers", row.registers)
      .Optional("local_bytes", row.local_bytes)
      .Optional("shared_bytes", row.shared_bytes);
  if (!object.Has("samples")) row.samples = static_cast<std::int64_t>(row.times.size());
  if (object.Has("us")) row.microseconds = microseconds;
  object.Finish();
  if (!reading.ok()) return row;
  if (at.size() != parameters.size()) {
    object.Fail("at", std::to_string(at.size()) + " values for " +
                          std::to_string(parameters.size()) + " parameters");
    return row;
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto place = PlaceOf(parameters[i], at[i]);
    if (!place) {
      reading.Fail(records::Join(records::Join(path, "at"), i),
                   records::CompactJson(at[i]) + " is no value of " + parameters[i].name);
      return row;
    }
    row.point.push_back(*place);
  }
  return row;
}

// Fractions are texts here: "1" is 1.0, however a file writes it.
std::optional<std::uint16_t> PlaceOfNumber(const SpaceParameter& parameter, double number) {
  const auto& texts = parameter.texts;
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    return json.is_number() && json.get<double>() == number;
  });
  if (found == texts.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - texts.begin());
}

}  // namespace

std::optional<std::int64_t> WholeNumberOf(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    // 16.0, as some programs write whole numbers.
    if (std::abs(number) < 9007199254740992.0 && std::floor(number) == number) {
      return static_cast<std::int64_t>(number);
    }
  }
  return std::nullopt;
}

std::optional<std::uint16_t> PlaceOf(const SpaceParameter& parameter, const Json& value) {
  const auto place_in = [](const auto& list, const auto& wanted) -> std::optional<std::uint16_t> {
    const auto found = std::find(list.begin(), list.end(), wanted);
    if (found == list.end()) return std::nullopt;
    return static_cast<std::uint16_t>(found - list.begin());
  };
  if (!parameter.texts.empty()) {
    const auto place = place_in(parameter.texts, value.is_string() ? value.get<std::string>()
                                                                   : records::CompactJson(value));
    return place || !value.is_number() ? place : PlaceOfNumber(parameter, value.get<double>());
  }
  const auto whole = WholeNumberOf(value);
  return whole ? place_in(parameter.values, *whole) : std::nullopt;
}

namespace {

std::uint16_t NearestPlace(const SpaceParameter& parameter, const Json& value) {
  if (const auto place = PlaceOf(parameter, value)) return *place;
  const auto& values = parameter.values;
  const bool ordered =
      parameter.kind == ParameterKind::kNumber || parameter.kind == ParameterKind::kPower;
  const auto nearest =
      ordered && value.is_number()
          ? std::min_element(values.begin(), values.end(),
                             [wanted = value.get<double>()](std::int64_t a, std::int64_t b) {
                               return std::abs(static_cast<double>(a) - wanted) <
                                      std::abs(static_cast<double>(b) - wanted);
                             })
          : std::find(values.begin(), values.end(), parameter.standard);
  return static_cast<std::uint16_t>(nearest - values.begin());
}

}  // namespace

Json ValueJson(const SpaceParameter& parameter, std::uint16_t place) {
  if (!parameter.texts.empty()) return parameter.texts[place];
  return parameter.values[place];
}

base::Result<MeasuredSpace> MeasuredSpace::Make(Parts parts) {
  MeasuredSpace measured;
  if (parts.valid == ValidPoints::kRows) {
    std::vector<Point> points;
    points.reserve(parts.rows.size());
    for (const MeasuredRow& row : parts.rows) points.push_back(row.point);
    TRY_ASSIGN(measured.space_, Space::OfPoints(parts.space.parameters, std::move(points)));
  } else {
    TRY_ASSIGN(measured.space_, SpaceOf(parts.space));
  }
  for (std::size_t i = 0; i < parts.rows.size(); ++i) {
    TRY(CheckRow(parts.rows[i], i));
    if (parts.rows[i].point.size() != parts.space.parameters.size() ||
        !measured.space_.IsValid(parts.rows[i].point)) {
      return base::Fail(RowError(i, "this point is not valid in the space"));
    }
  }
  measured.parts_ = std::move(parts);
  const std::vector<MeasuredRow>& rows = measured.parts_.rows;
  measured.by_point_.resize(rows.size());
  std::iota(measured.by_point_.begin(), measured.by_point_.end(), std::uint32_t{0});
  std::stable_sort(
      measured.by_point_.begin(), measured.by_point_.end(),
      [&rows](std::uint32_t a, std::uint32_t b) { return rows[a].point < rows[b].point; });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::uint32_t before = measured.by_point_[i - 1], row = measured.by_point_[i];
    if (rows[before].point == rows[row].point) {
      return base::Fail(RowError(row, "the same point as rows[" + std::to_string(before) + "]"));
    }
  }
  return measured;
}

const MeasuredRow* MeasuredSpace::Find(const Point& point) const {
  const std::vector<MeasuredRow>& rows = parts_.rows;
  const auto found = std::lower_bound(
      by_point_.begin(), by_point_.end(), point,
      [&rows](std::uint32_t row, const Point& wanted) { return rows[row].point < wanted; });
  if (found == by_point_.end() || rows[*found].point != point) return nullptr;
  return &rows[*found];
}

base::Result<MeasuredSpace> MeasuredPart(const MeasuredSpace& space) {
  return MeasuredSpace::Make({space.name(), space.device(), space.architecture(),
                              space.multiprocessors(), space.file(), ValidPoints::kRows,
                              space.rows()});
}

base::Result<MeasuredSpace> ParseMeasured(std::string_view text) {
  TRY_ASSIGN(const Json json, records::ParseJson(text));
  MeasuredSpace::Parts parts;
  Json space;
  std::vector<Json> rows;
  records::Reading reading(records::Strictness::kStrict);
  {
    records::ObjectReader object(json, "", reading);
    object.Schema(MeasuredSpace::kSchema)
        .Optional("name", parts.name)
        .Optional("device", parts.device)
        .Optional("architecture", parts.architecture)
        .Optional("multiprocessors", parts.multiprocessors)
        .Required("space", space)
        .OptionalWord("valid", kValid, parts.valid)
        .Required("rows", rows);
    object.Finish();
  }
  if (!reading.ok()) return base::Fail(*reading.error());
  auto file = ParseSpaceFile(space);
  if (!file) return base::Fail(file.error().In("space"));
  parts.space = std::move(*file);
  for (std::size_t i = 0; i < rows.size() && reading.ok(); ++i) {
    parts.rows.push_back(ReadRow(rows[i], RowName(i), parts.space.parameters, reading));
  }
  if (!reading.ok()) return base::Fail(*reading.error());
  return MeasuredSpace::Make(std::move(parts));
}

namespace {

std::string KnownOfDevice(const MeasuredSpace& measured) {
  std::string text;
  if (!measured.architecture().empty()) {
    text += ",\n\"architecture\":" + records::CompactJson(measured.architecture());
  }
  if (measured.multiprocessors() > 0) {
    text += ",\n\"multiprocessors\":" + std::to_string(measured.multiprocessors());
  }
  return text;
}

}  // namespace

std::string TextOf(const MeasuredSpace& measured) {
  Json head = {{"name", measured.name()}, {"device", measured.device()}};
  std::string text =
      "{\"schema\":\"" + std::string(MeasuredSpace::kSchema) +
      "\",\n\"name\":" + records::CompactJson(head["name"]) +
      ",\n\"device\":" + records::CompactJson(head["device"]) + KnownOfDevice(measured) +
      ",\n\"space\":" + records::CompactJson(ToJson(measured.file())) + ",\n\"valid\":\"" +
      records::WordOf(kValid, measured.valid()) + "\",\n\"rows\":[";
  const std::vector<SpaceParameter>& parameters = measured.file().parameters;
  const char* separator = "\n";
  for (const MeasuredRow& row : measured.rows()) {
    Json at = Json::array();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at.push_back(ValueJson(parameters[i], row.point[i]));
    }
    Json line = {{"at", std::move(at)}};
    if (row.microseconds) line["us"] = *row.microseconds;
    if (!row.times.empty()) {
      line["times"] = row.times;
    } else if (row.samples > 0) {
      line["samples"] = row.samples;
    }
    if (!row.reason.empty()) line["reason"] = row.reason;
    if (row.compile_seconds > 0) line["compile_s"] = row.compile_seconds;
    if (row.measure_seconds > 0) line["measure_s"] = row.measure_seconds;
    if (row.registers > 0) line["registers"] = row.registers;
    if (row.local_bytes > 0) line["local_bytes"] = row.local_bytes;
    if (row.shared_bytes > 0) line["shared_bytes"] = row.shared_bytes;
    text += separator + records::CompactJson(line);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

std::vector<Point> ChampionsFor(const Space& space, const MeasuredSpace& elsewhere,
                                std::size_t count) {
  const auto& theirs = elsewhere.space().parameters();
  std::vector<std::size_t> places;  // of the space's parameters in the other one
  for (const SpaceParameter& parameter : space.parameters()) {
    const auto found = std::find_if(theirs.begin(), theirs.end(), [&](const SpaceParameter& other) {
      return other.name == parameter.name;
    });
    if (found == theirs.end()) return {};
    places.push_back(static_cast<std::size_t>(found - theirs.begin()));
  }
  std::vector<const MeasuredRow*> ran;
  for (const MeasuredRow& row : elsewhere.rows()) {
    if (row.microseconds) ran.push_back(&row);
  }
  std::stable_sort(ran.begin(), ran.end(), [](const MeasuredRow* a, const MeasuredRow* b) {
    return *a->microseconds < *b->microseconds;
  });
  if (ran.size() > count) ran.resize(count);
  std::vector<Point> champions;
  for (const MeasuredRow* row : ran) {
    Point point;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const SpaceParameter& other = theirs[places[i]];
      point.push_back(NearestPlace(space.parameters()[i], ValueJson(other, row->point[places[i]])));
    }
    champions.push_back(std::move(point));
  }
  return champions;
}

}  // namespace cupilot::search
