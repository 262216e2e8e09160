/* openai-chat: the assistant's reasoning. OpenAI has no place for it in Chat Completions;
 * compatible servers do:
 *
 *     reasoning_content, reasoning     the words
 *     reasoning_signature              a proof of the server's own
 *     reasoning_details                OpenRouter: each thought with the proof of its vendor:
 *                                      reasoning.text {text, signature}, reasoning.summary
 *                                      {summary}, reasoning.encrypted {data, id}; `format` names
 *                                      the vendor
 *
 * Reasoning that a server sends under several names is read once. */
#include "format/openai_chat/openai_chat_int.h"
#include "format/openai_chat/words.h"
#include "format/profile.h"

/* The vendors that OpenRouter names in `format`, and the prefixes of their model names. */
static const struct vendor {
    const struct pl_format *format;
    const char *word, *models;
} vendors[] = {
    {&pl_format_anthropic, "anthropic-claude-v1", "anthropic/"},
    {&pl_format_openai_responses, "openai-responses-v1", "openai/"},
    {&pl_format_gemini, "google-gemini-v1", "google/"},
};
enum { N_VENDORS = sizeof vendors / sizeof *vendors };

static const struct vendor *vendor_of(const struct pl_format *format)
{
    for (size_t i = 0; i < N_VENDORS; i++)
        if (vendors[i].format == format)
            return &vendors[i];
    return NULL;
}

const struct pl_format *pl_chat_proof_home(struct pl_str format, struct pl_str model)
{
    for (size_t i = 0; i < N_VENDORS; i++)
        if (format.len ? pl_str_eq(format, pl_str_of(vendors[i].word))
                       : pl_str_starts(model, pl_str_of(vendors[i].models)))
            return vendors[i].format;
    return NULL;
}

/* ---- reading ---- */

static inline void know_member(struct pl_conv *conv, const struct pl_json_node *object,
                               const char *key)
{
    pl_conv_know(conv, pl_conv_node(conv, object, key));
}

/* Whether `rest` continues with `piece`, perhaps after white space; skips it. */
static bool goes_on(struct pl_str *rest, struct pl_str piece)
{
    struct pl_str at = *rest;
    while (at.len && strchr(" \t\r\n", at.ptr[0]))
        at = pl_str_slice(at, 1, at.len);
    const struct pl_str tries[] = {*rest, at};
    for (int i = 0; i < 2; i++)
        if (piece.len && pl_str_starts(tries[i], piece)) {
            *rest = pl_str_slice(tries[i], piece.len, tries[i].len);
            return true;
        }
    return false;
}

static struct pl_val words_of(struct pl_conv *conv, const struct pl_json_node *entry)
{
    struct pl_val text = pl_conv_get(conv, entry, "text", PL_WANT_STRING);
    return pl_val_is_set(text) ? text : pl_conv_get(conv, entry, "summary", PL_WANT_STRING);
}

/* The vendor of an entry's proof, as in pl_part.home; 0: the server's own. */
static uint8_t home_of(struct pl_conv *conv, const struct pl_json_node *entry)
{
    const struct pl_json_node *word = pl_conv_member(conv, entry, "format", PL_WANT_STRING);
    struct pl_str model =
        pl_conv_text(conv, pl_conv_get(conv, conv->doc->root, "model", PL_WANT_STRING));
    const struct pl_format *home = pl_chat_proof_home(
        word ? pl_conv_text(conv, pl_val_node(word)) : (struct pl_str){0}, model);
    if (!home)
        return 0;
    pl_conv_know(conv, word);
    return pl_format_place(home);
}

/* The last entry of a Responses item has its id. */
static struct pl_val item_id(struct pl_conv *conv, const struct pl_json_node *entry,
                             const struct pl_json_node *end)
{
    struct pl_val id = pl_conv_get(conv, entry, "id", PL_WANT_STRING);
    const struct pl_json_node *next = pl_json_next(entry);
    if (pl_val_is_set(id) || next >= end || !pl_conv_node(conv, next, "data"))
        return id;
    return pl_conv_get(conv, next, "id", PL_WANT_STRING);
}

