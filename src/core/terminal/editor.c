/* Applies keys to the text, with one function for each kind of key. Drawing is in editor_draw.c. */
#include "terminal/editor.h"

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "terminal/width.h"

void pl_editor_init(struct pl_editor *editor, const struct pl_typed *history, size_t max_bytes)
{
    *editor = (struct pl_editor){.history = history};
    pl_buf_init(&editor->text, max_bytes);
    pl_buf_init(&editor->killed, max_bytes);
    pl_buf_init(&editor->draft, max_bytes);
    pl_buf_init(&editor->query, PL_TYPED_MAX_ENTRY);
    pl_editor_reset(editor);
}

void pl_editor_deinit(struct pl_editor *editor)
{
    pl_buf_deinit(&editor->text);
    pl_buf_deinit(&editor->killed);
    pl_buf_deinit(&editor->draft);
    pl_buf_deinit(&editor->query);
    pl_vec_deinit(&editor->drawn);
}

void pl_editor_reset(struct pl_editor *editor)
{
    pl_buf_clear(&editor->text);
    pl_buf_clear(&editor->draft);
    pl_buf_clear(&editor->query);
    editor->cursor = 0;
    editor->was_kill = editor->is_searching = false;
    editor->history_at = editor->history ? editor->history->entries.len : 0;
    editor->status = PL_OK;
    pl_editor_forget(editor);
}

struct pl_str pl_editor_text(const struct pl_editor *editor)
{
    return pl_buf_str(&editor->text);
}

/* --- changes --------------------------------------------------------------------------------- */

/* Returns false if out of memory, and sets editor->status; the buffer is unchanged. */
static bool set(struct pl_editor *editor, struct pl_buf *buf, struct pl_str text)
{
    if (text.len > buf->len && !pl_buf_reserve(buf, text.len - buf->len)) {
        editor->status = buf->status;
        buf->status = PL_OK;
        return false;
    }
    pl_buf_clear(buf);
    pl_buf_add(buf, text);
    return true;
}

static void insert(struct pl_editor *editor, struct pl_str piece)
{
    struct pl_buf *text = &editor->text;
    size_t n_after = text->len - editor->cursor;
    if (!piece.len)
        return;
    if (!pl_buf_reserve(text, piece.len)) {
        editor->status = text->status;
        text->status = PL_OK;
        return;
    }
    memmove(text->ptr + editor->cursor + piece.len, text->ptr + editor->cursor, n_after);
    memcpy(text->ptr + editor->cursor, piece.ptr, piece.len);
    text->len += piece.len;
    editor->cursor += piece.len;
}

static void erase(struct pl_editor *editor, size_t from, size_t to)
{
    struct pl_buf *text = &editor->text;
    if (from >= to)
        return;
    memmove(text->ptr + from, text->ptr + to, text->len - to);
    text->len -= to - from;
    editor->cursor = from;
}

/* Removes text and keeps it for Ctrl-Y. Consecutive kills are merged. */
static void kill(struct pl_editor *editor, size_t from, size_t to, bool was_kill)
{
    struct pl_str piece = pl_str_slice(pl_editor_text(editor), from, to);
    bool is_before = to == editor->cursor && from < to;
    if (!was_kill)
        pl_buf_clear(&editor->killed);
    if (is_before && editor->killed.len && pl_buf_reserve(&editor->killed, piece.len)) {
        memmove(editor->killed.ptr + piece.len, editor->killed.ptr, editor->killed.len);
        memcpy(editor->killed.ptr, piece.ptr, piece.len);
        editor->killed.len += piece.len;
    } else {
        pl_buf_add(&editor->killed, piece);
    }
    if (editor->killed.status != PL_OK)
        editor->status = editor->killed.status; /* Ctrl-Y cannot insert it */
    editor->killed.status = PL_OK;
    editor->was_kill = true;
    erase(editor, from, to);
}

void pl_editor_replace(struct pl_editor *editor, size_t from, struct pl_str word)
{
    erase(editor, from, editor->cursor);
    insert(editor, word);
}

/* --- places ---------------------------------------------------------------------------------- */

