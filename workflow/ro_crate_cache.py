"""For roc-validator, which asks the network for the JSON-LD context of RO-Crate: a cache with the file of `rocrate`.

    .venv-lint/bin/python workflow/ro_crate_cache.py CONTEXT CACHE

`workflow/linters.py` calls this with the Python of `.venv-lint`, which has requests-cache and not the project.
"""

import io
import json
import sys
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse


class _FromFile(HTTPAdapter):
    """Answers every request with the text of a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.content = path.read_bytes()

    def send(self, request, *_, **__):
        headers = {"Content-Type": "application/ld+json"}
        body = io.BytesIO(self.content)
        answer = HTTPResponse(body, headers, status=200, preload_content=False, request_url=request.url)
        return self.build_response(request, answer)


def fill(context: Path, cache: Path) -> None:
    """Let the cache hold the context under the address that it states."""
    with CachedSession(cache_name=str(cache), backend="sqlite", expire_after=-1) as session:
        session.mount("https://", _FromFile(context))
        session.get(json.loads(context.read_text())["@id"])


if __name__ == "__main__":
    fill(*map(Path, sys.argv[1:]))
