/* Checks signatures with OpenSSL. The key is built from its numbers each time: this happens once
 * per sign-in of a person. */
#include "io/tls/signature.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

enum { COORDINATE = 32 };

static const unsigned char *bytes_of(struct pl_str text)
{
    return (const unsigned char *)text.ptr;
}

/* The key with these parameters; NULL if they are invalid or memory ran out. */
static EVP_PKEY *make_key(const char *type, OSSL_PARAM *params)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    bool is_made = context && params && EVP_PKEY_fromdata_init(context) == 1 &&
                   EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) == 1;
    EVP_PKEY_CTX_free(context);
    return is_made ? key : NULL;
}

static EVP_PKEY *make_rsa(const struct pl_public_key *from)
{
    BIGNUM *n = BN_bin2bn(bytes_of(from->n), (int)from->n.len, NULL);
    BIGNUM *e = BN_bin2bn(bytes_of(from->e), (int)from->e.len, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    if (n && e && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY *key = make_key("RSA", params);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

/* Fails for a point that is not on the curve. */
static EVP_PKEY *make_ec(const struct pl_public_key *from)
{
    unsigned char point[1 + 2 * COORDINATE] = {POINT_CONVERSION_UNCOMPRESSED};
    char group[] = "P-256";
    memcpy(point + 1, from->x.ptr, COORDINATE);
    memcpy(point + 1 + COORDINATE, from->y.ptr, COORDINATE);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
        OSSL_PARAM_construct_end(),
    };
    return make_key("EC", params);
}

static size_t n_bits(struct pl_str number)
{
    size_t at = 0;
    while (at < number.len && !number.ptr[at])
        at++;
    size_t n = 8 * (number.len - at);
    for (unsigned char top = at < number.len ? (unsigned char)number.ptr[at] : 0x80; top < 0x80;
         top = (unsigned char)(top << 1))
        n--;
    return n;
}

static bool is_fit(const struct pl_public_key *key)
{
    if (key->kind == PL_SIGNATURE_ES256)
        return key->x.len == COORDINATE && key->y.len == COORDINATE;
    return n_bits(key->n) >= PL_SIGNATURE_MIN_BITS && n_bits(key->n) <= PL_SIGNATURE_MAX_BITS &&
           key->e.len && key->e.len <= 8;
}

/* r and s in DER, as OpenSSL needs them; 0 when out of memory. */
static int write_der(struct pl_str signature, unsigned char **ret_der)
{
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes_of(signature), COORDINATE, NULL);
    BIGNUM *s = BN_bin2bn(bytes_of(signature) + COORDINATE, COORDINATE, NULL);
    int n = 0;
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        n = i2d_ECDSA_SIG(pair, ret_der);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(pair);
    return n > 0 ? n : 0;
}

static enum pl_status verify(EVP_PKEY *key, struct pl_str message, const unsigned char *signature,
                             size_t n_signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    enum pl_status status = PL_NOMEM;
    if (context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1)
        status =
            EVP_DigestVerify(context, signature, n_signature, bytes_of(message), message.len) == 1
                ? PL_OK
                : PL_INVALID;
    EVP_MD_CTX_free(context);
    return status;
}

enum pl_status pl_signature_check(const struct pl_public_key *key, struct pl_str message,
                                  struct pl_str signature, struct pl_error *err)
{
    bool is_ec = key->kind == PL_SIGNATURE_ES256;
    if (!is_fit(key))
        return pl_fail(err, PL_UNREADABLE,
                       "the key is not of the right size: RSA has 2048 to 8192 bits, P-256 has two "
                       "numbers of 32 bytes");
    if (is_ec && signature.len != 2 * COORDINATE)
        return pl_fail(err, PL_INVALID, "the signature does not have 64 bytes");
    EVP_PKEY *public = is_ec ? make_ec(key) : make_rsa(key);
    if (!public) {
        ERR_clear_error();
        return pl_fail(err, PL_UNREADABLE, "the numbers of the key make no key");
    }
    unsigned char *der = NULL;
    int n_der = is_ec ? write_der(signature, &der) : 0;
    enum pl_status status = PL_NOMEM;
    if (!is_ec)
        status = verify(public, message, bytes_of(signature), signature.len);
    else if (n_der)
        status = verify(public, message, der, (size_t)n_der);
    OPENSSL_free(der);
    EVP_PKEY_free(public);
    ERR_clear_error();
    return status == PL_OK        ? PL_OK
           : status == PL_INVALID ? pl_fail(err, status, "the signature is wrong")
                                  : pl_fail(err, status, "out of memory");
}
