/* Messages: one table of sentences in two languages. A sentence names the value that failed ({s},
 * and its value: {v}), the expected value ({x}), and sometimes a second detail ({y}). Long values
 * are shortened. "did you mean" is followed by the nearest known spelling. */
#include "schema/explain/explain_int.h"

#include "json/pointer.h"
#include "json/text.h"
#include "schema/lookup.h"

#define MAX_SHOWN      48 /* bytes of a value */
#define MAX_CHOICES    8
#define MAX_NAME       64      /* bytes compared for the nearest spelling */
#define MAX_CONSIDERED 256     /* names compared for one sentence */
#define MAX_WORK       1000000 /* members checked to list the missing ones */

static const struct {
    const char *text[2]; /* by enum pl_schema_lang */
} sentences[PL_SAY_COUNT] = {
    [PL_SAY_TYPE] = {{"{s} must be {x}, but is {v}", "{s}必须是{x}，但实际是{v}"}},
    [PL_SAY_CONST] = {{"{s} must be {x}, but is {v}", "{s}必须是 {x}，但实际是{v}"}},
    [PL_SAY_ENUM] = {{"{s} must be one of {x}, but is {v}", "{s}必须是以下之一：{x}，但实际是{v}"}},
    [PL_SAY_MINIMUM] = {{"{s} must be at least {x}, but is {v}", "{s}不得小于 {x}，但实际是{v}"}},
    [PL_SAY_MAXIMUM] = {{"{s} must be at most {x}, but is {v}", "{s}不得大于 {x}，但实际是{v}"}},
    [PL_SAY_ABOVE] = {{"{s} must be greater than {x}, but is {v}", "{s}必须大于 {x}，但实际是{v}"}},
    [PL_SAY_BELOW] = {{"{s} must be less than {x}, but is {v}", "{s}必须小于 {x}，但实际是{v}"}},
    [PL_SAY_MULTIPLE] = {{"{s} must be a multiple of {x}, but is {v}",
                          "{s}必须是 {x} 的倍数，但实际是{v}"}},
    [PL_SAY_MIN_LENGTH] = {{"{s} must have at least {x}, but has {y}: {v}",
                            "{s}至少要有{x}，但只有{y}：{v}"}},
    [PL_SAY_MAX_LENGTH] = {{"{s} must have at most {x}, but has {y}: {v}",
                            "{s}最多只能有{x}，但有{y}：{v}"}},
    [PL_SAY_PATTERN] = {{"{s} must match the pattern {x}, but is {v}",
                         "{s}必须匹配正则表达式 {x}，但实际是{v}"}},
    [PL_SAY_FORMAT] = {{"{s} is not {x}; it is {v}", "{s}不是{x}，而是{v}"}},
    [PL_SAY_MIN_ITEMS] = {{"{s} must have at least {x}, but has {y}", "{s}至少要有{x}，但只有{y}"}},
    [PL_SAY_MAX_ITEMS] = {{"{s} must have at most {x}, but has {y}", "{s}最多只能有{x}，但有{y}"}},
    [PL_SAY_UNIQUE] = {{"{s} must have unique items, but is {v} with duplicates",
                        "{s}不得包含重复的值，但实际是{v}，其中有重复"}},
    [PL_SAY_MIN_MEMBERS] = {{"{s} must have at least {x}, but has {y}",
                             "{s}至少要有{x}，但只有{y}"}},
    [PL_SAY_MAX_MEMBERS] = {{"{s} must have at most {x}, but has {y}",
                             "{s}最多只能有{x}，但有{y}"}},
    [PL_SAY_REQUIRED] = {{"{s} lacks {x}", "{s}缺少{x}"}},
    [PL_SAY_DEPENDENT] = {{"{s} has {y} and therefore needs {x} too",
                           "{s}含有 {y}，因此还需要{x}"}},
    [PL_SAY_FALSE] = {{"{s} is not allowed here", "此处不允许出现{s}"}},
    [PL_SAY_NOT] = {{"{s} must not match the schema in \"not\", but {v} does",
                     "{s}不得符合 \"not\" 中的 schema，但{v}符合"}},
    [PL_SAY_NO_BRANCH] = {{"{s} matches none of the {x} alternatives",
                           "{s}不符合{x}个分支中的任何一个"}},
    [PL_SAY_NO_BRANCH_TYPE] = {{"{s} must be {x}, but is {v}", "{s}必须是{x}，但实际是{v}"}},
    [PL_SAY_MANY_BRANCHES] = {{"{s} must match exactly one alternative, but matches {x}",
                               "{s}必须恰好符合一个分支，但符合了 {x} 个"}},
    [PL_SAY_FEW_CONTAINED] = {{"{s} must have at least {x} matching \"contains\", but has {y}",
                               "{s}至少要有{x}符合 \"contains\"，但只有 {y} 项"}},
    [PL_SAY_MANY_CONTAINED] = {{"{s} must have at most {x} matching \"contains\", but has {y}",
                                "{s}最多只能有{x}符合 \"contains\"，但有 {y} 项"}},
    [PL_SAY_UNEXPECTED_MEMBER] = {{"{s} is not a known member", "{s}不是已知的成员"}},
    [PL_SAY_UNEXPECTED_ITEM] = {{"{s} exceeds the allowed number of items", "{s}超出了允许的项数"}},
    [PL_SAY_SWITCH_TYPE] = {{"{s} must be an object, but is {v}", "{s}必须是对象，但实际是{v}"}},
    [PL_SAY_SWITCH_MISSING] = {{"{s} lacks {y}; this discriminator must be one of {x}",
                                "{s}缺少判别{y}，可选值：{x}"}},
    [PL_SAY_SWITCH_VALUE] = {{"{s} must be one of {x}, but is {v}",
                              "{s}必须是以下之一：{x}，但实际是{v}"}},
};

