/* Numbers are compared, divided and converted by their decimal digits (RFC 8259, section 6):
 * nothing is rounded on the way and nothing is allocated. An exponent can be as long as the text
 * allows, so no loop runs as often as the exponent says: powers of ten are limited by the range of
 * a double or by the number of digits of the divisor. */
#include "json/number.h"
#include "base/ascii.h"
#include "json/number_int.h"
#include "base/hash.h"

#include <math.h>

enum {
    LIMB_BITS = 32,
    /* Enough bits for 10^1150: the smallest double needs 10^(323 + 801) in the denominator. */
    MAX_LIMBS = 128,
    /* No double, and no midpoint of two, has more than 767 significant digits. */
    MAX_DOUBLE_DIGITS = 800,
    /* Longer divisors are not supported; the parser stops at 128 bytes. */
    MAX_DIVISOR_DIGITS = 1000,
    CHUNK = 9, /* decimal digits that fit in a limb */
};

static const uint32_t power_of_ten[CHUNK + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
};

/* An unsigned number, least limb first; no zero limbs on top. */
struct big {
    uint32_t n;
    uint32_t limb[MAX_LIMBS];
};

/* a - b for two signed exponents of any length: exact up to 2^50, beyond that only large. Once the
 * leading digits differ by more than that, the digits that follow cannot make up for it. */
static int64_t exponent_difference(const struct pl_json_decimal *a, const struct pl_json_decimal *b)
{
    const int64_t far = (int64_t)1 << 50;
    size_t n = a->exponent.len > b->exponent.len ? a->exponent.len : b->exponent.len;
    int64_t difference = 0;
    for (size_t left = n; left > 0; left--) {
        int64_t x = left <= a->exponent.len ? a->exponent.ptr[a->exponent.len - left] - '0' : 0;
        int64_t y = left <= b->exponent.len ? b->exponent.ptr[b->exponent.len - left] - '0' : 0;
        difference = difference * 10 + (a->is_exponent_negative ? -x : x) -
                     (b->is_exponent_negative ? -y : y);
        if (difference > far || difference < -far)
            return difference;
    }
    return difference;
}

static int64_t point_difference(const struct pl_json_decimal *a, const struct pl_json_decimal *b)
{
    return exponent_difference(a, b) + a->shift - b->shift;
}

static void take_exponent(struct pl_json_decimal *d, const char *at, const char *end)
{
    if (at < end && (*at == '-' || *at == '+'))
        d->is_exponent_negative = *at++ == '-';
    while (at < end && *at == '0')
        at++;
    d->exponent = (struct pl_str){at, (size_t)(end - at)};
}

struct pl_json_decimal pl_json_decimal(struct pl_str number)
{
    struct pl_json_decimal d = {0};
    const char *at = number.ptr, *end = at + number.len;
    const char *point = NULL, *last = NULL;
    if (at < end && *at == '-') {
        d.is_negative = true;
        at++;
    }
    for (; at < end && (pl_ascii_is_digit(*at) || *at == '.'); at++) {
        if (*at == '.') {
            point = at;
        } else if (*at != '0') {
            d.first = d.first ? d.first : at;
            last = at;
        }
    }
    if (!last)
        return (struct pl_json_decimal){0};
    point = point ? point : at;
    d.n_digits = (size_t)(last - d.first) + 1 - (d.first < point && point < last);
    d.shift = d.first < point ? point - d.first : point + 1 - d.first;
    if (at < end)
        take_exponent(&d, at + 1, end);
    const struct pl_json_decimal none = {0};
    d.point = exponent_difference(&d, &none) + d.shift;
    return d;
}

/* Plain integers of up to 18 digits: nearly all numbers. */
static bool small_integer(struct pl_str number, int64_t *ret_value)
{
    bool is_negative = number.len > 0 && number.ptr[0] == '-';
    if (number.len - is_negative > 18)
        return false;
    int64_t value = 0;
    for (size_t i = is_negative; i < number.len; i++) {
        if (!pl_ascii_is_digit(number.ptr[i]))
            return false;
        value = value * 10 + (number.ptr[i] - '0');
    }
    *ret_value = is_negative ? -value : value;
    return true;
}

