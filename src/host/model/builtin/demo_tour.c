/* The script that demo/agent plays if the message contains none: a tour through everything that a
 * session can show, each kind of block once. "/demo NAME" plays a failure. It uses the language of
 * the message. */
#include "model/builtin/demo_tour.h"

static const char tour_en[] =
    "#!demo\n"
    "think Somebody wants to see what an agent can do. I show one thing after the other, and begin "
    "with the clock.\n"
    "say Welcome. I am a demo: nothing here costs anything, and nothing leaves this machine. I "
    "look at the clock first.\n"
    "call clock {}\n"
    "---\n"
    "say Several tools can work at once. One of these three will fail, and that is fine: I see the "
    "failure and go on.\n"
    "call calc {\"expression\":\"(1299 - 15) * 1.19\"}\n"
    "call calc {\"expression\":\"1 / 0\"}\n"
    "call echo {\"found\":[\"report.pdf\",\"notes.md\"]}\n"
    "---\n"
    "block system_notification \"One of the tools has failed; the agent was told so.\"\n"
    "think Dividing by zero has no result. The other two have worked. What comes next is the "
    "person's decision.\n"
    "say Some decisions are yours, so I ask.\n"
    "call AskUserQuestion {\"questions\":[{\"question\":\"What shall the note be "
    "about?\",\"header\":\"Topic\",\"options\":"
    "[{\"label\":\"The weather\",\"description\":\"Short and kind\"},{\"label\":\"The "
    "figures\",\"description\":\"With the "
    "result of the calculation\"}]},{\"question\":\"Who may read "
    "it?\",\"header\":\"Readers\",\"multiSelect\":true,"
    "\"options\":[{\"label\":\"The team\"},{\"label\":\"Everybody\"}]}]}\n"
    "---\n"
    "say Thank you. Before I change anything I make a plan.\n"
    "call planning_enter {\"reason\":\"A note is published, and that cannot be taken back.\"}\n"
    "---\n"
    "call plan_status {\"title\":\"Publish a note\",\"steps\":[{\"id\":\"1\",\"title\":\"Ask a "
    "helper for a title\",\"status\":"
    "\"pending\"},{\"id\":\"2\",\"title\":\"Publish the "
    "note\",\"status\":\"pending\"},{\"id\":\"3\",\"title\":\"Open it in the "
    "application\",\"status\":\"pending\"}]}\n"
    "---\n"
    "say This is the plan. You decide whether it is carried out.\n"
    "call planning_exit {\"plan\":\"1. Ask a helper for a title.\\n2. Publish the note, with your "
    "permission.\\n3. Open it in "
    "the application.\"}\n"
    "---\n"
    "say A helper works on its own, in a lane of its own.\n"
    "call plan_status {\"title\":\"Publish a note\",\"steps\":[{\"id\":\"1\",\"title\":\"Ask a "
    "helper for a title\",\"status\":"
    "\"in_progress\"},{\"id\":\"2\",\"title\":\"Publish the "
    "note\",\"status\":\"pending\"},{\"id\":\"3\",\"title\":\"Open it in "
    "the application\",\"status\":\"pending\"}]}\n"
    "call Agent {\"description\":\"Find a title\",\"prompt\":\"#!demo\\nthink A title needs few "
    "words.\\nsay Three small "
    "wonders\"}\n"
    "---\n"
    "say The helper suggests a title. Publishing needs your permission: all that would be "
    "published is in the question.\n"
    "call publish {\"title\":\"Three small wonders\",\"html\":\"<!doctype html><meta "
    "charset=utf-8><style>body{font:15px "
    "system-ui;margin:16px}</style><h3>Three small wonders</h3><p>A card of a tool: it runs in a "
    "frame of its own and "
    "cannot reach the "
    "page.</p><script>parent.postMessage({type:'parley:size',height:140},'*')</script>\"}\n"
    "---\n"
    "say Tools can also ask the application around me to do something.\n"
    "call echo "
    "{\"opened\":true,\"_meta\":{\"bridge\":{\"action\":\"open_document\",\"target\":\"document\","
    "\"params\":{\"id\":"
    "\"note-1\"}}}}\n"
    "call plan_status {\"title\":\"Publish a note\",\"steps\":[{\"id\":\"1\",\"title\":\"Ask a "
    "helper for a title\",\"status\":"
    "\"completed\"},{\"id\":\"2\",\"title\":\"Publish the "
    "note\",\"status\":\"completed\"},{\"id\":\"3\",\"title\":\"Open it in "
    "the application\",\"status\":\"completed\"}]}\n"
    "---\n"
    "say That was everything: thinking, tools, a question, a plan, a confirmation, a card, an "
    "action, a helper. What I say can name "
    "its source<cite id=\"cit_1\"/>. Try /demo 429, /demo drop, /demo badjson or /demo 200k to see "
    "how failures look.\n"
    "about {\"citation_map\":{\"cit_1\":{\"type\":\"document\",\"title\":\"About this "
    "demo\",\"cited_text\":\"Each kind of block is "
    "shown once.\"}}}\n";

