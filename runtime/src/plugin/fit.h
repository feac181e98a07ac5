// Can this Atom serve that device, and can it do what a program needs?
#pragma once

#include <string>
#include <vector>

#include "plugin/choice.h"
#include "plugin/judge.h"
#include "plugin/selection.h"
#include "plugin/verdict.h"
#include "program/image.h"

namespace purlin::plugin {

// All images of an Atom, in its order, as programs are linked from. PURLIN_PLUGIN_ERROR for a record
// that cannot be read.
Result<std::vector<DeviceImage>> images_of(const purlin_atom_descriptor& atom);

// Denials first, then kind, architecture, images and shared memory, last the Atom's own probe.
Verdict judge_fit(const Plugin& plugin, const purlin_device_facts& facts,
                  const std::vector<Stated>& deny);

// Capabilities, dtype and operation, number of sources. PURLIN_PREMUL_SUM asks for PURLIN_SUM,
// which is what it is to an Atom's reduction.
Verdict judge_need(const Plugin& plugin, const Need& need);

}  // namespace purlin::plugin
