#include "transport/http/tls.hpp"

#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace posthorn {

namespace ssl = boost::asio::ssl;

namespace {

template <class... Args>
std::unexpected<error> unusable(fmt::format_string<Args...> text, Args&&... args) {
    return fail(error_code::certificate_unusable, text, std::forward<Args>(args)...);
}

// OpenSSL tells why in its own words; the system's are better for what most often goes wrong.
result<> check_readable(const std::string& file) {
    errno = 0;
    std::ifstream stream(file);
    if (stream && stream.peek() != std::ifstream::traits_type::eof()) return {};
    const int reason = errno;
    return unusable("cannot read {}: {}; correct the path under [tls], or the file's rights", file,
                    reason == 0 ? "it is empty" : std::generic_category().message(reason));
}

result<> check_valid_now(SSL_CTX* context, const std::string& file, const clock& time) {
    const X509* certificate = SSL_CTX_get0_certificate(context);
    std::time_t now = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time.wall()));
    if (X509_cmp_time(X509_get0_notAfter(certificate), &now) < 0)
        return unusable("the certificate in {} has expired; renew it", file);
    if (X509_cmp_time(X509_get0_notBefore(certificate), &now) > 0)
        return unusable(
            "the certificate in {} is not valid yet; check the machine's clock, or use one that is",
            file);
    return {};
}

result<> use_certificate(tls_context& context, const tls_files& files) {
    POSTHORN_TRY(check_readable(files.certificate));
    POSTHORN_TRY(check_readable(files.key));
    // Without this, OpenSSL would ask at the terminal.
    context.set_password_callback([](std::size_t, ssl::context::password_purpose) { return ""; });
    boost::system::error_code failure;
    context.use_certificate_chain_file(files.certificate, failure);
    if (failure)
        return unusable(
            "{} holds no usable certificate: {}; it must be PEM, the service's own first",
            files.certificate, failure.message());
    context.use_private_key_file(files.key, ssl::context::pem, failure);
    if (failure || SSL_CTX_check_private_key(context.native_handle()) != 1)
        return unusable(
            "the key in {} is not that of the certificate in {}{}{}; give both from one "
            "request, the key without a pass phrase",
            files.key, files.certificate, failure ? ": " : "", failure ? failure.message() : "");
    return {};
}

result<> trust(tls_context& context, const std::string& authorities) {
    POSTHORN_TRY(check_readable(authorities));
    boost::system::error_code failure;
    context.load_verify_file(authorities, failure);
    if (failure)
        return unusable("{} holds no authority: {}; it must be PEM", authorities,
                        failure.message());
    return {};
}

result<std::shared_ptr<tls_context>> load_context(const tls_files& files, const clock& time) {
    auto context = std::make_shared<tls_context>(ssl::context::tlsv13_server);
    POSTHORN_TRY(use_certificate(*context, files));
    if (!files.peer_authority.empty()) {
        POSTHORN_TRY(trust(*context, files.peer_authority));
        context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    POSTHORN_TRY(check_valid_now(context->native_handle(), files.certificate, time));
    // Our clients resume nothing, and a ticket is written to peers that may be gone already.
    SSL_CTX_set_num_tickets(context->native_handle(), 0);
    return context;
}

}  // namespace

result<std::unique_ptr<tls_server>> tls_server::load(tls_files files, const clock& time) {
    POSTHORN_LET(context, load_context(files, time));
    return std::unique_ptr<tls_server>(new tls_server(std::move(files), time, std::move(context)));
}

result<> tls_server::reload() {
    POSTHORN_LET(context, load_context(files_, time_));
    const std::lock_guard lock(mutex_);
    context_ = std::move(context);
    return {};
}

std::shared_ptr<tls_context> tls_server::current() const {
    const std::lock_guard lock(mutex_);
    return context_;
}

result<std::shared_ptr<tls_context>> make_tls_client(const std::string& authorities,
                                                     const tls_files& own) {
    auto context = std::make_shared<tls_context>(ssl::context::tlsv13_client);
    context->set_verify_mode(ssl::verify_peer);
    if (!own.certificate.empty()) POSTHORN_TRY(use_certificate(*context, own));
    boost::system::error_code failure;
    if (authorities.empty()) {
        context->set_default_verify_paths(failure);
        if (failure)
            return unusable("the system's authorities cannot be read: {}; name a file of your own",
                            failure.message());
        return context;
    }
    POSTHORN_TRY(trust(*context, authorities));
    return context;
}

result<> renew_tls_client(tls_context& in_use, const std::string& authorities,
                          const tls_files& own) {
    POSTHORN_LET(fresh, make_tls_client(authorities, own));
    // A connection holds on to what was in the context when it began.
    in_use = std::move(*fresh);
    return {};
}

std::vector<std::string> names_in(const X509* certificate) {
    std::vector<std::string> names;
    const auto add = [&](const ASN1_STRING* text) {
        const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
        const auto size = static_cast<std::size_t>(ASN1_STRING_length(text));
        // A zero inside would show another name to code that reads it as C does.
        if (const std::string name(bytes, size); name.find('\0') == name.npos)
            names.push_back(name);
    };
    auto* const others = static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    bool has_names = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(others); ++i) {
        const GENERAL_NAME* const each = sk_GENERAL_NAME_value(others, i);
        if (each->type != GEN_DNS) continue;
        has_names = true;
        add(each->d.dNSName);
    }
    GENERAL_NAMES_free(others);
    if (has_names) return names;
    const X509_NAME* const subject = X509_get_subject_name(certificate);
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
        add(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    return names;
}

}  // namespace posthorn
