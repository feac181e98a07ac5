#include "tools/rank_memory.h"

namespace purlin::tools {

Outcome<RankMemory> RankMemory::make(const RankShape& shape, uint64_t element_bytes,
                                     uint64_t misalign, RankDevice& device) {
  RankMemory memory(element_bytes, device);
  for (const Arena& arena : shape.arenas) {
    auto image = GuardedBuffer::make(arena.count * element_bytes, misalign);
    if (!image) return Error{image.error()};
    if (device.separate_memory()) {
      auto copy = device.allocate(image->block_bytes());
      if (!copy) return Error{copy.error()};
      memory.copies_.push_back(*copy);
    }
    memory.images_.push_back(std::move(*image));
  }
  return memory;
}

RankMemory::~RankMemory() {
  for (unsigned char* copy : copies_) device_->release(copy);
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
