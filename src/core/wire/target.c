/* Text that needs no decoding stays a view of the target; other text is decoded into the arena. */
#include "wire/target.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

#include <strings.h>

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* Takes one character of `text`; false if it is a percent sign without two hexadecimal digits. */
static bool take_byte(struct pl_str text, size_t *at, bool is_plus_space, char *ret_byte)
{
    char c = text.ptr[(*at)++];
    if (c == '%') {
        if (text.len - *at < 2)
            return false;
        int high = pl_ascii_hex(text.ptr[*at]), low = pl_ascii_hex(text.ptr[*at + 1]);
        if (high < 0 || low < 0)
            return false;
        *at += 2;
        c = (char)(high << 4 | low);
    } else if (c == '+' && is_plus_space) {
        c = ' ';
    }
    *ret_byte = c;
    return true;
}

/* Whether the text needs no decoding: visible ASCII without a percent sign or a plus. */
static bool is_plain(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x21 || text.ptr[i] > 0x7E || text.ptr[i] == '%' || text.ptr[i] == '+')
            return false;
    return true;
}

static enum pl_status decode(struct pl_arena *arena, struct pl_str text, bool is_plus_space,
                             struct pl_str *ret_text, struct pl_error *err)
{
    if (is_plain(text)) {
        *ret_text = text;
        return PL_OK;
    }
    char *to = pl_arena_alloc(arena, text.len, 1);
    if (!to)
        return pl_fail(err, PL_NOMEM, "out of memory while reading the address");
    struct pl_str decoded = {to, 0};
    for (size_t at = 0; at < text.len; decoded.len++) {
        if (!take_byte(text, &at, is_plus_space, to + decoded.len))
            return pl_fail(err, PL_SYNTAX,
                           "a percent sign in the address is not followed by two hexadecimal "
                           "digits; write %%25 for the sign itself");
        if (is_control(to[decoded.len]))
            return pl_fail(err, PL_SYNTAX, "the address contains the control character %%%02X",
                           (unsigned)(unsigned char)to[decoded.len]);
    }
    if (!pl_utf8_is_valid(decoded))
        return pl_fail(err, PL_SYNTAX, "the decoded address is not UTF-8");
    *ret_text = decoded;
    return PL_OK;
}

/* The text up to the first `end` (or all); moves *rest past it. */
static struct pl_str take_until(struct pl_str *rest, char end)
{
    const char *found = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
    size_t n = found ? (size_t)(found - rest->ptr) : rest->len;
    struct pl_str part = {rest->ptr, n};
    *rest = pl_str_slice(*rest, n + (found != NULL), rest->len);
    return part;
}

static enum pl_status read_segments(struct pl_arena *arena, struct pl_target *target,
                                    struct pl_error *err)
{
    struct pl_str rest = pl_str_slice(target->path, 1, target->path.len);
    bool is_more = rest.len > 0;
    while (is_more) {
        struct pl_str part = take_until(&rest, '/');
        /* An empty segment follows a final slash. */
        is_more = part.ptr + part.len < target->path.ptr + target->path.len;
        if (target->n_segments == PL_TARGET_MAX_SEGMENTS)
            return pl_fail(err, PL_LIMIT, "the path has more than %d segments",
                           PL_TARGET_MAX_SEGMENTS);
        enum pl_status status =
            decode(arena, part, false, &target->segments[target->n_segments], err);
        if (status != PL_OK)
            return status;
        target->n_segments++;
    }
    return PL_OK;
}

static enum pl_status read_params(struct pl_arena *arena, struct pl_str query,
                                  struct pl_target *target, struct pl_error *err)
{
    while (query.len) {
        struct pl_str value = take_until(&query, '&');
        if (!value.len)
            continue;
        if (target->n_params == PL_TARGET_MAX_PARAMS)
            return pl_fail(err, PL_LIMIT, "the query has more than %d parameters",
                           PL_TARGET_MAX_PARAMS);
        struct pl_target_param *param = &target->params[target->n_params];
        struct pl_str name = take_until(&value, '=');
        enum pl_status status = decode(arena, name, true, &param->name, err);
        if (status == PL_OK)
            status = decode(arena, value, true, &param->value, err);
        if (status != PL_OK)
            return status;
        target->n_params++;
    }
    return PL_OK;
}

/* Removes "http://host" from the front; the rest is empty or begins with a slash or a question
 * mark. */
static bool skip_origin(struct pl_str *target)
{
    static const struct pl_str schemes[] = {{"http://", 7}, {"https://", 8}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = schemes[i].len, end;
        if (target->len <= n || strncasecmp(target->ptr, schemes[i].ptr, n) != 0)
            continue;
        for (end = n; end < target->len && target->ptr[end] != '/' && target->ptr[end] != '?';)
            end++;
        *target = pl_str_slice(*target, end, target->len);
        return end > n;
    }
    return false;
}

enum pl_status pl_target_parse(struct pl_arena *arena, struct pl_str target,
                               struct pl_target *ret_target, struct pl_error *err)
{
    if (!(target.len && target.ptr[0] == '/') && !skip_origin(&target))
        return pl_fail(err, PL_SYNTAX,
                       "the address must be a path that begins with a slash, or begin with "
                       "http:// and a host");
    if (target.len && memchr(target.ptr, '#', target.len))
        return pl_fail(err, PL_SYNTAX,
                       "the address contains a fragment (#), which a client must not send; write "
                       "%%23 for the sign itself");
    struct pl_str query = target;
    struct pl_target result = {0};
    result.path = take_until(&query, '?');
    if (!result.path.len)
        result.path = PL_STR("/");
    enum pl_status status = read_segments(arena, &result, err);
    if (status == PL_OK)
        status = read_params(arena, query, &result, err);
    if (status != PL_OK)
        return status;
    /* Copies only the used entries: most targets use few. */
    ret_target->path = result.path;
    ret_target->n_segments = result.n_segments;
    ret_target->n_params = result.n_params;
    memcpy(ret_target->segments, result.segments, result.n_segments * sizeof *result.segments);
    memcpy(ret_target->params, result.params, result.n_params * sizeof *result.params);
    return PL_OK;
}

struct pl_str pl_target_param(const struct pl_target *target, const char *name)
{
    for (size_t i = 0; i < target->n_params; i++)
        if (pl_str_eq(target->params[i].name, pl_str_of(name)))
            return target->params[i].value;
    return (struct pl_str){0};
}
