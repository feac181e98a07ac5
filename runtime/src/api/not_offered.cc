// Functions of purlin.h that this version does not carry out: each says so.
#include "purlin/purlin.h"
#include "status/last_error.h"

namespace {

purlin_status not_offered(const char* what, const char* instead) {
  return purlin::remember(purlin::Status(
      PURLIN_UNSUPPORTED, std::string(what) + " is not offered by this version; " + instead));
}

}  // namespace

extern "C" {

purlin_status purlin_mem_alloc(void** out, uint64_t) {
  if (out != nullptr) *out = nullptr;
  return not_offered("purlin_mem_alloc", "host ranks take any memory");
}
purlin_status purlin_mem_free(void*) {
  return not_offered("purlin_mem_free", "there is no purlin_mem_alloc either");
}
purlin_status purlin_comm_register(purlin_comm_t, void*, uint64_t, purlin_registration_t* out) {
  if (out != nullptr) *out = nullptr;
  return not_offered("purlin_comm_register", "calls work on unregistered memory");
}
purlin_status purlin_comm_deregister(purlin_comm_t, purlin_registration_t) {
  return not_offered("purlin_comm_deregister", "there is no purlin_comm_register either");
}
purlin_status purlin_prepare(purlin_comm_t, const purlin_call*, int) {
  return not_offered("purlin_prepare", "host ranks need no programs");
}

}  // extern "C"
