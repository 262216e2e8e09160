/* The reasons to refuse a packet, in Chinese. */
#include "base/text/phrase.h"
#include "handoff/handoff.h"

static const struct pl_phrase sentences[] = {
    {"this packet is for \"*\", not for \"*\"", "这个移交包是给 \"$1\" 的，不是给 \"$2\" 的"},
    {"the task was already with \"*\", so this would make a circle; it may go to an agent that has "
     "not had it, or back to the one that gave it to \"*\"",
     "任务已经到过 \"$1\"，这样会形成循环；可以交给没有接手过的智能体，或交还给把它交给 \"$2\" "
     "的那一个"},
    {"this is not the hash of primary_objective; the objective was changed",
     "这不是 primary_objective 的哈希；目标被改动过"},
    {"objective_hash is missing, though the task is on its way (hop_count, visited): without it a "
     "changed objective cannot be told",
     "任务已在途中（hop_count、visited），却缺少 objective_hash：没有它就无法发现目标被改动"},
    {"the previous packet has no objective to compare with", "上一个移交包没有可供比较的目标"},
    {"the objective differs from that of the previous hop; it must not change",
     "目标与上一跳不同；目标不得改动"},
    {"hop_count is * and was * before; every hop adds one",
     "hop_count 是 $1，之前是 $2；每一跳加一"},
    {"\"*\" was visited before but is no longer listed", "\"$1\" 之前到过，现在却不在列表中"},
    {"trace_id was \"*\" before; it must not change", "trace_id 之前是 \"$1\"；它不得改动"},
    {"the constraint \"*\" of the previous hop is missing", "缺少上一跳的约束 \"$1\""},
    {"the artifact \"*\" of the previous hop is missing", "缺少上一跳的产物 \"$1\""},
    {0},
};

bool pl_handoff_reasons_to_chinese(struct pl_handoff_reasons *reasons, struct pl_arena *arena)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t i = 0; i < reasons->list.len; i++) {
        struct pl_handoff_reason *reason = &reasons->list.ptr[i];
        text.len = 0;
        if (!pl_phrase_translate(sentences, reason->message, &text))
            continue;
        reason->message = pl_arena_dup(arena, pl_buf_str(&text));
        if (text.status != PL_OK || !reason->message.ptr)
            return false;
    }
    return true;
}
