#include "store/statements.h"

const struct pl_sql_text pl_sql_texts[PL_SQL_COUNT] = {
#define X(name, types, text) {types, text},
    PL_SQL_TABLE(X)
#undef X
};
