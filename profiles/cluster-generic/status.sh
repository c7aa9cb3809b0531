#!/bin/sh
# The state of one Slurm job: running (or still queued), success or failed.
# A queue that does not answer, or does not know the job any more, says nothing of how it ended; then accounting is asked, and
# a job that nobody knows has failed: its files are made again.
state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2> /dev/null)
[ -n "$state" ] || state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2> /dev/null)
if [ -z "$state" ] && ! squeue --noheader > /dev/null 2>&1; then
    state=UNREACHABLE
fi
case $state in
    COMPLETED) echo success ;;
    PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED | RESIZING | UNREACHABLE) echo running ;;
    *) echo failed ;;
esac
