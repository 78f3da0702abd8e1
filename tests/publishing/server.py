"""A Hugging Face Hub on loopback, from a folder: `python -m tests.publishing.server FOLDER` prints its URL."""

import asyncio
import base64
import hashlib
import json
import os
import socket
import sys
from functools import cache

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, JSONResponse

from tests.publishing.store import Store

TOKEN = "hf_" + "loopback" * 4
READ = "hf_" + "readonly" * 4  # a token that may only read
NOT_OURS = ("stranger", "no-such-organisation")  # namespaces that TOKEN may not write to: the Hub says the same of both
LFS = (".parquet", ".png")
KIND = {"space": "spaces", "dataset": "datasets"}

hub = FastAPI()
store = Store(sys.argv[1]) if __name__ == "__main__" else None


def refuse(status: int, error: str, code: str = "") -> HTTPException:
    return HTTPException(status, error, {"X-Error-Message": error, **({"X-Error-Code": code} if code else {})})


async def writer(request: Request, ns: str = "", rights: str = "Authorization error.") -> None:
    """Let through whoever may write."""
    if request.headers.get("authorization") not in (f"Bearer {TOKEN}", f"Bearer {READ}"):
        raise refuse(401, "Invalid username or password.")
    if ns in NOT_OURS or request.headers["authorization"].endswith(READ):
        raise refuse(403, rights)


