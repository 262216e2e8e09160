/* The names of the built-in tools for people (display_name of seed 003). */
#include "agent/tools/tools.h"

static const struct {
    const char *tool;
    const char *name[2]; /* by enum pl_chat_language */
} names[] = {
    {"AskUserQuestion", {"Ask a question", "提问"}},
    {"Agent", {"Start an agent", "启动子智能体"}},
    {"calc", {"Calculate", "计算"}},
    {"clock", {"Look at the clock", "查看时间"}},
    {"memory_save", {"Save a memory", "保存记忆"}},
    {"memory_search", {"Search memories", "搜索记忆"}},
    {"handoff", {"Hand the task over", "移交任务"}},
    {"planning_enter", {"Start planning", "进入规划"}},
    {"planning_exit", {"Carry out the plan", "执行计划"}},
    {"plan_status", {"Report the plan", "更新计划"}},
    {"echo", {"Echo", "回显"}},
    {"wait", {"Wait", "等待"}},
    {"publish", {"Publish a note", "发布便笺"}},
};

struct pl_str pl_tool_display_name(struct pl_str tool, enum pl_chat_language language)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_str_eq(tool, pl_str_of(names[i].tool)))
            return pl_str_of(names[i].name[language]);
    return tool;
}
