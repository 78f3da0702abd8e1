"""A Hugging Face Hub on loopback, in a thread: what it keeps, and the routes that its real clients use."""

import base64
import hashlib
import json
import socket
import threading
from itertools import count
from typing import Annotated, NamedTuple

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

TOKEN = "hf_" + "loopback" * 4
STRANGER = "stranger"  # a namespace that TOKEN may not write to
LFS = (".parquet", ".png")
HASHES = count(1)
INITIAL = {
    "spaces": [".gitattributes", "README.md"],
    "datasets": [".gitattributes"],
    "models": [".gitattributes"],
    "buckets": [],
}


class Commit(NamedTuple):
    oid: str
    summary: str
    files: dict[str, bytes]


class Repository:
    def __init__(self, kind: str, private: bool = False, sdk: str | None = None):
        self.private, self.sdk, self.commits, self.tags, self.pulls = private, sdk, [], {}, []
        self.commit("initial commit", {name: name.encode() for name in INITIAL[kind]})

    def commit(self, summary: str, received: dict[str, bytes | None]) -> str:
        """Add a commit of what was received: contents, or None for a deleted file; return its hash."""
        files = (self.commits[-1].files if self.commits else {}) | received
        files = {path: content for path, content in files.items() if content is not None}
        self.commits.append(Commit(f"{next(HASHES):040x}", summary, files))
        return self.commits[-1].oid


