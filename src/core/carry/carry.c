#include "carry/carry.h"

#include "carry/home/home.h"

const struct pl_way_home pl_carry_way = {
    .write = pl_carry_write, .go = pl_home_go, .forget = pl_home_forget};
