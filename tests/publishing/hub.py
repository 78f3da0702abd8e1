"""A Hugging Face Hub on loopback, in a thread: what it keeps, and the routes that its real clients use."""

import base64
import hashlib
import json
import socket
import threading
from dataclasses import dataclass, field

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

TOKEN = "hf_" + "loopback" * 4
READ = "hf_" + "readonly" * 4  # a token that may only read
STRANGER = "stranger"  # a namespace that TOKEN may not write to
LFS = (".parquet", ".png")
KIND = {"space": "spaces", "dataset": "datasets"}
INITIAL = {"spaces": [".gitattributes", "README.md"], "datasets": [".gitattributes"]}


@dataclass
class Repository:
    private: bool = False
    sdk: str | None = None
    commits: list[dict] = field(default_factory=list)  # each: oid, summary, and received and files, of path -> sha256
    tags: dict[str, str] = field(default_factory=dict)

    def at(self, revision: str) -> dict | None:
        """Return the commit that a branch, tag or hash names."""
        oid = self.commits[-1]["oid"] if revision == "main" else self.tags.get(revision, revision)
        return next((commit for commit in self.commits if commit["oid"] == oid), None)


class Hub:
    """What the Hub keeps, by kind ("spaces" or "datasets") and id; and how it misbehaves."""

    def __init__(self):
        self.contents, self.repositories, self.requests, self.fault = {}, {}, [], None

    def start(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(misbehaving, log_level="critical"))
        threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.contents[sha256] = content
        return sha256

    def create(self, kind: str, id: str, private: bool = False, sdk: str | None = None) -> None:
        self.repositories[kind, id] = Repository(private, sdk)
        self.commit(kind, id, "initial commit", {name: name.encode() for name in INITIAL[kind]})

    def commit(self, kind: str, id: str, summary: str, received: dict[str, bytes | None]) -> str:
        """Add a commit of what was received: contents, or None for a deleted file."""
        commits = self.repositories[kind, id].commits
        received = {path: content if content is None else self.keep(content) for path, content in received.items()}
        files = {path: sha for path, sha in ((commits[-1]["files"] if commits else {}) | received).items() if sha}
        oid = hashlib.sha1(json.dumps([summary, files, len(commits)]).encode()).hexdigest()
        commits.append({"oid": oid, "summary": summary, "received": received, "files": files})
        return oid

    def put(self, kind: str, id: str, files: dict[str, bytes]) -> None:
        """Put a repository of someone else's here."""
        self.create(kind, id)
        self.commit(kind, id, "files", files)

    def commits(self, kind: str, id: str) -> list[dict]:
        """Return the commits after the initial one."""
        return self.repositories[kind, id].commits[1:] if (kind, id) in self.repositories else []

    def files(self, kind: str, id: str) -> dict[str, bytes]:
        """Return what a repository holds now."""
        return {path: self.contents[sha] for path, sha in self.repositories[kind, id].at("main")["files"].items()}

    def misbehave(self, path: str, status: object, error: str = "as asked", after: bool = False) -> None:
        """Answer requests of this path with this status and error, before or `after` doing what they ask.

        Instead of a status: "cut" the connection, or a function to call once before doing as asked.
        """
        self.fault = {"path": path, "status": status, "error": error, "after": after}


hub, app = Hub(), FastAPI()


async def misbehaving(scope, receive, send) -> None:
    """Be the Hub, but for requests with which it is asked to misbehave."""
    if scope["type"] != "http":
        return await app(scope, receive, send)
    hub.requests.append(f"{scope['method']} {scope['path']}")
    fault = hub.fault
    if fault is None or fault["path"] not in scope["path"]:
        return await app(scope, receive, send)
    if callable(fault["status"]):
        hub.fault = None
        fault["status"]()
        return await app(scope, receive, send)
    if fault["after"]:
        await app(scope, receive, unheard)
    if fault["status"] == "cut":
        return await Response(headers={"Content-Length": "1"})(scope, receive, send)  # that never comes
    answer = JSONResponse({"error": fault["error"], "url": f"{hub.url}/spaces/a/b"}, fault["status"])
    await answer(scope, receive, send)


async def unheard(_: dict) -> None:
    """Swallow an answer."""


def refuse(status: int, error: str, code: str = "") -> HTTPException:
    return HTTPException(status, error, {"X-Error-Message": error, **({"X-Error-Code": code} if code else {})})


