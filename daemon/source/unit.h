// One preprocessed and parsed translation unit of a compile command: what scan and retune start
// from.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "records/compile_command.h"
#include "source/command_flags.h"
#include "source/substitute.h"
#include "source/syntax/leading_text.h"
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

  // What it begins with, read when somebody asks for the first time; null: it cannot be read apart.
  // Thread-safe.
  std::shared_ptr<const LeadingText> Leading() const;

 private:
  mutable std::once_flag leading_asked_;
  mutable std::shared_ptr<const LeadingText> leading_;
};

// `text` empty: the file is read.
base::Result<std::unique_ptr<Unit>> LoadUnit(const records::CompileCommand& command,
                                             const std::string& text);

// The same source with macros that come after those of the command. Its headers are as they were
// for `before`.
base::Result<std::unique_ptr<Unit>> LoadUnit(const Unit& before, const NamedValues& values);

// As the source stands. Kept for who asks for the same again soon, until a file that was read is
// another one. Thread-safe.
base::Result<std::shared_ptr<const Unit>> LoadKeptUnit(const records::CompileCommand& command,
                                                       const std::string& text);

// The same where a LoadUnit with other values is sure to come: of a unit that is not kept yet, what
// its headers declare is kept as well.
base::Result<std::shared_ptr<const Unit>> KeepUnit(const records::CompileCommand& command,
                                                   const std::string& text);

}  // namespace cupilot::source
