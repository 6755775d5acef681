#include "store/postgres/driver/values.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn::postgres {
namespace {

constexpr unsigned type_found_by_server = 0;
constexpr unsigned type_bytea = 17;
constexpr int format_text = 0;
constexpr int format_binary = 1;

void append_quoted(std::string& to, std::string_view text) {
    to += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') to += '\\';
        to += c;
    }
    to += '"';
}

}  // namespace

void values::keep(std::string text) {
    bytes_ += text.size();
    has_zero_byte_ |= text.find('\0') != std::string::npos;
    const auto& kept = kept_.emplace_back(std::move(text));
    data_.push_back(kept.c_str());
    lengths_.push_back(static_cast<int>(kept.size()));
    formats_.push_back(format_text);
    types_.push_back(type_found_by_server);
}

void values::add(std::nullptr_t) {
    data_.push_back(nullptr);
    lengths_.push_back(0);
    formats_.push_back(format_text);
    types_.push_back(type_found_by_server);
}

void values::add(std::int64_t number) { keep(fmt::format("{}", number)); }
void values::add(double number) { keep(fmt::format("{}", number)); }
void values::add(std::string_view text) { keep(std::string(text)); }

void values::add(blob bytes) {
    static constexpr std::byte none{};
    bytes_ += bytes.bytes.size();
    has_borrowed_ = true;
    const auto* const data = bytes.bytes.empty() ? &none : bytes.bytes.data();
    data_.push_back(reinterpret_cast<const char*>(data));
    lengths_.push_back(static_cast<int>(bytes.bytes.size()));
    formats_.push_back(format_binary);
    types_.push_back(type_bytea);
}

void values::add(const payload_bytes& payload) {
    if (is_storable(payload.bytes)) {
        add(payload.bytes);
        add(nullptr);
    } else {
        add(nullptr);
        add(blob{std::as_bytes(std::span(payload.bytes))});
    }
}

void values::add(const uuid& id) {
    std::array<char, 36> text{};
    id.format_to(text);
    keep(std::string(text.data(), text.size()));
}

void values::add(std::span<const std::int64_t> numbers) {
    keep(fmt::format("{{{}}}", fmt::join(numbers, ",")));
}

void values::add(const std::vector<std::string>& texts) {
    std::string all = "{";
    for (const auto& each : texts) {
        if (all.size() > 1) all += ',';
        append_quoted(all, each);
    }
    keep(all + '}');
}

void values::add(const sql_param& value) {
    std::visit([this](const auto& one) { add(one); }, value);
}

bool is_storable(std::string_view text) {
    return text.find('\0') == std::string_view::npos && is_utf8(text);
}

std::string storable(std::string_view text) {
    if (is_storable(text)) return std::string(text);
    auto clean = clean_utf8(text, std::numeric_limits<std::size_t>::max());
    std::ranges::replace(clean, '\0', ' ');
    return clean;
}

}  // namespace posthorn::postgres
