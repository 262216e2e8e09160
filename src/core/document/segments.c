/* The tokens of a request by the kinds of seed 000: every text of it belongs to one segment. */
#include "document/segments.h"

#include "base/text/utf8.h"

enum { LONG_TEXT = 2000 }; /* code points, as in the envelope's writer */

const char *pl_segment_name(enum pl_segment_kind kind)
{
    static const char *const names[] = {
#define X(name, text) [PL_SEGMENT_##name] = text,
        PL_SEGMENT_TABLE(X)
#undef X
    };
    return names[kind];
}

struct counting {
    struct pl_conv *conv;
    struct pl_count_rule rule;
    struct pl_segment_known *known;
    size_t n_known;
    uint64_t words[PL_SEGMENT_KIND_COUNT]; /* not scaled yet */
    uint64_t media[PL_SEGMENT_KIND_COUNT]; /* never scaled */
    struct pl_tally all;
    enum pl_status status;
};

static uint64_t words_of(const struct pl_tally *tally)
{
    return tally->by[PL_TALLY_MESSAGES] + tally->by[PL_TALLY_TOOLS] + tally->by[PL_TALLY_SYSTEM];
}

static uint64_t media_of(const struct pl_tally *tally)
{
    return tally->by[PL_TALLY_IMAGES] + tally->by[PL_TALLY_AUDIO];
}

/* Moves the tokens of `words` from one kind to another, at most *n_left. */
static void take_out(struct counting *c, enum pl_segment_kind from, enum pl_segment_kind kind,
                     struct pl_str words, uint64_t *n_left)
{
    uint64_t n = 0;
    if (c->status == PL_OK)
        c->status = pl_count_text(&c->rule, words, &n);
    n = n < *n_left ? n : *n_left;
    *n_left -= n;
    c->words[from] -= n;
    c->words[kind] += n;
}

static enum pl_segment_kind kind_of_text(struct counting *c, bool is_system,
                                         const struct pl_part *part)
{
    if (part->purpose == PL_PURPOSE_MEMORY)
        return PL_SEGMENT_MEMORY;
    if (part->purpose == PL_PURPOSE_SKILLS)
        return PL_SEGMENT_SKILLS;
    if (is_system)
        return PL_SEGMENT_SYSTEM_PROMPT;
    bool is_long = pl_utf8_count(pl_conv_text(c->conv, part->text)) > LONG_TEXT;
    return is_long ? PL_SEGMENT_LONG_TEXT : PL_SEGMENT_TEXT;
}

static enum pl_segment_kind kind_of(struct counting *c, bool is_system, const struct pl_part *part)
{
    switch (part->kind) {
    case PL_PART_CALL:
        return PL_SEGMENT_TOOL_CALL_REQUEST;
    case PL_PART_RESULT:
        return PL_SEGMENT_TOOL_CALL_RESULT;
    case PL_PART_IMAGE:
    case PL_PART_AUDIO:
    case PL_PART_VIDEO:
        return PL_SEGMENT_MEDIA;
    case PL_PART_FILE:
        return PL_SEGMENT_DOCUMENT;
    default:
        return kind_of_text(c, is_system, part);
    }
}

static bool contains(struct pl_str text, struct pl_str words)
{
    for (size_t at = 0; words.len && at + words.len <= text.len; at++) {
        const char *found = memchr(text.ptr + at, words.ptr[0], text.len - words.len - at + 1);
        if (!found)
            return false;
        at = (size_t)(found - text.ptr);
        if (!memcmp(found, words.ptr, words.len))
            return true;
    }
    return false;
}

/* Looks for known words and values of variables inside a text. */
static void look_into(struct counting *c, bool is_system, enum pl_segment_kind kind,
                      const struct pl_part *part, uint64_t n_tokens)
{
    if (part->kind != PL_PART_TEXT || !pl_val_is_set(part->text))
        return;
    for (size_t i = 0; part->text.kind == PL_VAL_RUN && i < part->text.n_pieces; i++)
        if (pl_val_is_set(part->text.pieces[i].name))
            take_out(c, kind, PL_SEGMENT_STATIC_VAR,
                     pl_conv_text(c->conv, part->text.pieces[i].text), &n_tokens);
    struct pl_str text = pl_conv_text(c->conv, part->text);
    for (size_t i = 0; i < c->n_known; i++) {
        struct pl_segment_known *known = &c->known[i];
        bool is_candidate =
            (is_system || known->is_anybodys) && !known->is_found && kind != known->kind;
        if (!is_candidate || !contains(text, known->words))
            continue;
        take_out(c, kind, known->kind, known->words, &n_tokens);
        known->is_found = true;
    }
}

