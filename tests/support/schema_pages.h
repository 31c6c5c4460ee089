// client/SCHEMAS.md as a reader understands it: which keys a document has, also below others.
//
// In the section of a schema each `key` is one. In brackets behind it stand the keys of the object,
// or of each object of the list, that it holds; `cupilot.x/1` there means those of that section,
// "as `k` of `cupilot.x/1`" those below its key k. Where brackets begin with "by ", the object's
// own keys are no fixed ones, and what is named are those of its values. Of a key that holds no
// object the brackets name values. Schemas without a section are said elsewhere, and free.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::test {

class SchemaPages {
 public:
  explicit SchemaPages(const std::string& text);

  // What of the document the page does not say: paths such as "kernels.budget.hours".
  std::vector<std::string> Undescribed(const std::string& schema, const records::Json& document);
  // What the page says of these schemas and no document had that was looked at.
  std::vector<std::string> Unseen(const std::set<std::string>& schemas) const;

 private:
  struct Keys {
    std::map<std::string, Keys> below;
    bool by_name = false;  // `below` are those of its values
    std::string as_schema, as_key;
  };
  static Keys ParseKeys(const std::string& text, std::size_t& at);
  const Keys* Meant(const Keys& keys) const;
  void Look(const records::Json& value, const Keys& keys, const std::string& said,
            const std::string& path, std::vector<std::string>& undescribed);
  void LookAtObject(const records::Json& value, const Keys& keys, const std::string& said,
                    const std::string& path, std::vector<std::string>& undescribed);
  void AddUnseen(const Keys& keys, const std::string& said, std::vector<std::string>& unseen) const;

  std::map<std::string, Keys> sections_;
  std::set<std::string> seen_;     // "cupilot.x/1:kernels.budget"
  std::set<std::string> objects_;  // of these, those that held an object
};

}  // namespace cupilot::test
