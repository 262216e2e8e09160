/* Known sequences are in a table. Unknown sequences are skipped by the grammar of ECMA-48, 5.4, so
 * that no unknown key leaves letters in the text. */
#include "terminal/keys.h"

#include "base/text/utf8.h"

#define ESCAPE '\033'

#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

static const struct {
    const char *bytes;
    enum pl_key_kind kind;
} sequences[] = {
    {"\033[A", PL_KEY_UP},
    {"\033[B", PL_KEY_DOWN},
    {"\033[C", PL_KEY_RIGHT},
    {"\033[D", PL_KEY_LEFT},
    {"\033[H", PL_KEY_HOME},
    {"\033[F", PL_KEY_END},
    {"\033OA", PL_KEY_UP},
    {"\033OB", PL_KEY_DOWN},
    {"\033OC", PL_KEY_RIGHT},
    {"\033OD", PL_KEY_LEFT},
    {"\033OH", PL_KEY_HOME},
    {"\033OF", PL_KEY_END},
    {"\033[1~", PL_KEY_HOME},
    {"\033[7~", PL_KEY_HOME},
    {"\033[4~", PL_KEY_END},
    {"\033[8~", PL_KEY_END},
    {"\033[3~", PL_KEY_DELETE},
    {"\033[Z", PL_KEY_BACK_TAB},
    {"\033[1;5C", PL_KEY_WORD_RIGHT},
    {"\033[1;5D", PL_KEY_WORD_LEFT},
    {"\033[1;3C", PL_KEY_WORD_RIGHT},
    {"\033[1;3D", PL_KEY_WORD_LEFT},
    {"\033[5C", PL_KEY_WORD_RIGHT},
    {"\033[5D", PL_KEY_WORD_LEFT},
    {"\033f", PL_KEY_WORD_RIGHT},
    {"\033b", PL_KEY_WORD_LEFT},
    {"\033d", PL_KEY_ERASE_NEXT_WORD},
    {"\033\177", PL_KEY_ERASE_WORD},
    {"\033\b", PL_KEY_ERASE_WORD},
    {"\033\r", PL_KEY_NEWLINE},
    {"\033\n", PL_KEY_NEWLINE},
    {"\033[13;2u", PL_KEY_NEWLINE},
    {"\033[27;2;13~", PL_KEY_NEWLINE},
};

#define NO_KEY       (-1)
#define CTRL(letter) ((letter) - '@')

/* Keys by control byte. All other bytes are ignored. */
static const struct {
    char byte;
    enum pl_key_kind kind;
} controls[] = {
    {CTRL('A'), PL_KEY_HOME},
    {CTRL('B'), PL_KEY_LEFT},
    {CTRL('C'), PL_KEY_INTERRUPT},
    {CTRL('D'), PL_KEY_EOF},
    {CTRL('E'), PL_KEY_END},
    {CTRL('F'), PL_KEY_RIGHT},
    {CTRL('G'), PL_KEY_CANCEL},
    {CTRL('H'), PL_KEY_BACKSPACE},
    {CTRL('I'), PL_KEY_TAB},
    {CTRL('J'), PL_KEY_ENTER},
    {CTRL('K'), PL_KEY_KILL_END},
    {CTRL('L'), PL_KEY_CLEAR},
    {CTRL('M'), PL_KEY_ENTER},
    {CTRL('N'), PL_KEY_DOWN},
    {CTRL('O'), PL_KEY_OPEN},
    {CTRL('P'), PL_KEY_UP},
    {CTRL('R'), PL_KEY_SEARCH},
    {CTRL('T'), PL_KEY_TRANSPOSE},
    {CTRL('U'), PL_KEY_KILL_BEGINNING},
    {CTRL('W'), PL_KEY_KILL_WORD},
    {CTRL('Y'), PL_KEY_YANK},
    {CTRL('Z'), PL_KEY_SUSPEND},
    {'\177', PL_KEY_BACKSPACE},
};

void pl_keys_init(struct pl_keys *keys)
{
    *keys = (struct pl_keys){0};
    pl_buf_init(&keys->bytes, 0);
    pl_buf_init(&keys->piece, 0);
}

void pl_keys_deinit(struct pl_keys *keys)
{
    pl_buf_deinit(&keys->bytes);
    pl_buf_deinit(&keys->piece);
}

enum pl_status pl_keys_feed(struct pl_keys *keys, struct pl_str bytes)
{
    size_t n_left = keys->bytes.len - keys->n_taken;
    if (n_left && keys->n_taken)
        memmove(keys->bytes.ptr, keys->bytes.ptr + keys->n_taken, n_left);
    keys->bytes.len = n_left;
    keys->n_taken = 0;
    keys->is_settled = false;
    pl_buf_add(&keys->bytes, bytes);
    enum pl_status status = keys->bytes.status;
    keys->bytes.status = PL_OK;
    return status;
}

static struct pl_str rest_of(const struct pl_keys *keys)
{
    return pl_str_slice(pl_buf_str(&keys->bytes), keys->n_taken, keys->bytes.len);
}

/* --- sequences ------------------------------------------------------------------------------- */

/* Returns the length of the sequence at the beginning; 0 if it is incomplete. */
static size_t sequence_length(struct pl_str s)
{
    if (s.len < 2)
        return 0;
    if (s.ptr[1] == 'O')
        return s.len < 3 ? 0 : 3;
    if (s.ptr[1] != '[')
        return 2;
    for (size_t i = 2; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c > 0x7E)
            return i; /* aborted: the byte is not part of the sequence */
        if (c >= 0x40)
            return i + 1;
    }
    return 0;
}

