#pragma once

namespace posthorn::sqlite {

/// Keeps SQLite from counting every piece of memory behind a lock of the whole process: a tenth of
/// what a statement costs. For a program of its own, before it opens any database or starts a
/// thread; an application that embeds a node decides that for itself.
void count_no_memory();

}  // namespace posthorn::sqlite
