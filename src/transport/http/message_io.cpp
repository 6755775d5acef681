#include "transport/http/message_io.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/error.hpp>

namespace posthorn {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t read_bytes_max = 65536;

// Fills the buffer with what comes next.
task<boost::system::error_code> fill(http_stream& from, boost::beast::flat_buffer& buffer) {
    const std::size_t room = boost::beast::read_size(buffer, read_bytes_max);
    if (room == 0) co_return http::error::buffer_overflow;
    const auto [failure, bytes] = co_await from.read_some(buffer.prepare(room));
    buffer.commit(bytes);
    co_return failure;
}

}  // namespace

template <bool IsRequest>
task<boost::system::error_code> read_message(http_stream& from, boost::beast::flat_buffer& buffer,
                                             http::basic_parser<IsRequest>& into, http_part until) {
    into.eager(until == http_part::whole);
    while (until == http_part::header ? !into.is_header_done() : !into.is_done()) {
        boost::system::error_code failure;
        if (buffer.size() > 0) {
            buffer.consume(into.put(buffer.data(), failure));
            if (failure && failure != http::error::need_more) co_return failure;
            if (!failure) continue;
        }
        failure = co_await fill(from, buffer);
        if (failure == boost::asio::error::eof) {
            if (!into.got_some()) co_return http::error::end_of_stream;
            failure = {};
            into.put_eof(failure);  // Some messages end where the stream does.
        }
        if (failure) co_return failure;
    }
    co_return boost::system::error_code{};
}

template task<boost::system::error_code> read_message<true>(http_stream&,
                                                            boost::beast::flat_buffer&,
                                                            http::basic_parser<true>&, http_part);
template task<boost::system::error_code> read_message<false>(http_stream&,
                                                             boost::beast::flat_buffer&,
                                                             http::basic_parser<false>&, http_part);

}  // namespace posthorn
