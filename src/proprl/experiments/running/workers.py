"""Runs in one process or in several: a run that fails is named, no process is left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import active_children, get_context, parent_process

from proprl.errors import ProprlError, TrainingError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.run import Result, Run

KEPT = "what is done is kept: the same command goes on from there"


def executed(
    todo: Mapping[str, Run], root: str | None, jobs: int, on_start: Callable[[str], None]
) -> Generator[tuple[str, Result], None, None]:
    """Yield the key and the result of every run as it ends; call `on_start` as each begins.

    An error of a run names the run. Closing the generator ends the runs under way.
    """
    if jobs <= 1:
        for key, run in todo.items():
            on_start(key)
            with _named(run):
                result = execute(run, root)
            yield key, result
    elif todo:
        yield from _in_processes(todo, root, min(jobs, len(todo)), on_start)


def _in_processes(
    todo: Mapping[str, Run], root: str | None, jobs: int, on_start: Callable[[str], None]
) -> Generator[tuple[str, Result], None, None]:
    waiting = iter(todo.items())
    under_way: dict[Future[Result], str] = {}
    with _processes(jobs) as pool:
        try:
            while True:
                # Only as many as can run at once: all that are handed over are then under way.
                for key, run in islice(waiting, jobs - len(under_way)):
                    with _interrupts_held():
                        under_way[pool.submit(execute, run, root)] = key
                    on_start(key)
                if not under_way:
                    return
                ended = wait(under_way, return_when=FIRST_COMPLETED).done
                # Results first: they are kept even if another run has failed.
                for future in sorted(ended, key=lambda one: one.exception() is not None):
                    with _named(todo[under_way[future]]):
                        result = future.result()
                    yield under_way.pop(future), result
        except BrokenProcessPool as error:
            raise TrainingError(_lost([todo[key] for key in under_way.values()])) from error


@contextmanager
def _processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes; an error in the block ends them in the middle of a run."""
    others = set(active_children())
    # Spawned, not forked: torch's threads do not survive a fork.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent)
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Have this process end when the one that started it ends, even if that one is killed."""
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; processes started in the block ignore it for good.

    A terminal sends it to all processes, and each would print a traceback. The pool ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _named(run: Run) -> Iterator[None]:
    """Name the run in every error that it raises."""
    try:
        yield
    except ProprlError as error:
        settings = ", ".join(
            [f"preset {run.preset}", *(f"{k}={v}" for k, v in run.changes.items())]
        )
        raise TrainingError(f"{run} failed ({settings}): {error}\n{KEPT}") from error
    except Exception as error:
        error.add_note(f"in the run: {run}")
        raise


def _lost(runs: list[Run]) -> str:
    names = "; ".join(map(str, runs))
    return (
        f"a process was ended from outside, perhaps because memory ran out, while these runs were "
        f"under way: {names}. Try fewer jobs; {KEPT}"
    )
