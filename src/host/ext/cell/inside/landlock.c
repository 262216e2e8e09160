/* The headers of Debian 12 have ABI 3 of Landlock, so later constants are defined here. */
#include "ext/cell/inside/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FS_TRUNCATE   (1ull << 14) /* ABI 3 */
#define FS_IOCTL_DEV  (1ull << 15) /* ABI 5 */
#define NET_BIND      (1ull << 0)  /* ABI 4 */
#define NET_CONNECT   (1ull << 1)
#define SCOPE_SOCKETS (1ull << 0) /* ABI 6: abstract Unix sockets */
#define SCOPE_SIGNALS (1ull << 1)
#define RULE_NET_PORT 2

struct ruleset {
    uint64_t fs, net, scoped;
};

struct port_rule {
    uint64_t access, port;
};

static uint64_t handled_fs(int abi)
{
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    return all | (abi >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) |
           (abi >= 5 ? FS_IOCTL_DEV : 0);
}

#define LOOK (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define KEEP                                                                                       \
    (LOOK | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                        \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |  \
     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER |       \
     FS_TRUNCATE)
static const uint64_t rights_fs[] = {
    [PL_LANDLOCK_READ] = LOOK | LANDLOCK_ACCESS_FS_EXECUTE,
    [PL_LANDLOCK_LOOK] = LOOK,
    [PL_LANDLOCK_DEVICE] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
    [PL_LANDLOCK_KEEP] = KEEP,
    [PL_LANDLOCK_WRITE] = KEEP | LANDLOCK_ACCESS_FS_EXECUTE,
};
/* Rights that a rule for a file may have. */
#define OF_FILES                                                                                   \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |   \
     FS_TRUNCATE | FS_IOCTL_DEV)

int pl_landlock_abi(void)
{
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, 0, (uint32_t)LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

int pl_landlock_create(int abi)
{
    struct ruleset attr = {
        .fs = handled_fs(abi),
        .net = NET_BIND | NET_CONNECT,
        .scoped = SCOPE_SOCKETS | SCOPE_SIGNALS,
    };
    size_t size = abi >= 6   ? sizeof attr
                  : abi >= 4 ? offsetof(struct ruleset, scoped)
                             : offsetof(struct ruleset, net);
    return (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
}

bool pl_landlock_allow(int ruleset, int abi, int fd, enum pl_landlock_rights rights)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return false;
    struct landlock_path_beneath_attr attr = {
        .allowed_access =
            rights_fs[rights] & handled_fs(abi) & (S_ISDIR(info.st_mode) ? ~0ull : OF_FILES),
        .parent_fd = fd,
    };
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) == 0;
}

bool pl_landlock_allow_port(int ruleset, int abi, uint16_t port)
{
    struct port_rule attr = {NET_CONNECT, port};
    return abi < 4 || syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attr, 0) == 0;
}

bool pl_landlock_enter(int ruleset)
{
    return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}
