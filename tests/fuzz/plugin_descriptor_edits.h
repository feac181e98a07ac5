// A plugin's memory with a sound descriptor in it, spoiled by a list of edits. Shared by the
// libFuzzer target and by the deterministic sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "plugin/descriptor_check.h"
#include "plugin/plugin_memory.h"
#include "plugin/verdict.h"

namespace purlin::test {

// Everything a descriptor points to, in one block: what a plugin has mapped. Never called into.
struct PluginImage {
  purlin_atom_descriptor descriptor;
  purlin_atom_limits limits;
  purlin_host_atom table;
  purlin_atom_image images[3];
  char name[16];
  char version[16];
  char line[16];
  unsigned char data[32];
  unsigned char code[64];
};

template <class Function>
Function* code_at(PluginImage* image, std::size_t index) {
  return reinterpret_cast<Function*>(reinterpret_cast<uintptr_t>(image->code + index));
}

inline void make_sound(PluginImage* image, bool cuda) {
  std::memset(image, 0, sizeof(*image));
  std::strcpy(image->name, "sound");
  std::strcpy(image->version, "1.2.3-rc.1");
  std::strcpy(image->line, "a line");
  image->limits = {sizeof(purlin_atom_limits),
                   64,
                   64,
                   1,
                   8,
                   2,
                   1024,
                   65536,
                   4096,
                   32,
                   1024,
                   256,
                   0,
                   0,
                   {31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31}};
  purlin_host_atom& table = image->table;
  table.struct_size = sizeof(table);
  table.run = code_at<std::remove_pointer_t<decltype(table.run)>>(image, 1);
  table.send_packets = code_at<std::remove_pointer_t<decltype(table.send_packets)>>(image, 2);
  table.receive_packets = code_at<std::remove_pointer_t<decltype(table.receive_packets)>>(image, 3);
  table.signal = code_at<std::remove_pointer_t<decltype(table.signal)>>(image, 4);
  table.observe = code_at<std::remove_pointer_t<decltype(table.observe)>>(image, 5);
  table.reduce = code_at<std::remove_pointer_t<decltype(table.reduce)>>(image, 6);
  table.scale = code_at<std::remove_pointer_t<decltype(table.scale)>>(image, 7);
  for (purlin_atom_image& one : image->images) {
    one.struct_size = sizeof(one);
    one.kind = PURLIN_IMAGE_LTOIR_FATBIN;
    one.role = PURLIN_IMAGE_REDUCTION;
    one.base = 90;
    one.data = image->data;
    one.bytes = sizeof(image->data);
    one.name = image->line;
  }
  image->images[0].role = PURLIN_IMAGE_CORE;
  purlin_atom_descriptor& atom = image->descriptor;
  atom.struct_size = sizeof(atom);
  atom.abi_major = PURLIN_ATOM_ABI_MAJOR;
  atom.abi_minor = PURLIN_ATOM_ABI_MINOR;
  atom.device_abi = PURLIN_ATOM_DEVICE_ABI;
  atom.kind = cuda ? PURLIN_ATOM_CUDA : PURLIN_ATOM_HOST;
  atom.name = image->name;
  atom.version = image->version;
  atom.vendor = atom.description = image->line;
  atom.architecture = cuda ? 90 : 0;
  atom.capabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE;
  atom.limits = &image->limits;
  atom.host = cuda ? nullptr : &image->table;
  atom.images = cuda ? image->images : nullptr;
  atom.image_count = cuda ? 3 : 0;
  atom.probe = code_at<std::remove_pointer_t<purlin_atom_probe>>(image, 8);
}

inline plugin::PluginMemory memory_of(const PluginImage& image) {
  const auto* begin = reinterpret_cast<const std::byte*>(&image);
  const auto* code = reinterpret_cast<const std::byte*>(image.code);
  return plugin::PluginMemory(
      {{begin, static_cast<std::size_t>(code - begin), false}, {code, sizeof(image.code), true}});
}

// Reads all that a reader of an accepted descriptor may read: a sanitizer sees what must not be.
inline std::size_t read_everything(const purlin_atom_descriptor& atom) {
  std::size_t sum = std::strlen(atom.name) + std::strlen(atom.version) + std::strlen(atom.vendor) +
                    std::strlen(atom.description) + atom.limits->op_mask[PURLIN_DTYPE_SLOTS - 1];
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    const purlin_atom_image& image = *plugin::image_at(atom, i);
    if (image.kind > PURLIN_IMAGE_PROGRAM || image.role > PURLIN_IMAGE_UNIVERSAL) continue;
    if (image.dtype >= PURLIN_DTYPE_COUNT) continue;
    sum += std::strlen(image.name);
    const auto* bytes = static_cast<const unsigned char*>(image.data);
    for (uint64_t at = 0; at < image.bytes; ++at) sum += bytes[at];
  }
  return sum;
}

// input[0]: bit 0 host or CUDA. Then edits of three bytes: where (two), what is xored in. Returns
// the verdict's rule; ends the process if an accepted descriptor cannot be read.
inline std::string_view judge_edited(std::span<const uint8_t> input) {
  const auto image = std::make_unique<PluginImage>();
  make_sound(image.get(), !input.empty() && (input[0] & 1) != 0);
  auto* bytes = reinterpret_cast<unsigned char*>(image.get());
  for (std::size_t at = 1; at + 3 <= input.size(); at += 3) {
    const std::size_t where =
        (input[at] | std::size_t{input[at + 1]} << 8) % offsetof(PluginImage, data);
    bytes[where] ^= input[at + 2];
  }
  const plugin::Verdict verdict = plugin::check_descriptor(&image->descriptor, memory_of(*image));
  // The sum is compared with something it cannot be, so that no compiler leaves the reading out.
  if (verdict.accepted && read_everything(image->descriptor) == ~std::size_t{0}) std::abort();
  for (const plugin::Rule& rule : plugin::rules()) {
    if (rule.id == verdict.rule) return rule.id;
  }
  std::abort();  // a verdict without a written rule
}

}  // namespace purlin::test
