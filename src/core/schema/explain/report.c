/* The records of an explanation, and the report made from them: "basic" output (core specification,
 * section 12.4.2). Texts are written only for the records that remain at the end. */
#include "schema/explain/explain_int.h"

#include "json/pointer.h"
#include "json/text.h"
#include "schema/lookup.h"
#include "schema/uri.h"

struct pl_mark pl_explain_mark(const struct pl_explain *x)
{
    return (struct pl_mark){x->records.len, x->text.len, x->is_cut};
}

void pl_explain_rewind(struct pl_explain *x, struct pl_mark mark)
{
    x->records.len = mark.n_records;
    x->text.len = mark.n_text;
    x->is_cut = mark.is_cut;
}

void pl_explain_cut(struct pl_explain *x, struct pl_mark from, struct pl_mark to)
{
    size_t n_records = x->records.len - to.n_records, n_text = x->text.len - to.n_text;
    uint32_t shift = (uint32_t)(to.n_text - from.n_text);
    struct pl_record *kept = x->records.ptr + from.n_records;
    if (n_records)
        memmove(kept, x->records.ptr + to.n_records, n_records * sizeof *kept);
    if (n_text)
        memmove(x->text.ptr + from.n_text, x->text.ptr + to.n_text, n_text);
    for (size_t i = 0; i < n_records; i++) {
        kept[i].instance -= shift;
        kept[i].keyword -= shift;
        kept[i].annotation -= shift;
    }
    x->records.len = from.n_records + n_records;
    x->text.len = from.n_text + n_text;
}

static void add_record(struct pl_explain *x, struct pl_record record)
{
    if (x->records.len == PL_SCHEMA_MAX_UNITS) {
        x->is_cut = true;
        return;
    }
    record.instance = (uint32_t)x->text.len;
    record.n_instance = (uint32_t)x->instance.len;
    pl_buf_add(&x->text, pl_buf_str(&x->instance));
    record.keyword = (uint32_t)x->text.len;
    record.n_keyword = (uint32_t)x->keyword.len;
    pl_buf_add(&x->text, pl_buf_str(&x->keyword));
    record.annotation = (uint32_t)x->text.len;
    if (x->wants_annotations) {
        record.n_annotation = (uint32_t)x->value.len;
        pl_buf_add(&x->text, pl_buf_str(&x->value));
    }
    bool is_broken = x->text.status != PL_OK || x->instance.status != PL_OK ||
                     x->keyword.status != PL_OK || x->value.status != PL_OK;
    if (is_broken || !pl_vec_push(&x->records, record))
        pl_run_stop(x->run, PL_NOMEM);
}

bool pl_explain_error(struct pl_explain *x, enum pl_say say, uint32_t sub, const struct pl_op *op,
                      const struct pl_json_node *n, uint32_t extra)
{
    if (!x->wants_annotations && x->run->status == PL_OK)
        add_record(x, (struct pl_record){.say = (uint8_t)say,
                                         .sub = sub,
                                         .extra = extra,
                                         .op = op,
                                         .key = op ? op->key : NULL,
                                         .node = n});
    return false;
}

void pl_explain_annotate(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                         const struct pl_json_node *n)
{
    if (x->wants_annotations)
        add_record(x, (struct pl_record){.sub = sub, .op = op, .key = op->key, .node = n});
}

size_t pl_explain_push(struct pl_explain *x, struct pl_buf *place, uint32_t doc,
                       const struct pl_json_node *key)
{
    size_t mark = place->len;
    struct pl_str text;
    if (pl_json_text(x->arena, &x->run->schema->docs.ptr[doc].json, key, &text) != PL_OK)
        pl_run_stop(x->run, PL_NOMEM);
    else
        pl_json_pointer_add(place, text);
    return mark;
}

size_t pl_explain_push_index(struct pl_buf *place, uint32_t index)
{
    size_t mark = place->len;
    pl_json_pointer_add_index(place, index);
    return mark;
}

