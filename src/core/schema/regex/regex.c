/* Runs translated patterns with PCRE2, within a budget.
 *
 * PCRE2 counts backtracks per starting point. It counts neither the characters that a loop runs
 * over nor the starting points, so its own limits let a*b take minutes on a megabyte of a's. Every
 * pattern is therefore compiled twice: plain, and metered, with callouts on every path of the
 * search. A callout adds up how far the search has moved and stops it when the budget is used up.
 * Short texts, which are nearly all, are first tried plain with a small limit; the metered version
 * runs only if that limit is reached.
 *
 * Both use PCRE2's JIT compiler where it works and its interpreter elsewhere. PCRE2 allocates
 * through base/mem.h, except for the JIT's machine code and stack, which it maps itself. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "schema/regex/regex_int.h"

#include "base/mem.h"

#include <pcre2.h>

enum {
    JIT_STACK_START = 32 * 1024,
    JIT_STACK_MAX = 64 * 1024 * 1024, /* only the used part is touched */
    /* A character of a pattern becomes at most this many characters (\S in a class). */
    MAX_GROWTH = 128,
};

struct pl_regex {
    pcre2_code *plain, *metered; /* owned */
    bool plain_is_jitted, metered_is_jitted;
    bool has_backrefs;
};

struct meter {
    size_t at;      /* position of the last callout in the text */
    uint64_t steps; /* steps left */
    bool has_backrefs;
};

struct pl_regex_scratch {
    pcre2_match_data *match; /* owned; so are the others */
    pcre2_match_context *plain, *metered;
    pcre2_jit_stack *stack;
    struct meter meter; /* metered points to it */
};

static void *take_memory(size_t size, void *ctx)
{
    (void)ctx;
    return pl_mem_alloc(1, size);
}

static void give_memory(void *ptr, void *ctx)
{
    (void)ctx;
    pl_mem_free(ptr);
}

/* A failed comparison with an earlier capture costs the bytes it compared, but does not move. */
static uint64_t longest_capture(const pcre2_callout_block *block)
{
    size_t longest = 0;

    for (uint32_t i = 1; i < block->capture_top; i++) {
        size_t from = block->offset_vector[2 * i], to = block->offset_vector[2 * i + 1];
        if (from != PCRE2_UNSET && to != PCRE2_UNSET && to > from && to - from > longest)
            longest = to - from;
    }
    return longest + block->capture_top;
}

static int spend(pcre2_callout_block *block, void *data)
{
    struct meter *meter = data;
    size_t at = block->current_position;
    uint64_t cost = PL_REGEX_STEPS_PER_CALLOUT + (at > meter->at ? at - meter->at : meter->at - at);

    if (meter->has_backrefs)
        cost += longest_capture(block);
    meter->at = at;
    if (cost > meter->steps)
        return PCRE2_ERROR_CALLOUT;
    meter->steps -= cost;
    return 0;
}

static enum pl_status out_of_memory(struct pl_error *err)
{
    return pl_fail(err, PL_NOMEM, "out of memory while compiling the pattern");
}

/* PCRE2 refuses a valid pattern only if the engine cannot run it. */
static enum pl_status explain(struct pl_str pattern, int code, size_t offset, struct pl_error *err)
{
    enum pl_status status;
    PCRE2_UCHAR message[128] = {0};

    switch (code) {
    case PCRE2_ERROR_HEAP_FAILED:
        return out_of_memory(err);
    case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH:
    case PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED:
    case PCRE2_ERROR_LOOKBEHIND_TOO_LONG:
        status = pl_fail(err, PL_LIMIT,
                         "a lookbehind must have a fixed length; write one alternative for each "
                         "length");
        break;
    case PCRE2_ERROR_PATTERN_TOO_LARGE:
    case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
    case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
        status = pl_fail(err, PL_LIMIT,
                         "the pattern is too large after expanding its repetitions; use smaller "
                         "numbers or maxLength");
        break;
    default:
        (void)pcre2_get_error_message(code, message, sizeof message);
        status = pl_fail(err, PL_LIMIT, "the engine cannot compile the pattern: %s", message);
        break;
    }
    pl_error_locate(err, pattern, offset);
    return status;
}

/* Compiles one of the two versions. Without JIT the interpreter gives the same answers. */
static enum pl_status compile_twin(struct pl_str pattern, bool is_metered, bool wants_jit,
                                   struct pl_regex *regex, pcre2_compile_context *context,
                                   struct pl_error *err)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
    struct pl_buf text PL_CLEANUP_BUF;
    pcre2_code *code;
    size_t offset = 0;
    int error = 0;
    bool is_jitted;
    enum pl_status status;

    pl_buf_init(&text, (size_t)PL_REGEX_MAX_PATTERN * MAX_GROWTH);
    status = pl_regex_translate(pattern, is_metered, &text, &regex->has_backrefs, err);
    if (status != PL_OK)
        return status;
    code = pcre2_compile(text.ptr ? (PCRE2_SPTR)text.ptr : (PCRE2_SPTR) "", text.len, options,
                         &error, &offset, context);
    if (!code)
        return explain(pattern, error, pl_regex_source_offset(pattern, is_metered, offset), err);
    is_jitted = wants_jit && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
    if (is_metered) {
        regex->metered = code;
        regex->metered_is_jitted = is_jitted;
    } else {
        regex->plain = code;
        regex->plain_is_jitted = is_jitted;
    }
    return PL_OK;
}

