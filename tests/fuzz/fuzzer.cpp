// libFuzzer's entry for one target, which the build names.
#include <cstddef>
#include <cstdint>

namespace posthorn {
void POSTHORN_FUZZ_TARGET(const std::uint8_t* data, std::size_t size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    posthorn::POSTHORN_FUZZ_TARGET(data, size);
    return 0;
}
