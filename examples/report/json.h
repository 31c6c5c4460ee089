// Just enough JSON for the report, so that it builds on a machine that has nothing but a compiler.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the text

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // The document in a file; null where there is none or it is not JSON.
  static Json FromFile(const std::string& path);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_number() const { return std::holds_alternative<double>(value_); }
  double number(double otherwise = 0) const;
  std::string text(const std::string& otherwise = {}) const;
  const Array& array() const;    // empty where it is something else
  const Object& object() const;  // empty where it is something else

  // The member of an object; null where there is none.
  const Json& operator[](const std::string& name) const;
  // Adds a member; a null value becomes an object first.
  void Set(const std::string& name, Json value);

  std::string Dump(int indent = 0) const;

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> value_;
};
