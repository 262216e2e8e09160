/* Hosted tools that several vendors have: web search, a sandbox for programs, calls of MCP servers.
 * One table maps their members, another the start of their declarations. */
#ifndef PL_FORMAT_HOSTED_TOOLS_H
#define PL_FORMAT_HOSTED_TOOLS_H

#include "format/format.h"

/* A declaration of the source. */
struct pl_hosted_tool {
    enum pl_service service;
    const struct pl_json_node *node; /* the object that holds its members; may be empty */
};

struct pl_hosted_tools {
    struct pl_hosted_tool *ptr; /* arena */
    size_t len;
};

/* The tools of the source that the target has too, in order. None for a target of the same format:
 * there they are copied whole. Running out of memory is in conv->status. */
struct pl_hosted_tools pl_hosted_tools_for(struct pl_conv *conv,
                                           const struct pl_conversion *conversion);
/* The name that a declaration of that service has at Anthropic; NULL: none. */
const char *pl_hosted_tool_name(enum pl_service service);
/* Whether a tool of that service is among them. */
bool pl_hosted_tools_have(const struct pl_hosted_tools *tools, enum pl_service service);
/* Writes the declaration as one object. Anthropic has a separate list for MCP servers. */
void pl_hosted_tool_write(struct pl_writer *w, const struct pl_conversion *conversion,
                          const struct pl_hosted_tool *tool);

#endif
