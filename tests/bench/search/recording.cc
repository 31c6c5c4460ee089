#include "tests/bench/search/recording.h"

#include <zstd.h>

#include <sstream>
#include <utility>

#include "base/file.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::bench {
namespace {

using records::Json;

constexpr const char* kRecordingSchema = "cupilot.search_recording/1";
constexpr int kRecordingLevel = 19;
constexpr unsigned long long kMostRecording = 1ull << 30;

base::Result<std::string> Packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), kRecordingLevel);
  if (ZSTD_isError(size) != 0) return base::Fail(base::Internal(ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

base::Result<std::string> Unpacked(const std::string& packed, const std::string& path) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMostRecording) return base::Fail(base::Corruption(path + " is no recording"));
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()) != size) {
    return base::Fail(base::Corruption(path + " is damaged"));
  }
  return text;
}

Json HeadOf(const Recording& recording) {
  return {{"schema", kRecordingSchema},
          {"kernel", recording.kernel},
          {"arm", recording.arm},
          {"seed", recording.seed},
          {"evaluations", recording.evaluations},
          {"requests", recording.requests},
          {"device", recording.device},
          {"identity", records::ToJson(recording.identity)},
          {"driver", recording.driver},
          {"scanned", records::ToJson(recording.scanned)},
          {"workload", records::ToJson(recording.workload)}};
}

base::Result<> ReadHead(const Json& json, Recording& recording) {
  records::Reading reading(records::Strictness::kLenient);
  Json scanned, workload;
  std::int64_t seed = 1;
  records::ObjectReader object(json, "", reading);
  object.Schema(kRecordingSchema)
      .Required("kernel", recording.kernel)
      .Required("arm", recording.arm)
      .Required("seed", seed)
      .Required("evaluations", recording.evaluations)
      .Required("requests", recording.requests)
      .Required("device", recording.device)
      .Required("identity", recording.identity)
      .Optional("driver", recording.driver)
      .Required("scanned", scanned)
      .Required("workload", workload);
  if (reading.error()) return base::Fail(*reading.error());
  recording.seed = static_cast<std::uint64_t>(seed);
  TRY_ASSIGN(recording.scanned, records::ParseKernel(scanned));
  TRY_ASSIGN(recording.workload, records::ParseWorkload(workload));
  return {};
}

// A line behind the head.
base::Result<> ReadLine(const Json& json, Recording& recording) {
  const auto keep = [&](std::map<std::string, Json>& facts, const char* key) {
    facts[records::TextAt(json, key)] = json.value("is", Json());
    return base::Result<>();
  };
  if (json.contains("reply")) return keep(recording.facts.replies, "reply");
  if (json.contains("evaluation_of")) return keep(recording.facts.evaluations, "evaluation_of");
  TRY_ASSIGN(agents::ExchangeRecord exchange, agents::ReadExchange(json));
  recording.exchanges.push_back(std::move(exchange));
  return {};
}

}  // namespace

base::Result<Recording> ReadRecording(const std::string& path) {
  TRY_ASSIGN(const std::string packed, base::ReadFile(path));
  TRY_ASSIGN(const std::string text, Unpacked(packed, path));
  Recording recording;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto json = records::ParseJson(line);
    auto read = json ? base::Result<>() : base::Result<>(base::Fail(json.error()));
    if (json) read = number == 1 ? ReadHead(*json, recording) : ReadLine(*json, recording);
    if (!read) {
      return base::Fail(
          base::Corruption(path + ":" + std::to_string(number) + ": " + read.error().message));
    }
  }
  if (number == 0) return base::Fail(base::Corruption(path + " is empty"));
  return recording;
}

base::Result<> WriteRecording(const std::string& path, const Recording& recording) {
  std::string text = HeadOf(recording).dump() + "\n";
  for (const auto& [key, fact] : recording.facts.replies) {
    text += Json{{"reply", key}, {"is", fact}}.dump() + "\n";
  }
  for (const auto& [variant, fact] : recording.facts.evaluations) {
    text += Json{{"evaluation_of", variant}, {"is", fact}}.dump() + "\n";
  }
  for (const agents::ExchangeRecord& exchange : recording.exchanges) {
    text += agents::ToJson(exchange).dump() + "\n";
  }
  TRY_ASSIGN(const std::string packed, Packed(text));
  return base::WriteFileAtomically(path, packed);
}

std::string RecordingPath(const std::string& folder, const std::string& kernel,
                          const std::string& arm) {
  return folder + "/" + kernel + "/" + arm + ".jsonl.zst";
}

Json FactOf(const base::Result<Json>& result) {
  if (result) return {{"result", *result}};
  return {{"error",
           {{"code", std::string(base::Name(result.error().code))},
            {"message", result.error().message}}}};
}

base::Result<Json> ResultOf(const Json& fact) {
  if (fact.is_object() && fact.contains("result")) return fact["result"];
  const Json error = fact.is_object() ? fact.value("error", Json::object()) : Json::object();
  return base::Fail(
      base::Error{base::CodeOf(records::TextAt(error, "code")), records::TextAt(error, "message")});
}

}  // namespace cupilot::bench
