"""The command `ecuas`: a function for each of its subcommands, whose parameters are the flags."""
