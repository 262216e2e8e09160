/* The event message_update: the text of an answer as it arrives. Each update has the whole current
 * block, or its last 32 KiB, so the newest update is enough: a slow extension may miss others. */
#include "agent/activity_int.h"
#include "agent/hooks/hooks.h"
#include "base/text/utf8.h"
#include "ext/run/ext.h"
#include "json/write.h"

enum { EVERY_MS = 100, KEPT = 32 << 10 };

void pl_hook_update_begin(struct pl_activity *activity)
{
    struct pl_ext_server *ext = activity->server->ext;
    activity->tells_updates =
        pl_ext_server_has_any(ext) &&
        pl_ext_wants(ext, activity->user_id, PL_EXT_HOOK_MESSAGE_UPDATE, (struct pl_str){0});
}

static void tell(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    const struct {
        const char *key;
        struct pl_str text;
    } members[] = {
        {"session_id", activity->session_id},
        {"turn_id", activity->effect.turn_id},
        {"loop_id", activity->effect.loop_id},
        {"type", activity->is_update_thinking ? PL_STR("thinking") : PL_STR("text")},
        {"text", pl_buf_str(&activity->update)},
    };
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_json_out_key(&out, members[i].key);
        pl_json_out_text(&out, members[i].text);
    }
    pl_json_out_key(&out, "offset");
    pl_json_out_int(&out, activity->update_offset);
    pl_json_out_close(&out, '}');
    activity->is_update_due = false;
    activity->updated_ms = pl_loop_now_ms(activity->loop);
    if (data.status == PL_OK && activity->update.status == PL_OK)
        pl_ext_tell(activity->shard, activity->user_id, activity->session_id,
                    PL_EXT_HOOK_MESSAGE_UPDATE, (struct pl_str){0}, pl_buf_str(&data));
}

static void on_time(struct pl_timer *timer)
{
    tell(PL_CONTAINER_OF(timer, struct pl_activity, update_timer));
}

/* Drops the oldest text if there is twice as much as is kept. */
static void shorten(struct pl_activity *activity)
{
    struct pl_str all = pl_buf_str(&activity->update);
    size_t at = 0;
    if (all.len < 2 * KEPT)
        return;
    while (at < all.len - KEPT && pl_utf8_next(all, &at) >= 0)
        activity->update_offset++;
    memmove(activity->update.ptr, activity->update.ptr + at, all.len - at);
    activity->update.len -= at;
}

void pl_hook_update(struct pl_activity *activity, bool is_thinking, struct pl_str text)
{
    if (!activity->tells_updates || !text.len)
        return;
    if (is_thinking != activity->is_update_thinking)
        pl_hook_update_break(activity);
    activity->is_update_thinking = is_thinking;
    pl_buf_add(&activity->update, text);
    shorten(activity);
    activity->is_update_due = true;
    if (pl_timer_is_on(&activity->update_timer))
        return;
    int64_t wait_ms = activity->updated_ms + EVERY_MS - pl_loop_now_ms(activity->loop);
    pl_timer_start(activity->loop, &activity->update_timer, wait_ms > 0 ? wait_ms : 0, on_time);
}

void pl_hook_update_break(struct pl_activity *activity)
{
    pl_hook_update_end(activity);
    pl_buf_clear(&activity->update);
    activity->update_offset = 0;
}

void pl_hook_update_end(struct pl_activity *activity)
{
    pl_timer_stop(activity->loop, &activity->update_timer);
    if (activity->is_update_due)
        tell(activity);
}
