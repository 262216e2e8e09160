#include "app/conversation/counting.h"

enum pl_exit pl_counting_read(struct pl_console *console, const char *command,
                              const struct pl_args *args, struct pl_count_choice *ret_choice)
{
    const struct pl_option_use *encoding = pl_args_find(args, PL_OPT_ENCODING);
    const struct pl_option_use *model = pl_args_find(args, PL_OPT_MODEL);
    struct pl_count_choice choice = {0};
    if (encoding && model)
        return pl_usage_fail(console, command,
                             "give --encoding or --model, not both: the model determines the "
                             "encoding");
    if (encoding)
        choice.has_encoding = pl_encoding_find(pl_str_of(encoding->values[0]), &choice.encoding);
    if (model)
        choice.model = pl_str_of(model->values[0]);
    *ret_choice = choice;
    return PL_EXIT_OK;
}
