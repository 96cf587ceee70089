"""A workbench for tests and maintainers' programs: the real wiring, a directory of its own, any model client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcode.config.memory_files import Memory
from mcode.config.places import Places
from mcode.masking import Masker
from mcode.session.store import SessionStore
from mcode.wiring.endpoint import Endpoint
from mcode.wiring.folder_trust import Folder
from mcode.wiring.options import Options
from mcode.wiring.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.model.client import ModelClient

MODEL = "scripted-1"


def local_workbench(
    directory: Path,
    client: ModelClient,
    *,
    settings: dict[str, Any] | None = None,
    options: Options | None = None,
    environment: dict[str, str] | None = None,
    project: str = "project",
) -> Workbench:
    """What a session needs, with a home in `directory`/home and the project in `directory`/`project`.

    `settings` become the user's settings file. Nothing outside `directory` is read, the machine's managed
    settings included.
    """
    home, work = directory / "home", directory / project
    home.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    start = work.resolve()
    nowhere = (directory / "managed", directory / "managed-too")
    places = Places(home=home, state=home / ".mcode", claude=home / ".claude", managed=nowhere)
    if settings is not None:
        places.state.mkdir(exist_ok=True)
        places.settings_file.write_text(json.dumps(settings))
    options = options or Options()
    shell = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "PWD": str(start),
        "OLDPWD": str(home),
    }
    environment = {**shell, **(environment or {})}
    masker = Masker(environment)
    loaded = Folder.of(options, places, start, environment).settings()
    endpoint = Endpoint(client, MODEL)
    own = loaded.own
    endpoint = replace(
        endpoint,
        window=own.window or endpoint.window,
        max_tokens=own.max_tokens or endpoint.max_tokens,
        extra=dict(own.extra_body),
    )
    return Workbench(
        options=options,
        environment=environment,
        places=places,
        start=start,
        settings=loaded,
        endpoint=endpoint,
        masker=masker,
        store=SessionStore(places.project_directory(start), masker),
        memory=Memory(start, home),
    )
