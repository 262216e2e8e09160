/* A session's settings on their way to a vendor. */
#ifndef PL_MODEL_VENDOR_SETTINGS_H
#define PL_MODEL_VENDOR_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/vendor/vendor.h"

/* Appends the settings object that format/turns/read.c reads: the session's, with the model's name
 * and what its vendor requires. */
enum pl_status pl_vendor_settings_write(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *to);

/* Merges settings.vendor.NAME into a request to that vendor. Names are a vendor's of the
 * configuration ("ollama"), a dialect ("openai-chat"), or both of OpenAI's dialects ("openai"). */
enum pl_status pl_vendor_settings_merge(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *body);

/* Merges one JSON object into a request (RFC 7396). */
enum pl_status pl_vendor_body_merge(struct pl_arena *arena, struct pl_str patch,
                                    struct pl_buf *body);

/* The sentence about settings and tools that did not arrive as they were given, of a report of
 * losses; {NULL, 0}: all did. Memory of the arena. */
enum pl_status pl_vendor_settings_notice(struct pl_arena *arena,
                                         const struct pl_model_target *target, struct pl_str report,
                                         struct pl_str *ret_notice);

#endif
