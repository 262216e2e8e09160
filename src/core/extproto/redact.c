/* One pass over the text. At each place where a secret can begin, the patterns are tried; the first
 * match is replaced, and the pass continues after it. */
#include "extproto/redact.h"

#include "base/ascii.h"
#include "json/text.h"
#include "json/write.h"

#define REDACTED "[REDACTED]"

enum { MIN_KNOWN = 8, MAX_NAME = 200 };

/* --- names ------------------------------------------------------------------------------------ */

/* A name is secret if it contains one of these, or if its last word is token or bearer. In lower
 * case, with _ for -. */
#define WORD(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
static const struct pl_str secret_words[] = {
    WORD("api_key"),    WORD("apikey"),     WORD("authorization"), WORD("cookie"),
    WORD("password"),   WORD("passwd"),     WORD("secret"),        WORD("private_key"),
    WORD("credential"), WORD("access_key"), WORD("passphrase"),
};
static const struct pl_str secret_ends[] = {WORD("token"), WORD("bearer")};
#undef WORD

static bool ends_in_word(struct pl_str name, struct pl_str word)
{
    size_t n = word.len;
    return name.len >= n && pl_str_eq(pl_str_slice(name, name.len - n, name.len), word) &&
           (name.len == n || name.ptr[name.len - n - 1] == '_');
}

bool pl_ext_is_secret_name(struct pl_str name)
{
    __attribute__((uninitialized)) char text[2 * MAX_NAME];
    size_t n = 0;
    if (name.len > MAX_NAME) /* no harmless name is this long */
        return true;
    /* accessToken counts as access_token. */
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_hump =
            c >= 'A' && c <= 'Z' && i && name.ptr[i - 1] >= 'a' && name.ptr[i - 1] <= 'z';
        if (is_hump)
            text[n++] = '_';
        text[n++] = c == '-' ? '_' : pl_ascii_lower(c);
    }
    struct pl_str plain = {text, n};
    for (size_t i = 0; i < sizeof secret_words / sizeof *secret_words; i++)
        if (pl_str_find(plain, secret_words[i]) != SIZE_MAX)
            return true;
    for (size_t i = 0; i < sizeof secret_ends / sizeof *secret_ends; i++)
        if (ends_in_word(plain, secret_ends[i]))
            return true;
    return false;
}

/* --- patterns --------------------------------------------------------------------------------- */

static bool is_token_char(char c)
{
    return pl_ascii_is_alnum(c) || c == '_' || c == '-';
}

static size_t count_token(struct pl_str text, size_t at)
{
    size_t from = at;
    while (at < text.len && is_token_char(text.ptr[at]))
        at++;
    return at - from;
}

/* Keys of well-known services: their prefix, and the minimum number of characters after it. */
static const struct {
    const char *prefix;
    size_t n_least;
} prefixes[] = {
    {"sk-", 16},  {"AKIA", 16},   {"ASIA", 16}, {"ghp_", 20},        {"gho_", 20},  {"ghu_", 20},
    {"ghs_", 20}, {"ghr_", 20},   {"AIza", 30}, {"xoxb-", 10},       {"xoxp-", 10}, {"xapp-", 10},
    {"npm_", 30}, {"glpat-", 16}, {"hf_", 20},  {"github_pat_", 20},
};

static size_t match_prefix(struct pl_str text, size_t at)
{
    struct pl_str rest = pl_str_slice(text, at, text.len);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct pl_str prefix = pl_str_of(prefixes[i].prefix);
        size_t n = count_token(text, at + prefix.len);
        if (pl_str_starts(rest, prefix) && n >= prefixes[i].n_least)
            return prefix.len + n;
    }
    return 0;
}

/* Three parts separated by dots; the first is a JSON object in base64. */
static size_t match_jwt(struct pl_str text, size_t at)
{
    size_t from = at;
    if (!pl_str_starts(pl_str_slice(text, at, text.len), PL_STR("eyJ")))
        return 0;
    for (int part = 0; part < 3; part++) {
        size_t n = count_token(text, at);
        bool is_last = part == 2;
        if (!n || (!is_last && (at + n >= text.len || text.ptr[at + n] != '.')))
            return 0;
        at += n + !is_last;
    }
    return at - from;
}

