/* Asks the questions of a session at the terminal: options by number or as free text, confirmations
 * by y or n, and capabilities of an extension also for the session or always. */
#include "app/chat/chat_int.h"
#include "app/table/columns.h"
#include "app/chat/turn_show.h"

#include "terminal/safe.h"
#include "words/words.h"

#include <stdio.h>

enum { MAX_ARGUMENTS = 4000, MAX_OPTIONS = 30 };

static const char *word(const struct pl_talk *talk, const char *english)
{
    return pl_console_word(talk->deed->console, english);
}

/* --- an answer ------------------------------------------------------------------------------- */

/* The option with this number, NULL if there is none. */
static const struct pl_json_node *option_of(const struct pl_json_node *options, struct pl_str word)
{
    uint64_t n = 0;
    char digits[8] = "";
    if (!options || !word.len || word.len >= sizeof digits)
        return NULL;
    memcpy(digits, word.ptr, word.len);
    if (!pl_option_read_count(digits, pl_json_count(options), &n))
        return NULL;
    const struct pl_json_node *option = pl_json_first(options);
    while (--n)
        option = pl_json_next(option);
    return option;
}

static struct pl_str take_word(struct pl_str *rest)
{
    while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == ','))
        *rest = pl_str_slice(*rest, 1, rest->len);
    size_t n = 0;
    while (n < rest->len && rest->ptr[n] != ' ' && rest->ptr[n] != ',')
        n++;
    struct pl_str word = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n, rest->len);
    return word;
}

static bool is_numbers(const struct pl_json_node *options, struct pl_str line)
{
    bool has_any = false;
    for (struct pl_str rest = line, word; (word = take_word(&rest)).len; has_any = true)
        if (!option_of(options, word))
            return false;
    return has_any;
}

/* Writes the labels of the numbers, or the line as free text. */
static void out_answer(struct pl_texts *texts, const struct pl_json_doc *doc,
                       const struct pl_json_node *question, struct pl_str line,
                       struct pl_json_out *out)
{
    const struct pl_json_node *options = pl_json_member(doc, question, "options", PL_JSON_ARRAY);
    bool is_many = pl_json_member(doc, question, "multiSelect", PL_JSON_TRUE);
    const struct pl_json_node *option = option_of(options, line);
    if (is_many && is_numbers(options, line)) {
        pl_json_out_open(out, '[');
        for (struct pl_str rest = line, word; (word = take_word(&rest)).len;)
            pl_json_out_text(out, pl_api_text(texts, doc, option_of(options, word), "label"));
        pl_json_out_close(out, ']');
    } else if (option) {
        pl_json_out_text(out, pl_api_text(texts, doc, option, "label"));
    } else {
        pl_json_out_text(out, line);
    }
}

/* --- showing --------------------------------------------------------------------------------- */

/* "label: description", printable; owned by `texts`. */
static struct pl_str label_of(struct pl_texts *texts, const struct pl_json_doc *doc,
                              const struct pl_json_node *option)
{
    struct pl_str description = pl_api_text(texts, doc, option, "description");
    PL_CLEANUP_BUF struct pl_buf label;
    pl_buf_init(&label, 0);
    pl_safe_add(&label, pl_api_text(texts, doc, option, "label"));
    pl_buf_adds(&label, description.len ? ": " : "");
    pl_safe_add(&label, description);
    struct pl_str kept = label.status == PL_OK ? pl_arena_dup(&texts->arena, pl_buf_str(&label))
                                               : (struct pl_str){0};
    texts->is_cut = texts->is_cut || (!kept.ptr && label.len);
    return kept;
}

static void show_question(struct pl_talk *talk, const struct pl_json_doc *doc,
                          const struct pl_json_node *question)
{
    struct pl_console *console = talk->deed->console;
    struct pl_texts *texts = &talk->deed->api.texts;
    const struct pl_json_node *options = pl_json_member(doc, question, "options", PL_JSON_ARRAY);
    int n = 0;
    pl_console_style(console, PL_STYLE_BOLD);
    pl_show_text(console, pl_api_text(texts, doc, question, "question"), 0);
    pl_console_style(console, PL_STYLE_PLAIN);
    pl_console_puts(console, "\n");
    bool is_listed = !talk->has_editor || (options && pl_json_count(options) > MAX_OPTIONS);
    for (const struct pl_json_node *option = options && is_listed ? pl_json_first(options) : NULL;
         option && option < pl_json_end(options); option = pl_json_next(option)) {
        pl_console_putf(console, "  %d) ", ++n);
        pl_console_put(console, label_of(texts, doc, option));
        pl_console_puts(console, "\n");
    }
}