enum pl_status pl_regex_compile_with(struct pl_str pattern, bool wants_jit,
                                     struct pl_regex **ret_regex, struct pl_error *err)
{
    pcre2_general_context *general = pcre2_general_context_create(take_memory, give_memory, NULL);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    struct pl_regex *regex = context ? pl_mem_alloc(1, sizeof *regex) : NULL;
    enum pl_status status = regex ? PL_OK : out_of_memory(err);

    if (status == PL_OK) {
        *regex = (struct pl_regex){0};
        status = compile_twin(pattern, false, wants_jit, regex, context, err);
    }
    if (status == PL_OK)
        status = compile_twin(pattern, true, wants_jit, regex, context, err);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    if (status != PL_OK) {
        pl_regex_destroy(regex);
        return status;
    }
    *ret_regex = regex;
    return PL_OK;
}

enum pl_status pl_regex_compile(struct pl_str pattern, struct pl_regex **ret_regex,
                                struct pl_error *err)
{
    return pl_regex_compile_with(pattern, true, ret_regex, err);
}

void pl_regex_destroy(struct pl_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->plain);
    pcre2_code_free(regex->metered);
    pl_mem_free(regex);
}

static bool fill_scratch(struct pl_regex_scratch *scratch, pcre2_general_context *general)
{
    scratch->match = pcre2_match_data_create(1, general);
    scratch->plain = pcre2_match_context_create(general);
    scratch->metered = pcre2_match_context_create(general);
    scratch->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MAX, general);
    return scratch->match && scratch->plain && scratch->metered && scratch->stack;
}

enum pl_status pl_regex_scratch_create(struct pl_regex_scratch **ret_scratch)
{
    pcre2_general_context *general = pcre2_general_context_create(take_memory, give_memory, NULL);
    struct pl_regex_scratch *scratch = general ? pl_mem_alloc(1, sizeof *scratch) : NULL;
    bool is_filled = false;

    if (scratch) {
        *scratch = (struct pl_regex_scratch){0};
        is_filled = fill_scratch(scratch, general);
    }
    pcre2_general_context_free(general);
    if (!is_filled) {
        pl_regex_scratch_destroy(scratch);
        return PL_NOMEM;
    }
    pcre2_set_match_limit(scratch->plain, PL_REGEX_FAST_LIMIT);
    pcre2_set_match_limit(scratch->metered, UINT32_MAX);
    pcre2_set_callout(scratch->metered, spend, &scratch->meter);
    for (int i = 0; i < 2; i++) {
        pcre2_match_context *context = i ? scratch->metered : scratch->plain;
        pcre2_set_depth_limit(context, PL_REGEX_DEPTH_LIMIT);
        pcre2_set_heap_limit(context, PL_REGEX_HEAP_LIMIT);
        pcre2_jit_stack_assign(context, NULL, scratch->stack);
    }
    *ret_scratch = scratch;
    return PL_OK;
}

void pl_regex_scratch_destroy(struct pl_regex_scratch *scratch)
{
    if (!scratch)
        return;
    pcre2_match_data_free(scratch->match);
    pcre2_match_context_free(scratch->plain);
    pcre2_match_context_free(scratch->metered);
    pcre2_jit_stack_free(scratch->stack);
    pl_mem_free(scratch);
}

static int match(const pcre2_code *code, bool is_jitted, struct pl_str text, pcre2_match_data *data,
                 pcre2_match_context *context)
{
    PCRE2_SPTR ptr = text.ptr ? (PCRE2_SPTR)text.ptr : (PCRE2_SPTR) "";

    return is_jitted ? pcre2_jit_match(code, ptr, text.len, 0, PCRE2_NO_UTF_CHECK, data, context)
                     : pcre2_match(code, ptr, text.len, 0, PCRE2_NO_UTF_CHECK, data, context);
}

static enum pl_status status_of(int code)
{
    if (code >= 0)
        return PL_OK;
    if (code == PCRE2_ERROR_NOMATCH)
        return PL_NOT_FOUND;
    return code == PCRE2_ERROR_NOMEMORY ? PL_NOMEM : PL_LIMIT;
}

enum pl_status pl_regex_search_metered(const struct pl_regex *regex,
                                       struct pl_regex_scratch *scratch, struct pl_str text)
{
    scratch->meter =
        (struct meter){.steps = PL_REGEX_MAX_STEPS + PL_REGEX_STEPS_PER_BYTE * (uint64_t)text.len,
                       .has_backrefs = regex->has_backrefs};
    return status_of(
        match(regex->metered, regex->metered_is_jitted, text, scratch->match, scratch->metered));
}

enum pl_status pl_regex_search(const struct pl_regex *regex, struct pl_regex_scratch *scratch,
                               struct pl_str text)
{
    enum pl_status status = PL_LIMIT;

    if (text.len <= PL_REGEX_FAST_BYTES)
        status = status_of(
            match(regex->plain, regex->plain_is_jitted, text, scratch->match, scratch->plain));
    return status == PL_LIMIT ? pl_regex_search_metered(regex, scratch, text) : status;
}