/* Words for kinds and counts. */
enum word {
    WORD_OR,
    WORD_MORE,
    WORD_IN_ALL,
    WORD_MEANT,
    WORD_VALUE,
    WORD_ITEM,
    WORD_MEMBER,
    WORD_MEMBERS,
    WORD_STRING,
    WORD_NUMBER,
    WORD_EMPTY_ARRAY,
    WORD_EMPTY_OBJECT,
    WORD_ARRAY_OF,
    WORD_ARRAY_END,
    WORD_OBJECT_OF,
    WORD_OBJECT_END,
    WORD_COMMA,
    WORD_COUNT,
};

static const char *const words[WORD_COUNT][2] = {
    [WORD_OR] = {" or ", "或"},
    [WORD_MORE] = {", … (", "……（共 "},
    [WORD_IN_ALL] = {" in all)", " 个）"},
    [WORD_MEANT] = {"; did you mean ", "；是否想写 "},
    [WORD_VALUE] = {"the value", "该值"},
    [WORD_ITEM] = {"item ", "项 "},
    [WORD_MEMBER] = {"the member ", "成员 "},
    [WORD_MEMBERS] = {"the members ", "成员 "},
    [WORD_STRING] = {"the string ", "字符串 "},
    [WORD_NUMBER] = {"the number ", "数字 "},
    [WORD_EMPTY_ARRAY] = {"an empty array", "空数组"},
    [WORD_EMPTY_OBJECT] = {"an empty object", "空对象"},
    [WORD_ARRAY_OF] = {"an array of ", "含"},
    [WORD_ARRAY_END] = {"", "的数组"},
    [WORD_OBJECT_OF] = {"an object with ", "含"},
    [WORD_OBJECT_END] = {"", "的对象"},
    [WORD_COMMA] = {", ", "、"},
};

/* Nouns for counts: singular, plural, and Chinese. */
static const struct {
    const char *one, *many, *zh;
} units[] = {
    {"character", "characters", " 个字符"},
    {"item", "items", " 项"},
    {"member", "members", " 个成员"},
};
enum { UNIT_CHARACTER, UNIT_ITEM, UNIT_MEMBER };

