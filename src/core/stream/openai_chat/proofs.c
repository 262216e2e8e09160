/* openai-chat streams: reading reasoning_details. OpenRouter forwards the proofs of several vendors:
 * an entry names whose it is, and only that vendor's dialect gets it. Google signs calls: such an
 * entry has the id of its call, which may come later. */
#include "stream/openai_chat/openai_chat_int.h"

#include "base/hash.h"
#include "format/openai_chat/words.h"
#include "stream/pick.h"

enum { TEXT, SUMMARY, DATA, SIGNATURE, FORMAT, ID, INDEX, DETAIL_COUNT };
static const struct pl_str detail_names[] = {
    [TEXT] = {"text", 4},           [SUMMARY] = {"summary", 7}, [DATA] = {"data", 4},
    [SIGNATURE] = {"signature", 9}, [FORMAT] = {"format", 6},   [ID] = {"id", 2},
    [INDEX] = {"index", 5},
};

static const struct pl_dialect *home_of(const struct pl_chat_in *in,
                                        const struct pl_json_node *format)
{
    const struct pl_format *home = pl_chat_proof_home(pl_pick_raw(&in->doc, format), in->model);
    for (size_t i = 0; home && pl_dialects[i]; i++)
        if (pl_dialects[i]->format == home)
            return pl_dialects[i];
    return NULL;
}

static void take_signature(struct pl_chat_in *in, struct pl_str signature,
                           const struct pl_dialect *home)
{
    const struct pl_open_part *part =
        pl_stream_find(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_THINKING));
    if (part && signature.len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_SIGNATURE,
                                  .choice = in->choice,
                                  .part = part->part,
                                  .part_kind = PL_PART_THINKING,
                                  .raw = signature,
                                  .home = home,
                              });
    if (part && signature.len)
        pl_stream_close(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_THINKING));
}

/* A signature ends its thought, and an entry with another index begins one. */
static void begin_at(struct pl_chat_in *in, int64_t index)
{
    struct pl_chat_reader *r = in->r;
    if (index < 0 || r->calls.len)
        return;
    if (r->has_thought && r->thought != index)
        pl_stream_close(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_THINKING));
    r->has_thought = true;
    r->thought = index;
}

void pl_chat_begin_thought(struct pl_chat_in *in, const struct pl_json_node *details)
{
    const struct pl_json_node *d[DETAIL_COUNT];
    if (!pl_json_is(details, PL_JSON_ARRAY) || !pl_json_count(details))
        return;
    pl_pick(&in->doc, pl_json_first(details), detail_names, DETAIL_COUNT, d);
    if (d[TEXT] || d[SUMMARY])
        begin_at(in, pl_pick_count(&in->doc, d[INDEX]));
}

/* ---- signed calls ---- */

static void sign(struct pl_chat_in *in, const struct pl_chat_open_call *call, struct pl_str data)
{
    const struct pl_open_part *part = pl_stream_find(in->s, call->choice, call->key);
    if (part)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_SIGNATURE,
                                  .choice = call->choice,
                                  .part = part->part,
                                  .part_kind = PL_PART_CALL,
                                  .raw = data,
                                  .home = &pl_dialect_gemini,
                              });
}

static void keep(struct pl_chat_in *in, uint64_t id, struct pl_str data)
{
    struct pl_chat_proof proof = {.id = id};
    pl_buf_init(&proof.data, 0);
    pl_buf_add(&proof.data, data);
    if (proof.data.status == PL_OK && pl_vec_push(&in->r->proofs, proof))
        return;
    pl_buf_deinit(&proof.data);
    in->s->status = PL_NOMEM;
}

static void take_call_proof(struct pl_chat_in *in, struct pl_str id, struct pl_str data)
{
    uint64_t hash = pl_hash(id) | 1;
    for (size_t i = 0; i < in->r->calls.len; i++)
        if (in->r->calls.ptr[i].id == hash) {
            sign(in, &in->r->calls.ptr[i], data);
            return;
        }
    keep(in, hash, data);
}

void pl_chat_sign_call(struct pl_chat_in *in, const struct pl_chat_open_call *call)
{
    for (size_t i = 0; call->id && i < in->r->proofs.len; i++) {
        struct pl_chat_proof *proof = &in->r->proofs.ptr[i];
        if (proof->id != call->id)
            continue;
        sign(in, call, pl_buf_str(&proof->data));
        pl_buf_deinit(&proof->data);
        *proof = in->r->proofs.ptr[--in->r->proofs.len];
        return;
    }
}

void pl_chat_drop_proofs(struct pl_chat_reader *r)
{
    for (size_t i = 0; i < r->proofs.len; i++)
        pl_buf_deinit(&r->proofs.ptr[i].data);
    pl_vec_deinit(&r->proofs);
}

/* ---- entries ---- */

static void take_data(struct pl_chat_in *in, struct pl_str data, struct pl_str id,
                      const struct pl_dialect *home)
{
    if (home == &pl_dialect_gemini && in->s->to == home && id.len) {
        take_call_proof(in, id, data);
        return;
    }
    pl_chat_settle(in, false);
    if (in->r->calls.len)
        return; /* redacted reasoning after a call did not lead to that call, so it is useless */
    pl_stream_open(
        in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_REDACTED),
        &(struct pl_delta){.part_kind = PL_PART_REDACTED, .raw = data, .id = id, .home = home});
    pl_stream_close(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_REDACTED));
}

void pl_chat_take_details(struct pl_chat_in *in, const struct pl_json_node *details, bool is_said)
{
    if (!pl_json_is(details, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(details), *end = pl_json_end(details);
         n < end; n = pl_json_next(n)) {
        const struct pl_json_node *d[DETAIL_COUNT];
        pl_pick(&in->doc, n, detail_names, DETAIL_COUNT, d);
        const struct pl_dialect *home = home_of(in, d[FORMAT]);
        if (!is_said && (d[TEXT] || d[SUMMARY]))
            begin_at(in, pl_pick_count(&in->doc, d[INDEX]));
        if (!is_said)
            pl_chat_say(in, PL_PART_THINKING,
                        pl_pick_raw(&in->doc, d[TEXT] ? d[TEXT] : d[SUMMARY]));
        take_signature(in, pl_pick_raw(&in->doc, d[SIGNATURE]), home);
        if (pl_pick_raw(&in->doc, d[DATA]).len)
            take_data(in, pl_pick_raw(&in->doc, d[DATA]),
                      home ? pl_pick_raw(&in->doc, d[ID]) : (struct pl_str){0}, home);
    }
}
