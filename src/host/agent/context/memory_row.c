/* Writes the members of a Memory object into a row, and computes its search terms. */
#include "agent/context/memory_row.h"

#include "base/text/terms.h"
#include "base/text/utf8.h"
#include "json/text.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"type", offsetof(struct pl_memory_row, type)},
    {"content", offsetof(struct pl_memory_row, content)},
    {"skill_name", offsetof(struct pl_memory_row, skill_name)},
    {"record_type", offsetof(struct pl_memory_row, record_type)},
    {"scope", offsetof(struct pl_memory_row, scope)},
    {"owner", offsetof(struct pl_memory_row, owner)},
    {"topic", offsetof(struct pl_memory_row, topic)},
    {"mem0_id", offsetof(struct pl_memory_row, mem0_id)},
    {"write_reason", offsetof(struct pl_memory_row, write_reason)},
    {"source_session", offsetof(struct pl_memory_row, source_session)},
};

/* White space of any script (Unicode White_Space), and invisible characters. */
static bool is_blank(struct pl_str text)
{
    static const struct {
        int32_t first, last;
    } blanks[] = {
        {0, 0x20},        {0x7F, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200D},
        {0x2028, 0x202F}, {0x205F, 0x2060}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
    };
    for (size_t at = 0; at < text.len;) {
        int32_t c = pl_utf8_next(text, &at);
        bool is_in = false;
        for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
            is_in |= c >= blanks[i].first && c <= blanks[i].last;
        if (!is_in)
            return false;
    }
    return true;
}

static enum pl_status read_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *value, struct pl_str *field)
{
    struct pl_str text = {0};
    if (pl_json_kind(value) == PL_JSON_STRING) {
        enum pl_status status = pl_json_text(arena, doc, value, &text);
        if (status != PL_OK)
            return status;
        text = text.len ? text : PL_STR("");
    }
    *field = text;
    return PL_OK;
}

enum pl_status pl_memory_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *pointer,
                              struct pl_memory_row *memory, struct pl_error *err)
{
    struct pl_memory_row row = *memory;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct pl_json_node *value = pl_json_get(doc, object, pl_str_of(texts[i].name));
        struct pl_str *field = (struct pl_str *)((char *)&row + texts[i].offset);
        enum pl_status status = value ? read_text(arena, doc, value, field) : PL_OK;
        if (status != PL_OK)
            return status;
    }
    if (!row.source_session.ptr)
        row.source_session = PL_STR("");
    const struct pl_json_node *disabled = pl_json_get(doc, object, PL_STR("disabled"));
    if (disabled)
        row.disabled = pl_json_kind(disabled) == PL_JSON_TRUE;
    if (is_blank(row.content)) {
        (void)pl_fail(err, PL_INVALID, "A memory must not be blank.");
        pl_error_point(err, "%s/content", pointer);
        return PL_INVALID;
    }
    *memory = row;
    return PL_OK;
}

enum pl_status pl_memory_set_terms(struct pl_arena *arena, struct pl_memory_row *memory)
{
    const struct pl_str said[] = {memory->content, memory->topic, memory->skill_name};
    struct pl_buf terms PL_CLEANUP_BUF;
    pl_buf_init(&terms, 0);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (terms.len && said[i].len)
            pl_buf_addc(&terms, ' ');
        pl_terms_of_text(said[i], &terms);
    }
    if (terms.status != PL_OK)
        return terms.status;
    memory->terms = pl_arena_dup(arena, pl_buf_str(&terms));
    if (terms.len && !memory->terms.ptr)
        return PL_NOMEM;
    if (!terms.len)
        memory->terms = PL_STR("");
    return PL_OK;
}
