#include "tools/rank_memory.h"

namespace purlin::tools {

Outcome<RankMemory> RankMemory::make(const RankShape& shape, uint64_t element_bytes,
                                     uint64_t misalign, RankDevice& device,
                                     purlin_comm_t registered) {
  RankMemory memory(element_bytes, device, registered);
  for (const Arena& arena : shape.arenas)
    if (Done added = memory.add(arena, misalign); !added) return Error{added.error()};
  return memory;
}

Done RankMemory::add(const Arena& arena, uint64_t misalign) {
  auto image = GuardedBuffer::make(arena.count * element_bytes_, misalign);
  if (!image) return Error{image.error()};
  const uint64_t bytes = image->block_bytes();
  images_.push_back(std::move(*image));
  if (device_->separate_memory())
    if (Done made = add_copy(bytes); !made) return made;
  if (!registered_) return done();
  unsigned char* block = copies_.empty() ? images_.back().block() : copies_.back();
  purlin_registration_t registration = nullptr;
  if (purlin_comm_register(registered_, block, bytes, &registration) != PURLIN_OK)
    return Error{purlin_last_error()};
  registrations_.push_back(registration);
  return done();
}

Done RankMemory::add_copy(uint64_t bytes) {
  if (registered_) {
    void* block = nullptr;
    if (purlin_mem_alloc(&block, bytes) != PURLIN_OK) return Error{purlin_last_error()};
    copies_.push_back(static_cast<unsigned char*>(block));
    return done();
  }
  auto copy = device_->allocate(bytes);
  if (!copy) return Error{copy.error()};
  copies_.push_back(*copy);
  return done();
}

RankMemory::~RankMemory() {
  // What they can fail with has been told: a communicator that is broken, or a device that is.
  for (purlin_registration_t registration : registrations_)
    purlin_comm_deregister(registered_, registration);
  for (unsigned char* copy : copies_) {
    if (registered_)
      purlin_mem_free(copy);
    else
      device_->release(copy);
  }
}

unsigned char* RankMemory::address(const Place& place) const {
  const size_t arena = static_cast<size_t>(place.arena);
  if (images_.empty()) return nullptr;  // a barrier
  const uint64_t offset = images_[arena].data_offset() + place.offset * element_bytes_;
  return (copies_.empty() ? images_[arena].block() : copies_[arena]) + offset;
}

Done RankMemory::upload() {
  for (size_t a = 0; a < copies_.size(); ++a)
    if (Done copied = device_->copy_in(copies_[a], images_[a].block(), images_[a].block_bytes());
        !copied)
      return copied;
  return done();
}

Done RankMemory::download() {
  for (size_t a = 0; a < copies_.size(); ++a)
    if (Done copied = device_->copy_out(images_[a].block(), copies_[a], images_[a].block_bytes());
        !copied)
      return copied;
  return done();
}

}  // namespace purlin::tools