static const char tour_zh[] =
    "#!demo\n"
    "think 有人想看看智能体能做什么。 我一样一样地演示， 先看时钟。\n"
    "say 欢迎。 我是演示模型： 这里的一切都不花钱， 也不会离开这台机器。 我先看一下时钟。\n"
    "call clock {}\n"
    "---\n"
    "say 几个工具可以同时工作。 下面三个中有一个会失败， 这没有关系： 我会看到失败， 然后继续。\n"
    "call calc {\"expression\":\"(1299 - 15) * 1.19\"}\n"
    "call calc {\"expression\":\"1 / 0\"}\n"
    "call echo {\"found\":[\"报告.pdf\",\"笔记.md\"]}\n"
    "---\n"
    "block system_notification \"有一个工具失败了，智能体已得知。\"\n"
    "think 除以零没有结果。 另外两个成功了。 接下来由人决定。\n"
    "say 有些事该由您决定， 所以我来问。\n"
    "call AskUserQuestion "
    "{\"questions\":[{\"question\":\"便笺写什么？\",\"header\":\"主题\",\"options\":[{\"label\":"
    "\"天气\","
    "\"description\":\"简短亲切\"},{\"label\":\"数字\",\"description\":\"附上计算结果\"}]},{"
    "\"question\":\"谁可以读？\",\"header\":"
    "\"读者\",\"multiSelect\":true,\"options\":[{\"label\":\"团队\"},{\"label\":\"所有人\"}]}]}\n"
    "---\n"
    "say 谢谢。 在改动任何东西之前， 我先做计划。\n"
    "call planning_enter {\"reason\":\"便笺一经发布便无法收回。\"}\n"
    "---\n"
    "call plan_status "
    "{\"title\":\"发布便笺\",\"steps\":[{\"id\":\"1\",\"title\":\"请助手拟标题\",\"status\":"
    "\"pending\"},{\"id\":"
    "\"2\",\"title\":\"发布便笺\",\"status\":\"pending\"},{\"id\":\"3\",\"title\":\"在应用中打开\","
    "\"status\":\"pending\"}]}\n"
    "---\n"
    "say 这就是计划。 是否执行由您决定。\n"
    "call planning_exit {\"plan\":\"1. 请助手拟标题。\\n2. 经您允许后发布便笺。\\n3. "
    "在应用中打开。\"}\n"
    "---\n"
    "say 助手独立工作， 有自己的一栏。\n"
    "call plan_status "
    "{\"title\":\"发布便笺\",\"steps\":[{\"id\":\"1\",\"title\":\"请助手拟标题\",\"status\":\"in_"
    "progress\"},{"
    "\"id\":\"2\",\"title\":\"发布便笺\",\"status\":\"pending\"},{\"id\":\"3\",\"title\":"
    "\"在应用中打开\",\"status\":\"pending\"}]}\n"
    "call Agent {\"description\":\"拟标题\",\"prompt\":\"#!demo\\nthink 标题要短。\\nsay "
    "三件小事\"}\n"
    "---\n"
    "say 助手拟好了标题。 发布需要您的允许： 要发布的全部内容都在确认框里。\n"
    "call publish {\"title\":\"三件小事\",\"html\":\"<!doctype html><meta "
    "charset=utf-8><style>body{font:15px "
    "system-ui;margin:16px}</style><h3>三件小事</"
    "h3><p>这是工具的卡片：它在自己的框里运行，碰不到页面。</p>"
    "<script>parent.postMessage({type:'parley:size',height:140},'*')</script>\"}\n"
    "---\n"
    "say 工具也可以请我所在的应用做一件事。\n"
    "call echo "
    "{\"opened\":true,\"_meta\":{\"bridge\":{\"action\":\"open_document\",\"target\":\"document\","
    "\"params\":{\"id\":"
    "\"note-1\"}}}}\n"
    "call plan_status "
    "{\"title\":\"发布便笺\",\"steps\":[{\"id\":\"1\",\"title\":\"请助手拟标题\",\"status\":"
    "\"completed\"},{\"id\":"
    "\"2\",\"title\":\"发布便笺\",\"status\":\"completed\"},{\"id\":\"3\",\"title\":"
    "\"在应用中打开\",\"status\":\"completed\"}]}\n"
    "---\n"
    "say 全部演示完毕： 思考、工具、提问、计划、确认、卡片、动作、助手。 我说的话可以注明出处<cite "
    "id=\"cit_1\"/>。 试试 /demo 429、"
    "/demo drop、/demo badjson 或 /demo 200k， 看看各种失败的样子。\n"
    "about "
    "{\"citation_map\":{\"cit_1\":{\"type\":\"document\",\"title\":\"关于本演示\",\"cited_text\":"
    "\"每种内容块演示一次。\"}}}\n";

static const struct {
    const char *name, *script;
} failures[] = {
    {"429",
     "#!demo\nrefuse 429 20000 The provider says: too many requests; try again in 20 seconds.\n"},
    {"drop", "#!demo\nsay This answer begins well, but in the middle of the\nrefuse 0 0 The "
             "connection to the provider broke "
             "off in the middle of the answer.\n"},
    {"badjson", "#!demo\nsay I call a tool, and write its arguments badly.\ncall calc "
                "{\"expression\": \"1 +\n---\nsay The "
                "arguments were no JSON. The tool was not run, and I was told so.\n"},
    {"200k", "#!demo\noverflow\n"},
};

bool pl_demo_tour_find(struct pl_str text, const char **ret_script)
{
    struct pl_str start = PL_STR("/demo");
    bool is_command =
        pl_str_starts(text, start) && (text.len == start.len || text.ptr[start.len] == ' ');
    struct pl_str name = is_command ? pl_str_slice(text, start.len, text.len) : (struct pl_str){0};
    while (name.len && name.ptr[0] == ' ')
        name = pl_str_slice(name, 1, name.len);
    while (name.len && (unsigned char)name.ptr[name.len - 1] <= ' ')
        name.len--;
    *ret_script = "#!demo\nsay /demo knows 429, drop, badjson and 200k.\n";
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (pl_str_eq(name, pl_str_of(failures[i].name)))
            *ret_script = failures[i].script;
    return is_command;
}

const char *pl_demo_tour_script(bool is_chinese)
{
    return is_chinese ? tour_zh : tour_en;
}
