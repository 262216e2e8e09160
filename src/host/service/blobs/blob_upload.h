/* POST /api/blobs: a body that is stored while it arrives. */
#ifndef PL_SERVICE_BLOBS_BLOB_UPLOAD_H
#define PL_SERVICE_BLOBS_BLOB_UPLOAD_H

#include "http/routes/route.h"

extern const struct pl_upload pl_blob_upload;
/* The handler of the route: the body is complete. */
void pl_blob_create(struct pl_exchange *x);

#endif
