/* Scripts that are written without spaces between words: Chinese, Japanese, Thai … */
#ifndef PL_BASE_SCRIPT_H
#define PL_BASE_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

bool pl_script_is_unspaced(uint32_t code);
/* A mark of such a script: it combines with the character before it. */
bool pl_script_is_mark(uint32_t code);

#endif
