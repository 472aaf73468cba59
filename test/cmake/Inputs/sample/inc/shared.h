#define RADIUS 4
