/* A chain of hooks: all subscribed extensions are called in load order, and each sees the
 * changes of those before it. A block ends the chain. A missing or invalid answer is a block if
 * the hook fails closed, and is ignored if it fails open. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "json/text.h"

struct pl_ext_chain {
    struct pl_shard *home;  /* borrowed */
    struct pl_ext_set *set; /* held */
    size_t at;              /* of the set: the next to be called */
    struct pl_arena arena;
    struct pl_ext_chain_query query;         /* arena */
    struct pl_ext_subscription subscription; /* of the current one */
    struct pl_ext_ask *ask;                  /* owns itself; borrowed */
    struct pl_ext_ruling ruling;             /* arena */
    struct pl_letter letter;                 /* the first step, in its own turn of the loop */
    void (*done)(void *ctx, const struct pl_ext_ruling *ruling);
    void *ctx;
    bool is_left; /* cancelled while its letter is under way */
};

static void destroy(struct pl_ext_chain *chain)
{
    pl_ext_set_release(chain->set);
    pl_arena_deinit(&chain->arena);
    pl_mem_free(chain);
}

static void finish(struct pl_ext_chain *chain)
{
    chain->done(chain->ctx, &chain->ruling);
    destroy(chain);
}

static void rule(struct pl_ext_chain *chain, enum pl_ext_verdict verdict, struct pl_str by,
                 struct pl_str why)
{
    if (verdict <= chain->ruling.verdict)
        return;
    chain->ruling.verdict = verdict;
    chain->ruling.by = by;
    chain->ruling.why = pl_arena_dup(&chain->arena, why);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool is_verdict(struct pl_str key)
{
    static const char *const words[] = {"block", "ask", "reason", "cancel", "action"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pl_str_eq(key, pl_str_of(words[i])))
            return true;
    return false;
}

static bool is_of_message(struct pl_str key)
{
    return pl_str_eq(key, PL_STR("message")) || pl_str_eq(key, PL_STR("messages"));
}

/* The messages of before_agent_start are collected: none replaces another. */
static void add_message(struct pl_json_out *out, const struct pl_json_doc *old,
                        const struct pl_json_doc *doc, const struct pl_json_node *message)
{
    const struct pl_json_node *before = pl_json_member(old, old->root, "messages", PL_JSON_ARRAY);
    pl_json_out_key(out, "messages");
    pl_json_out_open(out, '[');
    for (const struct pl_json_node *n = before ? pl_json_first(before) : NULL;
         n && n < pl_json_end(before); n = pl_json_next(n))
        pl_json_out_raw(out, pl_json_span(old, n));
    pl_json_out_raw(out, pl_json_span(doc, message));
    pl_json_out_close(out, ']');
}

/* The data with the members that an answer replaces. */
static enum pl_status change(struct pl_ext_chain *chain, const struct pl_json_doc *doc,
                             const struct pl_json_node *changed)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_doc old;
    pl_buf_init(&text, 0);
    enum pl_status status =
        pl_json_parse(&chain->arena, chain->ruling.data, &pl_json_own, &old, NULL);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(&text);
    const struct pl_json_doc *docs[] = {&old, doc};
    const struct pl_json_node *objects[] = {old.root, changed};
    bool adds = chain->query.hook == PL_EXT_HOOK_BEFORE_AGENT_START;
    const struct pl_json_node *message = adds ? pl_json_get(doc, changed, PL_STR("message")) : NULL;
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < 2; i++)
        for (const struct pl_json_node *key = pl_json_first_member(objects[i]);
             key < pl_json_end(objects[i]); key = pl_json_next_member(key)) {
            struct pl_str name;
            status = pl_json_text(&chain->arena, docs[i], key, &name);
            if (status != PL_OK)
                return status;
            if (is_verdict(name) || (i == 0 && pl_json_get(doc, changed, name)) ||
                (message && is_of_message(name)))
                continue;
            pl_json_out_key_str(&out, name);
            pl_json_out_raw(&out, pl_json_span(docs[i], key + 1));
        }
    if (message)
        add_message(&out, &old, doc, message);
    pl_json_out_close(&out, '}');
    struct pl_str data = pl_arena_dup(&chain->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !data.ptr)
        return PL_NOMEM; /* the old data stay: a hook that fails open continues with them */
    chain->ruling.data = data;
    chain->ruling.is_changed = true;
    return PL_OK;
}

