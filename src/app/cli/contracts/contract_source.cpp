#include "app/cli/contracts/contract_source.hpp"

#include <fstream>
#include <iterator>

#include <boost/json/parse.hpp>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "message/metadata.hpp"
#include "transport/http/http_client.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view path = "/_workflow/metadata";
constexpr std::chrono::seconds patience{10};

task<result<http_response>> fetch(boost::asio::any_io_executor where, std::string url,
                                  std::shared_ptr<tls_context> trusted) {
    real_timer time;
    task_group tasks(where);
    http_client client({.where = where, .tasks = tasks, .time = time, .tls = std::move(trusted)});
    http_request request;
    request.method = "GET";
    auto reply =
        co_await client.send(std::move(url), std::move(request), {.exchange_timeout = patience});
    client.stop();
    co_await tasks.join();
    co_return reply;
}

result<json::object> from_node(std::string url, const source_tls& tls) {
    while (url.ends_with('/')) url.pop_back();
    if (!url.ends_with(path)) url += path;
    POSTHORN_LET(trusted,
                 make_tls_client(tls.authority, {.certificate = tls.certificate, .key = tls.key}));
    io_threads network("posthorn-io");
    const auto reply =
        start(network.executor(), fetch(network.executor(), url, std::move(trusted))).get();
    network.stop();
    if (!reply) return std::unexpected(reply.error());
    if (reply->status != 200)
        return fail(error_code::not_found, "{} answers with status {}; give a node's listen.http",
                    url, reply->status);
    return parse_metadata(reply->body, url);
}

result<json::object> from_program(std::string_view bytes, const std::string& file) {
    const auto contracts = find_contracts(bytes);
    if (contracts.empty())
        return fail(error_code::not_found,
                    "no contracts stand in {}; they do in a program that offers a "
                    "posthorn::service, and metadata is a JSON object",
                    file);
    service_metadata about;
    for (const auto& each : contracts) about.contracts.push_back(each);
    return parse_metadata(render_metadata(about), file);
}

}  // namespace

bool is_url(std::string_view place) {
    return place.starts_with("http://") || place.starts_with("https://");
}

result<json::object> parse_metadata(std::string_view text, const std::string& place) {
    boost::system::error_code failure;
    const auto read = json::parse(text, failure);
    const auto* const whole = read.if_object();
    const auto* const version = whole != nullptr ? whole->if_contains("metadata") : nullptr;
    const auto* const interfaces = whole != nullptr ? whole->if_contains("interfaces") : nullptr;
    if (failure || version == nullptr || interfaces == nullptr || !interfaces->is_array())
        return fail(error_code::malformed_request, "what {} gives is not the metadata of a node",
                    place);
    if (*version != 1)
        return fail(error_code::malformed_request,
                    "what {} gives is metadata of a later version; update this program", place);
    return *whole;
}

result<json::object> read_metadata(const std::string& place, const source_tls& tls) {
    if (is_url(place)) return from_node(place, tls);
    std::ifstream stream(place, std::ios::binary);
    if (!stream)
        return fail(error_code::io_failed, "{} cannot be read; check the path, or write http://…",
                    place);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    const auto first = bytes.find_first_not_of(" \t\r\n");
    if (first != bytes.npos && bytes[first] == '{') return parse_metadata(bytes, place);
    return from_program(bytes, place);
}

}  // namespace posthorn::cli
