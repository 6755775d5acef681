#include "standby/archive/archive_format.hpp"

#include <charconv>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/assert.hpp"
#include "security/hex.hpp"

namespace posthorn::standby {
namespace {

namespace json = boost::json;

constexpr std::string_view segment_line = "posthorn archive log 1\n";
constexpr std::string_view base_line = "posthorn archive base 1\n";
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 50U;  // More than any file has.
constexpr std::uint64_t segment_bytes_max = std::uint64_t{1} << 44U;
constexpr std::size_t digits = 12;

std::string filled(std::string_view line, const json::object& facts) {
    auto head = std::string(line) + json::serialize(facts);
    POSTHORN_ASSERT(head.size() < archive_head_size);  // A service's name has 100 characters.
    head.resize(archive_head_size - 1, ' ');
    return head += '\n';
}

std::int64_t to_ms(wall_time at) { return at.time_since_epoch().count(); }

std::string number_text(std::uint64_t number) { return std::to_string(number); }

std::string hex_of(const log_sum& sum) {
    return fmt::format("{:08x}{:08x}", sum.first, sum.second);
}

template <class Number>
bool read_digits(std::string_view text, Number& into, int base = 10) {
    const auto* const end = text.data() + text.size();
    const auto [stopped, wrong] = std::from_chars(text.data(), end, into, base);
    return wrong == std::errc{} && stopped == end;
}

/// The fields of a head, each of which must be there and be what it should.
class head_reader {
public:
    head_reader(std::string_view head, std::string_view line) {
        if (head.size() != archive_head_size || !head.starts_with(line)) return;
        boost::system::error_code wrong;
        auto parsed = json::parse(head.substr(line.size()), wrong);
        if (wrong || !parsed.is_object()) return;
        facts_ = std::move(parsed).as_object();
        good_ = true;
    }

    [[nodiscard]] bool good() const { return good_; }
    void read(std::string_view name, std::string& into) {
        if (const auto text = text_of(name)) into = *text;
    }
    /// A number is text, since JSON's have no 64 bits everywhere.
    void read(std::string_view name, std::uint64_t& into) {
        const auto text = text_of(name);
        if (!text || !read_digits(*text, into) || into > bytes_max) good_ = false;
    }
    void read(std::string_view name, wall_time& into) {
        const auto* const value = facts_.if_contains(name);
        if (value == nullptr || !value->is_int64()) {
            good_ = false;
            return;
        }
        into = wall_time(std::chrono::milliseconds(value->get_int64()));
    }
    void read(std::string_view name, log_sum& into) {
        const auto text = text_of(name);
        if (!text || text->size() != 16 || !read_digits(text->substr(0, 8), into.first, 16) ||
            !read_digits(text->substr(8), into.second, 16))
            good_ = false;
    }
    void read(std::string_view name, log_salts& into) {
        const auto text = text_of(name);
        std::uint64_t number = 0;
        if (!text || text->size() != 16 || !read_digits(*text, number, 16))
            good_ = false;
        else
            write_number(into, number);
    }

private:
    std::optional<std::string_view> text_of(std::string_view name) {
        const auto* const value = facts_.if_contains(name);
        if (value != nullptr && value->is_string()) return std::string_view(value->get_string());
        good_ = false;
        return std::nullopt;
    }

