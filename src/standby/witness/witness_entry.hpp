#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "standby/place.hpp"

namespace posthorn::standby {

// What the nodes of a pair and their witness say to each other. Pure.

/// Names one database file of a pair for as long as it lives, and one witness.
using witness_name = std::array<std::byte, 16>;

/// What a witness knows of one database.
struct witness_entry {
    stream_id stream{};
    std::uint64_t epoch = 0;  // The newest that it knows of,
    witness_name holder{};    // and whose it is.
    /// All that the holder answered is at its standby too, which may take its place.
    bool in_sync = false;

    bool operator==(const witness_entry&) const = default;
};

struct witness_question {
    enum class kind : std::uint8_t {
        look,   // What the witness knows.
        beat,   // The primary is there, and is in sync or not.
        claim,  // The standby wants to be the primary, of the epoch after.
    };

    kind what = kind::look;
    stream_id stream{};
    witness_name from{};
    std::uint64_t epoch = 0;    // That of the asker: it is the primary's, which a claim is to end.
    bool in_sync = false;       // Of a beat.
    std::uint64_t beat = 0;     // Of a claim: the one that has not changed.
    std::uint64_t turn = 0;     // Of a beat: each has a higher one than those before it.
    std::uint64_t run = 0;      // Of the witness, as the asker knows it from a look.
    std::uint64_t version = 0;  // The highest that the asker has heard from this witness.

    bool operator==(const witness_question&) const = default;
};

enum class witness_verdict : std::uint8_t {
    told,         // Of a look.
    granted,      // Of a beat: you are the primary. Of a claim: you are it now.
    early,        // The witness has just been started, and listens before it grants anything.
    another_run,  // The question is for an earlier run of it; look again.
    old,          // A later beat came before this one.
    fenced,       // There is a newer epoch, or this one is another's.
    changed,      // The primary has been heard since.
    not_in_sync,  // The standby may lack what was answered.
    unknown,      // No primary of that database was ever heard here.
    stale,        // The witness is older than what it once said: it comes from a backup.
};

[[nodiscard]] std::string_view to_string(witness_verdict verdict);

struct witness_answer {
    witness_verdict verdict = witness_verdict::unknown;
    witness_entry entry{};      // As of now.
    std::uint64_t beat = 0;     // Changes with each beat that is granted.
    std::uint64_t run = 0;      // Of the witness.
    std::uint64_t version = 0;  // Rises with every change that it has put on its disk.
    witness_name witness{};

    bool operator==(const witness_answer&) const = default;
};

}  // namespace posthorn::standby
