#include "fuzz/http_target.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/promise.hpp"
#include "transport/http/session.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;
using fuzz::demand;
using fuzz::take_until;

constexpr http_limits limits{.body_bytes_max = 256, .header_bytes_max = 512};

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return made;
}

std::vector<std::string> values_of(const http_request& request, std::string_view name) {
    std::vector<std::string> found;
    for (const auto& [written, value] : request.headers)
        if (lower(written) == name) found.push_back(value);
    return found;
}

bool is_one_line(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

void check_request(const http_request& request) {
    demand(request.path.starts_with('/') && !request.method.empty(), "a request asks for a path");
    demand(is_one_line(request.method + request.path + request.query),
           "nothing in the first line ends it");
    for (const auto& [name, value] : request.headers)
        demand(!name.empty() && is_one_line(name) && is_one_line(value), "no header ends its line");
    demand(request.body.size() <= limits.body_bytes_max, "a body is within its limit");
    const auto lengths = values_of(request, "content-length");
    const auto codings = values_of(request, "transfer-encoding");
    demand(lengths.size() + codings.size() <= 1, "a body has one length");
    if (!codings.empty()) return demand(lower(codings[0]) == "chunked", "a body is only chunked");
    std::size_t length = 0;
    if (!lengths.empty())
        std::from_chars(lengths[0].data(), lengths[0].data() + lengths[0].size(), length);
    demand(request.body.size() == length, "a body is as long as it says");
}

/// A peer and the session that it talks to, over a pair of sockets in this process.
class conversation {
public:
    conversation() {
        std::array<int, 2> ends{};
        demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0,
               "the system has sockets");
        peer_ = ends[0];
        asio::ip::tcp::socket socket(context_);
        socket.assign(asio::ip::tcp::v4(), ends[1]);
        session_.emplace(http_stream(http_stream::tcp_stream(std::move(socket)), nullptr),
                         http_session_deps{handler_, refuses_, limits, log_, [](http_session&) {}});
        asio::co_spawn(context_, session_->run(), [this](const std::exception_ptr& thrown) {
            demand(thrown == nullptr, "a session throws nothing");
            ended_ = true;
        });
        context_.poll();
    }
    ~conversation() { close(peer_); }
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    void send(std::string_view bytes) {
        // What a session that has ended does not take is lost.
        (void)::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        turn();
    }
    void end() {
        shutdown(peer_, SHUT_WR);
        for (int i = 0; i < 1000 && !ended_; ++i) turn();
        demand(ended_, "a session ends when its peer has");
    }

    std::vector<http_request> requests;
    std::string answers;

private:
    void turn() {
        context_.restart();
        context_.poll();
        std::array<char, 4096> some;
        for (;;) {
            const auto size = read(peer_, some.data(), some.size());
            if (size <= 0) break;
            answers.append(some.data(), static_cast<std::size_t>(size));
        }
    }
    task<http_response> answer(http_request request) {
        check_request(request);
        requests.push_back(std::move(request));
        co_return http_response{200, {{"Content-Type", "text/plain"}}, "taken"};
    }

    asio::io_context context_{1};
    http_head_check refuses_;
    logger log_{{.sink = [](std::string_view) {}}, [] { return wall_time{}; }};
    http_handler handler_ = [this](http_request request) { return answer(std::move(request)); };
    std::optional<http_session> session_;
    int peer_ = -1;
    bool ended_ = false;
};

/// One answer, taken off the front of what came.
struct naive_answer {
    int status = 0;
    bool closes = false;
    std::string body;
};

// A refusal may be one of HEAD, which nobody has read far enough to know here.
naive_answer take_answer(std::string_view& rest, bool without_body, bool may_lack_body) {
    const auto end = rest.find("\r\n\r\n");
    demand(rest.starts_with("HTTP/1.") && end != rest.npos, "an answer is HTTP");
    auto head = rest.substr(0, end + 2);
    rest.remove_prefix(end + 4);
    naive_answer made;
    const auto first = take_until(head, '\n');
    std::from_chars(first.data() + 9, first.data() + 12, made.status);
    std::size_t length = 0;
    while (!head.empty()) {
        const auto line = lower(take_until(head, '\n'));
        made.closes |= line == "connection: close\r";
        constexpr std::string_view name = "content-length: ";
        if (line.starts_with(name))
            std::from_chars(line.data() + name.size(), line.data() + line.size(), length);
    }
    if (without_body || (may_lack_body && rest.empty())) return made;
    demand(length <= rest.size(), "an answer is as long as it says");
    made.body = rest.substr(0, length);
    rest.remove_prefix(length);
    return made;
}

void check_answers(const conversation& held) {
    std::string_view rest = held.answers;
    std::size_t given = 0;
    bool closed = false;
    while (!rest.empty()) {
        demand(!closed, "nothing follows the last answer");
        const bool is_refusal = given == held.requests.size();
        const auto one =
            take_answer(rest, !is_refusal && held.requests[given].method == "HEAD", is_refusal);
        if (one.status == 100) continue;
        closed = one.closes;
        if (!is_refusal) {
            demand(one.status == 200, "a request that came through is answered");
            ++given;
            continue;
        }
        demand(one.status == 400 || one.status == 413 || one.status == 431,
               "what is refused is malformed or too large");
        closed = true;
        if (one.body.empty()) continue;
        boost::json::error_code failure;
        const auto why = boost::json::parse(one.body, failure);
        demand(!failure && why.is_object() && why.as_object().contains("error"),
               "a refusal has a code");
    }
    demand(given == held.requests.size(), "every request is answered");
}

}  // namespace

void fuzz_http(const std::uint8_t* data, std::size_t size) {
    auto bytes = fuzz::text_of(data, size);
    if (bytes.empty()) return;
    // Every piece costs a turn, so that there are not many of them.
    const std::size_t piece =
        static_cast<unsigned char>(bytes.front()) % 64 + 1 + bytes.size() / 64;
    bytes.remove_prefix(1);
    conversation whole;
    whole.send(bytes);
    whole.end();
    check_answers(whole);
    conversation cut;
    for (auto rest = bytes; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
        cut.send(rest.substr(0, piece));
    cut.end();
    check_answers(cut);
    // But for a head that is just as long as it may be: what has arrived of it is what counts.
    if (whole.answers.contains("HTTP/1.1 431 ") != cut.answers.contains("HTTP/1.1 431 ")) return;
    demand(cut.requests.size() == whole.requests.size(), "pieces make no difference");
    for (std::size_t i = 0; i < cut.requests.size(); ++i) {
        const auto &one = cut.requests[i], &other = whole.requests[i];
        demand(one.method == other.method && one.path == other.path && one.query == other.query &&
                   one.headers == other.headers && one.body == other.body,
               "a request is the same in pieces");
    }
}

}  // namespace posthorn
