/* Lint of media: links that expire, videos, audio without a format. */
#include "conv/link.h"
#include "conv/lint/lint_int.h"

#include <strings.h>

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
    if (!pl_str_starts(text, PL_STR("http")) || !pl_link_expires(text, &end_s))
        return;
    if (url.node)
        node = url.node;
    int64_t now_s = lint->opts->now_s;
    if (now_s > 0 && end_s <= now_s)
        pl_lint_add(lint, "media.url_expired", PL_SEVERITY_ERROR, node,
                    "this signed URL expired %.*s ago; store the file and link to it",
                    PL_STR_ARG(duration(lint, now_s - end_s)));
    else if (now_s > 0)
        pl_lint_add(lint, "media.url_expires", PL_SEVERITY_WARNING, node,
                    "this signed URL expires in %.*s; store the file to keep the conversation "
                    "usable",
                    PL_STR_ARG(duration(lint, end_s - now_s)));
    else
        pl_lint_add(lint, "media.url_expires", PL_SEVERITY_WARNING, node,
                    "this signed URL expires; store the file to keep the conversation usable");
}

static bool ends_in(struct pl_str s, const char *tail)
{
    size_t n = strlen(tail);
    return s.len >= n && strncasecmp(s.ptr + (s.len - n), tail, n) == 0;
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

/* The format may be given next to the data. Readers leave the type unset if it is missing. */
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
                    "audio needs its format (wav, mp3, …) next to the data");
    if (part->kind == PL_PART_IMAGE && !pl_val_is_set(part->data) && !pl_val_is_set(part->url) &&
        !pl_val_is_set(part->file_id))
        pl_lint_add(lint, "media.empty", PL_SEVERITY_ERROR, node,
                    "an image without data, URL or file id");
}

void pl_lint_media(struct pl_lint *lint)
{
    pl_lint_each_part(lint, lint_part);
}
