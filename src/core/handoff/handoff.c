/* Checks a packet: schema, agents, the hash of the objective, and the chain of hops. Collects all
 * reasons for a refusal. */
#include "handoff/handoff_int.h"

#include "base/map.h"
#include "base/text/utf8.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/builtin.h"
#include "schema/schema.h"

#include <stdarg.h>
#include <stdio.h>

void pl_handoff_hash(struct pl_str objective, char ret_hash[PL_HANDOFF_HASH + 1])
{
    static const char name[] = "sha256:";
    memcpy(ret_hash, name, sizeof name);
    pl_sha256_hex(objective, ret_hash + sizeof name - 1);
}

const struct pl_json_node *pl_handoff_node(const struct pl_json_doc *doc, const char *first,
                                           const char *second)
{
    const struct pl_json_node *n = pl_json_get(doc, doc->root, pl_str_of(first));
    return n && second ? pl_json_get(doc, n, pl_str_of(second)) : n;
}

struct pl_str pl_handoff_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const char *first, const char *second, enum pl_status *status)
{
    const struct pl_json_node *n = pl_handoff_node(doc, first, second);
    struct pl_str text = {0};
    if (n && pl_json_kind(n) == PL_JSON_STRING && pl_json_text(arena, doc, n, &text) != PL_OK)
        *status = PL_NOMEM;
    return text;
}

bool pl_handoff_hash_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                        char ret_hash[PL_HANDOFF_HASH + 1], enum pl_status *status)
{
    struct pl_str objective = pl_handoff_text(arena, doc, "context", "primary_objective", status);
    if (objective.len) {
        pl_handoff_hash(objective, ret_hash);
        return true;
    }
    struct pl_str hash = pl_handoff_text(arena, doc, "objective_hash", NULL, status);
    if (hash.len != PL_HANDOFF_HASH)
        return false;
    memcpy(ret_hash, hash.ptr, hash.len);
    ret_hash[hash.len] = '\0';
    return true;
}

int64_t pl_handoff_hops(const struct pl_json_doc *doc)
{
    const struct pl_json_node *n = pl_handoff_node(doc, "hop_count", NULL);
    int64_t hops = 0;
    return n && pl_json_kind(n) == PL_JSON_NUMBER &&
                   pl_json_number_int64(pl_json_span(doc, n), &hops)
               ? hops
               : 0;
}

bool pl_handoff_has(const struct pl_json_doc *doc, const struct pl_json_node *list,
                    struct pl_str text)
{
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (pl_json_kind(n) == PL_JSON_STRING && pl_json_text_is(doc, n, text))
            return true;
    return false;
}

void pl_handoff_reasons_deinit(struct pl_handoff_reasons *reasons)
{
    pl_vec_deinit(&reasons->list);
}

struct check {
    struct pl_arena *arena;
    const struct pl_json_doc *packet, *previous;
    struct pl_handoff_reasons reasons;
    enum pl_status status;
};

static void add_reason(struct check *c, struct pl_str pointer, struct pl_str message)
{
    if (!pl_vec_push(&c->reasons.list, (struct pl_handoff_reason){pointer, message}))
        c->status = PL_NOMEM;
}

__attribute__((format(printf, 3, 4))) static void refuse(struct check *c, const char *pointer,
                                                         const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct pl_str kept = pl_arena_dup(c->arena, pl_str_of(message));
    if (!kept.ptr)
        c->status = PL_NOMEM;
    else
        add_reason(c, pl_str_of(pointer), kept);
}

static enum pl_status check_schema(struct check *c, struct pl_error *err)
{
    struct pl_schema *schema = NULL;
    struct pl_schema_run *run = NULL;
    struct pl_schema_opts opts = {.asserts_format = true};
    struct pl_schema_report report = {0};
    const struct pl_schema_builtin *builtin = pl_schema_builtin_find(PL_STR("handoff"));
    enum pl_status status =
        builtin ? pl_schema_compile(builtin->text, &opts, &schema, err) : PL_INTERNAL;
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status =
            pl_schema_explain(run, c->arena, c->packet, c->packet->root, c->reasons.lang, &report);
    for (uint32_t i = 0; status == PL_OK && !report.is_valid && i < report.n_units; i++)
        add_reason(c, report.units[i].instance_location, report.units[i].message);
    pl_schema_run_destroy(run);
    pl_schema_destroy(schema);
    return status == PL_OK ? c->status : status;
}

