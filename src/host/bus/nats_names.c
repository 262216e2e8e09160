/* Writes and reads addresses and subjects. */
#include "bus/nats_names.h"

#include <stdio.h>

/* --- addresses ------------------------------------------------------------------------------- */

bool pl_nats_next_address(struct pl_str *list, struct pl_str *ret_address)
{
    if (!list->ptr)
        return false;
    size_t end = pl_str_find(*list, PL_STR(","));
    *ret_address = pl_str_slice(*list, 0, end);
    *list = end < list->len ? pl_str_slice(*list, end + 1, list->len) : (struct pl_str){0};
    return true;
}

static bool is_port(struct pl_str text)
{
    unsigned port = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || text.len > 5)
            return false;
        port = port * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return port >= 1 && port <= 65535;
}

static bool is_host_byte(char c, bool is_bracketed)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || (is_bracketed && c == ':');
}

static bool is_host(struct pl_str host, bool is_bracketed)
{
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_byte(host.ptr[i], is_bracketed))
            return false;
    return host.len > 0 && host.len < PL_NATS_HOST_MAX;
}

/* HOST[:PORT], or [HOST][:PORT]. */
static bool read_place(struct pl_str place, struct pl_str *ret_host)
{
    bool is_bracketed = pl_str_starts(place, PL_STR("["));
    size_t end = pl_str_find(place, PL_STR("]"));
    if (is_bracketed && end > place.len)
        return false;
    *ret_host = is_bracketed ? pl_str_slice(place, 1, end)
                             : pl_str_slice(place, 0, pl_str_find(place, PL_STR(":")));
    struct pl_str after = pl_str_slice(place, is_bracketed ? end + 1 : ret_host->len, place.len);
    bool has_port = after.len > 0;
    return is_host(*ret_host, is_bracketed) &&
           (!has_port || (after.ptr[0] == ':' && is_port(pl_str_slice(after, 1, after.len))));
}

bool pl_nats_read_address(struct pl_str address, struct pl_nats_address *ret_address)
{
    static const struct {
        struct pl_str scheme;
        bool is_secure;
    } schemes[] = {{{"nats://", 7}, false}, {{"tls://", 6}, true}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!pl_str_starts(address, schemes[i].scheme))
            continue;
        struct pl_nats_address found = {
            .rest = pl_str_slice(address, schemes[i].scheme.len, address.len),
            .is_secure = schemes[i].is_secure};
        size_t at = found.rest.len;
        while (at > 0 && found.rest.ptr[at - 1] != '@')
            at--;
        if (!read_place(pl_str_slice(found.rest, at, found.rest.len), &found.host))
            return false;
        *ret_address = found;
        return true;
    }
    return false;
}

enum pl_status pl_nats_check_addresses(struct pl_str list, size_t *ret_n, struct pl_error *err)
{
    struct pl_str address;
    struct pl_nats_address read;
    size_t n = 0, n_secure = 0;
    for (; pl_nats_next_address(&list, &address); n++) {
        if (!pl_nats_read_address(address, &read))
            return pl_fail(err, PL_INVALID,
                           "address %zu of --bus is wrong: use nats://HOST:PORT or "
                           "tls://HOST:PORT, with commas between several",
                           n + 1);
        n_secure += read.is_secure;
    }
    if (n_secure && n_secure < n)
        return pl_fail(err, PL_INVALID,
                       "--bus has addresses with nats:// and with tls://: use one of them for all");
    *ret_n = n;
    return PL_OK;
}

/* --- subjects -------------------------------------------------------------------------------- */

bool pl_nats_is_cluster(struct pl_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.' || !is_host_byte(name.ptr[i], false))
            return false;
    return name.len > 0 && name.len <= PL_NATS_CLUSTER_MAX;
}

struct hex {
    char text[2 * PL_NODE_ID_BYTES + 1];
};

static struct hex hex_of(const struct pl_node_id *node)
{
    static const char digits[] = "0123456789abcdef";
    struct hex hex = {0};
    for (size_t i = 0; i < PL_NODE_ID_BYTES; i++) {
        hex.text[2 * i] = digits[node->bytes[i] >> 4];
        hex.text[2 * i + 1] = digits[node->bytes[i] & 15];
    }
    return hex;
}

struct pl_nats_subject pl_nats_subject_to(struct pl_str cluster, const struct pl_node_id *to)
{
    struct pl_nats_subject subject;
    if (pl_node_id_is_zero(to))
        snprintf(subject.text, sizeof subject.text, "parley.%.*s.all", PL_STR_ARG(cluster));
    else
        snprintf(subject.text, sizeof subject.text, "parley.%.*s.n.%s", PL_STR_ARG(cluster),
                 hex_of(to).text);
    return subject;
}

struct pl_nats_subject pl_nats_reply(struct pl_str cluster, const struct pl_node_id *from,
                                     const struct pl_node_id *to)
{
    struct pl_nats_subject subject;
    snprintf(subject.text, sizeof subject.text, "parley.%.*s.r.%s.%s", PL_STR_ARG(cluster),
             hex_of(from).text, pl_node_id_is_zero(to) ? "all" : hex_of(to).text);
    return subject;
}

struct pl_nats_subject pl_nats_replies(struct pl_str cluster, const struct pl_node_id *from)
{
    struct pl_nats_subject subject;
    snprintf(subject.text, sizeof subject.text, "parley.%.*s.r.%s.*", PL_STR_ARG(cluster),
             hex_of(from).text);
    return subject;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct pl_str text, struct pl_node_id *ret_node)
{
    if (text.len != 2 * PL_NODE_ID_BYTES)
        return false;
    for (size_t i = 0; i < PL_NODE_ID_BYTES; i++) {
        int high = digit_of(text.ptr[2 * i]), low = digit_of(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret_node->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool pl_nats_read_reply(struct pl_str cluster, const char *subject, struct pl_node_id *ret_from,
                        struct pl_node_id *ret_to)
{
    struct pl_nats_subject head;
    struct pl_node_id from = {0}, to = {0};
    snprintf(head.text, sizeof head.text, "parley.%.*s.r.", PL_STR_ARG(cluster));
    struct pl_str text = pl_str_of(subject), start = pl_str_of(head.text);
    if (!pl_str_starts(text, start))
        return false;
    struct pl_str names = pl_str_slice(text, start.len, text.len);
    size_t dot = 2 * PL_NODE_ID_BYTES;
    if (names.len <= dot || names.ptr[dot] != '.' || !read_hex(pl_str_slice(names, 0, dot), &from))
        return false;
    struct pl_str last = pl_str_slice(names, dot + 1, names.len);
    if (!pl_str_eq(last, PL_STR("all")) && !read_hex(last, &to))
        return false;
    *ret_from = from;
    *ret_to = to;
    return true;
}