/* The subject of a sentence. */
struct topic {
    const struct pl_explain *x;
    const struct pl_record *record;
    const struct pl_schema *schema;
    const struct pl_json_doc *doc;        /* the instance */
    const struct pl_json_doc *schema_doc; /* the document of the keyword */
};

static void add_word(struct pl_buf *to, const struct topic *t, enum word word)
{
    pl_buf_adds(to, words[word][t->x->lang]);
}

/* Added after a list that was cut. */
static void add_total(struct pl_buf *to, const struct topic *t, uint32_t n)
{
    add_word(to, t, WORD_MORE);
    pl_buf_addf(to, "%u", n);
    add_word(to, t, WORD_IN_ALL);
}

static void add_count(struct pl_buf *to, const struct topic *t, uint64_t n, int unit)
{
    if (t->x->lang == PL_SCHEMA_ZH)
        pl_buf_addf(to, " %llu%s", (unsigned long long)n, units[unit].zh);
    else
        pl_buf_addf(to, "%llu %s", (unsigned long long)n,
                    n == 1 ? units[unit].one : units[unit].many);
}

/* JSON text, cut at a character when it is long. */
static void add_short(struct pl_buf *to, struct pl_str json)
{
    if (json.len <= MAX_SHOWN) {
        pl_buf_add(to, json);
        return;
    }
    bool is_string = json.ptr[0] == '"';
    size_t n = MAX_SHOWN - 4;
    while (n && ((unsigned char)json.ptr[n] & 0xC0) == 0x80)
        n--;
    while (n && is_string && memchr(json.ptr + (n > 6 ? n - 6 : 0), '\\', n > 6 ? 6 : n))
        n--; /* not in the middle of an escape */
    pl_buf_add(to, pl_str_slice(json, 0, n));
    pl_buf_adds(to, is_string ? "…\"" : "…");
}

static void add_value(struct pl_buf *to, const struct topic *t, const struct pl_json_node *n)
{
    enum pl_json_kind kind = pl_json_kind(n);
    uint32_t count = pl_json_count(n);
    bool is_zh = t->x->lang == PL_SCHEMA_ZH;
    if (kind == PL_JSON_ARRAY || kind == PL_JSON_OBJECT) {
        bool is_array = kind == PL_JSON_ARRAY;
        if (!count) {
            add_word(to, t, is_array ? WORD_EMPTY_ARRAY : WORD_EMPTY_OBJECT);
            return;
        }
        add_word(to, t, is_array ? WORD_ARRAY_OF : WORD_OBJECT_OF);
        add_count(to, t, count, is_array ? UNIT_ITEM : UNIT_MEMBER);
        add_word(to, t, is_array ? WORD_ARRAY_END : WORD_OBJECT_END);
        return;
    }
    if (kind == PL_JSON_STRING)
        add_word(to, t, WORD_STRING);
    else if (kind == PL_JSON_NUMBER)
        add_word(to, t, WORD_NUMBER);
    else if (is_zh)
        pl_buf_addc(to, ' ');
    add_short(to, pl_json_span(t->doc, n));
}

/* Decodes ~0 and ~1. */
static void add_token(struct pl_buf *to, struct pl_str token)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t i = 0; i < token.len; i++) {
        bool is_escape = token.ptr[i] == '~' && i + 1 < token.len;
        pl_buf_addc(&text, is_escape ? (token.ptr[i + 1] == '1' ? '/' : '~') : token.ptr[i]);
        i += is_escape;
    }
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_buf_str(&text));
    add_short(to, pl_buf_str(&quoted));
    if (text.status != PL_OK || quoted.status != PL_OK)
        to->status = PL_NOMEM;
}

static bool is_number(struct pl_str token)
{
    uint32_t index;
    return pl_json_pointer_index(token, &index);
}

