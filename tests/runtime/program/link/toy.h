// Requests made of the toy images.
#pragma once

#include <string>
#include <vector>

#include "program/image.h"
#include "program/request.h"
#include "status/status.h"

namespace purlin {

// False, after saying that the test skips, in a build without device images.
bool have_toy_images();

std::vector<DeviceImage> toy_images(const purlin_atom_image* table, uint64_t count);

// The toy core with the toy Atom's best images for the device.
Result<ProgramRequest> toy_request(uint32_t cc, uint64_t nranks = 4);
// The same with the misfit Atom of this index in place of the Atom.
ProgramRequest misfit_request(uint64_t index);

}  // namespace purlin
