#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/nowide/utf/utf.hpp>
#include <fmt/format.h>
#include <simdjson.h>

#include <posthorn/json/reader.hpp>

#include "message/json_check.hpp"

namespace posthorn {
namespace {

namespace ondemand = simdjson::ondemand;

/// What a document is read with. Kept for the next one, so that reading allocates nothing.
struct workplace {
    ondemand::parser parser;
    std::string text;  // A copy with room behind it, where the library may look.
    bool in_use = false;
};

constexpr std::size_t kept_size_max = std::size_t{64} << 10;  // More would be held for nothing.

/// The thread's own workplace, or a new one if that is in use further up the stack.
class borrowed_workplace {
public:
    borrowed_workplace() {
        static thread_local workplace own;
        if (own.in_use) spare_ = std::make_unique<workplace>();
        place_ = spare_ ? spare_.get() : &own;
        place_->in_use = true;
    }
    ~borrowed_workplace() {
        place_->in_use = false;
        if (!spare_ && place_->text.capacity() > kept_size_max) {
            place_->text = {};
            place_->parser = ondemand::parser();
        }
    }
    borrowed_workplace(const borrowed_workplace&) = delete;
    borrowed_workplace& operator=(const borrowed_workplace&) = delete;

    workplace* operator->() const noexcept { return place_; }

private:
    std::unique_ptr<workplace> spare_;
    workplace* place_ = nullptr;
};

std::string_view name_of(ondemand::json_type type) {
    switch (type) {
        case ondemand::json_type::array: return "an array";
        case ondemand::json_type::object: return "an object";
        case ondemand::json_type::number: return "a number";
        case ondemand::json_type::string: return "text";
        case ondemand::json_type::boolean: return "true or false";
        case ondemand::json_type::null: return "null";
    }
    return "something else";
}

/// Whether text is a number as JSON writes it, however large.
bool is_number(std::string_view text) {
    const auto digits = [&text] {
        const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(count);
        return count;
    };
    const auto take = [&text](std::string_view any_of) {
        const bool is = !text.empty() && any_of.find(text.front()) != any_of.npos;
        if (is) text.remove_prefix(1);
        return is;
    };
    take("-");
    if (!take("0") && digits() == 0) return false;
    if (take(".") && digits() == 0) return false;
    if (take("eE")) {
        take("+-");
        if (digits() == 0) return false;
    }
    return text.empty();
}

std::size_t utf8_size(std::string_view text) {
    namespace utf = boost::nowide::utf;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const char* const start = at;
        const auto point = utf::utf_traits<char>::decode(at, end);
        if (point == utf::illegal || point == utf::incomplete)
            return static_cast<std::size_t>(start - text.data());
    }
    return text.size();
}

}  // namespace

struct json_reader::access {
    static ondemand::value& value(json_reader& of) {
        static_assert(sizeof(ondemand::value) <= sizeof(of.value_));
        static_assert(alignof(ondemand::value) <= 8);
        static_assert(std::is_trivially_copyable_v<ondemand::value>);
        return *std::launder(reinterpret_cast<ondemand::value*>(of.value_));
    }
    static void put(json_reader& of, const ondemand::value& value) {
        std::memcpy(of.value_, &value, sizeof value);
    }
    /// Says what is there and what was wanted; what has the right type has a wrong value.
    [[noreturn]] static void refuse(json_reader& of, ondemand::json_type wanted,
                                    std::string_view wanted_name, std::string_view otherwise) {
        auto type = value(of).type();
        if (type.error() != simdjson::SUCCESS) of.fail("is not JSON");
        if (type.value_unsafe() == wanted) of.fail(otherwise);
        of.fail(std::string("is ")
                    .append(name_of(type.value_unsafe()))
                    .append(", not ")
                    .append(wanted_name));
    }
    /// The value's text, without the spaces after it.
    static std::string_view token(json_reader& of) {
        const std::string_view text = value(of).raw_json_token();
        return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    }
    static void check(const json_reader& of, simdjson::error_code why) {
        if (why != simdjson::SUCCESS)
            of.fail(std::string("is not JSON: ") + simdjson::error_message(why));
    }
};

