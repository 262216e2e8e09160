/* An extension in C: one tool, one that calls the host, a command and a hook.
 *
 *     cc -O2 -I.. -o greet greet.c && parley ext test . */
#define _GNU_SOURCE
#define PARLEY_EXT_IMPLEMENTATION
#include "parley_ext.h"

static void greet(struct pext_call *call)
{
    char name[100];
    pext_text(pext_get(call->input, "name"), name, sizeof name);
    pext_progress(call, "looking for words");
    pext_reply_text(call, "Hello, %s!", name);
}

/* The size of a file of the workspace: the host reads it, if the extension has the permission. */
static void measure(struct pext_call *call)
{
    char path[300], quoted[2000], params[2100], text[200];
    struct pext_json output;
    pext_text(pext_get(call->input, "path"), path, sizeof path);
    snprintf(params, sizeof params, "{\"op\":\"stat\",\"path\":%s}", pext_quote(path, quoted, sizeof quoted));
    if (pext_host(call, "read", "fs", params, &output)) {
        pext_text(pext_get(output, "size"), text, sizeof text);
        pext_reply_text(call, "%s has %s bytes.", path, text);
    } else {
        pext_text(pext_get(output, "message"), text, sizeof text);
        pext_reply_error(call, "%s", text);
    }
}

static void hello(struct pext_call *call)
{
    char first[100];
    pext_text(pext_get(call->input, "0"), first, sizeof first);
    pext_reply_text(call, "Hello from C, %s.", *first ? first : "you");
}

/* Blocks bash calls that would remove everything. */
static void guard(struct pext_call *call)
{
    char command[2000];
    pext_text(pext_get(call->input, "input.command"), command, sizeof command);
    if (strstr(command, "rm -rf /"))
        pext_reply_json(call, "{\"block\":true,\"reason\":\"that would remove everything\"}", false);
}

int main(int argc, char **argv)
{
    static const struct pext_tool tools[] = {
        {"greet", "Greets somebody.",
         "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}", greet},
        {"measure", "Says how long a file of the workspace is.",
         "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}", measure},
        {0}};
    static const struct pext_tool commands[] = {{"hello", "Says hello.", NULL, hello}, {0}};
    static const struct pext_tool hooks[] = {{"tool_call:bash", NULL, NULL, guard}, {0}};
    return pext_run(argc, argv, tools, commands, hooks);
}
