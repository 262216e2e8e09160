#include "contract/bus/bus_world.h"

#include <stdio.h>

const char *bus_kind;
_Atomic(bool) is_memory_short;

static void begin_call(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    node->is_twice = node->is_twice || node->is_inside;
    node->is_inside = true;
    pthread_mutex_unlock(&node->lock);
}

static void end_call(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    node->is_inside = false;
    pthread_mutex_unlock(&node->lock);
}

static void keep(void *ctx, struct pl_str bytes, bool is_to_all)
{
    struct node *node = ctx;
    begin_call(node);
    char *copy = malloc(bytes.len + 1);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    pthread_mutex_lock(&node->lock);
    if (node->n_came == node->cap_came) {
        node->cap_came = node->cap_came ? 2 * node->cap_came : 64;
        node->came = realloc(node->came, node->cap_came * sizeof *node->came);
    }
    node->came[node->n_came++] = (struct came){copy, bytes.len, is_to_all};
    pthread_mutex_unlock(&node->lock);
    end_call(node);
}

static void keep_state(void *ctx, enum pl_bus_state state, const char *why)
{
    struct node *node = ctx;
    begin_call(node);
    assert_true(why && *why);
    pthread_mutex_lock(&node->lock);
    node->n_told[state]++;
    pthread_mutex_unlock(&node->lock);
    end_call(node);
}

struct node *node_make(struct fixture *fixture)
{
    static unsigned char n_nodes;
    struct node *node = calloc(1, sizeof *node);
    assert_non_null(node);
    node->fixture = fixture;
    node->store = fixture_join(fixture);
    pthread_mutex_init(&node->lock, NULL);
    node->id = (struct pl_node_id){{1, ++n_nodes}};
    if (strcmp(bus_kind, "local") == 0)
        return node;
    struct pl_error err = {0};
    struct pl_node_about about = {.name = PL_STR("node"), .protocol = 1};
    if (pl_node_line_open(node->store, &about, &node->line, &err) != PL_OK)
        fail_msg("%s", err.message);
    node->id = *pl_node_line_writer(node->line);
    return node;
}

void node_configure(struct node *node, struct pl_bus_config *ret_config)
{
    *ret_config = (struct pl_bus_config){
        .url = strcmp(bus_kind, "nats") == 0 ? getenv("PARLEY_TEST_NATS") : NULL,
        .store = node->store,
        .cluster = pl_str_of(strcmp(bus_kind, "local") == 0 ? "local" : node->fixture->path),
        .me = node->id,
        .on_letter = keep,
        .on_state = keep_state,
        .ctx = node,
    };
}

enum pl_status node_open(struct node *node, const struct pl_bus_config *config,
                         struct pl_error *err)
{
    return pl_bus_open(config, &node->bus, err);
}

/* Returns after the node has connected: a bus of NATS starts before it is connected. */
struct node *node_enter(struct fixture *fixture)
{
    struct node *node = node_make(fixture);
    struct pl_bus_config config;
    struct pl_error err = {0};
    node_configure(node, &config);
    if (node_open(node, &config, &err) != PL_OK)
        fail_msg("%s", err.message);
    until(pl_bus_state(node->bus) == PL_BUS_UP);
    return node;
}

void node_leave(struct node *node)
{
    pl_bus_close(node->bus);
    assert_false(node->is_inside);
    assert_false(node->is_twice);
    pl_node_line_close(node->line);
    fixture_leave(node->fixture, node->store);
    for (size_t i = 0; i < node->n_came; i++)
        free(node->came[i].bytes);
    free(node->came);
    pthread_mutex_destroy(&node->lock);
    free(node);
}

void node_send(struct node *from, const struct node *to, struct pl_str letter)
{
    assert_int_equal(pl_bus_send(from->bus, &to->id, letter, false), PL_OK);
}

void node_send_all(struct node *from, struct pl_str letter)
{
    assert_int_equal(pl_bus_send_all(from->bus, letter), PL_OK);
}

size_t node_n_came(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    size_t n = node->n_came;
    pthread_mutex_unlock(&node->lock);
    return n;
}

size_t node_n_told(struct node *node, enum pl_bus_state state)
{
    pthread_mutex_lock(&node->lock);
    size_t n = node->n_told[state];
    pthread_mutex_unlock(&node->lock);
    return n;
}

void node_await(struct node *node, size_t n)
{
    until(node_n_came(node) >= n);
    assert_int_equal(node_n_came(node), n);
}

struct came node_came(struct node *node, size_t i)
{
    pthread_mutex_lock(&node->lock);
    assert_true(i < node->n_came);
    struct came came = node->came[i];
    pthread_mutex_unlock(&node->lock);
    return came;
}

void assert_came(struct node *node, size_t i, struct pl_str letter, bool is_to_all)
{
    struct came came = node_came(node, i);
    assert_int_equal(came.len, letter.len);
    assert_true(letter.len == 0 || memcmp(came.bytes, letter.ptr, letter.len) == 0);
    assert_int_equal(came.is_to_all, is_to_all);
}

static void control(const char *name, const char *word)
{
    char command[512];
    snprintf(command, sizeof command, "%s %s", getenv(name), word);
    assert_int_equal(system(command), 0);
}

void control_postgres(const char *word)
{
    control("PARLEY_TEST_POSTGRES_CONTROL", word);
}

void control_nats(const char *word)
{
    control("PARLEY_TEST_NATS_CONTROL", word);
}
