/* Searches the memories of a user by the words of the newest message, and passes the best of them
 * to session/memory/memory.h. */
#include "agent/context/recall.h"

#include "base/text/terms.h"
#include "base/text/utf8.h"
#include "model/model.h"
#include "store/library.h"

#include <pthread.h>

#define MAX_FOUND 60   /* more than can be chosen: short ones may replace long ones */
#define MAX_READ  300  /* more than that: some belong to other sessions */
#define MAX_WORDS 8192 /* bytes of a message that are read for its search terms */

bool pl_recall_is_for(struct pl_str loop_id, struct pl_str model)
{
    return pl_str_eq(loop_id, PL_STR("root")) && !pl_model_replayed(model).len;
}

/* Created for the first memory that is measured, and kept while the process runs: creating it takes
 * too long for every call, and it never changes. */
static enum pl_status vocabulary(const struct pl_tokens **ret_tokens)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct pl_tokens *tokens;
    enum pl_status status = PL_OK;
    pthread_mutex_lock(&lock);
    if (!tokens)
        status = pl_tokens_create(PL_ENCODING_O200K_BASE, &tokens);
    *ret_tokens = tokens;
    pthread_mutex_unlock(&lock);
    return status;
}

/* --- the question ---------------------------------------------------------------------------- */

/* The newest turn of a user; *ret_words stays {NULL, 0} if there is none. */
static enum pl_status find_words(struct pl_arena *arena, const struct pl_turn_row *turns, size_t n,
                                 struct pl_str *ret_words, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    *ret_words = (struct pl_str){0};
    for (size_t i = n; i > 0 && status == PL_OK && !ret_words->ptr; i--)
        status = pl_memory_question(arena, &turns[i - 1], ret_words, err);
    return status;
}

/* --- the answer ------------------------------------------------------------------------------ */

static enum pl_status keep(struct pl_arena *arena, const struct pl_buf *from, struct pl_str *ret)
{
    if (from->status != PL_OK)
        return from->status;
    *ret = pl_arena_dup(arena, pl_buf_str(from));
    return ret->ptr ? PL_OK : PL_NOMEM;
}

struct pl_memory_home pl_memory_home(const struct pl_memory_row *row)
{
    return (struct pl_memory_home){row->scope, row->owner, row->skill_name, row->source_session};
}

static enum pl_status write_part(struct pl_arena *arena, const struct pl_memory_found *found,
                                 const struct pl_memory_choice *choice, enum pl_memory_part part,
                                 struct pl_recall *recall)
{
    struct pl_buf text PL_CLEANUP_BUF, items PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    pl_buf_init(&items, 0);
    pl_memory_write_text(found, choice, part, &text);
    if (!text.len)
        return text.status;
    pl_memory_write_items(found, choice, part, &items);
    enum pl_status status = keep(arena, &text, &recall->parts[part].text);
    return status == PL_OK ? keep(arena, &items, &recall->parts[part].items) : status;
}

static enum pl_status choose(struct pl_arena *arena, const struct pl_session_record *session,
                             struct pl_str words, const struct pl_memory_page *page,
                             struct pl_recall *recall)
{
    struct pl_memory_found found[MAX_FOUND];
    struct pl_memory_choice choice;
    const struct pl_tokens *tokens = NULL;
    size_t n = 0;
    for (size_t i = 0; i < page->n_items && n < MAX_FOUND; i++) {
        const struct pl_memory_row *row = &page->items[i];
        struct pl_memory_home home = pl_memory_home(row);
        if (pl_memory_is_for(&home, session, words))
            found[n++] = (struct pl_memory_found){row->id, row->content, row->skill_name,
                                                  row->created_ms, row->score};
    }
    if (!n)
        return PL_OK;
    enum pl_status status = vocabulary(&tokens);
    if (status == PL_OK)
        status = pl_memory_choose(tokens, found, n, &choice);
    if (status != PL_OK || !choice.n)
        return status;
    struct pl_buf refs PL_CLEANUP_BUF;
    pl_buf_init(&refs, 0);
    pl_memory_write_refs(found, &choice, &refs);
    status = keep(arena, &refs, &recall->refs);
    for (int part = PL_MEMORY_NOTES; part <= PL_MEMORY_SKILLS && status == PL_OK; part++)
        status = write_part(arena, found, &choice, (enum pl_memory_part)part, recall);
    for (size_t i = 0; i < choice.n; i++)
        recall->ids[i] = found[choice.at[i]].id;
    recall->n = choice.n;
    recall->n_tokens = choice.n_tokens;
    return status;
}

static enum pl_status read_terms(struct pl_str words, struct pl_buf *ret_terms)
{
    struct pl_buf terms PL_CLEANUP_BUF;
    pl_buf_init(&terms, 0);
    words = pl_str_slice(words, 0, pl_utf8_valid_prefix(pl_str_slice(words, 0, MAX_WORDS)));
    pl_terms_of_query(words, PL_TERMS_TELLING, &terms);
    pl_memory_telling_terms(pl_buf_str(&terms), ret_terms);
    return terms.status == PL_OK ? ret_terms->status : terms.status;
}

static enum pl_status search(struct pl_store *store, struct pl_arena *arena,
                             const struct pl_session_record *session, struct pl_str words,
                             int64_t now_ms, struct pl_recall *recall, struct pl_error *err)
{
    struct pl_buf terms PL_CLEANUP_BUF;
    struct pl_memory_page page;
    pl_buf_init(&terms, 0);
    enum pl_status status = read_terms(words, &terms);
    if (status != PL_OK || !terms.len)
        return status;
    struct pl_memory_query query = {
        .user_id = session->user_id,
        .created_before_ms = INT64_MAX,
        .terms = pl_buf_str(&terms),
        .now_ms = now_ms,
        .limit = MAX_READ,
        .before_id = INT64_MAX,
    };
    status = pl_store_memory_list(store, arena, &query, &page, err);
    return status == PL_OK ? choose(arena, session, words, &page, recall) : status;
}

enum pl_status pl_recall_read(struct pl_store *store, struct pl_arena *arena,
                              const struct pl_session_record *session,
                              const struct pl_context *context, int64_t now_ms,
                              struct pl_recall *ret_recall, struct pl_error *err)
{
    struct pl_str words;
    struct pl_recall recall = {0};
    enum pl_status status = find_words(arena, context->turns, context->n_turns, &words, err);
    if (status == PL_OK && !words.ptr && context->has_asked)
        status = find_words(arena, &context->asked, 1, &words, err);
    if (status == PL_OK && words.len)
        status = search(store, arena, session, words, now_ms, &recall, err);
    if (status == PL_OK)
        *ret_recall = recall;
    return status;
}
