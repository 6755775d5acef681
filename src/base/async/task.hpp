#pragma once

#include <boost/asio/awaitable.hpp>

namespace posthorn {

/// A coroutine that runs on the executor of the caller that awaits or spawns it.
///
/// Parameters go by value, or by reference to services that outlive the run.
template <class T = void>
using task = boost::asio::awaitable<T>;

}  // namespace posthorn
