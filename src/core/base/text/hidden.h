/* Characters that are invisible or that change the appearance of others. */
#ifndef PL_BASE_HIDDEN_H
#define PL_BASE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Control characters (C0, DEL, C1), invisible characters and those that change the writing
 * direction. An invalid code point (below 0) counts as hidden. */
static inline bool pl_text_is_hidden(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

#endif
