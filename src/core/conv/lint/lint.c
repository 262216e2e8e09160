/* Collects findings and sorts them. */
#include "conv/lint/lint_int.h"

#include "base/sort.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

const char *pl_severity_name(enum pl_severity severity)
{
    static const char *const names[] = {"error", "warning", "info"};
    return names[severity];
}

void pl_findings_deinit(struct pl_findings *findings)
{
    pl_vec_deinit(&findings->list);
    findings->n_codes = findings->n_omitted = 0;
}

static struct pl_finding_count *count_of(struct pl_findings *findings, const char *code)
{
    struct pl_finding_count *count = findings->counts;
    for (size_t i = 0; i < findings->n_codes; i++, count++)
        if (count->code == code || strcmp(count->code, code) == 0)
            return count;
    assert(findings->n_codes < PL_FINDING_CODES);
    findings->n_codes++;
    *count = (struct pl_finding_count){.code = code, .severity = PL_SEVERITY_INFO};
    return count;
}

bool pl_findings_admit(struct pl_findings *findings, const char *code, enum pl_severity severity)
{
    struct pl_finding_count *count = count_of(findings, code);
    if (severity < count->severity)
        count->severity = severity;
    bool is_listed = ++count->n <= PL_FINDINGS_OF_A_CODE;
    count->n_listed += is_listed;
    findings->n_omitted += !is_listed;
    return is_listed;
}

void pl_findings_cut(struct pl_findings *findings, size_t n_kept)
{
    for (; findings->list.len > n_kept; findings->list.len--) {
        count_of(findings, findings->list.ptr[findings->list.len - 1].code)->n_listed--;
        findings->n_omitted++;
    }
}

bool pl_findings_have_error(const struct pl_findings *findings)
{
    for (size_t i = 0; i < findings->n_codes; i++)
        if (findings->counts[i].severity == PL_SEVERITY_ERROR)
            return true;
    return false;
}

bool pl_findings_close(struct pl_findings *findings, struct pl_arena *arena,
                       const struct pl_json_node *root)
{
    for (size_t i = 0; i < findings->n_codes; i++) {
        const struct pl_finding_count *count = &findings->counts[i];
        if (count->n == count->n_listed)
            continue;
        char text[160];
        int n = snprintf(text, sizeof text,
                         "and %zu more of this kind; %zu are listed: correct those, then check "
                         "again",
                         count->n - count->n_listed, count->n_listed);
        struct pl_finding more = {
            .code = count->code,
            .severity = count->severity,
            .node = root,
            .message = pl_arena_dup(arena, (struct pl_str){text, (size_t)n}),
        };
        if (!more.message.ptr || !pl_vec_push(&findings->list, more))
            return false;
    }
    return true;
}

