/* Converts anything to another format and back. It may be refused, but must not crash. The output
 * is JSON, and accepted input comes back byte for byte.
 *
 * The first byte picks the formats, the second the mode and the kind; the rest is the document. */
#include "carry/carry.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_FORMATS = 9 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_json(struct pl_str text)
{
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    pl_arena_init(&arena, 0);
    must(pl_json_parse(&arena, text, &opts, &doc, NULL) == PL_OK);
    pl_arena_deinit(&arena);
}

static void check_home(struct pl_str text, const struct pl_convert_opts *there,
                       const struct pl_converted *made)
{
    struct pl_converted back;
    pl_converted_init(&back);
    struct pl_convert_opts home = {.from = there->to,
                                   .to = made->from,
                                   .kind = there->kind,
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&made->carry)};
    must(pl_convert(pl_buf_str(&made->out), &home, &back, NULL) == PL_OK);
    must(pl_str_eq(pl_buf_str(&back.out), text));
    pl_converted_deinit(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct pl_str text = {(const char *)data + 2, size - 2};
    struct pl_convert_opts opts = {
        .from = data[0] < 243 ? pl_formats[data[0] % N_FORMATS] : NULL,
        .to = pl_formats[data[0] / N_FORMATS % N_FORMATS],
        .mode = data[1] & 4 ? (data[1] & 8 ? PL_MODE_GATEWAY : PL_MODE_REPAIR) : PL_MODE_CONVERT,
        .kind = data[1] & 1 ? PL_KIND_RESPONSE : PL_KIND_REQUEST,
        .is_strict = data[1] & 2,
        .way_home = &pl_carry_way,
    };
    struct pl_converted made;
    pl_converted_init(&made);
    if (pl_convert(text, &opts, &made, NULL) == PL_OK) {
        check_json(pl_buf_str(&made.report));
        check_json(pl_buf_str(&made.carry));
        /* A conversion to the same format keeps the bytes, which may be more than JSON:
         * comments. */
        if (opts.to != &pl_format_gpt_oss && made.from != opts.to)
            check_json(pl_buf_str(&made.out));
        if (opts.mode == PL_MODE_CONVERT)
            check_home(text, &opts, &made);
    }
    pl_converted_deinit(&made);
    return 0;
}
