#include "message/wire/split.hpp"

#include <string>

#include <simdjson.h>

#include "message/fields.hpp"

namespace posthorn {
namespace {

namespace ondemand = simdjson::ondemand;

/// Kept for the next text, so that splitting allocates little.
struct workplace {
    ondemand::parser parser;
    std::string text;  // A copy with room behind it, where the library may look.
};

constexpr std::size_t kept_size_max = std::size_t{4} << 20;

/// Gives memory back that an unusually large text has taken.
class kept_small {
public:
    explicit kept_small(workplace& place) : place_(place) {}
    ~kept_small() {
        if (place_.text.capacity() <= kept_size_max) return;
        place_.text = {};
        place_.parser = ondemand::parser();
    }
    kept_small(const kept_small&) = delete;
    kept_small& operator=(const kept_small&) = delete;

private:
    workplace& place_;
};

std::unexpected<error> not_json(simdjson::error_code why) {
    return fail(error_code::malformed_request, "the body is not JSON: {}",
                simdjson::error_message(why));
}

/// Takes the elements of one array. The library checks what is between them and finds where each
/// ends; what is inside of them it passes over.
class splitter {
public:
    splitter(std::string_view json, std::string_view copy, const split_rules& rules)
        : json_(json), copy_(copy), rules_(rules) {}

    result<> split(ondemand::document& document) {
        ondemand::object whole;
        if (document.get_object().get(whole) != simdjson::SUCCESS)
            return fail(error_code::malformed_request, "the body is not a JSON object");
        for (auto one : whole) {
            ondemand::field field;
            if (const auto why = std::move(one).get(field)) return not_json(why);
            std::string_view key;
            if (const auto why = field.unescaped_key().get(key)) return not_json(why);
            if (!is_field(key, rules_.field)) continue;
            if (found_)
                return fail(error_code::malformed_request, "{} is there twice", rules_.field);
            found_ = true;
            POSTHORN_TRY(take(field.value()));
        }
        if (!found_) return fail(error_code::malformed_request, "{} is missing", rules_.field);
        if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
            return fail(error_code::malformed_request, "the body goes on after its end");
        return {};
    }

    std::vector<std::string_view> slices;

private:
    result<> take(ondemand::value list) {
        ondemand::array elements;
        if (list.get_array().get(elements) != simdjson::SUCCESS)
            return fail(error_code::malformed_request, "{} is not an array", rules_.field);
        for (auto one : elements) {
            if (slices.size() == rules_.elements_max)
                return fail(error_code::message_too_large, "{} has more than {} elements",
                            rules_.field, rules_.elements_max);
            ondemand::value element;
            if (const auto why = one.get(element)) return not_json(why);
            ondemand::object object;
            std::string_view slice;
            if (element.get_object().get(object) == simdjson::SUCCESS)
                if (const auto why = object.raw_json().get(slice)) return not_json(why);
            slices.push_back(slice.empty() ? std::string_view() : in_original(slice));
        }
        return {};
    }
    [[nodiscard]] std::string_view in_original(std::string_view slice) const {
        return json_.substr(static_cast<std::size_t>(slice.data() - copy_.data()), slice.size());
    }

    std::string_view json_;
    std::string_view copy_;
    const split_rules& rules_;
    bool found_ = false;
};

}  // namespace

result<std::vector<std::string_view>> split_list(std::string_view json, const split_rules& rules) {
    static thread_local workplace place;
    const kept_small after(place);
    auto& copy = place.text;
    copy.clear();
    copy.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    copy += json;
    ondemand::document document;
    if (const auto why =
            place.parser.iterate(copy.data(), copy.size(), copy.capacity()).get(document))
        return not_json(why);
    splitter parts(json, copy, rules);
    POSTHORN_TRY(parts.split(document));
    return std::move(parts.slices);
}

}  // namespace posthorn