/* Shows the call that needs approval, with its arguments, from its turn. */
static void show_call(struct pl_talk *talk, struct pl_str turn_id, struct pl_str call_id)
{
    struct pl_deed *deed = talk->deed;
    const char *kept = pl_deed_keep(deed, turn_id);
    const char *path = pl_api_path(&deed->api, "/api/sessions/%/turns/%", talk->session_id,
                                   kept ? kept : "", NULL);
    if (!kept || pl_deed_ask(deed, "GET", path) != PL_EXIT_OK)
        return;
    const struct pl_json_node *calls =
        pl_json_member(&deed->answer, deed->answer.root, "tool_calls", PL_JSON_ARRAY);
    for (const struct pl_json_node *call = calls ? pl_json_first(calls) : NULL;
         call && call < pl_json_end(calls); call = pl_json_next(call)) {
        if (!pl_str_eq(pl_deed_text(deed, call, "id"), call_id))
            continue;
        struct pl_str arguments = pl_deed_text(deed, call, "arguments");
        pl_console_puts(deed->console, "[");
        pl_console_put_safe(deed->console, pl_deed_text(deed, call, "tool_name"));
        pl_console_puts(deed->console, "] ");
        pl_show_text(deed->console, pl_str_slice(arguments, 0, MAX_ARGUMENTS), 0);
        pl_console_puts(deed->console, arguments.len > MAX_ARGUMENTS ? "…\n" : "\n");
    }
}

/* --- asking ---------------------------------------------------------------------------------- */

/* Asks a question by a menu: its options, and one for free text. *ret_is_words: the user chose free
 * text. */
static enum pl_status choose(struct pl_talk *talk, const struct pl_json_doc *doc,
                             const struct pl_json_node *question, struct pl_json_out *out,
                             bool *ret_is_words)
{
    static const char keys[] = "123456789abcdefghijklmnopqrstuvwxyz";
    struct pl_texts *texts = &talk->deed->api.texts;
    const struct pl_json_node *options = pl_json_member(doc, question, "options", PL_JSON_ARRAY);
    struct pl_menu_item items[sizeof keys];
    size_t n = 0;
    for (const struct pl_json_node *option = pl_json_first(options);
         option < pl_json_end(options) && n + 2 < sizeof keys; option = pl_json_next(option), n++)
        items[n] = (struct pl_menu_item){keys[n], label_of(texts, doc, option)};
    items[n] =
        (struct pl_menu_item){keys[n], pl_str_of(word(talk, "something else, in your own words"))};
    struct pl_menu menu = {.items = items, .n_items = n + 1, .n_alone = 1};
    menu.is_many = pl_json_member(doc, question, "multiSelect", PL_JSON_TRUE);
    enum pl_status status = pl_typing_choose(&talk->typing, &menu);
    *ret_is_words = status == PL_OK && menu.at == n && !menu.marked;
    if (status != PL_OK || *ret_is_words)
        return status;
    uint64_t taken = menu.is_many ? menu.marked : (uint64_t)1 << menu.at;
    size_t i = 0;
    if (menu.is_many)
        pl_json_out_open(out, '[');
    for (const struct pl_json_node *option = pl_json_first(options); i < n;
         option = pl_json_next(option), i++) {
        if (!(taken >> i & 1))
            continue;
        pl_json_out_text(out, pl_api_text(texts, doc, option, "label"));
        pl_console_puts(talk->deed->console, "  ");
        pl_console_put(talk->deed->console, items[i].label);
        pl_console_puts(talk->deed->console, "\n");
    }
    if (menu.is_many)
        pl_json_out_close(out, ']');
    return PL_OK;
}

