// The `purlin` command: measure, look at plugins and choices, prepare programs, start ranks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "purlin/purlin.h"
#include "tools/check/check_command.h"
#include "tools/exit_codes.h"
#include "tools/explain_command.h"
#include "tools/nearest.h"
#include "tools/pack_command.h"
#include "tools/perf_command.h"
#include "tools/plugins_command.h"
#include "tools/prelink_command.h"
#include "tools/run_command.h"

namespace {

// True, after saying so, if the first argument is a command that there is not.
bool misspelled_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (std::find(known.begin(), known.end(), argv[1]) != known.end()) return false;
  fmt::print(stderr, "purlin: {}\nTry `purlin --help`.\n",
             purlin::tools::unknown_word("command", argv[1], known));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Collective communication for the ranks of one machine"};
  app.name("purlin");
  app.set_version_flag("--version", [] { return std::string(purlin_version()); });
  app.require_subcommand(1);
  app.footer("Start with `purlin perf all_reduce -n 2 --check`; each command has a --help.");
  purlin::tools::add_perf_command(app);
  purlin::tools::add_explain_command(app);
  purlin::tools::add_plugins_command(app);
  purlin::tools::add_prelink_command(app);
  purlin::tools::add_pack_command(app);
  purlin::tools::add_check_command(app);
  purlin::tools::add_run_command(app, purlin::tools::take_command_to_run(argc, argv));
  if (misspelled_command(app, argc, argv)) return purlin::tools::kExitUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : purlin::tools::kExitUsage;
  }
  return 0;
}
