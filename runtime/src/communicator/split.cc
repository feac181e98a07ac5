#include <cstring>

#include <fmt/format.h>

#include "communicator/communicator.h"

namespace purlin {
namespace {

// What each member tells about itself. Same machine: plain bytes.
struct Wish {
  int32_t color;
  int32_t key;
  int32_t rank;
  Identity identity;  // of the communicator that this rank would found
  Token token;
};

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::split(int color, int key) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  auto part = split_off(color, key);
  if (!part) return cause_of(part.status());
  return part;
}

Result<std::unique_ptr<Communicator>> Communicator::split_off(int color, int key) {
  auto id = make_unique_id();
  PURLIN_RETURN_IF_ERROR(rendezvous_->agree(id.status()));
  Wish mine{};
  mine.color = color;
  mine.key = key;
  mine.rank = rank();
  mine.identity = id->name;
  mine.token = id->token;
  auto blobs = rendezvous_->all_gather_blob(std::as_bytes(std::span(&mine, 1)));
  if (!blobs) return blobs.status();
  PURLIN_RETURN_IF_ERROR(rendezvous_->park());
  std::vector<Wish> members;
  for (const Blob& blob : *blobs) {
    Wish wish;
    if (blob.size() != sizeof wish)
      return Status(PURLIN_MISMATCH, "ranks of one split run different versions of Purlin");
    std::memcpy(&wish, blob.data(), sizeof wish);
    if (wish.color == color) members.push_back(wish);
  }
  if (color < 0) return std::unique_ptr<Communicator>();
  std::stable_sort(members.begin(), members.end(), [](const Wish& a, const Wish& b) {
    return a.key != b.key ? a.key < b.key : a.rank < b.rank;
  });
  CommunicatorSetup setup = setup_;
  setup.nranks = static_cast<int>(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i].rank == rank()) setup.rank = static_cast<int>(i);
  setup.address =
      address_of_members(members[0].identity, members[0].token, rendezvous_->token_used());
  setup.name = fmt::format("{}/{}", name_, color);
  setup.options.device_kind = device_kind();  // whatever has become current since
  setup.options.device_ordinal = device_ordinal();
  setup.options.policy_path = policy_path_.empty() ? nullptr : policy_path_.c_str();
  setup.options.policy_text = policy_text_.empty() ? nullptr : policy_text_.c_str();
  setup.stop = &backend_->control(rank())->stop;  // until the new one has a word of its own
  return create(setup);
}

}  // namespace purlin
