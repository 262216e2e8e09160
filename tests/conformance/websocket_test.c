/* The byte sequences of the Autobahn test suite, cases 6.x: as a text message in one frame, and in
 * one frame per byte, each fed whole and byte by byte. */
#include "conformance/corpora.h"
#include "unit/wire/told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEQUENCE = 512 };
static const char mask[4] = {'\x12', '\x00', '\xFF', '\x80'};

static size_t from_hex(const char *hex, char *to)
{
    size_t n = 0;
    for (unsigned byte; n < MAX_SEQUENCE && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        to[n++] = (char)byte;
    return n;
}

static void add_message(struct pl_buf *to, struct pl_str text, size_t n_frame)
{
    size_t at = 0;
    do {
        struct pl_str piece = pl_str_slice(text, at, at + n_frame);
        bool is_last = at + piece.len == text.len;
        told_frame(to, (uint8_t)((at == 0 ? 0x01 : 0x00) | (is_last ? 0x80 : 0x00)), piece, mask);
        at += piece.len;
    } while (at < text.len);
}

static bool is_judged_right(struct pl_str text, size_t n_frame, struct cut cut, bool is_valid)
{
    PL_CLEANUP_BUF struct pl_buf bytes, told, wanted;
    pl_buf_init(&bytes, 0);
    pl_buf_init(&told, 0);
    pl_buf_init(&wanted, 0);
    add_message(&bytes, text, n_frame);
    enum pl_status status = told_ws(pl_buf_str(&bytes), cut, &told);
    if (is_valid) {
        pl_buf_addf(&wanted, "1 payload[%zu] ", text.len);
        pl_buf_add(&wanted, text);
        pl_buf_addc(&wanted, '\n');
    } else {
        pl_buf_adds(&wanted, "INVALID 1007\n");
    }
    return status == (is_valid ? PL_OK : PL_INVALID) &&
           pl_str_eq(pl_buf_str(&told), pl_buf_str(&wanted));
}

/* The file has one member per line, always in the order case, group, valid, hex. */
static void test_case(const char *at)
{
    char id[32], valid[8], hex[2 * MAX_SEQUENCE + 1] = "", bytes[MAX_SEQUENCE];
    if (sscanf(at,
               "\"case\": \"%31[^\"]\", \"group\": \"%*[^\"]\", \"valid\": %7[a-z], \"hex\": "
               "\"%1024[0-9a-fA-F]\"",
               id, valid, hex) < 2) {
        tap_point(false, "a case reads as case, group, valid, hex");
        return;
    }
    bool is_valid = strcmp(valid, "true") == 0;
    struct pl_str text = {bytes, from_hex(hex, bytes)};
    tap_point(is_judged_right(text, MAX_SEQUENCE, CUT_WHOLE, is_valid) &&
                  is_judged_right(text, MAX_SEQUENCE, CUT_BYTES, is_valid) &&
                  is_judged_right(text, 1, CUT_WHOLE, is_valid) &&
                  is_judged_right(text, 1, CUT_BYTES, is_valid),
              "%s %s is %s", id, hex, is_valid ? "valid" : "invalid");
}

int main(void)
{
    char *path = corpora_find("websocket/autobahn_utf8_sequences.json");
    if (!path)
        return tap_skip_all("no websocket/autobahn_utf8_sequences.json: set PARLEY_CORPORA to the "
                            "corpora");
    size_t len;
    char *json = corpora_read(path, &len);
    for (const char *at = json; (at = strstr(at, "\"case\": ")); at++)
        test_case(at);
    free(json);
    free(path);
    return tap_end();
}
