#!/bin/sh
# The state of one Slurm job: running (or still queued), success or failed.
# If the queue does not answer, the job counts as running. If the queue has forgotten the job, accounting decides; a job that
# accounting does not know either has failed, and its files are made again.
if answer=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1); then
    state=$(printf '%s' "$answer" | tail -n 1) # behind any warning
else
    case $answer in
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
