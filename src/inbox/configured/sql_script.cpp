#include "inbox/configured/sql_script.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {
namespace {

bool begins_name(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_' ||
           static_cast<unsigned char>(each) >= 0x80;
}
bool continues_name(char each) { return begins_name(each) || (each >= '0' && each <= '9'); }
bool is_white(char each) { return each == ' ' || (each >= '\t' && each <= '\r'); }

/// Reads a script from the left; a piece at a time goes into the statement under way.
class scanner {
public:
    explicit scanner(std::string_view text) : text_(text) {}

    result<std::vector<sql_statement>> run() && {
        while (at_ < text_.size()) POSTHORN_TRY(piece());
        end_statement();
        if (done_.empty())
            return fail(error_code::invalid_configuration,
                        "there is no statement; write one such as INSERT INTO t(a) VALUES (:a)");
        return std::move(done_);
    }

private:
    result<> piece() {
        const char each = text_[at_];
        switch (each) {
            case '\'':
            case '"':
            case '`': return quoted(each);
            case '[': return bracketed();
            case ':': return parameter();
            case '?':
            case '@':
            case '$':
                return fail(error_code::invalid_configuration,
                            "a parameter is written with {}; write :name, with the name of a field "
                            "of the payload",
                            each);
            case ';': end_statement(); return {};
            default: break;
        }
        if (text_.substr(at_).starts_with("--")) return line_comment();
        if (text_.substr(at_).starts_with("/*")) return block_comment();
        if (begins_name(each)) {
            // As one piece, since a name may hold a dollar sign.
            auto end = at_;
            while (end < text_.size() && (continues_name(text_[end]) || text_[end] == '$')) ++end;
            take(end);
        } else {
            has_words_ = has_words_ || !is_white(each);
            now_.sql += text_[at_++];
        }
        return {};
    }

    // A quote in quotes is written twice, which reads like two texts side by side.
    result<> quoted(char quote) {
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) return unfinished("what is in quotes");
        take(end + 1);
        return {};
    }

    result<> bracketed() {
        const auto end = text_.find(']', at_);
        if (end == std::string_view::npos) return unfinished("a name in brackets");
        take(end + 1);
        return {};
    }

    // Comments are left out, with white space in their place.
    result<> block_comment() {
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return unfinished("a comment");
        now_.sql += ' ';
        at_ = end + 2;
        return {};
    }

    result<> line_comment() {
        const auto end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
        return {};
    }

    result<> parameter() {
        auto end = at_ + 1;
        if (text_.substr(at_).starts_with("::")) {  // A cast, where the database knows it.
            take(end + 1);
            return {};
        }
        if (end < text_.size() && begins_name(text_[end]))
            while (end < text_.size() && continues_name(text_[end])) ++end;
        const auto name = text_.substr(at_ + 1, end - at_ - 1);
        if (name.empty())
            return fail(error_code::invalid_configuration,
                        "a colon stands without a name; write :name, with the name of a field of "
                        "the payload");
        auto& names = now_.parameters;
        auto found = std::ranges::find(names, name);
        if (found == names.end()) found = names.insert(names.end(), std::string(name));
        now_.sql += fmt::format("?{}", found - names.begin() + 1);
        has_words_ = true;
        at_ = end;
        return {};
    }

    void take(std::size_t end) {
        now_.sql += text_.substr(at_, end - at_);
        at_ = end;
        has_words_ = true;
    }

    void end_statement() {
        ++at_;
        auto ended = std::exchange(now_, {});
        if (!std::exchange(has_words_, false)) return;
        while (is_white(ended.sql.back())) ended.sql.pop_back();
        ended.sql.erase(0, static_cast<std::size_t>(std::ranges::find_if_not(ended.sql, is_white) -
                                                    ended.sql.begin()));
        done_.push_back(std::move(ended));
    }

    static std::unexpected<error> unfinished(std::string_view what) {
        return fail(error_code::invalid_configuration, "{} does not end; close it", what);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    sql_statement now_;
    bool has_words_ = false;  // Besides white space and comments.
    std::vector<sql_statement> done_;
};

}  // namespace

result<std::vector<sql_statement>> parse_sql_script(std::string_view text) {
    return scanner(text).run();
}

}  // namespace posthorn
