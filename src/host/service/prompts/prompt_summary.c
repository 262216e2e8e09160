/* Counts the words of a difference: runs of letters between spaces, and single characters of
 * scripts without spaces, as the difference splits them. */
#include "service/prompts/prompt_summary.h"

#include "base/sha/sha256.h"
#include "http/json_members.h"
#include "json/text.h"
#include "service/prompts/prompt_json.h"

struct words {
    int64_t n_added, n_removed;
};

static int64_t count_words(struct pl_str text)
{
    int64_t n = 0;
    bool is_inside = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_space = c <= ' ';
        bool is_alone =
            c >= 0xE3 && c <= 0xE9; /* the first byte of a Chinese or Japanese character */
        n += is_alone || (!is_space && !is_inside && (c & 0xC0) != 0x80);
        is_inside = !is_space && !is_alone && (is_inside || (c & 0xC0) != 0x80);
    }
    return n;
}

static enum pl_status add_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *word, struct words *words)
{
    const struct pl_json_node *op = pl_json_get(doc, word, PL_STR("op"));
    const struct pl_json_node *node = pl_json_member(doc, word, "text", PL_JSON_STRING);
    struct pl_str text = {0};
    if (!op || !node)
        return PL_OK;
    enum pl_status status = pl_json_text(arena, doc, node, &text);
    if (pl_json_text_is(doc, op, PL_STR("added")))
        words->n_added += count_words(text);
    else if (pl_json_text_is(doc, op, PL_STR("removed")))
        words->n_removed += count_words(text);
    return status;
}

static enum pl_status compare(struct pl_exchange *x, const struct pl_prompt_text *from,
                              const struct pl_prompt_text *to, struct words *words,
                              struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_buf_init(&text, 0);
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_prompt_diff(&arena, from, to, &text, err);
    if (status == PL_OK)
        status = pl_json_parse(&arena, pl_buf_str(&text), &pl_json_own, &doc, err);
    const struct pl_json_node *blocks =
        status == PL_OK ? pl_json_member(&doc, doc.root, "blocks", PL_JSON_ARRAY) : NULL;
    for (const struct pl_json_node *block = blocks ? pl_json_first(blocks) : NULL;
         blocks && block < pl_json_end(blocks) && status == PL_OK; block = pl_json_next(block)) {
        const struct pl_json_node *list = pl_json_member(&doc, block, "words", PL_JSON_ARRAY);
        for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
             list && one < pl_json_end(list) && status == PL_OK; one = pl_json_next(one))
            status = add_words(&arena, &doc, one, words);
    }
    (void)x;
    return status;
}

/* Counts the changes since the previous version; zero if there is none. */
static enum pl_status count_changes(struct pl_exchange *x,
                                    const struct pl_prompt_version_row *version,
                                    struct words *words, struct pl_error *err)
{
    struct pl_prompt_text to = pl_prompt_text_of(version);
    struct pl_prompt_version_row before;
    if (version->version <= 1)
        return PL_OK;
    enum pl_status status =
        pl_store_prompt_version_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                    version->prompt_id, version->version - 1, &before, err);
    if (status == PL_NOT_FOUND)
        return PL_OK;
    struct pl_prompt_text from = pl_prompt_text_of(&before);
    return status == PL_OK ? compare(x, &from, &to, words, err) : status;
}

enum pl_status pl_prompt_summary_write(struct pl_exchange *x,
                                       const struct pl_prompt_version_row *version,
                                       struct pl_buf *to, struct pl_error *err)
{
    struct words words = {0};
    char hash[sizeof "sha256:" + PL_SHA256_HEX] = "sha256:";
    enum pl_status status = count_changes(x, version, &words, err);
    if (status != PL_OK)
        return status;
    pl_sha256_spell((const unsigned char *)version->hash.ptr, hash + strlen("sha256:"));
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "prompt_id", version->prompt_id);
    pl_put_int(&out, "version", version->version);
    pl_put_text(&out, "type", version->type);
    pl_put_text(&out, "note", version->note);
    pl_put_text(&out, "content_hash", pl_str_of(hash));
    pl_put_number(&out, "based_on", version->based_on);
    pl_put_number(&out, "restored_from", version->restored_from);
    pl_put_time(&out, "created_at", version->created_ms);
    pl_put_int(&out, "words_added", words.n_added);
    pl_put_int(&out, "words_removed", words.n_removed);
    pl_json_out_close(&out, '}');
    return to->status;
}
