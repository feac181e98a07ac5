#include "program/linker_memo.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

namespace purlin {
namespace {

constexpr const char* kFile = "linker.json";
using Json = nlohmann::json;

// What the search depends on besides the files themselves.
Json search_facts(const LibrarySearch& search) {
  const char* loader = secure_getenv("LD_LIBRARY_PATH");
  return {{"major", toolkit_major()},
          {"folders", search.folders},
          {"loader", loader != nullptr ? loader : ""}};
}

// null if there is no such file.
Json file_facts(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) return nullptr;
  return {{"path", path},
          {"device", facts.st_dev},
          {"inode", facts.st_ino},
          {"size", facts.st_size},
          {"seconds", facts.st_mtim.tv_sec},
          {"nanoseconds", facts.st_mtim.tv_nsec}};
}

}  // namespace

std::optional<CudaRelease> remembered_linker(const ProgramFolder& folder,
                                             const LibrarySearch& search) {
  const auto contents = folder.read(kFile);
  if (!contents || !contents->found) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(contents->bytes.data());
  const Json memo = Json::parse(text, text + contents->bytes.size(), nullptr, false);
  if (!memo.is_object() || !memo.contains("release") || !memo["release"].is_number_unsigned() ||
      !memo.contains("search") || memo["search"] != search_facts(search) || !memo.contains("file"))
    return std::nullopt;
  const Json& file = memo["file"];
  if (!file.is_object() || !file.contains("path") || !file["path"].is_string()) return std::nullopt;
  if (file_facts(file["path"].get<std::string>()) != file) return std::nullopt;
  return memo["release"].get<CudaRelease>();
}

void remember_linker(const ProgramFolder& folder, const LibrarySearch& search,
                     const NvJitLink& linker, ProgramTrace& trace) {
  const Json memo = {{"search", search_facts(search)},
                     {"file", file_facts(linker.path())},
                     {"release", linker.release()}};
  const std::string text = memo.dump(1) + "\n";
  const Status s = folder.write(kFile, std::as_bytes(std::span(text)), 0600);
  if (!s) trace.add("the linker's release is not remembered: " + s.message());
}

}  // namespace purlin
