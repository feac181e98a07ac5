#include "tools/pack.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/names.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools {
namespace {

namespace fs = std::filesystem;

// The kind of an image, from the bytes that its file starts with.
Outcome<std::string> kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  if (!file.read(start, sizeof start))
    return Error{path + ": cannot be read, or has fewer than 8 bytes; give an image file"};
  const std::string_view bytes(start, sizeof start);
  if (bytes.starts_with("\x50\xed\x55\xba")) return std::string("lto-ir");
  if (bytes.starts_with("\177ELF")) return std::string("cubin");
  if (bytes == "PURLPROG") return std::string("program");
  return Error{
      path +
      ": is no fatbin with LTO-IR, no cubin and no finished program; nvcc makes the first with " +
      "-dc -fatbin -gencode arch=compute_90,code=lto_90"};
}

// "90a" into its number and its letter.
Done read_base(std::string_view text, PackImage& image) {
  const char* const end = text.data() + text.size();
  const auto [letter, wrong] = std::from_chars(text.data(), end, image.base);
  image.specific = std::string(letter, end);
  if (wrong != std::errc() || image.base < 50 || image.base > 999 ||
      (!image.specific.empty() && image.specific != "a" && image.specific != "f"))
    return Error{fmt::format("\"{}\" is no architecture; write 90, 90a or 100f", text)};
  return done();
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// The name within the folder: files of one name from several places stay apart.
std::string file_name(const PackImage& image, size_t index) {
  const std::string dtype = image.dtype.empty() ? "" : "_" + image.dtype;
  return fmt::format("{}{}_{}{}_{}.{}", image.role, dtype, image.base, image.specific, index,
                     image.kind == "lto-ir" ? "fatbin" : image.kind);
}

std::string image_line(const PackImage& image, const std::string& file) {
  std::string line =
      fmt::format("  - {{file: {}, kind: {}, role: {}", file, image.kind, image.role);
  if (!image.dtype.empty()) line += ", dtype: " + image.dtype;
  line += fmt::format(", base: {}", image.base);
  if (!image.specific.empty()) line += ", specific: " + image.specific;
  if (!image.compiler.empty()) line += ", compiler: " + image.compiler;
  return line + "}\n";
}

Done fill(const fs::path& folder, const PackOptions& options) {
  std::string text = options.description;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "images:\n";
  for (size_t i = 0; i < options.images.size(); ++i) {
    const std::string file = file_name(options.images[i], i);
    std::error_code failed;
    fs::copy_file(options.images[i].path, folder / file, failed);
    if (failed)
      return Error{fmt::format("copying {} to {}: {}", options.images[i].path,
                               (folder / file).string(), failed.message())};
    fs::permissions(folder / file, fs::perms(0644), failed);
    text += image_line(options.images[i], file);
  }
  std::ofstream out(folder / "atom.yaml");
  out << text;
  out.close();
  if (!out) return Error{(folder / "atom.yaml").string() + ": cannot be written"};
  const auto verdict = judge_plugin(folder.string(), fmt::format("sm_{}", options.images[0].base));
  if (!verdict) return Error{verdict.error()};
  if (verdict->accepted) return done();
  // Lines are those of the file that was given.
  std::string reason = verdict->reason;
  const std::string made = (folder / "atom.yaml").string();
  if (const size_t at = reason.find(made); at != std::string::npos)
    reason.replace(at, made.size(), options.description_name);
  return Error{fmt::format("{} [{}]; {}", reason, verdict->rule, verdict->remedy)};
}

}  // namespace

Outcome<PackImage> parse_image(std::string_view role, std::string_view text,
                               std::string_view compiler) {
  PackImage image;
  image.role = role;
  image.compiler = compiler;
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos)
    return Error{fmt::format("\"{}\" names no architecture; write FILE@90", text)};
  if (const auto base = read_base(text.substr(at + 1), image); !base) return Error{base.error()};
  std::string_view path = text.substr(0, at);
  if (role == "reduction") {
    const size_t equal = path.find('=');
    if (equal == std::string_view::npos)
      return Error{fmt::format("\"{}\" names no element type; write bf16=FILE@80", text)};
    const auto dtype = parse_dtype(path.substr(0, equal));
    if (!dtype) return Error{dtype.error()};
    image.dtype = dtype_name(*dtype);
    path = path.substr(equal + 1);
  }
  image.path = path;
  auto kind = kind_of(image.path);
  if (!kind) return Error{kind.error()};
  image.kind = *kind;
  return image;
}

Outcome<std::vector<PackImage>> package_reductions(const std::string& folder) {
  const std::string list = folder + "/reductions.list";
  std::ifstream in(list);
  if (!in)
    return Error{
        list +
        ": cannot be read; --reductions names the folder lib/purlin/reductions of an installed "
        "Purlin that was built with a CUDA toolkit, or --reductions none leaves them out"};
  std::vector<PackImage> images;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> part = split(line, '|');
    unsigned release = 0;
    if (part.size() == 8) std::from_chars(part[6].data(), part[6].data() + part[6].size(), release);
    const auto dtype = parse_dtype(part.size() == 8 ? part[2].substr(part[2].find('_') + 1) : "");
    if (!dtype) return Error{fmt::format("{}: \"{}\" is no line of this list", list, line)};
    const std::string compiler =
        release == 0 ? "" : fmt::format("{}.{}", release / 1000, release % 1000 / 10);
    auto image = parse_image(
        "reduction", fmt::format("{}={}/{}@{}", dtype_name(*dtype), folder, part[7], part[3]),
        compiler);
    if (!image) return Error{image.error()};
    images.push_back(std::move(*image));
  }
  return images;
}

Done pack_atom(const PackOptions& options) {
  std::error_code failed;
  const fs::path folder = fs::absolute(options.folder).lexically_normal();
  if (fs::exists(fs::symlink_status(folder, failed)))
    return Error{folder.string() + " is there already; remove it or name another folder"};
  if (options.images.empty()) return Error{"an Atom needs a core image: --core FILE@90"};
  const fs::path made = folder.string() + fmt::format(".{}", ::getpid());
  fs::create_directories(made, failed);
  if (failed) return Error{fmt::format("making {}: {}", made.string(), failed.message())};
  Done filled = fill(made, options);
  if (filled) {
    fs::rename(made, folder, failed);
    if (!failed) return done();
    filled = Error{
        fmt::format("renaming {} to {}: {}", made.string(), folder.string(), failed.message())};
  }
  fs::remove_all(made, failed);
  return filled;
}

}  // namespace purlin::tools