static void read_entry(struct pl_conv *conv, const struct pl_json_node *entry,
                       const struct pl_json_node *end)
{
    struct pl_val data = pl_conv_get(conv, entry, "data", PL_WANT_STRING);
    struct pl_val text = words_of(conv, entry);
    know_member(conv, entry, "type");
    know_member(conv, entry, "index"); /* their order implies it */
    if (!pl_val_is_set(data) && !pl_val_is_set(text))
        return;
    struct pl_part *part =
        pl_conv_add_part(conv, pl_val_is_set(data) ? PL_PART_REDACTED : PL_PART_THINKING, entry);
    part->data = data;
    part->text = text;
    part->home = home_of(conv, entry);
    pl_conv_take(conv, entry, "signature", PL_WANT_STRING, &part->signature);
    if (part->home)
        part->id = item_id(conv, entry, end);
}

/* Whether the entries repeat the whole text: then they are read instead. */
static bool repeats(struct pl_conv *conv, const struct pl_json_node *details,
                    const struct pl_json_node *text)
{
    struct pl_str rest = pl_conv_text(conv, pl_val_node(text));
    for (const struct pl_json_node *d = pl_json_first(details); d < pl_json_end(details);
         d = pl_json_next(d)) {
        struct pl_val words = words_of(conv, d);
        if (pl_val_is_set(words) && !goes_on(&rest, pl_conv_text(conv, words)))
            return false;
    }
    while (rest.len && strchr(" \t\r\n", rest.ptr[0]))
        rest = pl_str_slice(rest, 1, rest.len);
    return rest.len == 0;
}

/* If the text differs, reads only entries without text and those that repeat a piece of it. */
static void read_beside(struct pl_conv *conv, const struct pl_json_node *details,
                        const struct pl_json_node *text)
{
    struct pl_str said = pl_conv_text(conv, pl_val_node(text));
    for (const struct pl_json_node *d = pl_json_first(details); d < pl_json_end(details);
         d = pl_json_next(d)) {
        struct pl_val words = words_of(conv, d);
        if (pl_conv_node(conv, d, "data")) {
            read_entry(conv, d, pl_json_end(details));
            continue;
        }
        know_member(conv, d, "type");
        if (goes_on(&said, pl_conv_text(conv, words)))
            pl_conv_repeat(conv, words.node, text);
    }
}

static const struct pl_json_node *text_of(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *text = pl_conv_member(conv, m, "reasoning_content", PL_WANT_STRING);
    const struct pl_json_node *plain = pl_conv_member(conv, m, "reasoning", PL_WANT_STRING);
    if (pl_conv_is_hollow(conv, text))
        text = NULL;
    if (pl_conv_is_hollow(conv, plain))
        plain = NULL;
    if (!text)
        return plain;
    if (plain &&
        pl_str_eq(pl_conv_text(conv, pl_val_node(text)), pl_conv_text(conv, pl_val_node(plain))))
        pl_conv_repeat(conv, plain, text);
    return text;
}

/* The first text of the entries; NULL if there is none. */
static const struct pl_json_node *first_words(struct pl_conv *conv,
                                              const struct pl_json_node *details)
{
    const struct pl_json_node *words = NULL;
    for (const struct pl_json_node *d = pl_json_first(details); d < pl_json_end(details) && !words;
         d = pl_json_next(d))
        words = words_of(conv, d).node;
    return words;
}

void pl_chat_read_reasoning(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *text = text_of(conv, m);
    const struct pl_json_node *signature =
        pl_conv_member(conv, m, "reasoning_signature", PL_WANT_STRING);
    const struct pl_json_node *details =
        pl_conv_member(conv, m, "reasoning_details", PL_WANT_ARRAY);
    bool is_repeated = details && text && !signature && repeats(conv, details, text);
    if ((text || signature) && !is_repeated) {
        struct pl_part *part = pl_conv_add_part(conv, PL_PART_THINKING, NULL);
        pl_val_set(&part->text, text);
        pl_val_set(&part->signature, signature);
    }
    if (is_repeated)
        pl_conv_repeat(conv, text, first_words(conv, details));
    if (details && text && !is_repeated) {
        read_beside(conv, details, text);
    } else if (details) {
        for (const struct pl_json_node *d = pl_json_first(details); d < pl_json_end(details);
             d = pl_json_next(d))
            read_entry(conv, d, pl_json_end(details));
    }
}

