/* parley prompt diff: shows changes block by block and word by word. */
#include "app/prompt/prompt_int.h"
#include "app/chat/turn_show.h"
#include "base/ascii.h"

enum { CONTEXT_LINES = 3 };

/* Prints text; at a terminal control characters are escaped. */
static void put_text(struct pl_deed *deed, struct pl_str text)
{
    if (deed->console->out_is_terminal)
        pl_show_text(deed->console, text, 0);
    else
        pl_console_put(deed->console, text);
}

/* The end of the first n lines; lines_start: the start of the last n. */
static size_t lines_end(struct pl_str text, size_t n)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n' && --n == 0)
            return i;
    return text.len;
}

static size_t lines_start(struct pl_str text, size_t n)
{
    for (size_t i = text.len; i > 0; i--)
        if (text.ptr[i - 1] == '\n' && --n == 0)
            return i;
    return 0;
}

/* Prints unchanged text near a change, and leaves out the rest. */
static void put_same(struct pl_deed *deed, struct pl_str text, bool is_first, bool is_last)
{
    size_t head = is_first ? 0 : lines_end(text, CONTEXT_LINES);
    size_t tail = is_last ? text.len : lines_start(text, CONTEXT_LINES + 1);
    if (head >= tail) {
        put_text(deed, text);
        return;
    }
    put_text(deed, pl_str_slice(text, 0, head));
    pl_console_puts(deed->console, is_first ? "...\n" : is_last ? "\n..." : "\n...\n");
    put_text(deed, pl_str_slice(text, tail, text.len));
}

static const struct mark {
    const char *op, *before, *after;
    enum pl_style style;
} marks[] = {
    {"removed", "[-", "-]", PL_STYLE_BAD},
    {"added", "{+", "+}", PL_STYLE_GOOD},
};

static void put_changed(struct pl_deed *deed, const struct mark *mark, struct pl_str text)
{
    bool has_color = deed->console->has_color_out;
    pl_console_style(deed->console, mark->style);
    pl_console_puts(deed->console, has_color ? "" : mark->before);
    put_text(deed, text);
    pl_console_puts(deed->console, has_color ? "" : mark->after);
    pl_console_style(deed->console, PL_STYLE_PLAIN);
}

/* Words include the white space after them. White space at the end of both did not change. If there
 * is only one, its line breaks come after the mark. */
static size_t common_space(struct pl_str a, struct pl_str b)
{
    size_t n = 0;
    bool is_alone = !b.ptr;
    while (n + 1 < a.len && (is_alone || n + 1 < b.len)) {
        char c = a.ptr[a.len - 1 - n];
        if (is_alone ? c != '\n' : !pl_ascii_is_white(c) || c != b.ptr[b.len - 1 - n])
            break;
        n++;
    }
    return n;
}

static const struct mark *mark_of(struct pl_str op)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (pl_str_eq(op, pl_str_of(marks[i].op)))
            return &marks[i];
    return NULL;
}

static void put_words(struct pl_deed *deed, const struct pl_json_doc *doc,
                      const struct pl_json_node *words)
{
    struct pl_texts *texts = &deed->api.texts;
    const struct pl_json_node *end = pl_json_end(words);
    for (const struct pl_json_node *word = pl_json_first(words); word < end;) {
        const struct pl_json_node *next = pl_json_next(word);
        const struct mark *mark = mark_of(pl_api_text(texts, doc, word, "op"));
        struct pl_str text = pl_api_text(texts, doc, word, "text"), other = {0};
        bool is_pair = mark == &marks[0] && next < end &&
                       mark_of(pl_api_text(texts, doc, next, "op")) == &marks[1];
        if (!mark) {
            put_same(deed, text, word == pl_json_first(words), next == end);
            word = next;
            continue;
        }
        if (is_pair)
            other = pl_api_text(texts, doc, next, "text");
        size_t n_space = common_space(text, other);
        put_changed(deed, mark, pl_str_slice(text, 0, text.len - n_space));
        if (is_pair)
            put_changed(deed, &marks[1], pl_str_slice(other, 0, other.len - n_space));
        put_text(deed, pl_str_slice(text, text.len - n_space, text.len));
        word = is_pair ? pl_json_next(next) : next;
    }
    pl_console_puts(deed->console, "\n");
}

