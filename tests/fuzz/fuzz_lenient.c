/* Lenient reading. Accepted text is strict JSON of the same length after blanking. Strict JSON is
 * accepted unchanged. Notes are in order, inside the text, and cover every changed byte. */
#include "json/parse/lenient.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_notes(struct pl_str text, const struct pl_json_doc *doc,
                        const struct pl_json_notes *notes)
{
    uint32_t next = 0, at = 0;
    for (; next < notes->len; next++) {
        const struct pl_json_note *note = &notes->items[next];
        bool is_blanked = note->kind < PL_JSON_NOTE_DUPLICATE_KEY;
        must(note->len > 0 && note->off + (size_t)note->len <= text.len);
        must(next == 0 || notes->items[next - 1].off <= note->off);
        for (; is_blanked && at < note->off; at++)
            must(doc->text.ptr[at] == text.ptr[at]);
        if (is_blanked)
            at = note->off + note->len;
    }
    for (; at < text.len; at++)
        must(doc->text.ptr[at] == text.ptr[at]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pl_json_opts tolerant = {.allows_duplicate_keys = true,
                                                 .allows_lone_surrogates = true};
    struct pl_str text = {(const char *)data, size};
    struct pl_arena arena;
    struct pl_json_doc doc, strict;
    struct pl_json_notes notes = {0};
    struct pl_error err = {0};
    pl_arena_init(&arena, 0);
    enum pl_status as_strict = pl_json_parse(&arena, text, NULL, &strict, NULL);
    enum pl_status status = pl_json_parse_lenient(&arena, text, NULL, &doc, &notes, &err);
    must(as_strict != PL_OK || (status == PL_OK && notes.len == 0));
    if (status == PL_OK) {
        must(doc.text.len == text.len);
        must(pl_json_parse(&arena, doc.text, &tolerant, &strict, NULL) == PL_OK);
        must(strict.n_nodes == doc.n_nodes);
        must(!memcmp(strict.root, doc.root, doc.n_nodes * sizeof *doc.root));
        check_notes(text, &doc, &notes);
        /* Without a note the text must be strict JSON. */
        must(notes.len > 0 || pl_json_parse(&arena, text, NULL, &strict, NULL) == PL_OK);
    } else {
        must(err.status == status && err.message[0]);
        must(!err.has_position || err.offset <= text.len);
    }
    pl_arena_deinit(&arena);
    return 0;
}
