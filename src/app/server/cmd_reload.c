/* parley reload: like SIGHUP, over the control socket and with an answer. */
#include "app/frame/api.h"

#include "json/text.h"
#include "json/write.h"

/* Prints the texts of a member as "a, b". */
static void list(struct pl_console *console, struct pl_texts *texts, const struct pl_json_doc *doc,
                 const char *member, const char *before)
{
    const struct pl_json_node *names = pl_json_get(doc, doc->root, pl_str_of(member));
    if (!names || pl_json_kind(names) != PL_JSON_ARRAY || !pl_json_count(names))
        return;
    pl_console_puts(console, before);
    for (const struct pl_json_node *name = pl_json_first(names); name < pl_json_end(names);
         name = pl_json_next(name)) {
        struct pl_str text = {0};
        pl_console_puts(console, name == pl_json_first(names) ? " " : ", ");
        if (pl_json_text(&texts->arena, doc, name, &text) == PL_OK)
            pl_console_put_safe(console, text);
    }
    pl_console_puts(console, "\n");
}

static enum pl_exit reload(struct pl_api *api)
{
    struct pl_json_doc doc = {0};
    enum pl_exit code =
        pl_api_ask(api, "POST", "/api/admin/reload", (struct pl_str){NULL, 0}, &doc);
    if (code != PL_EXIT_OK)
        return code;
    if (!doc.root || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_api_fail(api, PL_IO, &(struct pl_error){.message = "the answer is not JSON"});
    if (api->is_json) {
        pl_console_put(api->console, pl_json_span(&doc, doc.root));
        pl_console_puts(api->console, "\n");
        return PL_EXIT_OK;
    }
    const struct pl_json_node *changed = pl_json_get(&doc, doc.root, PL_STR("changed"));
    bool is_same = changed && pl_json_kind(changed) == PL_JSON_ARRAY && !pl_json_count(changed);
    if (is_same)
        pl_console_put_line(api->console, "reloaded; nothing changed");
    list(api->console, &api->texts, &doc, "changed", "reloaded; changed:");
    list(api->console, &api->texts, &doc, "needs_restart", "needs a restart:");
    return PL_EXIT_OK;
}

enum pl_exit pl_cmd_reload(struct pl_console *console, const struct pl_args *args)
{
    struct pl_api api;
    enum pl_exit code = pl_api_open_local(&api, console, args, "reload");
    /* A configuration file that cannot be read counts as an error in the file, too. */
    if (code == PL_EXIT_UNREADABLE)
        code = PL_EXIT_NO;
    if (code == PL_EXIT_OK)
        code = reload(&api);
    pl_api_close(&api);
    return code;
}
