#include "transport/unix/frame_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace posthorn {
namespace {

using std::chrono::seconds;

constexpr std::uint16_t status_min = 100;
constexpr std::uint16_t status_max = 599;
constexpr std::int64_t retry_after_max = std::numeric_limits<std::uint32_t>::max();

std::unexpected<error> malformed(std::string_view what) {
    return fail(error_code::malformed_request, "the head of a frame {}", what);
}

bool is_visible(char each) { return each > ' ' && each <= '~'; }

// Whatever could end a line or be taken for the space after a name is not part of a value.
bool is_value(std::string_view text) {
    return !text.empty() && is_visible(text.front()) && is_visible(text.back()) &&
           std::ranges::all_of(text, [](char each) { return is_visible(each) || each == ' '; });
}

bool is_name(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-';
    };
    return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_path(std::string_view text) {
    return text.starts_with('/') && std::ranges::all_of(text, is_visible);
}

/// A number as we write it: digits without a leading zero.
template <class Number>
std::optional<Number> parse_number(std::string_view digits) {
    Number number = 0;
    const char* const end = digits.end();
    const auto [stop, failure] = std::from_chars(digits.begin(), end, number);
    if (digits.empty() || failure != std::errc{} || stop != end) return std::nullopt;
    if (digits.front() == '0' && digits.size() > 1) return std::nullopt;
    return number;
}

/// A header and the text it stands for; `Text` is const where it is written out.
template <class Text>
struct field {
    std::string_view name;
    Text* value;
};

/// Those of requests and answers alike, and those that only either has.
template <class Text, class Signature, class... Own>
std::array<field<Text>, 7 + sizeof...(Own)> fields_of(Text& content_type, Signature& signature,
                                                      Own... own) {
    return {{{"content-type", &content_type},
             {"rf-scheme", &signature.scheme},
             {"rf-key", &signature.key},
             {"rf-source", &signature.source},
             {"rf-destination", &signature.destination},
             {"rf-timestamp", &signature.timestamp},
             {"rf-hmac", &signature.hmac},
             own...}};
}

template <class Text, class Request>
auto fields_of_request(Request& request) {
    return fields_of<Text>(request.content_type, request.signature,
                           field<Text>{"traceparent", &request.traceparent},
                           field<Text>{"x-workflow-signature", &request.workflow_signature});
}

template <class Text, class Reply>
auto fields_of_reply(Reply& reply, Text& retry_after) {
    return fields_of<Text>(reply.content_type, reply.signature,
                           field<Text>{"retry-after", &retry_after});
}

/// Takes a head apart line by line.
class head_lines {
public:
    explicit head_lines(std::string_view head) : left_(head) {}

    /// Nothing at the end, or where a line has none.
    std::optional<std::string_view> next() {
        const auto end = left_.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        const auto line = left_.substr(0, end);
        left_.remove_prefix(end + 1);
        return line;
    }
    [[nodiscard]] bool at_end() const { return left_.empty(); }

private:
    std::string_view left_;
};

result<> read_fields(head_lines& lines, std::span<const field<std::string>> known) {
    while (const auto line = lines.next()) {
        const auto colon = line->find(": ");
        if (colon == std::string_view::npos) return malformed("has a line without a colon");
        const auto name = line->substr(0, colon);
        const auto value = line->substr(colon + 2);
        if (!is_name(name)) return malformed("has a header whose name is none");
        if (!is_value(value)) return malformed("has a header whose value is none");
        const auto found = std::ranges::find(known, name, &field<std::string>::name);
        if (found == known.end()) continue;
        if (!found->value->empty()) return malformed("has a header twice");
        *found->value = value;
    }
    if (!lines.at_end()) return malformed("does not end with a line feed");
    return {};
}

result<std::string> start(std::string head, std::span<const field<const std::string>> fields,
                          std::size_t body_bytes) {
    for (const auto& [name, value] : fields) {
        if (value->empty()) continue;
        if (!is_value(*value))
            return fail(error_code::invalid_argument,
                        "{} holds what no header can; use visible ASCII characters", name);
        head.append(name).append(": ").append(*value).append("\n");
    }
    if (head.size() > frame_limits{}.head_bytes_max)
        return fail(error_code::invalid_argument, "the head of a frame is limited to {} bytes",
                    frame_limits{}.head_bytes_max);
    return frame_prefix(head.size(), body_bytes) + head;
}

}  // namespace

result<std::string> request_start(std::uint64_t number, const wire_request& request) {
    if (!is_path(request.path))
        return fail(error_code::invalid_argument, "a path begins with a slash and has no spaces");
    const auto fields = fields_of_request<const std::string>(request);
    return start(fmt::format("{} POST {}\n", number, request.path), fields, request.body.size());
}

result<std::string> reply_start(std::uint64_t number, const wire_reply& reply) {
    if (reply.status < status_min || reply.status > status_max)
        return fail(error_code::invalid_argument, "{} is not a status", reply.status);
    // Rounded up: asked again too early, the peer would only refuse again.
    std::string retry_after;
    if (reply.retry_after)
        retry_after = fmt::to_string(std::clamp<std::int64_t>(
            std::chrono::ceil<seconds>(*reply.retry_after).count(), 0, retry_after_max));
    const auto fields = fields_of_reply<const std::string>(reply, retry_after);
    return start(fmt::format("{} {}\n", number, reply.status), fields, reply.body.size());
}

result<numbered_request> read_request(frame whole) {
    head_lines lines(whole.head);
    const auto line = lines.next();
    const auto number = line ? number_of(whole.head) : std::nullopt;
    if (!number) return malformed("does not begin with a number");
    const auto rest = line->substr(line->find(' '));
    if (!rest.starts_with(" POST ")) return malformed("has no POST after its number");
    const auto path = rest.substr(std::string_view(" POST ").size());
    if (!is_path(path)) return malformed("has no path in its first line");

    numbered_request read{*number, {.path = std::string(path), .content_type = {}}};
    auto& request = read.request;
    POSTHORN_TRY(read_fields(lines, fields_of_request<std::string>(request)));
    request.body = std::move(whole.body);
    return read;
}

result<numbered_reply> read_reply(frame whole) {
    head_lines lines(whole.head);
    const auto line = lines.next();
    const auto number = line ? number_of(whole.head) : std::nullopt;
    if (!number) return malformed("does not begin with a number");
    const auto status = parse_number<std::uint16_t>(line->substr(line->find(' ') + 1));
    if (!status || *status < status_min || *status > status_max)
        return malformed("has no status in its first line");

    numbered_reply read{*number, {.status = *status, .content_type = {}}};
    auto& reply = read.reply;
    std::string retry_after;
    POSTHORN_TRY(read_fields(lines, fields_of_reply<std::string>(reply, retry_after)));
    if (!retry_after.empty()) {
        const auto after = parse_number<std::uint32_t>(retry_after);
        if (!after) return malformed("has a retry-after that is not a number of seconds");
        reply.retry_after = seconds(*after);
    }
    reply.body = std::move(whole.body);
    return read;
}

std::optional<std::uint64_t> number_of(std::string_view head) {
    const auto space = head.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    return parse_number<std::uint64_t>(head.substr(0, space));
}

}  // namespace posthorn
