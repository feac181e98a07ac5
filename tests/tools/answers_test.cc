// The library's answers as text: what a reader needs is there, and lines fit a terminal.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tools/explain_text.h"
#include "tools/json_text.h"
#include "tools/plugins_text.h"
#include "tools/prelink_text.h"
#include "tools/text_flow.h"

namespace purlin::tools {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t widest(const std::string& text) {
  size_t most = 0, start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    most = std::max(most, columns_of(text.substr(start, end - start)));
  return most;
}

json verdict(bool accepted, const char* rule, const char* reason = "", const char* remedy = "") {
  return {{"accepted", accepted}, {"rule", rule}, {"reason", reason}, {"remedy", remedy}};
}

json atom(const char* name) {
  return {{"name", name},
          {"version", "0.9.0"},
          {"vendor", "Purlin"},
          {"description", "CPU vectors for ranks that are threads or processes of one machine"}};
}

json plugins_answer() {
  return {
      {"device", {{"name", "host (8 processors)"}, {"kind", "host"}, {"architecture", 0}}},
      {"folders",
       {{{"origin", "policy"},
         {"where", "config/host.yaml:12:7"},
         {"path", "/opt/atoms"},
         {"verdict", verdict(true, "folder-searched")},
         {"files",
          {{{"path", "/opt/atoms/libatom-host.so"},
            {"verdict", verdict(true, "accepted")},
            {"atom", "host"}},
           {{"path", "/opt/atoms/notes.txt"},
            {"verdict", verdict(false, "file-name",
                                "its name does not end in .so, so it is not "
                                "looked at any further by anybody here",
                                "rename it if it is a plugin")},
            {"atom", nullptr}}}}},
        {{"origin", "install"},
         {"where", ""},
         {"path", "/usr/local/lib/purlin/plugins"},
         {"verdict", verdict(false, "folder-missing", "the folder does not exist", "create it")},
         {"files", json::array()}}}},
      {"candidates",
       {{{"atom", atom("host")}, {"fit", verdict(true, "fits")}, {"beaten_by", nullptr}},
        {{"atom", atom("slow")},
         {"fit", verdict(true, "fits")},
         {"beaten_by", "higher-priority"},
         {"beaten_reason", "priority 5 is below 10"}},
        {{"atom", atom("hopper")},
         {"fit", verdict(false, "wrong-kind", "it serves CUDA devices")}}}},
      {"named",
       {{{"word", "hoper"},
         {"where", "config/host.yaml:14:5"},
         {"verdict", verdict(false, "name-unknown", "no plugin of that name", "correct it")}}}},
      {"chosen",
       {{"name", "host"},
        {"path", "/opt/atoms/libatom-host.so"},
        {"rule", "higher-priority"},
        {"reason", "priority 10 is above 5"}}},
      {"choice_error", nullptr}};
}

TEST_CASE("plugins: the choice, the losers, every file and what to do about it") {
  const std::string text = plugins_text(plugins_answer());
  CAPTURE(text);
  CHECK(widest(text) <= kColumns);
  CHECK(has(text, "Chosen Atom: host. priority 10 is above 5 [higher-priority]"));
  CHECK(has(text, "1. host 0.9.0"));
  CHECK(has(text, "2. slow 0.9.0"));
  CHECK(has(text, "priority 5 is below 10 [higher-priority]"));
  CHECK(has(text, "hopper 0.9.0: it serves CUDA devices [wrong-kind]"));
  CHECK(has(text, "- notes.txt: its name"));
  CHECK(has(text, "What to do: rename it if it is a plugin"));
  CHECK(has(text, "+ libatom-host.so: Atom host"));
  CHECK(has(text, "(policy, config/host.yaml:12:7) searched"));
  CHECK(has(text, "not searched: the folder does not exist [folder-missing]"));
  CHECK(has(text, "\"hoper\" (config/host.yaml:14:5): no plugin of that name"));
}

TEST_CASE("plugins: when nothing serves the error says so first") {
  json answer = plugins_answer();
  answer["chosen"] = nullptr;
  answer["choice_error"] = "the policy names hoper, which is not there\n  the whole search again";
  CHECK(
      has(plugins_text(answer), "Chosen Atom: none. the policy names hoper, which is not there\n"));
  CHECK(has(plugins_text(answer), "Atoms that fit this device, but do not serve:\n  1. host"));
  CHECK(has(plugins_text(answer), "What to do: add one of them, or auto, to datapath.prefer"));
  CHECK_FALSE(has(plugins_text(answer), "the whole search again"));
  CHECK(plugins_text(json::object()).starts_with("Chosen Atom: none."));
}

json explain_answer() {
  json sends = json::array(), receives = json::array();
  for (int peer = 1; peer < 4; ++peer) {
    sends.push_back({{"to", peer}, {"bytes", 262144}, {"offset", peer * 262144}});
    receives.push_back({{"from", peer}, {"bytes", 262144}, {"offset", 0}});
  }
  return {{"collective", "all_reduce"},
          {"bytes", 1048576},
          {"ranks", 4},
          {"device", "host"},
          {"dtype", "f32"},
          {"op", "sum"},
          {"path", "throughput"},
          {"path_reason", "1MiB is above the crossover of 64KiB, /opt/purlin/host.yaml:9:14"},
          {"atom",
           {{"name", "host"},
            {"version", "0.9.0"},
            {"path", "/opt/atoms/libatom-host.so"},
            {"rule", "only-one"},
            {"why", "no other Atom fits"}}},
          {"policy",
           {{"file", "host"},
            {"searched",
             {{{"path", "/opt/purlin/host.yaml"},
               {"verdict", "chosen"},
               {"reason", "matches host"}}}}}},
          {"settings",
           {{{"name", "chunk"}, {"value", "65536"}, {"origin", "/opt/purlin/host.yaml:20:10"}},
            {{"name", "timeout"}, {"value", "10min"}, {"origin", "built-in default"}}}},
          {"plan",
           {{"steps",
             {{{"name", "stage"}, {"text", "copy the share of each peer into this rank's staging"}},
              {{"name", "notify"}, {"text", "tell each peer that its share is there"}}}},
            {"per_rank",
             {{{"rank", 0}, {"sends", sends}, {"receives", receives}},
              {{"rank", 1}, {"sends", sends}, {"receives", receives}},
              {{"rank", 2}, {"sends", json::array()}, {"receives", receives}}}}}},
          {"checks", {"staging of 4MiB holds 16 chunks"}},
          {"notes", {"no token was used"}}};
}

TEST_CASE("explain: what runs, how, and which line decided") {
  const std::string text = explain_text(explain_answer());
  CAPTURE(text);
  CHECK(widest(text) <= kColumns);
  CHECK(text.starts_with("all_reduce of 1MiB on 4 ranks, f32 sum, device host\n"));
  CHECK(has(text, "throughput: 1MiB is above the crossover"));
  CHECK(has(text, "1.  stage   copy the share"));
  CHECK(has(text, "ranks 0 to 1  send 256KiB to each of 3 ranks; receive 256KiB from each of 3"));
  CHECK(has(text, "rank 2        sends nothing; receives"));
  CHECK(has(text, "chunk    64KiB  host.yaml:20:10"));
  CHECK(has(text, "Policy: host, which is /opt/purlin/host.yaml"));
  CHECK(has(text, "crossover of 64KiB, host.yaml:9:14"));
  CHECK(has(text, "  - no token was used"));
  CHECK_FALSE(text.ends_with("\n\n"));
}

TEST_CASE("explain: transfers of the second step are told apart") {
  json answer = explain_answer();
  json& rank = answer["plan"]["per_rank"][2];
  rank["sends"] = {{{"to", 0}, {"bytes", 1024}, {"step", 1}},
                   {{"to", 1}, {"bytes", 1024}, {"step", 1}},
                   {{"to", 3}, {"bytes", 7}, {"step", 2}}};
  CHECK(has(explain_text(answer), "sends 1KiB to each of 2 ranks, then 7B to rank 3; receives"));
}

TEST_CASE("NVLS is told of where it is off or might serve") {
  json answer = explain_answer();
  answer["nvls"] = {{"allowed", true}, {"decided_by", "no variable"}};
  CHECK_FALSE(has(explain_text(answer), "NVLS"));
  answer["device"] = "sm_90";
  CHECK(has(explain_text(answer), "NVLS  not used: no variable"));
  answer["nvls"] = {{"allowed", true}, {"used", true}, {"decided_by", "a.yaml:3:12"}};
  answer["device"] = "host";
  CHECK(has(explain_text(answer), "NVLS  used: a.yaml:3:12"));
  json plugins = plugins_answer();
  plugins["nvls"] = {{"allowed", false}, {"decided_by", "PURLIN_NVLS=0"}};
  CHECK(has(plugins_text(plugins), "(NVLS): off, decided by PURLIN_NVLS=0"));
  plugins["device"]["kind"] = "cuda";
  plugins["nvls"] = {{"allowed", true}, {"used", false}, {"decided_by", "nobody asks"}};
  CHECK(has(plugins_text(plugins), "(NVLS): not used: nobody asks"));
}

TEST_CASE("explain: an answer with less in it gives less text") {
  const std::string text =
      explain_text({{"collective", "barrier"}, {"bytes", 0}, {"ranks", 2}, {"path", "latency"}});
  CHECK(text == "barrier of 0B on 2 ranks\n\nWhat will run\n  path  latency\n");
}

TEST_CASE("prelink: a line a program and what to do with the folder") {
  const json answer = {{"device", "sm_90"},
                       {"programs",
                        {{{"name", "latency sum bf16"},
                          {"cubin_bytes", 4096},
                          {"kernels", {{{"registers", 32}}, {{"registers", 48}}}}}}}};
  const std::string text = prelink_text(answer, "/tmp/p");
  CHECK(has(text, "latency sum bf16  4096 bytes  48 registers"));
  CHECK(has(text, "1 programs for sm_90"));
  CHECK(has(text, "PURLIN_PROGRAM_PATH=/tmp/p"));
}

TEST_CASE("members of any kind read as text") {
  const json object = {{"a", "x"}, {"b", 3}, {"c", nullptr}, {"d", true}, {"e", {1}}};
  CHECK(text_at(object, "a") == "x");
  CHECK(text_at(object, "b") == "3");
  CHECK(text_at(object, "c").empty());
  CHECK(text_at(object, "d") == "true");
  CHECK(text_at(json::array(), "a").empty());
  CHECK(number_at(object, "b") == 3);
  CHECK(number_at(object, "a") == 0);
  CHECK(list_or_object(object, "e").size() == 1);
  CHECK(list_or_object(object, "a").empty());
}

}  // namespace
}  // namespace purlin::tools