/* From its first line to its last, or to the end of the text if the last line is missing. */
static size_t match_pem(struct pl_str text, size_t at)
{
    struct pl_str rest = pl_str_slice(text, at, text.len);
    struct pl_str begin = PL_STR("-----BEGIN "), end = PL_STR("-----END "),
                  dashes = PL_STR("-----");
    if (!pl_str_starts(rest, begin))
        return 0;
    size_t n_end = pl_str_find(rest, end);
    if (n_end == SIZE_MAX)
        return rest.len;
    size_t n = pl_str_find(pl_str_slice(rest, n_end + end.len, rest.len), dashes);
    return n == SIZE_MAX ? rest.len : n_end + end.len + n + dashes.len;
}

static size_t match_known(struct pl_str text, size_t at, const struct pl_ext_secrets *secrets)
{
    struct pl_str rest = pl_str_slice(text, at, text.len);
    for (size_t i = 0; secrets && i < secrets->n; i++)
        if (secrets->values[i].len >= MIN_KNOWN && pl_str_starts(rest, secrets->values[i]))
            return secrets->values[i].len;
    return 0;
}

static bool begins_any_case(struct pl_str text, size_t at, const char *word)
{
    size_t i = 0;
    while (word[i] && at + i < text.len && pl_ascii_lower(text.ptr[at + i]) == word[i])
        i++;
    return !word[i];
}

/* Length of "Bearer " and its token; *ret_keep is the length of the part to keep. */
static size_t match_bearer(struct pl_str text, size_t at, size_t *ret_keep)
{
    size_t n = sizeof "bearer " - 1, end = at + n;
    if (!begins_any_case(text, at, "bearer "))
        return 0;
    while (end < text.len && (is_token_char(text.ptr[end]) || memchr(".~+/=", text.ptr[end], 5)))
        end++;
    *ret_keep = n;
    return end > at + n ? end - at : 0;
}

/* Length of a URL; 0: none begins here. */
static size_t match_url(struct pl_str text, size_t at)
{
    size_t end = at;
    if (!begins_any_case(text, at, "http://") && !begins_any_case(text, at, "https://"))
        return 0;
    while (end < text.len && (unsigned char)text.ptr[end] > ' ' && !strchr("\"'<>`", text.ptr[end]))
        end++;
    return end - at;
}

static void write_url(struct pl_buf *to, struct pl_str url)
{
    size_t host = pl_str_find(url, PL_STR("://")) + 3, end = host, authority_end;
    pl_buf_add(to, pl_str_slice(url, 0, host));
    while (end < url.len && !strchr("/?#", url.ptr[end]))
        end++;
    authority_end = end;
    for (size_t i = host; i < authority_end; i++)
        if (url.ptr[i] == '@')
            host = i + 1;
    while (end < url.len && url.ptr[end] != '?' && url.ptr[end] != '#')
        end++;
    pl_buf_add(to, pl_str_slice(url, host, end));
}

/* Appends the replacement of a secret at `at`; returns the secret's length, or 0: no secret. */
static size_t redact_at(struct pl_buf *to, struct pl_str text, size_t at,
                        const struct pl_ext_secrets *secrets)
{
    size_t n_keep = 0, n = match_known(text, at, secrets);
    bool is_inside = at && is_token_char(text.ptr[at - 1]); /* in the middle of a word */
    if (!n)
        n = match_pem(text, at);
    if (!n && !is_inside)
        n = match_prefix(text, at);
    if (!n && !is_inside)
        n = match_jwt(text, at);
    if (!n && !is_inside)
        n = match_bearer(text, at, &n_keep);
    if (n) {
        pl_buf_add(to, pl_str_slice(text, at, at + n_keep));
        pl_buf_adds(to, REDACTED);
    }
    return n;
}

