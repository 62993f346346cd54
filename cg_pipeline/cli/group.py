"""The command `cg`, and how it tells what is wrong."""

import os
import signal
import threading
from collections.abc import Mapping
from typing import Any, TypeVar

import click

from cg_pipeline.environment import prepare_environment

T = TypeVar("T")


def named(noun: str, name: str, known: Mapping[str, T]) -> T:
    """The catalogue's entry of this name, or a usage error that suggests one."""
    from cg_pipeline.catalog import lookup

    try:
        return lookup(noun, name, known)
    except KeyError as error:
        raise click.BadParameter(error.args[0]) from None


class _Sentences(click.Group):
    """Tells what is wrong in one sentence: who types a command is not helped by our stack."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (RuntimeError, ValueError, OSError, ImportError, LookupError) as error:
            if os.environ.get("CG_TRACEBACK") or isinstance(error, (KeyError, IndexError)):
                raise  # for who develops this project
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            raise _Interrupted from None


class _Interrupted(click.ClickException):
    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Interrupted. What is finished is kept; the same command goes on from there.")


@click.group(cls=_Sentences, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Competency Gaps: which concepts benchmarks leave out, and which ones a model fails."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, as by Ctrl-C
    prepare_environment()