/* An answer with changes requires the capability events. */
static bool may_change(struct pl_ext_chain *chain, const struct pl_ext_known *known)
{
    struct pl_ext_registered *registered =
        pl_ext_registered_of(chain->home->server->ext, known, chain->query.user_id);
    struct pl_ext_standing standing = {.known = known, .registered = registered};
    enum pl_ext_reason reason = pl_ext_standing_judge(&standing, PL_EXT_CAP_EVENTS);
    pl_ext_registered_release(registered);
    return pl_ext_reason_decision(reason) == PL_EXT_ALLOW;
}

static void miss(struct pl_ext_chain *chain, struct pl_str by, const char *why)
{
    rule(chain, pl_ext_answer_missing(&chain->subscription), by, pl_str_of(why));
}

static void read_answer(struct pl_ext_chain *chain, const struct pl_ext_known *known,
                        const struct pl_ext_ask *ask)
{
    struct pl_json_doc doc;
    struct pl_ext_answer answer;
    struct pl_error err = {0};
    struct pl_str reason = {0}, by = known->package.id;
    struct pl_str text = pl_arena_dup(&chain->arena, pl_buf_str(&ask->reply));
    enum pl_status status =
        text.ptr ? pl_json_parse(&chain->arena, text, &pl_json_own, &doc, &err) : PL_NOMEM;
    if (status == PL_OK)
        status = pl_ext_answer_read(chain->query.hook, &doc, doc.root, &answer, &err);
    if (status == PL_OK && answer.changed && !may_change(chain, known))
        status = pl_fail(&err, PL_INVALID, "a change needs the capability events");
    if (status == PL_OK && answer.changed)
        status = change(chain, &doc, answer.changed);
    if (status == PL_OK && answer.reason)
        status = pl_json_text(&chain->arena, &doc, answer.reason, &reason);
    if (status != PL_OK) {
        miss(chain, by, err.message[0] ? err.message : "out of memory");
        return;
    }
    chain->ruling.is_handled |= answer.is_handled;
    if (answer.is_handled && !chain->ruling.by.len)
        chain->ruling.by = by;
    rule(chain, answer.verdict, by, reason);
}

static void audit(struct pl_ext_chain *chain, const struct pl_ext_known *known)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    static const char *const verdicts[] = {"go", "ask", "block"};
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "hook");
    pl_json_out_text(&out, pl_str_of(pl_ext_hook_text(chain->query.hook)));
    pl_json_out_key(&out, "verdict");
    pl_json_out_text(&out, pl_str_of(verdicts[chain->ruling.verdict]));
    pl_json_out_key(&out, "is_changed");
    pl_json_out_bool(&out, chain->ruling.is_changed);
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, chain->query.session_id);
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = chain->query.user_id,
        .action = "hook.decision",
        .object = known->package.id,
        .detail = pl_buf_str(&detail),
    };
    if (detail.status == PL_OK)
        pl_ext_audit(chain->home->exts, &what, NULL, NULL);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void step(struct pl_ext_chain *chain);

static void on_answer(struct pl_ext_ask *ask)
{
    struct pl_ext_chain *chain = ask->ctx;
    if (!chain)
        return;
    const struct pl_ext_known *known = chain->set->items[chain->at - 1];
    bool was_changed = chain->ruling.is_changed;
    chain->ask = NULL;
    if (ask->is_failed)
        miss(chain, known->package.id, ask->message);
    else
        read_answer(chain, known, ask);
    if (chain->ruling.verdict != PL_EXT_VERDICT_GO || chain->ruling.is_changed != was_changed)
        audit(chain, known);
    step(chain);
}

