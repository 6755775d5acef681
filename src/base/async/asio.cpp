// Boost.Asio's own functions, compiled once here instead of in every file that includes it.
#include <boost/asio/impl/src.hpp>
