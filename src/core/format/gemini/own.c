/* Parts that only Gemini has: programs that ran in Google's sandbox, and calls of its tools. */
#include "format/gemini/gemini_int.h"

static struct pl_val get(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                         unsigned want)
{
    return pl_val_node(pl_conv_fit(conv, pl_gemini_field(conv, object, key), want));
}

static void tell_code(struct pl_conv *conv, const struct pl_json_node *code, struct pl_gist *gist)
{
    gist->service = PL_SERVICE_CODE;
    gist->has_call = true;
    gist->input = get(conv, code, "code", PL_WANT_STRING);
    struct pl_val language = get(conv, code, "language", PL_WANT_STRING);
    if (pl_conv_says(conv, language.node, "PYTHON"))
        gist->language = language;
}

static void tell_run(struct pl_conv *conv, const struct pl_json_node *run, struct pl_gist *gist)
{
    struct pl_val outcome = get(conv, run, "outcome", PL_WANT_STRING);
    gist->service = PL_SERVICE_CODE;
    gist->has_result = true;
    gist->output = get(conv, run, "output", PL_WANT_STRING);
    if (pl_val_is_set(outcome))
        gist->is_error =
            (struct pl_flag){true, !pl_conv_says(conv, outcome.node, "OUTCOME_OK"), outcome};
}

/* Google's own search and fetch, as newer models write them. */
static void tell_tool(struct pl_conv *conv, const struct pl_json_node *tool, struct pl_gist *gist)
{
    static const char *const words[] = {"GOOGLE_SEARCH_WEB", "URL_CONTEXT", NULL};
    static const enum pl_service services[] = {PL_SERVICE_SEARCH, PL_SERVICE_FETCH};
    struct pl_val type = get(conv, tool, "toolType", PL_WANT_STRING);
    int word = pl_conv_word(conv, type.node, words);
    gist->service = word < 0 ? PL_SERVICE_OTHER : services[word];
    gist->name = type;
    gist->input = get(conv, tool, "args", PL_WANT_OBJECT);
    const struct pl_json_node *queries = pl_conv_node(conv, gist->input.node, "queries");
    if (queries && pl_json_kind(queries) == PL_JSON_ARRAY && pl_json_count(queries) == 1)
        gist->input = pl_val_node(pl_json_first(queries));
    gist->output = get(conv, tool, "response", PL_WANT_OBJECT);
}

bool pl_gemini_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret)
{
    static const struct {
        const char *key;
        bool is_result;
        void (*tell)(struct pl_conv *, const struct pl_json_node *, struct pl_gist *);
    } parts[] = {
        {"executableCode", false, tell_code},
        {"codeExecutionResult", true, tell_run},
        {"toolCall", false, tell_tool},
        {"toolResponse", true, tell_tool},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct pl_json_node *of =
            pl_conv_fit(conv, pl_gemini_field(conv, node, parts[i].key), PL_WANT_OBJECT);
        if (!of)
            continue;
        ret->id = get(conv, of, "id", PL_WANT_STRING);
        ret->has_call = !parts[i].is_result;
        ret->has_result = parts[i].is_result;
        parts[i].tell(conv, of, ret);
        return true;
    }
    return false;
}

/* The output of a run as one text; Gemini has no place for files. */
static void write_output(struct pl_writer *w, const struct pl_gist *gist)
{
    struct pl_val texts[2];
    size_t n = 0;
    if (pl_val_is_set(gist->output))
        texts[n++] = gist->output;
    if (pl_val_is_set(gist->errors) && !pl_conv_is_blank(w->conv, gist->errors))
        texts[n++] = gist->errors;
    else
        pl_w_mapped(w, gist->errors);
    for (uint32_t i = 0; i < gist->n_parts && !n; i++)
        if (gist->parts[i].kind == PL_PART_TEXT)
            texts[n++] = gist->parts[i].text;
    pl_w_key(w, "output");
    if (n == 0)
        pl_w_word(w, "");
    else if (n == 1)
        pl_w_string(w, texts[0]);
    else
        pl_w_joined(w, texts, n, "\n");
    if (n == 2)
        pl_w_loss(w, PL_LOSS_MERGED, texts[1],
                  "there is only one text for the output of a "
                  "program");
}

void pl_gemini_write_gist(struct pl_writer *w, const struct pl_gist *gist, bool is_result)
{
    bool has_failed = gist->is_error.is_set && gist->is_error.value;
    pl_w_key(w, is_result ? "codeExecutionResult" : "executableCode");
    pl_w_open(w, '{');
    if (is_result) {
        pl_w_key(w, "outcome");
        pl_w_word(w, has_failed ? "OUTCOME_FAILED" : "OUTCOME_OK");
        pl_w_mapped(w, gist->is_error.val);
        write_output(w, gist);
    } else {
        pl_w_key_word(w, "language", "PYTHON");
        pl_w_key(w, "code");
        pl_w_string(w, pl_val_is_set(gist->input) ? gist->input : pl_val_text(PL_STR("")));
    }
    pl_w_opt_string(w, "id", gist->id);
    pl_w_close(w, '}');
    if (gist->name.node)
        pl_w_loss(w, PL_LOSS_MOVED, gist->name, "the kind of the part identifies the tool");
}