    json::object facts_;
    bool good_ = false;
};

bool is_page_size(std::uint64_t size) {
    constexpr std::uint64_t page_size_min = 512;
    constexpr std::uint64_t page_size_max = 65'536;
    return size >= page_size_min && size <= page_size_max && (size & (size - 1)) == 0;
}

bool fits(const segment_facts& read) {
    const auto frame = frame_header_size + read.page_size;
    return read.number > 0 && is_page_size(read.page_size) && read.from >= log_header_size &&
           read.to > read.from && read.to <= segment_bytes_max &&
           (read.from - log_header_size) % frame == 0 && (read.to - read.from) % frame == 0 &&
           read.commits > 0 && read.commits <= (read.to - read.from) / frame;
}

}  // namespace

std::string encode_head(const segment_facts& of) {
    return filled(segment_line, {{"service", of.service},
                                 {"epoch", number_text(of.epoch)},
                                 {"number", number_text(of.number)},
                                 {"generation", to_hex(of.generation)},
                                 {"from", number_text(of.from)},
                                 {"to", number_text(of.to)},
                                 {"sum", hex_of(of.sum)},
                                 {"pageSize", number_text(of.page_size)},
                                 {"commits", number_text(of.commits)},
                                 {"firstAt", to_ms(of.first_at)},
                                 {"lastAt", to_ms(of.last_at)},
                                 {"before", of.before}});
}

std::string encode_head(const base_facts& of) {
    return filled(base_line, {{"service", of.service},
                              {"epoch", number_text(of.epoch)},
                              {"needs", number_text(of.needs)},
                              {"whole", number_text(of.whole)},
                              {"bytes", number_text(of.bytes)},
                              {"begunAt", to_ms(of.begun_at)},
                              {"wholeAt", to_ms(of.whole_at)}});
}

std::optional<segment_facts> decode_segment_head(std::string_view head) {
    head_reader from(head, segment_line);
    if (!from.good()) return std::nullopt;
    segment_facts read;
    std::uint64_t page_size = 0;
    from.read("service", read.service);
    from.read("epoch", read.epoch);
    from.read("number", read.number);
    from.read("generation", read.generation);
    from.read("from", read.from);
    from.read("to", read.to);
    from.read("sum", read.sum);
    from.read("pageSize", page_size);
    from.read("commits", read.commits);
    from.read("firstAt", read.first_at);
    from.read("lastAt", read.last_at);
    from.read("before", read.before);
    if (!from.good() || !is_page_size(page_size)) return std::nullopt;
    read.page_size = static_cast<std::uint32_t>(page_size);
    if (!fits(read)) return std::nullopt;
    return read;
}

std::optional<base_facts> decode_base_head(std::string_view head) {
    head_reader from(head, base_line);
    if (!from.good()) return std::nullopt;
    base_facts read;
    from.read("service", read.service);
    from.read("epoch", read.epoch);
    from.read("needs", read.needs);
    from.read("whole", read.whole);
    from.read("bytes", read.bytes);
    from.read("begunAt", read.begun_at);
    from.read("wholeAt", read.whole_at);
    if (!from.good() || read.needs == 0 || read.whole == 0 || read.needs > read.whole + 1)
        return std::nullopt;
    return read;
}

std::vector<std::byte> encode_marks(std::span<const commit_mark> marks) {
    std::vector<std::byte> bytes(marks.size() * mark_size);
    std::size_t at = 0;
    for (const auto& each : marks) {
        const auto into = std::span(bytes).subspan(at, mark_size);
        write_number(into.first(8), each.end);
        write_number(into.subspan(8), static_cast<std::uint64_t>(to_ms(each.at)));
        at += mark_size;
    }
    return bytes;
}

std::optional<std::vector<commit_mark>> decode_marks(bytes_view body, const segment_facts& of) {
    if (body.size() != of.commits * mark_size) return std::nullopt;
    std::vector<commit_mark> marks;
    auto last = of.from;
    for (; !body.empty(); body = body.subspan(mark_size)) {
        const auto ms = static_cast<std::int64_t>(read_number(body.subspan(8, 8)));
        const commit_mark mark{read_number(body.first(8)),
                               wall_time(std::chrono::milliseconds(ms))};
        if (mark.end <= last || mark.end > of.to) return std::nullopt;
        last = mark.end;
        marks.push_back(mark);
    }
    if (last != of.to) return std::nullopt;
    return marks;
}

std::uint64_t body_size_of(const segment_facts& of) {
    return log_header_size + (of.to - of.from) + (of.commits * mark_size);
}

std::string segment_name(std::uint64_t number) { return fmt::format("log-{:012}", number); }
std::string base_name(std::uint64_t whole) { return fmt::format("base-{:012}", whole); }

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view before_number) {
    std::uint64_t number = 0;
    if (!name.starts_with(before_number) || name.size() != before_number.size() + digits ||
        !read_digits(name.substr(before_number.size()), number))
        return std::nullopt;
    return number;
}

}  // namespace posthorn::standby
