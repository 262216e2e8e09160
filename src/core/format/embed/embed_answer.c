/* Answers with embeddings, from each shape into OpenAI's. Numbers keep their spelling; base64 holds
 * little-endian 32-bit floats, as at OpenAI. */
#include "format/embed/embed.h"

#include "base/text/base64.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

#include <math.h>

/* The place of the vectors in a shape, of the vector in an element, and of the counter. */
static const struct place {
    const char *list, *vector; /* vector NULL: the element itself */
    const char *counters[2];   /* the first one present */
} places[PL_EMBED_SHAPES] = {
    [PL_EMBED_OPENAI] = {"data", "embedding", {"/usage/prompt_tokens", "/usage/total_tokens"}},
    [PL_EMBED_OLLAMA] = {"embeddings", NULL, {"/prompt_eval_count", NULL}},
    [PL_EMBED_GEMINI] = {"embeddings",
                         "values",
                         {"/usageMetadata/promptTokenCount", "/usageMetadata/totalTokenCount"}},
};

static const struct pl_json_node *list_of(const struct pl_json_doc *answer,
                                          const struct pl_embed_asked *asked)
{
    if (pl_json_kind(answer->root) != PL_JSON_OBJECT)
        return NULL;
    const struct pl_json_node *list =
        pl_json_get(answer, answer->root, pl_str_of(places[asked->shape].list));
    return list && pl_json_kind(list) == PL_JSON_ARRAY && pl_json_count(list) == asked->n_inputs
               ? list
               : NULL;
}

static const struct pl_json_node *vector_of(const struct pl_json_doc *answer,
                                            enum pl_embed_shape shape,
                                            const struct pl_json_node *element)
{
    const char *name = places[shape].vector;
    if (!name)
        return element;
    return pl_json_kind(element) == PL_JSON_OBJECT ? pl_json_get(answer, element, pl_str_of(name))
                                                   : NULL;
}

bool pl_embed_fits(const struct pl_json_doc *answer, const struct pl_embed_asked *asked)
{
    const struct pl_json_node *list = list_of(answer, asked);
    enum pl_json_kind wanted = asked->wants_base64 ? PL_JSON_STRING : PL_JSON_ARRAY;
    if (!list)
        return false;
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one)) {
        const struct pl_json_node *vector = vector_of(answer, asked->shape, one);
        if (!vector || pl_json_kind(vector) != wanted)
            return false;
    }
    return true;
}

int64_t pl_embed_tokens(const struct pl_json_doc *answer, enum pl_embed_shape shape)
{
    const struct pl_json_node *node;
    int64_t n;
    for (size_t i = 0; i < 2 && places[shape].counters[i]; i++)
        if (pl_json_pointer_get(answer, pl_str_of(places[shape].counters[i]), &node, NULL) ==
                PL_OK &&
            pl_json_kind(node) == PL_JSON_NUMBER &&
            pl_json_number_int64(pl_json_span(answer, node), &n) && n >= 0)
            return n;
    return -1;
}

/* --- vectors --------------------------------------------------------------------------------- */

static void add_float(struct pl_buf *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    char bytes[4] = {(char)bits, (char)(bits >> 8), (char)(bits >> 16), (char)(bits >> 24)};
    pl_buf_add(to, (struct pl_str){bytes, sizeof bytes});
}

static float float_at(struct pl_str bytes, size_t i)
{
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; k++)
        bits |= (uint32_t)(unsigned char)bytes.ptr[4 * i + k] << (8 * k);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void quote_base64(struct pl_buf *to, const struct pl_buf *bytes)
{
    pl_buf_addc(to, '"');
    pl_base64_encode(to, pl_buf_str(bytes));
    pl_buf_addc(to, '"');
    if (bytes->status != PL_OK)
        to->status = bytes->status;
}

