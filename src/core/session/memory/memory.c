/* Chooses the memories for a model call, writes them for the model, and refers to them in the
 * turn. The list of found memories is the input; nothing here searches. */
#include "session/memory/memory.h"

#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

/* A memory is not used if its score is below this percentage of the best score. */
#define LEAST_PERCENT 20

static const char *const headings[] = {
    [PL_MEMORY_NOTES] =
        "Notes from earlier conversations that may matter here. They may be out of date; what the "
        "user says now comes first.",
    [PL_MEMORY_SKILLS] = "Skills for this, and what earlier conversations taught about them.",
};

/* Adds the text as one line: line breaks become spaces. */
static void add_line(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        pl_buf_addc(to, (unsigned char)text.ptr[i] < 0x20 ? ' ' : text.ptr[i]);
}

static void write_note(const struct pl_memory_found *found, struct pl_buf *to)
{
    enum { DATE = 10 };
    char day[PL_UTC_SIZE];
    pl_utc_write(day, found->created_ms);
    pl_buf_adds(to, "\n- ");
    pl_buf_add(to, (struct pl_str){day, DATE});
    if (found->skill_name.len) {
        pl_buf_adds(to, " [");
        add_line(to, found->skill_name);
        pl_buf_addc(to, ']');
    }
    pl_buf_adds(to, ": ");
    add_line(to, found->content);
}

static enum pl_memory_part part_of(const struct pl_memory_found *found)
{
    return found->skill_name.len ? PL_MEMORY_SKILLS : PL_MEMORY_NOTES;
}

void pl_memory_write_text(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, enum pl_memory_part part,
                          struct pl_buf *to)
{
    bool has_any = false;
    for (size_t i = 0; i < choice->n; i++) {
        if (part_of(&found[choice->at[i]]) != part)
            continue;
        if (!has_any)
            pl_buf_adds(to, headings[part]);
        has_any = true;
        write_note(&found[choice->at[i]], to);
    }
}

/* --- choosing -------------------------------------------------------------------------------- */

static enum pl_status count(const struct pl_tokens *tokens, const struct pl_buf *text, size_t *ret)
{
    if (text->status != PL_OK)
        return text->status;
    return pl_tokens_count(tokens, pl_buf_str(text), PL_SPECIAL_AS_TEXT, ret);
}

/* A token may span the end of a line, so the sum over the lines only estimates the whole. If the
 * estimate was too low, the last line is dropped. */
static enum pl_status settle(const struct pl_tokens *tokens, const struct pl_memory_found *found,
                             struct pl_buf *scratch, struct pl_memory_choice *choice)
{
    for (; choice->n; choice->n--) {
        enum pl_status status = PL_OK;
        choice->n_tokens = 0;
        for (int part = PL_MEMORY_NOTES; part <= PL_MEMORY_SKILLS && status == PL_OK; part++) {
            size_t n = 0;
            pl_buf_clear(scratch);
            pl_memory_write_text(found, choice, (enum pl_memory_part)part, scratch);
            status = count(tokens, scratch, &n);
            choice->n_tokens += n;
        }
        if (status != PL_OK || choice->n_tokens <= PL_MEMORY_MAX_TOKENS)
            return status;
    }
    choice->n_tokens = 0;
    return PL_OK;
}

enum pl_status pl_memory_choose(const struct pl_tokens *tokens, const struct pl_memory_found *found,
                                size_t n_found, struct pl_memory_choice *ret_choice)
{
    struct pl_memory_choice choice = {0};
    struct pl_buf scratch PL_CLEANUP_BUF;
    size_t n_sum = 0, n_line = 0;
    pl_buf_init(&scratch, 0);
    pl_buf_adds(&scratch, headings[PL_MEMORY_NOTES]);
    enum pl_status status = count(tokens, &scratch, &n_sum);
    for (size_t i = 0; i < n_found && choice.n < PL_MEMORY_MAX_CHOSEN && status == PL_OK; i++) {
        if (found[i].score * 100 < found[0].score * LEAST_PERCENT)
            break;
        pl_buf_clear(&scratch);
        write_note(&found[i], &scratch);
        status = count(tokens, &scratch, &n_line);
        if (status != PL_OK || n_sum + n_line > PL_MEMORY_MAX_TOKENS)
            continue;
        n_sum += n_line;
        choice.at[choice.n++] = i;
    }
    if (status == PL_OK)
        status = settle(tokens, found, &scratch, &choice);
    if (status == PL_OK)
        *ret_choice = choice;
    return status;
}

/* --- referring ------------------------------------------------------------------------------- */

