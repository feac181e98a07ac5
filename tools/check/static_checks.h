// Checks of what an Atom says of itself, and of its images. Each runs in a process of its own.
#pragma once

#include "tools/check/requirement.h"
#include "tools/check/subject.h"

namespace purlin::tools::check {

// static_checks.cc
Finding check_exports(const Subject& subject);  // nothing is loaded
Finding check_needed(const Subject& subject);   // the part of "quiet" that the file tells
Finding check_probe(const Subject& subject);
Finding check_capabilities(const Subject& subject);

// image_checks.cc; for CUDA Atoms
Finding check_images(const Subject& subject);
Finding check_links(const Subject& subject);

// communicator_checks.cc
Finding check_collectives(const Subject& subject);
Finding check_abort(const Subject& subject);

}  // namespace purlin::tools::check
