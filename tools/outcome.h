// Outcome<T>: a value, or the text that says why there is none.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace purlin::tools {

// What was asked, what was found, where, and what to do; for people.
struct Error {
  std::string text;
};

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const std::string& error() const { return std::get<1>(content_).text; }
  T& operator*() { return std::get<0>(content_); }
  const T& operator*() const { return std::get<0>(content_); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }

 private:
  std::variant<T, Error> content_;
};

// Something that was done, or why not.
using Done = Outcome<std::monostate>;
inline Done done() { return std::monostate{}; }

}  // namespace purlin::tools
