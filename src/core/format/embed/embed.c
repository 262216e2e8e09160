/* Requests for embeddings: read in OpenAI's shape, written in the others. */
#include "format/embed/embed.h"

#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

enum { MAX_DIMENSIONS = 1 << 20 };

const char *const pl_embed_words[PL_EMBED_SHAPES] = {"none", "openai", "ollama", "gemini"};

static const struct pl_json_node *find(const struct pl_json_doc *doc, const char *name)
{
    const struct pl_json_node *node = pl_json_get(doc, doc->root, pl_str_of(name));
    return node && pl_json_kind(node) != PL_JSON_NULL ? node : NULL;
}

/* Not empty; the length includes the quotes. */
static bool is_text(const struct pl_json_node *node)
{
    return pl_json_kind(node) == PL_JSON_STRING && node->len > 2;
}

static bool is_token(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    int64_t n;
    return pl_json_kind(node) == PL_JSON_NUMBER &&
           pl_json_number_int64(pl_json_span(doc, node), &n) && n >= 0;
}

static bool are_tokens(const struct pl_json_doc *doc, const struct pl_json_node *list)
{
    if (pl_json_kind(list) != PL_JSON_ARRAY || !pl_json_count(list))
        return false;
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one))
        if (!is_token(doc, one))
            return false;
    return true;
}

/* Either texts or lists of tokens. */
static bool read_list(struct pl_embed_request *ret, const struct pl_json_node *list)
{
    const struct pl_json_node *first = pl_json_first(list);
    ret->n_inputs = pl_json_count(list);
    ret->is_tokens = first < pl_json_end(list) && pl_json_kind(first) == PL_JSON_ARRAY;
    for (const struct pl_json_node *one = first; one < pl_json_end(list); one = pl_json_next(one)) {
        if (!(ret->is_tokens ? are_tokens(ret->doc, one) : is_text(one)))
            return false;
        ret->n_tokens += ret->is_tokens ? (int64_t)pl_json_count(one) : 0;
    }
    return ret->n_inputs > 0;
}

static bool read_input(struct pl_embed_request *ret)
{
    ret->n_inputs = 1;
    if (pl_json_kind(ret->input) != PL_JSON_ARRAY)
        return is_text(ret->input);
    if (!are_tokens(ret->doc, ret->input))
        return read_list(ret, ret->input);
    ret->is_tokens = true;
    ret->n_tokens = (int64_t)pl_json_count(ret->input);
    return true;
}

static enum pl_status read_encoding(struct pl_embed_request *ret, struct pl_error *err)
{
    const struct pl_json_node *node = find(ret->doc, "encoding_format");
    bool is_string = node && pl_json_kind(node) == PL_JSON_STRING;
    ret->wants_base64 = is_string && pl_json_text_is(ret->doc, node, PL_STR("base64"));
    if (!node || ret->wants_base64 ||
        (is_string && pl_json_text_is(ret->doc, node, PL_STR("float"))))
        return PL_OK;
    return pl_fail(err, PL_INVALID, "encoding_format must be \"float\" or \"base64\".");
}

static enum pl_status read_dimensions(struct pl_embed_request *ret, struct pl_error *err)
{
    const struct pl_json_node *node = find(ret->doc, "dimensions");
    if (!node)
        return PL_OK;
    if (pl_json_kind(node) == PL_JSON_NUMBER &&
        pl_json_number_int64(pl_json_span(ret->doc, node), &ret->dimensions) &&
        ret->dimensions >= 1 && ret->dimensions <= MAX_DIMENSIONS)
        return PL_OK;
    return pl_fail(err, PL_INVALID, "dimensions must be a whole number from 1 to %d.",
                   MAX_DIMENSIONS);
}

enum pl_status pl_embed_read(const struct pl_json_doc *doc, struct pl_embed_request *ret,
                             struct pl_error *err)
{
    *ret = (struct pl_embed_request){.doc = doc, .input = find(doc, "input")};
    if (!ret->input || !read_input(ret))
        return pl_fail(err, PL_INVALID,
                       "input must be a text, a list of texts, a list of token numbers, or a list "
                       "of such lists; none of them may be empty.");
    if (ret->n_inputs > PL_EMBED_MAX_INPUTS)
        return pl_fail(err, PL_INVALID,
                       "input has %zu elements, but at most %d are accepted at once; send several "
                       "requests.",
                       ret->n_inputs, PL_EMBED_MAX_INPUTS);
    enum pl_status status = read_encoding(ret, err);
    return status == PL_OK ? read_dimensions(ret, err) : status;
}