/* "temperature", "tags"[2], item 0, or the value: the end of the instance location. */
static void add_subject(struct pl_buf *to, const struct topic *t)
{
    struct pl_str path = pl_str_slice(pl_buf_str(&t->x->text), t->record->instance,
                                      (size_t)t->record->instance + t->record->n_instance);
    struct pl_str name = {0}, rest = path, token;
    size_t n_indexes = 0;
    while (rest.len && pl_json_pointer_next(&rest, &token)) {
        if (is_number(token)) {
            n_indexes++;
        } else {
            name = token;
            n_indexes = 0;
        }
    }
    if (!name.ptr && !n_indexes) {
        add_word(to, t, WORD_VALUE);
        return;
    }
    if (name.ptr)
        add_token(to, name);
    else
        add_word(to, t, WORD_ITEM);
    rest = name.ptr ? pl_str_slice(path, (size_t)(name.ptr + name.len - path.ptr), path.len) : path;
    for (bool is_first = true; rest.len && pl_json_pointer_next(&rest, &token); is_first = false)
        pl_buf_addf(to, is_first && !name.ptr ? "%.*s" : "[%.*s]", PL_STR_ARG(token));
}

/* "a string", "a number or an array". */
static void add_types(struct pl_buf *to, const struct topic *t, uint32_t types)
{
    static const struct {
        uint8_t bits;
        const char *name[2];
    } names[] = {
        {1 << PL_JSON_NULL, {"null", "null"}},
        {1 << PL_JSON_FALSE | 1 << PL_JSON_TRUE, {"true or false", "布尔值"}},
        {1 << PL_JSON_FALSE, {"false", "false"}},
        {1 << PL_JSON_TRUE, {"true", "true"}},
        {1 << PL_JSON_NUMBER | PL_SCHEMA_INTEGER, {"a whole number", "整数"}},
        {1 << PL_JSON_NUMBER, {"a number", "数字"}},
        {1 << PL_JSON_STRING, {"a string", "字符串"}},
        {1 << PL_JSON_ARRAY, {"an array", "数组"}},
        {1 << PL_JSON_OBJECT, {"an object", "对象"}},
    };
    bool is_first = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((types & names[i].bits) != names[i].bits)
            continue;
        types &= ~(uint32_t)names[i].bits;
        if (!is_first)
            add_word(to, t, WORD_OR);
        pl_buf_adds(to, names[i].name[t->x->lang]);
        is_first = false;
    }
}

/* ---- the nearest spelling ---- */

/* Edits (insert, delete, replace, swap) from a to b, both at most MAX_NAME bytes. */
static uint32_t edits(struct pl_str a, struct pl_str b)
{
    uint8_t rows[3][MAX_NAME + 1];
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b.len; j++) {
            bool is_same = a.ptr[i - 1] == b.ptr[j - 1];
            uint8_t best = (uint8_t)(last[j - 1] + !is_same);
            best = last[j] + 1 < best ? (uint8_t)(last[j] + 1) : best;
            best = row[j - 1] + 1 < best ? (uint8_t)(row[j - 1] + 1) : best;
            bool is_swap =
                i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
            if (is_swap && before[j - 2] + 1 < best)
                best = (uint8_t)(before[j - 2] + 1);
            row[j] = best;
        }
        uint8_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b.len];
}

struct nearest {
    struct pl_str wanted, found;
    uint32_t n_edits;
    uint32_t n_considered;
};

static struct nearest nearest_to(struct pl_str wanted)
{
    return (struct nearest){.wanted = wanted, .n_edits = (uint32_t)wanted.len / 3 + 2};
}

static void consider(struct nearest *nearest, struct pl_str choice)
{
    size_t gap = choice.len > nearest->wanted.len ? choice.len - nearest->wanted.len
                                                  : nearest->wanted.len - choice.len;
    if (choice.len > MAX_NAME || nearest->wanted.len > MAX_NAME || !choice.len ||
        gap >= nearest->n_edits || nearest->n_considered++ >= MAX_CONSIDERED)
        return;
    uint32_t n = edits(nearest->wanted, choice);
    if (n < nearest->n_edits && n < choice.len) {
        nearest->n_edits = n;
        nearest->found = choice;
    }
}

