// none: No source is known that gets this answer. (The tests damage plans on purpose, with --mutate, and see that the check finds it.)
