// Boost.Asio's TLS functions, compiled once here instead of in every file that includes them.
#include <boost/asio/ssl/impl/src.hpp>