static void add_hint(struct pl_buf *to, const struct topic *t, const struct nearest *nearest)
{
    if (!nearest->found.len)
        return;
    add_word(to, t, WORD_MEANT);
    pl_json_quote(to, nearest->found);
    pl_buf_adds(to, t->x->lang == PL_SCHEMA_ZH ? "？" : "?");
}

/* ---- the parts of a sentence ---- */

static void add_separator(struct pl_buf *to, const struct topic *t, uint32_t i)
{
    if (i)
        add_word(to, t, WORD_COMMA);
}

/* The values of an enum, up to eight. */
static void add_choices(struct pl_buf *to, const struct topic *t)
{
    const struct pl_json_node *list = t->record->op->key + 1;
    uint32_t i = 0, count = pl_json_count(list);
    for (const struct pl_json_node *e = pl_json_first(list);
         e != pl_json_end(list) && i < MAX_CHOICES; e = pl_json_next(e), i++) {
        add_separator(to, t, i);
        add_short(to, pl_json_span(t->schema_doc, e));
    }
    if (count > MAX_CHOICES)
        add_total(to, t, count);
}

static struct nearest nearest_choice(const struct topic *t)
{
    const struct pl_json_node *list = t->record->op->key + 1;
    struct nearest nearest = nearest_to(pl_json_raw(t->doc, t->record->node));
    for (const struct pl_json_node *e = pl_json_first(list); e != pl_json_end(list);
         e = pl_json_next(e))
        if (pl_json_kind(e) == PL_JSON_STRING && !(e->tag & PL_JSON_ESCAPED))
            consider(&nearest, pl_json_raw(t->schema_doc, e));
    return nearest;
}

/* The text of value id of a switch. */
static struct pl_str switch_text(const struct pl_schema *s, const struct pl_switch *sw, uint32_t id)
{
    const struct pl_schema_table *table = &s->sets.ptr[sw->set].table;
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct pl_set_slot *slot = &s->set_slots.ptr[table->first + i];
        if (slot->name.text && slot->id == id)
            return pl_spelling_text(&slot->name);
    }
    return (struct pl_str){0};
}

static uint32_t switch_size(const struct pl_schema *s, const struct pl_switch *sw)
{
    const struct pl_schema_table *table = &s->sets.ptr[sw->set].table;
    uint32_t n = 0;
    for (uint32_t i = 0; i <= table->mask; i++)
        n += s->set_slots.ptr[table->first + i].name.text != NULL;
    return n;
}

static void add_switch_values(struct pl_buf *to, const struct topic *t)
{
    static const char *const literals[] = {"null", "false", "true"};
    const struct pl_switch *sw = &t->schema->switches.ptr[t->record->extra];
    uint32_t count = switch_size(t->schema, sw);
    /* A list of eleven choices is shown in full; only a list of more than twice the usual number is
     * cut. */
    uint32_t n = count <= 2 * MAX_CHOICES ? count : MAX_CHOICES;
    uint32_t n_shown = 0;
    for (int kind = 0; kind <= PL_JSON_TRUE; kind++)
        if (sw->literal[kind] != PL_SCHEMA_NONE) {
            add_separator(to, t, n_shown++);
            pl_buf_adds(to, literals[kind]);
        }
    for (uint32_t i = 0; i < n; i++) {
        add_separator(to, t, n_shown++);
        pl_json_quote(to, switch_text(t->schema, sw, i));
    }
    if (count > n)
        add_total(to, t, count);
}

static struct nearest nearest_switch(const struct topic *t)
{
    const struct pl_switch *sw = &t->schema->switches.ptr[t->record->extra];
    const struct pl_schema_table *table = &t->schema->sets.ptr[sw->set].table;
    struct nearest nearest = nearest_to(pl_json_raw(t->doc, t->record->node));
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct pl_spelling *name = &t->schema->set_slots.ptr[table->first + i].name;
        if (name->text)
            consider(&nearest, pl_spelling_text(name));
    }
    return nearest;
}

