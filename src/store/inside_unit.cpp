#include "store/inside_unit.hpp"

namespace posthorn {
namespace {

thread_local bool marked = false;

}  // namespace

bool is_inside_unit() noexcept { return marked; }

result<> require_outside_unit() {
    if (!marked) return {};
    return fail(error_code::called_in_transaction,
                "a blocking call inside a unit of work would wait for itself; use the unit's own "
                "transaction or context");
}

inside_unit_mark::inside_unit_mark() noexcept { marked = true; }
inside_unit_mark::~inside_unit_mark() { marked = false; }

}  // namespace posthorn