/* Asks by a menu if there is an editor and there are options; otherwise by a line. */
static enum pl_status ask_question(struct pl_talk *talk, const struct pl_json_doc *doc,
                                   const struct pl_json_node *question, struct pl_json_out *out,
                                   struct pl_error *err)
{
    const struct pl_json_node *options = pl_json_member(doc, question, "options", PL_JSON_ARRAY);
    size_t n_options = options ? pl_json_count(options) : 0;
    bool is_words = true;
    struct pl_str line;
    show_question(talk, doc, question);
    pl_json_out_key_str(out, pl_api_text(&talk->deed->api.texts, doc, question, "question"));
    if (talk->has_editor && n_options && n_options <= MAX_OPTIONS) {
        enum pl_status status = choose(talk, doc, question, out, &is_words);
        if (status != PL_OK || !is_words)
            return status;
    }
    enum pl_status status = pl_talk_read_words(
        talk, word(talk, talk->has_editor ? "answer> " : "number or text> "), &line, err);
    if (status != PL_OK)
        return status;
    out_answer(&talk->deed->api.texts, doc, question, line, out);
    return PL_OK;
}

/* Writes {"answer":{"the question":"the answer", …}}. */
static enum pl_status ask_all(struct pl_talk *talk, const struct pl_json_doc *doc,
                              const struct pl_json_node *list, struct pl_json_out *out,
                              struct pl_error *err)
{
    pl_json_out_open(out, '{');
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one)) {
        enum pl_status status = ask_question(talk, doc, one, out, err);
        if (status != PL_OK)
            return status;
    }
    pl_json_out_close(out, '}');
    return PL_OK;
}

/* The possible answers to a kind of confirmation. Consent to a capability can be remembered, for
 * the session or forever. */
struct consent {
    const char *prompt; /* without the editor */
    struct pl_menu_item items[4];
    size_t n_items, no; /* `no` is the initial selection */
    size_t reason;      /* the item that asks for a reason; n_items: there is none */
};
static const struct consent confirmation = {
    "y or n> ", {{'y', {"yes", 3}}, {'n', {"no", 2}}, {'r', {"no, for a reason", 16}}}, 3, 1, 2};
static const struct consent capability = {"y, s (for this session), a (always) or n> ",
                                          {{'y', {"yes, this once", 14}},
                                           {'s', {"yes, for this session", 21}},
                                           {'a', {"yes, always", 11}},
                                           {'n', {"no", 2}}},
                                          4,
                                          3,
                                          4};

/* Reads the key of the answer, or a reason for no. `room` holds the key. */
static enum pl_status read_consent(struct pl_talk *talk, const struct consent *consent,
                                   char room[1], struct pl_str *ret_line, struct pl_error *err)
{
    struct pl_menu_item items[4] = {0};
    struct pl_menu menu = {.items = items, .n_items = consent->n_items, .at = consent->no};
    if (!talk->has_editor)
        return pl_talk_read(talk, word(talk, consent->prompt), ret_line, err);
    for (size_t i = 0; i < consent->n_items; i++)
        items[i] = (struct pl_menu_item){consent->items[i].key,
                                         pl_str_of(word(talk, consent->items[i].label.ptr))};
    enum pl_status status = pl_typing_choose(&talk->typing, &menu);
    if (status != PL_OK)
        return status;
    if (menu.at == consent->reason)
        return pl_talk_read_words(talk, word(talk, "reason> "), ret_line, err);
    room[0] = items[menu.at].key;
    *ret_line = (struct pl_str){room, 1};
    pl_console_puts(talk->deed->console, "  ");
    pl_console_put(talk->deed->console, items[menu.at].label);
    pl_console_puts(talk->deed->console, "\n");
    return PL_OK;
}

/* The confirmation text of the server, translated if a translation is known. */
static struct pl_str question_of_server(struct pl_talk *talk, const struct pl_json_doc *doc,
                                        const struct pl_json_node *question)
{
    struct pl_texts *texts = &talk->deed->api.texts;
    struct pl_str english = pl_api_text(texts, doc, question, "question");
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    if (!talk->deed->console->is_chinese || !pl_words_add(&said, english) || said.status != PL_OK)
        return english;
    struct pl_str kept = pl_arena_dup(&texts->arena, pl_buf_str(&said));
    return kept.ptr ? kept : english;
}

/* Meaning of a line; `remember` only for capabilities. */
static const struct {
    const char *word;
    bool is_yes;
    const char *remember;
} words[] = {{"y", true, NULL},     {"yes", true, NULL},       {"n", false, NULL},
             {"no", false, NULL},   {"s", true, "session"},    {"session", true, "session"},
             {"a", true, "always"}, {"always", true, "always"}};

/* Writes {"approve":true,"arguments_hash":…}. A line that is neither yes nor no means no, with the
 * line as the reason. */
