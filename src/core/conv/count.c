/* Walks the conversation once and adds every value to the tally under its kind. */
#include "conv/count.h"

#include "tokens/media.h"

/* Estimates for content without a published price. All are on the high side of what vendors
 * charge. */
enum {
    BYTES_PER_SEALED_TOKEN = 4, /* reasoning only its vendor can read */
    BYTES_PER_FILE_TOKEN = 25,  /* a document of text and pictures */
    BYTES_PER_PLAIN_TOKEN = 3,  /* a document of plain text, given as base64 */
    UNSEEN_FILE_TOKENS = 2000,  /* a document that is only linked */
    MOVIE_TOKENS_PER_S = 290,   /* a picture and its audio each second */
    MOVIE_BYTES_PER_S = 125000, /* one megabit, usual for short clips */
    UNSEEN_MOVIE_S = 30,
    UNSEEN_AUDIO_MS = 30000,
};

static const struct {
    const char *name;
    bool is_scaled; /* made of text */
} kinds[PL_TALLY_KIND_COUNT] = {
    [PL_TALLY_MESSAGES] = {"messages", true}, [PL_TALLY_TOOLS] = {"tools", true},
    [PL_TALLY_SYSTEM] = {"system", true},     [PL_TALLY_IMAGES] = {"images", false},
    [PL_TALLY_AUDIO] = {"audio", false},
};

const char *pl_tally_name(enum pl_tally_kind kind)
{
    return kinds[kind].name;
}

void pl_tally_add(struct pl_tally *tally, const struct pl_tally *more)
{
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        tally->by[i] += more->by[i];
    tally->is_estimated |= more->is_estimated;
}

void pl_tally_take(struct pl_tally *tally, const struct pl_tally *less)
{
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        tally->by[i] -= less->by[i];
}

uint64_t pl_tally_of(const struct pl_count_rule *rule, const struct pl_tally *tally,
                     enum pl_tally_kind kind)
{
    return kinds[kind].is_scaled ? pl_model_counting_scale(&rule->counting, tally->by[kind])
                                 : tally->by[kind];
}

uint64_t pl_tally_total(const struct pl_count_rule *rule, const struct pl_tally *tally)
{
    uint64_t n = 0;
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        n += pl_tally_of(rule, tally, (enum pl_tally_kind)i);
    return n;
}

/* A running count: the tally, the kind that its words count as, and its status. */
struct count {
    const struct pl_count_rule *rule;
    const struct pl_chat_overhead *overhead;
    struct pl_conv *conv;
    struct pl_tally *tally;
    enum pl_tally_kind words;
    enum pl_status status; /* sticky */
};

static struct count begin(const struct pl_count_rule *rule, struct pl_conv *conv,
                          enum pl_tally_kind words, struct pl_tally *tally)
{
    return (struct count){.rule = rule,
                          .overhead = pl_chat_overhead_of(rule->counting.encoding),
                          .conv = conv,
                          .tally = tally,
                          .words = words};
}

static enum pl_status end(const struct count *c)
{
    return c->status == PL_OK ? c->conv->status : c->status;
}

static void add(struct count *c, uint64_t n)
{
    c->tally->by[c->words] += n;
}

static void add_text(struct count *c, struct pl_str text)
{
    uint64_t n = 0;
    if (c->status == PL_OK && text.len)
        c->status = pl_count_text(c->rule, text, &n);
    add(c, n);
}

static void add_val(struct count *c, struct pl_val val)
{
    add_text(c, pl_conv_text(c->conv, val));
}

static void guess(struct count *c, enum pl_tally_kind kind, uint64_t n)
{
    c->tally->by[kind] += n;
    c->tally->is_estimated = true;
}

static struct pl_media media_of(struct count *c, const struct pl_part *part)
{
    return (struct pl_media){pl_conv_text(c->conv, part->data), true};
}

static void add_image(struct count *c, const struct pl_part *part)
{
    struct pl_image_size size;
    bool is_known = false;
    if (pl_val_is_set(part->data)) {
        struct pl_media media = media_of(c, part);
        is_known = pl_image_size_read(&media, &size);
    }
    bool is_low = pl_str_eq(pl_conv_text(c->conv, part->detail), PL_STR("low"));
    enum pl_image_detail detail = is_low ? PL_IMAGE_LOW : PL_IMAGE_HIGH;
    c->tally->by[PL_TALLY_IMAGES] += pl_image_tokens(detail, is_known ? &size : NULL);
    c->tally->is_estimated |= !is_known && !is_low;
}

/* "mp3" from "audio/mp3". */
static struct pl_str subtype(struct pl_str mime)
{
    const char *slash = mime.len ? memchr(mime.ptr, '/', mime.len) : NULL;
    return slash ? pl_str_slice(mime, (size_t)(slash - mime.ptr) + 1, mime.len) : mime;
}

