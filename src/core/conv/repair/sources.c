/* Spelling of media: rewrites forms that a vendor refuses in a part it otherwise accepts. Base64 in
 * the URL alphabet, in lines or without padding, a file without a name, an address that only its
 * own cloud can open, a type under an alias, and whole kinds that the target has no part for. */
#include "conv/repair/repair_int.h"

#include "base/ascii.h"
#include "json/scan16.h"

#include <string.h>

enum {
    MEDIA = PL_PART_BIT(PL_PART_IMAGE) | PL_PART_BIT(PL_PART_AUDIO) | PL_PART_BIT(PL_PART_VIDEO) |
            PL_PART_BIT(PL_PART_FILE),
};

/* Aliases that some clients use for a type; vendors accept only the registered name. */
static const struct {
    const char *said, *registered;
} types[] = {
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"audio/mp3", "audio/mpeg"},
    {"application/x-pdf", "application/pdf"},
};

/* The file extension of a type, for a made-up file name. */
static const struct {
    const char *type, *name;
} names[] = {
    {"application/pdf", "document.pdf"}, {"text/plain", "document.txt"},
    {"text/markdown", "document.md"},    {"text/html", "document.html"},
    {"text/csv", "document.csv"},        {"application/json", "document.json"},
    {"application/xml", "document.xml"},
};

/* The offset of the first letter that only one of the two alphabets of base64 has. The data of real
 * media has one within its first bytes. */
static size_t find_telling(struct pl_str text)
{
    size_t at = 0;
    while (text.len - at >= PL_SCAN16 && !pl_scan16_either(text.ptr + at, '+', '/') &&
           !pl_scan16_either(text.ptr + at, '-', '_'))
        at += PL_SCAN16;
    while (at < text.len && !memchr("+/-_", text.ptr[at], 4))
        at++;
    return at;
}

/* Whether base64 may have white space: encoders that wrap lines do so after 76 letters at most. */
static bool is_wrapped(struct pl_str text)
{
    enum { LINE = 128 };
    for (size_t i = 0; i < text.len && i < LINE; i++)
        if (pl_ascii_is_white(text.ptr[i]))
            return true;
    return text.len && pl_ascii_is_white(text.ptr[text.len - 1]);
}

/* Whether a text, if it is base64, is not that of RFC 4648 section 4. */
static bool is_unusual(struct pl_str text)
{
    size_t telling = find_telling(text);
    bool is_url = telling < text.len && text.ptr[telling] != '+' && text.ptr[telling] != '/';
    return is_url || text.len % 4 || is_wrapped(text);
}

/* Writes base64 of either alphabet in that of section 4, padded, without white space. Returns the
 * number of letters; 0: the text is something else, such as an address in place of the data. `to`
 * has room for text.len + 3. */
static size_t put_plain(struct pl_str text, char *to)
{
    size_t n = 0, i = 0;
    for (; i < text.len && text.ptr[i] != '='; i++) {
        char c = text.ptr[i];
        if (pl_ascii_is_white(c))
            continue;
        if (!pl_ascii_is_alnum(c) && !memchr("+/-_", c, 4))
            return 0;
        to[n++] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    for (; i < text.len; i++)
        if (text.ptr[i] != '=' && !pl_ascii_is_white(text.ptr[i]))
            return 0;
    if (n % 4 == 1)
        return 0;
    while (n % 4)
        to[n++] = '=';
    return n;
}

/* *ret_is_broken: it is no base64 at all. */
static bool respell_data(struct pl_repair *r, struct pl_part *part, bool *ret_is_broken)
{
    *ret_is_broken = false;
    if (!r->rules->wants_plain_base64 || !pl_val_is_set(part->data))
        return false;
    struct pl_str data = pl_conv_text(r->conv, part->data);
    if (!data.len || !is_unusual(data))
        return false;
    char *plain = pl_arena_alloc(r->conv->arena, data.len + 3, 1);
    if (!plain) {
        r->conv->status = PL_NOMEM;
        return false;
    }
    size_t n = put_plain(data, plain);
    *ret_is_broken = n == 0;
    if (*ret_is_broken)
        return false;
    pl_conv_loss(r->conv, PL_LOSS_MOVED, part->data.node,
                 "the same bytes, in the base64 that the target reads");
    part->data = pl_val_text((struct pl_str){plain, n});
    return true;
}

static bool respell_type(struct pl_repair *r, struct pl_part *part)
{
    if (!r->rules->wants_registered_types || !pl_val_is_set(part->mime))
        return false;
    struct pl_str said = pl_conv_text(r->conv, part->mime);
    if (!said.len) { /* the writer takes it from the data */
        pl_conv_know(r->conv, part->mime.node);
        part->mime = (struct pl_val){0};
        return true;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!pl_str_eq(said, pl_str_of(types[i].said)))
            continue;
        /* Reports a piece of a data URL at that piece: the rest of the URL is still written. */
        if (part->mime.kind == PL_VAL_NODE)
            pl_conv_loss(r->conv, PL_LOSS_MOVED, part->mime.node, "%s is written as %s",
                         types[i].said, types[i].registered);
        else
            pl_repair_note(r, PL_LOSS_MOVED, part->mime.node, "%s is written as %s", types[i].said,
                           types[i].registered);
        part->mime = pl_val_text(pl_str_of(types[i].registered));
        return true;
    }
    return false;
}

