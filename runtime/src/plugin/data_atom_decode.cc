#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "plugin/data_atom.h"
#include "policy/decode_value.h"
#include "policy/document.h"
#include "policy/nearest.h"
#include "policy/words.h"

namespace purlin::plugin {
namespace {

using policy::Bounds;
using policy::Field;
using policy::Node;
using policy::Place;
using policy::Setting;

constexpr uint32_t kLargest = std::numeric_limits<uint32_t>::max();

// A word with its value in the ABI.
struct Word {
  const char* text;
  uint64_t value;
};
constexpr Word kCapabilities[] = {
    {"copy", PURLIN_CAP_COPY},
    {"reduce", PURLIN_CAP_REDUCE},
    {"packets", PURLIN_CAP_PACKETS},
    {"signals", PURLIN_CAP_SIGNALS},
    {"switch-reduce", PURLIN_CAP_SWITCH_REDUCE},
    {"switch-store", PURLIN_CAP_SWITCH_STORE},
    {"remote-store", PURLIN_CAP_REMOTE_STORE},
};
constexpr Word kKinds[] = {
    {"lto-ir", PURLIN_IMAGE_LTOIR_FATBIN},
    {"cubin", PURLIN_IMAGE_CUBIN},
    {"program", PURLIN_IMAGE_PROGRAM},
};
constexpr Word kRoles[] = {
    {"core", PURLIN_IMAGE_CORE},
    {"reduction", PURLIN_IMAGE_REDUCTION},
    {"universal", PURLIN_IMAGE_UNIVERSAL},
};
constexpr Word kSpecific[] = {{"none", 0}, {"a", 'a'}, {"f", 'f'}};

template <class Value>
Status decode_known(const Place& place, const Node& node, std::span<const Word> words,
                    Value& value) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(policy::decode_scalar(place, node, "a word", text));
  std::vector<std::string> valid;
  for (const Word& word : words) {
    if (*text == word.text) {
      value = static_cast<Value>(word.value);
      return Status::ok();
    }
    valid.emplace_back(word.text);
  }
  return place.error(
      node, fmt::format("{} is no value of {}{}. Valid: {}", policy::quoted(*text), place.key,
                        policy::did_you_mean(*text, valid), policy::comma_list(valid)));
}

Status decode_number(const Place& place, const Node& node, uint32_t most, uint32_t& value) {
  Setting<uint32_t> setting;
  PURLIN_RETURN_IF_ERROR(policy::decode_count(place, node, Bounds{0, most, 1}, setting));
  value = setting.value;
  return Status::ok();
}

Status decode_bytes(const Place& place, const Node& node, uint32_t& value) {
  Setting<uint32_t> setting;
  PURLIN_RETURN_IF_ERROR(policy::decode_size32(place, node, Bounds{0, kLargest, 1}, setting));
  value = setting.value;
  return Status::ok();
}

// {min, max, default} of one limit.
struct Range {
  uint32_t least = 0, most = 0, usual = 0;
};
constexpr Field<Range> kCountRange[] = {
    {"min", [](const Place& p, const Node& n,
               Range& r) { return decode_number(p, n, kLargest, r.least); }},
    {"max",
     [](const Place& p, const Node& n, Range& r) { return decode_number(p, n, kLargest, r.most); }},
    {"default", [](const Place& p, const Node& n,
                   Range& r) { return decode_number(p, n, kLargest, r.usual); }},
};
constexpr Field<Range> kByteRange[] = {
    {"min", [](const Place& p, const Node& n, Range& r) { return decode_bytes(p, n, r.least); }},
    {"max", [](const Place& p, const Node& n, Range& r) { return decode_bytes(p, n, r.most); }},
    {"default",
     [](const Place& p, const Node& n, Range& r) { return decode_bytes(p, n, r.usual); }},
};

Status decode_range(const Place& place, const Node& node, std::span<const Field<Range>> fields,
                    uint32_t& least, uint32_t& most, uint32_t& usual) {
  Range range;
  PURLIN_RETURN_IF_ERROR(policy::decode_map<Range>(place, node, fields, range));
  least = range.least;
  most = range.most;
  usual = range.usual;
  return Status::ok();
}

// dtype: [operations], for each dtype that can be reduced.
Status decode_reductions(const Place& place, const Node& node, purlin_atom_limits& limits) {
  const std::vector<std::string> dtypes = policy::words_of<purlin_dtype>();
  PURLIN_RETURN_IF_ERROR(policy::require_map(place, node, dtypes));
  for (const policy::Entry& entry : node.entries) {
    const auto dtype = policy::from_word<purlin_dtype>(entry.key.scalar);
    if (!dtype) return policy::unknown_key(place, entry.key, dtypes);
    std::vector<purlin_op> operations;
    PURLIN_RETURN_IF_ERROR(
        policy::decode_word_list(place.below(entry.key.scalar), entry.value, operations));
    for (const purlin_op op : operations) limits.op_mask[*dtype] |= 1u << op;
  }
  return Status::ok();
}

using Limits = purlin_atom_limits;
constexpr Field<Limits> kLimitsFields[] = {
    {"max_sources", [](const Place& p, const Node& n,
                       Limits& l) { return decode_number(p, n, PURLIN_MAX_RANKS, l.max_sources); }},
    {"max_destinations",
     [](const Place& p, const Node& n, Limits& l) {
       return decode_number(p, n, PURLIN_MAX_RANKS, l.max_destinations);
     }},
    {"stages",
     [](const Place& p, const Node& n, Limits& l) {
       return decode_range(p, n, kCountRange, l.min_stages, l.max_stages, l.default_stages);
     }},
    {"stage_bytes",
     [](const Place& p, const Node& n, Limits& l) {
       return decode_range(p, n, kByteRange, l.min_stage_bytes, l.max_stage_bytes,
                           l.default_stage_bytes);
     }},
    {"threads",
     [](const Place& p, const Node& n, Limits& l) {
       return decode_range(p, n, kCountRange, l.min_threads, l.max_threads, l.default_threads);
     }},
    {"shared_bytes_fixed", [](const Place& p, const Node& n,
                              Limits& l) { return decode_bytes(p, n, l.shared_bytes_fixed); }},
    {"reductions",
     [](const Place& p, const Node& n, Limits& l) { return decode_reductions(p, n, l); }},
};

// "13.0" as 13000.
Status decode_compiler(const Place& place, const Node& node, uint32_t& release) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(policy::decode_scalar(place, node, "a CUDA release", text));
  uint32_t major = 0;
  uint32_t minor = 0;
  const char* end = text->data() + text->size();
  const auto first = std::from_chars(text->data(), end, major);
  const bool dotted = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
  const auto second = dotted ? std::from_chars(first.ptr + 1, end, minor) : first;
  if (!dotted || second.ec != std::errc() || second.ptr != end || major > 99 || minor > 99) {
    return place.error(
        node, fmt::format("{} is no CUDA release. Write it as \"13.0\"", policy::quoted(*text)));
  }
  release = major * 1000 + minor * 10;
  return Status::ok();
}

