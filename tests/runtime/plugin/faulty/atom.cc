// One source for many plugins. Without macros it is a sound host Atom that does nothing useful;
// each macro below spoils, or only changes, one thing. test.cmake lists the plugins made from it.
#include "purlin/atom_abi.h"

#ifndef ATOM_NAME
#define ATOM_NAME "sound"
#endif
#ifndef ATOM_VERSION
#define ATOM_VERSION "1.0.0"
#endif
#ifndef ATOM_VENDOR
#define ATOM_VENDOR "the test suite"
#endif
#ifndef ATOM_PRIORITY
#define ATOM_PRIORITY 0
#endif
#ifndef ATOM_ABI_MAJOR
#define ATOM_ABI_MAJOR PURLIN_ATOM_ABI_MAJOR
#endif
#ifndef ATOM_ABI_MINOR
#define ATOM_ABI_MINOR PURLIN_ATOM_ABI_MINOR
#endif
#ifndef ATOM_DEVICE_ABI
#define ATOM_DEVICE_ABI PURLIN_ATOM_DEVICE_ABI
#endif
#ifndef ATOM_DESCRIPTOR_SIZE
#define ATOM_DESCRIPTOR_SIZE sizeof(Descriptor)
#endif
#ifndef ATOM_TABLE_SIZE
#define ATOM_TABLE_SIZE sizeof(purlin_host_atom)
#endif
#ifndef ATOM_LIMITS_SIZE
#define ATOM_LIMITS_SIZE sizeof(purlin_atom_limits)
#endif
#ifndef ATOM_KIND
#define ATOM_KIND PURLIN_ATOM_HOST
#endif
#ifndef ATOM_ARCHITECTURE
#define ATOM_ARCHITECTURE 0
#endif
#ifndef ATOM_IMAGE_BASE
#define ATOM_IMAGE_BASE ATOM_ARCHITECTURE
#endif
#ifndef ATOM_IMAGE_SPECIFIC
#define ATOM_IMAGE_SPECIFIC 0
#endif
#ifndef ATOM_CAPABILITIES
#define ATOM_CAPABILITIES \
  (PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS)
#endif
#ifndef ATOM_MASK
#define ATOM_MASK 0x1fu
#endif
#ifndef ATOM_UNDEFINED_MASK
#define ATOM_UNDEFINED_MASK 0
#endif
#ifndef ATOM_LIMITS_RESERVED
#define ATOM_LIMITS_RESERVED 0
#endif
#ifndef ATOM_TABLE_RESERVED
#define ATOM_TABLE_RESERVED 0
#endif
#ifndef ATOM_IMAGE_RESERVED
#define ATOM_IMAGE_RESERVED 0
#endif
#ifndef ATOM_MAX_SOURCES
#define ATOM_MAX_SOURCES 64
#endif
#ifndef ATOM_DEFAULT_STAGES
#define ATOM_DEFAULT_STAGES 2
#endif
#ifndef ATOM_SIGNAL
#define ATOM_SIGNAL atom_signal
#endif
#ifndef ATOM_ENTRY
#define ATOM_ENTRY PURLIN_ATOM_ENTRY
#endif
#ifndef ATOM_ENTRY_VISIBILITY
#define ATOM_ENTRY_VISIBILITY PURLIN_ATOM_EXPORT
#endif
#ifndef ATOM_RETURNS
#define ATOM_RETURNS &kDescriptor.known
#endif
#ifndef ATOM_PROBE
#define ATOM_PROBE nullptr
#endif