class Hub:
    """What the Hub keeps, repositories by kind ("spaces" or "datasets") and id; and how it misbehaves."""

    def __init__(self):
        self.uploaded, self.repositories, self.requests, self.fault = {}, {}, [], None

    def start(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()

    def put(self, kind: str, id: str, files: dict[str, bytes]) -> Repository:
        """Put a repository of someone else's here."""
        made = self.repositories[kind, id] = Repository(kind)
        made.commit("files", files)
        return made

    def misbehave(
        self, path: str, status: object, error: str = "as asked", after: bool = False
    ) -> None:
        """Answer requests of this path with this status and error, before or `after` doing what they ask.

        Instead of a status: "cut" the connection, or a function to call once before doing as asked.
        """
        self.fault = (path, status, error, after)


hub, app = Hub(), FastAPI()


@app.middleware("http")
async def misbehaving(request: Request, answer):
    """Be the Hub, but for requests with which it is asked to misbehave."""
    hub.requests.append(f"{request.method} {request.url.path}")
    path, status, error, after = hub.fault or ("nowhere", None, "", False)
    if path not in request.url.path:
        return await answer(request)
    if callable(status):
        hub.fault = None
        status()
        return await answer(request)
    if after:
        await answer(request)
    if status == "cut":
        return Response(headers={"Content-Length": "1"})  # that never comes
    return JSONResponse({"error": error, "url": f"{hub.url}/spaces/a/b"}, status)


def refuse(status: int, error: str, code: str = "") -> HTTPException:
    return HTTPException(
        status, error, {"X-Error-Message": error, **({"X-Error-Code": code} if code else {})}
    )


async def writer(request: Request, ns: str = "", rights: str = "Authorization error.") -> None:
    """Let through whoever may write."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token != TOKEN:
        raise refuse(401, "Invalid username or password.")
    if ns == STRANGER:
        raise refuse(403, rights)


async def repository(request: Request, kind: str, ns: str, name: str) -> Repository:
    """Find the repository of a request; only who is logged in learns that one is unknown."""
    if (kind, f"{ns}/{name}") not in hub.repositories:
        raise refuse(
            404 if "authorization" in request.headers else 401,
            "Repository not found",
            "RepoNotFound",
        )
    return hub.repositories[kind, f"{ns}/{name}"]


Known = Annotated[Repository, Depends(repository)]


async def revised(known: Known, revision: str = "main") -> Commit:
    """Find the commit that a branch, tag or hash names."""
    named = {commit.oid: commit for commit in known.commits}
    named |= {tag: named[oid] for tag, oid in known.tags.items()} | {"main": known.commits[-1]}
    if revision not in named:
        raise refuse(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    return named[revision]


Found = Annotated[Commit, Depends(revised)]
WRITES = {"dependencies": [Depends(writer)]}
IN = "/api/{kind}/{ns}/{name}"


def entry(path: str, content: bytes) -> dict:
    size = len(content)
    made = {"type": "file", "path": path, "size": size}
    lfs = (
        {"lfs": {"oid": sha256(content), "size": size, "pointerSize": 128}}
        if path.endswith(LFS)
        else {}
    )
    return made | {"oid": hashlib.sha1(b"blob %d\0%b" % (size, content)).hexdigest()} | lfs


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@app.post("/api/validate-yaml")
async def validate_yaml():
    return {}


@app.post("/api/repos/create")
async def create(request: Request):
    asked = await request.json()
    kind, id = f"{asked['type']}s", f"{asked['organization']}/{asked['name']}"
    rights = f"You don't have the rights to create a {asked['type']} under this namespace"
    await writer(request, asked["organization"], rights)
    if (kind, id) in hub.repositories:
        return JSONResponse(
            {"error": "You already created this repo", "url": f"{hub.url}/{kind}/{id}"}, 409
        )
    hub.repositories[kind, id] = Repository(
        kind, asked.get("visibility") == "private", asked.get("sdk")
    )
    return {"url": f"{hub.url}/{kind}/{id}"}


@app.post(IN + "/preupload/{revision}", **WRITES)
async def preupload(request: Request, found: Found):
    files = []
    for path in [file["path"] for file in (await request.json())["files"]]:
        held = entry(path, found.files[path]) if path in found.files else {"oid": None}
        file = {"path": path, "shouldIgnore": False, "oid": held.get("lfs", held)["oid"]}
        files.append(file | {"uploadMode": "lfs" if path.endswith(LFS) else "regular"})
    return {"files": files}


@app.post("/{kind}/{ns}/{name}.git/info/lfs/objects/batch", **WRITES)
async def lfs_batch(request: Request):
    objects = (await request.json())["objects"]
    for object in objects:
        if object["oid"] not in hub.uploaded:
            object["actions"] = {"upload": {"href": f"{request.base_url}lfs/{object['oid']}"}}
    return {"objects": objects, "transfer": "basic"}


@app.put("/lfs/{oid}")
async def lfs_put(request: Request, oid: str):
    hub.uploaded[oid] = await request.body()
    assert sha256(hub.uploaded[oid]) == oid


@app.post(IN + "/commit/{revision}", **WRITES)
async def commit(request: Request, kind: str, ns: str, name: str, known: Known, found: Found):
    (_, header), *lines = (
        json.loads(line).values() for line in (await request.body()).splitlines()
    )
    if header.get("parentCommit") not in (None, found.oid):
        raise refuse(412, "A commit has happened since. Please refresh and try again.")
    read = {
        "file": lambda file: base64.b64decode(file["content"]),
        "lfsFile": lambda file: hub.uploaded[file["oid"]],
    }
    # else "deletedFile"
    received = {file["path"]: read.get(kind_of, lambda _: None)(file) for kind_of, file in lines}
    if "create_pr" in request.query_params:  # which changes nothing until somebody merges it
        known.pulls.append(received)
        there = f"{hub.url}/{kind}/{ns}/{name}"
        return {
            "commitUrl": f"{there}/commit/0",
            "commitOid": "0" * 40,
            "pullRequestUrl": f"{there}/discussions/1",
        }
    oid = known.commit(header["summary"], received)
    return {"commitUrl": f"{hub.url}/{kind}/{ns}/{name}/commit/{oid}", "commitOid": oid}


@app.post(IN + "/tag/{revision}", **WRITES)
async def tag(request: Request, known: Known, found: Found):
    asked = (await request.json())["tag"]
    if asked in known.tags:
        raise refuse(409, "Tag reference exists already")
    known.tags[asked] = found.oid


BUCKET = "/api/buckets/{ns}/{name}"


async def bucket(request: Request, ns: str, name: str) -> dict[str, bytes]:
    """Return the files of a bucket, which has one state."""
    known = await repository(request, "buckets", ns, name)
    return known.commits[-1].files


InBucket = Annotated[dict[str, bytes], Depends(bucket)]


@app.get(BUCKET)
async def bucket_info(ns: str, name: str, files: InBucket):
    size = sum(map(len, files.values()))
    made = {"id": f"{ns}/{name}", "private": False, "createdAt": "2026-01-01T00:00:00.000Z"}
    return made | {"size": size, "totalFiles": len(files)}


@app.get(BUCKET + "/tree")
@app.get(BUCKET + "/tree/{prefix:path}")
async def bucket_tree(files: InBucket, prefix: str = "", recursive: bool = False):
    """List the files whose paths begin with a text, be it half a name; folders unless it is recursive."""
    listed = {}
    for path, content in files.items():
        if not path.startswith(prefix):
            continue
        _, _, deeper = path.removeprefix(f"{prefix}/").partition("/")
        folder = path.removesuffix(f"/{deeper}")
        if recursive or not deeper:
            listed[path] = {"type": "file", "path": path, "size": len(content), "xetHash": None}
        else:
            listed[folder] = {"type": "directory", "path": folder}
    return list(listed.values())


@app.get("/buckets/{ns}/{name}/resolve/{path:path}")
async def bucket_file(request: Request, files: InBucket, path: str):
    return await resolve(request, Commit("0" * 40, "", files), path)


@app.get(IN)
@app.get(IN + "/revision/{revision}")
async def info(ns: str, name: str, known: Known, found: Found):
    return {"id": f"{ns}/{name}", "sha": found.oid, "private": known.private}


@app.get(IN + "/tree/{revision}")
@app.get(IN + "/tree/{revision}/{folder:path}")
async def tree(found: Found, folder: str = "", recursive: bool = False):
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    inside = [path for path in found.files if path.startswith(prefix)]
    if folder and not inside:
        raise refuse(404, f"{folder} does not exist", "EntryNotFound")
    folders = {
        prefix + path.removeprefix(prefix).split("/")[0]
        for path in inside
        if "/" in path.removeprefix(prefix)
    }
    flat = [path for path in inside if recursive or "/" not in path.removeprefix(prefix)]
    files = [entry(path, found.files[path]) for path in flat]
    return files + [
        {"type": "directory", "path": path, "oid": "0" * 40} for path in sorted(folders)
    ]


@app.api_route("/{kind}/{ns}/{name}/resolve/{revision}/{path:path}", methods=["GET", "HEAD"])
async def resolve(request: Request, found: Found, path: str):
    if path not in found.files:
        raise refuse(404, "Entry not found", "EntryNotFound")
    content = found.files[path]
    headers = {"ETag": f'"{sha256(content)}"', "X-Repo-Commit": found.oid}
    if "range" not in request.headers:
        return Response(content, headers=headers, media_type="application/octet-stream")
    first, last = (
        int(end or len(content))
        for end in request.headers["range"].removeprefix("bytes=").split("-")
    )
    headers["Content-Range"] = f"bytes {first}-{min(last, len(content) - 1)}/{len(content)}"
    return Response(
        content[first : last + 1], 206, headers=headers, media_type="application/octet-stream"
    )
