#include "unit/transport/http/test_certificate.hpp"

#include <cctype>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace posthorn::test {
namespace {

template <class T, void (*Free)(T*)>
struct freer {
    void operator()(T* value) const { Free(value); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freer<EVP_PKEY, EVP_PKEY_free>>;
using x509_ptr = std::unique_ptr<X509, freer<X509, X509_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freer<X509_EXTENSION, X509_EXTENSION_free>>;

struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_ptr = std::unique_ptr<std::FILE, closer>;

void require(bool held) {
    if (!held) throw std::runtime_error("OpenSSL cannot make a certificate");
}

void name_host(X509* certificate, const std::string& host) {
    const bool numeric = std::isdigit(static_cast<unsigned char>(host.front())) != 0;
    const std::string text = (numeric ? "IP:" : "DNS:") + host;
    const extension_ptr names(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, text.c_str()));
    require(names && X509_add_ext(certificate, names.get(), -1) == 1);
}

x509_ptr sign(EVP_PKEY* key, const certificate_wish& wish) {
    x509_ptr certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), wish.valid_from.count());
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), wish.valid_until.count());
    X509_set_pubkey(certificate.get(), key);
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    const auto* text = reinterpret_cast<const unsigned char*>(wish.common_name.c_str());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    name_host(certificate.get(), wish.host);
    require(X509_sign(certificate.get(), key, EVP_sha256()) != 0);
    return certificate;
}

}  // namespace

certificate_files make_certificate(const temporary_directory& in, const std::string& name,
                                   const certificate_wish& wish) {
    certificate_files files{in.file(name + ".crt"), in.file(name + ".key")};
    const key_ptr key(EVP_EC_gen("P-256"));
    require(key != nullptr);
    const auto certificate = sign(key.get(), wish);
    const file_ptr certificate_file(std::fopen(files.certificate.c_str(), "w"));
    const file_ptr key_file(std::fopen(files.key.c_str(), "w"));
    require(certificate_file && key_file);
    require(PEM_write_X509(certificate_file.get(), certificate.get()) == 1);
    const bool locked = !wish.pass_phrase.empty();
    require(PEM_write_PKCS8PrivateKey(
                key_file.get(), key.get(), locked ? EVP_aes_256_cbc() : nullptr,
                locked ? wish.pass_phrase.c_str() : nullptr,
                static_cast<int>(wish.pass_phrase.size()), nullptr, nullptr) == 1);
    return files;
}

}  // namespace posthorn::test
