#include "rendezvous/unique_id.h"
#include "status/last_error.h"

extern "C" purlin_status purlin_get_unique_id(purlin_unique_id* out) {
  using purlin::Status;
  if (!out)
    return purlin::remember(
        Status(PURLIN_INVALID_ARGUMENT,
               "purlin_get_unique_id: out is NULL; pass the address of a purlin_unique_id"));
  const auto id = purlin::make_unique_id();
  if (!id) return purlin::remember(id.status().with_context("purlin_get_unique_id"));
  *out = purlin::encode(id.value());
  return PURLIN_OK;
}
