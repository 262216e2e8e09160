/* Rotates images that are marked as rotated (seed 001: rotation), so that a model sees them
 * upright. The results are kept for the next calls: a conversation sends its images every time. */
#ifndef PL_AGENT_CONTEXT_UPRIGHT_H
#define PL_AGENT_CONTEXT_UPRIGHT_H

#include "base/buf.h"

/* Bytes of one kept image, and of all of them. */
enum { PL_UPRIGHT_MAX_IMAGE = 8 << 20, PL_UPRIGHT_MAX_KEPT = 32 << 20 };

/* Like pl_image_turn, but only once for the same image. Thread-safe. */
enum pl_status pl_upright_turn(struct pl_str bytes, struct pl_str mime, int degrees,
                               size_t max_bytes, struct pl_buf *to, const char **ret_mime,
                               struct pl_error *err);

#endif
