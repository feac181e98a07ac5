#include "communicator/cuda_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "communicator/shared_table.h"
#include "device/connections.h"
#include "device/peer_link.h"
#include "memory/peer_check.h"
#include "rendezvous/records.h"

namespace purlin {

struct CudaWire::Seat {
  RankPlace place;
  uint64_t mapped_bytes;
  const DeviceMemory* memory;  // valid within the owner's process, until the ranks have agreed
  char device[160];
};

namespace {

// Ranks of different processes on one GPU take turns of milliseconds: for trying things out.
bool turns_allowed() {
  const char* text = std::getenv("PURLIN_ALLOW_TURNS");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

}  // namespace

uint64_t identity_number(const Rendezvous& rendezvous) {
  uint64_t number = 0;
  std::memcpy(&number, &rendezvous.identity(), std::min(sizeof number, sizeof rendezvous.identity()));
  return number;
}

Result<CudaWire> CudaWire::create(std::shared_ptr<const CudaDevice> device, const std::string& name,
                                  const snac::WireConfig& config, Rendezvous& rendezvous) {
  const uint64_t table_bytes = uint64_t{config.nranks} * sizeof(snac::Control);
  auto table = share_table("purlin controls " + name, table_bytes, rendezvous);
  if (!table) return table.status();
  CudaWire wire;
  wire.device_ = device;
  wire.table_ = std::move(*table);
  wire.host_controls_ = reinterpret_cast<snac::Control*>(wire.table_.data());
  const snac::WireMap map = snac::map_wire(config);

  // What can fail on one rank alone comes first, and is told before peers rely on it.
  Status alone = [&]() -> Status {
    auto registered = RegisteredMemory::create(device, wire.table_.data(), table_bytes);
    if (!registered) return registered.status();
    wire.registered_ = std::move(*registered);
    auto own = DeviceMemory::create(device, map.total, "staging of communicator " + name);
    if (!own) return own.status();
    wire.own_ = std::move(*own);
    return {};
  }();
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(alone));

  Seat mine{};
  mine.place.device = device->uuid();
  mine.place.process = process_token();
  mine.place.mps = device->mps() ? 1 : 0;
  mine.mapped_bytes = wire.own_.mapped_bytes();
  mine.memory = &wire.own_;
  fmt::format_to_n(mine.device, sizeof mine.device - 1, "{}", device->describe());
  auto seats = gather_records(mine, "its GPU memory", rendezvous);
  if (!seats) return seats.status();

  PURLIN_RETURN_IF_ERROR(wire.map_peers(*seats, rendezvous));
  PURLIN_RETURN_IF_ERROR(wire.verify(*seats, map, rendezvous));
  PURLIN_RETURN_IF_ERROR(wire.agree_on_packets(*seats, rendezvous));
  return wire;
}

Status CudaWire::map_peers(const std::vector<Seat>& seats, Rendezvous& rendezvous) {
  const auto self = static_cast<size_t>(rendezvous.rank());
  std::vector<RankPlace> places;
  bool processes = false;
  for (const Seat& seat : seats) {
    places.push_back(seat.place);
    processes = processes || seat.place.process != seats[0].place.process;
  }
  auto local = ranks_on_my_device(places, rendezvous.rank(), turns_allowed());
  Status status = local.status();
  if (local) {
    local_ranks_ = *local;
    // Of this process: ranks of others have queues of their own.
    const auto threads = static_cast<unsigned>(std::count_if(
        places.begin(), places.end(), [&](const RankPlace& place) {
          return place.process == places[self].process &&
                 std::memcmp(&place.device, &places[self].device, sizeof place.device) == 0;
        }));
    status = check_connections(threads, device_->api().was_running());
  }
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(status));

  peers_.resize(seats.size());
  addresses_.assign(seats.size(), 0);
  for (size_t owner = 0; owner < seats.size(); ++owner) {
    std::vector<OwnedFd> fds;
    if (processes) {  // every rank knows that, so all take part
      std::vector<int> own_fd;
      OwnedFd exported;
      if (owner == self) {
        auto fd = own_.export_fd();
        if (fd) exported = std::move(*fd);
        else if (status.is_ok()) status = fd.status();
        if (exported.get() >= 0) own_fd.push_back(exported.get());
      }
      auto received = rendezvous.broadcast_fds(static_cast<int>(owner), own_fd);
      if (!received) return received.status();
      fds = std::move(*received);
    }
    if (owner == self || !status.is_ok()) continue;
    const std::string who = fmt::format("rank {}", owner);
    auto mapping = seats[owner].place.process == seats[self].place.process
                       ? PeerMapping::share(device_, *seats[owner].memory, who)
                       : PeerMapping::import(device_, fds, {&seats[owner].mapped_bytes, 1}, who);
    if (!mapping) {
      status = mapping.status();
      continue;
    }
    addresses_[owner] = mapping->address();
    peers_[owner] = std::move(*mapping);
  }
  addresses_[self] = own_.address();
  return rendezvous.agree(status);
}

Status CudaWire::verify(const std::vector<Seat>& seats, const snac::WireMap& map,
                        Rendezvous& rendezvous) {
  // Marks lie where packets will, and are zeroed again before anyone sends any.
  std::vector<cu::DevicePtr> regions;
  std::vector<std::string> described;
  for (size_t r = 0; r < seats.size(); ++r) {
    regions.push_back(addresses_[r] + map.packets);
    described.emplace_back(seats[r].device);
  }
  if (map.total < map.packets + seats.size() * kPeerMarkBytes)
    return {PURLIN_INTERNAL, "the wire is too small for the marks of its ranks"};
  const int rank = rendezvous.rank();
  const uint64_t nonce = identity_number(rendezvous);
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(write_peer_marks(device_, rank, nonce, regions)));
  PURLIN_RETURN_IF_ERROR(
      rendezvous.agree(check_peer_marks(device_, rank, nonce, regions, described)));
  return rendezvous.agree(clear_peer_marks(device_, rank, regions));
}

Status CudaWire::agree_on_packets(const std::vector<Seat>& seats, Rendezvous& rendezvous) {
  uint32_t carries = 1;
  Status status;
  for (const Seat& seat : seats) {
    auto link = link_to(device_->api(), device_->ordinal(), seat.place.device);
    if (!link) status = link.status();
    else if (!carries_wide_packets(*link)) carries = 0;
  }
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(status));
  auto all = gather_records(carries, "its GPU memory", rendezvous);
  if (!all) return all.status();
  packets_ = std::all_of(all->begin(), all->end(), [](uint32_t one) { return one != 0; });
  return {};
}

}  // namespace purlin