static struct pl_str first_characters(struct pl_str text, size_t n)
{
    size_t at = 0;
    while (at < text.len && n--)
        (void)pl_utf8_next(text, &at);
    return pl_str_slice(text, 0, at);
}

void pl_memory_write_refs(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < choice->n; i++) {
        const struct pl_memory_found *one = &found[choice->at[i]];
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "id");
        pl_json_out_int(&out, one->id);
        pl_json_out_key(&out, "content_preview");
        pl_json_out_text(&out, first_characters(one->content, PL_MEMORY_PREVIEW));
        pl_json_out_key(&out, "skill_name");
        if (one->skill_name.ptr)
            pl_json_out_text(&out, one->skill_name);
        else
            pl_json_out_null(&out);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
}

void pl_memory_write_items(const struct pl_memory_found *found,
                           const struct pl_memory_choice *choice, enum pl_memory_part part,
                           struct pl_buf *to)
{
    bool is_skill = part == PL_MEMORY_SKILLS;
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < choice->n; i++) {
        const struct pl_memory_found *one = &found[choice->at[i]];
        if (part_of(one) != part)
            continue;
        char title[40];
        int n = snprintf(title, sizeof title, "Memory %lld", (long long)one->id);
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, is_skill ? "name" : "title");
        pl_json_out_text(&out, is_skill ? one->skill_name : (struct pl_str){title, (size_t)n});
        pl_json_out_key(&out, is_skill ? "description" : "content");
        pl_json_out_text(&out, one->content);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
}

/* --- asking ---------------------------------------------------------------------------------- */

/* A text block is a plain string in a row's body (turn_row.c). */
static enum pl_status add_texts(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *blocks, struct pl_buf *to)
{
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n)) {
        struct pl_str text = {0};
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        status = pl_json_text(arena, doc, n, &text);
        if (status != PL_OK)
            return status;
        if (to->len)
            pl_buf_addc(to, '\n');
        pl_buf_add(to, text);
    }
    return to->status;
}

/* Words of greetings and requests, as terms: lower case, without the plural s; and pairs of
 * characters that occur in any Chinese question. A memory that shares only these with a question is
 * not relevant. */
static const char *const common[] = {
    "also",  "give", "go",   "hello", "help", "here", "hi",     "just", "know", "let",
    "like",  "make", "more", "need",  "now",  "ok",   "please", "say",  "see",  "tell",
    "thank", "too",  "use",  "very",  "want", "well", "yes",    "一下", "一个", "一些",
    "一样",  "不是", "为什", "了吗",  "什么", "他们", "你们",   "你好", "再见", "可以",
    "告诉",  "哪个", "哪些", "如何",  "就是", "帮我", "怎么",   "怎样", "我们", "我的",
    "是不",  "是否", "有没", "没有",  "现在", "知道", "给我",   "能不", "请帮", "请问",
    "谢谢",  "还是", "这个", "这些",  "那个", "那么", "那些",   "需要",
};

static bool is_common(struct pl_str term)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (pl_str_eq(term, pl_str_of(common[i])))
            return true;
    return false;
}

void pl_memory_telling_terms(struct pl_str terms, struct pl_buf *to)
{
    while (terms.len) {
        const char *space = memchr(terms.ptr, ' ', terms.len);
        size_t n = space ? (size_t)(space - terms.ptr) : terms.len;
        struct pl_str term = pl_str_slice(terms, 0, n);
        terms = pl_str_slice(terms, space ? n + 1 : n, terms.len);
        if (is_common(term))
            continue;
        if (to->len)
            pl_buf_addc(to, ' ');
        pl_buf_add(to, term);
    }
}

enum pl_status pl_memory_question(struct pl_arena *arena, const struct pl_turn_row *turn,
                                  struct pl_str *ret_words, struct pl_error *err)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, turn->body, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *role = pl_json_get(&doc, doc.root, PL_STR("role"));
    const struct pl_json_node *blocks = pl_json_get(&doc, doc.root, PL_STR("blocks"));
    bool is_users =
        role && pl_json_kind(role) == PL_JSON_STRING && pl_json_text_is(&doc, role, PL_STR("user"));
    *ret_words = is_users ? PL_STR("") : (struct pl_str){0};
    if (!is_users || !blocks || pl_json_kind(blocks) != PL_JSON_ARRAY)
        return PL_OK;
    struct pl_buf words PL_CLEANUP_BUF;
    pl_buf_init(&words, 0);
    status = add_texts(arena, &doc, blocks, &words);
    if (status != PL_OK)
        return status;
    struct pl_str kept = pl_arena_dup(arena, pl_buf_str(&words));
    if (words.len && !kept.ptr)
        return PL_NOMEM;
    if (words.len)
        *ret_words = kept;
    return PL_OK;
}
