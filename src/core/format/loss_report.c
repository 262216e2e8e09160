#include "format/loss_report.h"

#include "base/sort.h"
#include "json/pointer.h"
#include "json/tour.h"
#include "json/write.h"

static const struct {
    const char *name;
    bool is_loss; /* --strict refuses it */
} codes[PL_LOSS_COUNT] = {
    [PL_LOSS_DROPPED] = {"dropped", true}, [PL_LOSS_APPROXIMATED] = {"approximated", true},
    [PL_LOSS_MOVED] = {"moved", false},    [PL_LOSS_REORDERED] = {"reordered", true},
    [PL_LOSS_MERGED] = {"merged", true},   [PL_LOSS_SYNTHESISED] = {"synthesised", false},
};

const char *pl_loss_name(enum pl_loss_code code)
{
    return codes[code].name;
}

bool pl_loss_report_is_lossless(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->losses.len; i++)
        if (codes[conv->losses.ptr[i].code].is_loss)
            return false;
    return true;
}

/* A loss of the whole document stands at its root. */
static const struct pl_json_node *place_of(const struct pl_conv *conv, const struct pl_loss *loss)
{
    return loss->node ? loss->node : conv->doc->root;
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    const struct pl_json_node *x = place_of(ctx, a), *y = place_of(ctx, b);
    return (x > y) - (x < y);
}

static void write_loss(struct pl_json_out *out, const struct pl_loss *loss, struct pl_str pointer)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "code");
    pl_json_out_text(out, pl_str_of(codes[loss->code].name));
    pl_json_out_key(out, "pointer");
    pl_json_out_text(out, pointer);
    pl_json_out_key(out, "detail");
    pl_json_out_text(out, loss->detail);
    pl_json_out_close(out, '}');
}

/* Few are found one by one, which passes over what is beside the way. */
enum { FEW = 8 };

static enum pl_status write_few(struct pl_json_out *out, const struct pl_conv *conv,
                                const void *const *order, size_t n)
{
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    for (size_t i = 0; i < n; i++) {
        pl_buf_clear(&pointer);
        pl_json_pointer_of(&pointer, conv->doc, place_of(conv, order[i]));
        if (pointer.status != PL_OK)
            return pointer.status;
        write_loss(out, order[i], pl_buf_str(&pointer));
    }
    return PL_OK;
}

/* One tour of the source finds the pointers of many. */
static enum pl_status write_losses(struct pl_json_out *out, const struct pl_conv *conv)
{
    size_t n = conv->losses.len, i = 0;
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t k = 0; k < n; k++)
        order[k] = &conv->losses.ptr[k];
    pl_sort(order, order + n, n, by_place, (void *)conv);
    if (n <= FEW)
        return write_few(out, conv, order, n);
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, conv->doc);
    for (const struct pl_json_node *at; i < n && (at = pl_json_tour_next(&tour));)
        for (; i < n && place_of(conv, order[i]) == at; i++)
            write_loss(out, order[i], pl_buf_str(&tour.path));
    return tour.path.status;
}

enum pl_status pl_loss_report_write(struct pl_buf *to, const char *from, const char *to_format,
                                    const struct pl_conv *conv)
{
    struct pl_json_out out = pl_json_out(to);
    enum pl_status status = PL_OK;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "from");
    pl_json_out_text(&out, pl_str_of(from));
    pl_json_out_key(&out, "to");
    pl_json_out_text(&out, pl_str_of(to_format));
    pl_json_out_key(&out, "losses");
    pl_json_out_open(&out, '[');
    if (conv)
        status = write_losses(&out, conv);
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "lossless");
    pl_json_out_bool(&out, !conv || pl_loss_report_is_lossless(conv));
    pl_json_out_close(&out, '}');
    return status != PL_OK ? status : to->status;
}