static bool ask_one(struct pl_ext_chain *chain, const struct pl_ext_known *known)
{
    const struct pl_ext_chain_query *query = &chain->query;
    struct pl_ext_ask *ask = pl_ext_ask_create(chain->home, PL_EXT_ASK_HOOK);
    if (!ask)
        return false;
    ask->extension_id = pl_ext_ask_keep(ask, known->package.id);
    ask->user_id = pl_ext_ask_keep(ask, query->user_id);
    ask->session_id = pl_ext_ask_keep(ask, query->session_id);
    ask->turn_id = pl_ext_ask_keep(ask, query->turn_id);
    ask->loop_id = pl_ext_ask_keep(ask, query->loop_id);
    ask->tool_call_id = pl_ext_ask_keep(ask, query->tool_call_id);
    ask->tool_name = pl_ext_ask_keep(ask, query->tool_name);
    ask->input = pl_ext_ask_keep(ask, chain->ruling.data);
    ask->hook = query->hook;
    ask->has_person = query->has_person;
    ask->done = on_answer;
    ask->ctx = chain;
    chain->ask = ask;
    pl_ext_ask_send(ask);
    return true;
}

static bool is_over(const struct pl_ext_chain *chain)
{
    return chain->ruling.verdict == PL_EXT_VERDICT_BLOCK || chain->ruling.is_handled;
}

static void step(struct pl_ext_chain *chain)
{
    while (chain->at < chain->set->n && !is_over(chain)) {
        struct pl_ext_known *known = chain->set->items[chain->at++];
        if (known->package.state == PL_EXT_STATE_DISABLED)
            continue;
        struct pl_ext_registered *registered =
            pl_ext_registered_of(chain->home->server->ext, known, chain->query.user_id);
        bool wants =
            registered && pl_ext_registered_wants(registered, chain->query.hook,
                                                  chain->query.tool_name, &chain->subscription);
        pl_ext_registered_release(registered);
        if (!wants)
            continue;
        if (pl_ext_known_state(known, chain->query.user_id) == PL_EXT_STATE_QUARANTINED)
            miss(chain, known->package.id, "it is quarantined");
        else if (ask_one(chain, known))
            return;
        else
            miss(chain, known->package.id, "out of memory");
    }
    finish(chain);
}

static void on_begin(struct pl_letter *letter)
{
    struct pl_ext_chain *chain = PL_CONTAINER_OF(letter, struct pl_ext_chain, letter);
    chain->letter.open = NULL;
    if (chain->is_left)
        destroy(chain);
    else
        step(chain);
}

struct pl_ext_chain *pl_ext_chain_start(struct pl_shard *home,
                                        const struct pl_ext_chain_query *query,
                                        void (*done)(void *ctx, const struct pl_ext_ruling *ruling),
                                        void *ctx)
{
    struct pl_ext_chain *chain = pl_mem_alloc(1, sizeof *chain);
    if (!chain)
        return NULL;
    *chain = (struct pl_ext_chain){.home = home, .query = *query, .done = done, .ctx = ctx};
    pl_arena_init(&chain->arena, 0);
    struct pl_str *strings[] = {&chain->query.user_id,      &chain->query.session_id,
                                &chain->query.turn_id,      &chain->query.loop_id,
                                &chain->query.tool_call_id, &chain->query.tool_name,
                                &chain->query.data};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct pl_str from = *strings[i];
        *strings[i] = pl_arena_dup(&chain->arena, from);
        if (strings[i]->ptr || !from.len)
            continue;
        pl_arena_deinit(&chain->arena);
        pl_mem_free(chain);
        return NULL;
    }
    chain->ruling.data = chain->query.data;
    chain->set = pl_ext_set_hold(home->server->ext);
    chain->letter.open = on_begin;
    pl_loop_post(home->loop, &chain->letter);
    return chain;
}

void pl_ext_chain_cancel(struct pl_ext_chain *chain)
{
    if (!chain)
        return;
    pl_ext_ask_cancel(PL_TAKE(chain->ask));
    if (chain->letter.open)
        chain->is_left = true;
    else
        destroy(chain);
}
