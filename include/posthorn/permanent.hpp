#pragma once

#include <stdexcept>

namespace posthorn {

/// Thrown by a handler that will never accept the message: `throw posthorn::permanent("no such
/// order");`
///
/// What the handler did is rolled back, and the sender buries the message with this text at once
/// instead of trying again. Any other exception is taken for a passing trouble.
class permanent : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace posthorn
