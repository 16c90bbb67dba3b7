(* M20's gradient factor g = gain: b = entropy_ratio increases and is concave, so log g is concave, and once g is at
   most 1 it stays below 1. M20 is Mukhoti et al. (2020), "Calibrating deep neural networks using focal loss". *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio.
Open Scope R_scope.

Lemma entropy_ratio_increasing x y : 0 < x -> x < y -> y < 1 -> entropy_ratio x < entropy_ratio y.
Proof.
  intros. apply (increasing entropy_ratio ratio1); [lra| |].
  - intros c Hc. apply entropy_ratio_derivative. lra.
  - intros c Hc. apply ratio1_pos. lra.
Qed.

Lemma ratio1_decreasing x y : 0 < x -> x < y -> y < 1 -> ratio1 y < ratio1 x.
Proof.
  intros. apply (decreasing ratio1 ratio2); [lra| |].
  - intros c Hc. apply ratio1_derivative. lra.
  - intros c Hc. apply ratio2_neg. lra.
Qed.

(* log g and its slope; g = exp (log_gain) *)
Definition log_gain (gamma q : R) := gamma * ln (1 - q) + ln (1 + gamma * entropy_ratio q).
Definition log_gain_slope (gamma q : R) := gamma * (ratio1 q / (1 + gamma * entropy_ratio q) - / (1 - q)).

Lemma one_plus_pos gamma q : 0 <= gamma -> 0 < q < 1 -> 0 < 1 + gamma * entropy_ratio q.
Proof. intros G H. pose proof (entropy_ratio_pos q H). nra. Qed.

Lemma log_gain_derivative gamma q : 0 <= gamma -> 0 < q < 1 -> is_derive (log_gain gamma) q (log_gain_slope gamma q).
Proof.
  intros G H. pose proof (one_plus_pos gamma q G H). unfold log_gain, log_gain_slope.
  evar_last.
  - apply (is_derive_plus (fun q => gamma * ln (1 - q)) (fun q => ln (1 + gamma * entropy_ratio q))).
    + auto_derive; [lra|reflexivity].
    + apply (is_derive_comp ln (fun q => 1 + gamma * entropy_ratio q)).
      * apply is_derive_Reals, derivable_pt_lim_ln. lra.
      * apply (is_derive_plus (fun _ => 1) (fun q => gamma * entropy_ratio q)); [apply is_derive_const|].
        apply is_derive_scal, entropy_ratio_derivative, H.
  - unfold plus, scal, zero; simpl; unfold mult; simpl. field. lra.
Qed.

Lemma log_gain_slope_decreasing gamma x y : 0 < gamma -> 0 < x -> x < y -> y < 1 -> log_gain_slope gamma y < log_gain_slope gamma x.
Proof.
  intros G X L Y. unfold log_gain_slope. apply Rmult_lt_compat_l; [exact G|].
  pose proof (ratio1_decreasing x y X L Y). pose proof (entropy_ratio_increasing x y X L Y).
  assert (Px : 0 < 1 + gamma * entropy_ratio x) by (apply one_plus_pos; lra).
  assert (0 < ratio1 y) by (apply ratio1_pos; lra).
  assert (/ (1 - x) < / (1 - y)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra).
  assert (Py : 0 < 1 + gamma * entropy_ratio y) by (apply one_plus_pos; lra).
  assert (gamma * entropy_ratio x < gamma * entropy_ratio y) by (apply Rmult_lt_compat_l; lra).
  assert (I : / (1 + gamma * entropy_ratio y) < / (1 + gamma * entropy_ratio x))
    by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra).
  assert (0 < / (1 + gamma * entropy_ratio y)) by (apply Rinv_0_lt_compat; lra).
  assert (ratio1 y * / (1 + gamma * entropy_ratio y) < ratio1 x * / (1 + gamma * entropy_ratio x)) by (apply Rmult_gt_0_lt_compat; lra).
  unfold Rdiv. lra.
Qed.

Lemma log_gain_low gamma q : 0 <= gamma -> 0 < q < 1 -> gamma * ln (1 - q) <= log_gain gamma q.
Proof.
  intros G H. unfold log_gain. pose proof (entropy_ratio_pos q H).
  assert (0 <= ln (1 + gamma * entropy_ratio q)); [|lra].
  rewrite <- ln_1. apply Rcomplements.ln_le; nra.
Qed.

