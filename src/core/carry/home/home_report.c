/* Reports the edits that did not arrive. */
#include "carry/home/home_int.h"

#include "json/text.h"

struct reporter {
    struct pl_conv *conv; /* of the target */
    const struct pl_json_doc *there;
    const struct pl_conversion *conversion;
    bool is_said_anew;
};

/* At most this much of a value is shown. */
enum { SHOWN = 60 };

static struct pl_str shown(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    struct pl_str span = pl_json_span(doc, n);
    size_t len = span.len < SHOWN ? span.len : SHOWN;
    while (len < span.len && len && ((unsigned char)span.ptr[len] & 0xC0) == 0x80)
        len--;
    return pl_str_slice(span, 0, len);
}

static void report_changed(struct reporter *r, const struct pl_difference *d)
{
    struct pl_str value = shown(r->there, d->a);
    pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, d->b,
                 "%s cannot express this change: the restored document has %.*s%s here",
                 r->conversion->to->name, PL_STR_ARG(value), value.len < d->a->len ? "…" : "");
}

static bool report(void *ctx, const struct pl_difference *d)
{
    struct reporter *r = ctx;
    const char *home = r->conversion->to->name;
    const struct pl_json_node *around = d->around ? d->around : r->conv->doc->root;
    if (r->is_said_anew && d->kind != PL_DIFFERENCE_INSIDE) {
        pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, d->b ? d->b : around,
                     "the restored document says this in another place or another way");
        return true;
    }
    switch (d->kind) {
    case PL_DIFFERENCE_INSIDE:
        return true;
    case PL_DIFFERENCE_CHANGED:
        report_changed(r, d);
        break;
    case PL_DIFFERENCE_ADDED:
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, d->b, "%s has no place for what was added here",
                     home);
        break;
    case PL_DIFFERENCE_REMOVED: {
        struct pl_str value = shown(r->there, d->a);
        bool is_member = d->a > r->there->root && d->a[-1].tag & PL_JSON_KEY;
        struct pl_str name = is_member ? pl_json_raw(r->there, d->a - 1) : (struct pl_str){0};
        pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, around,
                     "something was removed here, but %s still has it: %.*s%s%.*s%s", home,
                     PL_STR_ARG(name), is_member ? ": " : "", PL_STR_ARG(value),
                     value.len < d->a->len ? "…" : "");
        break;
    }
    case PL_DIFFERENCE_MOVED:
        pl_conv_loss(r->conv, PL_LOSS_REORDERED, d->b, "%s has this in another order", home);
        break;
    }
    return true;
}

enum pl_status pl_home_report(struct pl_conv *conv, const struct pl_leg *there,
                              const struct pl_differences *found,
                              const struct pl_conversion *conversion, bool is_said_anew)
{
    struct reporter r = {.conv = conv,
                         .there = &there->made,
                         .conversion = conversion,
                         .is_said_anew = is_said_anew};
    pl_difference_visit(found, report, &r);
    return conv->status;
}
