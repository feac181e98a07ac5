// purlin_plugins and purlin_explain: answers as JSON text.
#include <cstdlib>
#include <cstring>

#include "api/handle.h"
#include "communicator/explain.h"
#include "status/last_error.h"

namespace purlin {
namespace {

purlin_status answer(const purlin_query* query, char** json,
                     Result<nlohmann::ordered_json> (*ask)(const purlin_query&,
                                                           const Communicator*)) {
  if (json == nullptr) return remember(Status(PURLIN_INVALID_ARGUMENT, "json is null"));
  *json = nullptr;
  if (query == nullptr) return remember(Status(PURLIN_INVALID_ARGUMENT, "query is null"));
  std::shared_ptr<Handle> handle;  // keeps the communicator while it is asked about
  if (query->struct_size >= sizeof *query && query->comm != nullptr) {
    auto ready = ready_handle(query->comm);
    if (!ready) return remember(ready.status());
    handle = *std::move(ready);
  }
  auto result = ask(*query, handle ? handle->communicator.get() : nullptr);
  if (!result) return remember(result.status());
  const std::string text = result->dump(2);
  *json = static_cast<char*>(std::malloc(text.size() + 1));
  if (*json == nullptr) return remember(Status(PURLIN_OUT_OF_MEMORY, "no memory for the answer"));
  std::memcpy(*json, text.c_str(), text.size() + 1);
  return PURLIN_OK;
}

}  // namespace
}  // namespace purlin

extern "C" purlin_status purlin_plugins(const purlin_query* query, char** json) {
  return purlin::answer(query, json, purlin::explain_plugins);
}
extern "C" purlin_status purlin_explain(const purlin_query* query, char** json) {
  return purlin::answer(query, json, purlin::explain_call);
}
extern "C" void purlin_free_text(char* text) { std::free(text); }