static enum pl_status ask_yes(struct pl_talk *talk, const struct pl_json_doc *doc,
                              const struct pl_json_node *question, const struct pl_json_node *list,
                              struct pl_json_out *out, struct pl_error *err)
{
    struct pl_texts *texts = &talk->deed->api.texts;
    bool is_capability = pl_str_eq(pl_api_text(texts, doc, question, "kind"), PL_STR("capability"));
    char room[1];
    struct pl_str line, hash = pl_api_text(texts, doc, pl_json_first(list), "arguments_hash");
    show_call(talk, pl_api_text(texts, doc, question, "turn_id"),
              pl_api_text(texts, doc, question, "tool_call_id"));
    pl_console_style(talk->deed->console, PL_STYLE_BOLD);
    pl_show_text(talk->deed->console, question_of_server(talk, doc, pl_json_first(list)), 0);
    pl_console_style(talk->deed->console, PL_STYLE_PLAIN);
    pl_console_puts(talk->deed->console, "\n");
    enum pl_status status =
        read_consent(talk, is_capability ? &capability : &confirmation, room, &line, err);
    if (status != PL_OK)
        return status;
    size_t i = 0, n = sizeof words / sizeof *words;
    while (i < n &&
           (!pl_str_eq(line, pl_str_of(words[i].word)) || (words[i].remember && !is_capability)))
        i++;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "approve");
    pl_json_out_bool(out, i < n && words[i].is_yes);
    if (i < n && words[i].remember) {
        pl_json_out_key(out, "remember");
        pl_json_out_text(out, pl_str_of(words[i].remember));
    }
    if (i == n) {
        pl_json_out_key(out, "reason");
        pl_json_out_text(out, line);
    }
    if (hash.len) {
        pl_json_out_key(out, "arguments_hash");
        pl_json_out_text(out, hash);
    }
    pl_json_out_close(out, '}');
    return PL_OK;
}

static enum pl_exit ask_one(struct pl_talk *talk, const struct pl_json_doc *doc,
                            const struct pl_json_node *question)
{
    struct pl_deed *deed = talk->deed;
    struct pl_error err = {0};
    const struct pl_json_node *list = pl_json_member(doc, question, "questions", PL_JSON_ARRAY);
    const char *id =
        pl_deed_keep(deed, pl_api_text(&deed->api.texts, doc, question, "tool_call_id"));
    if (!list || !pl_json_count(list) || !id)
        return pl_deed_stop(deed, PL_NOMEM);
    bool is_ask = pl_str_eq(pl_api_text(&deed->api.texts, doc, question, "kind"), PL_STR("ask"));
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    struct pl_json_out out = pl_json_out(&answer);
    enum pl_status status = is_ask ? ask_all(talk, doc, list, &out, &err)
                                   : ask_yes(talk, doc, question, list, &out, &err);
    if (status == PL_NOT_FOUND) {
        pl_console_say(deed->console,
                       "the question is still open; \"parley chat --session %s\" "
                       "continues",
                       talk->session_id);
        return PL_EXIT_NO;
    }
    if (status != PL_OK || answer.status != PL_OK)
        return pl_deed_fail(deed, status != PL_OK ? status : answer.status, &err);
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "answer");
    pl_json_out_raw(&deed->out, pl_buf_str(&answer));
    pl_json_out_close(&deed->out, '}');
    return pl_deed_ask(
        deed, "POST",
        pl_api_path(&deed->api, "/api/sessions/%/questions/%/answer", talk->session_id, id, NULL));
}

enum pl_exit pl_talk_ask_person(struct pl_talk *talk, bool *ret_was_asked)
{
    struct pl_deed *deed = talk->deed;
    enum pl_exit code = pl_deed_ask(
        deed, "GET", pl_api_path(&deed->api, "/api/sessions/%/questions", talk->session_id, NULL));
    struct pl_json_doc list = deed->answer;
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *items =
        list.root && pl_json_kind(list.root) == PL_JSON_ARRAY
            ? list.root
            : pl_json_member(&list, list.root, "items", PL_JSON_ARRAY);
    *ret_was_asked = items && pl_json_count(items);
    for (const struct pl_json_node *one = items ? pl_json_first(items) : NULL;
         one && one < pl_json_end(items) && code == PL_EXIT_OK; one = pl_json_next(one))
        code = ask_one(talk, &list, one);
    return code;
}
