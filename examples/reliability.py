"""How often will a classifier be wrong in the field? Built-in data, about ten seconds."""

from sklearn.ensemble import RandomForestClassifier

from fireassay import reliability
from fireassay.data import unit_square
from fireassay.data.unit_square import unit_square_pmi

train, test = unit_square(1500, seed=0), unit_square(600, seed=1)
field = unit_square(12_000, seed=2)  # unlabelled rows from operation
forest = RandomForestClassifier(10, random_state=0).fit(train.X, train.y)

result = reliability.assess(forest, test.X, test.y, operational=field.X)
print(result.headline)
print(result.frame().to_string(index=False, float_format="{:.4f}".format))
print(f"true pmi {unit_square_pmi(forest.predict):.4f} (known here, because the data is made)\n")

for assumption in result.assumptions:
    print(f"[{assumption.status}] {assumption.statement} {assumption.check}")

method = reliability.Ram(cells=100, held_out=(test.X, test.y))
published = reliability.assess(forest, train.X, train.y, method=method)
print(f"\nThe published assessment by cells: {published.headline}")
print(published.details.refinement.to_string(index=False, float_format="{:.4f}".format))

plan = reliability.plan(target=0.01, confidence=0.975)
print(f"\nA bound of 1 % takes at least {plan.labels} labels, and without an error among them.")

risk = 1 - forest.predict_proba(field.X).max(axis=1)
design = reliability.importance_design(risk, budget=600)
chosen = design.estimate(forest.predict(field.X[design.rows]) != field.y[design.rows])
print(f"600 labels where the forest is unsure: {chosen.pmi:.4f}, at most {chosen.pmi_upper:.4f}.")

ball = reliability.splitting(forest, field.X[0], field.y[0], radius=0.05)
print(
    f"A mistake within 0.05 of one row: ln p = {ball.log_p:.2f} ({ball.low:.2f}, {ball.high:.2f})."
)

monitor = reliability.Monitor(forest, field.X[:1000])
print(f"In operation, same profile: drift p = {monitor.update(field.X[1000:1300]).drift_p:.2f}")
moved = field.X[1300:1600] * 0.7
print(f"In operation, moved rows:   drift p = {monitor.update(moved).drift_p:.1e}")
