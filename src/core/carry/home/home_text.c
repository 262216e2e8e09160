/* gpt-oss on the way home: a source of this format is text, and its document is our own. */
#include "carry/home/home_int.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/source.h"

enum pl_status pl_home_check_text(const struct pl_json_doc *doc, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text, again;
    pl_buf_init(&text, 0);
    pl_buf_init(&again, 0);
    enum pl_status status = pl_gpt_oss_render(doc, &text, err);
    if (status == PL_OK)
        status = pl_gpt_oss_parse(pl_buf_str(&text), &again, err);
    return status;
}

enum pl_status pl_home_read_as_text(const struct pl_home *home, struct pl_str *text,
                                    struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf rendered, again;
    struct pl_json_doc doc;
    pl_buf_init(&rendered, 0);
    pl_buf_init(&again, 0);
    enum pl_status status = pl_source_parse(home->arena, *text, &doc, err);
    if (status == PL_OK)
        status = pl_gpt_oss_render(&doc, &rendered, err);
    if (status == PL_OK)
        status = pl_gpt_oss_parse(pl_buf_str(&rendered), &again, err);
    if (status != PL_OK)
        return status;
    *text = pl_arena_dup(home->arena, pl_buf_str(&again));
    return text->ptr ? PL_OK : PL_NOMEM;
}