static void add_audio(struct count *c, const struct pl_part *part)
{
    if (!pl_val_is_set(part->data)) {
        guess(c, PL_TALLY_AUDIO, pl_audio_tokens(UNSEEN_AUDIO_MS));
        return;
    }
    struct pl_media media = media_of(c, part);
    struct pl_audio_length length =
        pl_audio_length_read(&media, subtype(pl_conv_text(c->conv, part->mime)));
    c->tally->by[PL_TALLY_AUDIO] += pl_audio_tokens(length.duration_ms);
    c->tally->is_estimated |= length.is_estimated;
}

static void add_movie(struct count *c, const struct pl_part *part)
{
    uint64_t duration_s = UNSEEN_MOVIE_S;
    if (pl_val_is_set(part->data)) {
        struct pl_media media = media_of(c, part);
        duration_s = pl_media_size(&media) / MOVIE_BYTES_PER_S + 1;
    }
    guess(c, PL_TALLY_IMAGES, duration_s * MOVIE_TOKENS_PER_S);
}

static void add_file(struct count *c, const struct pl_part *part)
{
    add_val(c, part->name);
    if (pl_val_is_set(part->text)) {
        add_val(c, part->text);
    } else if (pl_val_is_set(part->data)) {
        struct pl_media media = media_of(c, part);
        bool is_plain = pl_str_starts(pl_conv_text(c->conv, part->mime), PL_STR("text/"));
        guess(c, c->words,
              pl_media_size(&media) / (is_plain ? BYTES_PER_PLAIN_TOKEN : BYTES_PER_FILE_TOKEN) +
                  1);
    } else {
        guess(c, c->words, UNSEEN_FILE_TOKENS);
    }
}

/* A call is counted like a message of its own. */
static void add_call(struct count *c, const struct pl_part *part)
{
    add(c, c->overhead->per_message);
    add_val(c, part->name);
    add_val(c, part->args);
}

static void add_content(struct count *c, const struct pl_part *part)
{
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_THINKING:
    case PL_PART_REFUSAL:
        add_val(c, part->text);
        break;
    case PL_PART_REDACTED:
        guess(c, c->words, pl_conv_text(c->conv, part->data).len / BYTES_PER_SEALED_TOKEN);
        break;
    case PL_PART_IMAGE:
        add_image(c, part);
        break;
    case PL_PART_AUDIO:
        add_audio(c, part);
        break;
    case PL_PART_VIDEO:
        add_movie(c, part);
        break;
    case PL_PART_FILE:
        add_file(c, part);
        break;
    case PL_PART_CALL:
        add_call(c, part);
        break;
    default:
        if (part->node) {
            add_text(c, pl_json_span(c->conv->doc, part->node));
            c->tally->is_estimated = true;
        }
        break;
    }
}

static void add_part(struct count *c, enum pl_role role, const struct pl_part *part)
{
    if (part->kind != PL_PART_RESULT) {
        add_content(c, part);
        return;
    }
    /* A result counts as a message of its own, even if a format keeps several in one. */
    if (role != PL_ROLE_TOOL)
        add(c, c->overhead->per_message);
    for (uint32_t i = 0; i < part->n_children; i++)
        add_content(c, &pl_conv_children(c->conv, part)[i]);
}

static enum pl_tally_kind words_of(enum pl_role role)
{
    return role == PL_ROLE_SYSTEM || role == PL_ROLE_DEVELOPER ? PL_TALLY_SYSTEM
                                                               : PL_TALLY_MESSAGES;
}

enum pl_status pl_count_text(const struct pl_count_rule *rule, struct pl_str text,
                             uint64_t *n_tokens)
{
    size_t n = 0;
    enum pl_status status = pl_tokens_count(rule->tokens, text, PL_SPECIAL_AS_TEXT, &n);
    *n_tokens += n;
    return status;
}

enum pl_status pl_count_part(const struct pl_count_rule *rule, struct pl_conv *conv,
                             enum pl_role role, const struct pl_part *part, struct pl_tally *tally)
{
    struct count c = begin(rule, conv, words_of(role), tally);
    add_part(&c, role, part);
    return end(&c);
}

enum pl_status pl_count_message(const struct pl_count_rule *rule, struct pl_conv *conv,
                                const struct pl_message *message, struct pl_tally *tally)
{
    struct count c = begin(rule, conv, words_of(message->role), tally);
    add(&c, c.overhead->per_message);
    if (pl_val_is_set(message->name)) {
        add(&c, c.overhead->per_name);
        add_val(&c, message->name);
    }
    for (uint32_t i = 0; i < message->n_parts; i++)
        add_part(&c, message->role, &pl_conv_parts(conv, message)[i]);
    return end(&c);
}

/* "name:description", the description without its full stop, as the tools are described to the
 * model. */
