// libFuzzer's entry for one of the wire's targets, which the build names.
#include "fuzz/wire_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    posthorn::POSTHORN_FUZZ_TARGET(data, size);
    return 0;
}
