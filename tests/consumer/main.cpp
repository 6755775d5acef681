#include <cstdio>

#include <posthorn/error.hpp>

// Uses what lies behind the headers too, so that a package without its library does not link.
int main() {
    const posthorn::error late(posthorn::error_code::timed_out, "no answer; is the peer running?");
    std::printf("%s: %s\n", describe(late.code()).name.data(), late.what());
    return late.is_transient() ? 0 : 1;
}
