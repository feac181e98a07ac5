// purlin_comm_t handles: validated on every use, so that a destroyed or foreign handle is an error.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "communicator/communicator.h"

namespace purlin {

// What a handle stands for: a communicator, or one that is still being created in the background.
struct Handle {
  std::unique_ptr<Communicator> communicator;
  std::atomic<bool> pending{false};    // until then only the next two may be touched
  std::atomic<bool> cancelled{false};  // nobody wants the communicator any more
  std::atomic<bool> aborted{false};    // and its peers are to hear that
  Status creation;                    // of a background creation
  std::thread creator;
  std::string last_error = "no error";
  std::mutex text_mutex;

  ~Handle();
};

// A new handle that owns `handle`. Thread-safe.
purlin_comm_t publish(std::unique_ptr<Handle> handle);

// The living handle behind `comm`, kept alive as long as the result; null if there is none.
std::shared_ptr<Handle> find_handle(purlin_comm_t comm);

// The same, ready for use: an error that says what is wrong with `comm`, or that it is not ready.
Result<std::shared_ptr<Handle>> ready_handle(purlin_comm_t comm);

// Takes the handle out of use and returns what it stood for; null if it was no living handle.
std::shared_ptr<Handle> retire(purlin_comm_t comm);

}  // namespace purlin