Status decode_file(const Place& place, const Node& node, std::string& file) {
  PURLIN_RETURN_IF_ERROR(policy::decode(place, node, file));
  if (!file.empty() && file != "." && file != ".." && file.find('/') == std::string::npos) {
    return Status::ok();
  }
  return place.error(node, fmt::format("{} is no file of this folder. Write a name without a slash",
                                       policy::quoted(file)));
}

constexpr Field<DataImage> kImageFields[] = {
    {"file",
     [](const Place& p, const Node& n, DataImage& to) { return decode_file(p, n, to.file); }},
    {"kind", [](const Place& p, const Node& n,
                DataImage& to) { return decode_known(p, n, kKinds, to.image.kind); }},
    {"role", [](const Place& p, const Node& n,
                DataImage& to) { return decode_known(p, n, kRoles, to.image.role); }},
    {"dtype",
     [](const Place& p, const Node& n, DataImage& to) {
       const std::string* text = nullptr;
       PURLIN_RETURN_IF_ERROR(policy::decode_scalar(p, n, "an element type", text));
       const auto dtype = policy::from_word<purlin_dtype>(*text);
       if (!dtype) {
         const auto valid = policy::words_of<purlin_dtype>();
         return p.error(n,
                        fmt::format("{} is no element type{}. Valid: {}", policy::quoted(*text),
                                    policy::did_you_mean(*text, valid), policy::comma_list(valid)));
       }
       to.image.dtype = *dtype;
       return Status::ok();
     }},
    {"base", [](const Place& p, const Node& n,
                DataImage& to) { return decode_number(p, n, 999, to.image.base); }},
    {"specific",
     [](const Place& p, const Node& n, DataImage& to) {
       return decode_known(p, n, kSpecific, to.image.arch_specific);
     }},
    {"compiler", [](const Place& p, const Node& n,
                    DataImage& to) { return decode_compiler(p, n, to.image.compiler); }},
};

