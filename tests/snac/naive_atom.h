// A host Atom of the plainest kind for the tests of SNAC: byte loops, and sums of u8 alone, so that
// what fails is the protocol.
#pragma once

#include "purlin/atom_abi.h"

namespace purlin::test {

const purlin_host_atom& naive_atom();

}  // namespace purlin::test
