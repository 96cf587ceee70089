"""The guide's fixed texts. Short, warm and exact; each says only what is true of every session."""

from __future__ import annotations

WELCOME = (
    "An offline guide answers here: a fixed script, not a model, that shows you around with real tools. "
    "Say hello to begin."
)
"""One line for front ends to show before the first message."""

WELCOME_TO_DEMO = (
    "An offline guide answers here: a fixed script, not a model, with real tools. Say `play the demo` to see tool "
    "search and programs at work and what they save, or hello to be shown around."
)
"""The same where the demo's server is there."""

INTRODUCTION = (
    "Hello, and welcome. I am mcode's built-in guide: **a fixed script, not a language model**. I recognise a "
    "handful of phrases and nothing more, and I send nothing over the network. What you see me do is real, though: "
    "real tools, real questions to you, and a real session file."
)

HELLO_AGAIN = "Hello again; still me, the script."

ON_THE_WAY = "- `next`: go on, in six short steps in all; `again` repeats a step, `start over` begins anew"
AT_THE_END = "- `start over`: the six steps from their beginning; `again` repeats the last one"

MENU = f"""\
I can do these, and nothing else:

{ON_THE_WAY}
- `play the demo` (with --demo, or from the set-up): tool search, and one audit by direct calls and by a program, \
all measured; or a part of it: `tool search`, `audit by calls`, `audit by program`
- `find the TODOs`: search the files here
- `how many lines per language`: count, and say how it was counted
- `show me an edit`: change one line of a scratch file, with your approval
- `list the files`, `read NAME`, `what changed in git`
- `remove the scratch file`
- ask about `permissions`, `context`, `tools`, `the session`, `keys`, or `a real model`"""

UNKNOWN = (
    "I did not understand that, and I will not pretend to: I am a script that knows a few phrases. A real model "
    "would read your sentence; I only compare it with a list.\n\n"
)

REAL_MODEL = """\
To talk to a real model, leave mcode (`/quit`), set one of these in your shell, and start it again:

- Anthropic: `export ANTHROPIC_API_KEY=...`, then `mcode`
- any other endpoint that speaks the Messages protocol, local ones too: `export ANTHROPIC_BASE_URL=http://HOST:PORT` \
or `mcode --base-url URL`, with a key if that endpoint wants one
- `--model NAME` chooses the model

From then on what you type, and what the tools return, is sent to that endpoint. `mcode --demo` brings me back."""

PERMISSIONS = """\
Every call of a tool is judged before it runs: **allowed, asked or denied**. Unless your rules or the mode say \
otherwise, reading files inside this directory is allowed, and changing files or running commands is asked. The \
line of each call says what decided.

When you are asked, the panel shows the whole command, or the whole change. You can allow it once, often also its kind \
for this session or for good, or deny it, with a few words to the model if you like. A denial harms \
nothing: the call does not run, and the model is told so. `/permissions` shows all rules and where each comes from."""

CONTEXT = """\
A model remembers nothing between requests: each request carries the whole conversation again, with the definitions \
of the tools and everything the tools returned. That is the **context**; it is what a model's window limits and what \
you pay for. `/context` shows how many tokens each part takes. With me nothing is sent, but the figures are real."""

TOOLS = """\
A tool is something the model can ask mcode to do: read a file, search, edit, run a command. The model only ever \
asks; mcode judges the call, runs it and returns the result. `/tools` lists all of them, with what each may touch."""

SESSION = """\
This conversation is written to a file as it happens, line by line, so that a crash loses nothing: \
`~/.mcode/projects/<this directory's path, with dashes>/<session id>.jsonl` (under `$MCODE_CONFIG_DIR` in place of \
`~/.mcode`, if you set that). It stays on this computer. `mcode --continue` goes on with the latest session here, \
`/resume` lets you choose one."""

KEYS = """\
Esc stops whatever runs; what was finished by then is kept. While something runs you can already type the next \
message; it waits its turn. `/` begins a command (`/help` lists them), `@` completes a file's name, and a line that \
begins with `!` runs a shell command of your own."""

IDENTITY = (
    "I am a script: a list of phrases, each with a fixed answer. There is no language model behind me, I learn "
    "nothing, and I do not understand what you write beyond that list."
)

FAREWELL = "Glad to have shown you around. `/quit` ends the session; the file it was recorded in stays."

OWN_COMMAND = (
    "That was a command of your own (`!` in front): it ran without being asked about, since you typed it, and what it "
    "printed joined the conversation, where a real model could use it. I cannot read it."
)

OVER = "The six steps are at their end; `start over` begins them again.\n\n"