static bool name_file(struct pl_repair *r, const struct pl_unit *unit, struct pl_part *part)
{
    if (!r->rules->wants_file_names || part->kind != PL_PART_FILE || !pl_val_is_set(part->data) ||
        pl_conv_text(r->conv, part->name).len)
        return false;
    struct pl_str type = pl_conv_text(r->conv, part->mime);
    const char *name = "document";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_str_eq(type, pl_str_of(names[i].type)))
            name = names[i].name;
    pl_conv_know(r->conv, part->name.node);
    pl_repair_note(r, PL_LOSS_SYNTHESISED, pl_unit_node(r, unit, part),
                   "a file needs a name; it got the name %s", name);
    part->name = pl_val_text(pl_str_of(name));
    return true;
}

static bool drop_empty_detail(struct pl_repair *r, struct pl_part *part)
{
    if (!r->rules->refuses_empty_detail || part->kind != PL_PART_IMAGE ||
        !pl_val_is_set(part->detail) || pl_conv_text(r->conv, part->detail).len)
        return false;
    pl_conv_loss(r->conv, PL_LOSS_DROPPED, part->detail.node, "an empty detail is not accepted");
    part->detail = (struct pl_val){0};
    return true;
}

static bool is_on_the_web(struct pl_str url)
{
    return pl_str_starts(url, PL_STR("https:")) || pl_str_starts(url, PL_STR("http:")) ||
           pl_str_starts(url, PL_STR("data:"));
}

static bool has_file_id(struct pl_repair *r, const struct pl_part *part)
{
    return !r->rules->refuses_file_ids && pl_val_is_set(part->file_id) &&
           pl_conv_text(r->conv, part->file_id).len > 0;
}

static bool has_data(const struct pl_part *part)
{
    const struct pl_val *data = &part->data;
    return data->kind == PL_VAL_NODE ? data->node->len > 2 /* quotes */
                                     : pl_val_is_set(*data) && data->str.len > 0;
}

/* Whether the target cannot use the only address of a part. */
static bool is_out_of_reach(struct pl_repair *r, const struct pl_part *part)
{
    if (!pl_val_is_set(part->url) || pl_val_is_set(part->data) || has_file_id(r, part))
        return false;
    if (r->rules->wants_file_data && part->kind == PL_PART_FILE)
        return true;
    return r->rules->wants_web_urls && !is_on_the_web(pl_conv_text(r->conv, part->url));
}

/* Whether a text must replace the part: because of its kind, or of its only address. */
static bool is_refused(struct pl_repair *r, const struct pl_part *part, enum pl_role role)
{
    return (role != PL_ROLE_ASSISTANT && (PL_PART_BIT(part->kind) & r->rules->refused_from_user)) ||
           is_out_of_reach(r, part);
}

/* Whether the target gets no content of media: clients write members without a value, and a file may
 * be at another vendor. */
static bool is_void(struct pl_repair *r, const struct pl_part *part)
{
    return r->rules->wants_media_content && !has_data(part) && !pl_val_is_set(part->text) &&
           !has_file_id(r, part) && !pl_conv_text(r->conv, part->url).len;
}

