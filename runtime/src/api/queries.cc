// purlin_plugins and purlin_explain: answers as JSON text.
#include <cstdlib>

#include "api/answer.h"
#include "api/handle.h"
#include "communicator/explain.h"
#include "status/last_error.h"

namespace purlin {
namespace {

purlin_status answer(const purlin_query* query, char** json,
                     Result<nlohmann::ordered_json> (*ask)(const purlin_query&,
                                                           const Communicator*)) {
  if (json == nullptr) return remember(null_argument("json"));
  *json = nullptr;
  if (query == nullptr) return remember(null_argument("query"));
  std::shared_ptr<Handle> handle;  // keeps the communicator while it is asked about
  if (query->struct_size >= sizeof *query && query->comm != nullptr) {
    auto ready = ready_handle(query->comm);
    if (!ready) return remember(ready.status());
    handle = *std::move(ready);
  }
  auto result = ask(*query, handle ? handle->communicator.get() : nullptr);
  if (!result) return remember(result.status());
  return remember(give_text(result->dump(2), json));
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
