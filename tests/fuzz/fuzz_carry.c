/* Any bytes as a carry, applied to a document. It may be refused, with a reason, but must not
 * crash. The result is a document that its format reads, and is not much longer than the input.
 *
 * The first byte picks the formats, the second the kind; two more are the length of the document
 * before the carry. */
#include "carry/carry.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/source.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_FORMATS = 9, HEAD = 4 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_document(const struct pl_convert_opts *opts, struct pl_str text)
{
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_conv conv;
    PL_CLEANUP_BUF struct pl_buf inner;
    pl_buf_init(&inner, 0);
    pl_arena_init(&arena, 0);
    if (opts->to == &pl_format_gpt_oss) {
        must(pl_gpt_oss_parse(text, &inner, NULL) == PL_OK);
        text = pl_buf_str(&inner);
    }
    must(pl_source_parse(&arena, text, &doc, NULL) == PL_OK);
    must(pl_conv_init(&conv, &arena, &doc) == PL_OK);
    must(opts->to->read(&conv, opts->kind, NULL) == PL_OK);
    pl_conv_deinit(&conv);
    pl_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= HEAD)
        return 0;
    struct pl_str rest = {(const char *)data + HEAD, size - HEAD};
    size_t n_document = data[2] | (size_t)data[3] << 8;
    struct pl_str document = pl_str_slice(rest, 0, n_document);
    struct pl_convert_opts opts = {
        .from = pl_formats[data[0] % N_FORMATS],
        .to = pl_formats[data[0] / N_FORMATS % N_FORMATS],
        .kind = data[1] & 1 ? PL_KIND_RESPONSE : PL_KIND_REQUEST,
        .way_home = &pl_carry_way,
        .carry = pl_str_slice(rest, document.len, rest.len),
    };
    struct pl_converted made;
    struct pl_error err = {0};
    if (!opts.carry.len || opts.from == opts.to)
        return 0;
    pl_converted_init(&made);
    enum pl_status status = pl_convert(document, &opts, &made, &err);
    must(status != PL_INTERNAL && status != PL_NOMEM);
    must(status == PL_OK || err.message[0]);
    must(made.out.len <= pl_convert_most(size));
    if (status == PL_OK)
        check_document(&opts, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    return 0;
}
