// Recognizes calls that repeat the one before with other buffers, or the same: the usual case, in
// which nothing but the buffers has to be looked at again.
#pragma once

#include "communicator/call_facts.h"

namespace purlin {

class RepeatedCall {
 public:
  // The call that was prepared last is `facts->call`; it is copied. Calls that point to more than
  // their buffers are not remembered.
  void remember(const CallFacts& facts);
  void forget() { known_ = false; }
  // Whether `call` differs from the remembered one in its buffers at most, and these are right and
  // in place if the others were. What is wrong otherwise is not said: check_call says it.
  bool matches(const purlin_call& call, int nranks, int rank);

 private:
  bool known_ = false;
  purlin_call call_{};
  CallFacts facts_;
};

}  // namespace purlin
