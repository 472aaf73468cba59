#define LOCAL 1000
