/* Events of a session for extensions that only listen: its published frames, as events of seed 004;
 * that it was loaded or left the memory; that its model changed. They contain ids and the change,
 * never the whole session. */
#include "agent/driver_int.h"
#include "agent/hooks/hooks.h"
#include "ext/run/ext.h"
#include "json/json.h"
#include "json/write.h"

static const struct {
    enum pl_frame_kind frame;
    enum pl_ext_hook hook;
} told[] = {
    {PL_FRAME_CHAT_START, PL_EXT_HOOK_AGENT_START}, {PL_FRAME_TURN_START, PL_EXT_HOOK_TURN_START},
    {PL_FRAME_TURN_END, PL_EXT_HOOK_TURN_END},      {PL_FRAME_TURN_END, PL_EXT_HOOK_MESSAGE_END},
    {PL_FRAME_CHAT_END, PL_EXT_HOOK_AGENT_END},     {PL_FRAME_CHAT_END, PL_EXT_HOOK_AGENT_SETTLED},
};

static void put(struct pl_json_out *out, const struct pl_json_doc *doc,
                const struct pl_json_node *object, const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    if (!n || pl_json_is_container(n))
        return;
    pl_json_out_key(out, key);
    pl_json_out_raw(out, pl_json_span(doc, n));
}

static void tell(struct pl_driver *driver, enum pl_ext_hook hook,
                 const struct pl_session_frame *frame)
{
    static const char *const keys[] = {"session_id", "status", "reason", "model"};
    static const char *const of_turn[] = {"turn_id", "loop_id", "role", "status"};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf data;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    pl_buf_init(&data, 0);
    if (pl_json_parse(&arena, frame->data, &pl_json_own, &doc, NULL) != PL_OK)
        return;
    const struct pl_json_node *turn = pl_json_member(&doc, doc.root, "turn", PL_JSON_OBJECT);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(&out, &doc, doc.root, keys[i]);
    for (size_t i = 0; turn && i < sizeof of_turn / sizeof *of_turn; i++)
        put(&out, &doc, turn, of_turn[i]);
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_ext_tell(driver->drivers->shard, pl_session_record(driver->session)->user_id,
                    driver->link.key, hook, (struct pl_str){0}, pl_buf_str(&data));
}

/* --- start, end, model ------------------------------------------------------------------------- */

static bool wants(const struct pl_driver *driver, enum pl_ext_hook hook)
{
    struct pl_ext_server *ext = driver->drivers->shard->server->ext;
    return pl_ext_server_has_any(ext) &&
           pl_ext_wants(ext, pl_session_record(driver->session)->user_id, hook, (struct pl_str){0});
}

/* {"session_id", "model", KEY: word} */
static void tell_word(struct pl_driver *driver, enum pl_ext_hook hook, const char *key,
                      struct pl_str word)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, driver->link.key);
    pl_json_out_key(&out, "model");
    pl_json_out_text(&out, record->model);
    pl_json_out_key(&out, key);
    pl_json_out_text(&out, word);
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_ext_tell(driver->drivers->shard, record->user_id, driver->link.key, hook,
                    (struct pl_str){0}, pl_buf_str(&data));
}

static void note_model(struct pl_driver *driver)
{
    pl_buf_clear(&driver->told_model);
    pl_buf_add(&driver->told_model, pl_session_record(driver->session)->model);
}

void pl_driver_tell_start(struct pl_driver *driver, struct pl_str reason)
{
    note_model(driver);
    if (driver->is_start_told)
        return;
    driver->is_start_told = true;
    if (wants(driver, PL_EXT_HOOK_SESSION_START))
        tell_word(driver, PL_EXT_HOOK_SESSION_START, "reason", reason);
}

void pl_driver_tell_end(struct pl_driver *driver, const char *reason)
{
    if (!driver->is_start_told || !driver->session)
        return;
    driver->is_start_told = false;
    if (wants(driver, PL_EXT_HOOK_SESSION_SHUTDOWN))
        tell_word(driver, PL_EXT_HOOK_SESSION_SHUTDOWN, "reason", pl_str_of(reason));
}

static void tell_model(struct pl_driver *driver)
{
    struct pl_str before = pl_buf_str(&driver->told_model);
    if (driver->told_model.status == PL_OK &&
        pl_str_eq(before, pl_session_record(driver->session)->model))
        return;
    if (wants(driver, PL_EXT_HOOK_MODEL_SELECT))
        tell_word(driver, PL_EXT_HOOK_MODEL_SELECT, "previous_model", before);
    note_model(driver);
}

/* The additions of before_agent_start are valid for one answer. */
static void note_answers(struct pl_driver *driver)
{
    const struct pl_session_out *out = &driver->drivers->out;
    for (size_t i = 0; i < out->frames.len; i++)
        if (out->frames.ptr[i].kind == PL_FRAME_CHAT_START ||
            out->frames.ptr[i].kind == PL_FRAME_CHAT_END)
            pl_hook_agent_over(driver);
}

void pl_driver_tell_extensions(struct pl_driver *driver)
{
    struct pl_ext_server *ext = driver->drivers->shard->server->ext;
    const struct pl_session_out *out = &driver->drivers->out;
    note_answers(driver);
    tell_model(driver);
    if (!out->frames.len || !pl_ext_server_has_any(ext))
        return;
    struct pl_str user_id = pl_session_record(driver->session)->user_id;
    for (size_t i = 0; i < out->frames.len; i++)
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (told[k].frame == out->frames.ptr[i].kind &&
                pl_ext_wants(ext, user_id, told[k].hook, (struct pl_str){0}))
                tell(driver, told[k].hook, &out->frames.ptr[i]);
}
