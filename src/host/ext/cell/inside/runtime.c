/* The part of the machine that every cell sees: the programs and libraries of the system,
 * read-only, and a few files in /etc that are made for the cell. Nothing of a user, of the server
 * or of other configuration. */
#include "ext/cell/inside/build_int.h"

const struct pl_cell_runtime pl_cell_runtime[] = {
    {"/usr", false},
    {"/bin", false},
    {"/sbin", false},
    {"/lib", false},
    {"/lib32", false},
    {"/lib64", false},
    {"/libx32", false},
    {"/nix/store", false},
    {"/etc/alternatives", true},
    {"/etc/ld.so.cache", true},
    {"/etc/localtime", true},
    {"/etc/ssl/certs", true},
    {"/etc/ssl/openssl.cnf", true},
    {"/etc/pki/tls/certs", true},
    {"/etc/pki/ca-trust/extracted", true},
    {"/etc/ca-certificates/extracted", true},
    {NULL, false},
};

const char *const pl_cell_devices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
                                       NULL};

static struct pl_str hosts_text(struct pl_cell_build *build)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "127.0.0.1 localhost cell\n");
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    size_t n_places = pl_cell_plan_places(&build->plan, places);
    for (size_t i = 0; i < n_places; i++) {
        char address[16];
        pl_cell_slot_address(places[i].slot, address);
        if (places[i].name[0] != '*' && (!i || places[i].slot != places[i - 1].slot))
            pl_buf_addf(&text, "%s %s\n", address, places[i].name);
    }
    struct pl_str copy = pl_arena_dup(build->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !copy.ptr)
        pl_cell_fail(PL_NOMEM, "out of memory");
    return copy;
}

const struct pl_cell_file *pl_cell_files(struct pl_cell_build *build)
{
    struct pl_cell_file *files = pl_arena_zalloc(build->arena, 8, sizeof *files);
    if (!files)
        pl_cell_fail(PL_NOMEM, "out of memory");
    files[0] = (struct pl_cell_file){"/etc/passwd",
                                     PL_STR("ext:x:1000:1000:extension:/tmp:/bin/sh\n"
                                            "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n")};
    files[1] = (struct pl_cell_file){"/etc/group", PL_STR("ext:x:1000:\nnogroup:x:65534:\n")};
    files[2] = (struct pl_cell_file){"/etc/nsswitch.conf",
                                     PL_STR("passwd: files\ngroup: files\nhosts: files\n")};
    files[3] = (struct pl_cell_file){"/etc/hosts", hosts_text(build)};
    files[4] = (struct pl_cell_file){"/etc/resolv.conf", PL_STR("# names are in /etc/hosts\n")};
    return files;
}
