#define LINES
