#include "fake_purlin.h"

FakePurlin& fake() {
  static FakePurlin instance;
  return instance;
}

namespace {

purlin_status called(const char* name) {
  fake().functions.emplace_back(name);
  return fake().next;
}

}  // namespace

// Handles are never looked into: any distinct nonzero address will do.
extern "C" {

const char* purlin_last_error(void) { return fake().error.c_str(); }
const char* purlin_comm_last_error(purlin_comm_t) { return fake().error.c_str(); }

purlin_status purlin_get_unique_id(purlin_unique_id* out) {
  *out = {};
  return called("get_unique_id");
}

purlin_status purlin_comm_create(purlin_comm_t* out, const purlin_comm_options*) {
  const purlin_status status = called("comm_create");
  if (status != PURLIN_OK && status != PURLIN_IN_PROGRESS) return status;
  ++fake().live;
  *out = reinterpret_cast<purlin_comm_t>(&fake());
  return status;
}

purlin_status purlin_comm_create_all(purlin_comm_t* out, int nranks, const int*,
                                     const purlin_comm_options*) {
  const purlin_status status = called("comm_create_all");
  if (status != PURLIN_OK) return status;
  for (int r = 0; r < nranks; ++r) out[r] = reinterpret_cast<purlin_comm_t>(&fake());
  fake().live += nranks;
  return status;
}

purlin_status purlin_comm_split(purlin_comm_t, int color, int, purlin_comm_t* out) {
  *out = nullptr;
  if (color >= 0) {
    ++fake().live;
    *out = reinterpret_cast<purlin_comm_t>(&fake());
  }
  return called("comm_split");
}

purlin_status purlin_comm_destroy(purlin_comm_t) {
  --fake().live;
  return called("comm_destroy");
}

purlin_status purlin_comm_abort(purlin_comm_t) { return called("comm_abort"); }
purlin_status purlin_comm_async_error(purlin_comm_t) { return fake().next; }
purlin_status purlin_comm_rank(purlin_comm_t, int* rank) {
  *rank = fake().rank;
  return PURLIN_OK;
}
purlin_status purlin_comm_size(purlin_comm_t, int* size) {
  *size = fake().size;
  return PURLIN_OK;
}

purlin_status purlin_run(const purlin_call* call, purlin_comm_t, purlin_stream_t) {
  fake().call = *call;
  return called("run");
}
purlin_status purlin_all_gather_v(const void*, uint64_t, void*, const uint64_t*, const uint64_t*,
                                  purlin_dtype, purlin_comm_t, purlin_stream_t) {
  return called("all_gather_v");
}
purlin_status purlin_reduce_scatter_v(const void*, const uint64_t*, const uint64_t*, void*,
                                      purlin_dtype, purlin_op, purlin_comm_t, purlin_stream_t) {
  return called("reduce_scatter_v");
}
purlin_status purlin_all_to_all_v(const void*, const uint64_t*, const uint64_t*, void*,
                                  const uint64_t*, const uint64_t*, purlin_dtype, purlin_comm_t,
                                  purlin_stream_t) {
  return called("all_to_all_v");
}
purlin_status purlin_barrier(purlin_comm_t, purlin_stream_t) { return called("barrier"); }
purlin_status purlin_send(const void*, uint64_t, purlin_dtype, int, purlin_comm_t,
                          purlin_stream_t) {
  return called("send");
}
purlin_status purlin_recv(void*, uint64_t, purlin_dtype, int, purlin_comm_t, purlin_stream_t) {
  return called("recv");
}
purlin_status purlin_group_start(void) {
  fake().functions.emplace_back("group_start");
  return PURLIN_OK;
}
purlin_status purlin_group_end(void) { return called("group_end"); }
purlin_status purlin_prepare(purlin_comm_t, const purlin_call*, int) { return called("prepare"); }

purlin_status purlin_mem_alloc(void** out, uint64_t) {
  *out = &fake();
  return called("mem_alloc");
}
purlin_status purlin_mem_free(void*) { return called("mem_free"); }
purlin_status purlin_comm_register(purlin_comm_t, void*, uint64_t, purlin_registration_t* out) {
  *out = reinterpret_cast<purlin_registration_t>(&fake());
  return called("register");
}
purlin_status purlin_comm_deregister(purlin_comm_t, purlin_registration_t) {
  return called("deregister");
}

}  // extern "C"
