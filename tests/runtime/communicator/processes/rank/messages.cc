#include "runtime/communicator/processes/rank/messages.h"

#include <vector>

#include "runtime/communicator/message_plan.h"

namespace purlin::test {
namespace {

purlin_status differ(const std::string& what, bool odd, bool first, int last, purlin_comm_t comm) {
  std::vector<float> in(9000), out(9000 * 64);
  if (what == "count")
    return purlin_all_reduce(in.data(), out.data(), odd ? 39 : 40, PURLIN_F32, PURLIN_SUM, comm,
                             nullptr);
  if (what == "dtype")
    return purlin_all_reduce(in.data(), out.data(), 40, odd ? PURLIN_I32 : PURLIN_F32, PURLIN_SUM,
                             comm, nullptr);
  if (what == "op")
    return purlin_all_reduce(in.data(), out.data(), 9000, PURLIN_F32, odd ? PURLIN_MAX : PURLIN_SUM,
                             comm, nullptr);
  if (what == "root")
    return purlin_broadcast(in.data(), out.data(), 9000, PURLIN_F32, odd ? 1 : 0, comm, nullptr);
  if (what == "collective")
    return odd ? purlin_all_gather(in.data(), out.data(), 9000, PURLIN_F32, comm, nullptr)
               : purlin_all_to_all(out.data() + 9000, in.data(), 100, PURLIN_F32, comm, nullptr);
  if (what == "nothing")
    return odd ? purlin_recv(out.data(), 9000, PURLIN_F32, 0, comm, nullptr)
               : purlin_barrier(comm, nullptr);
  if (what != "message") return PURLIN_INTERNAL;
  if (odd) return purlin_recv(out.data(), 8000, PURLIN_F32, 0, comm, nullptr);
  const purlin_status sent =
      first ? purlin_send(in.data(), 9000, PURLIN_F32, last, comm, nullptr) : PURLIN_OK;
  return sent == PURLIN_OK ? purlin_barrier(comm, nullptr) : sent;
}

}  // namespace

std::string run_messages(const Place& place, std::istringstream& arguments) {
  uint64_t rounds = 0, seed = 0;
  arguments >> rounds >> seed;
  purlin_comm_t comm = nullptr;
  std::string said = create(place, "messages", kSmallSlots, &comm);
  for (uint64_t i = 0; i < rounds && said == "ok"; ++i) {
    const std::string wrong = exchange_messages(place.nranks, place.rank, seed + i, comm);
    said = wrong.empty() ? reduce_once(comm, 1 + i % 3 * 4000, static_cast<uint32_t>(i)) : wrong;
  }
  if (comm != nullptr) purlin_comm_destroy(comm);
  return said;
}

std::string run_difference(const Place& place, std::istringstream& arguments) {
  std::string what;
  arguments >> what;
  purlin_comm_t comm = nullptr;
  std::string said = create(place, "odd", "", &comm);
  if (said == "ok") {
    const int last = place.nranks - 1;
    said = text_of(differ(what, place.rank == last, place.rank == 0, last, comm));
  }
  if (comm != nullptr) purlin_comm_destroy(comm);
  return said;
}

}  // namespace purlin::test
