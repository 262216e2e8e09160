/* Every case of the web platform's URL tests: urltestdata.json completely, including the base, part
 * by part; the hosts of toascii.json and IdnaTestV2.json in a URL. Differences of libidn2 are
 * listed in url_exceptions.txt with the reason; a listed case that passes is a failure, too. */
#include "conformance/corpora.h"
#include "json/text.h"
#include "wire/url.h"

#include <stdio.h>
#include <stdlib.h>

struct suite {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_str exceptions; /* lines "file<TAB>case<TAB>reason" */
    const char *name;
    struct pl_buf line;
    size_t n_passed, n_excused;
};

static void must(bool is_true, const char *what)
{
    if (is_true)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

/* ptr is NULL if absent or null. */
static struct pl_str member(struct suite *s, const struct pl_json_node *test, const char *name)
{
    struct pl_str text = {0};
    const struct pl_json_node *node = pl_json_get(&s->doc, test, pl_str_of(name));
    if (node && pl_json_kind(node) == PL_JSON_STRING) {
        must(pl_json_text(&s->arena, &s->doc, node, &text) == PL_OK, "out of memory");
        text.ptr = text.ptr ? text.ptr : "";
    }
    return text;
}

/* The raw JSON of input (and base), which has neither tabs nor line breaks. */
static struct pl_str case_name(struct suite *s, const struct pl_json_node *test)
{
    const struct pl_json_node *base = pl_json_get(&s->doc, test, PL_STR("base"));
    pl_buf_clear(&s->line);
    pl_buf_adds(&s->line, s->name);
    pl_buf_addc(&s->line, '\t');
    pl_buf_add(&s->line, pl_json_span(&s->doc, pl_json_get(&s->doc, test, PL_STR("input"))));
    if (base && pl_json_kind(base) == PL_JSON_STRING) {
        pl_buf_addc(&s->line, ' ');
        pl_buf_add(&s->line, pl_json_span(&s->doc, base));
    }
    pl_buf_addc(&s->line, '\t');
    must(s->line.status == PL_OK, "out of memory");
    return pl_buf_str(&s->line);
}

static bool is_excused(const struct suite *s, struct pl_str name)
{
    struct pl_str rest = s->exceptions;
    while (rest.len) {
        if (pl_str_starts(rest, name))
            return true;
        const char *end = memchr(rest.ptr, '\n', rest.len);
        rest =
            end ? pl_str_slice(rest, (size_t)(end - rest.ptr) + 1, rest.len) : (struct pl_str){0};
    }
    return false;
}

/* One TAP point per failed case, and one for all that passed. */
static void settle(struct suite *s, const struct pl_json_node *test, bool is_ok, const char *note)
{
    struct pl_str name = case_name(s, test);
    bool excused = is_excused(s, name);
    s->n_passed += is_ok;
    s->n_excused += excused && !is_ok;
    if (is_ok == excused)
        tap_point(false, "%.*s %s", PL_STR_ARG(name),
                  excused ? "passes and is listed as one that does not" : note);
}

/* --- urltestdata.json ------------------------------------------------------------------------ */

/* `text` after `mark`, or nothing if it is empty: "?a", "". */
static struct pl_str marked(struct suite *s, char mark, struct pl_str text)
{
    if (!text.len)
        return PL_STR("");
    char *to = pl_arena_alloc(&s->arena, text.len + 1, 1);
    must(to, "out of memory");
    to[0] = mark;
    memcpy(to + 1, text.ptr, text.len);
    return (struct pl_str){to, text.len + 1};
}

static const char *compare(struct suite *s, const struct pl_json_node *test,
                           const struct pl_url *url)
{
    struct pl_buf href, port, host, protocol;
    pl_buf_init(&href, 0);
    pl_buf_init(&port, 0);
    pl_buf_init(&host, 0);
    pl_buf_init(&protocol, 0);
    pl_url_write(url, &href);
    if (url->port >= 0)
        pl_buf_addf(&port, "%d", (int)url->port);
    pl_buf_add(&host, url->host);
    if (url->port >= 0)
        pl_buf_addf(&host, ":%d", (int)url->port);
    pl_buf_add(&protocol, url->scheme);
    pl_buf_addc(&protocol, ':');
    const struct {
        const char *name;
        struct pl_str is;
    } parts[] = {
        {"href", pl_buf_str(&href)},
        {"protocol", pl_buf_str(&protocol)},
        {"username", url->username},
        {"password", url->password},
        {"host", pl_buf_str(&host)},
        {"hostname", url->host},
        {"port", pl_buf_str(&port)},
        {"pathname", url->path},
        {"search", marked(s, '?', url->query)},
        {"hash", marked(s, '#', url->fragment)},
    };
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !wrong; i++)
        if (pl_json_get(&s->doc, test, pl_str_of(parts[i].name)) &&
            !pl_str_eq(parts[i].is, member(s, test, parts[i].name)))
            wrong = parts[i].name;
    pl_buf_deinit(&href);
    pl_buf_deinit(&port);
    pl_buf_deinit(&host);
    pl_buf_deinit(&protocol);
    return wrong;
}

