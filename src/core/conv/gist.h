/* What a part that only one vendor has (PL_PART_OTHER) says, in words that everybody has.
 *
 * The readers leave such parts alone, for at home they go back whole. On the way to another format
 * format/adapt/restate.c asks the source's format for the gist. Where the target has a shape for it, the
 * target's writer makes that of the gist; elsewhere it becomes ordinary parts: text, images. */
#ifndef PL_CONV_GIST_H
#define PL_CONV_GIST_H

#include "conv/conv.h"

enum pl_service {
    PL_SERVICE_NONE,
    PL_SERVICE_PASSAGES, /* no tool: a document or a search result that is made of several blocks */
    PL_SERVICE_IMAGE,    /* an image that the model made */
    PL_SERVICE_SEARCH,   /* a search of the web */
    PL_SERVICE_FETCH,    /* a page of the web */
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
    uint32_t number;        /* the same for a call and its result, from 1 on; made by restate.c */
    struct pl_val id;       /* of the call, also in its result */
    struct pl_val name;     /* of the tool; the title of passages */
    struct pl_val server;   /* of MCP */
    struct pl_val input;    /* of the call: what is searched, the address, the program, arguments */
    struct pl_val output;   /* of the result: what the program printed, what the tool said */
    struct pl_val language; /* of the program, where it is what every sandbox runs: Python */
    struct pl_val errors;   /* what it printed as errors; why it failed */
    struct pl_val url;      /* where passages come from */
    struct pl_val context;
    struct pl_val cache; /* a marker on all of it */
    struct pl_flag is_error;
    /* Of the result, or the passages: what else there is. A FILE that has an address and a title
     * and no data is a source that was found. */
    struct pl_part *parts; /* arena */
    uint32_t n_parts;
    const struct pl_gist *answer; /* of a call for a target that joins them: its result, or NULL */
};

/* Room for n parts, none of which is there yet; false when out of memory, or when the source has
 * too many items (conv->status). */
bool pl_gist_room(struct pl_conv *conv, struct pl_gist *gist, uint32_t n);
/* One more, empty, of the room. */
struct pl_part *pl_gist_add(struct pl_gist *gist, enum pl_part_kind kind,
                            const struct pl_json_node *node);

#endif
