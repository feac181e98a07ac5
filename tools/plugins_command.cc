#include "tools/plugins_command.h"

#include <fmt/format.h>

#include <memory>

#include "tools/ask.h"
#include "tools/exit_codes.h"
#include "tools/json_text.h"
#include "tools/plugins_text.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(An Atom is a plugin that moves and reduces bytes on one kind of hardware. Dropping
a file libatom-NAME.so into a folder below is all it takes to install one.

Examples:
  purlin plugins                       what is there, and why it is used or not
  purlin plugins --device sm_90        what would serve an H100 or H200
  PURLIN_PLUGIN_PATH=$PWD purlin plugins

Exit status: 0 an Atom can serve, 1 none can or an error, 2 a wrong command line.)";

struct Asked {
  std::string policy, device;
  bool json = false;
};

void run(const Asked& asked) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_path = asked.policy.empty() ? nullptr : asked.policy.c_str();
  query.device = asked.device.empty() ? nullptr : asked.device.c_str();
  const auto answer = ask([&](char** json) { return purlin_plugins(&query, json); });
  if (!answer) give_up_answer("plugins", answer.error(), asked.json);
  if (asked.json)
    fmt::print("{}\n", answer->dump(2));
  else
    fmt::print("{}", plugins_text(*answer));
  if (list_or_object(*answer, "chosen").empty()) throw CLI::RuntimeError(kExitFailed);
}

}  // namespace

void add_plugins_command(CLI::App& app) {
  CLI::App* plugins =
      app.add_subcommand("plugins", "Show every plugin, and why it is used or refused");
  auto asked = std::make_shared<Asked>();
  plugins->add_option("--device", asked->device,
                      "For this device, there or not: host, sm_90 (the one there is)");
  plugins->add_option("--policy", asked->policy, "Policy file (found by search)");
  plugins->add_flag("--json", asked->json, "Print JSON");
  plugins->footer(kExamples);
  plugins->callback([asked] { run(*asked); });
}

}  // namespace purlin::tools
