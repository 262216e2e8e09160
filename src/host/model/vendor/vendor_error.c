/* Error messages of vendors, for people: the message from the error body, without any part of the
 * key. */
#include "json/text.h"
#include "model/vendor/vendor.h"

#include <strings.h>

enum { LEAST_OF_KEY = 8, MAX_SENTENCE = 1000 };

/* Returns the length of the longest prefix of `at` that is somewhere in the key. */
static size_t match(struct pl_str key, struct pl_str at)
{
    size_t best = 0;
    for (size_t i = 0; i < key.len; i++) {
        size_t n = 0;
        while (i + n < key.len && n < at.len && key.ptr[i + n] == at.ptr[n])
            n++;
        best = n > best ? n : best;
    }
    return best;
}

static struct pl_str redact(struct pl_arena *arena, struct pl_str key, struct pl_str text)
{
    size_t least = key.len < LEAST_OF_KEY ? key.len : LEAST_OF_KEY;
    if (!key.len || !text.len)
        return text;
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    bool is_changed = false;
    for (size_t i = 0; i < text.len;) {
        size_t n = match(key, pl_str_slice(text, i, text.len));
        if (n < least) {
            pl_buf_addc(&out, text.ptr[i++]);
            continue;
        }
        pl_buf_adds(&out, "[key]");
        is_changed = true;
        i += n;
    }
    if (!is_changed)
        return text;
    return out.status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&out)) : (struct pl_str){NULL, 0};
}

/* A configured header may be a secret too, but not a short value. */
struct pl_str pl_vendor_redact(struct pl_arena *arena, const struct pl_vendor *vendor,
                               struct pl_str text)
{
    if (!vendor)
        return text;
    text = redact(arena, pl_str_of(vendor->key), text);
    for (const char *const *line = vendor->headers; line && *line && text.len; line++) {
        struct pl_str value = pl_str_of(*line + strcspn(*line, ":") + 2);
        if (value.len >= LEAST_OF_KEY)
            text = redact(arena, value, text);
    }
    return text;
}

/* {"error":{"message":…}}, alone or in an array, {"error":…}, {"message":…}, {"detail":…}. */
static const struct pl_json_node *find_sentence(const struct pl_json_doc *doc)
{
    const struct pl_json_node *root = doc->root;
    if (pl_json_kind(root) == PL_JSON_ARRAY)
        root = pl_json_first(root) < pl_json_end(root) ? pl_json_first(root) : NULL;
    const struct pl_json_node *error = pl_json_member(doc, root, "error", PL_JSON_OBJECT);
    const struct pl_json_node *places[] = {
        pl_json_member(doc, error, "message", PL_JSON_STRING),
        pl_json_member(doc, root, "error", PL_JSON_STRING),
        pl_json_member(doc, root, "message", PL_JSON_STRING),
        pl_json_member(doc, root, "detail", PL_JSON_STRING),
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i])
            return places[i];
    return NULL;
}

struct pl_str pl_vendor_error_text(struct pl_arena *arena, const struct pl_model_target *target,
                                   struct pl_str body)
{
    struct pl_json_doc doc;
    struct pl_str text = {NULL, 0};
    const struct pl_json_node *node =
        pl_json_parse(arena, body, &pl_json_any, &doc, NULL) == PL_OK ? find_sentence(&doc) : NULL;
    if (!node || pl_json_text(arena, &doc, node, &text) != PL_OK)
        return (struct pl_str){NULL, 0};
    if (text.len > MAX_SENTENCE) {
        text.len = MAX_SENTENCE;
        while (text.len && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80)
            text.len--;
    }
    return pl_vendor_redact(arena, target->vendor, text);
}

/* Each vendor's own words, in lower case. */
static const char *const overflow_words[] = {
    "prompt is too long",                   /* Anthropic */
    "exceed context limit",                 /* Anthropic, with max_tokens */
    "context_length_exceeded",              /* OpenAI's code */
    "maximum context length",               /* OpenAI, vLLM */
    "exceeds the context window",           /* OpenAI's Responses */
    "exceeds the maximum number of tokens", /* Gemini */
    "exceed_context_size",                  /* llama.cpp's type */
    "exceeds the available context size",   /* llama.cpp */
    "context length of only",               /* LM Studio */
    "maximum prompt length",                /* xAI */
};

bool pl_vendor_says_overflow(struct pl_str text)
{
    for (size_t w = 0; w < sizeof overflow_words / sizeof *overflow_words; w++) {
        size_t n = strlen(overflow_words[w]);
        for (size_t i = 0; i + n <= text.len; i++)
            if (strncasecmp(text.ptr + i, overflow_words[w], n) == 0)
                return true;
    }
    return false;
}
