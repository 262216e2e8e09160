/* Is it a carry? A carry comes back from outside: somebody kept it, and may have changed it. It is
 * looked at completely before anything of it is used; behind this file every piece has the form
 * that carry.h says. What a hole refers to may still be gone, and what comes out is looked at too.
 *
 * Strings are checked as they are spelled: all of ours are spelled without an escape where that
 * matters (looks, spellings), and a quirk is decoded. */
#include "format/carry_int.h"

#include "format/joint.h"
#include "format/spell.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"

#include <stdarg.h>
#include <stdio.h>

enum { VERSION = 1, LOOK_DIGITS = 16 };

struct check {
    struct pl_arena *arena; /* for texts that are escaped */
    const struct pl_json_doc *carry;
    int64_t n_elements;
    struct pl_error *err;
};

/* Says what is wrong, and where in the carry. */
__attribute__((format(printf, 3, 4))) static enum pl_status
refuse(struct check *c, const struct pl_json_node *node, const char *format, ...)
{
    char what[160];
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    pl_json_pointer_of(&pointer, c->carry, node);
    if (pointer.status != PL_OK)
        return pointer.status;
    return pl_fail(c->err, PL_INVALID,
                   "the carry is damaged at \"%.*s\": %s; give the carry that was made with this "
                   "document, as it was",
                   PL_STR_ARG(pl_str_slice(pl_buf_str(&pointer), 0, 120)), what);
}

static bool is_kind(const struct pl_json_node *n, enum pl_json_kind kind)
{
    return n && pl_json_kind(n) == kind;
}

static bool is_look(const struct check *c, const struct pl_json_node *n)
{
    struct pl_str digits = pl_json_raw(c->carry, n);
    for (size_t i = 0; i < digits.len; i++) {
        char d = digits.ptr[i];
        if (!(d >= '0' && d <= '9') && !(d >= 'a' && d <= 'f'))
            return false;
    }
    return digits.len == LOOK_DIGITS;
}