def commit_at(request: Request, kind: str, ns: str, name: str, revision: str = "main") -> dict:
    """Find the commit of a request; of an unknown repository only who is logged in learns that it is unknown."""
    if store.repository(kind, f"{ns}/{name}") is None:
        raise refuse(404 if "authorization" in request.headers else 401, "Repository not found", "RepoNotFound")
    if (commit := store.at(kind, f"{ns}/{name}", revision)) is None:
        raise refuse(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    return commit


def entry(path: str, sha256: str) -> dict:
    size = store.content(sha256).stat().st_size
    made = {"type": "file", "path": path, "size": size, "oid": git_hash(sha256)}
    return made | ({"lfs": {"oid": sha256, "size": size, "pointerSize": 128}} if path.endswith(LFS) else {})


@cache
def git_hash(sha256: str) -> str:
    content = store.content(sha256).read_bytes()
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()


async def app(scope, receive, send) -> None:
    """Be the Hub, but for requests with which it is asked to misbehave."""
    if scope["type"] != "http":
        return await hub(scope, receive, send)
    store.log(f"{scope['method']} {scope['path']}")
    asked = store.misbehaviour()
    if asked is None or asked["path"] not in scope["path"]:
        return await hub(scope, receive, send)
    answer = JSONResponse({"error": asked["error"]}, 503)
    match asked["status"]:
        case "die":
            await receive()
            os._exit(1)  # after the first piece of the body
        case "stall":
            while store.misbehaviour() == asked:
                await asyncio.sleep(0.02)
        case "cut":
            answer = Response(headers={"Content-Length": "1"})  # that never comes
        case status:
            answer.status_code = status
    if asked["after"]:
        await hub(scope, receive, unheard)
    await answer(scope, receive, send)


async def unheard(_: dict) -> None:
    """Swallow an answer."""


@hub.exception_handler(HTTPException)
async def as_the_hub_does(_: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@hub.post("/api/validate-yaml")
async def validate_yaml():
    return {}


@hub.post("/api/repos/create")
async def create(request: Request):
    asked = await request.json()
    kind, id = KIND[asked["type"]], f"{asked['organization']}/{asked['name']}"
    rights = f"You don't have the rights to create a {asked['type']} under this namespace"
    await writer(request, asked["organization"], rights)
    answer = {"url": f"{request.base_url}{kind}/{id}"}
    if store.repository(kind, id) is not None:
        return JSONResponse(answer | {"error": "You already created this repo"}, 409)
    store.create(kind, id, private=asked.get("visibility") == "private", sdk=asked.get("sdk"))
    return answer


@hub.post("/api/{kind}/{ns}/{name}/preupload/{revision}", dependencies=[Depends(writer)])
async def preupload(request: Request, kind: str, ns: str, name: str, revision: str):
    held = commit_at(request, kind, ns, name, revision)["files"]
    files = []
    for path in [file["path"] for file in (await request.json())["files"]]:
        mode = "lfs" if path.endswith(LFS) else "regular"
        oid = held.get(path) and (held[path] if mode == "lfs" else git_hash(held[path]))
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return {"files": files}


@hub.post("/{kind}/{ns}/{name}.git/info/lfs/objects/batch", dependencies=[Depends(writer)])
async def lfs_batch(request: Request):
    objects = (await request.json())["objects"]
    for object in objects:
        if not store.content(object["oid"]).exists():
            object["actions"] = {"upload": {"href": f"{request.base_url}lfs/{object['oid']}"}}
    return {"objects": objects, "transfer": "basic"}


@hub.put("/lfs/{oid}")
async def lfs_put(request: Request, oid: str):
    if store.keep(await request.body()) != oid:
        raise refuse(400, "the content has another hash")


@hub.post("/api/{kind}/{ns}/{name}/commit/{revision}", dependencies=[Depends(writer)])
async def commit(request: Request, kind: str, ns: str, name: str, revision: str):
    last = commit_at(request, kind, ns, name, revision)["oid"]
    lines = [json.loads(line) for line in (await request.body()).splitlines()]
    received, summary = {}, ""
    for key, value in [(line["key"], line["value"]) for line in lines]:
        match key:
            case "header":
                summary = value["summary"]
                if value.get("parentCommit") not in (None, last):
                    raise refuse(412, "A commit has happened since. Please refresh and try again.")
            case "file":
                received[value["path"]] = store.keep(base64.b64decode(value["content"]))
            case "lfsFile":
                received[value["path"]] = value["oid"]
            case "deletedFile":
                received[value["path"]] = None
            case _:
                raise refuse(400, f"unknown operation {key}")
    oid = store.commit(kind, f"{ns}/{name}", summary, received)
    return {"commitUrl": f"{request.base_url}{kind}/{ns}/{name}/commit/{oid}", "commitOid": oid}


@hub.post("/api/{kind}/{ns}/{name}/tag/{revision}", dependencies=[Depends(writer)])
async def tag(request: Request, kind: str, ns: str, name: str, revision: str):
    asked = (await request.json())["tag"]
    if asked in store.tags(kind, f"{ns}/{name}"):
        raise refuse(409, "Tag reference exists already")
    store.tag(kind, f"{ns}/{name}", asked, commit_at(request, kind, ns, name, revision)["oid"])


@hub.get("/api/{kind}/{ns}/{name}")
@hub.get("/api/{kind}/{ns}/{name}/revision/{revision}")
async def info(request: Request, kind: str, ns: str, name: str, revision: str = "main"):
    found = commit_at(request, kind, ns, name, revision)
    private = store.repository(kind, f"{ns}/{name}").get("private", False)
    siblings = [{"rfilename": path} for path in found["files"]]
    return {"id": f"{ns}/{name}", "sha": found["oid"], "private": private, "siblings": siblings}


@hub.get("/api/{kind}/{ns}/{name}/tree/{revision}")
@hub.get("/api/{kind}/{ns}/{name}/tree/{revision}/{folder:path}")
async def tree(
    request: Request, kind: str, ns: str, name: str, revision: str, folder: str = "", recursive: bool = False
):
    held = commit_at(request, kind, ns, name, revision)["files"]
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    inside = {path: sha256 for path, sha256 in held.items() if path.startswith(prefix)}
    if folder and not inside:
        raise refuse(404, f"{folder} does not exist", "EntryNotFound")
    folders = {prefix + path.removeprefix(prefix).split("/")[0] for path in inside if "/" in path.removeprefix(prefix)}
    files = [entry(path, held[path]) for path in inside if recursive or "/" not in path.removeprefix(prefix)]
    return JSONResponse(files + [{"type": "directory", "path": path, "oid": "0" * 40} for path in sorted(folders)])


@hub.post("/api/{kind}/{ns}/{name}/paths-info/{revision}")
async def paths_info(request: Request, kind: str, ns: str, name: str, revision: str):
    held = commit_at(request, kind, ns, name, revision)["files"]
    asked = (await request.form()).getlist("paths") if "form" in request.headers["content-type"] else None
    asked = asked if asked is not None else (await request.json())["paths"]
    return [entry(path, held[path]) for path in asked if path in held]


@hub.api_route("/{kind}/{ns}/{name}/resolve/{revision}/{path:path}", methods=["GET", "HEAD"])
async def resolve(request: Request, kind: str, ns: str, name: str, revision: str, path: str):
    found = commit_at(request, kind, ns, name, revision)
    if path not in found["files"]:
        raise refuse(404, "Entry not found", "EntryNotFound")
    sha256 = found["files"][path]
    headers = {"ETag": f'"{sha256}"', "X-Repo-Commit": found["oid"]}
    if "range" in request.headers:
        return FileResponse(store.content(sha256), headers=headers)  # slower, in a thread of its own
    return Response(store.content(sha256).read_bytes(), headers=headers, media_type="application/octet-stream")


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
