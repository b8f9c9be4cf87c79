import http.client
import re

import pytest

from fireassay.web.security import FORM_BYTES, Access, is_loopback

pytestmark = pytest.mark.extras


@pytest.fixture
def served(tmp_path, make_queue, start):
    make_queue(tmp_path)
    return start([tmp_path])


def test_other_host_names_are_refused(served):
    client = served.client()
    assert client.get("/").status == 200
    assert client.get("/", host=f"localhost:{served.port}").status == 200
    for name in ("evil.example", f"evil.example:{served.port}", "127.0.0.1:1", "", "192.168.0.9"):
        assert client.get("/", host=name).status == 421


def test_every_page_forbids_foreign_scripts_and_caching(served):
    client = served.client()
    key = served.queue("digits")
    for path in ("/", f"/queues/{key}", f"/queues/{key}/label", "/nowhere", "/runs/xyz"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "<script>" not in answer.text
        assert not re.search(r"<[^>]+\son\w+=", answer.text)
        assert not re.search(r"<[^>]+\sstyle=", answer.text)


def test_cookies_are_hidden_from_scripts_and_other_sites(served):
    header = served.client().get("/").headers["set-cookie"]
    assert "HttpOnly" in header
    assert "SameSite=Strict" in header


POSTS = ("answer", "undo", "skipped", "resolve", "import")


@pytest.mark.parametrize("action", POSTS)
def test_no_post_without_its_token(served, action):
    client = served.client().sign_in("ada")
    path = f"/queues/{served.queue('digits')}/{action}"
    assert client.post(path, csrf=False).status == 403
    client.csrf = "0" * 64
    assert client.post(path).status == 403


def test_annotators_cannot_be_set_by_another_site(served):
    client = served.client()
    client.get("/")
    fields = {"name": "eve"}
    assert client.post("/annotator", fields, {"origin": "http://evil.example"}).status == 403
    assert client.post("/annotator", fields, {"origin": "null"}).status == 403
    assert client.post("/annotator", fields, {"sec-fetch-site": "cross-site"}).status == 403
    other_port = {"origin": f"http://127.0.0.1:{served.port + 1}"}
    assert client.post("/annotator", fields, other_port).status == 403
    own = {"origin": f"http://127.0.0.1:{served.port}", "sec-fetch-site": "same-origin"}
    assert client.post("/annotator", fields, own).status == 303


def test_a_token_of_another_session_is_not_enough(served):
    mine, theirs = served.client(), served.client()
    mine.get("/")
    theirs.get("/")
    mine.csrf = theirs.csrf
    assert mine.post("/annotator", {"name": "eve"}).status == 403


def test_large_bodies_are_refused(served):
    client = served.client().sign_in("ada")
    path = f"/queues/{served.queue('digits')}/answer"
    assert client.post(path, {"comment": "x" * FORM_BYTES}).status == 413
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    cookie = "; ".join(f"{k}={v}" for k, v in client.cookies.items())
    blocks = (b"a" * 8192 for _ in range(100))
    connection.request("POST", path, blocks, {"cookie": cookie}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


PATHS = (
    "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd",
    "/runs/..%2f..%2fetc", "/queues/%2e%2e", "/queues/....", "/static/app.css%00.js",
    "/.git/config",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_reaches_the_file_system(served, path):
    answer = served.client().get(path)
    assert answer.status == 404
    assert "create_app" not in answer.text
    assert "root:" not in answer.text


def test_items_outside_the_queue_are_not_there(served):
    client = served.client()
    key = served.queue("digits")
    assert client.get(f"/queues/{key}/items/0/image.png").status == 200
    for item in ("30", "99999999999999999999", "-1", "x"):
        assert client.get(f"/queues/{key}/items/{item}/image.png").status == 404


@pytest.mark.parametrize("choice", ["3", "-1", "x", "", "999999999999", "１"])
def test_answers_outside_the_classes_are_refused(served, choice):
    client = served.client().sign_in("ada")
    key = served.queue("digits")
    page = client.get(f"/queues/{key}/label").text
    token = re.search(r'name="token" value="([^"]+)"', page).group(1)
    answer = client.post(f"/queues/{key}/answer", {"token": token, "choice": choice})
    assert answer.status == 400
    assert "Expected a number from 0 to 2" in answer.text


def test_elsewhere_a_token_is_needed(tmp_path, make_queue, start):
    make_queue(tmp_path)
    secret = "a-long-enough-secret-token"
    served = start([tmp_path], token=secret, host="0.0.0.0")
    client = served.client()
    assert client.get("/").status == 401
    assert client.get("/?token=wrong").status == 401
    assert client.get(f"/queues/{served.queue('digits')}/labels.csv").status == 401
    assert client.get("/static/app.js").status == 401
    first = client.get(f"/?token={secret}")
    assert (first.status, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert secret not in cookie
    page = client.get("/")
    assert page.status == 200
    assert secret not in page.text
    other = served.client()
    assert other.get("/", authorization=f"Bearer {secret}").status == 200
    # By number from anywhere, by name only if it was allowed.
    assert client.get("/", host=f"192.168.0.9:{served.port}").status == 200
    assert client.get("/", host=f"evil.example:{served.port}").status == 421


def test_a_link_with_the_token_leads_to_this_app_only(tmp_path, make_queue, start):
    make_queue(tmp_path)
    secret = "a-long-enough-secret-token"
    served = start([tmp_path], token=secret)
    for path in ("//evil.example/", "/%0d%0aset-cookie:x=1", "/queues/x"):
        answer = served.client().get(f"{path}?token={secret}")
        assert (answer.status, answer.headers["location"]) == (303, "/")
        assert len(answer.headers.get_all("set-cookie")) == 1


def test_hosts():
    here = Access("127.0.0.1", 8765)
    there = Access("0.0.0.0", 80, token="t" * 16, allowed_hosts=["Lab.example"])
    assert here.allows_host("[::1]:8765")
    assert not here.allows_host("10.0.0.1:8765")
    assert there.allows_host("lab.example")
    assert there.allows_host("lab.example:80")
    assert there.allows_host("[fe80::1]")
    assert not there.allows_host("lab.example.evil.example")
    assert "t" * 16 not in repr(there)
    assert is_loopback("127.0.0.5")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("lab.example")
