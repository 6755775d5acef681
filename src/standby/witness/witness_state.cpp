#include "standby/witness/witness_state.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <sys/stat.h>

#include "base/checksum.hpp"
#include "security/hex.hpp"
#include "standby/plain_file.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view state_line = "posthorn witness 1";
constexpr std::string_view identity_line = "posthorn witnessed 1";
constexpr std::size_t file_size_max = std::size_t{16} << 20U;

std::int64_t sum_of(std::string_view text) {
    checksum sum;
    sum.add(text);
    return sum.value();
}

std::string with_sum(const std::string& body) {
    return fmt::format("{}sum {}\n", body, sum_of(body));
}

/// Words of lines, each of which must be there.
class word_reader {
public:
    explicit word_reader(std::string_view text) : rest_(text) {}

    /// The rest of what is in front of the sum, if that holds.
    static std::optional<word_reader> open(std::string_view text, std::string_view first_line) {
        const auto at = text.rfind("\nsum ");
        if (at == std::string_view::npos || !text.ends_with('\n')) return std::nullopt;
        const auto body = text.substr(0, at + 1);
        std::int64_t sum = 0;
        word_reader end(text.substr(at + 1));
        if (!end.word("sum") || !end.number(sum) || !end.is_done() || sum != sum_of(body))
            return std::nullopt;
        word_reader all(body);
        if (!body.starts_with(first_line) || body[first_line.size()] != '\n') return std::nullopt;
        all.rest_.remove_prefix(first_line.size() + 1);
        return all;
    }
    bool word(std::string_view wanted) { return next() == wanted; }
    template <class Number>
    bool number(Number& into) {
        const auto text = next();
        const auto* const end = text.data() + text.size();
        const auto [stopped, wrong] = std::from_chars(text.data(), end, into);
        return wrong == std::errc{} && stopped == end;
    }
    bool flag(bool& into) {
        const auto text = next();
        into = text == "yes";
        return into || text == "no";
    }
    bool name(std::array<std::byte, 16>& into) {
        const auto text = next();
        if (text.size() != 2 * into.size()) return false;
        for (std::size_t i = 0; i < into.size(); ++i) {
            unsigned byte = 0;
            const auto* const from = text.data() + (2 * i);
            const auto [stopped, wrong] = std::from_chars(from, from + 2, byte, 16);
            if (wrong != std::errc{} || stopped != from + 2) return false;
            into[i] = static_cast<std::byte>(byte);
        }
        return true;
    }
    [[nodiscard]] bool is_done() const { return rest_.empty(); }

private:
    std::string_view next() {
        const auto end = rest_.find_first_of(" \n");
        const auto found = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        return found;
    }

    std::string_view rest_;
};

std::string_view yes_or_no(bool flag) { return flag ? "yes" : "no"; }

result<std::string> text_of(const fs::path& path) {
    POSTHORN_LET(file, plain_file::open(path, plain_file::how::read));
    POSTHORN_LET(size, file.size());
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, file_size_max)), '\0');
    POSTHORN_LET(got, file.read(std::as_writable_bytes(std::span(text)), 0));
    text.resize(got);
    return text;
}

result<> write_anew(const fs::path& path, const std::string& text) {
    const fs::path fresh = path.string() + ".new";
    {
        POSTHORN_LET(file, plain_file::open(fresh, plain_file::how::make));
        POSTHORN_TRY(file.resize(0));
        POSTHORN_TRY(file.write(std::as_bytes(std::span(text)), 0));
        POSTHORN_TRY(file.sync());
    }
    std::error_code failure;
    fs::rename(fresh, path, failure);
    if (failure)
        return fail(error_code::io_failed, "cannot write {}: {}", path.string(), failure.message());
    return sync_names_beside(path);
}

/// Which file of which disk; a copy has another one.
std::string place_of(const fs::path& path) {
    struct stat seen{};
    if (::stat(path.c_str(), &seen) != 0) return "none";
    return fmt::format("{}:{}", seen.st_dev, seen.st_ino);
}

fs::path lock_of(const fs::path& path) { return path.string() + ".lock"; }
fs::path place_file_of(const fs::path& path) { return path.string() + ".place"; }

}  // namespace

std::string to_text(const witness_state& state) {
    auto body = fmt::format("{}\nname {}\nversion {}\nstale {}\n", state_line, to_hex(state.name),
                            state.version, yes_or_no(state.is_stale));
    for (const auto& each : state.entries)
        body += fmt::format("entry {} {} {} {}\n", to_hex(each.stream), each.epoch,
                            to_hex(each.holder), yes_or_no(each.in_sync));
    return with_sum(body);
}

