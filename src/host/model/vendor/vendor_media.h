/* Media of the newest message that the vendor does not accept. */
#ifndef PL_MODEL_VENDOR_MEDIA_H
#define PL_MODEL_VENDOR_MEDIA_H

#include "base/arena.h"
#include "model/vendor/vendor.h"

/* Builds the notice about media of the newest message that were left out of a request, from the
 * loss report and the turns that it points into; {NULL, 0} if none were. Allocated in the arena. */
enum pl_status pl_vendor_media_notice(struct pl_arena *arena, const struct pl_model_target *target,
                                      struct pl_str turns, struct pl_str report,
                                      struct pl_str *ret_notice);

#endif
