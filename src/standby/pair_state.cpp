#include "standby/pair_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/checksum.hpp"
#include "security/hex.hpp"

namespace posthorn::standby {
namespace {

constexpr std::string_view first_line = "posthorn standby 2";
constexpr std::string_view first_line_before = "posthorn standby 1";  // Without the last three.
constexpr std::array phases{standby_phase::empty,     standby_phase::copying,
                            standby_phase::following, standby_phase::promoted,
                            standby_phase::handing,   standby_phase::rejoining};

std::int64_t sum_of(std::string_view text) {
    checksum sum;
    sum.add(text);
    return sum.value();
}

/// `text` is the rest of a line that begins with `name` and a space.
bool take_line(std::string_view& rest, std::string_view name, std::string_view& text) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return false;
    auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ')
        return false;
    text = line.substr(name.size() + 1);
    return true;
}

template <class Number>
bool read(std::string_view text, Number& into, int base = 10) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), into, base);
    return wrong == std::errc{} && end == text.data() + text.size();
}

template <std::size_t Size>
bool read(std::string_view text, std::array<std::byte, Size>& into) {
    if (text.size() != 2 * into.size()) return false;
    for (std::size_t i = 0; i < into.size(); ++i) {
        unsigned byte = 0;
        if (!read(text.substr(2 * i, 2), byte, 16)) return false;
        into[i] = static_cast<std::byte>(byte);
    }
    return true;
}

bool read(std::string_view text, std::optional<log_place>& into) {
    into = parse_log_place(text);
    return into.has_value() || text == "none";
}

bool read(std::string_view text, std::optional<log_salts>& into) {
    if (text == "none") {
        into.reset();
        return true;
    }
    return read(text, into.emplace());
}

bool read(std::string_view text, standby_phase& into) {
    const auto name_of = [](standby_phase each) { return to_string(each); };
    const auto* const found = std::ranges::find(phases, text, name_of);
    if (found == phases.end()) return false;
    into = *found;
    return true;
}

bool read(std::string_view text, pair_state::role& into) {
    into = text == "primary" ? pair_state::role::primary : pair_state::role::standby;
    return text == "primary" || text == "standby";
}

bool read(std::string_view text, bool& into) {
    into = text == "yes";
    return into || text == "no";
}

std::string body_of(const pair_state& state) {
    const auto place = [](const std::optional<log_place>& at) {
        return at ? to_text(*at) : std::string("none");
    };
    return fmt::format(
        "{}\nrole {}\nstream {}\nepoch {}\nphase {}\noldest {}\nmay_lack {}\nparting {}\nbegan "
        "{}\nfirst_log {}\n",
        first_line, state.as == pair_state::role::primary ? "primary" : "standby",
        to_hex(state.stream), state.epoch, to_string(state.phase), state.oldest_segment,
        state.may_lack ? "yes" : "no", place(state.parting), place(state.began),
        state.first_log ? posthorn::to_hex(std::span(*state.first_log)) : "none");
}

}  // namespace

std::string to_hex(const stream_id& id) { return posthorn::to_hex(std::span(id)); }

std::string to_text(const log_place& at) {
    return fmt::format("{}-{}-{:08x}{:08x}", posthorn::to_hex(std::span(at.salts)), at.offset,
                       at.sum.first, at.sum.second);
}

std::optional<log_place> parse_log_place(std::string_view text) {
    log_place made;
    const auto first = text.find('-');
    const auto last = text.rfind('-');
    if (first == std::string_view::npos || last == first) return std::nullopt;
    const auto sum = text.substr(last + 1);
    constexpr std::size_t digits = 8;
    if (sum.size() != 2 * digits || !read(text.substr(0, first), made.salts) ||
        !read(text.substr(first + 1, last - first - 1), made.offset) ||
        !read(sum.substr(0, digits), made.sum.first, 16) ||
        !read(sum.substr(digits), made.sum.second, 16))
        return std::nullopt;
    return made;
}

std::filesystem::path state_file_of(const std::filesystem::path& database) {
    return database.string() + "-standby";
}

std::string to_text(const pair_state& state) {
    const auto body = body_of(state);
    return fmt::format("{}sum {}\n", body, sum_of(body));
}

