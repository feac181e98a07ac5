#include "tools/explain_command.h"

#include <fmt/format.h>

#include <memory>

#include "tools/ask.h"
#include "tools/exit_codes.h"
#include "tools/explain_text.h"
#include "tools/names.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(Says what will run for one call, and which line of which file decided each
setting. No communicator is made and the device need not be there.

Examples:
  purlin explain all_reduce --bytes 1MiB --ranks 8
  purlin explain reduce_scatter --bytes 64KiB --ranks 2 --device sm_90 \
      --dtype bf16 --policy config/hopper.yaml

Bytes are the size of docs/perf.md: the buffer of all_reduce, the gathered buffer
of all_gather, the whole input of reduce_scatter, a rank's send buffer of all_to_all.

Exit status: 0 explained, 1 an error, 2 a wrong command line.)";

struct Asked {
  std::string collective, bytes, policy, device, dtype = "f32", op, reduction = "policy";
  int ranks = 0;
  bool json = false;
};

template <class T>
T accepted(const char* option, const Outcome<T>& parsed) {
  if (parsed) return *parsed;
  give_up("explain", fmt::format("{}{}{}", option, *option ? ": " : "", parsed.error()),
          kExitUsage);
}

void run(const Asked& asked) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_path = asked.policy.empty() ? nullptr : asked.policy.c_str();
  query.device = asked.device.empty() ? nullptr : asked.device.c_str();
  query.collective = accepted("", parse_collective(asked.collective));
  query.bytes = accepted("--bytes", parse_size(asked.bytes));
  query.dtype = accepted("--dtype", parse_dtype(asked.dtype));
  query.reduction = accepted("--reduction", parse_reduction(asked.reduction));
  if (!asked.op.empty() && !reduces(query.collective))
    give_up("explain",
            fmt::format("--op: {} copies and has no operation; leave --op out",
                        collective_name(query.collective)),
            kExitUsage);
  query.op = asked.op.empty() ? PURLIN_SUM : accepted("--op", parse_op(asked.op));
  if (asked.ranks < 1 || asked.ranks > PURLIN_MAX_RANKS)
    give_up("explain",
            fmt::format("--ranks: {} ranks were asked for; 1 to {} are possible", asked.ranks,
                        PURLIN_MAX_RANKS),
            kExitUsage);
  query.nranks = asked.ranks;
  const auto answer = ask([&](char** json) { return purlin_explain(&query, json); });
  if (!answer) give_up_answer("explain", answer.error(), asked.json);
  if (asked.json)
    fmt::print("{}\n", answer->dump(2));
  else
    fmt::print("{}", explain_text(*answer));
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* explain = app.add_subcommand("explain", "Say what will run for a call, and why");
  auto asked = std::make_shared<Asked>();
  explain->add_option("collective", asked->collective, "What is called")->required();
  explain->add_option("--bytes", asked->bytes, "Size of the call: 4096, 64KiB, 1MiB")->required();
  explain->add_option("--ranks,-n", asked->ranks, "Number of ranks")->required();
  explain->add_option("--device", asked->device,
                      "For this device, there or not: host, sm_90 (the one there is)");
  explain->add_option("--policy", asked->policy, "Policy file (found by search)");
  explain->add_option("--dtype", asked->dtype, "Element type (f32)");
  explain->add_option("--op", asked->op, "Operation of a reduction (sum)");
  explain->add_option("--reduction", asked->reduction,
                      "policy, score, nvls or nvls-required (policy)");
  explain->add_flag("--json", asked->json, "Print JSON");
  explain->footer(kExamples);
  explain->callback([asked] { run(*asked); });
}

}  // namespace purlin::tools
