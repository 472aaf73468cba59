// none: No source is known that gets this answer. (The tests damage the written text on purpose, with --mutate, and see that the check finds it.)