/* Google signs calls: the entry has the id of its call. */
void pl_chat_sign_calls(struct pl_conv *conv)
{
    /* When out of memory there may be no message. */
    if (conv->status != PL_OK || !conv->messages.len)
        return;
    const struct pl_message *m = &conv->messages.ptr[conv->messages.len - 1];
    uint8_t google = pl_format_place(&pl_format_gemini);
    struct pl_part *parts = pl_conv_parts(conv, m), *proof = parts;
    /* Thoughts come first and calls last, each in order. */
    for (uint32_t i = 0; i < m->n_parts && conv->status == PL_OK; i++) {
        struct pl_part *call = &parts[i];
        if (call->kind != PL_PART_CALL || pl_val_is_set(call->signature) || !call->id.node)
            continue;
        while (proof < call &&
               !(proof->kind == PL_PART_REDACTED && proof->home == google &&
                 pl_str_eq(pl_conv_text(conv, proof->id), pl_conv_text(conv, call->id))))
            proof++;
        if (proof == call)
            return;
        call->signature = proof->data;
        call->home = google;
        pl_conv_repeat(conv, proof->id.node, call->id.node);
    }
}

/* ---- writing ---- */

/* The vendor of a part's proof, for a server that forwards it; NULL: none, or another server. */
static const struct vendor *proof_vendor(const struct pl_chat_out *c, const struct pl_part *part)
{
    if (!c->conversion->profile || !c->conversion->profile->takes_reasoning_details)
        return NULL;
    return vendor_of(pl_format_home(c->conversion, part));
}

static bool has_text(const struct pl_part *part)
{
    return part->kind == PL_PART_THINKING && pl_val_is_set(part->text);
}

/* Whether the part's proof can be written. */
static bool is_proved(const struct pl_chat_out *c, const struct pl_part *part)
{
    bool has_proof = part->kind == PL_PART_REDACTED
                         ? pl_val_is_set(part->data)
                         : has_text(part) && pl_val_is_set(part->signature);
    return has_proof && (pl_chat_is_kept(c, part) || proof_vendor(c, part));
}

static void open_entry(struct pl_writer *w, const char *type, const struct vendor *vendor)
{
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", type);
    if (vendor)
        pl_w_key_word(w, "format", vendor->word);
}

static void write_encrypted(struct pl_writer *w, const struct vendor *vendor, struct pl_val data,
                            struct pl_val id)
{
    open_entry(w, "reasoning.encrypted", vendor);
    pl_w_opt_string(w, "id", id);
    pl_w_opt_string(w, "data", data);
    pl_w_close(w, '}');
}

static void write_entry(struct pl_chat_out *c, const struct pl_part *part)
{
    struct pl_writer *w = c->w;
    bool is_ours = is_proved(c, part);
    const struct vendor *vendor = is_ours ? proof_vendor(c, part) : NULL;
    bool is_summary = vendor && vendor->format == &pl_format_openai_responses;
    if (part->kind == PL_PART_REDACTED) {
        write_encrypted(w, vendor, part->data, vendor ? part->id : (struct pl_val){0});
        return;
    }
    open_entry(w, is_summary ? "reasoning.summary" : "reasoning.text", vendor);
    pl_w_opt_string(w, is_summary ? "summary" : "text", part->text);
    if (is_ours && !is_summary)
        pl_w_opt_string(w, "signature", part->signature);
    pl_w_close(w, '}');
    if (is_summary)
        write_encrypted(w, vendor, part->signature, part->id);
}

/* Writes every thought with its own proof, in order. */
static void write_details(struct pl_chat_out *c, const struct pl_utterance *u)
{
    pl_w_key(c->w, "reasoning_details");
    pl_w_open(c->w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (has_text(u->parts[i]) || is_proved(c, u->parts[i]))
            write_entry(c, u->parts[i]);
    pl_w_close(c->w, ']');
}

void pl_chat_write_reasoning(struct pl_chat_out *c, const struct pl_utterance *u, const char *glue)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (is_proved(c, u->parts[i])) {
            write_details(c, u);
            return;
        }
    if (!pl_chat_words(u, PL_PART_THINKING))
        return;
    pl_w_key(c->w, "reasoning_content");
    pl_chat_write_joined(c->w, u, PL_PART_THINKING, glue);
}