(* the shape behind M20's threshold: once log g is not positive, it is negative from there on *)
Theorem log_gain_stays_negative gamma p0 p : 0 < gamma -> 0 < p0 -> p0 < p -> p < 1 ->
  log_gain gamma p0 <= 0 -> log_gain gamma p < 0.
Proof.
  intros G P0 L P1 N. apply Rnot_le_lt. intro A.
  assert (D : forall c, 0 < c < 1 -> is_derive (log_gain gamma) c (log_gain_slope gamma c))
    by (intros c Hc; apply log_gain_derivative; lra).
  destruct (MVT_cor2 (log_gain gamma) (log_gain_slope gamma) p0 p L) as [xi [E Hxi]].
  { intros c Hc. apply is_derive_Reals, D. lra. }
  assert (S : 0 <= log_gain_slope gamma xi) by nra.
  assert (U : forall x y, 0 < x -> x < y -> y <= p0 -> log_gain gamma x < log_gain gamma y).
  { intros x y X XY Y. apply (increasing _ (log_gain_slope gamma)); [exact XY| |].
    - intros c Hc. apply D. lra.
    - intros c Hc. apply Rle_lt_trans with (log_gain_slope gamma xi); [exact S|]. apply log_gain_slope_decreasing; lra. }
  pose proof (U (p0/2) p0 ltac:(lra) ltac:(lra) ltac:(lra)) as M.
  set (d := - log_gain gamma (p0/2)) in *. assert (Hd : 0 < d) by (unfold d; lra).
  set (e := Rmin (p0/4) (1 - exp (- d / gamma))).
  assert (Ed : exp (- d / gamma) < 1).
  { rewrite <- exp_0. apply exp_increasing. unfold Rdiv. assert (0 < / gamma) by (apply Rinv_0_lt_compat; lra). nra. }
  assert (E0 : 0 < e) by (unfold e; apply Rmin_glb_lt; lra).
  assert (E1 : e <= p0/4) by (unfold e; apply Rmin_l).
  assert (E2 : e <= 1 - exp (- d / gamma)) by (unfold e; apply Rmin_r).
  pose proof (U e (p0/2) E0 ltac:(lra) ltac:(lra)) as V.
  pose proof (log_gain_low gamma e ltac:(lra) ltac:(lra)) as B.
  assert (ln (exp (- d / gamma)) <= ln (1 - e)) by (apply Rcomplements.ln_le; [apply exp_pos|lra]).
  rewrite ln_exp in H. assert (gamma * (- d / gamma) = - d) by (field; lra). 
  assert (gamma * (- d / gamma) <= gamma * ln (1 - e)) by (apply Rmult_le_compat_l; lra).
  unfold d in *. lra.
Qed.

Lemma gain_exp gamma q : 0 <= gamma -> 0 < q < 1 -> gain gamma q = exp (log_gain gamma q).
Proof.
  intros G H. unfold gain, Rpower, log_gain. rewrite exp_plus, exp_ln; [reflexivity|]. apply one_plus_pos; assumption.
Qed.

Lemma gain_le_1 gamma q : 0 <= gamma -> 0 < q < 1 -> gain gamma q <= 1 <-> log_gain gamma q <= 0.
Proof.
  intros G H. rewrite gain_exp by assumption. rewrite <- exp_0. split; intros L.
  - destruct (Rle_lt_dec (log_gain gamma q) 0) as [|C]; [assumption|]. apply exp_increasing in C. lra.
  - destruct L as [L|L]; [left; apply exp_increasing, L|right; rewrite L; reflexivity].
Qed.

Lemma gain_lt_1 gamma q : 0 <= gamma -> 0 < q < 1 -> gain gamma q < 1 <-> log_gain gamma q < 0.
Proof.
  intros G H. rewrite gain_exp by assumption. rewrite <- exp_0 at 1. split; intros L.
  - apply exp_lt_inv, L.
  - apply exp_increasing, L.
Qed.

Lemma gain_eq_1 gamma q : 0 <= gamma -> 0 < q < 1 -> gain gamma q = 1 <-> log_gain gamma q = 0.
Proof.
  intros G H. rewrite gain_exp by assumption. rewrite <- exp_0 at 1. split; intros L.
  - apply exp_inv, L.
  - rewrite L. reflexivity.
Qed.

(* gain gamma q <= 1 at one point forces it below 1 at every larger one *)
Lemma gain_stays_below_1 gamma p0 p : 0 < gamma -> 0 < p0 -> p0 < p -> p < 1 -> gain gamma p0 <= 1 -> gain gamma p < 1.
Proof.
  intros G P L Q H. apply gain_lt_1; [lra|lra|]. apply (log_gain_stays_negative gamma p0 p); try lra.
  apply gain_le_1; lra.
Qed.
