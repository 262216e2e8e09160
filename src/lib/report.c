/* Writes a report in the requested form. Errors are sorted by offset, so that one pass finds lines
 * and columns. */
#include "lib/report.h"

#include "base/text/utf8.h"
#include "json/text.h"

/* Units are in the order of the schema. In the order of the text, one pass finds all positions.
 * There are at most 1,000 units, nearly sorted, so insertion sort is fast enough. */
static const uint32_t *order_by_offset(struct pl_arena *arena,
                                       const struct pl_schema_report *report)
{
    uint32_t *order = pl_arena_alloc(arena, report->n_units, sizeof *order);
    if (!order)
        return NULL;
    for (uint32_t i = 0; i < report->n_units; i++) {
        uint32_t slot = i;
        for (; slot > 0 && report->units[order[slot - 1]].offset > report->units[i].offset; slot--)
            order[slot] = order[slot - 1];
        order[slot] = i;
    }
    return order;
}

enum pl_status pl_report_locate(struct pl_arena *arena, struct pl_str text,
                                const struct pl_schema_report *report,
                                const struct pl_position **ret_positions)
{
    if (report->n_units == 0) {
        *ret_positions = NULL;
        return PL_OK;
    }
    const uint32_t *order = order_by_offset(arena, report);
    struct pl_position *positions = pl_arena_alloc(arena, report->n_units, sizeof *positions);
    if (!order || !positions)
        return PL_NOMEM;
    struct pl_locator locator = pl_locator(text);
    for (uint32_t i = 0; i < report->n_units; i++)
        positions[order[i]] = pl_locator_find(&locator, report->units[order[i]].offset);
    *ret_positions = positions;
    return PL_OK;
}

struct pl_str pl_report_keyword(const struct pl_schema_unit *unit)
{
    struct pl_str location = unit->keyword_location;
    size_t from = location.len;
    while (from > 0 && location.ptr[from - 1] != '/')
        from--;
    return pl_str_slice(location, from, location.len);
}

static void write_text(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void write_position(struct pl_json_out *out, const struct pl_position *position)
{
    pl_json_out_key(out, "line");
    if (position)
        pl_json_out_int(out, (int64_t)position->line);
    else
        pl_json_out_null(out);
    pl_json_out_key(out, "column");
    if (position)
        pl_json_out_int(out, (int64_t)position->column);
    else
        pl_json_out_null(out);
}

static void write_plain_unit(struct pl_json_out *out, const struct pl_schema_unit *unit,
                             const struct pl_position *position)
{
    pl_json_out_open(out, '{');
    write_text(out, "pointer", unit->instance_location);
    write_text(out, "message", unit->message);
    write_text(out, "keyword", pl_report_keyword(unit));
    write_position(out, position);
    pl_json_out_close(out, '}');
}

static void write_basic_unit(struct pl_json_out *out, const struct pl_schema_unit *unit,
                             bool is_error)
{
    pl_json_out_open(out, '{');
    write_text(out, "keywordLocation", unit->keyword_location);
    if (unit->absolute_keyword_location.len > 0)
        write_text(out, "absoluteKeywordLocation", unit->absolute_keyword_location);
    write_text(out, "instanceLocation", unit->instance_location);
    if (is_error) {
        write_text(out, "error", unit->message);
    } else {
        pl_json_out_key(out, "annotation");
        pl_json_out_raw(out, unit->annotation);
    }
    pl_json_out_close(out, '}');
}

/* File names are bytes; JSON strings are not. Invalid UTF-8 becomes U+FFFD. */
static void write_file(struct pl_json_out *out, const char *file)
{
    struct pl_str name = pl_str_of(file);
    PL_CLEANUP_BUF struct pl_buf clean;
    pl_buf_init(&clean, 0);
    while (name.len > 0) {
        size_t n = pl_utf8_valid_prefix(name);
        pl_buf_add(&clean, pl_str_slice(name, 0, n));
        if (n < name.len)
            pl_buf_adds(&clean, "\xEF\xBF\xBD");
        name = pl_str_slice(name, n + 1, name.len);
    }
    if (clean.status != PL_OK)
        out->buf->status = clean.status;
    write_text(out, "file", pl_buf_str(&clean));
}

static struct pl_json_out open_report(struct pl_buf *to, const char *file, bool is_valid)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    if (file)
        write_file(&out, file);
    pl_json_out_key(&out, "valid");
    pl_json_out_bool(&out, is_valid);
    return out;
}

void pl_report_write(struct pl_buf *to, enum pl_report_form form, const char *file,
                     const struct pl_schema_report *report, const struct pl_position *positions)
{
    struct pl_json_out out = open_report(to, file, report->is_valid);
    if (form != PL_REPORT_FLAG) {
        bool has_annotations = form == PL_REPORT_BASIC && report->is_valid;
        pl_json_out_key(&out, has_annotations ? "annotations" : "errors");
        pl_json_out_open(&out, '[');
        /* The plain form omits annotations. */
        bool has_units = has_annotations || !report->is_valid;
        for (uint32_t i = 0; has_units && i < report->n_units; i++)
            if (form == PL_REPORT_BASIC)
                write_basic_unit(&out, &report->units[i], !report->is_valid);
            else
                write_plain_unit(&out, &report->units[i], positions ? &positions[i] : NULL);
        pl_json_out_close(&out, ']');
        if (report->is_cut) {
            pl_json_out_key(&out, "cut");
            pl_json_out_bool(&out, true);
        }
    }
    pl_json_out_close(&out, '}');
}

static void write_plain_error(struct pl_json_out *out, const struct pl_error *err)
{
    struct pl_position position = {err->line, err->column};
    pl_json_out_open(out, '{');
    write_text(out, "pointer", pl_str_of(err->pointer));
    write_text(out, "message", pl_str_of(err->message));
    pl_json_out_key(out, "keyword");
    pl_json_out_null(out);
    write_position(out, err->has_position ? &position : NULL);
    pl_json_out_close(out, '}');
}

void pl_report_write_error(struct pl_buf *to, enum pl_report_form form, const char *file,
                           const struct pl_error *err)
{
    struct pl_json_out out = open_report(to, file, false);
    struct pl_schema_unit unit = {.instance_location = pl_str_of(err->pointer),
                                  .message = pl_str_of(err->message)};
    if (form != PL_REPORT_FLAG) {
        pl_json_out_key(&out, "errors");
        pl_json_out_open(&out, '[');
        if (form == PL_REPORT_BASIC)
            write_basic_unit(&out, &unit, true);
        else
            write_plain_error(&out, err);
        pl_json_out_close(&out, ']');
    }
    pl_json_out_close(&out, '}');
}
