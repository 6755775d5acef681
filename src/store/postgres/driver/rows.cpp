#include "store/postgres/driver/rows.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <libpq-fe.h>

namespace posthorn::postgres {
namespace {

enum type : Oid {
    boolean = 16,
    bytea = 17,
    int8 = 20,
    int2 = 21,
    int4 = 23,
    oid = 26,
    float4 = 700,
    float8 = 701,
    numeric = 1700,
};

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char c : bytes) number = number << 8U | static_cast<unsigned char>(c);
    return number;
}

std::int64_t signed_number(std::string_view bytes) {
    const auto number = big_endian(bytes);
    if (bytes.size() == sizeof(std::int32_t)) return static_cast<std::int32_t>(number);
    if (bytes.size() == sizeof(std::int16_t)) return static_cast<std::int16_t>(number);
    return static_cast<std::int64_t>(number);
}

std::unique_ptr<std::string> decode(std::string_view digits) {
    auto bytes = std::make_unique<std::string>();
    if (!digits.starts_with("\\x")) {
        *bytes = digits;
        return bytes;
    }
    digits.remove_prefix(2);
    bytes->reserve(digits.size() / 2);
    for (; digits.size() >= 2; digits.remove_prefix(2)) {
        unsigned value = 0;
        std::from_chars(digits.begin(), digits.begin() + 2, value, 16);
        bytes->push_back(static_cast<char>(value));
    }
    return bytes;
}

bool is_binary(const PGresult* answer, int column) { return PQfformat(answer, column) != 0; }

}  // namespace

std::size_t row::size() const { return static_cast<std::size_t>(PQnfields(answer_)); }

std::string_view row::name(std::size_t column) const {
    const char* const text = PQfname(answer_, static_cast<int>(column));
    return text == nullptr ? std::string_view{} : text;
}

sql_kind row::kind(std::size_t column) const {
    if (is_null(column)) return sql_kind::null;
    switch (PQftype(answer_, static_cast<int>(column))) {
        case boolean:
        case int8:
        case int2:
        case int4:
        case oid: return sql_kind::integer;
        case float4:
        case float8:
        case numeric: return sql_kind::real;
        case bytea: return sql_kind::blob;
        default: return sql_kind::text;
    }
}

bool row::is_null(std::size_t column) const {
    return PQgetisnull(answer_, index_, static_cast<int>(column)) != 0;
}

std::string_view row::raw(std::size_t column) const {
    const auto at = static_cast<int>(column);
    return {PQgetvalue(answer_, index_, at),
            static_cast<std::size_t>(PQgetlength(answer_, index_, at))};
}

std::int64_t row::integer(std::size_t column) const {
    if (is_null(column)) return 0;
    const auto value = raw(column);
    if (is_binary(answer_, static_cast<int>(column))) return signed_number(value);
    if (value == "t") return 1;
    std::int64_t number = 0;
    const auto [stopped, wrong] =
        std::from_chars(value.data(), value.data() + value.size(), number);
    using limits = std::numeric_limits<std::int64_t>;
    if (wrong == std::errc::result_out_of_range)  // A sum of what programs wrote.
        return value.starts_with('-') ? limits::min() : limits::max();
    return number;
}

double row::real(std::size_t column) const {
    if (is_null(column)) return 0;
    const auto value = raw(column);
    const auto type_of = PQftype(answer_, static_cast<int>(column));
    if (is_binary(answer_, static_cast<int>(column))) {
        if (type_of == float8) return std::bit_cast<double>(big_endian(value));
        return static_cast<double>(signed_number(value));
    }
    double number = 0;
    std::from_chars(value.begin(), value.end(), number);
    return number;
}

std::string_view row::text(std::size_t column) const {
    if (is_null(column)) return {};
    const auto at = static_cast<int>(column);
    if (is_binary(answer_, at) || PQftype(answer_, at) != bytea) return raw(column);
    if (decoded_.size() <= column) decoded_.resize(column + 1);
    if (!decoded_[column]) decoded_[column] = decode(raw(column));
    return *decoded_[column];
}

std::span<const std::byte> row::bytes(std::size_t column) const {
    return std::as_bytes(std::span(text(column)));
}

void rows::clearer::operator()(pg_result* answer) const noexcept { PQclear(answer); }

int rows::size() const { return answer_ ? PQntuples(answer_.get()) : 0; }

int rows::columns() const { return answer_ ? PQnfields(answer_.get()) : 0; }

std::int64_t rows::changed() const {
    const std::string_view count = answer_ ? PQcmdTuples(answer_.get()) : "";
    // A SELECT says how many rows it gave.
    if (count.empty() || done().starts_with("SELECT")) return 0;
    std::int64_t number = 0;
    std::from_chars(count.data(), count.data() + count.size(), number);
    return number;
}

std::string_view rows::done() const { return answer_ ? PQcmdStatus(answer_.get()) : ""; }

}  // namespace posthorn::postgres