namespace {

int atom_run(const purlin_constants*, const purlin_group*, const purlin_snac_calls*, void*) {
  return 0;
}
void atom_send(purlin_packet*, const void*, uint64_t, uint64_t) {}
uint64_t atom_receive(const purlin_packet*, void*, uint64_t, uint64_t, uint64_t first) {
  return first;
}
[[maybe_unused]] void atom_signal(uint64_t*, uint64_t) {}
uint64_t atom_observe(const uint64_t* flag) { return *flag; }
void atom_reduce(const purlin_constants*, const void* const*, uint32_t, void*, uint64_t) {}
void atom_scale(uint32_t, const void*, const void*, void*, uint64_t) {}

#ifdef ATOM_PROBE_REFUSES
uint32_t refuses(const purlin_device_facts*, char* reason, uint64_t) {
  const char text[] = "it is raining";
  for (unsigned i = 0; i < sizeof(text); ++i) reason[i] = text[i];
  return PURLIN_PROBE_OTHER;
}
#endif
#ifdef ATOM_PROBE_NEVER_ENDS_ITS_TEXT
uint32_t no_end(const purlin_device_facts*, char* reason, uint64_t reason_bytes) {
  for (uint64_t i = 0; i < reason_bytes; ++i) reason[i] = 'x';
  return PURLIN_PROBE_OTHER;
}
#endif
#ifdef ATOM_PROBE_THROWS
struct Ball {};
uint32_t throws(const purlin_device_facts*, char*, uint64_t) { throw Ball(); }
#endif
#ifdef ATOM_ENTRY_THROWS
const purlin_atom_descriptor* thrown() { throw 5; }
#endif
#ifdef ATOM_UNRESOLVED
extern "C" void purlin_test_function_that_nobody_defines();
#endif
#ifdef ATOM_CONSTRUCTOR
int constructed = 0;
struct Constructor {
  Constructor() { constructed = 1; }
} const constructor;
#endif

// What a later minor of the ABI would look like: something appended.
struct Descriptor {
  purlin_atom_descriptor known;
#ifdef ATOM_APPENDED
  uint64_t appended[4];
#endif
};

const purlin_atom_limits kLimits = {
    ATOM_LIMITS_SIZE,
    ATOM_MAX_SOURCES,
    64,
    1,
    8,
    ATOM_DEFAULT_STAGES,
    1024,
    65536,
    4096,
    32,
    1024,
    256,
    0,
    ATOM_LIMITS_RESERVED,
    {ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK,
     ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_MASK, ATOM_UNDEFINED_MASK}};

[[maybe_unused]] const purlin_host_atom kTable = {ATOM_TABLE_SIZE, ATOM_TABLE_RESERVED, atom_run,
                                                  atom_send,       atom_receive,        ATOM_SIGNAL,
                                                  atom_observe,    atom_reduce,         atom_scale};

[[maybe_unused]] const char kImageData[64] =
    "no device code: these plugins are judged, never linked";
[[maybe_unused]] const purlin_atom_image kImage = {sizeof(purlin_atom_image),
                                                   PURLIN_IMAGE_LTOIR_FATBIN,
                                                   PURLIN_IMAGE_CORE,
                                                   0,
                                                   ATOM_IMAGE_BASE,
                                                   ATOM_IMAGE_SPECIFIC,
                                                   kImageData,
                                                   sizeof(kImageData),
                                                   "core",
                                                   0,
                                                   ATOM_IMAGE_RESERVED};

constexpr bool kHost = ATOM_KIND == PURLIN_ATOM_HOST;

[[maybe_unused]] const Descriptor kDescriptor = {
    {ATOM_DESCRIPTOR_SIZE, ATOM_ABI_MAJOR, ATOM_ABI_MINOR, ATOM_DEVICE_ABI, ATOM_KIND, ATOM_NAME,
     ATOM_VERSION, ATOM_VENDOR, "made from one source by macros", ATOM_PRIORITY, ATOM_ARCHITECTURE,
     ATOM_CAPABILITIES, &kLimits, kHost ? &kTable : nullptr, kHost ? nullptr : &kImage,
     kHost ? 0u : 1u, ATOM_PROBE}
#ifdef ATOM_APPENDED
    ,
    {1, 2, 3, 4}
#endif
};

}  // namespace

extern "C" ATOM_ENTRY_VISIBILITY const purlin_atom_descriptor* ATOM_ENTRY(void) {
#ifdef ATOM_UNRESOLVED
  purlin_test_function_that_nobody_defines();
#endif
  return ATOM_RETURNS;
}
