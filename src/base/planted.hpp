#pragma once

/// A bug that the harnesses have to catch: `if (POSTHORN_PLANTED(ack_before_commit)) …`.
///
/// `false` wherever POSTHORN_PLANTED_BUGS is not defined, so that nothing of it is in what is
/// shipped. tests/planted compiles the files that ask a second time, with the switch, and plants
/// one at a time; docs/internals/proofs.md lists them. For .cpp files only: a header would mean
/// two things in one program.
#ifdef POSTHORN_PLANTED_BUGS
namespace posthorn {
/// Whether this one is planted now.
[[nodiscard]] bool is_planted(const char* bug) noexcept;
}  // namespace posthorn
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define POSTHORN_PLANTED(bug) (::posthorn::is_planted(#bug))
#else
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define POSTHORN_PLANTED(bug) false
#endif
