#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <simdjson.h>

#include <posthorn/json_reader.hpp>

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

std::string_view name_of(simdjson::simdjson_result<ondemand::json_type> type) {
    if (type.error() != simdjson::SUCCESS) return "not JSON";
    switch (type.value_unsafe()) {
        case ondemand::json_type::array: return "an array";
        case ondemand::json_type::object: return "an object";
        case ondemand::json_type::number: return "a number";
        case ondemand::json_type::string: return "text";
        case ondemand::json_type::boolean: return "true or false";
        case ondemand::json_type::null: return "null";
    }
    return "not JSON";
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
        if (type.error() == simdjson::SUCCESS && type.value_unsafe() == wanted) of.fail(otherwise);
        of.fail(std::string("is ").append(name_of(type)).append(", not ").append(wanted_name));
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
    access::check(whole,
                  with->parser.iterate(copy.data(), copy.size(), copy.capacity()).get(document));
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
                       "is not a number that fits 64 bits");
    return value;
}

std::int64_t json_reader::integer() {
    std::int64_t value = 0;
    if (access::value(*this).get_int64().get(value) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::number, "an integer",
                       "is not an integer that fits 64 bits");
    return value;
}

std::uint64_t json_reader::natural() {
    std::uint64_t value = 0;
    if (access::value(*this).get_uint64().get(value) != simdjson::SUCCESS)
        access::refuse(*this, ondemand::json_type::number, "an integer",
                       "is not an integer of zero or more that fits 64 bits");
    return value;
}

bool json_reader::is_null() {
    bool is = false;
    return access::value(*this).is_null().get(is) == simdjson::SUCCESS && is;
}

std::string_view json_reader::raw() {
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
        text = value.raw_json_token();
        text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    }
    // The library skips without looking closely.
    if (const auto checked = check_json(text); !checked)
        fail(std::string("is not JSON: ") + checked.error().what());
    return text;
}

}  // namespace posthorn
