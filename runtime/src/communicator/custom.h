// User-defined transformations: from the public API's data to SNAC's.
#pragma once

#include "purlin/purlin.h"
#include "snac/transformation.h"
#include "status/status.h"

namespace purlin {

// PURLIN_INVALID_ARGUMENT says which field is wrong; PURLIN_UNSUPPORTED why the composition is
// impossible at this number of ranks.
Result<snac::Transformation> custom_transformation(const purlin_transformation& t, int nranks);

}  // namespace purlin
