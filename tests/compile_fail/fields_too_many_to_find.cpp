// expect: posthorn: a struct of more than 24 fields is described only if they are listed; add them
// to the macro, or nest them

#include <posthorn/posthorn.hpp>

struct order {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
};
POSTHORN_SIGNAL(order, "Order")