void pl_embed_vector_write(struct pl_buf *to, const float *vector, size_t n, bool is_base64)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    if (!is_base64)
        pl_buf_addc(to, '[');
    for (size_t i = 0; i < n; i++) {
        if (is_base64)
            add_float(&bytes, vector[i]);
        else
            pl_buf_addf(to, "%s%.9g", i ? "," : "", (double)vector[i]);
    }
    if (is_base64)
        quote_base64(to, &bytes);
    else
        pl_buf_addc(to, ']');
}

static bool write_numbers_as_base64(const struct pl_json_doc *answer,
                                    const struct pl_json_node *numbers, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    for (const struct pl_json_node *one = pl_json_first(numbers); one < pl_json_end(numbers);
         one = pl_json_next(one)) {
        if (pl_json_kind(one) != PL_JSON_NUMBER)
            return false;
        add_float(&bytes, (float)pl_json_number_double(pl_json_span(answer, one)));
    }
    quote_base64(to, &bytes);
    return true;
}

static bool write_base64_as_numbers(struct pl_str text, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    if (pl_base64_decode(&bytes, text) != PL_OK || bytes.len % 4)
        return false;
    pl_buf_addc(to, '[');
    for (size_t i = 0; i < bytes.len / 4; i++) {
        float value = float_at(pl_buf_str(&bytes), i);
        if (!isfinite(value))
            return false;
        pl_buf_addf(to, "%s%.9g", i ? "," : "", (double)value);
    }
    pl_buf_addc(to, ']');
    return true;
}

static bool write_vector(const struct pl_json_doc *answer, const struct pl_json_node *vector,
                         bool wants_base64, struct pl_buf *to)
{
    enum pl_json_kind kind = vector ? pl_json_kind(vector) : PL_JSON_NULL;
    if (kind == PL_JSON_STRING && !wants_base64)
        return write_base64_as_numbers(pl_json_raw(answer, vector), to);
    if (kind == PL_JSON_ARRAY && wants_base64)
        return write_numbers_as_base64(answer, vector, to);
    if (kind != PL_JSON_STRING && kind != PL_JSON_ARRAY)
        return false;
    pl_buf_add(to, pl_json_span(answer, vector));
    return true;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* The index in an element takes precedence. */
static int64_t index_of(const struct pl_json_doc *answer, const struct pl_json_node *element,
                        size_t i)
{
    int64_t index;
    const struct pl_json_node *said = pl_json_kind(element) == PL_JSON_OBJECT
                                          ? pl_json_get(answer, element, PL_STR("index"))
                                          : NULL;
    return said && pl_json_kind(said) == PL_JSON_NUMBER &&
                   pl_json_number_int64(pl_json_span(answer, said), &index)
               ? index
               : (int64_t)i;
}

static bool write_data(const struct pl_json_doc *answer, const struct pl_embed_asked *asked,
                       const struct pl_json_node *list, struct pl_buf *to)
{
    size_t i = 0;
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one), i++) {
        pl_buf_addf(to, "%s{\"object\":\"embedding\",\"index\":%lld,\"embedding\":", i ? "," : "",
                    (long long)index_of(answer, one, i));
        if (!write_vector(answer, vector_of(answer, asked->shape, one), asked->wants_base64, to))
            return false;
        pl_buf_addc(to, '}');
    }
    return true;
}

enum pl_status pl_embed_answer(const struct pl_json_doc *answer, const struct pl_embed_asked *asked,
                               struct pl_buf *to, struct pl_error *err)
{
    const struct pl_json_node *list = list_of(answer, asked);
    int64_t counted = pl_embed_tokens(answer, asked->shape);
    long long tokens = (long long)(counted < 0 ? asked->tokens : counted);
    if (!list)
        return pl_fail(err, PL_INVALID, "it has not one embedding for each input");
    pl_buf_adds(to, "{\"object\":\"list\",\"data\":[");
    if (!write_data(answer, asked, list, to))
        return pl_fail(err, PL_INVALID, "an embedding in it is no list of numbers");
    pl_buf_adds(to, "],\"model\":");
    pl_json_quote(to, asked->model);
    pl_buf_addf(to, ",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld}}", tokens, tokens);
    return to->status;
}
