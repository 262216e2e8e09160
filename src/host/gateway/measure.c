/* Measures a request that was parsed, for the estimate of its tokens. */
#include "gateway/call.h"

enum { MAX_TEXT = 64 << 10 };

/* One value of four nodes. */
typedef uint32_t four __attribute__((vector_size(16)));
_Static_assert(sizeof(four) == sizeof(struct pl_json_node) &&
                   offsetof(struct pl_json_node, len) == 4 &&
                   offsetof(struct pl_json_node, tag) == 12,
               "a node is a vector of four, with the length second and the tag last");

/* Adds four nodes. No sum exceeds the length of the text, which has 32 bits. */
static inline void measure_four(const struct pl_json_node nodes[4], four *n_bytes, four *n_media)
{
    four a, b, c, d;
    memcpy(&a, &nodes[0], sizeof a);
    memcpy(&b, &nodes[1], sizeof b);
    memcpy(&c, &nodes[2], sizeof c);
    memcpy(&d, &nodes[3], sizeof d);
    four ab = __builtin_shufflevector(a, b, 1, 3, 5, 7),
         cd = __builtin_shufflevector(c, d, 1, 3, 5, 7);
    four len = __builtin_shufflevector(ab, cd, 0, 2, 4, 6);
    four tag = __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
    four is_text = (four)((tag & 15) == PL_JSON_STRING),
         is_medium = is_text & (four)(len > MAX_TEXT);
    *n_bytes += (len - 1) & (is_text ^ is_medium); /* like a survey */
    *n_media -= is_medium;
}

/* Text is measured in bytes; a string that is too long for text is an image or a file. Without a
 * branch, because texts and other nodes alternate unpredictably. */
struct pl_gateway_call_size pl_gateway_call_measure(const struct pl_json_doc *doc)
{
    four n_bytes = {0}, n_media = {0};
    struct pl_json_node rest[4] = {0};
    size_t n = doc->n_nodes, n_rest = n % 4;
    for (size_t i = 0; i + 4 <= n; i += 4)
        measure_four(doc->root + i, &n_bytes, &n_media);
    memcpy(rest, doc->root + (n - n_rest), n_rest * sizeof *rest);
    measure_four(rest, &n_bytes, &n_media);
    return (struct pl_gateway_call_size){
        .n_text_bytes = (size_t)n_bytes[0] + n_bytes[1] + n_bytes[2] + n_bytes[3],
        .n_media = (size_t)n_media[0] + n_media[1] + n_media[2] + n_media[3],
    };
}
