#pragma once

#include "base/result.hpp"

namespace posthorn {

/// Whether the calling thread is running a unit of a store. It then must not wait for another one:
/// the writer would wait for itself.
[[nodiscard]] bool is_inside_unit() noexcept;
/// `error_code::called_in_transaction` if so.
[[nodiscard]] result<> require_outside_unit();

/// Marks the calling thread for as long as it lives.
class inside_unit_mark {
public:
    inside_unit_mark() noexcept;
    ~inside_unit_mark();
    inside_unit_mark(const inside_unit_mark&) = delete;
    inside_unit_mark& operator=(const inside_unit_mark&) = delete;
};

}  // namespace posthorn
