#include "format/text_run.h"

bool pl_text_run_has(const struct pl_part *part)
{
    return (part->kind == PL_PART_TEXT || part->kind == PL_PART_REFUSAL ||
            part->kind == PL_PART_FILE) &&
           pl_val_is_set(part->text);
}

static void report_kind(struct pl_writer *w, const struct pl_part *part)
{
    if (part->kind == PL_PART_REFUSAL)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->text,
                  "the target has no refusals: the words stand there as plain text");
    if (part->kind == PL_PART_FILE)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->text,
                  "the target has no documents: the words stand there as plain text");
}

static void write_joined(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts,
                         const char *glue)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    bool is_first = true;
    for (size_t i = 0; i < n_parts; i++) {
        if (!pl_text_run_has(parts[i]))
            continue;
        if (!is_first)
            pl_buf_adds(&text, glue);
        pl_buf_add(&text, pl_conv_text(w->conv, parts[i]->text));
        if (is_first)
            pl_w_mapped(w, parts[i]->text);
        else
            pl_w_loss(w, PL_LOSS_MERGED, parts[i]->text,
                      "the target has one text here: this one follows the text before it");
        report_kind(w, parts[i]);
        is_first = false;
    }
    if (text.status != PL_OK)
        w->conv->status = text.status;
    else
        pl_w_string(w, pl_val_text(pl_buf_str(&text)));
}

void pl_text_run_write(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts,
                       const char *glue)
{
    size_t n_texts = 0;
    const struct pl_part *only = NULL;
    for (size_t i = 0; i < n_parts; i++)
        if (pl_text_run_has(parts[i])) {
            only = parts[i];
            n_texts++;
        }
    if (n_texts > 1) {
        write_joined(w, parts, n_parts, glue);
    } else if (n_texts == 1) {
        pl_w_string(w, only->text);
        report_kind(w, only);
    } else {
        pl_w_word(w, "");
    }
}
