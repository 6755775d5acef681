#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>

#include <posthorn/json/path.hpp>

namespace posthorn {

/// One value of a JSON document that is read from front to back; it can be read once.
///
/// Everything throws `error_code::invalid_payload` with the path of what is wrong. What is not
/// looked at is checked all the same, so that a document is taken whole or refused.
///
/// Lifetime: the call it is given to. Text it gives lives until the document's read ends.
/// Threads:  one.
class json_reader {
public:
    json_reader(const json_reader&) = delete;
    json_reader& operator=(const json_reader&) = delete;

    /// Reads a document: calls `each(json_reader&)` once.
    template <class Each>
    static void read(std::string_view text, Each&& each) {
        read_document(text, {std::addressof(each), [](void* to, json_reader& value) {
                                 (*static_cast<std::remove_reference_t<Each>*>(to))(value);
                             }});
    }

    [[nodiscard]] std::string_view string();
    [[nodiscard]] bool boolean();
    [[nodiscard]] double real();
    [[nodiscard]] std::int64_t integer(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                       std::int64_t max = std::numeric_limits<std::int64_t>::max());
    /// An integer of zero or more.
    [[nodiscard]] std::uint64_t natural(
        std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
    /// Whether it is null; if it is not, it can still be read.
    [[nodiscard]] bool is_null();
    /// The value's own text.
    [[nodiscard]] std::string_view raw() { return raw_within(path_.depth()); }
    /// The same of a document inside another one: its nesting is counted for itself.
    [[nodiscard]] std::string_view document() { return raw_within(0); }
    void skip() { static_cast<void>(raw()); }

    /// Calls `each(std::string_view key, json_reader& value)` for each member of an object.
    template <class Each>
    void members(Each&& each) {
        read_members({std::addressof(each), [](void* to, json_reader& value) {
                          (*static_cast<std::remove_reference_t<Each>*>(to))(value.path().name,
                                                                             value);
                      }});
    }
    /// Calls `each(json_reader& value)` for each element of an array.
    template <class Each>
    void elements(Each&& each) {
        read_elements({std::addressof(each), [](void* to, json_reader& value) {
                           (*static_cast<std::remove_reference_t<Each>*>(to))(value);
                       }});
    }

    [[nodiscard]] const json_path& path() const noexcept { return path_; }
    [[noreturn]] void fail(std::string_view why) const { fail_at(path_, why); }

private:
    struct callback {
        void* to;
        void (*call)(void* to, json_reader& value);
    };
    struct access;  // To the library behind it.

    json_reader() = default;
    static void read_document(std::string_view text, callback each);
    std::string_view raw_within(std::size_t depth);
    void read_members(callback each);
    void read_elements(callback each);

    json_path path_;
    alignas(8) std::byte value_[32]{};
};

}  // namespace posthorn
