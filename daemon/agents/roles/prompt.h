// The prompts of prompts/*.md, which are part of the program, with data in their places.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::agents {

struct Prompt {
  std::string system;
  std::string user;
};

// "aligner.v1", ...: roles with the version of their prompt, and parts that prompts share.
std::vector<std::string> PromptNames();
// Empty: there is none of that name.
std::string_view PromptText(std::string_view name);

// kInternal: there is no such prompt, its text is wrong, or a variable of it is missing in `data`,
// an object of texts, booleans, objects and arrays. Nothing is escaped: sources are no HTML.
base::Result<Prompt> RenderPrompt(std::string_view name, const records::Json& data);

// All variables that a prompt's text names, in the parts that it shares too.
std::set<std::string> VariablesOf(std::string_view name);

// Text of others (sources, comments, logs, answers) as data in a prompt: between delimiters, which
// the text itself cannot hold, valid UTF-8 without control characters, and of at most `most` bytes,
// of which its end is kept where `keep_end`, else its beginning.
std::string AsData(std::string_view name, std::string_view text, std::size_t most,
                   bool keep_end = false);
// A name of others within a line of ours: one short word or line without delimiters.
std::string AsName(std::string_view text);

}  // namespace cupilot::agents