std::optional<witness_state> parse_witness_state(std::string_view text) {
    auto from = word_reader::open(text, state_line);
    if (!from) return std::nullopt;
    witness_state state;
    if (!from->word("name") || !from->name(state.name) || !from->word("version") ||
        !from->number(state.version) || !from->word("stale") || !from->flag(state.is_stale))
        return std::nullopt;
    while (!from->is_done()) {
        witness_entry entry;
        if (!from->word("entry") || !from->name(entry.stream) || !from->number(entry.epoch) ||
            !from->name(entry.holder) || !from->flag(entry.in_sync))
            return std::nullopt;
        state.entries.push_back(entry);
    }
    return state;
}

result<witness_file> witness_file::open(const fs::path& path, random_source& random) {
    witness_file opened(path);
    POSTHORN_LET(lock, plain_file::open(lock_of(path), plain_file::how::make));
    opened.lock_ = std::move(lock);
    if (!opened.lock_.lock())
        return fail(error_code::store_busy, "another witness keeps {}; stop it first",
                    path.string());
    std::error_code unusable;
    if (!fs::exists(path, unusable)) {
        POSTHORN_TRY(opened.begin(random));
        return opened;
    }
    POSTHORN_TRY(opened.require_own_place());
    POSTHORN_LET(text, text_of(path));
    auto state = parse_witness_state(text);
    if (!state)
        return fail(
            error_code::store_corrupt,
            "{} is damaged; see that one of the pair at most is the primary, then remove it "
            "and what the nodes keep of this witness",
            path.string());
    opened.state_ = *std::move(state);
    return opened;
}

result<> witness_file::begin(random_source& random) {
    random.fill(state_.name);
    // First the place: a state without it is not believed.
    POSTHORN_TRY(write_anew(place_file_of(path_), place_of(lock_of(path_)) + "\n"));
    return save(state_);
}

/// The lock's file is made once and never written, so that it stays the file that it is.
result<> witness_file::require_own_place() const {
    std::error_code unusable;
    const auto written = fs::exists(place_file_of(path_), unusable)
                             ? text_of(place_file_of(path_))
                             : result<std::string>(std::string());
    POSTHORN_TRY(written);
    if (*written == place_of(lock_of(path_)) + "\n") return {};
    return fail(error_code::store_corrupt,
                "{} was copied here, from a backup or another machine, and may say who the primary "
                "once was; see that one of the pair at most is it, then remove the file and what "
                "the nodes keep of this witness",
                path_.string());
}

result<> witness_file::save(const witness_state& state) {
    POSTHORN_TRY(write_anew(path_, to_text(state)));
    state_ = state;
    return {};
}

fs::path identity_file_of(const fs::path& database) { return database.string() + "-witness"; }

std::string to_text(const witness_identity& self) {
    return with_sum(fmt::format("{}\nnode {}\nstarts {}\nversion {}\nknows {}\nwitness {}\n",
                                identity_line, to_hex(self.node), self.starts, self.version,
                                yes_or_no(self.witness.has_value()),
                                to_hex(self.witness.value_or(witness_name{}))));
}

std::optional<witness_identity> parse_witness_identity(std::string_view text) {
    auto from = word_reader::open(text, identity_line);
    witness_identity self;
    witness_name witness{};
    bool knows = false;
    if (!from || !from->word("node") || !from->name(self.node) || !from->word("starts") ||
        !from->number(self.starts) || !from->word("version") || !from->number(self.version) ||
        !from->word("knows") || !from->flag(knows) || !from->word("witness") ||
        !from->name(witness) || !from->is_done())
        return std::nullopt;
    if (knows) self.witness = witness;
    return self;
}

result<witness_identity> begin_with_witness(const fs::path& database, const stream_id& stream,
                                            std::uint64_t epoch, random_source& random) {
    const auto path = identity_file_of(database);
    std::error_code unusable;
    witness_identity self;
    if (fs::exists(path, unusable)) {
        POSTHORN_LET(text, text_of(path));
        const auto kept = parse_witness_identity(text);
        if (!kept)
            return fail(error_code::store_corrupt,
                        "{} is damaged; see that the other of the pair is not the primary, then "
                        "remove it",
                        path.string());
        self = *kept;
    } else {
        random.fill(self.node);
    }
    ++self.starts;
    self.stream = stream;
    self.epoch = epoch;
    POSTHORN_TRY(save_identity(database, self));
    return self;
}

result<> save_identity(const fs::path& database, const witness_identity& self) {
    return write_anew(identity_file_of(database), to_text(self));
}

}  // namespace posthorn::standby