static void add_message(struct counting *c, const struct pl_message *m)
{
    bool is_system = m->role <= PL_ROLE_DEVELOPER;
    struct pl_tally whole = {0};
    enum pl_segment_kind first = is_system ? PL_SEGMENT_SYSTEM_PROMPT : PL_SEGMENT_TEXT;
    c->status = pl_count_message(&c->rule, c->conv, m, &whole);
    uint64_t n_frame = words_of(&whole);
    for (uint32_t i = 0; i < m->n_parts && c->status == PL_OK; i++) {
        const struct pl_part *part = &pl_conv_parts(c->conv, m)[i];
        struct pl_tally tally = {0};
        c->status = pl_count_part(&c->rule, c->conv, m->role, part, &tally);
        enum pl_segment_kind kind = kind_of(c, is_system, part);
        uint64_t n = words_of(&tally);
        first = i ? first : kind;
        c->words[kind] += n;
        c->media[kind] += media_of(&tally);
        n_frame -= n < n_frame ? n : n_frame;
        look_into(c, is_system, kind, part, n);
    }
    c->words[first] += n_frame;
    pl_tally_add(&c->all, &whole);
}

static void add_frame(struct counting *c)
{
    struct pl_tally frame = {0};
    c->status = pl_count_frame(&c->rule, c->conv, &frame);
    c->words[PL_SEGMENT_TOOL_OVERVIEW] += frame.by[PL_TALLY_TOOLS];
    c->words[PL_SEGMENT_SYSTEM_PROMPT] += frame.by[PL_TALLY_SYSTEM];
    c->words[PL_SEGMENT_TEXT] += frame.by[PL_TALLY_MESSAGES];
    pl_tally_add(&c->all, &frame);
}

/* Scales each number. They are rounded separately, so the largest takes the difference. */
static void settle(const struct counting *c, struct pl_segments *ret)
{
    uint64_t n_sum = 0;
    int largest = 0;
    for (int i = 0; i < PL_SEGMENT_KIND_COUNT; i++) {
        struct pl_tally one = {
            .by = {[PL_TALLY_MESSAGES] = c->words[i], [PL_TALLY_IMAGES] = c->media[i]}};
        ret->by[i] = pl_tally_total(&c->rule, &one);
        n_sum += ret->by[i];
        largest = ret->by[i] > ret->by[largest] ? i : largest;
    }
    ret->by[largest] += ret->counted.n_tokens - n_sum;
}

static enum pl_status count(struct counting *c, const struct pl_format *format,
                            struct pl_segments *ret)
{
    struct pl_segments segments = {0};
    add_frame(c);
    for (size_t i = 0; i < c->conv->messages.len && c->status == PL_OK; i++)
        add_message(c, &c->conv->messages.ptr[i]);
    if (c->status == PL_OK)
        c->status = c->conv->status;
    if (c->status != PL_OK)
        return c->status;
    segments.counted = (struct pl_counted){
        .as = format,
        .counting = c->rule.counting,
        .n_tokens = pl_tally_total(&c->rule, &c->all),
        .is_estimated = pl_tally_is_estimated(&c->rule, &c->all),
    };
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        segments.counted.by[i] = pl_tally_of(&c->rule, &c->all, (enum pl_tally_kind)i);
    settle(c, &segments);
    *ret = segments;
    return PL_OK;
}

enum pl_status pl_segments_count(struct pl_str text, const struct pl_format *as,
                                 struct pl_segment_known *known, size_t n_known,
                                 struct pl_segments *ret_segments, struct pl_error *err)
{
    PL_CLEANUP_SOURCE struct pl_source source;
    struct pl_tokens *tokens = NULL;
    enum pl_status status = pl_source_open_own(&source, text, as, err);
    if (status != PL_OK)
        return status;
    struct counting c = {.conv = &source.conv, .known = known, .n_known = n_known};
    c.rule.counting = pl_count_choose(&source.conv, source.format, &(struct pl_count_choice){0});
    status = pl_tokens_create(c.rule.counting.encoding, &tokens);
    c.rule.tokens = tokens;
    if (status == PL_OK)
        status = count(&c, source.format, ret_segments);
    pl_tokens_destroy(tokens);
    return status;
}