static bool is_pointer(struct pl_str p)
{
    if (p.len && p.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < p.len; i++)
        if (p.ptr[i] == '~' && (i + 1 == p.len || (p.ptr[i + 1] != '0' && p.ptr[i + 1] != '1')))
            return false;
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* One escape of JSON after another, and nothing else. */
static bool are_escapes(struct pl_str text)
{
    for (size_t i = 0; i < text.len;) {
        if (text.ptr[i] != '\\' || i + 1 >= text.len)
            return false;
        if (text.ptr[i + 1] != 'u') {
            if (!memchr("\"\\/bfnrt", text.ptr[i + 1], 8))
                return false;
            i += 2;
            continue;
        }
        if (text.len - i < 6)
            return false;
        for (size_t k = i + 2; k < i + 6; k++)
            if (!is_hex(text.ptr[k]))
                return false;
        i += 6;
    }
    return text.len > 0;
}

static bool is_count(const struct check *c, const struct pl_json_node *n)
{
    int64_t count;
    return is_kind(n, PL_JSON_NUMBER) && pl_json_number_int64(pl_json_span(c->carry, n), &count) &&
           count >= 0 && count <= PL_JSON_MAX_BYTES;
}

/* [3,"\\u00e9",1]: characters and escapes in turn; the steps of quirk.c. */
static enum pl_status check_quirks(struct check *c, const struct pl_json_node *quirks)
{
    if (!is_kind(quirks, PL_JSON_ARRAY))
        return refuse(c, quirks, "quirks are an array");
    for (const struct pl_json_node *n = pl_json_first(quirks); n < pl_json_end(quirks);
         n = pl_json_next(n)) {
        struct pl_str odd;
        if (is_count(c, n))
            continue;
        if (!is_kind(n, PL_JSON_STRING))
            return refuse(c, n, "a quirk is a number of characters or their escapes");
        if (pl_json_text(c->arena, c->carry, n, &odd) != PL_OK)
            return PL_NOMEM;
        if (!are_escapes(odd))
            return refuse(c, n, "these are no escapes of JSON");
    }
    return PL_OK;
}

/* Texts, and quirks between two of them. */
static enum pl_status check_layout(struct check *c, const struct pl_json_node *layout)
{
    bool is_behind_text = false;
    enum pl_status status = PL_OK;
    if (!is_kind(layout, PL_JSON_ARRAY))
        return refuse(c, layout, "a layout is an array");
    for (const struct pl_json_node *n = pl_json_first(layout);
         n < pl_json_end(layout) && status == PL_OK; n = pl_json_next(n)) {
        bool is_text = is_kind(n, PL_JSON_STRING);
        if (!is_text && !is_behind_text)
            return refuse(c, n, "a layout begins with a text, and quirks stand behind one");
        if (!is_text)
            status = check_quirks(c, n);
        is_behind_text = is_text;
    }
    if (status == PL_OK && !is_behind_text)
        status = refuse(c, layout, "a layout ends with a text");
    return status;
}

/* What stands behind the spelling of a hole. */
static enum pl_status check_rest(struct check *c, const struct pl_json_node *hole, bool is_part)
{
    const struct pl_json_node *fourth = hole + 4;
    uint32_t n = pl_json_count(hole);
    struct pl_joint joint;
    if (is_part) {
        if (n < 4 || !pl_joint_read(c->arena, c->carry, fourth, &joint))
            return refuse(c, hole, "a part of a text has its place as fourth");
        return n == 5 ? check_quirks(c, pl_json_next(fourth)) : PL_OK;
    }
    if (n == 4)
        return check_quirks(c, fourth);
    if (n == 5 && !is_look(c, fourth))
        return refuse(c, fourth, "a look has %d hexadecimal digits", LOOK_DIGITS);
    return n == 5 ? check_layout(c, fourth + 1) : PL_OK;
}

/* [element or -1, pointer, spelling, …] */
static enum pl_status check_hole(struct check *c, const struct pl_json_node *hole)
{
    const struct pl_json_node *element = hole + 1, *pointer = hole + 2, *spelling = hole + 3;
    uint32_t n = pl_json_count(hole);
    struct pl_str path;
    enum pl_spell spell;
    int64_t number;
    if (n < 3 || n > 5)
        return refuse(c, hole, "a hole has three to five members, not %u", n);
    if (!is_kind(element, PL_JSON_NUMBER) ||
        !pl_json_number_int64(pl_json_span(c->carry, element), &number) || number < -1 ||
        number >= c->n_elements)
        return refuse(c, element->skip == 1 ? element : hole,
                      "a hole begins with the number of an element, from -1 to %lld",
                      (long long)c->n_elements - 1);
    if (!is_kind(pointer, PL_JSON_STRING))
        return refuse(c, pointer, "a JSON Pointer belongs here");
    if (pl_json_text(c->arena, c->carry, pointer, &path) != PL_OK)
        return PL_NOMEM;
    if (!is_pointer(path))
        return refuse(c, pointer, "this is no JSON Pointer");
    bool is_part = pl_json_key_is(c->carry, spelling, PL_STR("g"));
    if (!is_kind(spelling, PL_JSON_STRING) ||
        (!is_part && !pl_spell_by_name(pl_json_raw(c->carry, spelling), &spell)))
        return refuse(c, spelling, "this is no spelling");
    return check_rest(c, hole, is_part);
}

static enum pl_status check_pieces(struct check *c, const struct pl_json_node *pieces)
{
    enum pl_status status = PL_OK;
    if (!is_kind(pieces, PL_JSON_ARRAY))
        return refuse(c, pieces, "an array of texts and holes belongs here");
    for (const struct pl_json_node *p = pl_json_first(pieces);
         p < pl_json_end(pieces) && status == PL_OK; p = pl_json_next(p)) {
        if (is_kind(p, PL_JSON_ARRAY))
            status = check_hole(c, p);
        else if (!is_kind(p, PL_JSON_STRING))
            status = refuse(c, p, "a piece is a text or a hole");
    }
    return status;
}

/* A member nobody knows is one that was misspelt. */
static enum pl_status check_names(struct check *c, const struct pl_json_node *object,
                                  const char *const names[])
{
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        size_t i = 0;
        while (names[i] && !pl_json_key_is(c->carry, k, pl_str_of(names[i])))
            i++;
        if (!names[i])
            return refuse(c, k + 1, "there is no such member");
    }
    return PL_OK;
}