static struct pl_part left_out(struct pl_repair *r, const struct pl_unit *unit,
                               const struct pl_part *part, const char *reason)
{
    const char *kind = pl_part_media_word(part->kind);
    pl_conv_loss(r->conv, PL_LOSS_DROPPED, pl_unit_node(r, unit, part),
                 "%s; a text says that the %s was here", reason, kind);
    return (struct pl_part){
        .kind = PL_PART_TEXT,
        .text = pl_val_text(pl_conv_printf(r->conv, "[%s left out: %s]", kind, reason))};
}

/* The text that replaces a part. A URL may still help a reader who can open it. */
static struct pl_part in_words(struct pl_repair *r, const struct pl_unit *unit,
                               const struct pl_part *part)
{
    const char *kind = pl_part_media_word(part->kind);
    struct pl_str url = pl_conv_text(r->conv, part->url);
    struct pl_str text;
    if (url.len && (!is_on_the_web(url) || is_out_of_reach(r, part))) {
        pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, pl_unit_node(r, unit, part),
                     "the target cannot open this URL; it is written as text");
        pl_conv_know(r->conv, part->url.node);
        text = pl_conv_printf(r->conv, "[%s at %.*s]", kind, PL_STR_ARG(url));
    } else {
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, pl_unit_node(r, unit, part),
                     "the target accepts no %s; a text says that one was here", kind);
        text = pl_conv_printf(r->conv, "[%s left out: it is not accepted here]", kind);
    }
    return (struct pl_part){.kind = PL_PART_TEXT, .text = pl_val_text(text)};
}

static bool respell(struct pl_repair *r, const struct pl_unit *unit, struct pl_part *part)
{
    bool is_broken = false;
    if (!(PL_PART_BIT(part->kind) & MEDIA))
        return false;
    if (unit->role != PL_ROLE_ASSISTANT && is_void(r, part)) {
        bool is_file = pl_conv_text(r->conv, part->file_id).len > 0;
        *part = left_out(r, unit, part,
                         is_file ? "its file is at another vendor" : "it has no content");
        return true;
    }
    if (is_refused(r, part, unit->role)) {
        *part = in_words(r, unit, part);
        return true;
    }
    bool is_changed = respell_data(r, part, &is_broken);
    if (is_broken) {
        *part = left_out(r, unit, part, "its data is not base64");
        return true;
    }
    is_changed |= respell_type(r, part);
    is_changed |= name_file(r, unit, part);
    is_changed |= drop_empty_detail(r, part);
    return is_changed;
}

static bool is_unsaid(const struct pl_part *part)
{
    bool is_text = part->kind == PL_PART_TEXT || part->kind == PL_PART_REFUSAL;
    return part->kind == PL_PART_OTHER || (is_text && !pl_val_is_set(part->text));
}

/* Whether the target gets no part of a turn. */
static bool is_silent(const struct pl_repair *r, const struct pl_unit *unit)
{
    uint32_t n_unsaid = 0;
    for (uint32_t i = 0; i < unit->n; i++)
        n_unsaid += is_unsaid(pl_unit_part(r, unit, i));
    return unit->n > 0 && n_unsaid == unit->n;
}

/* Without a text in its place a user's turn would vanish, and the assistant's turn before it would be
 * the last, or meet another one. A system message that vanishes must not count as such a turn. */
static void keep_turns(struct pl_repair *r)
{
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        bool has_nothing = is_silent(r, unit);
        if (has_nothing && pl_unit_is_system(unit)) {
            r->is_changed = true;
            continue;
        }
        pl_deal_whole(r, unit);
        if (!has_nothing || unit->role != PL_ROLE_USER)
            continue;
        pl_repair_note(r, PL_LOSS_SYNTHESISED, pl_unit_node(r, unit, NULL),
                       "the target has no part for the content of this message; a text takes its "
                       "place");
        pl_deal_part(r, pl_repair_text(r, PL_STR("[content left out: it is not accepted here]")));
        pl_deal_change(r);
    }
    pl_deal_end(r);
}

void pl_repair_sources(struct pl_repair *r)
{
    if (r->rules->refuses_others)
        keep_turns(r);
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
            struct pl_part *part = pl_unit_part(r, unit, i);
            bool is_changed = respell(r, unit, part);
            for (uint32_t k = 0; part->kind == PL_PART_RESULT && k < part->n_children; k++)
                is_changed |= respell(r, unit, &pl_conv_children(r->conv, part)[k]);
            if (is_changed)
                unit->is_changed = r->is_changed = true;
        }
    }
}
