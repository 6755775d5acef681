#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace posthorn::detail {

/// Writes JSON while the compiler runs: once to count its bytes, once to keep them. Texts need no
/// escapes, as the names of fields, messages and services do not.
class constant_writer {
public:
    constexpr constant_writer() = default;
    constexpr explicit constant_writer(char* to) : to_(to) {}

    constexpr void plain(std::string_view text) {
        for (const char each : text) put(each);
    }
    constexpr void string(std::string_view value) {
        put('"');
        plain(value);
        put('"');
    }
    constexpr void boolean(bool value) { plain(value ? "true" : "false"); }
    constexpr void null() { plain("null"); }
    constexpr void natural(std::uint64_t value) {
        std::array<char, 20> digits{};
        std::size_t count = 0;
        do digits[count++] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        while (count > 0) put(digits[--count]);
    }
    constexpr void integer(std::int64_t value) {
        if (value < 0) put('-');
        natural(value < 0 ? ~static_cast<std::uint64_t>(value) + 1
                          : static_cast<std::uint64_t>(value));
    }
    constexpr void plain_key(std::string_view name) {
        if (last_ != '{') put(',');
        string(name);
        put(':');
    }
    constexpr void element() {
        if (last_ != '[') put(',');
    }
    constexpr void open(char bracket) { put(bracket); }
    constexpr void close(char bracket) { put(bracket); }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

private:
    constexpr void put(char each) {
        if (to_ != nullptr) to_[size_] = each;
        last_ = each;
        ++size_;
    }

    char* to_ = nullptr;  // Only counts if null.
    std::size_t size_ = 0;
    char last_ = 0;
};

/// What a constant text is found by in a program that is not run: a byte that no text has, a name,
/// another such byte; a third one ends it.
inline constexpr std::string_view contract_begin = "\x01posthorn-contract/1\x02";
inline constexpr char contract_end = '\x03';

/// What `Write` writes, between the two.
template <class Write>
inline constexpr auto embedded_text = [] {
    constexpr std::size_t size = [] {
        constant_writer counted;
        Write{}(counted);
        return counted.size();
    }();
    std::array<char, contract_begin.size() + size + 1> made{};
    constant_writer to(made.data());
    to.plain(contract_begin);
    Write{}(to);
    made[made.size() - 1] = contract_end;
    return made;
}();

}  // namespace posthorn::detail
