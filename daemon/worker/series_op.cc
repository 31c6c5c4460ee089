#include "worker/series_op.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/base64.h"

namespace cupilot::worker {
namespace {

using records::Json;

struct Stretch {
  std::int64_t at = 0, bytes = 0;
};

class Series {
 public:
  Series(device::Device& device, PreparedProgram& program, std::span<std::byte> memory)
      : device_(device), program_(program), memory_(memory) {}

  base::Result<Json> Take(const Json& request) {
    TRY(ReadPlaces(request));
    program_.SetTables(memory_);
    TRY(device_.Upload(0, request["bytes"].get<std::int64_t>()));
    TRY(program_.SetVariables(device_));
    std::vector<std::byte> before;
    for (const Stretch& output : outputs_) Append(output, before);
    double time = 0;
    std::int64_t results = results_;
    for (const Json& poke : request["pokes"]) {
      TRY_ASSIGN(const double one, TakeOne(poke, before));
      time += one;
      for (const Stretch& output : outputs_) {
        std::copy_n(memory_.begin() + output.at, output.bytes, memory_.begin() + results);
        results += output.bytes;
      }
    }
    program_.GetTables(memory_);
    return Json{{"microseconds", time}};
  }

 private:
  bool Inside(const Stretch& stretch) const {
    const auto size = static_cast<std::int64_t>(memory_.size());
    return stretch.at >= 0 && stretch.bytes >= 0 && stretch.bytes <= size &&
           stretch.at <= size - stretch.bytes;
  }

  base::Result<> ReadPlaces(const Json& request) {
    std::int64_t each = 0;
    for (const Json& output : request["outputs"]) {
      outputs_.push_back({output[0].get<std::int64_t>(), output[1].get<std::int64_t>()});
      if (!Inside(outputs_.back())) return Outside();
      each += outputs_.back().bytes;
    }
    results_ = request["results"].get<std::int64_t>();
    const auto runs = static_cast<std::int64_t>(request["pokes"].size());
    if (!Inside({results_, runs * each})) return Outside();
    return {};
  }

  static tl::unexpected<base::Error> Outside() {
    return base::Fail(base::ProtocolError("a place lies outside of the memory"));
  }

  void Append(const Stretch& stretch, std::vector<std::byte>& to) const {
    const auto from = memory_.begin() + stretch.at;
    to.insert(to.end(), from, from + stretch.bytes);
  }

  base::Result<double> TakeOne(const Json& poke, const std::vector<std::byte>& before) {
    std::vector<Stretch> places;
    std::vector<std::byte> was;
    for (const Json& write : poke) {
      TRY_ASSIGN(const auto bytes, base::DecodeBase64(write[1].get<std::string>()));
      places.push_back({write[0].get<std::int64_t>(), static_cast<std::int64_t>(bytes.size())});
      if (!Inside(places.back())) return Outside();
      Append(places.back(), was);
      std::copy(bytes.begin(), bytes.end(), memory_.begin() + places.back().at);
    }
    TRY(UploadAll(places));
    auto from = before.begin();
    for (const Stretch& output : outputs_) {
      std::copy_n(from, output.bytes, memory_.begin() + output.at);
      from += static_cast<std::ptrdiff_t>(output.bytes);
    }
    TRY(UploadAll(outputs_));
    TRY_ASSIGN(const double time, device_.Time([&] { return program_.Launch(device_); }));
    for (const Stretch& output : outputs_) TRY(device_.Download(output.at, output.bytes));
    // The last first: two may be about the same bytes.
    auto end = static_cast<std::ptrdiff_t>(was.size());
    for (std::size_t i = places.size(); i-- > 0;) {
      end -= static_cast<std::ptrdiff_t>(places[i].bytes);
      std::copy_n(was.begin() + end, places[i].bytes, memory_.begin() + places[i].at);
    }
    TRY(UploadAll(places));
    return time;
  }

  base::Result<> UploadAll(const std::vector<Stretch>& stretches) {
    for (const Stretch& stretch : stretches) TRY(device_.Upload(stretch.at, stretch.bytes));
    return {};
  }

  device::Device& device_;
  PreparedProgram& program_;
  const std::span<std::byte> memory_;
  std::vector<Stretch> outputs_;
  std::int64_t results_ = 0;
};

}  // namespace

base::Result<Json> TakeSeries(device::Device& device, PreparedProgram& program,
                              std::span<std::byte> memory, const Json& request) {
  return Series(device, program, memory).Take(request);
}

}  // namespace cupilot::worker
