/* Cuts out the contents of the root's arrays and objects, parses the small document that is left,
 * then maps its offsets back to the whole text. */
#include "json/parse/survey.h"

#include "json/parse/skip.h"

enum { MOST_HOLES = 64 };

/* The contents of a container, without its brackets. */
struct hole {
    size_t from, end;
};

struct surveyor {
    struct pl_str text;
    enum pl_cpu cpu;
    struct pl_json_skip skip;
    struct hole holes[MOST_HOLES];
    size_t n_holes, n_left_out;
};

/* After the closing quote of the string whose opening one is at `at`; SIZE_MAX: not closed. */
static size_t string_end(struct pl_str text, size_t at)
{
    for (size_t from = at + 1; from < text.len;) {
        const char *quote = memchr(text.ptr + from, '"', text.len - from);
        if (!quote)
            return SIZE_MAX;
        size_t end = (size_t)(quote - text.ptr), n_backslashes = 0;
        while (text.ptr[end - 1 - n_backslashes] == '\\')
            n_backslashes++;
        if (n_backslashes % 2 == 0)
            return end + 1;
        from = end + 1;
    }
    return SIZE_MAX;
}

/* After the container that opens at `at`; SIZE_MAX: not closed, or too many containers. */
static size_t container_end(struct surveyor *s, size_t at)
{
    size_t n = pl_json_skip_value(&s->skip, s->cpu, s->text.ptr + at, s->text.len - at);
    if (!n || s->n_holes == MOST_HOLES)
        return SIZE_MAX;
    s->holes[s->n_holes++] = (struct hole){at + 1, at + n - 1};
    s->n_left_out += n - 2;
    return at + n;
}

/* Finds the holes. Reads only containers and strings; the parser checks the rest. */
static bool find_holes(struct surveyor *s)
{
    struct pl_str text = s->text;
    size_t at = 0;
    while (at < text.len && text.ptr[at] != '{')
        at++;
    for (at++; at < text.len;) {
        char c = text.ptr[at];
        if (c == '"')
            at = string_end(text, at);
        else if (c == '{' || c == '[')
            at = container_end(s, at);
        else
            at++;
    }
    return at == text.len;
}

static struct pl_str leave_out(const struct surveyor *s, struct pl_arena *arena)
{
    size_t n = s->text.len - s->n_left_out, n_put = 0, from = 0;
    char *to = pl_arena_alloc(arena, n, 1);
    for (size_t i = 0; to && i <= s->n_holes; i++) {
        size_t end = i < s->n_holes ? s->holes[i].from : s->text.len;
        memcpy(to + n_put, s->text.ptr + from, end - from);
        n_put += end - from;
        from = i < s->n_holes ? s->holes[i].end : end;
    }
    return (struct pl_str){to, to ? n : 0};
}

/* Maps offsets in the small document to offsets in the text. A container's hole is after its first
 * byte. */
static void place_nodes(struct surveyor *s, struct pl_json_survey *survey)
{
    struct pl_json_node *nodes = (struct pl_json_node *)survey->doc.root;
    size_t n_before = 0, i = 0;
    nodes[0].len += (uint32_t)s->n_left_out;
    for (uint32_t k = 1; k < survey->doc.n_nodes; k++) {
        struct pl_json_node *node = &nodes[k];
        node->off += (uint32_t)n_before;
        if (pl_json_is_container(node)) {
            size_t n_inside = s->holes[i].end - s->holes[i].from;
            node->len += (uint32_t)n_inside;
            n_before += n_inside;
            i++;
        } else if (pl_json_kind(node) == PL_JSON_STRING) {
            bool is_long = node->len > PL_JSON_SKIP_LONG;
            survey->n_long += is_long;
            survey->n_text += is_long ? 0 : node->len - 1;
        }
    }
    survey->doc.text = s->text;
    survey->doc.n_space = 0;
}

bool pl_json_survey(struct pl_arena *arena, struct pl_str text, const struct pl_json_opts *opts,
                    struct pl_json_survey *ret_survey)
{
    __attribute__((uninitialized)) struct surveyor s;
    struct pl_json_survey survey = {0};
    if (text.len > PL_JSON_MAX_BYTES)
        return false;
    s.text = text;
    s.cpu = opts && opts->has_cpu ? opts->cpu : pl_cpu_best();
    s.skip = (struct pl_json_skip){0};
    s.n_holes = s.n_left_out = 0;
    if (!find_holes(&s))
        return false;
    struct pl_str left = leave_out(&s, arena);
    if (!left.ptr || pl_json_parse(arena, left, opts, &survey.doc, NULL) != PL_OK ||
        pl_json_kind(survey.doc.root) != PL_JSON_OBJECT)
        return false;
    survey.n_text = s.skip.n_text;
    survey.n_long = s.skip.n_long;
    place_nodes(&s, &survey);
    *ret_survey = survey;
    return true;
}
