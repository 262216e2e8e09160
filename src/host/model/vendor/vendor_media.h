/* Media of the newest message that its vendor does not take. */
#ifndef PL_MODEL_VENDOR_MEDIA_H
#define PL_MODEL_VENDOR_MEDIA_H

#include "base/arena.h"
#include "model/vendor/vendor.h"

/* The sentence about media of the newest message that were left out of a request, made of the
 * report of losses and of the turns it points into; {NULL, 0}: none were. Memory of the arena. */
enum pl_status pl_vendor_media_notice(struct pl_arena *arena, const struct pl_model_target *target,
                                      struct pl_str turns, struct pl_str report,
                                      struct pl_str *ret_notice);

#endif
