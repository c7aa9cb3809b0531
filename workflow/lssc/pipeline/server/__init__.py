"""Jobs without start-up: a server of the run has imported what they need, and forks a process for each.

`client` is the first thing that a stage's command runs. It hands the command over to the server, if there is one, and
ends as the server's process ends; otherwise the command goes on by itself. `serving` starts a server for the length of
a run, `main` is its process.
"""
