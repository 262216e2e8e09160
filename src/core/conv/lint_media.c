/* Lint of media: links that expire, films, sound without a format.
 *
 * A signed link says in its query until when it holds:
 *     X-Amz-Date=20240320T100000Z & X-Amz-Expires=900     (also X-Goog-…): a moment and seconds
 *     Expires=1710931200 & Signature=…                    seconds since 1970
 *     se=2024-03-20T10:00:00Z & sig=…                     a moment */
#include "conv/lint_int.h"

/* What the query of a link says about its end. */
struct lifetime {
    bool has_start, has_length, has_end, is_signed;
    int64_t start_s, length_s, end_s;
};

static bool same_word(struct pl_str a, const char *b)
{
    for (size_t i = 0; i < a.len; i++) {
        char c = a.ptr[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (b[i] == '\0' || c != b[i])
            return false;
    }
    return b[a.len] == '\0';
}

static bool read_number(struct pl_str s, int64_t *ret)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || i > 15)
            return false;
        n = n * 10 + (s.ptr[i] - '0');
    }
    *ret = n;
    return s.len > 0;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400;
    int64_t in_era = year - era * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

/* "20240320T100000Z" or "2024-03-20T10:00:00Z", the colons perhaps as %3A; seconds, or the whole
 * time, may be missing. */
static bool read_moment(struct pl_str s, int64_t *ret_s)
{
    char digits[14] = "00000000000000";
    size_t n = 0;
    for (size_t i = 0; i < s.len && n < sizeof digits; i++) {
        if (s.ptr[i] == '%') {
            i += 2;
        } else if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            digits[n++] = s.ptr[i];
        } else if (s.ptr[i] == '.') {
            break;
        }
    }
    int64_t field[6];
    static const size_t at[] = {0, 4, 6, 8, 10, 12, 14};
    for (size_t i = 0; i < 6; i++)
        if (!read_number((struct pl_str){digits + at[i], at[i + 1] - at[i]}, &field[i]))
            return false;
    if (n < 8 || field[1] < 1 || field[1] > 12 || field[2] < 1 || field[2] > 31)
        return false;
    *ret_s =
        days_of(field[0], field[1], field[2]) * 86400 + field[3] * 3600 + field[4] * 60 + field[5];
    return true;
}

static void read_parameter(struct lifetime *life, struct pl_str key, struct pl_str value)
{
    if (same_word(key, "x-amz-date") || same_word(key, "x-goog-date"))
        life->has_start = read_moment(value, &life->start_s);
    else if (same_word(key, "x-amz-expires") || same_word(key, "x-goog-expires"))
        life->has_length = read_number(value, &life->length_s);
    else if (same_word(key, "expires"))
        life->has_end = read_number(value, &life->end_s);
    else if (same_word(key, "se"))
        life->has_end = read_moment(value, &life->end_s);
    else if (same_word(key, "signature") || same_word(key, "sig") ||
             same_word(key, "x-amz-signature") || same_word(key, "x-goog-signature"))
        life->is_signed = true;
}

static bool read_lifetime(struct pl_str url, int64_t *ret_end_s)
{
    struct lifetime life = {0};
    const char *mark = memchr(url.ptr, '?', url.len);
    struct pl_str rest =
        mark ? pl_str_slice(url, (size_t)(mark - url.ptr) + 1, url.len) : (struct pl_str){0};
    while (rest.len) {
        const char *end = memchr(rest.ptr, '&', rest.len);
        struct pl_str pair = pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
        rest = pl_str_slice(rest, pair.len + (end != NULL), rest.len);
        const char *equals = pair.len ? memchr(pair.ptr, '=', pair.len) : NULL;
        size_t n_key = equals ? (size_t)(equals - pair.ptr) : pair.len;
        read_parameter(&life, pl_str_slice(pair, 0, n_key),
                       pl_str_slice(pair, n_key + 1, pair.len));
    }
    if (life.has_start && life.has_length &&
        !__builtin_add_overflow(life.start_s, life.length_s, &life.end_s))
        life.has_end = life.is_signed = true;
    *ret_end_s = life.end_s;
    return life.has_end && life.is_signed;
}

/* "40 minutes", "3 days": in the unit a person would use. */
static struct pl_str duration(struct pl_lint *lint, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *word;
    } units[] = {{2 * 86400, "days"}, {2 * 3600, "hours"}, {0, "minutes"}};
    size_t i = 0;
    while (seconds < units[i].seconds)
        i++;
    int64_t n = seconds / (units[i].seconds ? units[i].seconds / 2 : 60);
    return pl_conv_printf(lint->conv, "%lld %s", (long long)n, units[i].word);
}

