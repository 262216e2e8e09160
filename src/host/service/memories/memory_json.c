#include "service/memories/memory_json.h"

#include "http/json_members.h"

#include <stdio.h>

static void write_score(struct pl_json_out *out, double score)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%.6g", score);
    pl_put_raw(out, "score", (struct pl_str){text, (size_t)n});
}

void pl_memory_write(struct pl_json_out *out, const struct pl_memory_row *memory, bool has_score)
{
    struct pl_str session = memory->source_session;
    pl_json_out_open(out, '{');
    pl_put_int(out, "id", memory->id);
    pl_put_text(out, "type", memory->type);
    pl_put_text(out, "content", memory->content);
    pl_put_text(out, "skill_name", memory->skill_name);
    pl_put_text(out, "record_type", memory->record_type);
    pl_put_text(out, "scope", memory->scope);
    pl_put_text(out, "owner", memory->owner);
    pl_put_text(out, "topic", memory->topic);
    pl_put_text(out, "mem0_id", memory->mem0_id);
    pl_put_number(out, "superseded_by", memory->superseded_by);
    pl_put_text(out, "write_reason", memory->write_reason);
    pl_put_time(out, "created_at", memory->created_ms);
    pl_put_time(out, "updated_at", memory->updated_ms);
    pl_put_int(out, "hit_count", memory->hit_count);
    pl_put_time(out, "last_hit_at", memory->last_hit_ms);
    pl_put_bool(out, "disabled", memory->disabled);
    pl_put_text(out, "source_session", session.ptr ? session : PL_STR(""));
    if (has_score)
        write_score(out, memory->score);
    pl_json_out_close(out, '}');
}