const struct pl_json_node *pl_embed_text(const struct pl_embed_request *request, size_t i)
{
    if (pl_json_kind(request->input) == PL_JSON_STRING)
        return request->input;
    const struct pl_json_node *node = pl_json_first(request->input);
    while (i-- > 0)
        node = pl_json_next(node);
    return node;
}

/* --- other shapes ---------------------------------------------------------------------------- */

static void write_ollama(const struct pl_embed_request *request, struct pl_str model,
                         struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "model");
    pl_json_out_text(out, model);
    pl_json_out_key(out, "input");
    pl_json_out_raw(out, pl_json_span(request->doc, request->input));
    if (request->dimensions) {
        pl_json_out_key(out, "dimensions");
        pl_json_out_int(out, request->dimensions);
    }
    pl_json_out_close(out, '}');
}

/* Gemini names models by their path, even in a body. */
static void write_model_path(struct pl_json_out *out, struct pl_str model)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    if (!pl_str_starts(model, PL_STR("models/")))
        pl_buf_adds(&path, "models/");
    pl_buf_add(&path, model);
    pl_json_out_key(out, "model");
    pl_json_out_text(out, pl_buf_str(&path));
    if (path.status != PL_OK)
        out->buf->status = path.status;
}

static void write_gemini(const struct pl_embed_request *request, struct pl_str model,
                         struct pl_json_out *out)
{
    const struct pl_json_node *text = pl_embed_text(request, 0);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "requests");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < request->n_inputs; i++, text = pl_json_next(text)) {
        pl_json_out_open(out, '{');
        write_model_path(out, model);
        pl_json_out_key(out, "content");
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "parts");
        pl_json_out_open(out, '[');
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "text");
        pl_json_out_raw(out, pl_json_span(request->doc, text));
        pl_json_out_close(out, '}');
        pl_json_out_close(out, ']');
        pl_json_out_close(out, '}');
        if (request->dimensions) {
            pl_json_out_key(out, "outputDimensionality");
            pl_json_out_int(out, request->dimensions);
        }
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
}

/* Reports members that only OpenAI's shape has. */
static void report_losses(const struct pl_embed_request *request, struct pl_buf *report)
{
    static const char *const said[] = {"model", "input", "encoding_format", "dimensions"};
    const struct pl_json_doc *doc = request->doc;
    bool is_lossless = true;
    pl_buf_adds(report, "{\"losses\":[");
    for (const struct pl_json_node *key = pl_json_first_member(doc->root);
         key < pl_json_end(doc->root); key = pl_json_next_member(key)) {
        bool is_said = pl_json_kind(key + 1) == PL_JSON_NULL;
        for (size_t i = 0; i < sizeof said / sizeof *said && !is_said; i++)
            is_said = pl_json_key_is(doc, key, pl_str_of(said[i]));
        if (is_said)
            continue;
        pl_buf_adds(report, is_lossless ? "{\"code\":\"dropped\",\"pointer\":\"/"
                                        : ",{\"code\":\"dropped\",\"pointer\":\"/");
        pl_buf_add(report, pl_json_raw(doc, key));
        pl_buf_adds(report, "\"}");
        is_lossless = false;
    }
    pl_buf_addf(report, "],\"lossless\":%s}", is_lossless ? "true" : "false");
}

enum pl_status pl_embed_write(const struct pl_embed_request *request, enum pl_embed_shape shape,
                              struct pl_str model, struct pl_buf *to, struct pl_buf *report,
                              struct pl_error *err)
{
    struct pl_json_out out = pl_json_out(to);
    if (request->is_tokens)
        return pl_fail(
            err, PL_INVALID,
            "input has token numbers, which mean something to OpenAI's models only; send "
            "texts.");
    if (shape == PL_EMBED_GEMINI)
        write_gemini(request, model, &out);
    else
        write_ollama(request, model, &out);
    report_losses(request, report);
    return to->status == PL_OK ? report->status : to->status;
}
