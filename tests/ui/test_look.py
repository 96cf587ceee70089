"""What the terminal and the user allow."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from mcode.config.first_look import first_look
from mcode.config.load import load_settings
from mcode.config.places import Places
from mcode.config.settings import UiSettings
from mcode.ui.look import can_show_unicode, look_for

if TYPE_CHECKING:
    from pathlib import Path


def test_a_dumb_terminal_and_the_option_take_the_decoration_away() -> None:
    assert look_for(UiSettings(), {"TERM": "xterm"}).decorated
    assert not look_for(UiSettings(), {"TERM": "dumb"}).decorated
    assert not look_for(UiSettings(), {}).decorated
    assert not look_for(UiSettings(), {"TERM": "xterm"}, decoration=False).decorated


def test_no_color_takes_the_colour_and_leaves_the_rest() -> None:
    look = look_for(UiSettings(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert look.decorated
    assert look.palette.bad("x") == "x"
    assert look_for(UiSettings(), {"TERM": "xterm"}).palette.bad("x") != "x"


def test_the_user_may_ask_for_plain_characters_where_the_terminal_could_show_more(tmp_path: Path) -> None:
    environment = {"TERM": "xterm", "HOME": str(tmp_path)}
    places = Places(home=tmp_path, state=tmp_path / ".mcode", claude=tmp_path / ".claude")
    places.state.mkdir()
    places.settings_file.write_text('{"mcode": {"ui": {"glyphs": "ascii"}}}')
    assert not look_for(first_look(places), environment).unicode
    assert not look_for(load_settings(places, tmp_path).own.ui, environment).unicode
    assert look_for(UiSettings(), environment).unicode == can_show_unicode(environment)


def test_the_times_before_an_approval_cannot_be_set_below_their_minimum() -> None:
    look = look_for(UiSettings(idle_time=0.0, arm_delay=0.0), {"TERM": "xterm"})
    assert (look.idle, look.arm) == (0.5, 0.3)
    look = look_for(UiSettings(idle_time=3.0, arm_delay=1.0), {"TERM": "xterm"})
    assert (look.idle, look.arm) == (3.0, 1.0)


def test_the_front_ends_own_start_loads_nothing_slow_but_prompt_toolkit() -> None:
    program = (
        "import sys, json\n"
        "import mcode.ui.line\n"
        "early = 'prompt_toolkit' in sys.modules\n"
        "import mcode.ui.line.app\n"
        "slow = {'anthropic', 'mcp', 'pydantic', 'jsonschema', 'pathspec', 'rich', 'httpx2', 'textual', 'pygments'}\n"
        "behind = ('events', 'commands', 'permissions', 'mcp', 'agent', 'pipeline', 'session', 'model', 'catalog')\n"
        "late = [each for each in behind if f'mcode.{each}' in sys.modules]\n"
        "print(early, sorted(slow & set(sys.modules)), late)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False [] []"