__attribute__((format(printf, 4, 0))) static void add(struct pl_conv *conv,
                                                      struct pl_findings *found,
                                                      struct pl_finding finding, const char *format,
                                                      va_list args)
{
    if (!pl_findings_admit(found, finding.code, finding.severity))
        return;
    char text[512];
    int n = vsnprintf(text, sizeof text, format, args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    /* Never cut inside a character. */
    while ((size_t)n >= sizeof text && len > 0 && ((unsigned char)text[len - 1] & 0x80))
        len--;
    finding.message = pl_arena_dup(conv->arena, (struct pl_str){text, len});
    if (!finding.node)
        finding.node = conv->doc->root;
    if (!finding.message.ptr || !pl_vec_push(&found->list, finding))
        conv->status = PL_NOMEM;
}

void pl_conv_report_finding(struct pl_conv *conv, struct pl_findings *findings, const char *code,
                            enum pl_severity severity, const struct pl_json_node *node,
                            const char *message, ...)
{
    va_list args;
    va_start(args, message);
    add(conv, findings, (struct pl_finding){.code = code, .severity = severity, .node = node},
        message, args);
    va_end(args);
}

void pl_lint_add(struct pl_lint *lint, const char *code, enum pl_severity severity,
                 const struct pl_json_node *node, const char *message, ...)
{
    va_list args;
    va_start(args, message);
    add(lint->conv, lint->found,
        (struct pl_finding){.code = code, .severity = severity, .node = node}, message, args);
    va_end(args);
}

void pl_lint_add_fixable(struct pl_lint *lint, const char *code, enum pl_severity severity,
                         const struct pl_json_node *node, const char *message, ...)
{
    va_list args;
    va_start(args, message);
    add(lint->conv, lint->found,
        (struct pl_finding){.code = code, .severity = severity, .node = node, .has_fix = true},
        message, args);
    va_end(args);
}

const struct pl_json_node *pl_lint_node(const struct pl_message *message,
                                        const struct pl_part *part)
{
    if (part && part->node)
        return part->node;
    if (part && part->text.node)
        return part->text.node;
    return message->node;
}

struct pl_str pl_lint_label(struct pl_lint *lint, struct pl_val val)
{
    enum { MAX_LABEL = 80 };
    struct pl_str text = pl_conv_text(lint->conv, val);
    if (text.len <= MAX_LABEL)
        return text;
    size_t len = MAX_LABEL;
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80)
        len--;
    return (struct pl_str){text.ptr, len};
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_finding *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

bool pl_findings_sort(struct pl_findings *findings, struct pl_arena *arena)
{
    size_t n = findings->list.len;
    const void **items = pl_arena_alloc(arena, n + 1, sizeof *items);
    const void **scratch = pl_arena_alloc(arena, n + 1, sizeof *scratch);
    struct pl_finding *copy = pl_arena_alloc(arena, n + 1, sizeof *copy);
    if (!items || !scratch || !copy)
        return false;
    for (size_t i = 0; i < n; i++) {
        copy[i] = findings->list.ptr[i];
        items[i] = &copy[i];
    }
    pl_sort(items, scratch, n, by_place, NULL);
    for (size_t i = 0; i < n; i++)
        findings->list.ptr[i] = *(const struct pl_finding *)items[i];
    return true;
}

/* Values that the reader did not accept. */
static void lint_types(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    if (!pl_conv_sort_misfits(conv))
        return;
    for (size_t i = 0; i < conv->misfits.len && conv->status == PL_OK; i++) {
        struct pl_str detail = pl_misfit_detail(conv, &conv->misfits.ptr[i]);
        pl_lint_add(lint, "json.type", PL_SEVERITY_ERROR, conv->misfits.ptr[i].node,
                    "%.*s; it is not read", PL_STR_ARG(detail));
    }
}

enum pl_status pl_conv_lint(struct pl_conv *conv, const struct pl_lint_opts *opts,
                            struct pl_findings *findings)
{
    static void (*const subjects[])(struct pl_lint *) = {
        lint_types, pl_lint_tools, pl_lint_media, pl_lint_text, pl_lint_cites, pl_lint_turns,
    };
    struct pl_lint lint = {.conv = conv, .opts = opts, .found = findings};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && conv->status == PL_OK; i++)
        subjects[i](&lint);
    if (conv->status == PL_OK && !pl_findings_sort(findings, conv->arena))
        conv->status = PL_NOMEM;
    if (conv->status != PL_OK)
        pl_findings_deinit(findings);
    return conv->status;
}

void pl_lint_each_part(struct pl_lint *lint,
                       void (*look)(struct pl_lint *lint, const struct pl_message *message,
                                    const struct pl_part *part))
{
    struct pl_conv *conv = lint->conv;
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < message->n_parts; k++) {
            const struct pl_part *part = &pl_conv_parts(conv, message)[k];
            look(lint, message, part);
            for (uint32_t c = 0; part->kind == PL_PART_RESULT && c < part->n_children; c++)
                look(lint, message, &pl_conv_children(conv, part)[c]);
        }
    }
}
