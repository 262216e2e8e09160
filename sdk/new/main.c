/* @NAME@: a tool for Parley. `make` builds it. */
#define _GNU_SOURCE
#define PARLEY_EXT_IMPLEMENTATION
#include "parley_ext.h"

static void run(struct pext_call *call)
{
    static char text[100000];
    size_t n = 0;
    pext_text(pext_get(call->input, "text"), text, sizeof text);
    for (char *word = strtok(text, " \t\r\n"); word; word = strtok(NULL, " \t\r\n"))
        n++;
    pext_reply_text(call, "%zu words", n);
}

int main(int argc, char **argv)
{
    static const struct pext_tool tools[] = {
        {"@TOOL@", "Counts the words of a text.",
         "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}", run},
        {0}};
    return pext_run(argc, argv, tools, NULL, NULL);
}
