// The `purlin` command: measure, look at plugins and choices, prepare programs, start ranks.
#include <CLI/CLI.hpp>

#include "purlin/purlin.h"
#include "tools/exit_codes.h"
#include "tools/explain_command.h"
#include "tools/perf_command.h"
#include "tools/plugins_command.h"
#include "tools/prelink_command.h"
#include "tools/run_command.h"

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
  purlin::tools::add_run_command(app, purlin::tools::take_command_to_run(argc, argv));
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : purlin::tools::kExitUsage;
  }
  return 0;
}
