// The typed policy: what a YAML file of docs/policy.md says, each value with its origin. Plain
// data, made by read_policy() or built_in_policy(), changed by the override functions, then
// constant and safe to read from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/scope.h"
#include "policy/setting.h"
#include "purlin/purlin.h"

namespace purlin::policy {

inline constexpr int kVersion = 1;
// Most CTAs of one launch, all roles together. Flag areas are laid out for this many.
inline constexpr uint32_t kMaxCtas = 512;

enum class Direction { kPull, kPush };
enum class PacketForm { kAuto, k64, k32 };
enum class ProgramKind { kCopy, kReduce, kUniversal };

// Which devices a policy is for; an absent part fits every device.
struct Match {
  std::optional<Setting<purlin_device_kind>> kind;
  // Inclusive ranges of compute capability times ten: sm_90 is {90, 90}.
  struct Architectures {
    uint32_t first = 0, last = 0;
  };
  std::vector<Setting<Architectures>> architectures;
  std::optional<Setting<std::string>> name;  // glob over the device's name
};

// Words of a list, each with its own line.
using Words = std::vector<Setting<std::string>>;

// Where plugins are sought and which files may be looked at.
struct Plugins {
  Words path;     // folders, before every other place; relative ones start at the policy's folder
  Words enable;   // globs over Atom and file names; default "*"
  Words disable;  // globs; wins over enable
};

// Which Atom serves. `prefer` is tried in order: names, file names or paths. The word "auto", last
// only, stands for every other Atom that fits; without it an exhausted list is an error.
struct Datapath {
  Words prefer;
  Words deny;  // globs of names that never run, in no fallback
};

// A value that depends on the call: the row that contains it, else `otherwise`.
template <class T>
struct Table {
  struct Row {
    Scope scope;
    Setting<T> setting;
  };
  Setting<T> otherwise;
  std::vector<Row> rows;  // never overlap

  const Setting<T>& at(purlin_collective collective, int nranks, uint64_t bytes) const {
    for (const Row& row : rows)
      if (row.scope.contains(collective, nranks, bytes)) return row.setting;
    return otherwise;
  }
};

// How one call is carried out. Absent: the next less specific statement decides.
struct Tuning {
  std::optional<Setting<purlin_path>> path;  // AUTO: by crossover
  std::optional<Setting<Direction>> direction;
  std::optional<Setting<uint64_t>> chunk;  // bytes
  std::optional<Setting<uint32_t>> stage_ctas, reduce_ctas, gather_ctas;
  std::optional<Setting<uint32_t>> stages, stage_bytes, threads;  // 0: the Atom's default
  std::optional<Setting<bool>> zero_copy;
};
struct TuningRow {
  Scope scope;
  Origin origin;
  Tuning tuning;
};

// Bytes per rank; two halves of each of the first two are allocated.
struct Staging {
  Setting<uint64_t> latency_bytes;     // one half for packets
  Setting<uint64_t> throughput_bytes;  // one half for chunks
  Setting<uint32_t> pair_slots;        // send/recv: slots for each ordered pair
  Setting<uint64_t> pair_bytes;        // bytes of one such slot
};

// A program to be made when a communicator is created. ranks absent: the communicator's own number.
struct ProgramRequest {
  ProgramKind kind = ProgramKind::kCopy;
  purlin_dtype dtype = PURLIN_U8;  // kReduce only
  purlin_op op = PURLIN_SUM;       // kReduce only
  std::optional<RankRange> ranks;
  Origin origin;
};

// How a host rank waits: so many polls, then so many yields, then it sleeps on a futex.
struct HostWait {
  Setting<uint32_t> spins;
  Setting<uint32_t> yields;
};

struct Policy {
  std::string name;  // the key `name`, else the file's name; "built-in defaults"
  std::string file;  // path of the file, "<text>" for a text, empty for the built-in defaults
  Match match;
  Plugins plugins;
  Datapath datapath;
  Table<purlin_reduction> reduction;  // SCORE, NVLS or NVLS_REQUIRED
  Table<uint64_t> crossover;          // T up to and including it: latency; above: throughput
  Table<uint64_t> one_shot_limit;     // all_reduce, latency: T up to and including it: one-shot
  Tuning tuning;                      // for calls that no row contains; every member but direction
  std::vector<TuningRow> tuning_rows;
  Staging staging;
  Setting<uint32_t> cta_budget;  // most CTAs of one launch; 0: from the device
  Setting<PacketForm> packets;
  Setting<bool> checking;
  Setting<std::chrono::milliseconds> wait_timeout;
  Setting<std::chrono::milliseconds> create_timeout;
  std::vector<ProgramRequest> programs;
  HostWait host_wait;
};

// What an absent key means on a device of this kind (HOST or CUDA).
Policy built_in_policy(purlin_device_kind kind);

}  // namespace purlin::policy
