/* Time from exec to the first answer: starts a server and sends requests until it answers.
 *
 * usage: start-client PORT PATH PROGRAM [ARGUMENT]...
 *
 * Retries with a new connection every 200 us while it is refused. Prints the milliseconds and the
 * server's memory (resident, half a second later, with its children), then stops it. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GIVE_UP_MS = 10000, RETRY_US = 200, SETTLE_US = 500000 };

extern char **environ;

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Returns true if an answer began to arrive. */
static bool ask(uint16_t port, const char *path)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[512];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", path, port);
    bool is_answered = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
                       send(fd, text, (size_t)n, MSG_NOSIGNAL) == n &&
                       recv(fd, text, sizeof text, 0) > 12 && memcmp(text + 9, "200", 3) == 0;
    close(fd);
    return is_answered;
}

static long resident_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = (long)strtod(line + 6, NULL);
    if (file)
        fclose(file);
    return kb;
}

/* A server may consist of a master and workers. */
static long resident_with_children_kb(pid_t pid)
{
    char path[64];
    int child;
    long kb = resident_kb(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1)
        kb += resident_kb(child);
    if (file)
        fclose(file);
    return kb;
}

static int start(char **command, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawnp(ret_pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

int main(int argc, char **argv)
{
    pid_t pid;
    if (argc < 4) {
        fprintf(stderr, "usage: start-client PORT PATH PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    uint16_t port = (uint16_t)strtod(argv[1], NULL);
    double begin = now_ms();
    int failure = start(argv + 3, &pid);
    if (failure) {
        fprintf(stderr, "start-client: %s: %s\n", argv[3], strerror(failure));
        return 4;
    }
    bool is_answered;
    while (!(is_answered = ask(port, argv[2])) && now_ms() - begin < GIVE_UP_MS)
        usleep(RETRY_US);
    double took_ms = now_ms() - begin;
    usleep(SETTLE_US);
    printf("{\"ms\":%.2f,\"resident_kb\":%ld}\n", took_ms, resident_with_children_kb(pid));
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    return is_answered ? 0 : 4;
}
