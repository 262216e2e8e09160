#include "agent/tools/card_keep.h"

#include "base/sha/sha256.h"
#include "json/pointer.h"
#include "json/text.h"
#include "store/page.h"

static const struct pl_json_node *find_ui(const struct pl_json_doc *doc)
{
    const struct pl_json_node *ui = NULL;
    bool is_there = pl_json_kind(doc->root) == PL_JSON_OBJECT &&
                    pl_json_pointer_get(doc, PL_STR("/_meta/ui"), &ui, NULL) == PL_OK &&
                    pl_json_kind(ui) == PL_JSON_OBJECT;
    return is_there && !pl_json_get(doc, ui, PL_STR("card_url")) &&
                   !pl_json_get(doc, ui, PL_STR("sha256"))
               ? ui
               : NULL;
}

static void name_card(struct pl_str session_id, struct pl_str html,
                      char ret_name[PL_SHA256_HEX + 1])
{
    unsigned char digest[PL_SHA256_BYTES];
    struct pl_sha256_run run;
    pl_sha256_begin(&run);
    pl_sha256_add(&run, session_id);
    pl_sha256_add(&run, PL_STR("\n"));
    pl_sha256_add(&run, html);
    pl_sha256_end(&run, digest);
    pl_sha256_spell(digest, ret_name);
}

bool pl_card_keep(struct pl_arena *arena, struct pl_str session_id, struct pl_str result,
                  struct pl_batch *batch, struct pl_buf *to)
{
    struct pl_json_doc doc;
    struct pl_str html = {0};
    char name[PL_SHA256_HEX + 1], hash[PL_SHA256_HEX + 1];
    if (!result.len || result.ptr[0] != '{' ||
        !memmem(result.ptr, result.len, "resourceHTML", strlen("resourceHTML")) ||
        pl_json_parse(arena, result, &pl_json_own, &doc, NULL) != PL_OK)
        return false;
    const struct pl_json_node *ui = find_ui(&doc);
    const struct pl_json_node *node = pl_json_member(&doc, ui, "resourceHTML", PL_JSON_STRING);
    if (!node || pl_json_text(arena, &doc, node, &html) != PL_OK || !html.len ||
        html.len > PL_CARD_MAX)
        return false;
    name_card(session_id, html, name);
    pl_sha256_hex(html, hash);
    size_t at = (size_t)ui->off + 1;
    pl_buf_add(to, pl_str_slice(result, 0, at));
    pl_buf_addf(to, "\"card_url\":\"/cards/%s\",\"sha256\":\"%s\",", name, hash);
    pl_buf_add(to, pl_str_slice(result, at, result.len));
    if (to->status != PL_OK)
        return false;
    pl_batch_put_card(batch, session_id, pl_str_of(name), html);
    return true;
}
