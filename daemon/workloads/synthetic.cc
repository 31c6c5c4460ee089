#include "workloads/synthetic.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "device/element.h"
#include "records/private_data.h"
#include "workloads/fitted.h"

namespace cupilot::workloads {
namespace {

using device::ElementType;
using Member = records::Parameter::Member;

std::string WithoutQualifiers(std::string text) {
  for (const std::string word : {"const", "volatile", "__restrict", "restrict"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.erase(at, word.size());
    }
  }
  const std::size_t begin = text.find_first_not_of(' ');
  const std::size_t end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// What a pointer of this canonical type leads to.
ElementType ElementBehind(const std::string& pointer, std::int64_t element_bytes) {
  const std::size_t star = pointer.rfind('*');
  if (star == std::string::npos) return {};
  return device::ElementTypeOf(WithoutQualifiers(pointer.substr(0, star)), element_bytes);
}

double OneDigit(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.0e", value);
  return std::strtod(text, nullptr);
}

// A structure's bytes without what is neither shape nor a rough number.
base::Result<std::string> WithoutData(const std::string& base64,
                                      const std::vector<Member>& members) {
  TRY_ASSIGN(const std::vector<std::byte> bytes, base::DecodeBase64(base64));
  std::vector<std::byte> kept(bytes.size());
  for (const Member& member : members) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const bool inside = member.offset >= 0 && member.bytes > 0 && member.bytes <= size &&
                        member.offset <= size - member.bytes;
    if (!inside) continue;
    const std::byte* from = bytes.data() + member.offset;
    std::byte* to = kept.data() + member.offset;
    if (member.kind == records::ParameterKind::kFloating) {
      const ElementType type = device::ElementTypeOf(member.canonical, member.bytes);
      if (!type.floating()) continue;
      device::WriteNumber(to, 0, type, OneDigit(device::ReadNumber(from, 0, type)));
    } else if (!records::IsLetter(member)) {
      std::memcpy(to, from, static_cast<std::size_t>(member.bytes));
    }
  }
  return base::EncodeBase64({reinterpret_cast<const char*>(kept.data()), kept.size()});
}

// One case of a kernel with these parameters.
class CaseSynthesis {
 public:
  CaseSynthesis(records::Case& one, const std::vector<std::string>& parameters,
                const std::vector<std::vector<Member>>& members, const CapturedFits& known,
                Fitter& fitter, Lost lost)
      : case_(one),
        parameters_(parameters),
        members_(members),
        known_(known),
        fitter_(fitter),
        lost_(lost) {}

  base::Result<> Run() {
    for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
      records::Argument& argument = case_.arguments[i];
      TRY(Replace(argument.name, argument.fill, TypeOf(i, argument.count)));
      if (argument.bytes.empty()) continue;
      const std::vector<Member> none;
      const std::vector<Member>& known = i < members_.size() ? members_[i] : none;
      TRY_ASSIGN(argument.bytes, WithoutData(argument.bytes, known));
    }
    for (records::Buffer& buffer : case_.buffers) {
      if (!buffer.pointers.empty()) {  // what is no pointer there may be a null one
        if (IsCaptured(buffer.fill)) buffer.fill = Zeros();
        continue;
      }
      TRY(Replace(buffer.name, buffer.fill, TypeBehind(buffer)));
    }
    for (records::Global& global : case_.globals) {
      const auto type = [&global](std::int64_t bytes) {
        return device::ElementTypeOf(WithoutQualifiers(global.type),
                                     bytes / ElementsOf(global.count));
      };
      TRY(Replace(global.symbol, global.fill, type));
    }
    return {};
  }

  // Of the contents that were there.
  CapturedFits TakeFits() { return std::move(fits_); }

 private:
  using TypeFor = Fitter::TypeFor;

  static bool IsCaptured(const std::optional<records::Fill>& fill) {
    return fill && fill->path.rfind(blobs::kBlobScheme, 0) == 0;
  }

  static records::Fill Zeros() {
    records::Fill fill;
    fill.kind = "constant";
    fill.value = "0";
    return fill;
  }

  // Captured counts are numbers.
  static std::int64_t ElementsOf(const records::Size& count) {
    return std::max<std::int64_t>(1, std::strtoll(count.c_str(), nullptr, 10));
  }

  std::string Parameter(std::size_t i) const {
    return i < parameters_.size() ? parameters_[i] : std::string();
  }

  // The type of an array of `count` elements once its bytes are known.
  TypeFor TypeOf(std::size_t i, const records::Size& count) const {
    return [this, i, count](std::int64_t bytes) {
      return ElementBehind(Parameter(i), bytes / ElementsOf(count));
    };
  }

  static bool LeadsTo(const records::Buffer& table, const std::string& buffer) {
    return std::any_of(table.pointers.begin(), table.pointers.end(),
                       [&](const records::PointerInBytes& p) { return p.buffer == buffer; });
  }

