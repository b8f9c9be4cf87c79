# Writes r.json: what R says on the data sets of these tests.
#
#     apt-get install r-base-core r-cran-survival
#     Rscript tests/survival/oracles/make_r.R
#
# lung and ovarian are those of the survival package, without rows in which a covariate is missing.
# diabetes.csv is the interval-censored data of lifelines.json: lower, upper (empty: censored), male.
# The generalised gamma is maximised here with optim over R's pgamma and dgamma, in Prentice's form.

suppressMessages(library(survival))
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))

json <- function(x) {
  if (is.list(x)) {
    parts <- mapply(function(n, v) paste0('"', n, '": ', json(v)), names(x), x)
    return(paste0("{", paste(parts, collapse = ", "), "}"))
  }
  if (is.character(x)) return(paste0('"', x, '"'))
  if (!is.null(names(x))) return(json(as.list(x)))
  text <- format(x, digits = 12, trim = TRUE)
  if (length(x) == 1) text else paste0("[", paste(text, collapse = ", "), "]")
}

aft <- function(formula, data, family) {
  # rel.tolerance is tight so that ten digits mean something
  f <- survreg(formula, data, dist = family, control = survreg.control(rel.tolerance = 1e-12))
  k <- length(coef(f))
  list(coef = coef(f), se = sqrt(diag(vcov(f)))[1:k],
       scale = f$scale, log_likelihood = f$loglik[2])
}

families <- c("exponential", "weibull", "lognormal", "loglogistic")
lung <- na.omit(survival::lung[, c("time", "status", "age", "sex", "ph.karno")])
diabetes <- read.csv(file.path(folder, "diabetes.csv"))

right <- Surv(time, status) ~ age + sex + ph.karno
each <- function(formula, data, of = families) {
  sapply(of, function(d) aft(formula, data, d), simplify = FALSE)
}

gengamma <- function(t, dead) {
  minus <- function(p) {
    w <- (log(t) - p[1]) / exp(p[2])
    q <- p[3]
    u <- q^-2 * exp(q * w)
    dens <- dgamma(u, q^-2, log = TRUE) + log(abs(q)) + log(u) - p[2] - log(t)
    tail <- pgamma(u, q^-2, lower.tail = q < 0, log.p = TRUE)
    -sum(ifelse(dead, dens, tail))
  }
  best <- list(value = Inf)
  for (q in c(-1, -0.5, 0.5, 1)) {
    f <- optim(c(mean(log(t)), 0, q), minus, control = list(reltol = 1e-14, maxit = 5000))
    if (f$value < best$value) best <- f
  }
  list(mu = best$par[1], sigma = exp(best$par[2]), shape = best$par[3],
       log_likelihood = -best$value)
}

cox <- coxph(right, lung)
robust <- coxph(right, transform(lung, g = (seq_along(time) - 1) %% 20), cluster = g)
zph <- cox.zph(cox, transform = "rank")
clustered <- survreg(Surv(time, status) ~ age + sex + ph.karno + cluster(g),
  transform(lung, g = (seq_along(time) - 1) %% 20), dist = "weibull",
  control = survreg.control(rel.tolerance = 1e-12))
curve <- survfit(Surv(time, status) ~ 1, lung, conf.type = "log-log")
at <- summary(curve, times = c(50, 150, 310, 500, 600))
sexes <- survfit(Surv(time, status) ~ sex, lung)
test <- survdiff(Surv(time, status) ~ sex, lung)
karno <- survdiff(Surv(time, status) ~ ph.karno, lung)
bands <- survfit(Surv(time, status) ~ 1, transform(lung, g = (seq_along(time) - 1) %% 20),
  cluster = g)
band <- summary(bands, times = 310)

result <- list(
  version = paste(R.version.string, "survival", packageVersion("survival")),
  ovarian = each(Surv(futime, fustat) ~ ecog.ps + rx, ovarian),
  lung = each(right, lung),
  diabetes = each(Surv(lower, upper, type = "interval2") ~ male, diabetes, families[-1]),
  gengamma = list(ovarian = gengamma(ovarian$futime, ovarian$fustat == 1),
                  lung = gengamma(lung$time, lung$status == 2)),
  cluster_se = sqrt(diag(vcov(clustered)))[1:4],
  cox = list(coef = coef(cox), se = sqrt(diag(vcov(cox))),
             cluster_se = sqrt(diag(vcov(robust))), log_likelihood = cox$loglik[2],
             concordance = unname(concordance(cox)$concordance),
             proportionality = zph$table[, "chisq"]),
  curve = list(times = at$time, survival = at$surv, low = at$lower, high = at$upper,
               median = unname(summary(curve)$table["median"]),
               rmst_500 = unname(summary(curve, rmean = 500)$table["rmean"]),
               rmst_500_se = unname(summary(curve, rmean = 500)$table["se(rmean)"]),
               rmst_500_by_sex = unname(summary(sexes, rmean = 500)$table[, "rmean"]),
               cluster_se_310 = band$std.err),
  log_rank = list(sex = test$chisq, sex_expected = test$exp, karno = karno$chisq)
)
writeLines(json(result), file.path(folder, "r.json"))
