/* Requests for embeddings and their answers. Clients speak OpenAI's shape; a provider speaks one of
 * three:
 *
 *     openai   {"model","input":…,"dimensions"}             {"data":[{"embedding":[…]}],"usage":{…}}
 *     ollama   {"model","input":…,"dimensions"}             {"embeddings":[[…]],"prompt_eval_count"}
 *     gemini   {"requests":[{"model","content","outputDimensionality"}]}  {"embeddings":[{"values":[…]}]}
 *
 * An answer has the encoding that was asked for, also from a server that knows only one. */
#ifndef PL_FORMAT_EMBED_EMBED_H
#define PL_FORMAT_EMBED_EMBED_H

#include "base/buf.h"
#include "base/status.h"
#include "json/json.h"

#define PL_EMBED_MAX_INPUTS 2048

enum pl_embed_shape {
    PL_EMBED_NONE, /* no embeddings */
    PL_EMBED_OPENAI,
    PL_EMBED_OLLAMA,
    PL_EMBED_GEMINI,
    PL_EMBED_SHAPES,
};
/* "none", "openai" … */
extern const char *const pl_embed_words[PL_EMBED_SHAPES];

/* A parsed request in OpenAI's shape: nodes of its document. */
struct pl_embed_request {
    const struct pl_json_doc *doc; /* borrowed */
    const struct pl_json_node *input;
    size_t n_inputs;
    bool is_tokens;     /* inputs are token numbers, not texts */
    int64_t n_tokens;   /* … their number */
    int64_t dimensions; /* 0: that of the model */
    bool wants_base64;
};

/* PL_INVALID with a message and a pointer. */
enum pl_status pl_embed_read(const struct pl_json_doc *doc, struct pl_embed_request *ret,
                             struct pl_error *err);
/* The i-th text; only for texts. */
const struct pl_json_node *pl_embed_text(const struct pl_embed_request *request, size_t i);

/* Writes the request in another shape than OpenAI's, for `model`. Losses go to `report`, as in a
 * conversion: {"losses":[…],"lossless":…}. PL_INVALID: it cannot be expressed at all. */
enum pl_status pl_embed_write(const struct pl_embed_request *request, enum pl_embed_shape shape,
                              struct pl_str model, struct pl_buf *to, struct pl_buf *report,
                              struct pl_error *err);

/* The request of an answer. */
struct pl_embed_asked {
    enum pl_embed_shape shape; /* of the answer */
    struct pl_str model;
    size_t n_inputs;
    bool wants_base64;
    int64_t tokens; /* an estimate, for an answer without a count */
};

/* Whether an answer of OpenAI's shape can be passed on unchanged. */
bool pl_embed_fits(const struct pl_json_doc *answer, const struct pl_embed_asked *asked);
/* The token count in an answer; -1: none. */
int64_t pl_embed_tokens(const struct pl_json_doc *answer, enum pl_embed_shape shape);
/* The answer in OpenAI's shape. PL_INVALID: it is not one. */
enum pl_status pl_embed_answer(const struct pl_json_doc *answer, const struct pl_embed_asked *asked,
                               struct pl_buf *to, struct pl_error *err);

/* Writes one vector as a list element. */
void pl_embed_vector_write(struct pl_buf *to, const float *vector, size_t n, bool is_base64);

#endif
