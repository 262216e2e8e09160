/* Character classes of ASCII, independent of the locale. Every function takes any number, including
 * bytes above 127 of either sign and code points; a number outside ASCII belongs to no class. */
#ifndef PL_BASE_ASCII_H
#define PL_BASE_ASCII_H

#include <stdbool.h>

static inline bool pl_ascii_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool pl_ascii_is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool pl_ascii_is_alnum(int c)
{
    return pl_ascii_is_letter(c) || pl_ascii_is_digit(c);
}

static inline char pl_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline char pl_ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c;
}

/* The value of a hexadecimal digit, in either case; -1 for anything else. */
static inline int pl_ascii_hex(int c)
{
    if (pl_ascii_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool pl_ascii_is_hex(int c)
{
    return pl_ascii_hex(c) >= 0;
}

/* Three definitions of white space; each includes the one before. */

/* Space and tab. */
static inline bool pl_ascii_is_blank(int c)
{
    return c == ' ' || c == '\t';
}

/* White space of JSON: blanks and line ends. */
static inline bool pl_ascii_is_white(int c)
{
    return pl_ascii_is_blank(c) || c == '\n' || c == '\r';
}

/* White space of C: also vertical tab and form feed. */
static inline bool pl_ascii_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