static void check_agents(struct check *c, struct pl_str receiver)
{
    struct pl_str source = pl_handoff_text(c->arena, c->packet, "meta", "source_agent", &c->status);
    struct pl_str target = pl_handoff_text(c->arena, c->packet, "meta", "target_agent", &c->status);
    if (receiver.len && !pl_str_eq(receiver, target))
        refuse(c, "/meta/target_agent", "this packet is for \"%.*s\", not for \"%.*s\"",
               PL_STR_ARG(target), PL_STR_ARG(receiver));
    if (target.len && pl_handoff_is_circle(c->arena, c->packet, source, target, &c->status))
        refuse(c, "/meta/target_agent", PL_HANDOFF_CIRCLE, PL_STR_ARG(target), PL_STR_ARG(source));
}

/* A packet with a hop count also has the hash. */
static bool is_travelling(const struct pl_json_doc *packet)
{
    const struct pl_json_node *visited = pl_handoff_node(packet, "visited", NULL);
    return pl_handoff_hops(packet) > 0 ||
           (visited && pl_json_kind(visited) == PL_JSON_ARRAY && pl_json_count(visited));
}

static void check_objective(struct check *c)
{
    char hash[PL_HANDOFF_HASH + 1], before[PL_HANDOFF_HASH + 1];
    if (!pl_handoff_hash_of(c->arena, c->packet, hash, &c->status))
        return; /* the schema check reports it */
    struct pl_str said = pl_handoff_text(c->arena, c->packet, "meta", "objective_hash", &c->status);
    if (said.len && !pl_str_eq(said, pl_str_of(hash)))
        refuse(c, "/meta/objective_hash",
               "this is not the hash of primary_objective; the objective was changed");
    else if (!said.len && is_travelling(c->packet))
        refuse(c, "/meta",
               "objective_hash is missing, though the task is on its way (hop_count, visited): "
               "without it a changed objective cannot be told");
    if (!c->previous)
        return;
    if (!pl_handoff_hash_of(c->arena, c->previous, before, &c->status))
        refuse(c, "", "the previous packet has no objective to compare with");
    else if (strcmp(hash, before) != 0)
        refuse(c, "/context/primary_objective",
               "the objective differs from that of the previous hop; it must not change");
}

static void check_chain(struct check *c)
{
    if (!c->previous)
        return;
    /* All three are optional; absent members are not wrong. */
    if (pl_handoff_node(c->packet, "hop_count", NULL) &&
        pl_handoff_hops(c->packet) <= pl_handoff_hops(c->previous))
        refuse(c, "/hop_count", "hop_count is %lld and was %lld before; every hop adds one",
               (long long)pl_handoff_hops(c->packet), (long long)pl_handoff_hops(c->previous));
    const struct pl_json_node *visited = pl_handoff_node(c->packet, "visited", NULL);
    const struct pl_json_node *list = pl_handoff_node(c->previous, "visited", NULL);
    if (visited && list && pl_json_kind(list) == PL_JSON_ARRAY)
        for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
             n = pl_json_next(n)) {
            struct pl_str agent;
            if (pl_json_kind(n) != PL_JSON_STRING)
                continue;
            if (pl_json_text(c->arena, c->previous, n, &agent) != PL_OK)
                c->status = PL_NOMEM;
            else if (!pl_handoff_has(c->packet, visited, agent))
                refuse(c, "/visited", "\"%.*s\" was visited before but is no longer listed",
                       PL_STR_ARG(agent));
        }
    struct pl_str trace = pl_handoff_text(c->arena, c->packet, "trace_id", NULL, &c->status);
    struct pl_str before = pl_handoff_text(c->arena, c->previous, "trace_id", NULL, &c->status);
    if (trace.len && before.len && !pl_str_eq(trace, before))
        refuse(c, "/trace_id", "trace_id was \"%.*s\" before; it must not change",
               PL_STR_ARG(before));
}

/* --- what each hop must keep ----------------------------------------------------------------- */

enum { MAX_QUOTED = 80 /* code points */ };

/* Shortens a text; returns "…" if it was cut. */
static const char *shorten(struct pl_str *text)
{
    size_t at = 0;
    for (int n = 0; n < MAX_QUOTED && at < text->len; n++)
        (void)pl_utf8_next(*text, &at);
    bool is_short = at == text->len;
    text->len = at;
    return is_short ? "" : "…";
}

static struct pl_str text_of(struct check *c, const struct pl_json_doc *doc,
                             const struct pl_json_node *n)
{
    struct pl_str text = {0};
    if (pl_json_text(c->arena, doc, n, &text) != PL_OK)
        c->status = PL_NOMEM;
    return text;
}

static void note(struct check *c, struct pl_map *set, struct pl_str text)
{
    bool is_new;
    if (!pl_map_put(set, text, &is_new))
        c->status = PL_NOMEM;
}