static void add_line(struct count *c, struct pl_str name, struct pl_str type,
                     struct pl_str description)
{
    if (description.len && description.ptr[description.len - 1] == '.')
        description.len--;
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_buf_add(&line, name);
    pl_buf_addc(&line, ':');
    if (type.len) {
        pl_buf_add(&line, type);
        pl_buf_addc(&line, ':');
    }
    pl_buf_add(&line, description);
    if (c->status == PL_OK)
        c->status = line.status;
    add_text(c, pl_buf_str(&line));
}

static struct pl_str node_text(struct count *c, const struct pl_json_node *node)
{
    return pl_conv_text(c->conv, pl_val_node(node));
}

static void add_enum(struct count *c, const struct pl_json_node *list)
{
    uint64_t n_before = c->tally->by[c->words];
    const struct pl_json_node *item = pl_json_first(list);
    for (; item < pl_json_end(list); item = pl_json_next(item)) {
        add(c, c->overhead->per_enum_item);
        add_text(c, node_text(c, item));
    }
    uint64_t n_added = c->tally->by[c->words] - n_before;
    c->tally->by[c->words] -=
        n_added < c->overhead->per_enum_item ? n_added : c->overhead->per_enum_item;
}

/* The published rule covers flat properties. Nested ones are counted by their JSON text. */
static void add_property(struct count *c, const struct pl_json_node *key)
{
    const struct pl_json_node *value = key + 1;
    add(c, c->overhead->per_property);
    const struct pl_json_node *type = pl_conv_node(c->conv, value, "type");
    const struct pl_json_node *about = pl_conv_node(c->conv, value, "description");
    add_line(c, node_text(c, key), node_text(c, type), node_text(c, about));
    if (pl_json_kind(value) != PL_JSON_OBJECT)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(value); k < pl_json_end(value);
         k = pl_json_next_member(k)) {
        if (!pl_json_is_container(k + 1) || k + 1 == type)
            continue;
        if (pl_json_kind(k + 1) == PL_JSON_ARRAY && pl_conv_says(c->conv, k, "enum"))
            add_enum(c, k + 1);
        else
            add_text(c, pl_json_span(c->conv->doc, k + 1));
    }
}

/* Whether it is declared in the same object as the function before it. */
static bool is_beside(const struct pl_conv *conv, const struct pl_tool *tool)
{
    const struct pl_tool *before = tool > conv->tools.ptr ? tool - 1 : NULL;
    return before && before->node && !before->is_hosted && before->node > tool->node &&
           before->node < pl_json_next(tool->node);
}

static void add_tool(struct count *c, const struct pl_tool *tool)
{
    /* Its namespace is counted as a whole. */
    if (pl_val_is_set(tool->space))
        return;
    add(c, c->overhead->per_tool);
    if (tool->is_hosted) {
        if (tool->node && !is_beside(c->conv, tool))
            add_text(c, pl_json_span(c->conv->doc, tool->node));
        c->tally->is_estimated = true;
        return;
    }
    add_line(c, pl_conv_text(c->conv, tool->name), (struct pl_str){0},
             pl_conv_text(c->conv, tool->description));
    const struct pl_json_node *schema = tool->schema.kind == PL_VAL_NODE ? tool->schema.node : NULL;
    const struct pl_json_node *properties = pl_conv_node(c->conv, schema, "properties");
    if (properties && pl_json_kind(properties) == PL_JSON_OBJECT && pl_json_count(properties)) {
        add(c, c->overhead->per_parameters);
        for (const struct pl_json_node *key = pl_json_first_member(properties);
             key < pl_json_end(properties); key = pl_json_next_member(key))
            add_property(c, key);
    } else if (tool->is_custom) {
        add_val(c, tool->schema);
    }
}

enum pl_status pl_count_frame(const struct pl_count_rule *rule, struct pl_conv *conv,
                              struct pl_tally *tally)
{
    struct count c = begin(rule, conv, PL_TALLY_TOOLS, tally);
    for (size_t i = 0; i < conv->tools.len; i++)
        add_tool(&c, &conv->tools.ptr[i]);
    if (conv->tools.len)
        add(&c, c.overhead->per_tool_list);
    c.words = PL_TALLY_SYSTEM;
    add_val(&c, conv->settings.output_schema);
    c.words = PL_TALLY_MESSAGES;
    add(&c, c.overhead->per_reply);
    return end(&c);
}

enum pl_status pl_count_conv(const struct pl_count_rule *rule, struct pl_conv *conv,
                             struct pl_tally *tally)
{
    enum pl_status status = pl_count_frame(rule, conv, tally);
    for (size_t i = 0; i < conv->messages.len && status == PL_OK; i++)
        status = pl_count_message(rule, conv, &conv->messages.ptr[i], tally);
    return status;
}