static enum pl_status check_item(struct check *c, const struct pl_json_node *item)
{
    static const char *const names[] = {"text", "gap", NULL};
    const struct pl_json_node *text = pl_json_get(c->carry, item, PL_STR("text"));
    const struct pl_json_node *gap = pl_json_get(c->carry, item, PL_STR("gap"));
    if (!text)
        return refuse(c, item, "an item is an object with a text");
    if (gap && !is_kind(gap, PL_JSON_STRING))
        return refuse(c, gap, "a gap is a string");
    enum pl_status status = check_names(c, item, names);
    return status == PL_OK ? check_pieces(c, text) : status;
}

static enum pl_status check_items(struct check *c, const struct pl_json_node *items)
{
    enum pl_status status = PL_OK;
    if (!is_kind(items, PL_JSON_ARRAY))
        return refuse(c, items, "the items are an array");
    for (const struct pl_json_node *i = pl_json_first(items);
         i < pl_json_end(items) && status == PL_OK; i = pl_json_next(i))
        status = check_item(c, i);
    return status;
}

static enum pl_status check_elements(struct check *c, const struct pl_json_node *looks)
{
    if (!is_kind(looks, PL_JSON_ARRAY))
        return refuse(c, looks, "the elements are an array of looks");
    for (const struct pl_json_node *e = pl_json_first(looks); e < pl_json_end(looks);
         e = pl_json_next(e))
        if (!is_look(c, e))
            return refuse(c, e, "a look has %d hexadecimal digits", LOOK_DIGITS);
    c->n_elements = pl_json_count(looks);
    return PL_OK;
}

/* The words it begins with. */
static enum pl_status check_head(struct check *c, const struct pl_json_node *version)
{
    static const char *const names[] = {"from", "to"};
    static const char *const all[] = {"parley_carry", "from",  "to",   "elements",
                                      "head",         "items", "tail", NULL};
    int64_t number = 0;
    if (!is_kind(version, PL_JSON_NUMBER) ||
        !pl_json_number_int64(pl_json_span(c->carry, version), &number))
        return pl_fail(c->err, PL_INVALID, "this is not a carry; give the file that --carry made");
    if (number != VERSION)
        return pl_fail(c->err, PL_INVALID,
                       "this carry has the version %lld, and I read version %d; convert the "
                       "document again with this program",
                       (long long)number, VERSION);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pl_json_node *name =
            pl_json_get(c->carry, c->carry->root, pl_str_of(names[i]));
        if (!is_kind(name, PL_JSON_STRING))
            return refuse(c, name ? name : c->carry->root, "\"%s\" is the name of a format",
                          names[i]);
    }
    return check_names(c, c->carry->root, all);
}

enum pl_status pl_carry_check(struct pl_arena *arena, const struct pl_json_doc *carry,
                              struct pl_error *err)
{
    static const struct {
        const char *name;
        bool is_needed;
        enum pl_status (*check)(struct check *c, const struct pl_json_node *node);
    } members[] = {
        {"parley_carry", true, check_head}, {"elements", true, check_elements},
        {"head", true, check_pieces},       {"items", false, check_items},
        {"tail", false, check_pieces},
    };
    struct check c = {.arena = arena, .carry = carry, .err = err};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof members / sizeof *members && status == PL_OK; i++) {
        const struct pl_json_node *node =
            pl_json_get(carry, carry->root, pl_str_of(members[i].name));
        if (node)
            status = members[i].check(&c, node);
        else if (members[i].is_needed)
            status =
                pl_fail(err, PL_INVALID, "this is not a carry; give the file that --carry made");
    }
    return status;
}
