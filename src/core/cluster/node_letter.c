/* Writes and reads letters. The seal is checked before any byte of the letter is used. */
#include "cluster/node_letter.h"

#define X(name, text) text,
static const char *const fates[] = {PL_NODE_LETTER_FATE_TABLE(X)};
#undef X

const char *pl_node_letter_fate_text(enum pl_node_letter_fate fate)
{
    return fates[fate];
}

bool pl_node_letter_may_be_dropped(unsigned char kind)
{
    return kind == PL_NODE_LETTER_FRAMES || kind == PL_NODE_LETTER_LEAVE;
}

unsigned char pl_node_letter_least(unsigned char spoken, int64_t protocol)
{
    return protocol >= 1 && protocol < spoken ? (unsigned char)protocol : spoken;
}

static void write_number(char *to, uint64_t number)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (char)(number >> (56 - 8 * i));
}

static uint64_t read_number(const char *from)
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)from[i];
    return number;
}

enum pl_status pl_node_letter_write(const struct pl_node_letter *letter,
                                    const struct pl_node_seal *seal,
                                    const struct pl_node_id *receiver, struct pl_buf *to)
{
    enum { AROUND = PL_NODE_LETTER_HEAD + PL_NODE_LETTER_SEAL };
    if (letter->body.len > PL_NODE_LETTER_MAX - AROUND)
        return PL_LIMIT;
    size_t n_sealed = PL_NODE_LETTER_HEAD + letter->body.len;
    char *at = pl_buf_reserve(to, n_sealed + PL_NODE_LETTER_SEAL);
    if (!at)
        return to->status;
    at[0] = (char)(letter->version ? letter->version : PL_NODE_LETTER_VERSION);
    at[1] = (char)letter->kind;
    memcpy(at + 2, letter->sender.bytes, PL_NODE_ID_BYTES);
    write_number(at + 2 + PL_NODE_ID_BYTES, letter->number);
    if (letter->body.len)
        memcpy(at + PL_NODE_LETTER_HEAD, letter->body.ptr, letter->body.len);
    seal->make(seal->ctx, receiver, (struct pl_str){at, n_sealed}, (unsigned char *)at + n_sealed);
    to->len += n_sealed + PL_NODE_LETTER_SEAL;
    return PL_OK;
}

/* Takes constant time, wherever the seals differ. */
static bool is_sealed(struct pl_str sealed, const struct pl_node_seal *seal,
                      const struct pl_node_id *receiver)
{
    unsigned char made[PL_NODE_LETTER_SEAL], difference = 0;
    const unsigned char *told = (const unsigned char *)sealed.ptr + sealed.len;
    seal->make(seal->ctx, receiver, sealed, made);
    for (size_t i = 0; i < sizeof made; i++)
        difference = (unsigned char)(difference | (made[i] ^ told[i]));
    return difference == 0;
}

enum pl_node_letter_fate pl_node_letter_read(struct pl_str bytes, const struct pl_node_seal *seal,
                                             const struct pl_node_id *receiver,
                                             struct pl_node_letter *ret_letter)
{
    if (bytes.len < PL_NODE_LETTER_HEAD + PL_NODE_LETTER_SEAL)
        return PL_NODE_LETTER_IS_CUT;
    if (bytes.len > PL_NODE_LETTER_MAX)
        return PL_NODE_LETTER_IS_HUGE;
    struct pl_str sealed = {bytes.ptr, bytes.len - PL_NODE_LETTER_SEAL};
    if (!is_sealed(sealed, seal, receiver))
        return PL_NODE_LETTER_IS_FORGED;
    unsigned char version = (unsigned char)bytes.ptr[0];
    if (version < 1 || version > PL_NODE_LETTER_VERSION)
        return PL_NODE_LETTER_IS_VERSION;
    struct pl_node_letter letter = {
        .version = version,
        .kind = (unsigned char)bytes.ptr[1],
        .number = read_number(bytes.ptr + 2 + PL_NODE_ID_BYTES),
        .body = pl_str_slice(sealed, PL_NODE_LETTER_HEAD, sealed.len),
    };
    memcpy(letter.sender.bytes, bytes.ptr + 2, PL_NODE_ID_BYTES);
    *ret_letter = letter;
    bool is_known = letter.kind >= PL_NODE_LETTER_ASK && letter.kind <= PL_NODE_LETTER_UNKNOWN;
    return is_known ? PL_NODE_LETTER_IS_GOOD : PL_NODE_LETTER_IS_STRANGE;
}
