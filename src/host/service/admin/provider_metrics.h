/* The outcomes of calls to each provider, in the Prometheus text format. A provider's name needs
 * no escapes: the configuration allows letters, digits and "-_.:". */
#ifndef PL_SERVICE_ADMIN_PROVIDER_METRICS_H
#define PL_SERVICE_ADMIN_PROVIDER_METRICS_H

#include "base/buf.h"

struct pl_models;

void pl_provider_metrics_write(const struct pl_models *models, struct pl_buf *to);

/* The same by provider and model (model/model_counts.h). */
void pl_model_metrics_write(const struct pl_models *models, struct pl_buf *to);

#endif
