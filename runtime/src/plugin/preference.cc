#include "plugin/preference.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "plugin/finder.h"
#include "plugin/text_rules.h"

namespace purlin::plugin {

bool is_path_word(const std::string& word) { return word.find('/') != std::string::npos; }

Verdict judge_word(const Stated& word) {
  if (is_path_word(word.text) || word.text.ends_with(".so") || is_atom_name(word.text)) {
    return accept("accepted");
  }
  return refuse(
      "name-invalid",
      word.text.empty() ? "the name is empty" : fmt::format("\"{}\" is no Atom's name", word.text),
      "give a name such as \"hopper\", a file name ending in .so, or a path with a slash");
}

bool answers_to(const Judged& judged, const Stated& word, const Selection& selection) {
  if (is_path_word(word.text)) {
    const auto path = absolute_from(selection.base, word.text);
    std::error_code failed;
    return judged.path == path || std::filesystem::equivalent(judged.path, path, failed);
  }
  if (word.text.ends_with(".so")) return judged.path.filename() == word.text;
  if (judged.plugin != nullptr) return word.text == judged.plugin->descriptor->name;
  return word.text == usual_name(judged.path.filename().string());
}

int named_index(const Judged& judged, const Selection& selection) {
  for (std::size_t i = 0; i < selection.prefer.size(); ++i) {
    const Stated& word = selection.prefer[i];
    if (word.text != kAuto && answers_to(judged, word, selection)) return static_cast<int>(i);
  }
  return -1;
}

int wish_index(int named, const Selection& selection) {
  if (named >= 0) return named;
  if (selection.prefer.empty()) return 0;
  for (std::size_t i = 0; i < selection.prefer.size(); ++i) {
    if (selection.prefer[i].text == kAuto) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace purlin::plugin
