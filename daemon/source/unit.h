// One preprocessed and parsed translation unit of a compile command: what scan and retune start
// from.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"
#include "source/command_flags.h"
#include "source/syntax/parse.h"
#include "source/syntax/preprocess.h"
#include "source/tags.h"

namespace cupilot::source {

struct Unit {
  CommandFlags flags;
  std::string text;  // of the source file
  Preprocessed source;
  ParseOutcome parsed;
  Places places{""};
};

// `text` empty: the file is read. `values` are macros that come after those of the command.
base::Result<std::unique_ptr<Unit>> LoadUnit(
    const records::CompileCommand& command, const std::string& text,
    const std::vector<std::pair<std::string, std::int64_t>>& values = {});

// As the source stands. Kept for who asks for the same again soon, until a file that was read is
// another one. Thread-safe.
base::Result<std::shared_ptr<const Unit>> LoadKeptUnit(const records::CompileCommand& command,
                                                       const std::string& text);

// The same where a LoadUnit with other values is sure to come: of a unit that is not kept yet, what
// its headers declare is kept as well.
base::Result<std::shared_ptr<const Unit>> KeepUnit(const records::CompileCommand& command,
                                                   const std::string& text);

}  // namespace cupilot::source
