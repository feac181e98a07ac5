// One rank of a communicator: what it agreed on at creation, and how a call becomes a launch.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "communicator/backend.h"
#include "communicator/count_bounds.h"
#include "communicator/fusion.h"
#include "communicator/messages.h"
#include "communicator/prepare.h"
#include "communicator/repeated_call.h"
#include "communicator/switch_side.h"
#include "communicator/windows.h"
#include "device/cuda_device.h"
#include "plugin/choice.h"
#include "plugin/registry.h"
#include "policy/choose.h"
#include "policy/search.h"
#include "rendezvous/rendezvous.h"
#include "status/status.h"

namespace purlin {

// What a new communicator is made from, checked and complete.
struct CommunicatorSetup {
  Address address;
  int rank = 0;
  int nranks = 1;
  std::string name;
  purlin_comm_options options{};  // pointers are valid during `create` only
  const std::atomic<bool>* cancelled = nullptr;
  const uint32_t* stop = nullptr;  // nonzero: calls creation off as `cancelled` does
};

class Communicator {
 public:
  // Collective: joins, agrees, allocates. On failure every rank gets an error and nothing is left.
  static Result<std::unique_ptr<Communicator>> create(const CommunicatorSetup& setup);
  ~Communicator();

  int rank() const { return rendezvous_->rank(); }
  int size() const { return rendezvous_->size(); }
  uint32_t least_chunks() const { return wire_.least_chunks; }  // see WireFacts
  const std::string& name() const { return name_; }
  purlin_device_kind device_kind() const {
    return device_ ? PURLIN_DEVICE_CUDA : PURLIN_DEVICE_HOST;
  }
  int device_ordinal() const { return device_ ? device_->ordinal() : -1; }  // host ranks have none
  // The same for all ranks of this communicator, and for no other.
  const Identity& identity() const { return rendezvous_->identity(); }
  const policy::Found& policy() const { return policy_; }
  const plugin::Catalogue& catalogue() const { return catalogue_; }
  const plugin::BoundAtom& atom() const { return atom_; }
  const SwitchSide& switch_side() const { return switch_; }
  // Where the ranks met.
  const Address& address() const { return setup_.address; }
  // Why ranks do not read each other's memory where it lies; "" if they do.
  std::string unreadable() const { return backend_->unreadable(); }
  const Windows& windows() const { return windows_; }

  // Carries out one call; calls of all threads are serialized. An error of the arguments changes
  // nothing; any other breaks the communicator on all ranks.
  Status run(const purlin_call& call, purlin_stream_t stream);
  // What a group holds: first all messages in one launch, or the `exchange` that stands for them, then
  // the calls in order, those that can be fused as one. No other call comes between.
  Status run(std::span<const Message> messages, std::span<const GroupCall> calls,
             const FusedCall* exchange = nullptr);
  // Carries out this rank's side of `call` with no peer taking part, as the first call of the communicator
  // each time. `everyone`, the call of every rank with buffers in host memory, is carried out there
  // first, and what the peers wrote is put where this rank will look for it; empty: it is there from
  // the time before. No other call may have been made, or be made later, by any rank.
  Status run_alone(const purlin_call& call, std::span<const purlin_call> everyone, purlin_stream_t stream);
  // Says that this rank refused what it was about to do, so that peers that wait for it may end.
  void refuse();
  // Collective: the members of `color`, ordered by key, then rank; null for a negative color.
  Result<std::unique_ptr<Communicator>> split(int color, int key);
  // Collective: makes [buffer, buffer + bytes) of every rank reachable for the others as far as can be,
  // and the programs that use it. The registration's number, the same on all ranks.
  Result<uint32_t> register_buffer(void* buffer, uint64_t bytes);
  // Waits for own work. Every rank does so between the same two calls.
  Status deregister_buffer(uint32_t number);
  // Makes and loads what `calls` need on a GPU; buffers and counts of null are not looked at.
  Status prepare_programs(std::span<const purlin_call> calls);
  // From any thread, never blocks.
  void abort();
  // The error that broke the communicator, on this rank or a peer, or ok. From any thread.
  Status broken();

 private:
  Communicator() = default;
  Status set_up(const CommunicatorSetup& setup);
  Status find_parts(const CommunicatorSetup& setup);
  Status agree_on_wire();
  Status settle_switch();
  Status make_backend();
  Status tell_if_stopped();
  Status cause_of(const Status& exchange);
  Result<uint32_t> open_window(void* buffer, uint64_t bytes);
  Result<std::unique_ptr<Communicator>> split_off(int color, int key);
  Status send_and_receive(std::span<const Message> messages);
  Status write_peers_part(std::span<const purlin_call> everyone);
  Status keep_company();
  Status carry_out(const Result<CallFacts>& facts, const GroupCall& call);
  Status failed(const Status& status, const std::string& what);
  Status stop_for(const snac::CountExcess& excess, const CallFacts& facts);
  Result<std::unique_ptr<Backend>> backend_for(const BackendOptions& options);
  Result<Launch*> prepare(const CallFacts& facts);
  Status use_windows();
  Status make_window_programs();
  Status choose_for(const CallFacts& facts, const policy::Choice** choice);
  Status report();
  bool stopped() const;

  std::string name_;
  std::shared_ptr<const CudaDevice> device_;  // null: host ranks
  CommunicatorSetup setup_;
  std::string policy_path_, policy_text_;  // as given, for splits
  std::unique_ptr<Rendezvous> rendezvous_;
  policy::Found policy_;
  plugin::Catalogue catalogue_;
  plugin::BoundAtom atom_;
  SwitchSide switch_;  // what all ranks agreed on
  std::shared_ptr<SwitchMemory> switch_memory_;  // GPU ranks; until the backend has it
  std::unique_ptr<policy::ChoiceTable> choices_;
  policy::Choice forced_;  // the choice of a call with wishes of its own
  WireFacts wire_;
  std::unique_ptr<Backend> backend_;
  Windows windows_;

  std::mutex call_mutex_;
  Launch launch_;
  RepeatedCall repeated_;  // what launch_ was prepared for
  PairLaunch pair_launch_;
  enum class Company { kNone, kTogether, kAlone } company_ = Company::kNone;  // of the calls made so far
  bool told_ = false;  // the caller of `run` has been given the error that broke the communicator
  std::mutex broken_mutex_;
  Status broken_;
};

}  // namespace purlin
