"""The object `mcode` of the settings, from checked and merged values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.settings import OwnSettings, Prices, UiSettings

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


def own_settings(values: JsonObject) -> OwnSettings:
    """Build them from values by key path, such as `mcode.window`; the usual ones where none is set."""
    ui = UiSettings()
    return OwnSettings(
        base_url=values.get("mcode.baseUrl"),
        header_style=values.get("mcode.headerStyle"),
        api_version=values.get("mcode.apiVersion"),
        extra_body=values.get("mcode.extraBody", {}),
        max_tokens=values.get("mcode.maxTokens"),
        window=values.get("mcode.window"),
        prices={model: _prices(entry) for model, entry in values.get("mcode.prices", {}).items()},
        sync=values.get("mcode.sync", "full"),
        pass_environment=tuple(values.get("mcode.passEnvironment", ())),
        undo_required=values.get("mcode.undoRequired", True),
        ui=UiSettings(
            theme=values.get("mcode.ui.theme"),
            bell=values.get("mcode.ui.bell", ui.bell),
            title=values.get("mcode.ui.title", ui.title),
            idle_time=values.get("mcode.ui.idleTime", ui.idle_time),
            arm_delay=values.get("mcode.ui.armDelay", ui.arm_delay),
            glyphs=values.get("mcode.ui.glyphs", ui.glyphs),
            mouse=values.get("mcode.ui.mouse", ui.mouse),
            keys=values.get("mcode.ui.keys", {}),
        ),
        max_calls_per_turn=values.get("mcode.maxCallsPerTurn", 200),
        sandbox=values.get("mcode.sandbox", False),
        sandbox_network=values.get("mcode.sandboxNetwork", False),
        sandbox_auto_allow=values.get("mcode.sandboxAutoAllow", False),
        tool_search=values.get("mcode.toolSearch"),
        placement=values.get("mcode.placement", {}),
        programs=values.get("mcode.programs"),
        run_code=values.get("mcode.runCode", {}),
    )


def _prices(entry: JsonObject) -> Prices:
    return Prices(
        input=entry["input"],
        output=entry["output"],
        cache_read=entry.get("cacheRead", entry["input"]),
        cache_write=entry.get("cacheWrite", entry["input"]),
    )