/* The nearest property that the schema has. */
static struct nearest nearest_member(const struct topic *t)
{
    const struct pl_schema *s = t->schema;
    uint32_t object = s->infos.ptr[t->record->extra].object;
    struct nearest nearest = nearest_to(pl_json_raw(t->doc, t->record->node));
    if (object == PL_SCHEMA_NONE)
        return nearest;
    const struct pl_schema_table *table = &s->objects.ptr[object].table;
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct pl_slot *slot = &s->slots.ptr[table->first + i];
        if (slot->name.text && slot->prop != PL_SCHEMA_NONE)
            consider(&nearest, pl_spelling_text(&slot->name));
    }
    return nearest;
}

/* Lists those of n names, starting at `first`, that the instance lacks. If there are very many,
 * only the first are checked. */
static void add_missing(struct pl_buf *to, const struct topic *t, uint32_t first, uint32_t n)
{
    uint32_t n_missing = 0, n_shown = 0;
    uint32_t most = 1 + MAX_WORK / (pl_json_count(t->record->node) + 1);
    if (n > most)
        n = most;
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct pl_name *name = &t->schema->names.ptr[first + i];
        if (pl_member_find(t->doc, t->record->node, name))
            continue;
        if (n_missing++ >= MAX_CHOICES)
            continue;
        add_separator(&list, t, n_shown++);
        pl_json_quote(&list, name->text);
    }
    add_word(to, t, n_missing == 1 ? WORD_MEMBER : WORD_MEMBERS);
    pl_buf_add(to, pl_buf_str(&list));
    if (n_missing > MAX_CHOICES)
        add_total(to, t, n_missing);
    if (list.status != PL_OK)
        to->status = list.status;
}

/* The types that the branches of anyOf or oneOf accept together. */
static uint32_t branch_types(const struct topic *t)
{
    const struct pl_schema *s = t->schema;
    uint32_t types = 0;
    bool is_whole = true; /* only whole numbers */
    for (uint32_t i = 0; i < t->record->op->b; i++) {
        uint32_t sub = s->lists.ptr[t->record->op->a + i];
        for (int hop = 0; hop < 16 && s->infos.ptr[sub].n_ops == 1 &&
                          s->ops.ptr[s->infos.ptr[sub].ops].code == PL_OP_REF;
             hop++)
            sub = s->ops.ptr[s->infos.ptr[sub].ops].a;
        uint32_t more = s->subs.ptr[sub].types;
        if (more >> PL_JSON_NUMBER & 1)
            is_whole &= more >> 7;
        types |= more & PL_SCHEMA_ALL_TYPES;
    }
    return types | (is_whole && (types >> PL_JSON_NUMBER & 1) ? PL_SCHEMA_INTEGER : 0);
}

static void add_expected(struct pl_buf *to, const struct topic *t)
{
    const struct pl_record *r = t->record;
    const struct pl_schema *s = t->schema;
    switch (r->say) {
    case PL_SAY_TYPE:
        add_types(to, t, r->op->a);
        break;
    case PL_SAY_NO_BRANCH_TYPE:
        add_types(to, t, branch_types(t));
        break;
    case PL_SAY_ENUM:
        add_choices(to, t);
        break;
    case PL_SAY_FORMAT:
        pl_buf_adds(to, t->x->lang == PL_SCHEMA_ZH ? s->formats.ptr[r->op->a]->expected_zh
                                                   : s->formats.ptr[r->op->a]->expected_en);
        break;
    case PL_SAY_MIN_LENGTH:
    case PL_SAY_MAX_LENGTH:
        add_count(to, t, r->op->a, UNIT_CHARACTER);
        break;
    case PL_SAY_MIN_ITEMS:
    case PL_SAY_MAX_ITEMS:
        add_count(to, t, r->op->a, UNIT_ITEM);
        break;
    case PL_SAY_FEW_CONTAINED:
        add_count(to, t, r->op->b, UNIT_ITEM);
        break;
    case PL_SAY_MANY_CONTAINED:
        add_count(to, t, r->op->c, UNIT_ITEM);
        break;
    case PL_SAY_MIN_MEMBERS:
    case PL_SAY_MAX_MEMBERS:
        add_count(to, t, r->op->a, UNIT_MEMBER);
        break;
    case PL_SAY_REQUIRED:
        add_missing(to, t, r->op->a + r->extra, r->op->b - r->extra);
        break;
    case PL_SAY_DEPENDENT:
        add_missing(to, t, s->deps.ptr[r->extra].names, s->deps.ptr[r->extra].n_names);
        break;
    case PL_SAY_NO_BRANCH:
        pl_buf_addf(to, t->x->lang == PL_SCHEMA_ZH ? " %u " : "%u", r->op->b);
        break;
    case PL_SAY_MANY_BRANCHES:
        pl_buf_addf(to, "%u", r->extra);
        break;
    case PL_SAY_SWITCH_MISSING:
    case PL_SAY_SWITCH_VALUE:
        add_switch_values(to, t);
        break;
    default: /* the keyword's value */
        add_short(to, pl_json_span(t->schema_doc, r->op->key + 1));
    }
}

