"""Which supervisor should guard a digit classifier, and what will it miss? (about 15 seconds)"""

import numpy as np
import torch

from fireassay import supervision
from fireassay.classifiers import as_classifier
from fireassay.data import corrupt, digits
from fireassay.networks import DropoutCnn, train

data = digits()
order = np.random.default_rng(0).permutation(len(data.X))
X, y = data.X[order], data.y[order]
torch.manual_seed(0)  # of the dropout while training
network = DropoutCnn((8, 8), 10, width=8, hidden=32, seed=0)
train(network, X[:900], y[:900], epochs=15, learning_rate=5e-3)
model = as_classifier(network, output="logits", classes=range(10), bounds=(0, 1))

test = X[900:]
sets = {
    "mixed": 0.5 * (test + np.roll(test, 1, axis=0)),  # two digits on top of each other
    "corrupted": corrupt(test, "gaussian_noise", severity=4),
    "adversarial": supervision.adversarial_set(model, X[900:1000], y[900:1000]).X,
    "invalid": np.random.default_rng(1).random(test.shape).astype(np.float32),
}
chosen = [
    "max-softmax", "softmax-entropy", "mc-dropout-mutual-information", "dissector", "dsa", "lsa",
    "mdsa", "energy", "knn", "vim", "ensemble-mean-softmax",
]  # fmt: skip
table = supervision.compare(
    model, X[:900], y[:900], nominal=test, sets=sets, supervisors=chosen, n_samples=50
)
print(table.matrix().round(2).to_string(na_rep="n.a."))
for row in table.frame().query("status != 'done'").drop_duplicates("supervisor").itertuples():
    print(f"{row.supervisor}: {row.status}: {row.reason}")
print(f"Best worst case: {table.recommended}. Fewest gaps together: {' + '.join(table.pair)}.")

# The threshold comes from nominal rows that took no part in choosing the supervisor.
guard = supervision.make(table.recommended).fit(model, X[:900], y[:900])
limit = table.rules[table.recommended].threshold
print(f"Alarm above {limit:.3f}: at most 5 % false alarms, with 95 % confidence.")
for name, rows in sets.items():
    print(f"  {name:<12} caught {np.mean(guard.score(rows) > limit):.0%}")

causes = supervision.RootCause().fit(model, X[:900], y[:900])
causes.calibrate(test[:400], {"mixed": sets["mixed"][:400], "invalid": sets["invalid"][:400]})
print(causes.diagnose(sets["mixed"][400:406]).frame()[["verdict", "action", "causes"]])
