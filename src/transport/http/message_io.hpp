#pragma once

#include <cstdint>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/container/small_vector.hpp>

#include "base/async/task.hpp"
#include "transport/http/stream.hpp"

namespace posthorn {

/// HTTP's messages on a stream: Beast parses and serializes, and these move the bytes. Beast's own
/// composed operations do the same as templates over everything, which took minutes to compile.

enum class http_part : std::uint8_t { header, whole };

/// Reads on until the parser has that part of a message. What came behind it stays in the buffer,
/// which never grows past its limit (`http::error::buffer_overflow`). The end of the stream before a
/// message has begun is `http::error::end_of_stream`, within one `http::error::partial_message`.
template <bool IsRequest>
task<boost::system::error_code> read_message(http_stream& from, boost::beast::flat_buffer& buffer,
                                             boost::beast::http::basic_parser<IsRequest>& into,
                                             http_part until);

extern template task<boost::system::error_code> read_message<true>(
    http_stream&, boost::beast::flat_buffer&, boost::beast::http::basic_parser<true>&, http_part);
extern template task<boost::system::error_code> read_message<false>(
    http_stream&, boost::beast::flat_buffer&, boost::beast::http::basic_parser<false>&, http_part);

/// The bytes of a message of a known length, where they lie: the message outlives them.
using http_bytes = boost::container::small_vector<boost::asio::const_buffer, 64>;

/// What the serializer gives next; consume it when it is written.
template <class Serializer>
http_bytes next_bytes(Serializer& from, boost::system::error_code& failure) {
    http_bytes bytes;
    from.next(failure, [&](boost::system::error_code&, const auto& buffers) {
        bytes.assign(boost::asio::buffer_sequence_begin(buffers),
                     boost::asio::buffer_sequence_end(buffers));
    });
    return bytes;
}

/// Writes a message, or its header alone.
template <bool IsRequest, class Body>
task<boost::system::error_code> write_message(
    http_stream& to, const boost::beast::http::message<IsRequest, Body>& message,
    http_part until = http_part::whole) {
    boost::beast::http::serializer<IsRequest, Body> serializer(message);
    serializer.split(until == http_part::header);
    while (until == http_part::header ? !serializer.is_header_done() : !serializer.is_done()) {
        boost::system::error_code failure;
        const http_bytes bytes = next_bytes(serializer, failure);
        if (failure) co_return failure;
        if (const auto broken = co_await to.write(bytes)) co_return broken;
        serializer.consume(boost::asio::buffer_size(bytes));
    }
    co_return boost::system::error_code{};
}

}  // namespace posthorn
