/* The content of a part that only one vendor has (PL_PART_OTHER), in a form common to all.
 *
 * Readers leave such parts alone, because writing the same format copies them whole. In a
 * conversion, format/adapt/restate.c asks the source's format for the gist. If the target has a
 * shape for it, the target's writer writes that shape; otherwise the gist becomes ordinary parts:
 * text, images. */
#ifndef PL_CONV_GIST_H
#define PL_CONV_GIST_H

#include "conv/conv.h"

enum pl_service {
    PL_SERVICE_NONE,
    PL_SERVICE_PASSAGES, /* not a tool: a document or a search result of several blocks */
    PL_SERVICE_IMAGE,    /* an image that the model made */
    PL_SERVICE_SEARCH,   /* a web search */
    PL_SERVICE_FETCH,    /* a web page */
    PL_SERVICE_CODE,     /* a program that ran in the vendor's sandbox */
    PL_SERVICE_MCP,      /* a tool of an MCP server that the vendor called */
    PL_SERVICE_FILES,    /* a search of files at the vendor */
    PL_SERVICE_OTHER,    /* any other tool that runs at the vendor */
    PL_SERVICE_COUNT,
};

#define PL_SERVICE_BIT(service) ((uint32_t)1 << (service))

struct pl_gist {
    enum pl_service service;
    bool has_call, has_result;
    uint32_t number;        /* shared by a call and its result, from 1; set by restate.c */
    struct pl_val id;       /* of the call, also in its result */
    struct pl_val name;     /* of the tool; the title of passages */
    struct pl_val server;   /* of MCP */
    struct pl_val input;    /* of the call: query, address, program or arguments */
    struct pl_val output;   /* of the result: output of the program or tool */
    struct pl_val language; /* of the program, if every sandbox runs it: Python */
    struct pl_val errors;   /* error output, or why it failed */
    struct pl_val url;      /* source of the passages */
    struct pl_val context;
    struct pl_val cache; /* a marker on the whole */
    struct pl_flag is_error;
    /* Other content of the result or the passages. A FILE with an address and a title but no data
     * is a source that was found. */
    struct pl_part *parts; /* arena */
    uint32_t n_parts;
    const struct pl_gist *answer; /* in a call, for a target that joins the two: its result, or
                                     NULL */
};

/* Makes room for n parts. False when out of memory, or when the source has too many items
 * (conv->status). */
bool pl_gist_room(struct pl_conv *conv, struct pl_gist *gist, uint32_t n);
/* Adds an empty part in that room. */
struct pl_part *pl_gist_add(struct pl_gist *gist, enum pl_part_kind kind,
                            const struct pl_json_node *node);

#endif
