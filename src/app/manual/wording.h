/* What help, manual pages and completion scripts say of the tables, in either language. */
#ifndef PL_APP_WORDING_H
#define PL_APP_WORDING_H

#include "app/frame/options.h"

/* A text of the tables: English as it is, or its Chinese. */
const char *pl_wording(bool is_chinese, const char *english);

/* "new, edit: " and the help of an option, cut to `size`. Returns `to`. */
enum { PL_OPTION_HELP_MAX = 1024 };
const char *pl_wording_of_option(bool is_chinese, const struct pl_option *option, char *to,
                                 size_t size);
/* "a, b or c": all words of a choice, cut to `size`. False when they were cut. */
bool pl_wording_of_choices(bool is_chinese, pl_choice_fn *choice, char *to, size_t size);

#endif
