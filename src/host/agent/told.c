/* What extensions hear of a session without deciding: the frames that it publishes, as events of seed 004. They carry ids
 * and what changed, never the whole session. */
#include "agent/driver_int.h"
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

void pl_driver_tell_extensions(struct pl_driver *driver)
{
    struct pl_ext_server *ext = driver->drivers->shard->server->ext;
    const struct pl_session_out *out = &driver->drivers->out;
    if (!out->frames.len || !pl_ext_server_has_any(ext))
        return;
    struct pl_str user_id = pl_session_record(driver->session)->user_id;
    for (size_t i = 0; i < out->frames.len; i++)
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (told[k].frame == out->frames.ptr[i].kind &&
                pl_ext_wants(ext, user_id, told[k].hook, (struct pl_str){0}))
                tell(driver, told[k].hook, &out->frames.ptr[i]);
}
