/* libnats, loaded when the first bus with NATS is opened (docs/adr/0010-libraries-on-demand.md).
 * Its threads read, write and deliver; its event loop adapters are not used. */
#ifndef PL_BUS_LIBNATS_H
#define PL_BUS_LIBNATS_H

#include "base/status.h"

#include <nats/nats.h>

#define LIBNATS_TABLE(X)                                                                           \
    X(nats_Open)                                                                                   \
    X(nats_SetMessageDeliveryPoolSize)                                                             \
    X(nats_GetLastError)                                                                           \
    X(natsStatus_GetText)                                                                          \
    X(natsOptions_Create)                                                                          \
    X(natsOptions_Destroy)                                                                         \
    X(natsOptions_SetURL)                                                                          \
    X(natsOptions_SetName)                                                                         \
    X(natsOptions_SetTimeout)                                                                      \
    X(natsOptions_SetWriteDeadline)                                                                \
    X(natsOptions_SetPingInterval)                                                                 \
    X(natsOptions_SetMaxPingsOut)                                                                  \
    X(natsOptions_SetAllowReconnect)                                                               \
    X(natsOptions_SetNoEcho)                                                                       \
    X(natsOptions_UseGlobalMessageDelivery)                                                        \
    X(natsOptions_SetSendAsap)                                                                     \
    X(natsOptions_SetErrorHandler)                                                                 \
    X(natsOptions_SetSecure)                                                                       \
    X(natsOptions_SetExpectedHostname)                                                             \
    X(natsOptions_LoadCATrustedCertificates)                                                       \
    X(natsOptions_LoadCertificatesChain)                                                           \
    X(natsOptions_SetUserCredentialsFromFiles)                                                     \
    X(natsConnection_Connect)                                                                      \
    X(natsConnection_IsClosed)                                                                     \
    X(natsConnection_GetLastError)                                                                 \
    X(natsConnection_PublishRequest)                                                               \
    X(natsConnection_FlushTimeout)                                                                 \
    X(natsConnection_Subscribe)                                                                    \
    X(natsConnection_Close)                                                                        \
    X(natsConnection_Destroy)                                                                      \
    X(natsSubscription_SetPendingLimits)                                                           \
    X(natsSubscription_SetOnCompleteCB)                                                            \
    X(natsSubscription_Destroy)                                                                    \
    X(natsMsg_GetSubject)                                                                          \
    X(natsMsg_GetReply)                                                                            \
    X(natsMsg_GetData)                                                                             \
    X(natsMsg_GetDataLength)                                                                       \
    X(natsMsg_IsNoResponders)                                                                      \
    X(natsMsg_Destroy)

struct libnats {
#define X(name) __typeof__(&name) name;
    LIBNATS_TABLE(X)
#undef X
};

/* Filled by libnats_load; constant afterwards. */
extern struct libnats libnats;

/* Thread-safe; may be called repeatedly. PL_IO if the library is not installed. */
enum pl_status libnats_load(struct pl_error *err);

#endif
