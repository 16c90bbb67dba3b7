(* Definitions of all proofs: focal loss, the focal calibration map, temperature scaling, the simplex, expected loss.
   KK24 is Komisarenko and Kull (2024), "Improving calibration by relating focal loss, temperature scaling, and properness".

   What Coq's total functions say where the papers say nothing or 'infinity':
   [Rpower x g] is exp (g * ln x), the real power for x > 0; [ln x] is 0 for x <= 0. So [focal_loss g 1 = 0], as it should be,
   while [focal_loss g 0] is 0 in Coq and +infinity in the papers: theorems ask for 0 < q where p > 0 ([supports]). *)

From Coq Require Import Reals Lra Lia.
Open Scope R_scope.

(* ---- one class: the loss on the true class, as a function of its predicted probability q ---- *)

(* cross-entropy, KK24 section 2 *)
Definition log_loss (q : R) : R := - ln q.

(* focal loss, KK24 section 2: - (1 - q)^gamma * log q *)
Definition focal_loss (gamma q : R) : R := - (Rpower (1 - q) gamma * ln q).

(* its derivative in q, KK24 App. A.1 (lemma [focal_loss_derivative]) *)
Definition focal_slope (gamma q : R) : R := Rpower (1 - q) gamma * (gamma * ln q / (1 - q) - 1 / q).

