"""A real HTTP/1.1 server on the loopback interface that plays a scripted model, for tests and benchmarks.

It checks requests as the Messages API would, models its prompt cache, misbehaves by name (`faults`), behaves
like third parties by switch (`capabilities`), and keeps every request for assertions. Standard library only.
"""

from tools.messages_server.capabilities import LLAMA_CPP, Capabilities
from tools.messages_server.faults import FAULTS
from tools.messages_server.recorded import HIDDEN, Recorded
from tools.messages_server.running import RunningServer, running_server
from tools.messages_server.server import MessagesServer

__all__ = [
    "FAULTS",
    "HIDDEN",
    "LLAMA_CPP",
    "Capabilities",
    "MessagesServer",
    "Recorded",
    "RunningServer",
    "running_server",
]
