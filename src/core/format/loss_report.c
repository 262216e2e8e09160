/* Writes the losses in the order of the source. A few pointers are computed one by one, many in one
 * walk of the document. */
#include "format/loss_report.h"

#include "base/sort.h"
#include "json/pointer.h"
#include "json/tour.h"
#include "json/text.h"

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

/* A loss of the whole document is reported at its root. */
static const struct pl_json_node *place_of(const struct pl_conv *conv, const struct pl_loss *loss)
{
    return loss->node ? loss->node : conv->doc->root;
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    const struct pl_json_node *x = place_of(ctx, a), *y = place_of(ctx, b);
    return (x > y) - (x < y);
}

static void begin_loss(struct pl_buf *to, const struct pl_loss *loss)
{
    if (to->len && to->ptr[to->len - 1] == '}')
        pl_buf_addc(to, ',');
    pl_buf_add(to, PL_STR("{\"code\":\""));
    pl_buf_adds(to, codes[loss->code].name);
    pl_buf_add(to, PL_STR("\",\"pointer\":"));
}

static void end_loss(struct pl_buf *to, const struct pl_loss *loss)
{
    pl_buf_add(to, PL_STR(",\"detail\":"));
    pl_json_quote(to, loss->detail);
    pl_buf_addc(to, '}');
}

static bool is_plain(struct pl_str text)
{
    unsigned char is_special = 0;
    for (size_t i = 0; i < text.len; i++)
        is_special |=
            (unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == '"' || text.ptr[i] == '\\';
    return !is_special;
}

/* Quotes it directly; nearly no pointer needs escapes. */
static enum pl_status write_pointer(struct pl_buf *to, const struct pl_json_doc *doc,
                                    const struct pl_json_node *node)
{
    size_t start = to->len;
    pl_buf_addc(to, '"');
    pl_json_pointer_of(to, doc, node);
    if (to->status != PL_OK || is_plain(pl_str_slice(pl_buf_str(to), start + 1, to->len))) {
        pl_buf_addc(to, '"');
        return to->status;
    }
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, doc, node);
    to->len = start;
    pl_json_quote(to, pl_buf_str(&pointer));
    return pointer.status;
}

/* A few pointers are computed one by one, which skips the rest of the tree. */
enum { FEW = 8 };

static enum pl_status write_few(struct pl_buf *to, const struct pl_conv *conv,
                                const void *const *order, size_t n)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        begin_loss(to, order[i]);
        status = write_pointer(to, conv->doc, place_of(conv, order[i]));
        end_loss(to, order[i]);
    }
    return status;
}

/* One tour of the source finds the pointers of many. */
static enum pl_status write_many(struct pl_buf *to, const struct pl_conv *conv,
                                 const void *const *order, size_t n)
{
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, conv->doc);
    size_t i = 0;
    for (const struct pl_json_node *at; i < n && (at = pl_json_tour_next(&tour));)
        for (; i < n && place_of(conv, order[i]) == at; i++) {
            begin_loss(to, order[i]);
            pl_json_quote(to, pl_buf_str(&tour.path));
            end_loss(to, order[i]);
        }
    return tour.path.status;
}

static enum pl_status write_losses(struct pl_buf *to, const struct pl_conv *conv)
{
    size_t n = conv->losses.len;
    const void **order = pl_arena_alloc(conv->arena, 2 * n, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t k = 0; k < n; k++)
        order[k] = &conv->losses.ptr[k];
    pl_sort(order, order + n, n, by_place, (void *)conv);
    return n <= FEW ? write_few(to, conv, order, n) : write_many(to, conv, order, n);
}

enum pl_status pl_loss_report_write(struct pl_buf *to, const char *from, const char *to_format,
                                    const struct pl_conv *conv)
{
    enum pl_status status = PL_OK;
    bool is_lossless = !conv || pl_loss_report_is_lossless(conv);
    (void)pl_buf_reserve(to, 256);
    pl_buf_add(to, PL_STR("{\"from\":\""));
    pl_buf_adds(to, from);
    pl_buf_add(to, PL_STR("\",\"to\":\""));
    pl_buf_adds(to, to_format);
    pl_buf_add(to, PL_STR("\",\"losses\":["));
    if (conv && conv->losses.len)
        status = write_losses(to, conv);
    pl_buf_add(to, is_lossless ? PL_STR("],\"lossless\":true}") : PL_STR("],\"lossless\":false}"));
    return status != PL_OK ? status : to->status;
}
