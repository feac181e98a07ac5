#include "tools/pack_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "tools/ask.h"
#include "tools/exit_codes.h"
#include "tools/pack.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(Makes a data-only Atom for GPUs: a folder with atom.yaml and image files, and no host
code. ATOM.YAML is written by hand, without its key `images` (docs/plugins.md lists
the others). The reduction fragments of the installed Purlin are added.

Examples:
  nvcc -std=c++20 -dc -fatbin -gencode arch=compute_90,code=lto_90 \
       -I/usr/include core.cu -o core.fatbin
  purlin pack atom.yaml --core core.fatbin@90 -o plugins/vendor-x
  purlin pack atom.yaml --core a.fatbin@80 --core b.cubin@90 --compiler 13.0 \
       --reductions none --reduction bf16=bf16.fatbin@80 -o plugins/vendor-x

Exit status: 0 made and accepted, 1 an error, 2 a wrong command line.)";

struct Asked {
  std::string description, folder, compiler, reductions;
  std::vector<std::string> cores, reduction_images, universals;
};

// Where an installed Purlin keeps its fragments, seen from this program.
std::string default_reductions() {
  std::error_code failed;
  const auto self = std::filesystem::canonical("/proc/self/exe", failed);
  return (self.parent_path().parent_path() / "lib/purlin/reductions").string();
}

void add_images(PackOptions& options, const std::string& role,
                const std::vector<std::string>& texts, const std::string& compiler) {
  for (const std::string& text : texts) {
    auto image = parse_image(role, text, compiler);
    if (!image) give_up("pack", fmt::format("--{}: {}", role, image.error()), kExitFailed);
    options.images.push_back(std::move(*image));
  }
}

void run(const Asked& asked) {
  PackOptions options;
  std::ifstream in(asked.description);
  if (!in) give_up("pack", asked.description + ": cannot be read", kExitFailed);
  options.description.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  options.description_name = asked.description;
  options.folder = asked.folder;
  add_images(options, "core", asked.cores, asked.compiler);
  add_images(options, "universal", asked.universals, asked.compiler);
  add_images(options, "reduction", asked.reduction_images, asked.compiler);
  if (asked.reductions != "none") {
    auto images =
        package_reductions(asked.reductions.empty() ? default_reductions() : asked.reductions);
    if (!images) give_up("pack", images.error(), kExitFailed);
    options.images.insert(options.images.end(), images->begin(), images->end());
  }
  if (const auto packed = pack_atom(options); !packed) give_up("pack", packed.error(), kExitFailed);
  fmt::print("{}: {} images\n", asked.folder, options.images.size());
}

}  // namespace

void add_pack_command(CLI::App& app) {
  CLI::App* pack = app.add_subcommand("pack", "Make an Atom without host code from image files");
  auto asked = std::make_shared<Asked>();
  pack->add_option("description", asked->description, "atom.yaml without `images`")->required();
  pack->add_option("-o,--output", asked->folder, "Folder to make")->required();
  pack->add_option("--core", asked->cores,
                   "FILE@ARCHITECTURE: the Atom's own code; may be repeated")
      ->required();
  pack->add_option("--reduction", asked->reduction_images,
                   "DTYPE=FILE@ARCHITECTURE: a reduction fragment; may be repeated");
  pack->add_option("--universal", asked->universals, "FILE@ARCHITECTURE: a finished program");
  pack->add_option("--reductions", asked->reductions,
                   "Folder of the package's fragments, or none (the installed ones)");
  pack->add_option("--compiler", asked->compiler, "CUDA release that made the images: 13.0");
  pack->footer(kExamples);
  pack->callback([asked] { run(*asked); });
}

}  // namespace purlin::tools
