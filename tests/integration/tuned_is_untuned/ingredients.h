// What small CUDA projects are made of in the test tuned_is_untuned, and what their users do to
// them. A project is `plain` and some ingredients; an ingredient adds files, and a term to what the
// kernel computes, and knows edits.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cupilot::test {

// What the user has: by path below the source folder. A text "-> x" is a symbolic link to x.
struct UserTree {
  std::map<std::string, std::string> files = {};
  std::map<std::string, std::string> environment;  // of builds; @SOURCE is the source folder
  std::set<std::string> touched;    // are newer after the next write, whatever they hold
  std::set<std::string> same_time;  // keep their time over the next write
  std::set<std::string> returns;    // have a carriage return at each line's end
  int fresh = 0;                    // for names that are not there yet: @ in texts
};

// kAlone: the kernel stays what it is. kChanges: the program prints something else at the next
// build. kOpen: neither is promised (flags that nobody reads, places that nobody compiles).
enum class Effect { kAlone, kChanges, kOpen };

struct Edit {
  std::string name = {};
  Effect effect = Effect::kAlone;
  std::function<void(UserTree&)> apply = {};
};

struct Ingredient {
  std::string name = {};
  std::map<std::string, std::string> files = {};
  std::string cmake = {};  // behind add_executable(app main.cu)
  std::string above = {};  // in main.cu before the namespace of the kernel
  std::string term = {};   // an int, in the kernel, where `i` is the index
  std::string below = {};  // behind that namespace
  std::vector<Edit> edits = {};
  std::vector<std::string> targets = {};  // programs beside app
  std::string call = {};                  // in main()
  bool by_time = false;                   // what it computes depends on when it is compiled
  bool fixed = false;                     // of fixed histories alone; these are the last ones
};

const std::vector<Ingredient>& Ingredients();
const Ingredient* FindIngredient(const std::string& name);
// "defines.gain"
const Edit* FindEdit(const std::string& name);

// How the kernel is written.
const std::vector<std::string>& Shapes();

// The project's files.
UserTree MakeTree(const std::string& shape, const std::vector<std::string>& ingredients, bool lock);

}  // namespace cupilot::test
