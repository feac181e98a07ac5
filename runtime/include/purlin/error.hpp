// purlin/error.hpp: how a call of purlin.hpp fails.
#ifndef PURLIN_ERROR_HPP
#define PURLIN_ERROR_HPP

#include <stdexcept>
#include <string>
#include <utility>

#include "purlin/purlin.h"

namespace purlin {

// A failed call: what() is the text of purlin_last_error().
class Error : public std::runtime_error {
 public:
  Error(purlin_status code, const std::string& text) : std::runtime_error(text), code_(code) {}
  purlin_status code() const noexcept { return code_; }

 private:
  purlin_status code_;
};

// How a try_ function ended. Converts to true when it succeeded.
class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(purlin_status code, std::string text) : code_(code), text_(std::move(text)) {}
  // Of a C call made just before on this thread.
  static Outcome of(purlin_status code) {
    return code == PURLIN_OK ? Outcome() : Outcome(code, purlin_last_error());
  }

  explicit operator bool() const noexcept { return code_ == PURLIN_OK; }
  purlin_status code() const noexcept { return code_; }
  const std::string& text() const noexcept { return text_; }
  void or_throw() const {
    if (code_ != PURLIN_OK) throw Error(code_, text_);
  }

 private:
  purlin_status code_ = PURLIN_OK;
  std::string text_;
};

}  // namespace purlin
#endif  // PURLIN_ERROR_HPP
