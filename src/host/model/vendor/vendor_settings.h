/* Converts a session's settings for a vendor. */
#ifndef PL_MODEL_VENDOR_SETTINGS_H
#define PL_MODEL_VENDOR_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/vendor/vendor.h"

/* Appends the settings object that format/turns/read.c reads: the session's settings, the model's
 * name, and what its vendor requires. */
enum pl_status pl_vendor_settings_write(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *to);

/* Merges settings.vendor.NAME into a request to that vendor. NAME is a configured vendor
 * ("ollama"), a dialect ("openai-chat"), or "openai" for both dialects of OpenAI. */
enum pl_status pl_vendor_settings_merge(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *body);

/* Merges one JSON object into a request (RFC 7396). */
enum pl_status pl_vendor_body_merge(struct pl_arena *arena, struct pl_str patch,
                                    struct pl_buf *body);

/* Builds the notice about settings and tools that did not arrive unchanged, from a loss report;
 * {NULL, 0} if all did. Allocated in the arena. */
enum pl_status pl_vendor_settings_notice(struct pl_arena *arena,
                                         const struct pl_model_target *target, struct pl_str report,
                                         struct pl_str *ret_notice);

#endif
