"""What is decided on is shown with known secrets masked, and with everything else as it is."""

from __future__ import annotations

from mcode.call import Call, CallSite, Origin
from mcode.events import ApprovalChoice, ApprovalPart, ApprovalRequested
from mcode.masking import Masker
from mcode.tool import Preview
from mcode.ui.masked_request import masked_request
from mcode.ui.tui.approval_rows import approval_rows

SECRET = "correct horse " + "battery staple"
COMMAND = f"curl -H 'X-Token: {SECRET}' https://example.org/?password=$(cat notes)"


def test_a_known_secret_is_masked_everywhere_and_what_only_looks_like_one_is_not() -> None:
    mask = Masker({"SERVICE_TOKEN": SECRET}).mask_known
    call = Call("c", "Bash", {"command": COMMAND, "more": [{SECRET: 1}, SECRET]}, Origin.PROGRAM, "p")
    request = ApprovalRequested(
        "a",
        call,
        Preview(COMMAND, body=COMMAND, diff=f"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+{SECRET}\n"),
        f"no rule allows `{COMMAND}`",
        (ApprovalChoice("session", f"Allow `{COMMAND}`", f"Bash({COMMAND})", "session"),),
        site=CallSite("p", COMMAND, 1, 1, COMMAND, 0),
        parts=(ApprovalPart(COMMAND, allowed=False, why=COMMAND),),
    )
    shown = masked_request(request, mask)
    assert SECRET not in repr(shown)
    rows = " ".join(row.text for row in approval_rows(shown, 400, start="/", everything=True))
    assert "?password=$(cat notes)" in rows
    assert "\u2039secret:env:" in rows
    assert shown.approval_id == request.approval_id
    assert request.call.arguments["command"] == COMMAND
