#include "service/history.h"

#include <utility>
#include <vector>

#include "service/decisions.h"
#include "service/demotion.h"

namespace cupilot::service {
namespace {

using records::Json;

// All but the evaluations.
Json RestOf(Service& service, const KernelPlace& place, bool whole) {
  Json document = {{"schema", "cupilot.history/1"}, {"kernel", records::LabelOf(*place.kernel)}};
  if (!whole) return document;
  document["refused"] = RefusedJson(service, place);
  document["marks"] = MarksJson(service, *place.kernel);
  document["changes"] = Json::array();
  for (const Change& change :
       service.journal().Of({place.kernel->file, records::LabelOf(*place.kernel)})) {
    document["changes"].push_back(ToJson(change));
  }
  return document;
}

}  // namespace

const std::string& History::RowOf(const std::string& kernel_key, std::uint64_t number) {
  if (const std::string* known = rows_.Find(number)) return *known;
  std::string text;
  if (const auto evaluation = service_.catalog().FindEvaluation(kernel_key, number)) {
    Json row = records::ToJson(*evaluation);
    const auto variant = service_.catalog().FindVariant(kernel_key, evaluation->variant);
    row["title"] = variant && variant->strategy ? variant->strategy->title : "";
    text = records::CompactJson(row);
  }
  const std::size_t size = text.size();
  return rows_.Add(number, std::move(text), size);
}

std::string History::Text(const KernelPlace& place, std::optional<std::size_t> from) {
  const std::string& kernel_key = place.kernel->key;
  const std::vector<std::uint64_t> numbers = service_.catalog().EvaluationNumbers(kernel_key);
  std::string text = R"({"evaluations":[)";
  const std::size_t begin = text.size();
  std::size_t next = from.value_or(0);
  for (; next < numbers.size(); ++next) {
    if (from && text.size() >= kBytesAPage) break;
    const std::string& row = RowOf(kernel_key, numbers[next]);
    if (!row.empty() && text.size() > begin) text += ',';
    text += row;
  }
  Json rest = RestOf(service_, place, from.value_or(0) == 0);
  if (from) rest["next"] = next < numbers.size() ? Json(next) : Json();
  std::string end = records::CompactJson(rest);
  end.front() = ',';
  return text.append("]").append(end);
}

}  // namespace cupilot::service