/* The same for texts without URLs. */
static void redact_plain(struct pl_buf *to, struct pl_str text,
                         const struct pl_ext_secrets *secrets)
{
    for (size_t at = 0; at < text.len;) {
        size_t n = redact_at(to, text, at, secrets);
        if (!n)
            pl_buf_addc(to, text.ptr[at]);
        at += n ? n : 1;
    }
}

void pl_ext_redact_text(struct pl_buf *to, struct pl_str text, const struct pl_ext_secrets *secrets)
{
    for (size_t at = 0; at < text.len;) {
        size_t n = redact_at(to, text, at, secrets);
        size_t n_url = n ? 0 : match_url(text, at);
        if (n_url) {
            PL_CLEANUP_BUF struct pl_buf bare;
            pl_buf_init(&bare, 0);
            write_url(&bare, pl_str_slice(text, at, at + n_url));
            if (bare.status != PL_OK)
                to->status = bare.status;
            redact_plain(to, pl_buf_str(&bare), secrets);
            n = n_url;
        } else if (!n) {
            pl_buf_addc(to, text.ptr[at]);
            n = 1;
        }
        at += n;
    }
}

/* --- documents -------------------------------------------------------------------------------- */

struct writer {
    struct pl_arena *arena;
    const struct pl_json_doc *doc;
    const struct pl_ext_secrets *secrets;
    struct pl_json_out out;
};

static enum pl_status write_value(struct writer *w, const struct pl_json_node *n);

static enum pl_status write_text(struct writer *w, const struct pl_json_node *n)
{
    PL_CLEANUP_BUF struct pl_buf clean;
    struct pl_str text;
    pl_buf_init(&clean, 0);
    enum pl_status status = pl_json_text(w->arena, w->doc, n, &text);
    if (status != PL_OK)
        return status;
    pl_ext_redact_text(&clean, text, w->secrets);
    if (clean.status == PL_OK)
        pl_json_out_text(&w->out, pl_buf_str(&clean));
    return clean.status;
}

static enum pl_status write_object(struct writer *w, const struct pl_json_node *object)
{
    enum pl_status status = PL_OK;
    pl_json_out_open(&w->out, '{');
    for (const struct pl_json_node *key = pl_json_first(object);
         key < pl_json_end(object) && status == PL_OK; key = pl_json_next_member(key)) {
        struct pl_str name;
        status = pl_json_text(w->arena, w->doc, key, &name);
        if (status != PL_OK)
            break;
        pl_json_out_key_str(&w->out, name);
        if (pl_ext_is_secret_name(name))
            pl_json_out_text(&w->out, PL_STR(REDACTED));
        else
            status = write_value(w, key + 1);
    }
    pl_json_out_close(&w->out, '}');
    return status;
}

static enum pl_status write_array(struct writer *w, const struct pl_json_node *array)
{
    enum pl_status status = PL_OK;
    pl_json_out_open(&w->out, '[');
    for (const struct pl_json_node *n = pl_json_first(array);
         n < pl_json_end(array) && status == PL_OK; n = pl_json_next(n))
        status = write_value(w, n);
    pl_json_out_close(&w->out, ']');
    return status;
}

/* Recursion is limited by the parser's depth limit. */
static enum pl_status write_value(struct writer *w, const struct pl_json_node *n)
{
    if (pl_json_is(n, PL_JSON_OBJECT))
        return write_object(w, n);
    if (pl_json_is(n, PL_JSON_ARRAY))
        return write_array(w, n);
    if (pl_json_is(n, PL_JSON_STRING))
        return write_text(w, n);
    pl_json_out_raw(&w->out, pl_json_span(w->doc, n));
    return PL_OK;
}

enum pl_status pl_ext_redact_json(struct pl_arena *arena, struct pl_buf *to,
                                  const struct pl_json_doc *doc, const struct pl_json_node *n,
                                  const struct pl_ext_secrets *secrets)
{
    struct writer w = {arena, doc, secrets, pl_json_out(to)};
    enum pl_status status = write_value(&w, n);
    return status == PL_OK ? to->status : status;
}
