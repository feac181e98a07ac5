// What a reader of an explained call may not expect.
#pragma once

#include <string>
#include <vector>

#include "communicator/communicator.h"
#include "communicator/launch.h"

namespace purlin {

// On how the ranks would meet, or have met: whether others of the same user could have joined. `comm`
// may be null; what the environment of this process says is then taken.
std::vector<std::string> notes_on_meeting(const Communicator* comm);

// On host ranks that read their peers' input where it lies; "" where that is no question. `launch` was
// prepared as if they may, and is changed if those of `comm` do not.
std::string note_on_reading(const Communicator* comm, std::vector<Launch>* launches);

// On registered buffers, for calls in chunks; "" for others. `comm` may be null.
std::string note_on_windows(const Communicator* comm, const Launch& launch);

}  // namespace purlin
