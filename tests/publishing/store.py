"""What the Hub on loopback keeps, in a folder: contents by hash, and for each repository its commits and tags."""

import hashlib
import json
import os
from pathlib import Path

INITIAL = {"spaces": [".gitattributes", "README.md"], "datasets": [".gitattributes"]}


class Store:
    """Repositories by kind ("spaces" or "datasets") and id ("namespace/name")."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        (self.folder / "contents").mkdir(parents=True, exist_ok=True)

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.content(sha256).write_bytes(content)
        return sha256

    def content(self, sha256: str) -> Path:
        return self.folder / "contents" / sha256

    def repository(self, kind: str, id: str) -> dict | None:
        path = self._path(kind, id)
        return json.loads(path.read_text()) if path.exists() else None

    def create(self, kind: str, id: str, **about) -> None:
        self._write(kind, id, {"commits": [], "tags": {}, **about})
        self.commit(kind, id, "initial commit", {name: self.keep(name.encode()) for name in INITIAL[kind]})

    def commit(self, kind: str, id: str, summary: str, received: dict[str, str | None]) -> str:
        """Add a commit of {path: hash, or None for a deleted file}."""
        repository = self.repository(kind, id)
        files = repository["commits"][-1]["files"] if repository["commits"] else {}
        files = {path: sha256 for path, sha256 in (files | received).items() if sha256}
        oid = hashlib.sha1(json.dumps([summary, files, len(repository["commits"])]).encode()).hexdigest()
        repository["commits"].append({"oid": oid, "summary": summary, "received": received, "files": files})
        self._write(kind, id, repository)
        return oid

    def tag(self, kind: str, id: str, tag: str, oid: str) -> None:
        repository = self.repository(kind, id)
        repository["tags"][tag] = oid
        self._write(kind, id, repository)

    def at(self, kind: str, id: str, revision: str) -> dict | None:
        """Return the commit that a branch, tag or hash names."""
        repository = self.repository(kind, id)
        oid = repository["tags"].get(revision, revision)
        oid = repository["commits"][-1]["oid"] if revision == "main" else oid
        return next((commit for commit in repository["commits"] if commit["oid"] == oid), None)

    # What tests do and ask.

    def put(self, kind: str, id: str, files: dict[str, bytes]) -> None:
        """Put a repository of someone else's here."""
        self.create(kind, id)
        self.commit(kind, id, "files", {path: self.keep(content) for path, content in files.items()})

    def commits(self, kind: str, id: str) -> list[dict]:
        """Return the commits after the initial one."""
        repository = self.repository(kind, id)
        return repository["commits"][1:] if repository else []

    def tags(self, kind: str, id: str) -> dict[str, str]:
        return self.repository(kind, id)["tags"]

    def received(self, commit: dict) -> dict[str, bytes | None]:
        """Return the contents that a commit brought."""
        return {path: sha256 and self.content(sha256).read_bytes() for path, sha256 in commit["received"].items()}

    def files(self, kind: str, id: str) -> dict[str, bytes]:
        """Return what the repository holds now."""
        last = self.at(kind, id, "main")["files"]
        return {path: self.content(sha256).read_bytes() for path, sha256 in last.items()}

    def misbehave(self, path: str, status: int | str, *, error: str = "as asked", after: bool = False) -> None:
        """Answer requests whose path holds `path` with this status and error, before or `after` doing what they ask.

        Instead of a status: "die" in the middle of reading them, "cut" the connection, or "stall" until told to behave.
        """
        asked = {"path": path, "status": status, "error": error, "after": after}
        (self.folder / "misbehaviour.json").write_text(json.dumps(asked))

    def behave(self) -> None:
        (self.folder / "misbehaviour.json").unlink(missing_ok=True)

    def misbehaviour(self) -> dict | None:
        path = self.folder / "misbehaviour.json"
        return json.loads(path.read_text()) if path.exists() else None

    def log(self, request: str) -> None:
        with open(self.folder / "requests.log", "a") as file:
            file.write(request + "\n")

    def requests(self) -> list[str]:
        path = self.folder / "requests.log"
        return path.read_text().splitlines() if path.exists() else []

    def _path(self, kind: str, id: str) -> Path:
        return self.folder / f"{kind}--{id.replace('/', '--')}.json"

    def _write(self, kind: str, id: str, repository: dict) -> None:
        scratch = self._path(kind, id).with_suffix(".new")
        scratch.write_text(json.dumps(repository))
        os.replace(scratch, self._path(kind, id))
