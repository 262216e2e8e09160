/* Texts of the tables for help, manual pages and completion scripts, in either language. */
#ifndef PL_APP_WORDING_H
#define PL_APP_WORDING_H

#include "app/frame/options.h"

/* A text of the tables, in English or Chinese. */
const char *pl_wording(bool is_chinese, const char *english);

/* Writes "new, edit: " and the help of an option, cut to `size`. Returns `to`. */
enum { PL_OPTION_HELP_MAX = 1024 };
const char *pl_wording_of_option(bool is_chinese, const struct pl_option *option, char *to,
                                 size_t size);
/* Writes all words of a choice, "a, b or c", cut to `size`. False if they were cut. */
bool pl_wording_of_choices(bool is_chinese, pl_choice_fn *choice, char *to, size_t size);

#endif
