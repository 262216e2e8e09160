/* Google's generateContent: requests, responses and error bodies. */
#include "format/gemini/gemini_int.h"
#include "format/gemini/words.h"

const struct pl_json_node *pl_gemini_field(const struct pl_conv *conv,
                                           const struct pl_json_node *object, const char *key)
{
    const struct pl_json_node *value = pl_conv_node(conv, object, key);
    if (value)
        return value;
    char snake[64];
    size_t n = 0;
    for (const char *c = key; *c && n + 3 < sizeof snake; c++) {
        bool is_upper = *c >= 'A' && *c <= 'Z';
        if (is_upper)
            snake[n++] = '_';
        snake[n++] = is_upper ? (char)(*c - 'A' + 'a') : *c;
    }
    snake[n] = '\0';
    return pl_conv_node(conv, object, snake);
}

static const struct pl_json_node *get(const struct pl_json_doc *doc,
                                      const struct pl_json_node *object, const char *key)
{
    return pl_json_is(object, PL_JSON_OBJECT) ? pl_json_get(doc, object, pl_str_of(key)) : NULL;
}

/* Google's error bodies have a number for the code and a word for the status. */
static bool is_error(const struct pl_json_doc *doc, const struct pl_json_node *root)
{
    const struct pl_json_node *error = get(doc, root, "error");
    return pl_json_is(get(doc, error, "code"), PL_JSON_NUMBER) &&
           pl_json_is(get(doc, error, "status"), PL_JSON_STRING);
}

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *root = doc->root;
    if (pl_json_is(root, PL_JSON_ARRAY) && pl_json_count(root))
        return is_error(doc, pl_json_first(root)) ? 90 : 0;
    const struct pl_json_node *contents = get(doc, root, "contents");
    if (contents) {
        const struct pl_json_node *first =
            pl_json_is(contents, PL_JSON_ARRAY) && pl_json_count(contents) ? pl_json_first(contents)
                                                                           : contents;
        return get(doc, first, "parts") ? 95 : 70;
    }
    if (pl_json_is(get(doc, root, "candidates"), PL_JSON_ARRAY) ||
        get(doc, root, "promptFeedback") || get(doc, root, "usageMetadata"))
        return 90;
    return is_error(doc, root) ? 90 : 0;
}

const struct pl_format pl_format_gemini = {
    .name = "gemini",
    .title = "Google's generateContent: contents of user and model",
    .list_key = "contents",
    .is_vendor = true,
    .cite = pl_gemini_cite,
    .list_cites = pl_gemini_list_cites,
    .judge = pl_gemini_judge,
    .has_error_flag = true,
    .detect = detect,
    .read = pl_gemini_read,
    .write = pl_gemini_write,
    .check_form = pl_gemini_check_form,
    .tell = pl_gemini_tell,
    .services = {PL_SERVICE_BIT(PL_SERVICE_CODE), PL_SERVICE_BIT(PL_SERVICE_CODE)},
};
