/* Reads keys, passes them to the editor or the menu, and draws. While nothing is read, typed keys
 * stay in the kernel and are not echoed into an answer. */
#include "app/chat/typing.h"

#include "app/chat/typed_file.h"
#include "io/system/terminal_raw.h"
#include "terminal/safe.h"
#include "terminal/width.h"

enum { PIECE = 4096, ESCAPE_MS = 50 };

enum pl_status pl_typing_begin(struct pl_typing *typing, struct pl_console *console,
                               const char *path, size_t max_bytes, struct pl_error *err)
{
    *typing = (struct pl_typing){.console = console, .path = path};
    pl_keys_init(&typing->keys);
    pl_buf_init(&typing->ahead, 0);
    pl_editor_init(&typing->editor, &typing->typed, max_bytes);
    enum pl_status status = path ? pl_typed_file_read(path, &typing->typed, err) : PL_OK;
    if (status != PL_OK && status != PL_NOMEM) { /* the chat works without a history */
        pl_console_say(console, "%s cannot be read, so there is no history: %s", path,
                       err->message);
        typing->path = NULL;
        status = PL_OK;
    }
    return status == PL_OK ? pl_raw_begin(err) : status;
}

void pl_typing_end(struct pl_typing *typing)
{
    pl_raw_end();
    pl_keys_deinit(&typing->keys);
    pl_editor_deinit(&typing->editor);
    pl_typed_deinit(&typing->typed);
    pl_buf_deinit(&typing->ahead);
}

static void flush(struct pl_typing *typing)
{
    pl_console_settle(typing->console);
}

