"""What a reward model is asked. The rubric is that of RoboReward (arXiv 2601.00675), in our own words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sbench_dag.errors import InputError
from sbench_dag.rewards.example import Example
from sbench_dag.work.fingerprint import fingerprint

_TASK = "{task}"

_OWN = """\
The video shows one attempt of a robot at a task. Judge what is accomplished in the video's last moment, and nothing
else: neither how long it took, nor what was accomplished earlier and lost again. Choose one whole number:

1: nothing that the task asks for has changed.
2: a first step is made, e.g. the right thing is touched or approached, but no requirement is met.
3: some requirements are met, and an important one, or several, are not.
4: all is as asked but for one small thing, e.g. the final pose, the gripper's state, or the surface it rests on.
5: every requirement of the task is met.

The task: {task}

End your reply with a line of exactly this form, with the number in place of <score>:
ANSWER: <score>"""


@dataclass(frozen=True)
class Prompt:
    """template: the question, with {task} where the instruction goes."""

    template: str = _OWN

    def question(self, example: Example) -> str:
        """The whole question; an example that brings its own is asked that one."""
        return example.prompt or self.template.replace(_TASK, example.task)

    def hash(self, example: Example | None = None) -> str:
        """Of the template, or of the question that an example brings instead."""
        return fingerprint(example.prompt if example and example.prompt else self.template)


DEFAULT_PROMPT = Prompt()


def read_prompt(file: Path) -> Prompt:
    """
    Raises:
        InputError: there is no such file, or nothing in it says where the instruction goes.
    """
    try:
        template = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(file, "prompt", str(error), "can't be read") from None
    if _TASK not in template:
        raise InputError(file, "prompt", template, f"must contain {_TASK}, where the instruction goes")
    return Prompt(template)