  // By the first argument that leads there, or the first table of pointers.
  TypeFor TypeBehind(const records::Buffer& buffer) const {
    return [this, &buffer](std::int64_t) {
      for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
        if (case_.arguments[i].buffer == buffer.name) return ElementBehind(Parameter(i), 0);
      }
      for (const records::Buffer& table : case_.buffers) {
        if (!LeadsTo(table, buffer.name)) continue;
        for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
          const std::string type = Parameter(i);
          if (case_.arguments[i].buffer != table.name || type.find('*') == type.rfind('*')) {
            continue;
          }
          return ElementBehind(type.substr(0, type.rfind('*')), 0);
        }
      }
      return ElementType{};
    };
  }

  base::Result<> Replace(const std::string& name, std::optional<records::Fill>& fill,
                         const TypeFor& type_for) {
    if (!IsCaptured(fill)) return {};
    const std::string contents = fill->path.substr(blobs::kBlobScheme.size());
    const auto known = known_.find(name);
    if (known != known_.end() && known->second.contents == contents) {
      fill = known->second.fill;
      fits_.insert(*known);
      return {};
    }
    const auto fitted = fitter_.Of(contents, type_for);
    if (!fitted) {
      if (lost_ == Lost::kError) return base::Fail(fitted.error());
      fill = Zeros();
      return {};
    }
    fill = fitted->fill;
    fits_[name] = {contents, fitted->fill, fitted->distribution};
    return {};
  }

  records::Case& case_;
  const std::vector<std::string>& parameters_;
  const std::vector<std::vector<Member>>& members_;
  const CapturedFits& known_;
  Fitter& fitter_;
  const Lost lost_;
  CapturedFits fits_;
};

// The case becomes a synthetic one.
base::Result<CapturedFits> Synthesize(records::Case& one, const Captured& captured, Fitter& fitter,
                                      Lost lost) {
  const CapturedFits known = captured.FitsOf(one.name);
  CaseSynthesis synthesis(one, captured.parameters, captured.members, known, fitter, lost);
  TRY(synthesis.Run());
  return synthesis.TakeFits();
}

Fitter FitterOf(const blobs::BlobStore& blobs) {
  return Fitter([&blobs](const std::string& hash) { return blobs.Get(hash); });
}

Distributions DistributionsOf(const CapturedFits& fits) {
  Distributions distributions;
  for (const auto& [name, fit] : fits) distributions[name] = fit.distribution;
  return distributions;
}

}  // namespace

base::Result<Fitted> Fitter::Of(const std::string& hash, const TypeFor& type_for) {
  const auto known = bytes_.find(hash);
  if (known != bytes_.end()) {
    for (const auto& [type, fitted] : fitted_[hash]) {
      if (type == type_for(known->second)) return fitted;
    }
  }
  TRY_ASSIGN(const std::string bytes, contents_(hash));
  const auto size = static_cast<std::int64_t>(bytes.size());
  const ElementType type = type_for(size);
  bytes_[hash] = size;
  return fitted_[hash].emplace_back(type, Fit(bytes, type)).second;
}

std::vector<std::vector<records::Parameter::Member>> MembersOf(const records::Kernel& kernel) {
  std::vector<std::vector<records::Parameter::Member>> members;
  for (const records::Parameter& parameter : kernel.parameters) {
    members.push_back(parameter.members);
    // Half precision is a class of the toolkit's.
    const device::ElementType type = device::ElementTypeOf(parameter.canonical, parameter.bytes);
    const bool half = parameter.kind == records::ParameterKind::kOther && type.floating();
    if (half && type.lanes == 1 && parameter.members.empty()) {
      members.back().push_back(
          {"", parameter.canonical, records::ParameterKind::kFloating, 0, parameter.bytes, false});
    }
    for (const records::MadeType& made : kernel.made_types) {
      if (made.name != parameter.canonical || !parameter.members.empty()) continue;
      for (const records::MadeType::Integer& one : made.integers) {
        members.back().push_back(
            {one.name, "", records::ParameterKind::kInteger, one.offset, one.bytes, one.is_signed});
      }
    }
  }
  return members;
}

base::Result<Distributions> MakeSynthetic(records::Case& one, const records::Kernel& kernel,
                                          const blobs::BlobStore& blobs, Lost lost,
                                          const CapturedFits& fits) {
  std::vector<std::string> parameters;
  parameters.reserve(kernel.parameters.size());
  for (const records::Parameter& parameter : kernel.parameters) {
    parameters.push_back(parameter.canonical);
  }
  const auto members = MembersOf(kernel);
  Fitter fitter = FitterOf(blobs);
  CaseSynthesis synthesis(one, parameters, members, fits, fitter, lost);
  TRY(synthesis.Run());
  return DistributionsOf(synthesis.TakeFits());
}

base::Result<> MakeSynthetic(Captured& captured, const blobs::BlobStore& blobs) {
  Fitter fitter = FitterOf(blobs);
  for (records::Case& one : captured.cases) {
    TRY_ASSIGN(const CapturedFits found, Synthesize(one, captured, fitter, Lost::kError));
    if (!found.empty()) captured.distributions[one.name] = DistributionsOf(found);
  }
  captured.after.clear();
  captured.fits.clear();
  captured.replays.clear();
  captured.synthetic = true;
  return {};
}

CapturedFits FindFits(records::Case one, const Captured& captured, Fitter& fitter) {
  return Synthesize(one, captured, fitter, Lost::kZeros).value_or(CapturedFits());
}

}  // namespace cupilot::workloads
