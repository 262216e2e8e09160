/* Any bytes as a letter of another node: unchanged, and sealed with the secret. Accepted letters
 * are written again as the same bytes; their body is read as fields and as a beat. */
#include "cluster/node_fields.h"
#include "cluster/node_link.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pl_node_id me = {{7}};

/* A weak seal that is easy to guess, so that the reader after it is reached. */
static void add_up(void *ctx, const struct pl_node_id *receiver, struct pl_str bytes,
                   unsigned char ret_seal[PL_NODE_LETTER_SEAL])
{
    (void)ctx;
    memset(ret_seal, receiver->bytes[0], PL_NODE_LETTER_SEAL);
    for (size_t i = 0; i < bytes.len; i++)
        ret_seal[i % PL_NODE_LETTER_SEAL] =
            (unsigned char)(ret_seal[i % PL_NODE_LETTER_SEAL] * 31 + (unsigned char)bytes.ptr[i]);
}
static const struct pl_node_seal seal = {add_up, NULL};

static void read_body(struct pl_str body)
{
    uint64_t last = 77;
    enum pl_status status = pl_node_beat_find(body, &me, &last);
    assert(status == PL_OK || (status == PL_SYNTAX && last == 77));
    struct pl_node_fields fields = pl_node_fields_of(body);
    while (pl_node_fields_has_more(&fields)) {
        size_t n_before = fields.left.len;
        if (fields.left.ptr[0] == 'n')
            (void)pl_node_fields_number(&fields);
        else
            assert(pl_node_fields_bytes(&fields).len < n_before);
        assert(fields.status != PL_OK || fields.left.len < n_before);
    }
}

static void read_letter(struct pl_str bytes)
{
    struct pl_node_letter letter = {0};
    enum pl_node_letter_fate fate = pl_node_letter_read(bytes, &seal, &me, &letter);
    assert(fate < PL_NODE_LETTER_FATE_COUNT);
    if (fate != PL_NODE_LETTER_IS_GOOD && fate != PL_NODE_LETTER_IS_STRANGE)
        return;
    PL_CLEANUP_BUF struct pl_buf again;
    pl_buf_init(&again, 0);
    if (pl_node_letter_write(&letter, &seal, &me, &again) != PL_OK)
        abort();
    assert(pl_str_eq(pl_buf_str(&again), bytes));
    read_body(letter.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str bytes = {(const char *)data, size};
    read_letter(bytes);
    read_body(bytes);
    PL_CLEANUP_BUF struct pl_buf sealed;
    pl_buf_init(&sealed, 0);
    pl_buf_add(&sealed, bytes);
    unsigned char of_these[PL_NODE_LETTER_SEAL];
    add_up(NULL, &me, bytes, of_these);
    pl_buf_add(&sealed, (struct pl_str){(const char *)of_these, sizeof of_these});
    if (sealed.status == PL_OK)
        read_letter(pl_buf_str(&sealed));
    return 0;
}