static void draw(struct pl_typing *typing)
{
    pl_editor_draw(&typing->editor, &typing->look, pl_console_out(typing->console));
    flush(typing);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* Reads the next key. False if none came; *ret_event is what came instead. */
static bool next_key(struct pl_typing *typing, struct pl_key *ret_key, enum pl_raw_event *ret_event,
                     enum pl_status *ret_status)
{
    char bytes[PIECE];
    size_t n = 0;
    *ret_status = PL_OK;
    if (pl_keys_next(&typing->keys, ret_key))
        return true;
    int timeout_ms = pl_keys_is_cut(&typing->keys) ? ESCAPE_MS : -1;
    *ret_event = pl_raw_read(bytes, sizeof bytes, timeout_ms, &n);
    if (*ret_event == PL_RAW_SILENCE)
        pl_keys_settle(&typing->keys);
    if (*ret_event == PL_RAW_BYTES)
        *ret_status = pl_keys_feed(&typing->keys, (struct pl_str){bytes, n});
    if (typing->keys.status != PL_OK)
        *ret_status = typing->keys.status;
    return *ret_status == PL_OK && pl_keys_next(&typing->keys, ret_key);
}

static void measure(struct pl_typing *typing)
{
    pl_terminal_size(&typing->look.columns, &typing->look.rows);
}

/* Keeps the keys pressed so far for the next message. */
static enum pl_status set_aside(struct pl_typing *typing)
{
    char bytes[PIECE];
    size_t n = 0;
    pl_keys_give_back(&typing->keys, &typing->ahead);
    while (pl_raw_read(bytes, sizeof bytes, 0, &n) == PL_RAW_BYTES)
        pl_buf_add(&typing->ahead, (struct pl_str){bytes, n});
    enum pl_status status = typing->ahead.status;
    typing->ahead.status = PL_OK;
    return status;
}

static enum pl_status bring_back(struct pl_typing *typing)
{
    enum pl_status status = pl_keys_feed(&typing->keys, pl_buf_str(&typing->ahead));
    pl_buf_clear(&typing->ahead);
    return status;
}

/* --- completion ------------------------------------------------------------------------------ */

void pl_completion_offer(struct pl_completion *completion, struct pl_str typed, struct pl_str word)
{
    if (!pl_str_starts(word, typed) || !word.len || memchr(word.ptr, '\0', word.len))
        return;
    pl_buf_add(&completion->words, word);
    pl_buf_addc(&completion->words, '\0');
    completion->n_words++;
}

static struct pl_str common_beginning(const struct pl_completion *completion)
{
    const char *at = completion->words.ptr;
    struct pl_str common = pl_str_of(at);
    for (size_t i = 1; i < completion->n_words; i++) {
        at += strlen(at) + 1;
        size_t n = 0;
        while (n < common.len && at[n] == common.ptr[n])
            n++;
        while (n && ((unsigned char)common.ptr[n] & 0xC0) == 0x80)
            n--; /* do not split a character */
        common.len = n;
    }
    return common;
}

static void list_words(struct pl_typing *typing, const struct pl_completion *completion)
{
    struct pl_buf *out = pl_console_out(typing->console);
    const char *at = completion->words.ptr;
    size_t column = 0;
    pl_editor_leave(&typing->editor, &typing->look, out);
    for (size_t i = 0; i < completion->n_words; i++, at += strlen(at) + 1) {
        size_t cells = pl_width(pl_str_of(at)) + 2;
        if (column && column + cells >= typing->look.columns) {
            pl_buf_adds(out, "\r\n");
            column = 0;
        }
        pl_safe_add(out, pl_str_of(at));
        pl_buf_adds(out, "  ");
        column += cells;
    }
    pl_buf_adds(out, "\r\n");
}

static void complete(struct pl_typing *typing)
{
    struct pl_editor *editor = &typing->editor;
    struct pl_str before = pl_str_slice(pl_editor_text(editor), 0, editor->cursor);
    struct pl_completion completion = {.from = before.len};
    pl_buf_init(&completion.words, 0);
    if (typing->complete)
        typing->complete(typing->ctx, before, &completion);
    if (completion.n_words && completion.words.status == PL_OK) {
        size_t n_typed = before.len - completion.from, cursor = editor->cursor;
        struct pl_str common = common_beginning(&completion);
        bool is_folder = common.len && common.ptr[common.len - 1] == '/';
        if (common.len > n_typed || completion.n_words == 1)
            pl_editor_replace(editor, completion.from, common);
        else
            list_words(typing, &completion);
        if (completion.n_words > 1 && common.len <= n_typed)
            editor->cursor = cursor;
        if (completion.n_words == 1 && !is_folder) {
            struct pl_key space = {PL_KEY_TEXT, PL_STR(" ")};
            (void)pl_editor_take(editor, &space);
        }
    }
    pl_buf_deinit(&completion.words);
}

/* --- a message ------------------------------------------------------------------------------- */

static void leave(struct pl_typing *typing)
{
    pl_editor_leave(&typing->editor, &typing->look, pl_console_out(typing->console));
    flush(typing);
}

static void keep(struct pl_typing *typing, struct pl_str text)
{
    struct pl_error err = {0};
    enum pl_status status = pl_typed_add(&typing->typed, text);
    if (status == PL_OK && typing->path)
        status = pl_typed_file_add(typing->path, text, &err);
    if (status == PL_OK)
        return;
    pl_console_say(typing->console, "what you type is not kept any more: %s",
                   err.message[0] ? err.message : pl_status_info(status)->text);
    typing->path = NULL;
}

/* True if the editor is done; *ret_status is the result. */
static bool serve(struct pl_typing *typing, enum pl_editor_wish wish, enum pl_status *ret_status)
{
    struct pl_buf *out = pl_console_out(typing->console);
    bool was_interrupted = typing->was_interrupted;
    typing->was_interrupted = wish == PL_EDITOR_INTERRUPTED;
    *ret_status = PL_OK;
    switch (wish) {
    case PL_EDITOR_DONE:
        leave(typing);
        return true;
    case PL_EDITOR_ENDED:
        leave(typing);
        *ret_status = PL_NOT_FOUND;
        return true;
    case PL_EDITOR_INTERRUPTED:
        leave(typing);
        *ret_status = PL_NOT_FOUND;
        if (!was_interrupted)
            pl_console_say(typing->console, "Ctrl-C again or Ctrl-D ends");
        return was_interrupted;
    case PL_EDITOR_COMPLETE:
        complete(typing);
        return false;
    case PL_EDITOR_CLEAR:
        pl_buf_adds(out, "\033[H\033[2J");
        pl_editor_forget(&typing->editor);
        return false;
    case PL_EDITOR_OPEN:
    case PL_EDITOR_SUSPEND: {
        size_t cursor = typing->editor.cursor;
        leave(typing);
        if (wish == PL_EDITOR_SUSPEND)
            pl_raw_suspend();
        else if (typing->open)
            typing->open(typing->ctx);
        typing->editor.cursor = cursor;
        return false;
    }
    case PL_EDITOR_GOES_ON:
        return false;
    }
    return false;
}

static void say_full(struct pl_typing *typing)
{
    if (typing->editor.status == PL_OK)
        return;
    leave(typing);
    pl_console_say(typing->console, "%s",
                   typing->editor.status == PL_LIMIT
                       ? "this message is as long as one can be; the rest was not taken"
                       : pl_status_info(typing->editor.status)->text);
    typing->editor.status = PL_OK;
}

static enum pl_status edit(struct pl_typing *typing)
{
    for (;;) {
        struct pl_key key;
        enum pl_raw_event event = PL_RAW_BYTES;
        enum pl_status status;
        if (!next_key(typing, &key, &event, &status)) {
            if (status != PL_OK || event == PL_RAW_GONE)
                return status != PL_OK ? status : PL_NOT_FOUND;
            if (event == PL_RAW_RESIZED) {
                measure(typing);
                pl_editor_resize(&typing->editor, typing->look.columns);
                draw(typing);
            }
            continue;
        }
        enum pl_editor_wish wish = pl_editor_take(&typing->editor, &key);
        say_full(typing);
        if (serve(typing, wish, &status))
            return status;
        draw(typing);
        if (typing->console->error.status != PL_OK)
            return PL_NOT_FOUND; /* the terminal is gone */
    }
}

enum pl_status pl_typing_read(struct pl_typing *typing, const char *prompt, bool is_kept,
                              struct pl_str *ret_text)
{
    typing->look = (struct pl_editor_look){.prompt = pl_str_of(prompt),
                                           .search = pl_console_word(typing->console, "(search: "),
                                           .has_style = typing->console->has_color_out};
    measure(typing);
    typing->was_interrupted = false;
    pl_editor_reset(&typing->editor);
    pl_raw_set(PL_RAW_KEYS);
    enum pl_status status = bring_back(typing);
    draw(typing);
    if (status == PL_OK)
        status = edit(typing);
    pl_raw_set(PL_RAW_QUIET);
    *ret_text = pl_editor_text(&typing->editor);
    if (status == PL_OK && is_kept)
        keep(typing, *ret_text);
    return status;
}

/* --- a menu ---------------------------------------------------------------------------------- */

static enum pl_status choose(struct pl_typing *typing, struct pl_menu *menu)
{
    struct pl_buf *out = pl_console_out(typing->console);
    for (;;) {
        struct pl_key key;
        enum pl_raw_event event = PL_RAW_BYTES;
        enum pl_status status;
        measure(typing);
        pl_menu_draw(menu, typing->look.columns, typing->console->has_color_out, out);
        flush(typing);
        if (!next_key(typing, &key, &event, &status)) {
            if (status != PL_OK || event == PL_RAW_GONE)
                return status != PL_OK ? status : PL_NOT_FOUND;
            continue;
        }
        enum pl_menu_wish wish = pl_menu_take(menu, &key);
        if (wish == PL_MENU_GOES_ON)
            continue;
        return wish == PL_MENU_TAKEN ? PL_OK : PL_NOT_FOUND;
    }
}

enum pl_status pl_typing_choose(struct pl_typing *typing, struct pl_menu *menu)
{
    pl_raw_set(PL_RAW_KEYS);
    enum pl_status status = set_aside(typing);
    if (status == PL_OK)
        status = choose(typing, menu);
    pl_menu_wipe(menu, pl_console_out(typing->console));
    flush(typing);
    pl_raw_set(PL_RAW_QUIET);
    return status;
}
