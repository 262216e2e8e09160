/* Letters between threads. A sender swaps itself in as the last one and then links its predecessor
 * to itself. Between the two steps the receiver sees a gap and stops there; it is woken again when
 * the gap is closed. */
#include "io/loop_int.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

void pl_mailbox_init(struct pl_mailbox *mailbox)
{
    atomic_init(&mailbox->stub.next, NULL);
    atomic_init(&mailbox->last, &mailbox->stub);
    mailbox->first = &mailbox->stub;
}

static void append(struct pl_mailbox *mailbox, struct pl_letter *letter)
{
    atomic_store_explicit(&letter->next, NULL, memory_order_relaxed);
    struct pl_letter *before =
        atomic_exchange_explicit(&mailbox->last, letter, memory_order_acq_rel);
    atomic_store_explicit(&before->next, letter, memory_order_release);
}

/* NULL: empty, or a gap follows. */
static struct pl_letter *take(struct pl_mailbox *mailbox)
{
    struct pl_letter *first = mailbox->first;
    struct pl_letter *next = atomic_load_explicit(&first->next, memory_order_acquire);
    if (first == &mailbox->stub) {
        if (!next)
            return NULL;
        mailbox->first = first = next;
        next = atomic_load_explicit(&first->next, memory_order_acquire);
    }
    if (!next) {
        if (atomic_load_explicit(&mailbox->last, memory_order_acquire) != first)
            return NULL;
        append(mailbox, &mailbox->stub); /* so that the last letter can be removed */
        next = atomic_load_explicit(&first->next, memory_order_acquire);
        if (!next)
            return NULL;
    }
    mailbox->first = next;
    return first;
}

size_t pl_mailbox_open(struct pl_mailbox *mailbox, size_t max)
{
    size_t n = 0;
    for (struct pl_letter *letter; n < max && (letter = take(mailbox)); n++)
        letter->open(letter);
    return n;
}

/* Only the thread that changes is_knocked from false to true rings. The receiver resets it before
 * it looks, so that every letter is either seen or rings again. Everything here is
 * async-signal-safe. */
void pl_loop_knock(struct pl_loop *loop)
{
    static const uint64_t one = 1;
    if (atomic_exchange_explicit(&loop->is_knocked, true, memory_order_acq_rel))
        return;
    int error = errno;
    while (write(loop->door.fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    errno = error;
}

void pl_loop_post(struct pl_loop *loop, struct pl_letter *letter)
{
    append(&loop->mailbox, letter);
    pl_loop_knock(loop);
}

void pl_loop_expect(struct pl_loop *loop)
{
    atomic_fetch_add_explicit(&loop->n_expected, 1, memory_order_relaxed);
}

/* An opened letter does not prove that its sender is finished with the loop; only the count
 * does. */
void pl_loop_deliver(struct pl_loop *loop, struct pl_letter *letter)
{
    pl_loop_post(loop, letter);
    size_t n_before = atomic_fetch_sub_explicit(&loop->n_expected, 1, memory_order_release);
    assert(n_before > 0);
}
