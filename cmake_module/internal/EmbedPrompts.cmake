# cmake -DFOLDER=prompts -DOUTPUT=file.cc -P EmbedPrompts.cmake: the prompts as a table of texts, so that programs read no file.
file(GLOB files "${FOLDER}/*.v*.md")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  cmake_path(GET file STEM LAST_ONLY name)
  file(READ "${file}" text)
  string(APPEND rows "    {\"${name}\", R\"prompt(${text})prompt\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made of prompts/*.md.\n#include \"agents/roles/embedded_prompts.h\"\n
namespace cupilot::agents {\n
const EmbeddedPrompt kEmbeddedPrompts[] = {\n${rows}    {{}, {}}};\n
}  // namespace cupilot::agents\n")
