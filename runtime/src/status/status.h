// Status and Result<T>: errors by value. Internal to the runtime; the C API turns a Status into its
// code plus the thread's message.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "purlin/purlin.h"

namespace purlin {

// A code and, unless ok, a message that says what was asked, what was found, where and what to do.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(purlin_status code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != PURLIN_OK);
  }
  static Status ok() { return {}; }

  bool is_ok() const { return code_ == PURLIN_OK; }
  explicit operator bool() const { return is_ok(); }
  purlin_status code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with `context` in front: "context: message".
  Status with_context(const std::string& context) const {
    return is_ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  purlin_status code_ = PURLIN_OK;
  std::string message_;
};

// Either a T or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.is_ok()); }

  bool is_ok() const { return value_.has_value(); }
  explicit operator bool() const { return is_ok(); }
  const Status& status() const { return status_; }
  T& value() & { assert(is_ok()); return *value_; }
  const T& value() const& { assert(is_ok()); return *value_; }
  T&& value() && { assert(is_ok()); return std::move(*value_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

#define PURLIN_RETURN_IF_ERROR(expression)                              \
  do {                                                                  \
    if (::purlin::Status purlin_status_ = (expression); !purlin_status_.is_ok()) \
      return purlin_status_;                                            \
  } while (0)

}  // namespace purlin
