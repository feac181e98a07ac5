#include "communicator/explain_notes.h"

#include <fmt/format.h>

#include "rendezvous/launcher_environment.h"

namespace purlin {

std::vector<std::string> notes_on_meeting(const Communicator* comm) {
  constexpr const char* kRemedy =
      "any process of this user may join; use purlin run, or give a unique id, to keep others out";
  if (comm != nullptr) {
    if (comm->address().token_used) return {};
    return {fmt::format("the ranks met by {}, and no token was used: {}", comm->address().origin, kRemedy)};
  }
  const auto launcher = detect_launcher();
  if (!launcher) return {"no communicator could be created here: " + launcher.status().message()};
  if (!launcher->has_value() || (*launcher)->unique_id) return {};
  return {fmt::format("the ranks of {} meet without a token unless the program gives a unique id: {}",
                      (*launcher)->source, kRemedy)};
}

std::string note_on_reading(const Communicator* comm, std::vector<Launch>* launches) {
  if (!(*launches)[0].direct) return "";
  if (comm == nullptr)
    return "whether ranks may read each other's memory (process_vm_readv), and have a core each, is "
           "found out when a communicator is created; otherwise input is staged in chunks";
  const std::string obstacle = comm->unreadable();
  if (obstacle.empty()) return "";
  for (Launch& launch : *launches) launch.direct = false;
  return "input is staged rather than read where it lies: " + obstacle;
}

std::string note_on_windows(const Communicator* comm, const Launch& launch) {
  if (!launch.chunks || launch.direct) return "";
  const auto& setting = launch.choice->zero_copy;
  if (!setting.value)
    return fmt::format("registered buffers are staged like others: zero_copy off, said by {}",
                       setting.origin.text());
  const std::string rule =
      "input, and output that is passed on, is read in place where it lies in a registered buffer that all "
      "peers have mapped, and staged elsewhere";
  if (comm == nullptr) return rule;
  return fmt::format("{}; open registrations: {}, of which all peers have mapped {} of this rank", rule,
                     comm->windows().count(), comm->windows().reachable_count());
}

}  // namespace purlin