async def writer(request: Request, ns: str = "", rights: str = "Authorization error.") -> None:
    """Let through whoever may write."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token not in (TOKEN, READ):
        raise refuse(401, "Invalid username or password.")
    if ns == STRANGER or token == READ:
        raise refuse(403, rights)


def commit_at(request: Request, kind: str, ns: str, name: str, revision: str = "main") -> dict:
    """Find the commit of a request; of an unknown repository only who is logged in learns that it is unknown."""
    repository = hub.repositories.get((kind, f"{ns}/{name}"))
    if repository is None:
        raise refuse(404 if "authorization" in request.headers else 401, "Repository not found", "RepoNotFound")
    if (commit := repository.at(revision)) is None:
        raise refuse(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    return commit


def entry(path: str, sha256: str) -> dict:
    size = len(hub.contents[sha256])
    made = {"type": "file", "path": path, "size": size, "oid": git_hash(hub.contents[sha256])}
    return made | ({"lfs": {"oid": sha256, "size": size, "pointerSize": 128}} if path.endswith(LFS) else {})


def git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()


@app.exception_handler(HTTPException)
async def as_the_hub_does(_: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@app.post("/api/validate-yaml")
async def validate_yaml():
    return {}


@app.post("/api/repos/create")
async def create(request: Request):
    asked = await request.json()
    kind, id = KIND[asked["type"]], f"{asked['organization']}/{asked['name']}"
    rights = f"You don't have the rights to create a {asked['type']} under this namespace"
    await writer(request, asked["organization"], rights)
    if (kind, id) in hub.repositories:
        return JSONResponse({"url": f"{hub.url}/{kind}/{id}", "error": "You already created this repo"}, 409)
    hub.create(kind, id, private=asked.get("visibility") == "private", sdk=asked.get("sdk"))
    return {"url": f"{hub.url}/{kind}/{id}"}


@app.post("/api/{kind}/{ns}/{name}/preupload/{revision}", dependencies=[Depends(writer)])
async def preupload(request: Request, kind: str, ns: str, name: str, revision: str):
    held, files = commit_at(request, kind, ns, name, revision)["files"], []
    for path in [file["path"] for file in (await request.json())["files"]]:
        mode = "lfs" if path.endswith(LFS) else "regular"
        oid = held.get(path) and (held[path] if mode == "lfs" else git_hash(hub.contents[held[path]]))
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return {"files": files}


@app.post("/{kind}/{ns}/{name}.git/info/lfs/objects/batch", dependencies=[Depends(writer)])
async def lfs_batch(request: Request):
    objects = (await request.json())["objects"]
    for object in objects:
        if object["oid"] not in hub.contents:
            object["actions"] = {"upload": {"href": f"{request.base_url}lfs/{object['oid']}"}}
    return {"objects": objects, "transfer": "basic"}


@app.put("/lfs/{oid}")
async def lfs_put(request: Request, oid: str):
    if hub.keep(await request.body()) != oid:
        raise refuse(400, "the content has another hash")


@app.post("/api/{kind}/{ns}/{name}/commit/{revision}", dependencies=[Depends(writer)])
async def commit(request: Request, kind: str, ns: str, name: str, revision: str):
    last = commit_at(request, kind, ns, name, revision)["oid"]
    received, summary = {}, ""
    for line in [json.loads(line) for line in (await request.body()).splitlines()]:
        match line["key"], line["value"]:
            case "header", header:
                summary = header["summary"]
                if header.get("parentCommit") not in (None, last):
                    raise refuse(412, "A commit has happened since. Please refresh and try again.")
            case "file", file:
                received[file["path"]] = base64.b64decode(file["content"])
            case "lfsFile", file:
                received[file["path"]] = hub.contents[file["oid"]]
            case "deletedFile", file:
                received[file["path"]] = None
    oid = hub.commit(kind, f"{ns}/{name}", summary, received)
    return {"commitUrl": f"{hub.url}/{kind}/{ns}/{name}/commit/{oid}", "commitOid": oid}


@app.post("/api/{kind}/{ns}/{name}/tag/{revision}", dependencies=[Depends(writer)])
async def tag(request: Request, kind: str, ns: str, name: str, revision: str):
    asked, tags = (await request.json())["tag"], hub.repositories[kind, f"{ns}/{name}"].tags
    if asked in tags:
        raise refuse(409, "Tag reference exists already")
    tags[asked] = commit_at(request, kind, ns, name, revision)["oid"]


@app.get("/api/{kind}/{ns}/{name}")
@app.get("/api/{kind}/{ns}/{name}/revision/{revision}")
async def info(request: Request, kind: str, ns: str, name: str, revision: str = "main"):
    found = commit_at(request, kind, ns, name, revision)
    private = hub.repositories[kind, f"{ns}/{name}"].private
    siblings = [{"rfilename": path} for path in found["files"]]
    return {"id": f"{ns}/{name}", "sha": found["oid"], "private": private, "siblings": siblings}


@app.get("/api/{kind}/{ns}/{name}/tree/{revision}")
@app.get("/api/{kind}/{ns}/{name}/tree/{revision}/{folder:path}")
async def tree(request: Request, kind, ns, name, revision, folder: str = "", recursive: bool = False):
    held = commit_at(request, kind, ns, name, revision)["files"]
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    inside = {path: sha256 for path, sha256 in held.items() if path.startswith(prefix)}
    if folder and not inside:
        raise refuse(404, f"{folder} does not exist", "EntryNotFound")
    folders = {prefix + path.removeprefix(prefix).split("/")[0] for path in inside if "/" in path.removeprefix(prefix)}
    flat = [path for path in inside if recursive or "/" not in path.removeprefix(prefix)]
    files = [entry(path, held[path]) for path in flat]
    return files + [{"type": "directory", "path": path, "oid": "0" * 40} for path in sorted(folders)]


@app.post("/api/{kind}/{ns}/{name}/paths-info/{revision}")
async def paths_info(request: Request, kind: str, ns: str, name: str, revision: str):
    held = commit_at(request, kind, ns, name, revision)["files"]
    asked = (await request.form()).getlist("paths") if "form" in request.headers["content-type"] else None
    asked = asked if asked is not None else (await request.json())["paths"]
    return [entry(path, held[path]) for path in asked if path in held]


@app.api_route("/{kind}/{ns}/{name}/resolve/{revision}/{path:path}", methods=["GET", "HEAD"])
async def resolve(request: Request, kind: str, ns: str, name: str, revision: str, path: str):
    found = commit_at(request, kind, ns, name, revision)
    if path not in found["files"]:
        raise refuse(404, "Entry not found", "EntryNotFound")
    sha256 = found["files"][path]
    content, headers = hub.contents[sha256], {"ETag": f'"{sha256}"', "X-Repo-Commit": found["oid"]}
    if "range" not in request.headers:
        return Response(content, headers=headers, media_type="application/octet-stream")
    ends = request.headers["range"].removeprefix("bytes=").split("-")
    first, last = int(ends[0]), min(int(ends[1] or len(content)), len(content) - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers=headers, media_type="application/octet-stream")
