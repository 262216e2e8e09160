/* A temporary key and a self-signed certificate for localhost, as two PEM files. */
#ifndef PL_TESTS_IO_CERTIFICATE_H
#define PL_TESTS_IO_CERTIFICATE_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>

static inline bool certificate_sign(X509 *cert, EVP_PKEY *key)
{
    X509_NAME *name = X509_get_subject_name(cert);
    return ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -3600) &&
           X509_gmtime_adj(X509_getm_notAfter(cert), 3600) && X509_set_pubkey(cert, key) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost",
                                      -1, -1, 0) &&
           X509_set_issuer_name(cert, name) && X509_sign(cert, key, EVP_sha256()) > 0;
}

/* With a password, the key file is encrypted. */
static inline bool certificate_make(const char *cert_path, const char *key_path,
                                    const char *password)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    FILE *cert_file = fopen(cert_path, "w"), *key_file = fopen(key_path, "w");
    bool is_made = key && cert && cert_file && key_file && certificate_sign(cert, key) &&
                   PEM_write_X509(cert_file, cert) &&
                   PEM_write_PrivateKey(key_file, key, password ? EVP_aes_128_cbc() : NULL, NULL, 0,
                                        NULL, (void *)password);
    fclose(cert_file);
    fclose(key_file);
    X509_free(cert);
    EVP_PKEY_free(key);
    return is_made;
}

#endif
