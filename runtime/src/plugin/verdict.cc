#include "plugin/verdict.h"

namespace purlin::plugin {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      // Folders.
      {"folder-searched", "the folder exists, is safe, and was listed"},
      {"folder-missing", "a folder that is asked for by hand should exist"},
      {"folder-not-a-folder", "an entry of the search path is a folder"},
      {"folder-unreadable", "the folder can be listed by this user"},
      {"folder-duplicate", "a folder reached twice is searched once"},
      {"privileged",
       "a process with raised privileges searches no folder that its user can choose"},
      // Names and kinds of files.
      {"file-name", "a plugin's file name ends in .so"},
      {"not-enabled", "with plugins.enable set, a plugin matches one of its globs"},
      {"disabled", "a plugin matches no glob of plugins.disable"},
      {"name-invalid", "a plugin that the policy names is a name, a file name or a path"},
      {"name-unknown", "a plugin that the policy names is found"},
      {"file-missing", "a plugin that the policy names by path exists"},
      {"dangling-link", "a link leads to a file"},
      {"not-a-file", "a plugin is a regular file, or a folder with atom.yaml"},
      {"same-file", "a file reached by two paths is one plugin"},
      // Trust, for the file and for its folder.
      {"world-writable", "neither the file nor its folder can be written by everybody"},
      {"stranger-owned", "the file and its folder belong to root or to this user"},
      {"file-unreadable", "the file can be read by this user"},
      // Content, before anything of it is loaded.
      {"too-large", "a plugin's file has at most 1 GiB"},
      {"not-elf", "the file is an ELF object"},
      {"elf-class", "the object is 64-bit and has this machine's byte order"},
      {"elf-machine", "the object is built for this process's instruction set"},
      {"elf-type", "the object is a shared object"},
      {"elf-truncated", "every header, segment and section lies inside the file"},
      {"elf-malformed", "the tables that the loader reads agree with each other"},
      {"entry-missing", "the object defines and exports the entry function"},
      {"abi-older", "the plugin's ABI has the major version of this library"},
      {"abi-newer", "the plugin's ABI has the major version of this library"},
      // Loading.
      {"load-failed", "the system's loader takes the object, with every symbol resolved"},
      {"entry-threw", "the entry function lets no exception out"},
      {"entry-null", "the entry function returns a descriptor"},
      {"changed-since-load", "a loaded file is not overwritten while the process runs"},
      // The descriptor.
      {"descriptor-memory", "everything the descriptor points to lies inside the plugin"},
      {"descriptor-size", "struct_size of every struct covers the members of ABI 1.0"},
      {"descriptor-kind",
       "the kind is one that is known, with what belongs to it and nothing else"},
      {"descriptor-name", "the name matches [a-z0-9-]{1,32}"},
      {"descriptor-version", "the version is a semantic version"},
      {"descriptor-text", "vendor and description are single lines of at most 255 bytes"},
      {"device-abi-older", "the device code's ABI is this library's (CUDA Atoms)"},
      {"device-abi-newer", "the device code's ABI is this library's (CUDA Atoms)"},
      {"table-incomplete", "a host Atom's function table has every function"},
      {"limits-invalid",
       "limits are in range and in order, with defaults between them; types and operations exist"},
      {"images-invalid", "a CUDA Atom's images are known kinds with data, one of them its core"},
      {"capabilities-none", "an Atom can do something"},
      {"capabilities-unknown", "an Atom declares no capability that its ABI version does not have"},
      {"reserved-used", "reserved members are 0"},
      // Data-only Atoms.
      {"atom-yaml", "a data-only Atom's atom.yaml can be read and names images that exist"},
      // Against the device.
      {"accepted", "the plugin passed every check above"},
      {"fits", "the plugin can serve the device"},
      {"denied", "the policy does not deny the Atom"},
      {"wrong-kind", "host Atoms serve host devices, CUDA Atoms serve CUDA devices"},
      {"device-too-old", "the device is not older than the oldest one the Atom serves"},
      {"no-image", "one of the Atom's core images can be linked for the device"},
      {"shared-memory", "the smallest pipeline fits the shared memory of a block"},
      {"probe-refused", "the plugin's own probe says that it fits"},
      {"probe-threw", "the probe lets no exception out"},
      // Against what a program needs.
      {"not-named", "with a preference without \"auto\", only the Atoms that it names serve"},
      {"lacks-capability", "the Atom has every capability that the program needs"},
      {"lacks-reduction", "the Atom reduces the program's dtype with its operation"},
      {"too-few-sources", "the Atom's limit of sources covers the program's"},
      // The order among those that fit.
      {"only-one", "no other Atom fits"},
      {"named-by-policy",
       "an Atom that the policy names goes before others, in the policy's order"},
      {"closer-architecture", "the Atom made for the newest architecture goes first"},
      {"higher-priority", "the Atom with the higher declared priority goes first"},
      {"newer-version", "the newer version goes first"},
      {"earlier-path", "the one found earlier in the search goes first"},
  };
  return table;
}

}  // namespace purlin::plugin
