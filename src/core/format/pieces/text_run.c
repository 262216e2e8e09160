/* Joins the texts of parts, and reports the changes. */
#include "format/pieces/text_run.h"

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
                  "the target has no refusals; it is written as plain text");
    if (part->kind == PL_PART_FILE)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->text,
                  "the target has no documents; it is written as plain text");
}

static void write_joined(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts,
                         size_t n_texts, const char *glue)
{
    struct pl_val *texts = pl_arena_alloc(w->conv->arena, n_texts, sizeof *texts);
    if (!texts) {
        w->conv->status = PL_NOMEM;
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < n_parts; i++)
        if (pl_text_run_has(parts[i]))
            texts[n++] = parts[i]->text;
    pl_w_joined(w, texts, n, glue);
    bool is_first = true;
    for (size_t i = 0; i < n_parts; i++) {
        if (!pl_text_run_has(parts[i]))
            continue;
        if (!is_first)
            pl_w_loss(w, PL_LOSS_MERGED, parts[i]->text,
                      "the target has only one text here; this follows the previous text");
        report_kind(w, parts[i]);
        is_first = false;
    }
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
        write_joined(w, parts, n_parts, n_texts, glue);
    } else if (n_texts == 1) {
        pl_w_string(w, only->text);
        report_kind(w, only);
    } else {
        pl_w_word(w, "");
    }
}

const struct pl_part **pl_text_run_children(struct pl_writer *w, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(w->conv, result);
    const struct pl_part **list =
        pl_arena_alloc(w->conv->arena, result->n_children + (size_t)1, sizeof *list);
    if (!list) {
        w->conv->status = PL_NOMEM;
        return NULL;
    }
    for (uint32_t i = 0; i < result->n_children; i++)
        list[i] = &children[i];
    return list;
}

void pl_text_run_write_result(struct pl_writer *w, const struct pl_part *result, const char *glue)
{
    const struct pl_part **children = pl_text_run_children(w, result);
    if (children)
        pl_text_run_write(w, children, result->n_children, glue);
}
