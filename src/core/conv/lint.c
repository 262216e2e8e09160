/* Collecting findings, and their order. */
#include "conv/lint_int.h"

#include "base/sort.h"

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
}

__attribute__((format(printf, 3, 0))) static void
add(struct pl_lint *lint, struct pl_finding finding, const char *format, va_list args)
{
    struct pl_conv *conv = lint->conv;
    char text[512];
    int n = vsnprintf(text, sizeof text, format, args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    /* Never cut inside a character. */
    while ((size_t)n >= sizeof text && len > 0 && ((unsigned char)text[len - 1] & 0x80))
        len--;
    finding.message = pl_arena_dup(conv->arena, (struct pl_str){text, len});
    if (!finding.node)
        finding.node = conv->doc->root;
    if (!finding.message.ptr || !pl_vec_push(&lint->found.list, finding))
        conv->status = PL_NOMEM;
}

void pl_lint_add(struct pl_lint *lint, const char *code, enum pl_severity severity,
                 const struct pl_json_node *node, const char *message, ...)
{
    va_list args;
    va_start(args, message);
    add(lint, (struct pl_finding){.code = code, .severity = severity, .node = node}, message, args);
    va_end(args);
}

void pl_lint_add_fixable(struct pl_lint *lint, const char *code, enum pl_severity severity,
                         const struct pl_json_node *node, const char *message, ...)
{
    va_list args;
    va_start(args, message);
    add(lint,
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

/* In the order of the document; findings at one place stay in the order they were made. */
static bool sort(struct pl_lint *lint)
{
    size_t n = lint->found.list.len;
    const void **items = pl_arena_alloc(lint->conv->arena, n + 1, sizeof *items);
    const void **scratch = pl_arena_alloc(lint->conv->arena, n + 1, sizeof *scratch);
    struct pl_finding *copy = pl_arena_alloc(lint->conv->arena, n + 1, sizeof *copy);
    if (!items || !scratch || !copy)
        return false;
    for (size_t i = 0; i < n; i++) {
        copy[i] = lint->found.list.ptr[i];
        items[i] = &copy[i];
    }
    pl_sort(items, scratch, n, by_place, NULL);
    for (size_t i = 0; i < n; i++)
        lint->found.list.ptr[i] = *(const struct pl_finding *)items[i];
    return true;
}

enum pl_status pl_conv_lint(struct pl_conv *conv, const struct pl_lint_opts *opts,
                            struct pl_findings *ret_findings)
{
    static void (*const subjects[])(struct pl_lint *) = {
        pl_lint_tools, pl_lint_media, pl_lint_text, pl_lint_cites, pl_lint_turns,
    };
    struct pl_lint lint = {.conv = conv, .opts = opts};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && conv->status == PL_OK; i++)
        subjects[i](&lint);
    if (conv->status == PL_OK && !sort(&lint))
        conv->status = PL_NOMEM;
    if (conv->status == PL_OK)
        *ret_findings = lint.found;
    else
        pl_findings_deinit(&lint.found);
    return conv->status;
}
