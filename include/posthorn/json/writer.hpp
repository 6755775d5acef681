#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <posthorn/json/path.hpp>

namespace posthorn {

/// Writes one JSON document to the end of a text. What JSON cannot say, such as NaN or text that is
/// not UTF-8, throws `error_code::invalid_payload` with its path.
///
/// Lifetime: the text outlives it.
/// Threads:  one.
class json_writer {
public:
    explicit json_writer(std::string& to) : out_(to) {}
    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    void string(std::string_view value);
    void boolean(bool value) { out_ += value ? "true" : "false"; }
    void integer(std::int64_t value);
    void natural(std::uint64_t value);
    void real(double value);
    void null() { out_ += "null"; }
    /// Text that claims to be JSON; it is checked.
    void raw(std::string_view value);

    /// Begins a member whose name needs no escapes, as the names of fields do not.
    void plain_key(std::string_view name) {
        comma('{');
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }
    void key(std::string_view name) {
        comma('{');
        string(name);
        out_ += ':';
    }
    void element() { comma('['); }
    void open(char bracket) { out_ += bracket; }
    void close(char bracket) { out_ += bracket; }

    /// A frame of the path, for as long as what is at it is written.
    class at {
    public:
        at(json_writer& in, std::string_view name) : in_(in), path_{in.path_, name, 0} {
            in.path_ = &path_;
        }
        at(json_writer& in, std::size_t index) : in_(in), path_{in.path_, {}, index} {
            in.path_ = &path_;
        }
        ~at() { in_.path_ = path_.above; }
        at(const at&) = delete;
        at& operator=(const at&) = delete;

    private:
        json_writer& in_;
        json_path path_;
    };
    [[noreturn]] void fail(std::string_view why) const { fail_at(*path_, why); }

private:
    // What was written last tells whether this is the first one.
    void comma(char after) {
        if (out_.back() != after) out_ += ',';
    }

    std::string& out_;
    json_path root_{};
    const json_path* path_ = &root_;
};

}  // namespace posthorn
