"""Several people at once, over HTTP: nothing lost, nothing double."""

import re
import threading
from collections import Counter

import pytest

pytestmark = pytest.mark.extras
PEOPLE, LABELS = 8, 160


def test_people_at_once_lose_and_double_nothing(tmp_path, make_queue, start):
    make_queue(tmp_path, n=LABELS)
    served = start([tmp_path])
    key = served.queue("digits")
    said, failures = [], []

    def work(name):
        client = served.client().sign_in(name)
        page = client.get(f"/queues/{key}/label").text
        while found := re.search(r'name="token" value="([^"]+)"', page):
            item = int(re.search(r"/items/(\d+)/image.png\" alt=\"[^\"]*pixels", page).group(1))
            fields = {"token": found.group(1), "choice": str(item % 3)}
            answer = client.post(f"/queues/{key}/answer", fields, {"x-fragment": "task"})
            if answer.status != 200 or "Saved." not in answer.text:
                failures.append(answer.text)
                return
            said.append(item)
            page = answer.text

    people = [threading.Thread(target=work, args=(f"person {i}",)) for i in range(PEOPLE)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert not failures
    opened = served.app.state.workspace.queue(key)
    kept = opened.book.answers(opened.queue)
    assert Counter(a.item for a in kept) == Counter(range(LABELS))
    assert Counter(said) == Counter(range(LABELS))
    assert all(a.choice == a.item % 3 for a in kept)
