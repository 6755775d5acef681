// libFuzzer's entry; build with -DPOSTHORN_FUZZ=ON and run with tests/fuzz/corpus/frame.
#include "fuzz/frame_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    posthorn::fuzz_frames(data, size);
    return 0;
}
