// Four ranks as threads of this process.
#include <cstdio>
#include <thread>
#include <vector>

#include "purlin/purlin.hpp"

int main() {
  try {
    std::vector<purlin::Communicator> comms = purlin::Communicator::create_all(4);
    std::vector<std::vector<int>> gathered(comms.size(), std::vector<int>(comms.size()));
    std::vector<purlin::Outcome> outcomes(comms.size());
    {
      std::vector<std::jthread> ranks;  // joined at the end of this block
      for (size_t r = 0; r < comms.size(); ++r) {
        ranks.emplace_back([&, r] {
          const std::vector<int> mine{static_cast<int>(10 * r)};
          outcomes[r] = comms[r].try_all_gather(mine, gathered[r]);
        });
      }
    }
    for (const purlin::Outcome& outcome : outcomes) outcome.or_throw();
    for (int value : gathered[3]) std::printf("%d ", value);
    std::printf("\n");
  } catch (const purlin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