Status decode_images(const Place& place, const Node& node, std::vector<DataImage>& images) {
  PURLIN_RETURN_IF_ERROR(policy::require_list(place, node));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    DataImage& image = images.emplace_back();
    image.image.struct_size = sizeof(purlin_atom_image);
    const Place item = place.item(i);
    PURLIN_RETURN_IF_ERROR(policy::decode_map<DataImage>(item, node.items[i], kImageFields, image));
    if (image.file.empty()) return item.error(node.items[i], "an image needs the key file");
  }
  return Status::ok();
}

Status decode_capabilities(const Place& place, const Node& node, uint64_t& capabilities) {
  PURLIN_RETURN_IF_ERROR(policy::require_list(place, node));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    uint64_t one = 0;
    PURLIN_RETURN_IF_ERROR(decode_known(place.item(i), node.items[i], kCapabilities, one));
    capabilities |= one;
  }
  return Status::ok();
}

Status decode_priority(const Place& place, const Node& node, int32_t& priority) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(policy::decode_scalar(place, node, "a whole number", text));
  const char* end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, priority);
  if (parsed.ec == std::errc() && parsed.ptr == end) return Status::ok();
  return place.error(node, fmt::format("{} is no whole number of 32 bits", policy::quoted(*text)));
}

Status decode_version(const Place& place, const Node& node, DataAtom&) {
  uint32_t version = 0;
  PURLIN_RETURN_IF_ERROR(decode_number(place, node, kLargest, version));
  if (version == 1) return Status::ok();
  return place.error(node, fmt::format("version {} of the form; this library reads version 1. "
                                       "Update Purlin, or write the file in version 1",
                                       version));
}

constexpr Field<DataAtom> kAtomFields[] = {
    {"version", decode_version},
    {"name",
     [](const Place& p, const Node& n, DataAtom& to) { return policy::decode(p, n, to.name); }},
    {"release",
     [](const Place& p, const Node& n, DataAtom& to) { return policy::decode(p, n, to.version); }},
    {"vendor",
     [](const Place& p, const Node& n, DataAtom& to) { return policy::decode(p, n, to.vendor); }},
    {"description", [](const Place& p, const Node& n,
                       DataAtom& to) { return policy::decode(p, n, to.description); }},
    {"device_abi",
     [](const Place& p, const Node& n, DataAtom& to) {
       return decode_number(p, n, kLargest, to.descriptor.device_abi);
     }},
    {"priority", [](const Place& p, const Node& n,
                    DataAtom& to) { return decode_priority(p, n, to.descriptor.priority); }},
    {"architecture",
     [](const Place& p, const Node& n, DataAtom& to) {
       return decode_number(p, n, 999, to.descriptor.architecture);
     }},
    {"capabilities",
     [](const Place& p, const Node& n, DataAtom& to) {
       return decode_capabilities(p, n, to.descriptor.capabilities);
     }},
    {"limits",
     [](const Place& p, const Node& n, DataAtom& to) {
       return policy::decode_map<Limits>(p, n, kLimitsFields, to.limits);
     }},
    {"images",
     [](const Place& p, const Node& n, DataAtom& to) { return decode_images(p, n, to.images); }},
};

}  // namespace

Result<DataAtom> decode_atom_yaml(std::string_view text, const std::string& file) {
  const Result<Node> root = policy::parse_document(text, file);
  if (!root) return root.status();
  DataAtom atom;
  atom.limits.struct_size = sizeof(atom.limits);
  const Place place{file, ""};
  PURLIN_RETURN_IF_ERROR(policy::decode_map<DataAtom>(place, root.value(), kAtomFields, atom));
  for (const char* key : {"version", "name", "release", "device_abi", "architecture",
                          "capabilities", "limits", "images"}) {
    bool found = false;
    for (const policy::Entry& entry : root->entries) found |= entry.key.scalar == key;
    if (!found) return place.error(root.value(), fmt::format("the key {} is missing; add it", key));
  }
  return atom;
}

}  // namespace purlin::plugin
