/* The predicates in the table of format.c, one file per family. Each takes valid UTF-8, reads it
 * once or twice from left to right, and keeps no state. */
#ifndef PL_SCHEMA_FORMAT_INT_H
#define PL_SCHEMA_FORMAT_INT_H

#include "base/ascii.h"
#include "base/str.h"

#include <stdint.h>

/* time.c: RFC 3339 */
bool pl_format_is_date(struct pl_str text);
bool pl_format_is_date_time(struct pl_str text);
bool pl_format_is_duration(struct pl_str text);
bool pl_format_is_time(struct pl_str text);

/* net.c: RFC 1123, 2673, 4291, 5321, 6531 */
bool pl_format_is_email(struct pl_str text);
bool pl_format_is_hostname(struct pl_str text);
bool pl_format_is_idn_email(struct pl_str text);
bool pl_format_is_idn_hostname(struct pl_str text);
bool pl_format_is_ipv4(struct pl_str text);
bool pl_format_is_ipv6(struct pl_str text);

/* uri.c: RFC 3986, 3987, 6570 */
bool pl_format_is_iri(struct pl_str text);
bool pl_format_is_iri_reference(struct pl_str text);
bool pl_format_is_uri(struct pl_str text);
bool pl_format_is_uri_reference(struct pl_str text);
bool pl_format_is_uri_template(struct pl_str text);

/* json.c: RFC 6901, the relative pointer draft, RFC 4122, ECMA-262 */
bool pl_format_is_json_pointer(struct pl_str text);
bool pl_format_is_regex(struct pl_str text);
bool pl_format_is_relative_json_pointer(struct pl_str text);
bool pl_format_is_uuid(struct pl_str text);

/* idn.c: one label of an internationalised name (IDNA 2008). */
struct pl_idn_label {
    uint32_t n_ascii;         /* length of the label in ASCII form, 1 to 63 */
    bool is_right_to_left;    /* makes the Bidi rule apply to the whole name */
    bool suits_right_to_left; /* the label is allowed in such a name */
};

enum pl_idn_kind {
    PL_IDN_ASCII, /* letters, digits, hyphens; xn-- labels are decoded and checked */
    PL_IDN_U,     /* also Unicode labels, in normal form C as IDNA requires */
    PL_IDN_MAIL,  /* also Unicode labels in any normal form, as mail servers accept them */
};

/* False if `label` is invalid; then *ret_label is unchanged. */
bool pl_idn_label_check(struct pl_str label, enum pl_idn_kind kind, struct pl_idn_label *ret_label);

#endif
