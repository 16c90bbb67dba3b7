(* M20 Prop. 2 (App. B Prop. 4): the gamma that belongs to a threshold p0, by the Lambert W function.

   M20: "For p >= p0, g(p, gamma) <= 1 for all gamma >= gamma* = a/b + (1/log a) W_-1(-(a^(1 - a/b)/b) log a), where
   a = 1 - p0, b = p0 log p0 and W_-1 is the Lambert-W function. Moreover, for p >= p0 and gamma >= gamma*, the equality
   g(p, gamma) = 1 holds only for p = p0 and gamma = gamma*."

   Faithful: exact for 0 < p0 < 1/2, where it is proved; with p < 1, as g(1) = 0 is a limit. M20 states no range for p0: at
   p0 >= 1/2 the same formula gives gamma* = 0, where g is 1 for every p, so that the last sentence fails
   ([m20_prop2_fails_from_half_on]). M20's conclusions (i) to (iii) are [m20_prop2_threshold]. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio Gain.
Open Scope R_scope.

(* the branch W_-1: the solution w <= -1 of w e^w = y *)
Definition is_lambert_minus1 (y w : R) : Prop := w * exp w = y /\ w <= -1.

Definition lambert_argument (p0 : R) : R :=
  let a := 1 - p0 in let b := p0 * ln p0 in - (Rpower a (1 - a / b) / b) * ln a.

(* gamma* from a value w of W_-1 at that argument *)
Definition lambert_gamma (p0 w : R) : R := let a := 1 - p0 in let b := p0 * ln p0 in a / b + w / ln a.

(* ---- the argument is y0 e^y0, where w = y0 belongs to gamma = 0 ---- *)

Definition y0 (p0 : R) : R := - ((1 - p0) * ln (1 - p0)) / (p0 * ln p0).

Lemma logs p0 : 0 < p0 < 1 -> ln (1 - p0) < 0 /\ p0 * ln p0 < 0 /\ ln p0 < 0.
Proof. intros H. pose proof (ln_neg p0 H). pose proof (ln_neg (1 - p0) ltac:(lra)). repeat split; nra. Qed.

Lemma y0_neg p0 : 0 < p0 < 1 -> y0 p0 < 0.
Proof.
  intros H. destruct (logs p0 H) as (A & B & C0). unfold y0.
  replace (- ((1 - p0) * ln (1 - p0)) / (p0 * ln p0)) with (- (((1 - p0) * - ln (1 - p0)) / - (p0 * ln p0))) by
    (field; repeat split; lra).
  apply Ropp_lt_gt_0_contravar. apply Rdiv_lt_0_compat; nra.
Qed.

Lemma lambert_argument_y0 p0 : 0 < p0 < 1 -> lambert_argument p0 = y0 p0 * exp (y0 p0).
Proof.
  intros H. destruct (logs p0 H) as (A & B & C0). unfold lambert_argument. cbv zeta.
  set (la := ln (1 - p0)) in *. set (bb := p0 * ln p0) in *.
  replace (Rpower (1 - p0) (1 - (1 - p0) / bb)) with ((1 - p0) * exp (y0 p0)).
  - unfold y0. fold la bb. field. repeat split; lra.
  - unfold Rpower. fold la. replace ((1 - (1 - p0) / bb) * la) with (la + y0 p0) by (unfold y0; fold la bb; field;
    repeat split; lra).
    rewrite exp_plus. unfold la. rewrite exp_ln; lra.
Qed.

(* - ln q / (1 - q), one over the logarithmic mean of 1 and q, decreases *)
Lemma inverse_log_mean_decreasing x y : 0 < x -> x < y -> y < 1 -> - ln y / (1 - y) < - ln x / (1 - x).
Proof.
  intros X L Y. apply (decreasing (fun q => - ln q / (1 - q)) (fun q => (- ln q - (1 - q) / q) / ((1 - q) *
    (1 - q)))); [lra| |].
  - intros c Hc. auto_derive; [repeat split; lra|]. field. lra.
  - intros c Hc. assert (0 < / c) by (apply Rinv_0_lt_compat; lra).
    assert (N : / c <> 1) by (intro E; assert (c * / c = 1) by (field; repeat split; lra); rewrite E in *; lra).
    pose proof (ln_lt (/ c) H N) as A. rewrite ln_Rinv in A by lra.
    assert (0 < / ((1 - c) * (1 - c))) by (apply Rinv_0_lt_compat; nra).
    replace ((1 - c) / c) with (/ c - 1) by (field; repeat split; lra). unfold Rdiv. nra.
Qed.

(* where y0 is: above -1 for p0 < 1/2 (the principal branch), at most -1 from 1/2 on *)
Lemma y0_above p0 : 0 < p0 < 1 / 2 -> -1 < y0 p0.
Proof.
  intros H. destruct (logs p0 ltac:(lra)) as (A & B & C0).
  pose proof (inverse_log_mean_decreasing p0 (1 - p0) ltac:(lra) ltac:(lra) ltac:(lra)) as L.
  replace (1 - (1 - p0)) with p0 in L by ring.
  assert (M : p0 * (1 - p0) * (- ln (1 - p0) / p0) < p0 * (1 - p0) * (- ln p0 / (1 - p0)))
    by (apply Rmult_lt_compat_l; [nra|exact L]).
  replace (p0 * (1 - p0) * (- ln (1 - p0) / p0)) with (- ((1 - p0) * ln (1 - p0))) in M by (field; repeat split; lra).
  replace (p0 * (1 - p0) * (- ln p0 / (1 - p0))) with (- (p0 * ln p0)) in M by (field; repeat split; lra).
  unfold y0. apply (Rmult_lt_reg_r (- (p0 * ln p0))); [lra|].
  replace (- ((1 - p0) * ln (1 - p0)) / (p0 * ln p0) * - (p0 * ln p0)) with ((1 - p0) * ln (1 - p0)) by (field;
    repeat split; lra). lra.
Qed.

Lemma y0_half_on p0 : 1 / 2 <= p0 < 1 -> y0 p0 <= -1.
Proof.
  intros H. destruct (logs p0 ltac:(lra)) as (A & B & C0).
  assert (M : - (p0 * ln p0) <= - ((1 - p0) * ln (1 - p0))).
  { destruct (Req_dec p0 (1 / 2)) as [->|N]; [replace (1 - 1 / 2) with (1 / 2) by field; lra|].
    pose proof (inverse_log_mean_decreasing (1 - p0) p0 ltac:(lra) ltac:(lra) ltac:(lra)) as L.
    replace (1 - (1 - p0)) with p0 in L by ring.
    assert (M : p0 * (1 - p0) * (- ln p0 / (1 - p0)) < p0 * (1 - p0) * (- ln (1 - p0) / p0))
      by (apply Rmult_lt_compat_l; [nra|exact L]).
    replace (p0 * (1 - p0) * (- ln (1 - p0) / p0)) with (- ((1 - p0) * ln (1 - p0))) in M by (field; repeat split;
      lra).
    replace (p0 * (1 - p0) * (- ln p0 / (1 - p0))) with (- (p0 * ln p0)) in M by (field; repeat split; lra). lra. }
  unfold y0. apply (Rmult_le_reg_r (- (p0 * ln p0))); [lra|].
  replace (- ((1 - p0) * ln (1 - p0)) / (p0 * ln p0) * - (p0 * ln p0)) with ((1 - p0) * ln (1 - p0)) by (field;
    repeat split; lra). lra.
Qed.

(* ---- W_-1 is a function there ---- *)

Lemma xexp_derivative x : is_derive (fun x => x * exp x) x ((1 + x) * exp x).
Proof. auto_derive; [exact I|]. ring. Qed.

Lemma lambert_minus1_unique y v w : is_lambert_minus1 y v -> is_lambert_minus1 y w -> v = w.
Proof.
  intros [Ev Lv] [Ew Lw].
  assert (D : forall a b, a < b -> b <= -1 -> b * exp b < a * exp a).
  { intros a b L B. apply (decreasing (fun x => x * exp x) (fun x => (1 + x) * exp x)); [exact L| |].
    - intros c _. apply xexp_derivative.
    - intros c Hc. pose proof (exp_pos c). nra. }
  destruct (Rtotal_order v w) as [L|[E|L]]; [|exact E|].
  - pose proof (D v w L Lw). lra.
  - pose proof (D w v L Lv). lra.
Qed.

(* and has a value at y0 e^y0 for every y0 < 0, by the intermediate value theorem: x e^x reaches it below -1 *)
Lemma lambert_minus1_exists y : y < 0 -> exists w, is_lambert_minus1 (y * exp y) w.
Proof.
  intros Y. destruct (Rle_lt_dec y (-1)) as [L|L]; [exists y; split; [reflexivity|exact L]|].
  pose proof (exp_pos y) as P.
  (* at x = -2 / (- y e^y) - 1 or below, - x e^x <= 2 / (- x) < - y e^y *)
  set (t := - (y * exp y)). assert (T : 0 < t) by (unfold t; nra).
  set (x := - (2 / t) - 1). assert (Q : 0 < 2 / t) by (apply Rdiv_lt_0_compat; lra).
  assert (Bound : - x * exp x < t).
  { assert (E : (- x) * (- x) / 2 < exp (- x)).
    { assert (0 < - x) by (unfold x; lra).
      apply (Rlt_trans _ (1 + (- x) + (- x) * (- x) / 2)); [nra|].
      set (z := - x) in *.
      assert (G : exp 0 - (1 + 0 + 0 * 0 / 2) < exp z - (1 + z + z * z / 2)).
      { apply (increasing (fun v => exp v - (1 + v + v * v / 2)) (fun v => exp v - (1 + v))); [lra| |].
        - intros c _. auto_derive; [exact I|]. field.
        - intros c Hc. pose proof (exp_ineq1 c ltac:(lra)). lra. }
      rewrite exp_0 in G. lra. }
    assert (S : exp x = / exp (- x)) by (rewrite <- exp_Ropp; f_equal; ring).
    assert (0 < - x) by (unfold x; lra).
    apply (Rmult_lt_reg_r (exp (- x))); [apply exp_pos|]. rewrite S.
    replace (- x * / exp (- x) * exp (- x)) with (- x) by (field; apply Rgt_not_eq, exp_pos).
    apply (Rle_lt_trans _ (t * ((- x) * (- x) / 2))); [|apply Rmult_lt_compat_l; lra].
    assert (1 <= t * (- x) / 2).
    { unfold x. replace (t * - (- (2 / t) - 1) / 2) with (1 + t / 2) by (field; repeat split; lra). lra. }
    nra. }
  assert (C : forall z, continuity_pt (fun x => x * exp x - y * exp y) z).
  { intros z. apply derivable_continuous_pt. eexists. apply is_derive_Reals. auto_derive; [exact I|reflexivity]. }
  assert (Low : -1 * exp (-1) < y * exp y).
  { apply (increasing (fun x => x * exp x) (fun x => (1 + x) * exp x)); [exact L| |].
    - intros c _. apply xexp_derivative.
    - intros c Hc. pose proof (exp_pos c). nra. }
  destruct (IVT_gen (fun x => x * exp x - y * exp y) (-1) x 0) as [w [Hw Ew]].
  - intros z. apply C.
  - rewrite Rmin_left, Rmax_right; unfold t in *; lra.
  - rewrite Rmin_right, Rmax_left in Hw by (unfold x; lra). exists w. split; lra.
Qed.

(* ---- a larger p, from a point where the gain is at most 1 ---- *)

Lemma gain_stays_below_1 gamma p0 p : 0 < gamma -> 0 < p0 -> p0 < p -> p < 1 -> gain gamma p0 <= 1 -> gain gamma p < 1.
Proof. intros G P L Q H. pose proof (gain_falls gamma p0 p G P L Q H). lra. Qed.

Lemma gain_below_1 gamma q : 0 <= gamma -> 0 < q < 1 -> log_gain gamma q < 0 -> gain gamma q < 1.
Proof. intros G H L. rewrite gain_exp by assumption. rewrite <- exp_0. apply exp_increasing, L. Qed.

(* ---- a larger gamma, from a point where the gain is at most 1 ---- *)

Lemma gain_larger_gamma p g1 g2 : 0 < p < 1 -> 0 < g1 -> g1 < g2 -> gain g1 p <= 1 -> gain g2 p < 1.
Proof.
  intros H G L N. apply gain_le_1 in N; [|lra|exact H]. apply gain_below_1; [lra|exact H|].
  unfold log_gain in *. pose proof (entropy_ratio_pos p H) as B. set (b := entropy_ratio p) in *.
  assert (P1 : 0 < 1 + g1 * b) by nra. assert (P2 : 0 < 1 + g2 * b) by nra.
  assert (I1 : 0 < / (1 + g1 * b)) by (apply Rinv_0_lt_compat; lra).
  (* the tangent of log at 1 + g1 b, at g2 and at 0 *)
  assert (T2 : ln ((1 + g2 * b) / (1 + g1 * b)) < (1 + g2 * b) / (1 + g1 * b) - 1).
  { apply ln_lt; [apply Rdiv_lt_0_compat; lra|]. intro E. assert (1 + g2 * b = 1 + g1 * b).
    { replace (1 + g2 * b) with ((1 + g2 * b) / (1 + g1 * b) * (1 + g1 * b)) by (field; repeat split; lra). rewrite E.
    ring. } nra. }
  assert (T0 : ln (/ (1 + g1 * b)) < / (1 + g1 * b) - 1).
  { apply ln_lt; [lra|]. intro E. assert ((1 + g1 * b) * / (1 + g1 * b) = 1) by (field; repeat split; lra).
  rewrite E in *. nra. }
  rewrite ln_div in T2 by lra. rewrite ln_Rinv in T0 by lra.
  set (c := ln (1 - p) + b / (1 + g1 * b)).
  assert (g1 * c < 0).
  { unfold c. replace (g1 * (ln (1 - p) + b / (1 + g1 * b))) with (g1 * ln (1 - p) + (1 - / (1 + g1 * b))) by (field;
    repeat split; lra). lra. }
  assert (c < 0) by nra.
  replace ((1 + g2 * b) / (1 + g1 * b) - 1) with ((g2 - g1) * (b / (1 + g1 * b))) in T2 by (field; repeat split; lra).
  assert ((g2 - g1) * c < 0) by nra. unfold c in *. nra.
Qed.

(* ---- the theorem ---- *)

Lemma lambert_gamma_pos p0 w : 0 < p0 < 1 / 2 -> is_lambert_minus1 (lambert_argument p0) w -> 0 < lambert_gamma p0 w.
Proof.
  intros H [_ W]. destruct (logs p0 ltac:(lra)) as (A & B & C0). pose proof (y0_above p0 H) as Y.
  unfold lambert_gamma. cbv zeta.
  replace ((1 - p0) / (p0 * ln p0) + w / ln (1 - p0)) with ((y0 p0 - w) / - ln (1 - p0)) by (unfold y0; field;
    repeat split; lra).
  apply Rdiv_lt_0_compat; lra.
Qed.

Lemma gain_at_lambert_gamma p0 w : 0 < p0 < 1 -> w * exp w = lambert_argument p0 -> gain (lambert_gamma p0 w) p0 = 1.
Proof.
  intros H W. rewrite lambert_argument_y0 in W by exact H. destruct (logs p0 H) as (A & B & C0).
  pose proof (y0_neg p0 H) as Y. unfold gain, Rpower.
  replace (lambert_gamma p0 w * ln (1 - p0)) with (w + - y0 p0) by (unfold lambert_gamma, y0; field; repeat split;
    lra).
  replace (1 + lambert_gamma p0 w * entropy_ratio p0) with (w / y0 p0)
    by (unfold lambert_gamma, entropy_ratio, y0; field; repeat split; try lra; nra).
  rewrite exp_plus, exp_Ropp. pose proof (exp_pos (y0 p0)).
  replace (exp w * / exp (y0 p0) * (w / y0 p0)) with (w * exp w / (y0 p0 * exp (y0 p0))) by (field; repeat split; lra).
  rewrite W. field. lra.
Qed.

Theorem m20_prop2 p0 w : 0 < p0 < 1 / 2 -> is_lambert_minus1 (lambert_argument p0) w ->
  let gamma_star := lambert_gamma p0 w in
  0 < gamma_star /\
  forall p gamma, p0 <= p < 1 -> gamma_star <= gamma ->
    gain gamma p <= 1 /\ (gain gamma p = 1 <-> p = p0 /\ gamma = gamma_star).
Proof.
  intros H W gs. pose proof (lambert_gamma_pos p0 w H W) as G. fold gs in G.
  pose proof (gain_at_lambert_gamma p0 w ltac:(lra) (proj1 W)) as E. fold gs in E.
  split; [exact G|]. intros p gamma P Q.
  destruct (Req_dec gamma gs) as [->|N].
  - destruct (Req_dec p p0) as [->|M]; [rewrite E; split; [lra|tauto]|].
    assert (gain gs p < 1) by (apply (gain_stays_below_1 gs p0 p); lra).
    split; [lra|]. split; [lra|]. intros [C _]. contradiction.
  - assert (F : gain gamma p0 < 1) by (apply (gain_larger_gamma p0 gs gamma); lra).
    assert (gain gamma p < 1).
    { destruct (Req_dec p p0) as [->|M]; [exact F|]. apply (gain_stays_below_1 gamma p0 p); lra. }
    split; [lra|]. split; [lra|]. intros [_ C]. contradiction.
Qed.

(* M20 after Prop. 2: with gamma*, (i) g(p0) = 1, (ii) g > 1 below p0 and (iii) g < 1 above.
   Faithfulness: equivalent: the three statements of the paper, for p0 < 1/2 and the branch W_-1 as its inverse. *)
Theorem m20_prop2_threshold p0 w : 0 < p0 < 1 / 2 -> is_lambert_minus1 (lambert_argument p0) w ->
  let gamma_star := lambert_gamma p0 w in
  is_gamma_star p0 gamma_star /\
  (forall p, 0 < p < p0 -> 1 < gain gamma_star p) /\ (forall p, p0 < p < 1 -> gain gamma_star p < 1).
Proof.
  intros H W gs. pose proof (lambert_gamma_pos p0 w H W) as G. fold gs in G.
  pose proof (gain_at_lambert_gamma p0 w ltac:(lra) (proj1 W)) as E. fold gs in E.
  split; [split; assumption|]. split; intros p P.
  - apply Rnot_le_lt. intro L. pose proof (gain_stays_below_1 gs p p0 G ltac:(lra) ltac:(lra) ltac:(lra) L). lra.
  - apply (gain_stays_below_1 gs p0 p); lra.
Qed.

(* not vacuous: every threshold below 1/2 has its gamma*, and only one.
   Faithfulness: equivalent: the branch is defined by its equation, and this says that there is just one such number. *)
Theorem m20_prop2_gamma_star_exists p0 : 0 < p0 < 1 -> exists! w, is_lambert_minus1 (lambert_argument p0) w.
Proof.
  intros H. destruct (lambert_minus1_exists (y0 p0) (y0_neg p0 H)) as [w W].
  rewrite <- lambert_argument_y0 in W by exact H. exists w. split; [exact W|].
  intros v V. apply (lambert_minus1_unique (lambert_argument p0)); assumption.
Qed.

(* M20 gives no range of p0. From 1/2 on the formula gives gamma* = 0, and g = 1 at every p.
   Faithfulness: equivalent: the formula where the paper's words give no range. *)
Theorem m20_prop2_fails_from_half_on p0 w : 1 / 2 <= p0 < 1 -> is_lambert_minus1 (lambert_argument p0) w ->
  lambert_gamma p0 w = 0 /\ forall p, gain (lambert_gamma p0 w) p = 1.
Proof.
  intros H W. destruct (logs p0 ltac:(lra)) as (A & B & C0).
  assert (w = y0 p0) as ->.
  { apply (lambert_minus1_unique (lambert_argument p0)); [exact W|].
    split; [symmetry; apply lambert_argument_y0; lra|apply y0_half_on; exact H]. }
  assert (Z : lambert_gamma p0 (y0 p0) = 0) by (unfold lambert_gamma, y0; field; repeat split; lra).
  split; [exact Z|]. intros p. rewrite Z. unfold gain, Rpower. rewrite Rmult_0_l, exp_0. ring.
Qed.

(* M20 App. B: "the principal branch yields a negative value for gamma": for p0 < 1/2 it yields gamma = 0.
   Faithfulness: equivalent: any number of that branch, w >= -1, by the equation that defines it. *)
Theorem m20_principal_branch_is_zero p0 w : 0 < p0 < 1 / 2 -> w * exp w = lambert_argument p0 -> -1 <= w ->
  lambert_gamma p0 w = 0.
Proof.
  intros H W L. destruct (logs p0 ltac:(lra)) as (A & B & C0). rewrite lambert_argument_y0 in W by lra.
  pose proof (y0_above p0 H) as Y.
  assert (I : forall a b, -1 <= a -> a < b -> a * exp a < b * exp b).
  { intros a b La Lb. apply (increasing (fun x => x * exp x) (fun x => (1 + x) * exp x)); [exact Lb| |].
    - intros c _. apply xexp_derivative.
    - intros c Hc. pose proof (exp_pos c). nra. }
  assert (w = y0 p0) as ->.
  { destruct (Rtotal_order w (y0 p0)) as [C|[C|C]]; [|exact C|].
    - pose proof (I w (y0 p0) L C). lra.
    - pose proof (I (y0 p0) w ltac:(lra) C). lra. }
  unfold lambert_gamma, y0. field. repeat split; lra.
Qed.

(* M20 App. B: the right-hand side of Eq. (10) is negative, "with a minimum possible value of -1/e that occurs at p0 = 0.5".
   Faithfulness: exact. *)
Theorem m20_rhs_minimum p0 : 0 < p0 < 1 ->
  - exp (-1) <= lambert_argument p0 < 0 /\ (lambert_argument p0 = - exp (-1) <-> p0 = 1 / 2).
Proof.
  intros H. rewrite lambert_argument_y0 by exact H. pose proof (y0_neg p0 H) as Y. pose proof (exp_pos (y0 p0)) as P.
  assert (S : y0 p0 <> -1 -> - exp (-1) < y0 p0 * exp (y0 p0)).
  { intros N. pose proof (exp_ineq1 (-1 - y0 p0) ltac:(lra)) as A.
    unfold Rminus in A. rewrite exp_plus, exp_Ropp in A.
    assert (B : - y0 p0 * exp (y0 p0) < exp (-1)); [|lra].
    replace (exp (-1)) with (exp (-1) * / exp (y0 p0) * exp (y0 p0)) by (field; lra).
    apply Rmult_lt_compat_r; lra. }
  assert (E : y0 (1 / 2) = -1).
  { unfold y0. replace (1 - 1 / 2) with (1 / 2) by field. field. pose proof (ln_neg (1 / 2)). lra. }
  repeat split.
  - destruct (Req_dec (y0 p0) (-1)) as [->|N]; [lra|]. pose proof (S N). lra.
  - nra.
  - intros F. destruct (Rtotal_order p0 (1 / 2)) as [L|[L|L]]; [|exact L|].
    + pose proof (y0_above p0 ltac:(lra)). pose proof (S ltac:(lra)). lra.
    + assert (y0 p0 <> -1); [|pose proof (S H0); lra].
      intro G. assert (y0 (1 - p0) = / y0 p0).
      { unfold y0. replace (1 - (1 - p0)) with p0 by ring. destruct (logs p0 H) as (A & B & C). field.
      repeat split; lra. }
      pose proof (y0_above (1 - p0) ltac:(lra)) as K. rewrite H0, G in K. lra.
  - intros ->. rewrite E. ring.
Qed.

(* From 1/2 on it is the other branch that returns y0; the principal one gives a negative gamma, as M20 says of every p0.
   Faithful: equivalent to 'a negative value' for 1/2 < p0 < 1; below 1/2 it is 0 ([m20_principal_branch_is_zero]). *)
Theorem m20_principal_branch_negative p0 w : 1 / 2 < p0 < 1 -> w * exp w = lambert_argument p0 -> -1 <= w ->
  lambert_gamma p0 w < 0.
Proof.
  intros H W L. destruct (logs p0 ltac:(lra)) as (A & B & C0).
  assert (Y : y0 p0 < -1).
  { destruct (y0_half_on p0 ltac:(lra)) as [Y|Y]; [exact Y|exfalso].
    destruct (m20_rhs_minimum p0 ltac:(lra)) as [_ [M _]].
    rewrite lambert_argument_y0 in M by lra. rewrite Y in M. specialize (M ltac:(ring)). lra. }
  unfold lambert_gamma. cbv zeta.
  replace ((1 - p0) / (p0 * ln p0) + w / ln (1 - p0)) with (- ((w - y0 p0) / - ln (1 - p0))) by (unfold y0; field;
    repeat split; lra).
  assert (0 < (w - y0 p0) / - ln (1 - p0)) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(* not vacuous: for p0 other than 1/2 the principal branch has a value w, which gives gamma = 0 below 1/2 and a negative gamma above *)
Example m20_principal_branch_example p0 : 0 < p0 < 1 -> p0 <> 1 / 2 -> exists w, -1 <= w /\ w * exp w = lambert_argument p0 /\
  (p0 < 1 / 2 -> lambert_gamma p0 w = 0) /\ (1 / 2 < p0 -> lambert_gamma p0 w < 0).
Proof.
  intros H N. destruct (m20_rhs_minimum p0 H) as [[[A|A] B] M]; [|exfalso; apply N, M; symmetry; exact A].
  destruct (IVT (fun w => w * exp w - lambert_argument p0) (-1) 0) as [w [W E]].
  - intros w. apply (derive_continuity _ _ ((1 + w) * exp w - 0)).
    apply (is_derive_minus (fun w => w * exp w) (fun _ => lambert_argument p0)); [apply xexp_derivative|apply is_derive_Reals, derivable_pt_lim_const].
  - lra.
  - lra.
  - lra.
  - assert (Z : w * exp w = lambert_argument p0) by lra. exists w. split; [apply W|]. split; [exact Z|].
    split; intros L; [apply m20_principal_branch_is_zero|apply m20_principal_branch_negative]; try exact Z; try apply W; lra.
Qed.