static void run_url(struct suite *s, const struct pl_json_node *test)
{
    struct pl_str input = member(s, test, "input"), base_text = member(s, test, "base");
    struct pl_url base, url;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (base_text.ptr)
        status = pl_url_parse(&s->arena, base_text, NULL, &base, &err);
    if (status == PL_OK)
        status = pl_url_parse(&s->arena, input, base_text.ptr ? &base : NULL, &url, &err);
    must(status == PL_OK || status == PL_SYNTAX, "neither read nor refused");
    bool must_fail = pl_json_get(&s->doc, test, PL_STR("failure")) != NULL;
    if (must_fail || status != PL_OK) {
        settle(s, test, must_fail == (status != PL_OK),
               must_fail ? "is read and should not be" : err.message);
        return;
    }
    const char *wrong = compare(s, test, &url);
    settle(s, test, !wrong, wrong);
}

/* --- toascii.json, IdnaTestV2.json ----------------------------------------------------------- */

static void run_host(struct suite *s, const struct pl_json_node *test)
{
    struct pl_str input = member(s, test, "input"), output = member(s, test, "output");
    struct pl_buf text;
    struct pl_url url;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "https://");
    pl_buf_add(&text, input);
    pl_buf_adds(&text, "/x");
    enum pl_status status = pl_url_parse(&s->arena, pl_buf_str(&text), NULL, &url, NULL);
    bool is_ok = output.ptr ? status == PL_OK && pl_str_eq(url.host, output) &&
                                  pl_str_eq(url.path, PL_STR("/x"))
                            : status == PL_SYNTAX;
    settle(s, test, is_ok, status != PL_OK ? "is refused" : "gives another host");
    pl_buf_deinit(&text);
}

static void run_file(const char *name, struct pl_str exceptions,
                     void (*run)(struct suite *, const struct pl_json_node *))
{
    struct suite s = {.name = name, .exceptions = exceptions};
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_str text;
    char path[64];
    snprintf(path, sizeof path, "wpt/url/resources/%s.json", name);
    char *found = corpora_find(path);
    must(found, "a file of the suite is missing");
    char *bytes = corpora_read(found, &text.len);
    text.ptr = bytes;
    size_t n = 0;
    pl_arena_init(&s.arena, 0);
    pl_buf_init(&s.line, 0);
    must(pl_json_parse(&s.arena, text, &opts, &s.doc, NULL) == PL_OK, "the suite is no JSON");
    for (const struct pl_json_node *test = pl_json_first(s.doc.root);
         test < pl_json_end(s.doc.root); test = pl_json_next(test)) {
        if (pl_json_kind(test) != PL_JSON_OBJECT)
            continue; /* a remark */
        if (run == run_host && !member(&s, test, "input").len)
            continue; /* no host: the path would become one */
        n++;
        run(&s, test);
    }
    tap_point(n > 50 && s.n_passed + s.n_excused == n,
              "%s: %zu cases, %zu pass, %zu by libidn2 otherwise", name, n, s.n_passed,
              s.n_excused);
    pl_buf_deinit(&s.line);
    pl_arena_deinit(&s.arena);
    free(bytes);
    free(found);
}

int main(void)
{
    char *dir = corpora_find("wpt/url/resources");
    if (!dir)
        return tap_skip_all("no wpt/url in the corpora");
    free(dir);
    struct pl_str exceptions;
    char *bytes =
        corpora_read(PL_SOURCE_ROOT "/tests/conformance/url_exceptions.txt", &exceptions.len);
    exceptions.ptr = bytes;
    run_file("urltestdata", exceptions, run_url);
    run_file("toascii", exceptions, run_host);
    run_file("IdnaTestV2", exceptions, run_host);
    free(bytes);
    return tap_end();
}
