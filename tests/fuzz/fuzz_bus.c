/* Any bytes as a parcel, as a reply subject and as a list of addresses: the foreign input of the
 * bus. */
#include "bus/nats_names.h"
#include "bus/parcel.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The letters that are read are written again as the same bytes. */
static void read_parcel(struct pl_str parcel)
{
    struct pl_parcel_letter letter;
    for (struct pl_str left = parcel; pl_parcel_next(&left, &letter); parcel = left) {
        char head[PL_PARCEL_HEAD];
        pl_parcel_head(letter.is_to_all, letter.bytes.len, head);
        assert(memcmp(head, parcel.ptr, sizeof head) == 0);
        assert(letter.bytes.ptr == parcel.ptr + sizeof head);
        assert(left.len == parcel.len - sizeof head - letter.bytes.len);
    }
}

static void read_names(const char *text)
{
    struct pl_str main = PL_STR("main");
    struct pl_node_id from, to;
    size_t n;
    if (pl_nats_read_reply(main, text, &from, &to))
        assert(strcmp(pl_nats_reply(main, &from, &to).text, text) == 0 || pl_node_id_is_zero(&to));
    if (pl_nats_check_addresses(pl_str_of(text), &n, NULL) == PL_OK)
        assert(n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    read_parcel((struct pl_str){text, size});
    read_names(text);
    free(text);
    return 0;
}
