/* Reads a script line by line; an error names the line. */
#include "model/builtin/demo_script.h"

#include "json/number.h"

/* The arguments of each verb. */
enum shape {
    SHAPE_TEXT,
    SHAPE_NUMBER,
    SHAPE_NUMBER_TEXT,
    SHAPE_TWO_NUMBERS,
    SHAPE_NAME_TEXT,
    SHAPE_NONE
};

static const struct {
    const char *word;
    enum shape shape;
} verbs[] = {
    [PL_DEMO_SAY] = {"say", SHAPE_TEXT},
    [PL_DEMO_THINK] = {"think", SHAPE_TEXT},
    [PL_DEMO_REPEAT] = {"repeat", SHAPE_NUMBER_TEXT},
    [PL_DEMO_TOLD] = {"told", SHAPE_NONE},
    [PL_DEMO_RESULTS] = {"results", SHAPE_NONE},
    [PL_DEMO_WAIT] = {"wait", SHAPE_NUMBER},
    [PL_DEMO_CALL] = {"call", SHAPE_NAME_TEXT},
    [PL_DEMO_BLOCK] = {"block", SHAPE_NAME_TEXT},
    [PL_DEMO_USAGE] = {"usage", SHAPE_TWO_NUMBERS},
    [PL_DEMO_FAIL] = {"fail", SHAPE_TEXT},
    [PL_DEMO_OVERFLOW] = {"overflow", SHAPE_NONE},
    [PL_DEMO_ABOUT] = {"about", SHAPE_TEXT},
    [PL_DEMO_REFUSE] = {"refuse", SHAPE_TWO_NUMBERS},
};

static struct pl_str take_line(struct pl_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct pl_str line = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, end ? n + 1 : n, rest->len);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Takes the bytes up to the next space; the rest begins after it. */
static struct pl_str take_word(struct pl_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, ' ', rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct pl_str word = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, end ? n + 1 : n, rest->len);
    return word;
}

static bool take_number(struct pl_str *rest, int64_t *ret)
{
    struct pl_str word = take_word(rest);
    bool is_plain = word.len > 0 && word.len <= 9;
    for (size_t i = 0; is_plain && i < word.len; i++)
        is_plain = word.ptr[i] >= '0' && word.ptr[i] <= '9';
    return is_plain && pl_json_number_int64(word, ret);
}

static bool read_line(struct pl_str text, struct pl_demo_line *ret)
{
    struct pl_demo_line line = {.verb = PL_DEMO_VERB_COUNT};
    struct pl_str word = take_word(&text);
    for (size_t v = 0; v < PL_DEMO_VERB_COUNT; v++)
        if (pl_str_eq(word, pl_str_of(verbs[v].word)))
            line.verb = (enum pl_demo_verb)v;
    if (line.verb == PL_DEMO_VERB_COUNT)
        return false;
    enum shape shape = verbs[line.verb].shape;
    bool has_number =
        shape == SHAPE_NUMBER || shape == SHAPE_NUMBER_TEXT || shape == SHAPE_TWO_NUMBERS;
    if (has_number && !take_number(&text, &line.number))
        return false;
    if (shape == SHAPE_TWO_NUMBERS && !take_number(&text, &line.number2))
        return false;
    if (shape == SHAPE_NAME_TEXT) {
        line.name = take_word(&text);
        if (!line.name.len)
            return false;
    }
    line.text = text;
    *ret = line;
    return true;
}

enum pl_status pl_demo_script_read(struct pl_str text, size_t part,
                                   struct pl_demo_script *ret_script, struct pl_error *err)
{
    struct pl_str rest = text;
    if (!pl_str_eq(take_line(&rest), PL_STR("#!demo")))
        return PL_NOT_FOUND;
    struct pl_demo_script script = {0};
    size_t at_part = 0, n_line = 1;
    while (rest.len) {
        struct pl_str text_line = take_line(&rest);
        n_line++;
        if (pl_str_eq(text_line, PL_STR("---"))) {
            at_part++;
            continue;
        }
        struct pl_demo_line line;
        if (!text_line.len || at_part != part)
            continue;
        if (!read_line(text_line, &line)) {
            pl_demo_script_deinit(&script);
            return pl_fail(err, PL_SYNTAX, "Line %zu of the demo script is unknown: %.*s", n_line,
                           (int)(text_line.len < 80 ? text_line.len : 80), text_line.ptr);
        }
        if (!pl_vec_push(&script.lines, line)) {
            pl_demo_script_deinit(&script);
            return PL_NOMEM;
        }
    }
    if (part > at_part && !pl_vec_push(&script.lines, (struct pl_demo_line){
                                                          .verb = PL_DEMO_SAY,
                                                          .text = PL_STR("Done."),
                                                      })) {
        pl_demo_script_deinit(&script);
        return PL_NOMEM;
    }
    *ret_script = script;
    return PL_OK;
}

void pl_demo_script_deinit(struct pl_demo_script *script)
{
    pl_vec_deinit(&script->lines);
}
