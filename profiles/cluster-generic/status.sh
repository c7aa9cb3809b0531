#!/bin/sh
# The state of one Slurm job: running (or still queued), success or failed.
# A queue that does not answer says nothing of a job. One that does not know it any more leaves it to accounting, and a job
# that nobody knows has failed: its files are made again.
if said=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1); then
    state=$(printf '%s' "$said" | tail -n 1) # behind any warning
else
    case $said in
        *"Invalid job id"*) state= ;;
        *) state=UNREACHABLE ;;
    esac
fi
[ -n "$state" ] || state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2> /dev/null)
case $state in
    COMPLETED) echo success ;;
    PENDING | CONFIGURING | RUNNING | SIGNALING | COMPLETING | STAGE_OUT | SUSPENDED | STOPPED | RESIZING) echo running ;;
    REQUEUED | REQUEUE_HOLD | REQUEUE_FED | RESV_DEL_HOLD | UNREACHABLE) echo running ;;
    *) echo failed ;;
esac
