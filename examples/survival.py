"""How long does a small network stand under attack, does a defence help, and is it worth it?"""

from fireassay import data, survival

digits = data.digits()
train, test = digits.subset(range(1200)), digits.subset(range(1200, 1240))
trained = survival.train_reference("mlp", train.X, train.labels, epochs=8, width=8)
model = trained.model.classifier(batch_size=64)

# One row per sample and attack: between which two queries did it fall?
attacks = [
    ("fgm", {"norm": "linf", "eps": 0.1}),
    ("pgd", {"norm": "linf", "eps": 0.1}),
    ("hopskipjump", {"norm": "l2", "eps": 1.0}),
]
obs = survival.observe(model, test.X, test.labels, attacks, budget=90, seed=0)
print(obs.evidence().headline)
print(obs.mean_times().frame()[["rmst", "low", "high", "survival", "n", "events"]].round(3))

# The same behind a defence that withholds unsure answers (they are not failures).
shielded = survival.observe(
    model, test.X, test.labels, attacks, budget=90, seed=0, defence=("conf", 0.9)
)
print(f"withheld without any attack: {shielded.benign_rejection_rate}")
print(shielded.mean_times().frame()[["rmst", "low", "high", "survival"]].round(3))

# Training cost over the cost of breaking a sample.
fit = survival.fit(obs, "weibull", ["attack"], groups="sample")
ratio = survival.trash(
    fit,
    train_seconds_per_sample=trained.train_seconds_per_sample,
    cost={"seconds_per_query": trained.seconds_per_query},
)
print(ratio.evidence().headline)

# How many samples and models would a fair comparison need?
print(survival.plan(time_ratio=1.5, power=0.8, failure_share=0.7, between_model_sd=0.3).frame())