static int cmp_magnitude(const struct pl_json_decimal *a, const struct pl_json_decimal *b)
{
    int64_t by_point = point_difference(a, b);
    if (by_point)
        return by_point < 0 ? -1 : 1;
    const char *x = a->first, *y = b->first;
    size_t n = a->n_digits < b->n_digits ? a->n_digits : b->n_digits;
    for (size_t i = 0; i < n; i++) {
        unsigned p = pl_json_decimal_digit(&x), q = pl_json_decimal_digit(&y);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return (a->n_digits > b->n_digits) - (a->n_digits < b->n_digits);
}

int pl_json_number_cmp(struct pl_str a, struct pl_str b)
{
    int64_t x, y;
    if (small_integer(a, &x) && small_integer(b, &y))
        return (x > y) - (x < y);
    struct pl_json_decimal p = pl_json_decimal(a), q = pl_json_decimal(b);
    int sign_p = p.n_digits ? (p.is_negative ? -1 : 1) : 0;
    int sign_q = q.n_digits ? (q.is_negative ? -1 : 1) : 0;
    if (sign_p != sign_q || !sign_p)
        return (sign_p > sign_q) - (sign_p < sign_q);
    return sign_p * cmp_magnitude(&p, &q);
}

bool pl_json_number_is_integer(struct pl_str number)
{
    int64_t value;
    if (small_integer(number, &value))
        return true;
    struct pl_json_decimal d = pl_json_decimal(number);
    return !d.n_digits || d.point >= (int64_t)d.n_digits;
}

bool pl_json_number_int64(struct pl_str number, int64_t *ret_value)
{
    if (small_integer(number, ret_value))
        return true;
    struct pl_json_decimal d = pl_json_decimal(number);
    if (d.n_digits && (d.point < (int64_t)d.n_digits || d.point > 19))
        return false;
    int64_t value = 0; /* kept negative: the negative range is larger by one */
    const char *at = d.first;
    for (int64_t i = 0; i < (d.n_digits ? d.point : 0); i++) {
        int64_t digit = i < (int64_t)d.n_digits ? pl_json_decimal_digit(&at) : 0;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    if (!d.is_negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *ret_value = value;
    return true;
}

/* big = big * factor + add. The caller ensures the capacity (see MAX_LIMBS). */
static void big_mul_add(struct big *big, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (uint32_t i = 0; i < big->n; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry)
        big->limb[big->n++] = (uint32_t)carry;
}

static void big_mul_power_of_ten(struct big *big, uint32_t power)
{
    for (; power >= CHUNK; power -= CHUNK)
        big_mul_add(big, power_of_ten[CHUNK], 0);
    big_mul_add(big, power_of_ten[power], 0);
}

/* Reads n digits, at most CHUNK, and moves *at. */
static uint32_t chunk_of(const char **at, size_t n)
{
    uint32_t value = 0;
    for (size_t i = 0; i < n; i++)
        value = value * 10 + pl_json_decimal_digit(at);
    return value;
}

static void big_set_digits(struct big *big, const char *at, size_t n_digits)
{
    big->n = 0;
    for (size_t n; n_digits > 0; n_digits -= n) {
        n = n_digits < CHUNK ? n_digits : CHUNK;
        uint32_t chunk = chunk_of(&at, n);
        big_mul_add(big, power_of_ten[n], chunk);
    }
}

static uint32_t big_bits(const struct big *big)
{
    return big->n * LIMB_BITS - (big->n ? (uint32_t)__builtin_clz(big->limb[big->n - 1]) : 0);
}

static void big_shift_left(struct big *big, uint32_t bits)
{
    uint32_t limbs = bits / LIMB_BITS, rest = bits % LIMB_BITS;
    uint32_t n = big->n + limbs + 1;
    for (uint32_t i = n; i-- > 0;) {
        uint64_t high = i >= limbs && i - limbs < big->n ? big->limb[i - limbs] : 0;
        uint64_t low = i > limbs && i - limbs <= big->n ? big->limb[i - limbs - 1] : 0;
        big->limb[i] = (uint32_t)((high << rest) | (low << rest >> LIMB_BITS));
    }
    big->n = big->limb[n - 1] ? n : n - 1;
}

static int big_cmp(const struct big *a, const struct big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* a -= b, for b <= a. */
static void big_sub(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t less = (i < b->n ? b->limb[i] : 0) + borrow;
        borrow = a->limb[i] < less;
        a->limb[i] = (uint32_t)(a->limb[i] - less);
    }
    while (a->n && !a->limb[a->n - 1])
        a->n--;
}

/* rem = (rem * factor + add) mod div, all three shifted left so that the top bit of div is set:
 * then the quotient guessed from the top limbs is at most two too large (Knuth, 4.3.1 D). rem has
 * exactly div->n limbs, leading zeros included. */
static void mod_step(uint32_t *rem, const struct big *div, uint32_t factor, uint64_t add)
{
    uint32_t n = div->n;
    uint64_t carry = add;
    for (uint32_t i = 0; i < n; i++) {
        carry += (uint64_t)rem[i] * factor;
        rem[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    uint64_t top = (carry << LIMB_BITS) | rem[n - 1];
    uint64_t quotient = top / div->limb[n - 1];
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t less = quotient * div->limb[i] + borrow;
        borrow = (less >> LIMB_BITS) + (rem[i] < (uint32_t)less);
        rem[i] -= (uint32_t)less;
    }
    for (int64_t above = (int64_t)(carry - borrow); above < 0;) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            sum += (uint64_t)rem[i] + div->limb[i];
            rem[i] = (uint32_t)sum;
            sum >>= LIMB_BITS;
        }
        above += (int64_t)sum;
    }
}

/* digits × 10^zeros mod divisor == 0, for a divisor of any size. */
static bool is_divisible_big(const struct pl_json_decimal *a, uint32_t zeros,
                             const struct pl_json_decimal *b)
{
    struct big div;
    big_set_digits(&div, b->first, b->n_digits);
    uint32_t shift = (uint32_t)__builtin_clz(div.limb[div.n - 1]);
    big_shift_left(&div, shift);
    uint32_t rem[MAX_LIMBS] = {0};
    const char *at = a->first;
    for (size_t left = a->n_digits, n; left > 0; left -= n) {
        n = left < CHUNK ? left : CHUNK;
        uint32_t chunk = chunk_of(&at, n);
        mod_step(rem, &div, power_of_ten[n], (uint64_t)chunk << shift);
    }
    for (; zeros >= CHUNK; zeros -= CHUNK)
        mod_step(rem, &div, power_of_ten[CHUNK], 0);
    mod_step(rem, &div, power_of_ten[zeros], 0);
    for (uint32_t i = 0; i < div.n; i++)
        if (rem[i])
            return false;
    return true;
}

static bool is_divisible_small(const struct pl_json_decimal *a, uint32_t zeros,
                               const struct pl_json_decimal *b)
{
    uint64_t div = 0, rem = 0;
    const char *at = b->first;
    for (size_t i = 0; i < b->n_digits; i++)
        div = div * 10 + pl_json_decimal_digit(&at);
    at = a->first;
    for (size_t left = a->n_digits, n; left > 0; left -= n) {
        n = left < CHUNK ? left : CHUNK;
        uint32_t chunk = chunk_of(&at, n);
        rem = (uint64_t)(((unsigned __int128)rem * power_of_ten[n] + chunk) % div);
    }
    for (uint32_t n; zeros > 0 && rem; zeros -= n) {
        n = zeros < CHUNK ? zeros : CHUNK;
        rem = (uint64_t)((unsigned __int128)rem * power_of_ten[n] % div);
    }
    return rem == 0;
}

/* With all trailing zeros moved into the powers of ten, a / b = A / B × 10^k. A negative k would
 * need A to end in a zero, which it does not. For a positive k a power of ten can only cancel the
 * factors 2 and 5 of B, and B has fewer of them than bits: a larger k changes nothing. */
bool pl_json_number_is_multiple(struct pl_str a, struct pl_str b)
{
    int64_t x, y;
    if (small_integer(a, &x) && small_integer(b, &y) && y > 0)
        return x % y == 0;
    struct pl_json_decimal p = pl_json_decimal(a), q = pl_json_decimal(b);
    if (!p.n_digits)
        return true;
    if (!q.n_digits || q.n_digits > MAX_DIVISOR_DIGITS)
        return false;
    int64_t k = point_difference(&p, &q) - (int64_t)p.n_digits + (int64_t)q.n_digits;
    if (k < 0)
        return false;
    uint32_t most = (uint32_t)q.n_digits * 4;
    uint32_t zeros = k < most ? (uint32_t)k : most;
    return q.n_digits <= 18 ? is_divisible_small(&p, zeros, &q) : is_divisible_big(&p, zeros, &q);
}

/* num / den rounded to the nearest double, half to even: computes the quotient bit by bit. */
static double divide(struct big *num, struct big *den)
{
    int exponent = (int)big_bits(num) - (int)big_bits(den);
    if (exponent > 0)
        big_shift_left(den, (uint32_t)exponent);
    else
        big_shift_left(num, (uint32_t)-exponent);
    if (big_cmp(num, den) < 0) {
        big_shift_left(num, 1);
        exponent--;
    }
    /* Now 1 <= num / den < 2 and the value is that times 2^exponent. */
    int n_bits = exponent < -1022 ? 53 - (-1022 - exponent) : 53;
    uint64_t bits = 0;
    for (int i = 0; i < n_bits; i++) {
        bool is_one = big_cmp(num, den) >= 0;
        if (is_one)
            big_sub(num, den);
        bits = bits << 1 | is_one;
        big_shift_left(num, 1);
    }
    /* num holds twice the remainder, in units of the last bit. Below the smallest double there is
     * no last bit: n_bits is 0 and num is the value itself, or n_bits is negative and the value is
     * less than half. */
    int half = n_bits < 0 ? -1 : big_cmp(num, den);
    bits += half > 0 || (half == 0 && (bits & 1));
    return ldexp((double)bits, exponent - n_bits + 1);
}

static double slow_double(const struct pl_json_decimal *d)
{
    struct big num, den = {.n = 1, .limb = {1}};
    size_t n_digits = d->n_digits < MAX_DOUBLE_DIGITS ? d->n_digits : MAX_DOUBLE_DIGITS;
    big_set_digits(&num, d->first, n_digits);
    if (n_digits < d->n_digits) { /* the last omitted digit is not zero: append a 1 for it */
        big_mul_add(&num, 10, 1);
        n_digits++;
    }
    int64_t power = d->point - (int64_t)n_digits;
    big_mul_power_of_ten(power < 0 ? &den : &num, (uint32_t)(power < 0 ? -power : power));
    return divide(&num, &den);
}

double pl_json_number_double(struct pl_str number)
{
    static const double exact_power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct pl_json_decimal d = pl_json_decimal(number);
    double value;
    int64_t power = d.point - (int64_t)d.n_digits;
    if (!d.n_digits) {
        d.is_negative = number.len > 0 && number.ptr[0] == '-';
        value = 0;
    } else if (d.point > 309) {
        value = INFINITY;
    } else if (d.point < -323) {
        value = 0;
    } else if (d.n_digits <= 15 && power >= -22 && power <= 22) {
        /* Both operands are exact, so the result is rounded once. */
        const char *at = d.first;
        uint64_t digits = 0;
        for (size_t i = 0; i < d.n_digits; i++)
            digits = digits * 10 + pl_json_decimal_digit(&at);
        value =
            power < 0 ? (double)digits / exact_power[-power] : (double)digits * exact_power[power];
    } else {
        value = slow_double(&d);
    }
    return d.is_negative ? -value : value;
}

/* The exponent modulo a secret number: an attacker cannot make huge exponents collide. */
static uint64_t point_residue(const struct pl_json_decimal *d)
{
    uint64_t modulus = pl_hash(PL_STR("exponent")) | (uint64_t)1 << 63;
    unsigned __int128 rest = 0;
    for (size_t i = 0; i < d->exponent.len; i++)
        rest = (rest * 10 + (unsigned)(d->exponent.ptr[i] - '0')) % modulus;
    uint64_t shift = (uint64_t)(d->shift < 0 ? -d->shift : d->shift) % modulus;
    if (d->is_exponent_negative)
        rest = modulus - rest;
    rest += d->shift < 0 ? modulus - shift : shift;
    return (uint64_t)(rest % modulus);
}

uint64_t pl_json_number_hash(struct pl_str number)
{
    struct pl_json_decimal d = pl_json_decimal(number);
    bool is_near = d.point <= PL_JSON_POINT_EXACT && d.point >= -PL_JSON_POINT_EXACT;
    struct {
        uint64_t point, so_far;
        char digits[112];
    } piece = {.point = is_near ? (uint64_t)d.point : point_residue(&d), .so_far = d.is_negative};
    const char *at = d.first;
    size_t left = d.n_digits;
    do {
        size_t n = left < sizeof piece.digits ? left : sizeof piece.digits;
        for (size_t i = 0; i < n; i++)
            piece.digits[i] = (char)pl_json_decimal_digit(&at);
        left -= n;
        piece.so_far =
            pl_hash((struct pl_str){(const char *)&piece, offsetof(__typeof__(piece), digits) + n});
    } while (left > 0);
    return piece.so_far;
}