static int kind_of_sequence(struct pl_str sequence)
{
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (pl_str_eq(sequence, pl_str_of(sequences[i].bytes)))
            return (int)sequences[i].kind;
    return NO_KEY;
}

static int kind_of_control(char byte)
{
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].byte == byte)
            return (int)controls[i].kind;
    return NO_KEY;
}

/* --- text ------------------------------------------------------------------------------------ */

static bool is_control(char byte)
{
    return (unsigned char)byte < 0x20 || byte == '\177';
}

/* Takes complete characters up to a control character. Invalid UTF-8 becomes U+FFFD. C1 characters
 * are controls too and are dropped. */
static size_t take_text(struct pl_keys *keys, struct pl_str s)
{
    size_t at = 0;
    while (at < s.len && !is_control(s.ptr[at])) {
        size_t from = at;
        if (pl_utf8_is_cut(pl_str_slice(s, at, s.len)))
            break;
        int32_t c = pl_utf8_next(s, &at);
        if (c < 0)
            pl_buf_adds(&keys->piece, "\uFFFD");
        else if (c < 0x7F || c >= 0xA0)
            pl_buf_add(&keys->piece, pl_str_slice(s, from, at));
    }
    return at;
}

static size_t take_pasted(struct pl_keys *keys, struct pl_str s)
{
    char c = s.ptr[0];
    bool is_second = c == '\n' && keys->was_return;
    keys->was_return = c == '\r';
    if (c == '\t')
        pl_buf_addc(&keys->piece, '\t');
    else if ((c == '\n' && !is_second) || c == '\r')
        pl_buf_addc(&keys->piece, '\n');
    return 1;
}

/* Takes all of a paste that has arrived. A sequence inside of it is text without its Escape, so a
 * paste cannot press keys. */
static bool next_pasted(struct pl_keys *keys, struct pl_key *ret_key)
{
    struct pl_str s = rest_of(keys);
    size_t at = 0;
    while (at < s.len && keys->is_pasting) {
        struct pl_str rest = pl_str_slice(s, at, s.len);
        if (pl_str_starts(rest, PL_STR(PASTE_END))) {
            keys->is_pasting = keys->was_return = false;
            at += sizeof PASTE_END - 1;
        } else if (pl_str_starts(PL_STR(PASTE_END), rest)) {
            break; /* perhaps the end of the paste */
        } else if (is_control(rest.ptr[0])) {
            at += take_pasted(keys, rest);
        } else {
            size_t n = take_text(keys, rest);
            keys->was_return = false;
            if (!n)
                break; /* an incomplete character */
            at += n;
        }
    }
    keys->n_taken += at;
    *ret_key = (struct pl_key){PL_KEY_PASTE, pl_buf_str(&keys->piece)};
    return keys->piece.len;
}

/* Takes a sequence; *ret_n is 0 if it is incomplete. If the input is settled, a single Escape is
 * the key, and any other incomplete sequence is dropped. */
static int take_sequence(struct pl_keys *keys, struct pl_str s, size_t *ret_n)
{
    size_t n = sequence_length(s);
    bool is_escape = (s.len == 1 && keys->is_settled) || (n == 2 && s.ptr[1] == ESCAPE);
    if (!n && keys->is_settled)
        n = s.len;
    *ret_n = is_escape ? 1 : n;
    if (is_escape || !n)
        return is_escape ? (int)PL_KEY_ESCAPE : NO_KEY;
    keys->is_pasting = pl_str_eq(pl_str_slice(s, 0, n), PL_STR(PASTE_BEGIN));
    return kind_of_sequence(pl_str_slice(s, 0, n));
}

static bool next_typed(struct pl_keys *keys, struct pl_key *ret_key)
{
    struct pl_str s = rest_of(keys);
    int kind = NO_KEY;
    size_t n = 1;
    if (s.ptr[0] == ESCAPE) {
        kind = take_sequence(keys, s, &n);
    } else if (is_control(s.ptr[0])) {
        kind = kind_of_control(s.ptr[0]);
    } else {
        n = take_text(keys, s);
        kind = keys->piece.len ? (int)PL_KEY_TEXT : NO_KEY;
    }
    keys->n_taken += n;
    if (kind != NO_KEY)
        *ret_key = (struct pl_key){(enum pl_key_kind)kind, pl_buf_str(&keys->piece)};
    return kind != NO_KEY;
}

bool pl_keys_next(struct pl_keys *keys, struct pl_key *ret_key)
{
    size_t before = SIZE_MAX;
    while (keys->n_taken < keys->bytes.len && keys->n_taken != before) {
        before = keys->n_taken;
        pl_buf_clear(&keys->piece);
        bool is_key = keys->is_pasting ? next_pasted(keys, ret_key) : next_typed(keys, ret_key);
        if (keys->piece.status != PL_OK)
            keys->status = keys->piece.status;
        if (is_key)
            return true;
    }
    return false;
}

bool pl_keys_is_cut(const struct pl_keys *keys)
{
    struct pl_str rest = rest_of(keys);
    return rest.len && rest.ptr[0] == ESCAPE && !keys->is_pasting;
}

void pl_keys_settle(struct pl_keys *keys)
{
    keys->is_settled = true;
}

void pl_keys_give_back(struct pl_keys *keys, struct pl_buf *to)
{
    pl_buf_add(to, rest_of(keys));
    keys->n_taken = keys->bytes.len;
    keys->is_settled = false;
}