(* b(q) = - q log q / (1 - q) and g(q) = - q L'(q): focal over cross-entropy gradient, M20 Prop. 1 *)
Definition entropy_ratio (q : R) : R := - (q * ln q) / (1 - q).
Definition gain (gamma q : R) : R := Rpower (1 - q) gamma * (1 + gamma * entropy_ratio q).

(* w(q) = - 1 / L'(q) = q / g(q), the weight of a class in the map *)
Definition weight (gamma q : R) : R := q / gain gamma q.

(* ---- two classes ---- *)

Definition sigmoid (s : R) : R := 1 / (1 + exp (- s)).
Definition logit (q : R) : R := ln (q / (1 - q)).

(* the focal calibration map as printed in KK24 Prop. 2 *)
Definition binary_map (gamma q : R) : R :=
  1 / (1 + Rpower ((1 - q) / q) gamma * (((1 - q) - gamma * q * ln q) / (q - gamma * (1 - q) * ln (1 - q)))).

(* on the closed interval: its limits at the ends *)
Definition binary_map_closed (gamma q : R) : R :=
  if Rle_dec q 0 then 0 else if Rle_dec 1 q then 1 else binary_map gamma q.

(* FC(s), KK24 Prop. 3, and temperature scaling of a logit *)
Definition FC (gamma s : R) : R := binary_map gamma (sigmoid s).
Definition temperature_scaling (T s : R) : R := sigmoid (s / T).

(* u(s) = e^s log(1 + e^-s), R(s) = log ((1 + gamma u(s)) / (1 + gamma u(-s))): logit FC(s) = (gamma + 1) s - R(s) *)
Definition u (s : R) : R := exp s * ln (1 + exp (- s)).
Definition logit_gap (gamma s : R) : R := ln ((1 + gamma * u s) / (1 + gamma * u (- s))).

(* expected loss (conditional risk) of two classes, KK24 section 3.2: p * L(q, 1) + (1 - p) * L(q, 0) *)
Definition binary_risk (L : R -> R) (p q : R) : R := p * L q + (1 - p) * L (1 - q).

(* ---- n classes 0, ..., n - 1; a vector is a function from class numbers, what it says beyond n - 1 does not matter ---- *)

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

(* the n-dimensional probability simplex, KK24 section 3.3, and its interior *)
Definition simplex (n : nat) (q : nat -> R) : Prop := (forall i, (i < n)%nat -> 0 <= q i) /\ sum n q = 1.
Definition open_simplex (n : nat) (q : nat -> R) : Prop := (forall i, (i < n)%nat -> 0 < q i) /\ sum n q = 1.

(* q gives a positive probability to each class that p can draw: otherwise the expected log or focal loss is infinite *)
Definition supports (n : nat) (q p : nat -> R) : Prop := forall i, (i < n)%nat -> 0 < p i -> 0 < q i.

(* a loss of n classes: L q i is the loss of prediction q where i is the true class *)
Definition loss := (nat -> R) -> nat -> R.
Definition log_loss_n : loss := fun q i => log_loss (q i).
Definition focal_loss_n (gamma : R) : loss := fun q i => focal_loss gamma (q i).

(* expected loss (conditional risk), KK24 section 3.3 *)
Definition risk (n : nat) (L : loss) (p q : nat -> R) : R := sum n (fun i => p i * L q i).

(* proper: no prediction has a smaller risk than the true distribution; strictly: every other one has a larger risk.
   Where q does not support p, the papers' risk of a loss that is infinite at 0, as log and focal loss are, is +infinity and that
   of p is finite: nothing is left out. Of the Brier score, which is finite there, the theorem asks for no [supports]. *)
Definition proper (n : nat) (L : loss) : Prop :=
  forall p q, simplex n p -> simplex n q -> supports n q p -> risk n L p p <= risk n L p q.
Definition strictly_proper (n : nat) (L : loss) : Prop :=
  forall p q, simplex n p -> simplex n q -> supports n q p ->
    risk n L p p <= risk n L p q /\ (risk n L p q = risk n L p p -> forall i, (i < n)%nat -> q i = p i).

(* the summand of KK24 Eq. (1) as printed: 1 / ((1 - q)^gamma (gamma log q / (1 - q) - 1 / q)); it is - weight *)
Definition eq1_term (gamma q : R) : R := 1 / (Rpower (1 - q) gamma * (gamma * ln q / (1 - q) - 1 / q)).

(* the focal calibration map, KK24 Eq. (1), for 0 < q_i < 1 *)
Definition focal_map (n : nat) (gamma : R) (q : nat -> R) (j : nat) : R :=
  eq1_term gamma (q j) / sum n (fun k => eq1_term gamma (q k)).

(* its extension to the closed simplex: a class without probability gets none and adds none to the others; vertices stay *)
Definition eq1_term_closed (gamma q : R) : R := if Rle_dec q 0 then 0 else eq1_term gamma q.
Definition focal_map_closed (n : nat) (gamma : R) (q : nat -> R) (j : nat) : R :=
  if Rle_dec 1 (q j) then 1 else eq1_term_closed gamma (q j) / sum n (fun k => eq1_term_closed gamma (q k)).

(* ---- convexity, KK24 section 2 ---- *)

Definition convex_on_unit (f : R -> R) : Prop :=
  forall x y t, 0 < x < 1 -> 0 < y < 1 -> 0 <= t <= 1 -> f (t * x + (1 - t) * y) <= t * f x + (1 - t) * f y.
Definition strictly_convex_on_unit (f : R -> R) : Prop :=
  forall x y t, 0 < x < 1 -> 0 < y < 1 -> x <> y -> 0 < t < 1 -> f (t * x + (1 - t) * y) < t * f x + (1 - t) * f y.

(* ---- thresholds ---- *)

(* tau(gamma): the point of (0, 1) where the gain is 1 (the only one for gamma > 0) *)
Definition is_tau (gamma t : R) : Prop := 0 < t < 1 /\ gain gamma t = 1.

(* gamma*(p), M20 Prop. 2: the positive gamma with gain 1 at p (the only one for 0 < p < 1/2; none, and 0, from 1/2 on) *)
Definition is_gamma_star (p gamma : R) : Prop := 0 < gamma /\ gain gamma p = 1.

(* a map of the simplex to itself, one to one and onto *)
Definition bijective_on_simplex (n : nat) (f : (nat -> R) -> nat -> R) : Prop :=
  (forall q, simplex n q -> simplex n (f q)) /\
  (forall q r, simplex n q -> simplex n r -> (forall i, (i < n)%nat -> f q i = f r i) ->
    forall i, (i < n)%nat -> q i = r i) /\
  (forall p, simplex n p -> exists q, simplex n q /\ forall i, (i < n)%nat -> f q i = p i).