static size_t line_start(const struct pl_editor *editor, size_t at)
{
    while (at > 0 && editor->text.ptr[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct pl_editor *editor, size_t at)
{
    while (at < editor->text.len && editor->text.ptr[at] != '\n')
        at++;
    return at;
}

static size_t left_of(const struct pl_editor *editor, size_t at)
{
    return pl_cluster_before(pl_editor_text(editor), at);
}

static size_t right_of(const struct pl_editor *editor, size_t at)
{
    unsigned width;
    return at < editor->text.len ? pl_cluster_end(pl_editor_text(editor), at, &width) : at;
}

/* Letters and digits of any script. A wide character is a word of its own, because Chinese text has
 * no spaces between words. */
enum word_class { GAP, LETTER, WIDE };
static enum word_class class_at(const struct pl_editor *editor, size_t at)
{
    int32_t c = pl_utf8_next(pl_editor_text(editor), &at);
    if (c >= 0x80)
        return pl_width_of(c) == 2 ? WIDE : LETTER;
    return c == '_' || (c > 0 && pl_ascii_is_alnum((unsigned char)c)) ? LETTER : GAP;
}

static size_t word_left(const struct pl_editor *editor, size_t at)
{
    while (at > 0 && class_at(editor, left_of(editor, at)) == GAP)
        at = left_of(editor, at);
    if (at > 0 && class_at(editor, left_of(editor, at)) == WIDE)
        return left_of(editor, at);
    while (at > 0 && class_at(editor, left_of(editor, at)) == LETTER)
        at = left_of(editor, at);
    return at;
}

static size_t word_right(const struct pl_editor *editor, size_t at)
{
    size_t n = editor->text.len;
    while (at < n && class_at(editor, at) == GAP)
        at = right_of(editor, at);
    if (at < n && class_at(editor, at) == WIDE)
        return right_of(editor, at);
    while (at < n && class_at(editor, at) == LETTER)
        at = right_of(editor, at);
    return at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static size_t space_left(const struct pl_editor *editor, size_t at)
{
    while (at > 0 && is_space(editor->text.ptr[at - 1]))
        at--;
    while (at > 0 && !is_space(editor->text.ptr[at - 1]))
        at--;
    return at;
}

/* --- history --------------------------------------------------------------------------------- */

/* Shows an entry, or after the newest one the text that was typed before. Returns false if there is
 * nothing to show or no memory; the text is unchanged. */
static bool show_entry(struct pl_editor *editor, size_t at)
{
    size_t n = editor->history ? editor->history->entries.len : 0;
    if (at > n || (at == n && editor->history_at == n))
        return false;
    if (editor->history_at == n && !set(editor, &editor->draft, pl_editor_text(editor)))
        return false;
    if (!set(editor, &editor->text,
             at == n ? pl_buf_str(&editor->draft) : editor->history->entries.ptr[at]))
        return false;
    editor->history_at = at;
    editor->cursor = editor->text.len;
    return true;
}

/* Moves to the same cell of the line above or below. Returns false if there is no such line. */
static bool move_line(struct pl_editor *editor, bool is_up)
{
    size_t start = line_start(editor, editor->cursor), end = line_end(editor, editor->cursor);
    if (is_up ? start == 0 : end == editor->text.len)
        return false;
    size_t cells = pl_width(pl_str_slice(pl_editor_text(editor), start, editor->cursor));
    size_t from = is_up ? line_start(editor, start - 1) : end + 1;
    struct pl_str line = pl_str_slice(pl_editor_text(editor), from, line_end(editor, from));
    editor->cursor = from + pl_width_cut(line, cells).len;
    return true;
}

/* Shows the newest entry before `below` that contains the query. */
static void search(struct pl_editor *editor, size_t below)
{
    struct pl_str query = pl_buf_str(&editor->query);
    for (size_t i = below; editor->history && query.len && i-- > 0;) {
        size_t place = pl_str_find(editor->history->entries.ptr[i], query);
        if (place == SIZE_MAX)
            continue;
        editor->found_at = i;
        if (show_entry(editor, i))
            editor->cursor = place;
        return;
    }
}

/* Returns true if the key was for the search. Any other key ends the search and has its usual
 * effect. */
static bool take_searching(struct pl_editor *editor, const struct pl_key *key)
{
    size_t n = editor->history ? editor->history->entries.len : 0;
    switch (key->kind) {
    case PL_KEY_SEARCH:
        search(editor, editor->found_at);
        return true;
    case PL_KEY_TEXT:
        pl_buf_add(&editor->query, key->text);
        if (editor->query.status != PL_OK)
            editor->status = editor->query.status;
        editor->query.status = PL_OK;
        search(editor, editor->found_at < n ? editor->found_at + 1 : n);
        return true;
    case PL_KEY_BACKSPACE:
        editor->query.len = pl_cluster_before(pl_buf_str(&editor->query), editor->query.len);
        editor->found_at = n;
        search(editor, n);
        return true;
    case PL_KEY_CANCEL:
    case PL_KEY_INTERRUPT:
        (void)show_entry(editor, n);
        editor->is_searching = false;
        return true;
    case PL_KEY_ESCAPE:
        editor->is_searching = false;
        return true;
    default:
        editor->is_searching = false;
        return false;
    }
}

static void begin_search(struct pl_editor *editor)
{
    pl_buf_clear(&editor->query);
    editor->found_at = editor->history ? editor->history->entries.len : 0;
    editor->is_searching = true;
}

/* --- keys ------------------------------------------------------------------------------------ */

static void transpose(struct pl_editor *editor)
{
    size_t at =
        editor->cursor == editor->text.len ? left_of(editor, editor->cursor) : editor->cursor;
    size_t before = left_of(editor, at), end = right_of(editor, at), n = end - before;
    char bytes[256];
    if (before == at || at == end || n > sizeof bytes || editor->text.ptr[before] == '\n' ||
        editor->text.ptr[at] == '\n')
        return;
    memcpy(bytes, editor->text.ptr + at, end - at);
    memcpy(bytes + (end - at), editor->text.ptr + before, at - before);
    memcpy(editor->text.ptr + before, bytes, n);
    editor->cursor = end;
}

/* Enter after a backslash replaces it by a line break. */
static enum pl_editor_wish enter(struct pl_editor *editor)
{
    size_t n = editor->text.len;
    if (!n || editor->cursor != n || editor->text.ptr[n - 1] != '\\')
        return PL_EDITOR_DONE;
    pl_editor_replace(editor, n - 1, PL_STR("\n"));
    return PL_EDITOR_GOES_ON;
}

static enum pl_editor_wish interrupt(struct pl_editor *editor)
{
    if (!editor->text.len)
        return PL_EDITOR_INTERRUPTED;
    erase(editor, 0, editor->text.len);
    editor->history_at = editor->history ? editor->history->entries.len : 0;
    return PL_EDITOR_GOES_ON;
}

static void move_or_browse(struct pl_editor *editor, bool is_up)
{
    if (move_line(editor, is_up))
        return;
    if (is_up && editor->history_at > 0)
        (void)show_entry(editor, editor->history_at - 1);
    else if (!is_up)
        (void)show_entry(editor, editor->history_at + 1);
}

/* Handles keys that move or edit. Returns false for any other key. */
static bool edit(struct pl_editor *editor, const struct pl_key *key, bool was_kill)
{
    size_t at = editor->cursor;
    switch (key->kind) {
    case PL_KEY_TEXT:
    case PL_KEY_PASTE:
        insert(editor, key->text);
        break;
    case PL_KEY_NEWLINE:
        insert(editor, PL_STR("\n"));
        break;
    case PL_KEY_BACKSPACE:
        erase(editor, left_of(editor, at), at);
        break;
    case PL_KEY_DELETE:
        erase(editor, at, right_of(editor, at));
        break;
    case PL_KEY_LEFT:
        editor->cursor = left_of(editor, at);
        break;
    case PL_KEY_RIGHT:
        editor->cursor = right_of(editor, at);
        break;
    case PL_KEY_UP:
        move_or_browse(editor, true);
        break;
    case PL_KEY_DOWN:
        move_or_browse(editor, false);
        break;
    case PL_KEY_HOME:
        editor->cursor = line_start(editor, at);
        break;
    case PL_KEY_END:
        editor->cursor = line_end(editor, at);
        break;
    case PL_KEY_WORD_LEFT:
        editor->cursor = word_left(editor, at);
        break;
    case PL_KEY_WORD_RIGHT:
        editor->cursor = word_right(editor, at);
        break;
    case PL_KEY_KILL_END: {
        size_t end = line_end(editor, at);
        kill(editor, at, end == at ? right_of(editor, at) : end, was_kill);
        break;
    }
    case PL_KEY_KILL_BEGINNING:
        kill(editor, line_start(editor, at), at, was_kill);
        break;
    case PL_KEY_KILL_WORD:
        kill(editor, space_left(editor, at), at, was_kill);
        break;
    case PL_KEY_ERASE_WORD:
        kill(editor, word_left(editor, at), at, was_kill);
        break;
    case PL_KEY_ERASE_NEXT_WORD:
        kill(editor, at, word_right(editor, at), was_kill);
        break;
    case PL_KEY_YANK:
        insert(editor, pl_buf_str(&editor->killed));
        break;
    case PL_KEY_TRANSPOSE:
        transpose(editor);
        break;
    default:
        return false;
    }
    return true;
}

enum pl_editor_wish pl_editor_take(struct pl_editor *editor, const struct pl_key *key)
{
    bool was_kill = editor->was_kill;
    editor->was_kill = false;
    if (editor->is_searching && take_searching(editor, key))
        return PL_EDITOR_GOES_ON;
    if (edit(editor, key, was_kill))
        return PL_EDITOR_GOES_ON;
    switch (key->kind) {
    case PL_KEY_ENTER:
        return enter(editor);
    case PL_KEY_INTERRUPT:
        return interrupt(editor);
    case PL_KEY_EOF:
        if (!editor->text.len)
            return PL_EDITOR_ENDED;
        erase(editor, editor->cursor, right_of(editor, editor->cursor));
        return PL_EDITOR_GOES_ON;
    case PL_KEY_SEARCH:
        begin_search(editor);
        return PL_EDITOR_GOES_ON;
    case PL_KEY_TAB:
        return PL_EDITOR_COMPLETE;
    case PL_KEY_CLEAR:
        return PL_EDITOR_CLEAR;
    case PL_KEY_OPEN:
        return PL_EDITOR_OPEN;
    case PL_KEY_SUSPEND:
        return PL_EDITOR_SUSPEND;
    default:
        return PL_EDITOR_GOES_ON;
    }
}
