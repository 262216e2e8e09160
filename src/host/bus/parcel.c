#include "bus/parcel.h"

void pl_parcel_head(bool is_to_all, size_t len, char to[PL_PARCEL_HEAD])
{
    uint32_t n = __builtin_bswap32((uint32_t)len);
    to[0] = is_to_all ? 1 : 0;
    memcpy(to + 1, &n, sizeof n);
}

bool pl_parcel_next(struct pl_str *parcel, struct pl_parcel_letter *ret_letter)
{
    uint32_t n;
    if (parcel->len < PL_PARCEL_HEAD || (unsigned char)parcel->ptr[0] > 1)
        return false;
    memcpy(&n, parcel->ptr + 1, sizeof n);
    n = __builtin_bswap32(n);
    if (n > parcel->len - PL_PARCEL_HEAD)
        return false;
    *ret_letter = (struct pl_parcel_letter){{parcel->ptr + PL_PARCEL_HEAD, n}, parcel->ptr[0]};
    *parcel = pl_str_slice(*parcel, PL_PARCEL_HEAD + n, parcel->len);
    return true;
}
