// What is kept of captured launches where their data must not be: shapes, and fitted distributions.
// Geometry, counts, sizes, scalars and where pointers lead stay as they were: they are shape.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "blobs/blob_store.h"
#include "device/element.h"
#include "records/kernel.h"
#include "records/workload.h"
#include "workloads/captured.h"
#include "workloads/fitted.h"

namespace cupilot::workloads {

// By parameter: what is known of the numbers in its structures by value, and in what lambdas
// capture (integers alone, by no type).
std::vector<std::vector<records::Parameter::Member>> MembersOf(const records::Kernel& kernel);

// Fits contents, which are read once for all cases that have them with elements of one type. One
// thread.
class Fitter {
 public:
  // By their hash, as fills name them.
  using Contents = std::function<base::Result<std::string>(const std::string& hash)>;
  // Of so many bytes.
  using TypeFor = std::function<device::ElementType(std::int64_t)>;

  explicit Fitter(Contents contents) : contents_(std::move(contents)) {}
  // An error where they cannot be read.
  base::Result<Fitted> Of(const std::string& hash, const TypeFor& type_for);

 private:
  Contents contents_;
  std::map<std::string, std::int64_t> bytes_;
  std::map<std::string, std::vector<std::pair<device::ElementType, Fitted>>> fitted_;
};

// What becomes of contents that are not in the store any more, or cannot be read.
enum class Lost {
  kError,  // for who runs the case
  kZeros,  // a constant 0, for who needs its shapes alone: nothing of the store makes it fail
};

// Afterwards the case names no captured contents and holds none: those of arguments, buffers and
// globals become the fills that fit them, those of buffers of pointers zeros (their pointers stay).
// Of a structure by value, whole numbers and where its pointers lead stay, as scalars do; floating
// ones are rounded to one significant digit; all else becomes zero, also what is not known of its
// layout (records::Parameter::members; of a lambda its integers), and text (arrays of char).
// Fills that are no captured contents stay. `kernel` is the one that the case is of.
// What `fits` knows of the case's contents is not read. What the contents were like is the result.
base::Result<Distributions> MakeSynthetic(records::Case& one, const records::Kernel& kernel,
                                          const blobs::BlobStore& blobs, Lost lost = Lost::kError,
                                          const CapturedFits& fits = {});

// Each of its cases, by what was known of the kernel when it was captured; what the launches left
// and what replays said is forgotten.
base::Result<> MakeSynthetic(Captured& captured, const blobs::BlobStore& blobs);

// What fits the contents of a case of this capture, which is to become one of its cases. What
// cannot be read has none: whether it is missed is for others to say.
CapturedFits FindFits(records::Case one, const Captured& captured, Fitter& fitter);

}  // namespace cupilot::workloads