/* The instance's value, for sentences that compare it with the expected one. */
static void add_second(struct pl_buf *to, const struct topic *t)
{
    const struct pl_record *r = t->record;
    const struct pl_schema *s = t->schema;
    switch (r->say) {
    case PL_SAY_MIN_LENGTH:
    case PL_SAY_MAX_LENGTH:
        add_count(to, t, pl_json_text_count(t->doc, r->node), UNIT_CHARACTER);
        break;
    case PL_SAY_MIN_ITEMS:
    case PL_SAY_MAX_ITEMS:
        add_count(to, t, pl_json_count(r->node), UNIT_ITEM);
        break;
    case PL_SAY_MIN_MEMBERS:
    case PL_SAY_MAX_MEMBERS:
        add_count(to, t, pl_json_count(r->node), UNIT_MEMBER);
        break;
    case PL_SAY_FEW_CONTAINED:
    case PL_SAY_MANY_CONTAINED:
        pl_buf_addf(to, "%u", r->extra);
        break;
    case PL_SAY_DEPENDENT:
        pl_json_quote(to, s->names.ptr[s->deps.ptr[r->extra].name].text);
        break;
    case PL_SAY_SWITCH_MISSING:
        add_word(to, t, WORD_MEMBER);
        pl_json_quote(to, s->names.ptr[s->switches.ptr[r->extra].name].text);
        break;
    default:
        break;
    }
}

static void add_part(struct pl_buf *to, const struct topic *t, char part)
{
    switch (part) {
    case 's':
        add_subject(to, t);
        break;
    case 'v':
        add_value(to, t, t->record->node);
        break;
    case 'x':
        add_expected(to, t);
        break;
    default:
        add_second(to, t);
    }
}

void pl_message_write(struct pl_buf *to, const struct pl_explain *x, const struct pl_record *record)
{
    const struct pl_schema *s = x->run->schema;
    struct topic t = {.x = x,
                      .record = record,
                      .schema = s,
                      .doc = x->run->doc,
                      .schema_doc = &s->docs.ptr[s->infos.ptr[record->sub].doc].json};
    const char *p = sentences[record->say].text[x->lang];
    for (; *p; p++) {
        if (p[0] == '{' && p[1] && p[2] == '}') {
            add_part(to, &t, p[1]);
            p += 2;
        } else {
            pl_buf_addc(to, *p);
        }
    }
    struct nearest nearest = {0};
    bool is_text = pl_json_kind(record->node) == PL_JSON_STRING;
    if (record->say == PL_SAY_ENUM && is_text)
        nearest = nearest_choice(&t);
    else if (record->say == PL_SAY_SWITCH_VALUE && is_text)
        nearest = nearest_switch(&t);
    else if (record->say == PL_SAY_UNEXPECTED_MEMBER)
        nearest = nearest_member(&t);
    add_hint(to, &t, &nearest);
}
