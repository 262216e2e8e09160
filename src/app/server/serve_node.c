/* Settings of a cluster node, checked before anything starts: the name goes into headers, the
 * address is shown to people, and the bus URL may contain a password. */
#include "app/server/serve_node.h"

#include "app/server/store_password.h"
#include "bus/nats_names.h"
#include "cluster/node.h"

#include <unistd.h>

enum { ADDRESS_MAX = 255 };

/* --- secrets --------------------------------------------------------------------------------- */

/* Finds the text between "://" and "@" of the next address from `at` on; false if there is no
 * more. */
static bool next_secret(const char *at, const char **ret_from, const char **ret_to)
{
    while ((at = strstr(at, "://"))) {
        at += 3;
        size_t n = strcspn(at, ",");
        const char *end = at + n;
        while (end > at && *end != '@')
            end--;
        if (end > at) {
            *ret_from = at;
            *ret_to = end;
            return true;
        }
        at += n;
    }
    return false;
}

const char *pl_bus_url_redact(struct pl_arena *arena, const char *url)
{
    struct pl_buf text PL_CLEANUP_BUF;
    const char *from, *to;
    pl_buf_init(&text, 0);
    while (next_secret(url, &from, &to)) {
        pl_buf_add(&text, (struct pl_str){url, (size_t)(from - url)});
        pl_buf_adds(&text, "***");
        url = to;
    }
    pl_buf_adds(&text, url);
    pl_buf_addc(&text, '\0');
    return text.status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&text)).ptr : NULL;
}

void pl_bus_url_scrub(char *url)
{
    const char *from, *to;
    for (const char *at = url; next_secret(at, &from, &to); at = to)
        memset(url + (from - url), '*', (size_t)(to - from));
}

enum pl_status pl_serve_bus_read(struct pl_arena *arena, struct pl_server_config *config,
                                 struct pl_error *err)
{
    if (!config->bus_file)
        return PL_OK;
    if (config->bus_url)
        return pl_fail(err, PL_USAGE, "bus and bus_file say the same; give one of the two");
    return pl_store_password_read(arena, config->bus_file, &config->bus_url, err);
}

/* --- checks ---------------------------------------------------------------------------------- */

static enum pl_status check_name(const char *name, struct pl_error *err)
{
    size_t n = strlen(name);
    bool is_good = n >= 1 && n <= PL_NODE_NAME_MAX;
    for (size_t i = 0; i < n && is_good; i++)
        is_good = pl_node_name_has(name[i]);
    return is_good ? PL_OK
                   : pl_fail(err, PL_USAGE,
                             "node \"%.80s\" is not a valid name; give 1 to %d letters, digits, "
                             "dots, underscores and hyphens, such as n1",
                             name, PL_NODE_NAME_MAX);
}

static enum pl_status check_address(const char *address, struct pl_error *err)
{
    size_t n = strlen(address);
    bool is_good = n >= 1 && n <= ADDRESS_MAX;
    for (size_t i = 0; i < n && is_good; i++)
        is_good = address[i] > ' ' && address[i] < 127;
    return is_good ? PL_OK
                   : pl_fail(err, PL_USAGE,
                             "address \"%.80s\" is not an address; give up to %d characters "
                             "without spaces, such as 10.0.0.1:8787",
                             address, ADDRESS_MAX);
}

static bool is_postgres(const char *url)
{
    return url && (strncmp(url, "postgres:", 9) == 0 || strncmp(url, "postgresql:", 11) == 0);
}

static enum pl_status check_bus(const struct pl_server_config *config, struct pl_error *err)
{
    const struct {
        const char *name, *path;
    } files[] = {{"bus_ca", config->bus_ca},
                 {"bus_cert", config->bus_cert},
                 {"bus_key", config->bus_key},
                 {"bus_creds", config->bus_creds}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].path && !config->bus_url)
            return pl_fail(err, PL_USAGE, "%s needs bus: the address of a NATS server",
                           files[i].name);
        if (files[i].path && access(files[i].path, R_OK) != 0)
            return pl_fail(err, PL_USAGE, "%s: the file %.200s cannot be read", files[i].name,
                           files[i].path);
    }
    if (!config->bus_cert != !config->bus_key)
        return pl_fail(err, PL_USAGE,
                       "a certificate needs its key: give both --bus-cert and --bus-key");
    if (!config->bus_url)
        return PL_OK;
    if (!is_postgres(config->store_url))
        return pl_fail(err, PL_USAGE,
                       "bus is for servers that share a database: give --store postgres://… too, "
                       "or leave --bus out");
    return pl_nats_check_addresses(pl_str_of(config->bus_url), &n, err) == PL_OK ? PL_OK : PL_USAGE;
}

enum pl_status pl_serve_node_check(const struct pl_server_config *config, struct pl_error *err)
{
    enum pl_status status = config->node_name ? check_name(config->node_name, err) : PL_OK;
    if (status == PL_OK && config->node_address)
        status = check_address(config->node_address, err);
    return status == PL_OK ? check_bus(config, err) : status;
}