size_t pl_explain_push_member(struct pl_explain *x, const struct pl_json_node *key)
{
    size_t mark = x->instance.len;
    struct pl_str text;
    if (pl_run_text(x->run, key, &text))
        pl_json_pointer_add(&x->instance, text);
    return mark;
}

/* The URI of the resource, and the path to the keyword inside it. */
static void write_absolute(struct pl_buf *to, const struct pl_explain *x,
                           const struct pl_record *record, struct pl_buf *pointer)
{
    const struct pl_schema *s = x->run->schema;
    const struct pl_sub_info *info = &s->infos.ptr[record->sub];
    const struct pl_resource *resource = &s->resources.ptr[s->subs.ptr[record->sub].resource];
    const struct pl_json_doc *json = &s->docs.ptr[info->doc].json;
    if (!resource->uri.len)
        return;
    pl_buf_clear(pointer);
    pl_json_pointer_of(pointer, json, resource->root);
    size_t n_root = pointer->len;
    pl_buf_clear(pointer);
    pl_json_pointer_of(pointer, json, info->node);
    struct pl_str text;
    if (record->key) {
        if (pl_json_text(x->arena, json, record->key, &text) == PL_OK)
            pl_json_pointer_add(pointer, text);
        else
            to->status = PL_NOMEM;
    }
    pl_buf_add(to, resource->uri);
    pl_buf_addc(to, '#');
    pl_uri_add_fragment(to, pl_str_slice(pl_buf_str(pointer), n_root, pointer->len));
    if (pointer->status != PL_OK)
        to->status = pointer->status;
}

static struct pl_str dup_text(struct pl_explain *x, struct pl_str text)
{
    struct pl_str copy = pl_arena_dup(x->arena, text);
    if (text.len && !copy.ptr)
        pl_run_stop(x->run, PL_NOMEM);
    return copy;
}

static void make_unit(struct pl_explain *x, const struct pl_record *record, bool is_valid,
                      struct pl_buf scratch[2], struct pl_schema_unit *unit)
{
    struct pl_str text = pl_buf_str(&x->text);
    *unit = (struct pl_schema_unit){.offset = record->node->off};
    unit->instance_location = dup_text(
        x, pl_str_slice(text, record->instance, (size_t)record->instance + record->n_instance));
    unit->keyword_location = dup_text(
        x, pl_str_slice(text, record->keyword, (size_t)record->keyword + record->n_keyword));
    pl_buf_clear(&scratch[0]);
    write_absolute(&scratch[0], x, record, &scratch[1]);
    unit->absolute_keyword_location = dup_text(x, pl_buf_str(&scratch[0]));
    if (is_valid) {
        unit->annotation =
            dup_text(x, pl_str_slice(text, record->annotation,
                                     (size_t)record->annotation + record->n_annotation));
    } else {
        enum pl_status status = scratch[0].status;
        pl_buf_clear(&scratch[0]);
        pl_message_write(&scratch[0], x, record);
        unit->message = dup_text(x, pl_buf_str(&scratch[0]));
        if (scratch[0].status == PL_OK)
            scratch[0].status = status;
    }
    if (scratch[0].status != PL_OK)
        pl_run_stop(x->run, scratch[0].status);
}

enum pl_status pl_explain_finish(struct pl_explain *x, bool is_valid,
                                 struct pl_schema_report *ret_report)
{
    struct pl_schema_unit *units = pl_arena_alloc(x->arena, x->records.len + 1, sizeof *units);
    if (!units)
        return PL_NOMEM;
    struct pl_buf scratch[2];
    pl_buf_init(&scratch[0], 0);
    pl_buf_init(&scratch[1], 0);
    for (size_t i = 0; i < x->records.len && x->run->status == PL_OK; i++)
        make_unit(x, &x->records.ptr[i], is_valid, scratch, &units[i]);
    pl_buf_deinit(&scratch[0]);
    pl_buf_deinit(&scratch[1]);
    if (x->run->status != PL_OK)
        return x->run->status;
    *ret_report = (struct pl_schema_report){.is_valid = is_valid,
                                            .is_cut = x->is_cut,
                                            .units = units,
                                            .n_units = (uint32_t)x->records.len};
    return PL_OK;
}