static void lint_url(struct pl_lint *lint, const struct pl_json_node *node, struct pl_val url)
{
    if (!pl_val_is_set(url))
        return;
    struct pl_str text = pl_conv_text(lint->conv, url);
    int64_t end_s;
    if (!pl_str_starts(text, PL_STR("http")) || !read_lifetime(text, &end_s))
        return;
    if (url.node)
        node = url.node;
    int64_t now_s = lint->opts->now_s;
    if (now_s > 0 && end_s <= now_s)
        pl_lint_add(lint, "media.url_expired", PL_SEVERITY_ERROR, node,
                    "this signed link expired %.*s ago; store the file and link to that",
                    PL_STR_ARG(duration(lint, now_s - end_s)));
    else if (now_s > 0)
        pl_lint_add(lint, "media.url_expires", PL_SEVERITY_WARNING, node,
                    "this signed link expires in %.*s; store the file before somebody "
                    "comes back to this conversation",
                    PL_STR_ARG(duration(lint, end_s - now_s)));
    else
        pl_lint_add(lint, "media.url_expires", PL_SEVERITY_WARNING, node,
                    "this is a signed link that expires; store the file before somebody comes "
                    "back to this conversation");
}

static bool ends_in(struct pl_str s, const char *tail)
{
    size_t n = strlen(tail);
    return s.len >= n && same_word(pl_str_slice(s, s.len - n, s.len), tail);
}

static bool is_film(struct pl_lint *lint, const struct pl_part *part)
{
    static const char *const tails[] = {".mp4", ".mov", ".webm", ".avi", ".mkv", ".mpeg", ".m4v"};
    if (part->kind == PL_PART_VIDEO)
        return true;
    if (pl_str_starts(pl_conv_text(lint->conv, part->mime), PL_STR("video/")))
        return true;
    struct pl_str name = pl_conv_text(lint->conv, part->name);
    struct pl_str url = pl_conv_text(lint->conv, part->url);
    const char *query = url.len ? memchr(url.ptr, '?', url.len) : NULL;
    if (query)
        url.len = (size_t)(query - url.ptr);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (ends_in(name, tails[i]) || ends_in(url, tails[i]))
            return true;
    return false;
}

/* The format may be said beside the data; a reader that has none leaves the type unset. */
static bool lacks_format(struct pl_lint *lint, const struct pl_part *part)
{
    if (!pl_val_is_set(part->data))
        return false;
    const struct pl_json_node *audio = pl_conv_node(lint->conv, part->node, "input_audio");
    if (audio)
        return !pl_conv_node(lint->conv, audio, "format");
    return !pl_val_is_set(part->mime);
}

static void lint_part(struct pl_lint *lint, const struct pl_message *message,
                      const struct pl_part *part)
{
    const struct pl_json_node *node = pl_lint_node(message, part);
    lint_url(lint, node, part->url);
    bool is_file = part->kind == PL_PART_FILE || part->kind == PL_PART_IMAGE;
    if (lint->opts->refuses_video && (is_file || part->kind == PL_PART_VIDEO) &&
        is_film(lint, part))
        pl_lint_add(lint, "media.video_as_file", PL_SEVERITY_ERROR, node,
                    "a video cannot be sent as a file; send frames as images and the sound as "
                    "audio (parley media frames)");
    if (part->kind == PL_PART_AUDIO && lacks_format(lint, part))
        pl_lint_add(lint, "media.audio_format", PL_SEVERITY_ERROR, node,
                    "audio needs its format (wav, mp3, …) beside the data");
    if (part->kind == PL_PART_IMAGE && !pl_val_is_set(part->data) && !pl_val_is_set(part->url) &&
        !pl_val_is_set(part->file_id))
        pl_lint_add(lint, "media.empty", PL_SEVERITY_ERROR, node,
                    "an image without data, link or file id");
}

void pl_lint_media(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < message->n_parts; k++) {
            const struct pl_part *part = &pl_conv_parts(conv, message)[k];
            lint_part(lint, message, part);
            for (uint32_t c = 0; part->kind == PL_PART_RESULT && c < part->n_children; c++)
                lint_part(lint, message, &pl_conv_children(conv, part)[c]);
        }
    }
}
