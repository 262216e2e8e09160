/* The sequences of flenniken's utf8tests, with every instruction set of this machine. Each is
 * tested alone, and at every offset in a line of letters, so that it meets every place in a vector.
 * */
#include "base/text/utf8.h"
#include "conformance/corpora.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEQUENCE = 512, MAX_SHIFT = 130 };

static size_t from_hex(const char *hex, char *to)
{
    size_t n = 0;
    for (unsigned byte; n < MAX_SEQUENCE && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        to[n++] = (char)byte;
    return n;
}

static bool is_judged_right(enum pl_cpu cpu, struct pl_str sequence, bool is_valid)
{
    char text[MAX_SHIFT + MAX_SEQUENCE + 16];
    for (size_t shift = 0; shift < MAX_SHIFT; shift++) {
        memset(text, 'a', sizeof text);
        memcpy(text + shift, sequence.ptr, sequence.len);
        struct pl_str at_end = {text, shift + sequence.len};
        struct pl_str in_middle = {text, shift + sequence.len + 16};
        if ((pl_utf8_valid_prefix_with(cpu, at_end) == at_end.len) != is_valid ||
            (pl_utf8_valid_prefix_with(cpu, in_middle) == in_middle.len) != is_valid)
            return false;
    }
    return true;
}

/* The file has one member per line, always in the order id, valid, hex. */
static void test_cases(const char *json, enum pl_cpu cpu)
{
    char id[32], valid[8], hex[2 * MAX_SEQUENCE + 1], bytes[MAX_SEQUENCE];
    for (const char *at = json; (at = strstr(at, "\"id\"")); at++) {
        if (sscanf(at, "\"id\": \"%31[^\"]\", \"valid\": %7[a-z], \"hex\": \"%1024[0-9a-fA-F]\"",
                   id, valid, hex) != 3) {
            tap_point(false, "a case reads as id, valid, hex");
            continue;
        }
        bool is_valid = strcmp(valid, "true") == 0;
        struct pl_str sequence = {bytes, from_hex(hex, bytes)};
        tap_point(is_judged_right(cpu, sequence, is_valid), "%s %s is %s: %s", id, hex,
                  is_valid ? "valid" : "invalid", pl_cpu_name(cpu));
    }
}

int main(void)
{
    char *path = corpora_find("utf8/utf8tests.json");
    if (!path)
        return tap_skip_all("no utf8/utf8tests.json: set PARLEY_CORPORA to the corpora");
    size_t len;
    char *json = corpora_read(path, &len);
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++)
        if (pl_cpu_has((enum pl_cpu)cpu))
            test_cases(json, (enum pl_cpu)cpu);
    free(json);
    free(path);
    return tap_end();
}
