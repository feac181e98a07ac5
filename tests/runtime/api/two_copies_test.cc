// Two copies of libpurlin in one process, as when two packages bring one each: neither disturbs the
// other.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "purlin/purlin.h"

namespace fs = std::filesystem;

namespace {

const std::string kPolicy =
    "version: 1\nplugins: {path: [\"" PURLIN_PRODUCT_FOLDER "\"]}\ncrossover: 1KiB\n";

// What the test needs of one copy. Never unloaded: its plugins, and threads of it, stay.
struct Copy {
  explicit Copy(const std::string& path) : handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE_MESSAGE(handle != nullptr, ::dlerror());
    find(&get_unique_id, "purlin_get_unique_id");
    find(&create, "purlin_comm_create");
    find(&destroy, "purlin_comm_destroy");
    find(&abort, "purlin_comm_abort");
    find(&all_reduce, "purlin_all_reduce");
    find(&last_error, "purlin_last_error");
  }
  template <class Function>
  void find(Function** out, const char* name) const {
    *out = reinterpret_cast<Function*>(::dlsym(handle, name));
    const bool there = *out != nullptr;
    REQUIRE_MESSAGE(there, name);
  }

  void* handle;
  decltype(purlin_get_unique_id)* get_unique_id;
  decltype(purlin_comm_create)* create;
  decltype(purlin_comm_destroy)* destroy;
  decltype(purlin_comm_abort)* abort;
  decltype(purlin_all_reduce)* all_reduce;
  decltype(purlin_last_error)* last_error;
};

// The library, and a copy of its file in a folder that holds nothing else.
struct Copies {
  Copies() {
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    fs::copy_file(PURLIN_LIBRARY, folder + "/libpurlin.so");
    copies.emplace_back(PURLIN_LIBRARY);
    copies.emplace_back(folder + "/libpurlin.so");
    const bool apart = copies[0].create != copies[1].create;
    REQUIRE(apart);
  }
  ~Copies() { fs::remove_all(folder); }

  std::string folder = fs::temp_directory_path() / "copies-XXXXXX";
  std::vector<Copy> copies;
};

purlin_comm_options options_of(const purlin_unique_id& id, int rank, int nranks) {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.unique_id = &id;
  options.rank = rank;
  options.nranks = nranks;
  options.device_kind = PURLIN_DEVICE_HOST;
  options.timeout_ms = 30'000;
  options.policy_text = kPolicy.c_str();
  return options;
}

// "" or what went wrong: rank `rank` of `nranks` through `copy`, calls of both protocols.
std::string run_rank(const Copy& copy, const purlin_unique_id& id, int rank, int nranks) {
  const purlin_comm_options options = options_of(id, rank, nranks);
  purlin_comm_t comm = nullptr;
  if (copy.create(&comm, &options) != PURLIN_OK) return copy.last_error();
  for (int call = 0; call < 200; ++call) {
    const size_t count = call % 2 == 0 ? 17 : 40'000;
    std::vector<int> in(count), out(count);
    for (size_t i = 0; i < count; ++i) in[i] = static_cast<int>(i) + call + rank;
    if (copy.all_reduce(in.data(), out.data(), count, PURLIN_I32, PURLIN_SUM, comm, nullptr) !=
        PURLIN_OK)
      return copy.last_error();
    for (size_t i = 0; i < count; ++i)
      if (out[i] != nranks * (static_cast<int>(i) + call) + nranks * (nranks - 1) / 2)
        return "call " + std::to_string(call) + ": wrong element " + std::to_string(i);
  }
  return copy.destroy(comm) == PURLIN_OK ? "" : copy.last_error();
}

void check_together(const std::vector<std::function<std::string()>>& ranks) {
  std::vector<std::string> said(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i) threads.emplace_back([&, i] { said[i] = ranks[i](); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : said) CHECK(one == "");
}

}  // namespace

TEST_CASE_FIXTURE(Copies, "communicators of two copies work at the same time") {
  purlin_unique_id ids[2];
  std::vector<std::function<std::string()>> ranks;
  for (size_t which : {0, 1}) {
    REQUIRE(copies[which].get_unique_id(&ids[which]) == PURLIN_OK);
    for (int rank : {0, 1})
      ranks.emplace_back([&, which, rank] { return run_rank(copies[which], ids[which], rank, 2); });
  }
  check_together(ranks);
}

TEST_CASE_FIXTURE(Copies, "ranks of one communicator may come from two copies") {
  purlin_unique_id id;
  REQUIRE(copies[0].get_unique_id(&id) == PURLIN_OK);
  std::vector<std::function<std::string()>> ranks;
  for (int rank : {0, 1, 2, 3})
    ranks.emplace_back(
        [&, rank] { return run_rank(copies[static_cast<size_t>(rank % 2)], id, rank, 4); });
  check_together(ranks);
}

TEST_CASE_FIXTURE(Copies, "errors and aborted communicators of one copy are not the other's") {
  purlin_comm_t comms[2] = {};
  for (size_t which : {0, 1}) {
    purlin_unique_id id;
    REQUIRE(copies[which].get_unique_id(&id) == PURLIN_OK);
    const purlin_comm_options options = options_of(id, 0, 1);
    REQUIRE_MESSAGE(copies[which].create(&comms[which], &options) == PURLIN_OK,
                    copies[which].last_error());
  }
  const std::string before = copies[1].last_error();
  CHECK(copies[0].create(nullptr, nullptr) == PURLIN_INVALID_ARGUMENT);
  CHECK(std::string(copies[0].last_error()) != "");
  CHECK(copies[1].last_error() == before);
  CHECK(copies[0].abort(comms[0]) == PURLIN_OK);
  int in = 7, out = 0;
  CHECK(copies[1].all_reduce(&in, &out, 1, PURLIN_I32, PURLIN_SUM, comms[1], nullptr) == PURLIN_OK);
  CHECK(out == 7);
  for (size_t which : {0, 1}) CHECK(copies[which].destroy(comms[which]) == PURLIN_OK);
}