static void put_block(struct pl_deed *deed, const struct pl_json_doc *doc,
                      const struct pl_json_node *block)
{
    struct pl_texts *texts = &deed->api.texts;
    const struct pl_json_node *words = pl_json_member(doc, block, "words", PL_JSON_ARRAY);
    struct pl_str change = pl_api_text(texts, doc, block, "change");
    struct pl_str role = pl_api_text(texts, doc, block, "role");
    struct pl_str id = pl_api_text(texts, doc, block, "id");
    if (pl_str_eq(change, PL_STR("same")))
        return;
    pl_console_style(deed->console, PL_STYLE_BOLD);
    pl_console_puts(deed->console, "--- ");
    if (pl_str_eq(change, PL_STR("moved_changed")))
        change = PL_STR("moved and changed");
    pl_console_put_safe(deed->console, change);
    if (role.len && !pl_str_eq(role, id)) {
        pl_console_puts(deed->console, " ");
        pl_console_put_safe(deed->console, role);
    }
    pl_console_puts(deed->console, " ");
    pl_console_put_safe(deed->console, id);
    if (pl_str_starts(change, PL_STR("moved")))
        pl_console_putf(deed->console, " (from position %lld to %lld)",
                        (long long)pl_api_int(doc, block, "from_index", 0) + 1,
                        (long long)pl_api_int(doc, block, "to_index", 0) + 1);
    pl_console_style(deed->console, PL_STYLE_PLAIN);
    pl_console_puts(deed->console, "\n");
    if (words && pl_json_count(words))
        put_words(deed, doc, words);
}

static void put_value(struct pl_deed *deed, const struct pl_json_doc *doc,
                      const struct pl_json_node *member, const struct mark *mark, const char *name)
{
    enum { MAX_VALUE = 400 };
    const struct pl_json_node *value = pl_json_get(doc, member, pl_str_of(name));
    if (!value)
        return;
    pl_console_puts(deed->console, " ");
    put_changed(deed, mark, pl_line_of(&deed->api.texts, pl_json_span(doc, value), MAX_VALUE));
}

static void put_member(struct pl_deed *deed, const struct pl_json_doc *doc,
                       const struct pl_json_node *member)
{
    pl_console_style(deed->console, PL_STYLE_BOLD);
    pl_console_puts(deed->console, "--- ");
    pl_console_put_safe(deed->console, pl_api_text(&deed->api.texts, doc, member, "change"));
    pl_console_puts(deed->console, " ");
    pl_console_put_safe(deed->console, pl_api_text(&deed->api.texts, doc, member, "pointer"));
    pl_console_style(deed->console, PL_STYLE_PLAIN);
    put_value(deed, doc, member, &marks[0], "from");
    put_value(deed, doc, member, &marks[1], "to");
    pl_console_puts(deed->console, "\n");
}

void pl_show_diff(struct pl_deed *deed, const struct pl_json_doc *doc,
                  const struct pl_json_node *diff)
{
    const struct pl_json_node *blocks = pl_json_member(doc, diff, "blocks", PL_JSON_ARRAY);
    const struct pl_json_node *members = pl_json_member(doc, diff, "members", PL_JSON_ARRAY);
    for (const struct pl_json_node *block = blocks ? pl_json_first(blocks) : NULL;
         block && block < pl_json_end(blocks); block = pl_json_next(block))
        put_block(deed, doc, block);
    for (const struct pl_json_node *member = members ? pl_json_first(members) : NULL;
         member && member < pl_json_end(members); member = pl_json_next(member))
        put_member(deed, doc, member);
}

/* Reads the draft as the type of the version, so that a YAML file is parsed. */
static enum pl_exit ask_draft(struct pl_deed *deed, const char *id, const char *from,
                              const char *file)
{
    enum pl_exit code = pl_deed_ask(
        deed, "GET", pl_api_path(&deed->api, "/api/prompts/%/versions/%", id, from, NULL));
    if (code != PL_EXIT_OK)
        return code;
    bool is_structured =
        pl_str_eq(pl_deed_text(deed, deed->answer.root, "type"), PL_STR("structured"));
    struct pl_draft draft;
    code = pl_draft_read_file(
        deed, file, pl_draft_type_of(deed, is_structured ? PL_DRAFT_STRUCTURED : PL_DRAFT_TEXT),
        &draft);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_draft_out(deed, &draft);
    pl_json_out_close(&deed->out, '}');
    return pl_deed_ask(deed, "POST",
                       pl_api_path(&deed->api, "/api/prompts/%/versions/%/diff", id, from, NULL));
}

enum pl_exit pl_verb_prompt_diff(struct pl_deed *deed)
{
    const char *file = pl_deed_option(deed, PL_OPT_FILE), *id;
    const char *from = deed->words[1], *to = deed->n_words > 2 ? deed->words[2] : "latest";
    if (file && deed->n_words > 2)
        return pl_deed_usage(deed, "--file compares the version with a file; remove \"%s\"", to);
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK && file)
        code = ask_draft(deed, id, from, file);
    else if (code == PL_EXIT_OK)
        code = pl_deed_ask(
            deed, "GET",
            pl_api_path(&deed->api, "/api/prompts/%/versions/%/diff/%", id, from, to, NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (deed->api.is_json)
        (void)pl_deed_print(deed);
    else
        pl_show_diff(deed, &deed->answer, deed->answer.root);
    return pl_json_member(&deed->answer, deed->answer.root, "is_same", PL_JSON_TRUE) ? PL_EXIT_OK
                                                                                     : PL_EXIT_NO;
}
