#include "world.h"

#include <cstring>
#include <thread>

#include "naive_atom.h"
#include "snac/window.h"

namespace purlin::test {

using namespace purlin::snac;

World::World(const WorldOptions& options) 
    : options_(options), controls_(options.nranks), epochs_(options.nranks, 0) {
  WireConfig config;
  config.nranks = options.nranks;
  config.latency_bytes = options.latency_bytes;
  config.throughput_bytes = options.throughput_bytes;
  config.switch_bytes = options.switch_bytes;
  map_ = map_wire(config);
  for (u32 r = 0; r < options.nranks; ++r)
    memory_.push_back(std::make_unique<Page[]>(map_.total / sizeof(Page)));
}

void World::map_windows(u32 rank, std::vector<Bytes>* send, std::vector<Bytes>* recv) {
  u32 number = 0;
  for (std::vector<Bytes>* buffers : {send, recv}) {
    u64* line = window_line(block(rank), map_, options_.nranks, ++number);
    *line = number;
    for (u32 q = 0; q < options_.nranks; ++q)
      buffers_of(line)[q] = {reinterpret_cast<u64>((*buffers)[q].data()), (*buffers)[q].size()};
  }
}

std::vector<bool> World::run(const WorldCall& call, std::vector<Bytes>* send,
                             std::vector<Bytes>* recv, const std::vector<CallSizes>* sizes,
                             const std::function<void(u32)>& before) {
  const u32 n = options_.nranks;
  std::vector<char> finished(n, 0);
  std::vector<std::thread> threads;
  for (u32 r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      if (before) before(r);
      CallParams p;
      p.nranks = n;
      p.rank = r;
      const u64 within = call.input_in_output ? call.input_in_output(r) : kApart;
      p.in = within != kApart ? (*recv)[r].data() + within : (*send)[r].data();
      const u64 around = call.output_in_input ? call.output_in_input(r) : kApart;
      p.out = around != kApart ? (*send)[r].data() + around : (*recv)[r].data();
      p.map = map_;
      p.timeout_ns = options_.timeout_ns;
      for (u32& ctas : p.ctas) ctas = options_.ctas;
      p.pair_limit = call.latency ? (call.throughput ? call.pair_limit : ~u64{0}) : 0;
      p.descriptor = describe_call(call.collective, 1, 0, call.root, call.count);
      p.exchange_in_place = call.in_place && call.collective == Collective::kAllToAll;
      CallSizes own;
      own.count = call.count;
      const Shapes shapes = shapes_of(call.collective, call.transformation,
                                      sizes ? (*sizes)[r] : own, call.one_shot, n, r);
      set_flows(call.transformation, shapes, call.root,
                mix(static_cast<u64>(call.collective) + 1, call.root), &p);
      p.geometry = call.switched
                       ? set_switch_geometry(n, options_.switch_bytes, options_.chunk_bytes)
                       : set_geometry(call.transformation, n, options_.throughput_bytes,
                                      options_.chunk_bytes, options_.first, options_.second);
      Form form = call.switched ? switch_form_of(call.transformation, n)
                                      : form_of(call.transformation, n, p.geometry);
      form.windows = call.windows;
      p.controls = controls_.data();
      for (u32 q = 0; q < n; ++q) p.peers[q] = memory_[q][0].bytes;
      if (call.windows && n > 1) {
        map_windows(r, send, recv);
        if (call.mapped) call.mapped(r);
        if ((call.open_inputs >> r & 1) != 0 && p.exchange_in_place == 0)
          p.place[0] = within != kApart ? place_in(2, within) : place_in(1, 0);
        if ((call.open_outputs >> r & 1) != 0 && offers(form, 1))
          p.place[1] = place_in(2, p.receive[1][r].offset);  // no output of two steps lies in an input
      }
      purlin_constants constants{};
      constants.struct_size = sizeof constants;
      constants.nranks = n;
      constants.dtype = PURLIN_U8;
      HostCall host;
      host.form = &form;
      host.params = &p;
      host.atom = &naive_atom();
      host.constants = &constants;
      host.patience = HostPatience{50, 20};
      host.epoch = ++epochs_[r];
      bool ok = !call.switched || run_switch(host);
      if (ok && call.latency) ok = run_latency(host);
      if (ok && call.throughput && !call.switched)
        ok = call.direct != nullptr ? run_direct(host, *call.direct) : run_throughput(host);
      if (call.after) call.after(r);
      finished[r] = ok;
      // Own replica of this call's half is nobody's any more.
      if (ok && call.switched)
        std::memset(p.peers[r] + map_.switched + half_of(host.epoch) * map_.switch_bytes, 0xdd,
                    map_.switch_bytes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::vector<bool>(finished.begin(), finished.end());
}

const StopRecord& World::record(u32 rank) const { return controls_[rank].record; }

}  // namespace purlin::test