std::optional<pair_state> parse_pair_state(std::string_view text) {
    const auto whole = text;
    const bool is_older = text.starts_with(first_line_before);
    if ((!is_older && !text.starts_with(first_line)) ||
        !text.substr(first_line.size()).starts_with('\n'))
        return std::nullopt;
    text.remove_prefix(first_line.size() + 1);
    pair_state state;
    std::int64_t sum = 0;
    const auto next = [&](std::string_view name, auto& into) {
        std::string_view said;
        return take_line(text, name, said) && read(said, into);
    };
    if (!next("role", state.as) || !next("stream", state.stream) || !next("epoch", state.epoch) ||
        !next("phase", state.phase) || !next("oldest", state.oldest_segment) ||
        !next("may_lack", state.may_lack))
        return std::nullopt;
    if (!is_older && (!next("parting", state.parting) || !next("began", state.began) ||
                      !next("first_log", state.first_log)))
        return std::nullopt;
    const auto body = whole.substr(0, whole.size() - text.size());
    if (!next("sum", sum) || !text.empty() || sum != sum_of(body)) return std::nullopt;
    return state;
}

result<std::optional<pair_state>> load_state(const std::filesystem::path& database) {
    const auto path = state_file_of(database);
    std::error_code unusable;
    if (!std::filesystem::exists(path, unusable)) return std::nullopt;
    POSTHORN_LET(file, plain_file::open(path, plain_file::how::read));
    std::array<std::byte, 1024> bytes{};
    POSTHORN_LET(size, file.read(bytes, 0));
    auto state = parse_pair_state({reinterpret_cast<const char*>(bytes.data()), size});
    if (state) return state;
    return fail(error_code::store_corrupt,
                "{} is damaged; on a standby, remove it and its database so that both are copied "
                "anew",
                path.string());
}

namespace {

result<> refuse_copy(const std::filesystem::path& database, const pair_state& state) {
    if (state.as == pair_state::role::primary && state.phase != standby_phase::handing) return {};
    if (state.as == pair_state::role::primary)
        return fail(error_code::invalid_argument,
                    "{} gave its role to its standby, and whether that took it is not known yet; "
                    "'posthorn serve' finds out once it is reached, or 'posthorn standby promote' "
                    "takes the role back where the other one is lost",
                    database.string());
    return fail(error_code::invalid_argument,
                "{} is a standby's copy of another machine's database, and whatever is written "
                "here would spoil it; 'posthorn standby promote' lets it take its primary's place",
                database.string());
}

}  // namespace

result<> require_no_copy(const std::filesystem::path& database) {
    POSTHORN_LET(found, load_state(database));
    return found ? refuse_copy(database, *found) : result<>();
}

result<plain_file> lock_state(const std::filesystem::path& database) {
    POSTHORN_LET(lock,
                 plain_file::open(database.string() + "-standby.lock", plain_file::how::make));
    if (lock.lock()) return std::move(lock);
    return fail(error_code::store_busy, "another process keeps the standby {}; stop it first",
                database.string());
}

result<pair_state> begin_as_primary(const std::filesystem::path& database, random_source& random) {
    POSTHORN_LET(found, load_state(database));
    if (found) {
        POSTHORN_TRY(refuse_copy(database, *found));
        return *found;
    }
    pair_state fresh{.as = pair_state::role::primary, .epoch = 1, .phase = standby_phase::promoted};
    random.fill(fresh.stream);
    POSTHORN_TRY(save_state(database, fresh));
    return fresh;
}

result<> save_state(const std::filesystem::path& database, const pair_state& state) {
    const auto path = state_file_of(database);
    const std::filesystem::path fresh = path.string() + ".new";
    const auto text = to_text(state);
    {
        POSTHORN_LET(file, plain_file::open(fresh, plain_file::how::make));
        POSTHORN_TRY(file.resize(0));
        POSTHORN_TRY(file.write(std::as_bytes(std::span(text)), 0));
        POSTHORN_TRY(file.sync());
    }
    std::error_code failure;
    std::filesystem::rename(fresh, path, failure);
    if (failure)
        return fail(error_code::io_failed, "cannot write {}: {}", path.string(), failure.message());
    return sync_names_beside(path);
}

}  // namespace posthorn::standby
