// Why a daemon runs: the note that each leaves for the next one in the file of the instance lock.
// Pure functions of texts.
#pragma once

#include <string>

namespace cupilot::service {

// While one runs: `{"pid": 42, "version": "0.1.0", "date": "..."}`. What a killed one leaves.
std::string RunningNote(int pid, const std::string& version, const std::string& date);

// When it ends by itself: the same with "ended", the reason.
std::string EndedNote(int pid, const std::string& version, const std::string& date,
                      const std::string& reason);

// A sentence's worth for the log and for `status`: why there is a new daemon, from the note of the
// one before it. A note that cannot be read is as good as none.
std::string StartedBecause(const std::string& note);

// The process that a note names; 0: none.
int PidOf(const std::string& note);

// The version of the daemon that wrote it; empty: none.
std::string VersionOf(const std::string& note);

}  // namespace cupilot::service
