"""Who may ask, and how much at once: before anything else looks at a request."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bnn.web.limits import MOST_BYTES

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'",
}
"""Headers of every answer: nothing is loaded from elsewhere, and no other page holds this one in a frame."""


class Guard:
    """Refuses strangers and what is too large, on pages, websockets and the interface for programs alike.

    Without a token only requests to a loopback name are answered, so that no page elsewhere reaches this one by a
    name of its own; requests that another page's scripts make are refused in any case.

    Parameters
    ----------
    app
        What is guarded.
    token
        What a visitor must show: as ``Authorization: Bearer``, once as ``?token=`` in an address, then as a cookie;
        None: nothing.
    most
        Bytes of a body.
    """

    def __init__(self, app: ASGIApp, token: str | None = None, most: int = MOST_BYTES) -> None:
        self.app = app  # by this name the toolkit finds what is wrapped
        self._token = token
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope, Headers(scope=scope))
        if refusal is not None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, send)
            return

        async def sending(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                named = [(name.lower().encode(), value.encode()) for name, value in SAFE.items()]
                message = {**message, "headers": [*message.get("headers", []), *named]}  # type: ignore[misc]
            await send(message)

        await self.app(scope, receive, sending)  # type: ignore[arg-type]

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """What a request is refused with; None where it is answered."""
        host = headers.get("host", "")
        if self._token is None and _name(host) not in LOOPBACK:
            return refused(403, f"This server answers only to {' and '.join(LOOPBACK[:2])}.")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return refused(403, "This server does not answer other pages.")
        if self._token is not None:
            answer = self._admission(scope, headers, self._token)
            if answer is not None:
                return answer
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            return self._measured(headers)
        return None

    def _admission(self, scope: Scope, headers: Headers, token: str) -> Response | None:
        """Compare the token; one in the address is kept as a cookie, and leaves the address."""
        cookie = f"bnn-{scope['server'][1]}" if scope.get("server") else "bnn"
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        asked = dict(query).get("token")
        shown = (
            headers.get("authorization", "").removeprefix("Bearer "),
            _cookies(headers).get(cookie, ""),
            asked or "",
        )
        if not any(secrets.compare_digest(one.encode(), token.encode()) for one in shown):
            return refused(
                401, "Show the token: open the address that bnn serve printed, or send it as Authorization: Bearer."
            )
        if asked is None or scope["type"] != "http" or scope["method"] != "GET":
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # two strokes would lead to another host
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(cookie, token, httponly=True, samesite="strict")
        return answer

    def _measured(self, headers: Headers) -> Response | None:
        """Refuse a body that is too large, or that does not say how large it is."""
        length = headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in headers:  # chunks go by no length that was told
            return refused(411, "Say how long the body is, with Content-Length.")
        if int(length) > self._most:
            return refused(413, f"The body has {int(length):,} bytes; at most {self._most:,} are read.")
        return None


def refused(status: int, sentence: str) -> Response:
    """A refusal in one sentence, in the same form as every other error."""
    return JSONResponse({"detail": sentence}, status)


def _name(host: str) -> str:
    """The name in a Host header, without the port; none where it is no host."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _cookies(headers: Headers) -> dict[str, str]:
    """The cookies of a request; none where they cannot be read."""
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}