static void check_constraints(struct check *c)
{
    const struct pl_json_node *now = pl_handoff_node(c->packet, "context", "constraints");
    const struct pl_json_node *was = pl_handoff_node(c->previous, "context", "constraints");
    struct pl_map kept = {0};
    if (pl_json_is(now, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(now); n < pl_json_end(now);
             n = pl_json_next(n))
            if (pl_json_is(n, PL_JSON_STRING))
                note(c, &kept, text_of(c, c->packet, n));
    if (pl_json_is(was, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(was); n < pl_json_end(was);
             n = pl_json_next(n)) {
            if (!pl_json_is(n, PL_JSON_STRING))
                continue;
            struct pl_str text = text_of(c, c->previous, n);
            if (pl_map_get(&kept, text))
                continue;
            const char *more = shorten(&text);
            refuse(c, "/context/constraints",
                   "the constraint \"%.*s%s\" of the previous hop is missing", PL_STR_ARG(text),
                   more);
        }
    pl_map_deinit(&kept);
}

/* An artifact may have moved, but its name must stay. */
static void check_artifacts(struct check *c)
{
    const struct pl_json_node *now = pl_handoff_node(c->packet, "context", "artifacts");
    const struct pl_json_node *was = pl_handoff_node(c->previous, "context", "artifacts");
    struct pl_map kept = {0};
    if (pl_json_is(now, PL_JSON_OBJECT))
        for (const struct pl_json_node *key = pl_json_first_member(now); key < pl_json_end(now);
             key = pl_json_next_member(key))
            note(c, &kept, text_of(c, c->packet, key));
    if (pl_json_is(was, PL_JSON_OBJECT))
        for (const struct pl_json_node *key = pl_json_first_member(was); key < pl_json_end(was);
             key = pl_json_next_member(key)) {
            struct pl_str name = text_of(c, c->previous, key);
            if (pl_map_get(&kept, name))
                continue;
            const char *more = shorten(&name);
            refuse(c, "/context/artifacts",
                   "the artifact \"%.*s%s\" of the previous hop is missing", PL_STR_ARG(name),
                   more);
        }
    pl_map_deinit(&kept);
}

enum pl_status pl_handoff_check(struct pl_arena *arena, const struct pl_json_doc *packet,
                                const struct pl_json_doc *previous, struct pl_str receiver,
                                struct pl_handoff_reasons *ret_reasons, struct pl_error *err)
{
    struct check c = {.arena = arena,
                      .packet = packet,
                      .previous = previous,
                      .reasons = {.lang = ret_reasons->lang}};
    enum pl_status status = check_schema(&c, err);
    if (status == PL_OK) {
        check_agents(&c, receiver);
        check_objective(&c);
        check_chain(&c);
        if (previous) {
            check_constraints(&c);
            check_artifacts(&c);
        }
        status = c.status;
    }
    if (status == PL_OK && c.reasons.lang == PL_SCHEMA_ZH &&
        !pl_handoff_reasons_to_chinese(&c.reasons, arena))
        status = PL_NOMEM;
    if (status != PL_OK) {
        pl_handoff_reasons_deinit(&c.reasons);
        return status;
    }
    *ret_reasons = c.reasons;
    return PL_OK;
}

void pl_handoff_reasons_write(struct pl_json_out *out, const struct pl_handoff_reasons *reasons)
{
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < reasons->list.len; i++) {
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "pointer");
        pl_json_out_text(out, reasons->list.ptr[i].pointer);
        pl_json_out_key(out, "message");
        pl_json_out_text(out, reasons->list.ptr[i].message);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

void pl_handoff_answer_write(struct pl_buf *to, struct pl_arena *arena,
                             const struct pl_json_doc *packet,
                             const struct pl_handoff_answer *answer)
{
    static const char *const copied[] = {"handoff_id", "trace_id", "hop_count", "visited"};
    struct pl_json_out out = pl_json_out(to);
    char hash[PL_HANDOFF_HASH + 1];
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "protocol");
    pl_json_out_text(&out, PL_STR("harmony_handoff_v1"));
    pl_json_out_key(&out, "answer");
    pl_json_out_text(&out, answer->is_accepted ? PL_STR("accepted") : PL_STR("refused"));
    pl_json_out_key(&out, "agent");
    pl_json_out_text(&out, answer->agent);
    pl_json_out_key(&out, "timestamp");
    pl_json_out_text(&out, answer->timestamp);
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const struct pl_json_node *n = pl_handoff_node(packet, copied[i], NULL);
        if (!n)
            continue;
        pl_json_out_key(&out, copied[i]);
        pl_json_out_raw(&out, pl_json_span(packet, n));
    }
    if (pl_handoff_hash_of(arena, packet, hash, &to->status)) {
        pl_json_out_key(&out, "objective_hash");
        pl_json_out_text(&out, pl_str_of(hash));
    }
    pl_json_out_key(&out, "reasons");
    pl_handoff_reasons_write(&out, answer->reasons);
    pl_json_out_close(&out, '}');
}
