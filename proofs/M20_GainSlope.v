(* M20 App. B: does the slope of g decrease? It does exactly for gamma <= 1.

   M20: "as the gradient dg/dp monotonically decreases from a positive value at p = 0 to a negative value at p = 1". *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio Gain M20_Threshold.
Open Scope R_scope.

(* dg/dp = gamma (1 - p)^(gamma - 1) ((1 - gamma p) l(p) - 2), l(p) = - log p / (1 - p) *)
Definition inverse_log_mean (p : R) : R := - ln p / (1 - p).
Definition slope_factor (gamma p : R) : R := (1 - gamma * p) * inverse_log_mean p - 2.

Lemma Rpower_split x a : 0 < x -> Rpower x a = x * Rpower x (a - 1).
Proof.
  intros X. unfold Rpower. replace (a * ln x) with (ln x + (a - 1) * ln x) by ring. rewrite exp_plus, exp_ln by exact X. reflexivity.
Qed.

Lemma gain_slope_form gamma p : 0 < p < 1 -> Derive (gain gamma) p = gamma * (Rpower (1 - p) (gamma - 1) * slope_factor gamma p).
Proof.
  intros P. rewrite (is_derive_unique _ _ _ (m20_gain_slope gamma p P)).
  rewrite (Rpower_split (1 - p) (gamma - 1)) by lra. replace (gamma - 1 - 1) with (gamma - 2) by ring.
  unfold slope_factor, inverse_log_mean, k. pose proof (ln_neg p P). field. lra.
Qed.

(* its derivative over (1 - p)^(gamma - 2), from that of l *)
Lemma slope_part_derivative gamma p : 0 < p < 1 ->
  is_derive (fun p => Rpower (1 - p) (gamma - 1) * slope_factor gamma p) p
    (Rpower (1 - p) (gamma - 2) * ((1 - gamma) * (2 - gamma * p) * inverse_log_mean p - 2 * (1 - gamma) - 1 / p + gamma)).
Proof.
  intros P. assert (E : Rpower (1 - p) (gamma - 2) = Rpower (1 - p) (gamma - 1) / (1 - p)).
  { rewrite (Rpower_split (1 - p) (gamma - 1)) by lra. replace (gamma - 1 - 1) with (gamma - 2) by ring. field. lra. }
  rewrite E. unfold slope_factor, inverse_log_mean, Rpower. auto_derive; [repeat split; lra|].
  replace (1 + - p) with (1 - p) by ring. field. lra.
Qed.

(* l(p) < (1 + p) / (2 p) *)
Lemma inverse_log_mean_below p : 0 < p < 1 -> inverse_log_mean p * p < (1 + p) / 2.
Proof.
  intros P. pose proof (log_mean_gap_neg p P) as G. unfold log_mean_gap in G. unfold inverse_log_mean.
  apply (Rmult_lt_reg_r (2 * (1 - p))); [lra|].
  replace (- ln p / (1 - p) * p * (2 * (1 - p))) with (- (2 * ln p) * p) by (field; lra).
  replace ((1 + p) / 2 * (2 * (1 - p))) with ((1 / p - p) * p) by (field; lra).
  apply Rmult_lt_compat_r; lra.
Qed.

(* Faithful: where the sentence holds, exact with [m20_unimodal], which says that it starts positive and ends negative. *)
Theorem m20_slope_decreases gamma x y : 0 < gamma <= 1 -> 0 < x -> x < y -> y < 1 -> Derive (gain gamma) y < Derive (gain gamma) x.
Proof.
  intros G X L Y. rewrite !gain_slope_form by lra. apply Rmult_lt_compat_l; [lra|].
  apply (decreasing (fun p => Rpower (1 - p) (gamma - 1) * slope_factor gamma p) (fun p => Rpower (1 - p) (gamma - 2) *
    ((1 - gamma) * (2 - gamma * p) * inverse_log_mean p - 2 * (1 - gamma) - 1 / p + gamma))); [exact L| |]; intros p P.
  - apply slope_part_derivative. lra.
  - pose proof (FocalLoss.Rpower_pos (1 - p) (gamma - 2)) as R. set (r := Rpower (1 - p) (gamma - 2)) in *.
    assert (N : (1 - gamma) * (2 - gamma * p) * inverse_log_mean p - 2 * (1 - gamma) - 1 / p + gamma < 0); [|nra].
    pose proof (inverse_log_mean_below p ltac:(lra)) as B. set (l := inverse_log_mean p) in *.
    apply (Rmult_lt_reg_r p); [lra|]. rewrite Rmult_0_l.
    replace (((1 - gamma) * (2 - gamma * p) * l - 2 * (1 - gamma) - 1 / p + gamma) * p)
      with ((1 - gamma) * (2 - gamma * p) * (l * p) - 2 * (1 - gamma) * p - 1 + gamma * p) by (field; lra).
    assert (C : 0 <= (1 - gamma) * (2 - gamma * p)) by (apply Rmult_le_pos; nra).
    assert (D : (1 - gamma) * (2 - gamma * p) * (l * p) <= (1 - gamma) * (2 - gamma * p) * ((1 + p) / 2))
      by (apply Rmult_le_compat_l; lra).
    assert (E : 0 < gamma * (1 - p)) by (apply Rmult_lt_0_compat; lra).
    assert (F : 0 <= (1 - gamma) * p) by (apply Rmult_le_pos; lra).
    assert (H : 0 <= (1 - gamma) * p * (gamma * ((1 + p) / 2))).
    { apply Rmult_le_pos; [exact F|]. apply Rmult_le_pos; lra. }
    assert (Z : (1 - gamma) * (2 - gamma * p) * ((1 + p) / 2) - 2 * (1 - gamma) * p - 1 + gamma * p =
      - (gamma * (1 - p)) - (1 - gamma) * p - (1 - gamma) * p * (gamma * ((1 + p) / 2))) by field.
    lra.
Qed.

(* Faithful: the negation, exact, for every gamma > 1: near p = 1 the slope rises again, to 0. *)
Theorem m20_slope_rises_above_1 gamma : 1 < gamma -> exists x y, 0 < x /\ x < y /\ y < 1 /\
  Derive (gain gamma) x < Derive (gain gamma) y.
Proof.
  intros G. destruct (m20_unimodal gamma ltac:(lra)) as [s (S & _ & V)].
  set (x := (s + 1) / 2). assert (X : s < x < 1) by (unfold x; lra). pose proof (V x X) as N.
  set (c := - Derive (gain gamma) x). assert (C : 0 < c) by (unfold c; lra).
  (* - dg/dp <= 2 gamma (1 - p)^(gamma - 1) where gamma p >= 1, and (1 - p)^(gamma - 1) tends to 0 *)
  set (z := exp (ln (c / (4 * gamma * gamma)) / (gamma - 1))). pose proof (exp_pos (ln (c / (4 * gamma * gamma)) / (gamma - 1))) as Z. fold z in Z.
  assert (Q : 0 < c / (4 * gamma * gamma)) by (apply Rdiv_lt_0_compat; [exact C|apply Rmult_lt_0_compat; lra]).
  set (d := Rmin ((1 - x) / 2) (Rmin (z / 2) (1 / 2))).
  assert (D0 : 0 < d) by (unfold d; repeat apply Rmin_glb_lt; lra).
  assert (D1 : d <= (1 - x) / 2) by apply Rmin_l.
  assert (D2 : d <= z / 2) by (unfold d; eapply Rle_trans; [apply Rmin_r|apply Rmin_l]).
  assert (D3 : d <= 1 / 2) by (unfold d; eapply Rle_trans; [apply Rmin_r|apply Rmin_r]).
  exists x, (1 - d). split; [lra|]. split; [lra|]. split; [lra|].
  assert (R : Rpower d (gamma - 1) < c / (4 * gamma * gamma)).
  { unfold Rpower. rewrite <- (exp_ln _ Q). apply exp_increasing.
    assert (L : ln d < ln (c / (4 * gamma * gamma)) / (gamma - 1)).
    { rewrite <- (ln_exp (ln (c / (4 * gamma * gamma)) / (gamma - 1))). apply ln_increasing; fold z; lra. }
    apply (Rmult_lt_compat_l (gamma - 1)) in L; [|lra].
    replace ((gamma - 1) * (ln (c / (4 * gamma * gamma)) / (gamma - 1))) with (ln (c / (4 * gamma * gamma))) in L by (field; lra).
    exact L. }
  rewrite (gain_slope_form gamma (1 - d)) by lra. replace (1 - (1 - d)) with d by ring.
  pose proof (FocalLoss.Rpower_pos d (gamma - 1)) as R0. set (r := Rpower d (gamma - 1)) in *.
  assert (F : - (2 * gamma) <= slope_factor gamma (1 - d)).
  { unfold slope_factor. pose proof (inverse_log_mean_below (1 - d) ltac:(lra)) as B.
    assert (B0 : 0 < inverse_log_mean (1 - d)).
    { unfold inverse_log_mean. pose proof (ln_neg (1 - d) ltac:(lra)). apply Rdiv_lt_0_compat; lra. }
    set (l := inverse_log_mean (1 - d)) in *.
    assert (l * (gamma * (1 - d)) < gamma * ((1 + (1 - d)) / 2)) by (replace (l * (gamma * (1 - d))) with (gamma * (l * (1 - d))) by ring; apply Rmult_lt_compat_l; lra).
    assert (1 <= l).
    { unfold l, inverse_log_mean. pose proof (ln_le (1 - d) ltac:(lra)).
      apply (Rmult_le_reg_r (1 - (1 - d))); [lra|]. replace (- ln (1 - d) / (1 - (1 - d)) * (1 - (1 - d))) with (- ln (1 - d)) by (field; lra). lra. }
    assert (gamma * ((1 + (1 - d)) / 2) <= gamma * 1) by (apply Rmult_le_compat_l; lra). lra. }
  assert (T : r * (4 * gamma * gamma) < c).
  { apply (Rmult_lt_compat_r (4 * gamma * gamma)) in R; [|apply Rmult_lt_0_compat; lra].
    replace (c / (4 * gamma * gamma) * (4 * gamma * gamma)) with c in R by (field; lra). exact R. }
  assert (U : gamma * (r * - (2 * gamma)) <= gamma * (r * slope_factor gamma (1 - d))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  assert (0 < r * (gamma * gamma)) by (apply Rmult_lt_0_compat; [exact R0|apply Rmult_lt_0_compat; lra]).
  unfold c in *. lra.
Qed.

(* not vacuous: the slope falls from 1/4 to 3/4 for gamma = 1, and rises somewhere for gamma = 2 ([m20_slope_not_decreasing] says
   where) *)
Example m20_gain_slope_example : Derive (gain 1) (3 / 4) < Derive (gain 1) (1 / 4) /\
  exists x y, 0 < x /\ x < y /\ y < 1 /\ Derive (gain 2) x < Derive (gain 2) y.
Proof. split; [apply m20_slope_decreases; lra|apply m20_slope_rises_above_1; lra]. Qed.
