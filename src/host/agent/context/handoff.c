#include "agent/context/handoff.h"

#include "agent/context/session_document.h"
#include "base/text/utc.h"
#include "format/source.h"
#include "io/clock.h"
#include "json/text.h"

/* The previous hop is the packet that the session accepted; no other one is possible. */
static enum pl_status take_previous(struct pl_arena *arena, const struct pl_session_record *record,
                                    struct pl_json_doc *doc, struct pl_handoff_opts *options,
                                    struct pl_error *err)
{
    if (!record->handoff.len)
        return PL_OK;
    if (options->previous)
        return pl_fail(
            err, PL_INVALID,
            "This session accepted a packet, which is the hop before; leave \"previous\" "
            "out");
    enum pl_status status = pl_json_parse(arena, record->handoff, &pl_json_own, doc, err);
    options->previous = doc;
    return status;
}

/* The instructions of the session also apply to the next agent. */
static enum pl_status add_system_prompt(struct pl_arena *arena,
                                        const struct pl_session_record *record,
                                        struct pl_handoff_opts *options)
{
    size_t n = options->constraints.len;
    if (!record->system_prompt.len)
        return PL_OK;
    struct pl_str *texts = pl_arena_zalloc(arena, n + 1, sizeof *texts);
    if (!texts)
        return PL_NOMEM;
    texts[0] = record->system_prompt;
    for (size_t i = 0; i < n; i++)
        texts[i + 1] = options->constraints.ptr[i];
    options->constraints = (struct pl_handoff_texts){texts, n + 1};
    return PL_OK;
}

enum pl_status pl_handoff_write(struct pl_store *store, const struct pl_handoff_of *of,
                                struct pl_handoff_opts options, struct pl_buf *to,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf turns;
    PL_CLEANUP_ARENA struct pl_arena arena;
    char now[PL_UTC_SIZE];
    pl_buf_init(&turns, 0);
    pl_arena_init(&arena, 0);
    pl_utc_write(now, pl_clock_unix_s() * 1000);
    options.timestamp = (struct pl_str){now, sizeof now};
    options.id = of->session_id;
    struct pl_session_record record;
    struct pl_json_doc previous;
    struct pl_document_opts root = {of->session_id, PL_STR("root")};
    enum pl_status status =
        pl_store_session_get(store, &arena, of->user_id, of->session_id, &record, err);
    if (status == PL_OK)
        status = take_previous(&arena, &record, &previous, &options, err);
    if (status == PL_OK)
        status = add_system_prompt(&arena, &record, &options);
    if (status == PL_OK)
        status = pl_session_turns_write(store, &root, &turns, NULL, err);
    if (status != PL_OK)
        return status;
    if (!options.source.len && !options.previous)
        options.source = PL_STR("parley");
    PL_CLEANUP_SOURCE struct pl_source source;
    status = pl_source_open(&source, pl_buf_str(&turns), pl_format_find(PL_STR("turns")), 0, err);
    return status == PL_OK ? pl_handoff_make(to, &source.conv, &options, err) : status;
}
