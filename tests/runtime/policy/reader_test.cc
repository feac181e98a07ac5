#include "policy/reader.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reading.h"

namespace purlin::policy {
namespace {

using testing::error_of;
using testing::holds;
using testing::must_read;
using testing::starts_with;

struct Bad {
  std::string body;
  std::string place;  // how the error begins
  std::string part;   // what it holds
};

void check_all(std::initializer_list<Bad> table) {
  for (const Bad& bad : table) {
    const std::string error = error_of(bad.body);
    INFO("body:\n", bad.body, "\nerror: ", error);
    CHECK(starts_with(error, bad.place));
    CHECK(holds(error, bad.part));
  }
}

TEST_CASE("the least policy is its version, and means the defaults") {
  const Policy policy = must_read("");
  const Policy standard = built_in_policy(PURLIN_DEVICE_HOST);
  CHECK(policy.crossover.otherwise.value == standard.crossover.otherwise.value);
  CHECK(policy.crossover.otherwise.origin.source == Source::kBuiltIn);
  CHECK(policy.name == "p.yaml");
  CHECK(policy.file == "p.yaml");
}

TEST_CASE("every value remembers its line and column") {
  const Policy policy = must_read(
      "name: box\n"
      "crossover: 8KiB\n"
      "staging:\n"
      "  latency_bytes: 1MiB\n"
      "datapath:\n"
      "  prefer: [host, auto]\n"
      "timeouts: {wait: 30s}\n"
      "tuning:\n"
      "  rows:\n"
      "    - {collectives: [all_reduce], bytes: 0..1MiB, chunk: 32KiB}\n");
  CHECK(policy.name == "box");
  CHECK(policy.crossover.otherwise.value == 8192);
  CHECK(policy.crossover.otherwise.origin == Origin{Source::kFile, "p.yaml", 3, 12});
  CHECK(policy.staging.latency_bytes.origin.text() == "p.yaml:5:18");
  CHECK(policy.datapath.prefer.at(1).origin.text() == "p.yaml:7:18");
  CHECK(policy.wait_timeout.value == std::chrono::seconds(30));
  CHECK(policy.create_timeout.origin.source == Source::kBuiltIn);
  REQUIRE(policy.tuning_rows.size() == 1);
  CHECK(policy.tuning_rows[0].origin.text() == "p.yaml:11:7");
  CHECK(policy.tuning_rows[0].tuning.chunk->value == 32768);
  CHECK(policy.tuning_rows[0].scope.collectives == set_of(PURLIN_ALL_REDUCE));
  CHECK_FALSE(policy.tuning_rows[0].tuning.direction.has_value());
}

TEST_CASE("the version is required and comes before everything else") {
  const auto message = [](const char* text) {
    return read_policy(text, "p.yaml", PURLIN_DEVICE_HOST).status().message();
  };
  CHECK(message("crossover: 4KiB\n") ==
        "p.yaml:1:1: the policy does not say its version; write version: 1");
  CHECK(holds(message("verison: 1\n"), "though \"verison\" is near it"));
  CHECK(starts_with(message("nonsense: [\n"), "p.yaml:1:1: not valid YAML"));
  CHECK(holds(message("nonsense: 3\nversion: 2\n"), "p.yaml:2:10: version: 2 is not known here"));
  CHECK(holds(message("version: one\n"), "p.yaml:1:10: version: \"one\" is no count"));
  CHECK(holds(message("version:\n"), "p.yaml:1:1: version: has no value"));
  CHECK(holds(message(""), "p.yaml:1:1: the policy is empty"));
  CHECK(holds(message("# only a comment\n"), "p.yaml:1:1: the policy is empty"));
  CHECK(holds(message("[1, 2]\n"), "p.yaml:1:1: a list where a map is wanted"));
  CHECK(holds(message("version\n"), "p.yaml:1:1: \"version\" where a map is wanted"));
}

TEST_CASE("an unknown key names the nearest one and lists those there are") {
  check_all({
      {"crosover: 4KiB\n", "p.yaml:2:1: unknown key \"crosover\"; did you mean \"crossover\"?",
       "Keys here: version, name, match"},
      {"staging: {latencybytes: 1MiB}\n", "p.yaml:2:11: unknown key \"latencybytes\" in staging",
       "did you mean \"latency_bytes\"?"},
      {"crossover:\n  rows:\n    - {rank: 2, value: 1KiB}\n",
       "p.yaml:4:8: unknown key \"rank\" in crossover.rows[0]", "did you mean \"ranks\"?"},
      {"zzz: 1\n", "p.yaml:2:1: unknown key \"zzz\". Keys here:", "host"},
      {"tuning: {default: {stage-bytes: 16KiB}}\n", "p.yaml:2:20:", "\"stage_bytes\""},
      {"one_shot_limit: {rows: [{collectives: [all_reduce], value: 1KiB}]}\n",
       "p.yaml:2:26:", "Keys here: ranks, value"},
  });
}

TEST_CASE("a bad value is an error at its own line and column") {
  check_all({
      {"crossover: 8K\n", "p.yaml:2:12: crossover: \"8K\" is no size", "\"8KiB\""},
      {"crossover: 8 192\n", "p.yaml:2:12: crossover: \"8 192\"", "\"8KiB\""},
      {"crossover: -1\n", "p.yaml:2:12: crossover: \"-1\" is no size", "Write whole bytes"},
      {"crossover: 9223372036854775808\n", "p.yaml:2:12: crossover:", "too large"},
      {"crossover:\n", "p.yaml:2:1: crossover: has no value", "a size"},
      {"crossover: null\n", "p.yaml:2:1: crossover: has no value", "a size"},
      {"crossover: ''\n", "p.yaml:2:12: crossover: an empty text", "a size"},
      {"crossover: [4KiB]\n", "p.yaml:2:12: crossover: a list where a size is wanted", ""},
      {"staging: [1MiB]\n", "p.yaml:2:10: staging: a list where a map is wanted", "latency_bytes"},
      {"staging: 1MiB\n", "p.yaml:2:10: staging: \"1MiB\" where a map is wanted", ""},
      {"staging: {latency_bytes: 1KiB}\n", "p.yaml:2:26:", "outside 4KiB..1024GiB; write 4KiB"},
      {"staging: {throughput_bytes: 2147483647}\n",
       "p.yaml:2:29:", "no multiple of 16; write 2147483632 or 2GiB"},
      {"staging: {pair_slots: 1}\n", "p.yaml:2:23:", "outside 2..64"},
      {"reduction: scor\n", "p.yaml:2:12: reduction: \"scor\"", "did you mean \"score\"?"},
      {"reduction: nvls_required\n", "p.yaml:2:12:", "did you mean \"nvls-required\"?"},
      {"checking: true\n", "p.yaml:2:11: checking: \"true\" is neither", "\"on\""},
      {"packets: 128\n", "p.yaml:2:10: packets: \"128\"", "auto, 64, 32"},
      {"timeouts: {wait: 10}\n", "p.yaml:2:18: timeouts.wait: \"10\" is no duration", "\"10s\""},
      {"cta_budget: 513\n", "p.yaml:2:13:", "outside 1..512"},
      {"cta_budget: 2147483648\n", "p.yaml:2:13:", "outside 1..512"},
      {"cta_budget: many\n", "p.yaml:2:13:", "or auto"},
      {"match: {kind: gpu}\n", "p.yaml:2:15: match.kind: \"gpu\"", "host, cuda"},
      {"match: {kind: host, architecture: [sm_90]}\n", "p.yaml:2:8: match:", "no architecture"},
      {"match: {architecture: sm_90}\n", "p.yaml:2:23:", "write [sm_90]"},
      {"match: {architecture: [90]}\n", "p.yaml:2:24:", "did you mean \"sm_90\"?"},
      {"match: {architecture: [sm_90a]}\n", "p.yaml:2:24:", "did you mean \"sm_90\"?"},
      {"match: {architecture: [sm_90..sm_80]}\n", "p.yaml:2:24:", "sm_80..sm_90"},
      {"datapath: {prefer: []}\n", "p.yaml:2:20:", "write [auto]"},
      {"datapath: {prefer: [auto, host]}\n", "p.yaml:2:21:", "write it last"},
      {"datapath: {deny: [a, a]}\n", "p.yaml:2:22:", "stands in the list already"},
      {"datapath: {deny: [[a]]}\n", "p.yaml:2:19:", "a list where a text is wanted"},
      {"programs: [{dtypes: [f32]}]\n", "p.yaml:2:12:", "has no kind"},
      {"programs: [{kind: reduce}]\n", "p.yaml:2:12:", "needs dtypes"},
      {"programs: [{kind: copy, ops: [sum]}]\n", "p.yaml:2:12:", "remove dtypes and ops"},
      {"programs: [{kind: universal, dtypes: [f32]}]\n", "p.yaml:2:12:", "remove dtypes and ops"},
      {"programs: [{kind: reduce, dtypes: [fp32]}]\n", "p.yaml:2:36:", "\"f32\""},
      {"tuning: {rows: {chunk: 1KiB}}\n", "p.yaml:2:16:", "a map where a list is wanted"},
      {"tuning: {rows: [{ranks: 2}]}\n", "p.yaml:2:17:", "sets nothing"},
      {"tuning: {rows: [{collectives: [], chunk: 1KiB}]}\n", "p.yaml:2:31:", "chooses nothing"},
      {"tuning: {rows: [{collectives: [allreduce], chunk: 1KiB}]}\n",
       "p.yaml:2:32:", "did you mean \"all_reduce\"?"},
      {"tuning: {rows: [{collectives: [barrier], chunk: 1KiB}]}\n",
       "p.yaml:2:32:", "not one of its words"},
      {"tuning: {rows: [{bytes: 1MiB..4KiB, chunk: 1KiB}]}\n", "p.yaml:2:25:", "reversed"},
      {"tuning: {default: {path: latency}}\n", "p.yaml:2:26:", "set crossover"},
      {"tuning: {default: {path: switch}}\n", "p.yaml:2:26:", "auto, latency, throughput"},
      {"tuning: {default: {ctas: {total: 8, stage: 1}}}\n", "p.yaml:2:26:", "total alone"},
      {"crossover: {rows: [{ranks: 2}]}\n", "p.yaml:2:20:", "has no value"},
      {"reduction: {rows: [{collectives: [all_to_all], value: nvls}]}\n",
       "p.yaml:2:20:", "may be said of all_gather+reduce_scatter+all_reduce only"},
      {"host: {spins: 1e3}\n", "p.yaml:2:15: host.spins: \"1e3\" is no count", "\"1000\""},
  });
}

TEST_CASE("YAML that policies leave out is refused by name") {
  check_all({
      {"crossover: &a 4KiB\n", "p.yaml:2:12: anchor", "write the value out"},
      {"name: &a x\ncrossover: *a\n", "p.yaml:2:7: anchor", ""},
      {"crossover: !!int 4\n", "p.yaml:2:12: tag", "no tags"},
      {"crossover: !size 4\n", "p.yaml:2:12: tag", "no tags"},
      {"name: a\nname: b\n", "p.yaml:3:1: key \"name\" stands on line 2 already", ""},
      {"staging: {pair_slots: 2, pair_slots: 3}\n", "p.yaml:2:26: key \"pair_slots\"", "line 2"},
      {"<<: {name: a}\n", "p.yaml:2:1: unknown key \"<<\"", ""},
      {"? [a]\n: b\n", "p.yaml:2:3: a key must be a word", ""},
      {"---\nversion: 1\n", "p.yaml:3:1: a second document", ""},
      {"staging:\n\tlatency_bytes: 1MiB\n", "p.yaml:3:1: a tab", "spaces"},
      {"crossover:\t4KiB\n", "p.yaml:2:11: a tab", "spaces"},
      {"name: \"a\xff\"\n", "p.yaml:2:9: byte 0xff is not UTF-8", "save the file as UTF-8"},
      {"name: \"\xc3\xa9\xed\xa0\x80\"\n", "p.yaml:2:9: byte 0xed is not UTF-8", ""},
      {"name: \x01\n", "p.yaml:2:7: control character 0x01", ""},
      {"crossover: 4KiB\rname: x\n", "p.yaml:2:16: control character 0x0d", ""},
      {"crossover: [4KiB\n", "p.yaml:", "not valid YAML"},
      {"crossover: 4KiB: 3\n", "p.yaml:2:", "not valid YAML"},
      {"name: \"unfinished\n", "p.yaml:", "not valid YAML"},
  });
}

TEST_CASE("byte-order mark, CRLF, comments with tabs, quotes and a document start are accepted") {
  const char* texts[] = {
      "\xEF\xBB\xBFversion: 1\ncrossover: 8KiB\n",
      "version: 1\r\ncrossover: 8KiB\r\n",
      "version: 1 # a\tb\n# \t\ncrossover: 8KiB",
      "---\nversion: \"1\"\ncrossover: '8KiB'\n...\n",
      "%YAML 1.2\n---\n{version: 1, crossover: 8KiB}\n",
  };
  for (const char* text : texts) {
    const auto policy = read_policy(text, "p.yaml", PURLIN_DEVICE_HOST);
    INFO(text);
    REQUIRE_MESSAGE(policy.is_ok(), policy.status().message());
    CHECK(policy->crossover.otherwise.value == 8192);
  }
  const auto crlf = read_policy("version: 1\r\ncrossover: 8K\r\n", "p.yaml", PURLIN_DEVICE_HOST);
  CHECK(starts_with(crlf.status().message(), "p.yaml:2:12: "));
  const auto bom = read_policy("\xEF\xBB\xBFversion: 2\n", "p.yaml", PURLIN_DEVICE_HOST);
  CHECK(starts_with(bom.status().message(), "p.yaml:1:10: "));
}

TEST_CASE("texts that are too large or too deep end quickly with an error") {
  const std::string large = "version: 1\n" + std::string(10u << 20, '#');
  const auto policy = read_policy(large, "p.yaml", PURLIN_DEVICE_HOST);
  CHECK(holds(policy.status().message(), "p.yaml:1:1: the text has 10485771 bytes"));
  const std::string deep(kMaxTextBytes - 100, '[');
  CHECK(starts_with(error_of(deep), "p.yaml:2:"));
  std::string many = "staging:\n";
  for (int i = 0; i < 70; ++i) many += "  k" + std::to_string(i) + ": 1\n";
  CHECK(holds(error_of(many), "more than 64 keys"));
  std::string rows = "tuning:\n  rows:\n";
  for (int i = 0; i < 300; ++i) rows += "    - {ranks: 2, chunk: 1KiB}\n";
  CHECK(holds(error_of(rows), "a list of 300 items; at most 256"));
}

TEST_CASE("a file that cannot be read says why") {
  const std::string folder = std::filesystem::temp_directory_path() / "purlin_reader_XXXXXX";
  std::string path = folder;
  REQUIRE(mkdtemp(path.data()) != nullptr);
  const auto code = [](const std::string& file) { return read_text(file).status(); };
  CHECK(code(path + "/none.yaml").code() == PURLIN_SYSTEM_ERROR);
  CHECK(code(path + "/none.yaml").message() ==
        path + "/none.yaml: cannot be read: No such file or directory");
  CHECK(holds(code(path).message(), "it is no regular file"));
  CHECK(holds(code("/dev/zero").message(), "it is no regular file"));
  std::ofstream(path + "/p.yaml") << "version: 1\ncrossover: 8KiB\n";
  const auto text = read_text(path + "/p.yaml");
  REQUIRE(text.is_ok());
  const auto policy = read_policy(*text, path + "/p.yaml", PURLIN_DEVICE_HOST);
  REQUIRE(policy.is_ok());
  CHECK(policy->name == "p.yaml");
  CHECK(policy->crossover.otherwise.origin.text() == path + "/p.yaml:2:12");
  std::ofstream(path + "/large.yaml") << std::string(2u << 20, '#');
  CHECK(holds(code(path + "/large.yaml").message(), ":1:1: the file is larger than 1MiB"));
  std::filesystem::remove_all(path);
}

TEST_CASE("sizes beyond 32 bits are kept exactly") {
  for (const uint64_t size : {(1ull << 31) - 4096, (1ull << 31) - 16, 1ull << 31,
                              (1ull << 31) + 4096, (1ull << 32) + 4096, 1ull << 40}) {
    const Policy policy = must_read("staging: {throughput_bytes: " + std::to_string(size) +
                                    ", latency_bytes: " + std::to_string(size) + "}\n");
    CHECK(policy.staging.throughput_bytes.value == size);
    CHECK(policy.staging.latency_bytes.value == size);
  }
}

TEST_CASE("total CTAs are split two to three to two") {
  const Policy policy = must_read("tuning: {default: {ctas: {total: 56}}}\n");
  CHECK(policy.tuning.stage_ctas->value == 16);
  CHECK(policy.tuning.reduce_ctas->value == 24);
  CHECK(policy.tuning.gather_ctas->value == 16);
  const Policy least = must_read("tuning: {default: {ctas: {total: 3}}}\n");
  CHECK(least.tuning.stage_ctas->value == 1);
  CHECK(least.tuning.reduce_ctas->value == 1);
}

}  // namespace
}  // namespace purlin::policy
