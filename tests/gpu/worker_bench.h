// Workers of an unpacked archive, asked as the daemon asks them, and a kernel with candidates.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/compare_object.h"
#include "protocol/worker_messages.h"
#include "records/json.h"

namespace cupilot::gpu_tests {

[[noreturn]] void Die(const std::string& why);

template <class T>
T Must(base::Result<T> result, const char* what) {
  if (!result) Die(std::string(what) + ": " + result.error().message);
  return std::move(*result);
}

// What is under way: a time limit that ends this leaves it as the last line.
void Phase(const std::string& text);

double SecondsSince(std::chrono::steady_clock::time_point begin);

// The processes of this machine, each with the one that started it; those that have ended and wait
// to be asked for are not among them.
std::map<pid_t, pid_t> Parents();
std::set<pid_t> ChildrenOf(pid_t parent);

// One cupilot-worker in a process group of its own, which ends with it; a request at a time.
class Worker {
 public:
  Worker(const std::string& libexec, const std::string& kind);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // The result, or the error with its code; kToolFailed if the worker ended.
  base::Result<records::Json> Call(const std::string& op, const records::Json& params);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// How a candidate differs from the original.
struct Change {
  std::string rounds = "rounds";
  std::string tail;  // statements before the result `x` of thread `i` is stored
  records::Json more = records::Json::object();  // of the variant: launches, workspace
};

class Bench {
 public:
  Bench(std::string libexec, const std::string& nvcc, std::string work);

  protocol::CandidateSet Candidate(const std::string& name, const Change& change = {}) {
    return Candidate(name, change, builder_);
  }
  protocol::CandidateSet Candidate(const std::string& name, const Change& change,
                                   Worker& builder) const;
  // The kernel of an object that was compiled with this change beside the original.
  protocol::CompareObjectReply CompareWithObject(const Change& change);
  // As the candidate.
  protocol::CandidateSet OfObject(const protocol::CompareObjectReply& compared) const;
  const std::string& libexec() const { return libexec_; }

 private:
  std::string Build(const std::string& text, Worker& builder) const;

  std::string libexec_, work_, architecture_;
  records::CompileCommand command_;
  protocol::CandidateSet set_;
  Worker builder_;
};

base::Result<protocol::VerifyReply> Verify(Worker& device, const protocol::CandidateSet& set,
                                           const std::string& depth = "screening",
                                           const std::vector<std::string>& left_out = {});

// Whether processes of compute-sanitizer that are kept find what new ones find, each candidate a
// row of the report.
void RunSanitizers(Bench& bench);

// What is found out about kernels in objects, each a row of the report.
void RunObjects(Bench& bench);

// What becomes of candidates that break the device, each a row of the report, and of the next one.
void RunFaults(Bench& bench);

}  // namespace cupilot::gpu_tests
