/* Verifies signatures with a public key: RS256 and ES256 of RFC 7518. */
#ifndef PL_IO_SIGNATURE_H
#define PL_IO_SIGNATURE_H

#include "base/status.h"
#include "base/str.h"

enum pl_signature_kind {
    PL_SIGNATURE_RS256, /* RSASSA-PKCS1-v1_5 with SHA-256 */
    PL_SIGNATURE_ES256, /* ECDSA with P-256 and SHA-256; the signature is r and s, 32 bytes each */
};

#define PL_SIGNATURE_MIN_BITS 2048
#define PL_SIGNATURE_MAX_BITS 8192

/* Big-endian numbers. */
struct pl_public_key {
    enum pl_signature_kind kind;
    struct pl_str n, e; /* of RSA; n has PL_SIGNATURE_MIN_BITS … PL_SIGNATURE_MAX_BITS */
    struct pl_str x, y; /* of P-256, 32 bytes each */
};

/* PL_INVALID: the signature does not match; PL_UNREADABLE: the key is invalid; PL_NOMEM: OpenSSL
 * failed. Any thread; takes less than a millisecond. */
enum pl_status pl_signature_check(const struct pl_public_key *key, struct pl_str message,
                                  struct pl_str signature, struct pl_error *err);

#endif