void json_reader::read_document(std::string_view text, callback each) {
    borrowed_workplace with;
    // In brackets, so that a document of one plain value is read like any other.
    auto& copy = with->text;
    copy.clear();
    copy.reserve(text.size() + 2 + simdjson::SIMDJSON_PADDING);
    copy += '[';
    copy += text;
    copy += ']';

    json_reader whole;
    ondemand::document document;
    const auto why = with->parser.iterate(copy.data(), copy.size(), copy.capacity()).get(document);
    if (why == simdjson::UTF8_ERROR)
        whole.fail(fmt::format("is not UTF-8 from byte {} on", utf8_size(text)));
    access::check(whole, why);
    ondemand::array outer;
    access::check(whole, document.get_array().get(outer));
    bool is_first = true;
    for (auto one : outer) {
        if (!is_first) whole.fail("is more than one JSON value");
        is_first = false;
        ondemand::value value;
        access::check(whole, one.get(value));
        access::put(whole, value);
        each.call(each.to, whole);
    }
    if (is_first) whole.fail("is empty");
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        whole.fail("goes on after its end");
}

void json_reader::read_members(callback each) {
    ondemand::object members;
    if (access::value(*this).get_object().get(members) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::object, "an object", "is not a whole object");
    json_reader member;
    member.path_.above = &path_;
    for (auto one : members) {
        ondemand::field field;
        access::check(*this, std::move(one).get(field));
        std::string_view key;
        access::check(*this, field.unescaped_key().get(key));
        member.path_.name = key;
        access::put(member, field.value());
        each.call(each.to, member);
    }
}

void json_reader::read_elements(callback each) {
    ondemand::array elements;
    if (access::value(*this).get_array().get(elements) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::array, "an array", "is not a whole array");
    json_reader element;
    element.path_.above = &path_;
    for (auto one : elements) {
        ondemand::value value;
        access::check(element, one.get(value));
        access::put(element, value);
        each.call(each.to, element);
        ++element.path_.index;
    }
}

std::string_view json_reader::string() {
    std::string_view text;
    if (access::value(*this).get_string().get(text) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::string, "text", "holds a wrong escape");
    return text;
}

bool json_reader::boolean() {
    bool value = false;
    if (access::value(*this).get_bool().get(value) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::boolean, "true or false",
                       "is neither true nor false");
    return value;
}

double json_reader::real() {
    double value = 0;
    if (access::value(*this).get_double().get(value) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::number, "a number",
                       is_number(access::token(*this)) ? "is too large a number for 64 bits"
                                                       : "is not a JSON number");
    return value;
}

std::int64_t json_reader::integer(std::int64_t min, std::int64_t max) {
    std::int64_t value = 0;
    if (access::value(*this).get_int64().get(value) != simdjson::SUCCESS || value < min ||
        value > max)
        access::refuse(*this, ondemand::json_type::number, "an integer",
                       fmt::format("is not an integer from {} to {}", min, max));
    return value;
}

std::uint64_t json_reader::natural(std::uint64_t max) {
    std::uint64_t value = 0;
    const auto why = access::value(*this).get_uint64().get(value);
    if (why != simdjson::SUCCESS && access::token(*this) == "-0") {
        std::int64_t zero =
            0;  // Taken as the integer that it is, so that reading goes on behind it.
        access::check(*this, access::value(*this).get_int64().get(zero));
        return 0;
    }
    if (why != simdjson::SUCCESS || value > max)
        access::refuse(*this, ondemand::json_type::number, "an integer",
                       fmt::format("is not an integer from 0 to {}", max));
    return value;
}

bool json_reader::is_null() {
    bool is = false;
    return access::value(*this).is_null().get(is) == simdjson::SUCCESS && is;
}

std::string_view json_reader::raw_within(std::size_t depth) {
    auto& value = access::value(*this);
    ondemand::json_type type{};
    access::check(*this, value.type().get(type));
    std::string_view text;
    if (type == ondemand::json_type::object) {
        ondemand::object whole;
        access::check(*this, value.get_object().get(whole));
        access::check(*this, whole.raw_json().get(text));
    } else if (type == ondemand::json_type::array) {
        ondemand::array whole;
        access::check(*this, value.get_array().get(whole));
        access::check(*this, whole.raw_json().get(text));
    } else {
        text = access::token(*this);
    }
    // The library skips without looking closely.
    if (const auto checked = check_json(text, json_kind::any, {.inside = depth}); !checked) {
        const std::string_view why = checked.error().what();
        fail(why.substr(why.starts_with("it ") ? 3 : 0));
    }
    return text;
}

}  // namespace posthorn
