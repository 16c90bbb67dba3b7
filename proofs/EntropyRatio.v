(* b(q) = - q log q / (1 - q): concave with an increasing second derivative; at 1/2 it is log 2. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss.
Open Scope R_scope.

(* q - 1/q - 2 log q is increasing and 0 at 1: the logarithmic mean lies above the geometric one *)
Definition log_mean_gap (q : R) : R := q - 1 / q - 2 * ln q.

Lemma log_mean_gap_derivative q : 0 < q -> is_derive log_mean_gap q ((1 - 1 / q) * (1 - 1 / q)).
Proof. intros H. unfold log_mean_gap. auto_derive; [split; [lra|split; [exact H|exact Logic.I]]|]. field. lra. Qed.

Lemma log_mean_gap_1 : log_mean_gap 1 = 0.
Proof. unfold log_mean_gap. rewrite ln_1. field. Qed.

Lemma log_mean_gap_neg q : 0 < q < 1 -> log_mean_gap q < 0.
Proof.
  intros H. rewrite <- log_mean_gap_1.
  apply (increasing log_mean_gap (fun q => (1 - 1 / q) * (1 - 1 / q))); [lra| |]; intros x Hx.
  - apply log_mean_gap_derivative. lra.
  - assert (1 - 1 / x < 0); [|nra]. assert (1 < 1 / x); [|lra]. apply (Rmult_lt_reg_r x); [lra|]. 
    replace (1 / x * x) with 1 by (field; lra). lra.
Qed.

Lemma log_mean_gap_pos q : 1 < q -> 0 < log_mean_gap q.
Proof.
  intros H. rewrite <- log_mean_gap_1.
  apply (increasing log_mean_gap (fun q => (1 - 1 / q) * (1 - 1 / q))); [lra| |]; intros x Hx.
  - apply log_mean_gap_derivative. lra.
  - assert (0 < 1 - 1 / x); [|nra]. assert (1 / x < 1); [|lra]. apply (Rmult_lt_reg_r x); [lra|]. 
    replace (1 / x * x) with 1 by (field; lra). lra.
Qed.

(* the first three derivatives of b *)
Definition ratio1 (q : R) : R := (- ln q - (1 - q)) / ((1 - q) * (1 - q)).
Definition ratio2 (q : R) : R := log_mean_gap q / ((1 - q) * (1 - q) * (1 - q)).
Definition ratio3 (q : R) : R :=
  ((1 - q) * (1 - q) * (1 - q) / (q * q) + 3 * log_mean_gap q) / ((1 - q) * (1 - q) * (1 - q) * (1 - q)).

Lemma entropy_ratio_derivative q : 0 < q < 1 -> is_derive entropy_ratio q (ratio1 q).
Proof.
  intros H. unfold entropy_ratio, ratio1. auto_derive; [repeat split; lra|]. field. lra.
Qed.

Lemma ratio1_derivative q : 0 < q < 1 -> is_derive ratio1 q (ratio2 q).
Proof.
  intros H. unfold ratio1, ratio2, log_mean_gap. auto_derive.
  - repeat split; try lra. apply Rgt_not_eq, Rmult_lt_0_compat; lra.
  - field. lra.
Qed.

Lemma ratio2_derivative q : 0 < q < 1 -> is_derive ratio2 q (ratio3 q).
Proof.
  intros H. unfold ratio2, ratio3, log_mean_gap. auto_derive.
  - repeat split; try lra. apply Rgt_not_eq. repeat apply Rmult_lt_0_compat; lra.
  - field. lra.
Qed.

Lemma ratio2_neg q : 0 < q < 1 -> ratio2 q < 0.
Proof.
  intros H. unfold ratio2. pose proof (log_mean_gap_neg q H) as N.
  assert (P : 0 < / ((1 - q) * (1 - q) * (1 - q))).
  { apply Rinv_0_lt_compat. repeat apply Rmult_lt_0_compat; lra. }
  unfold Rdiv. nra.
Qed.

Lemma ratio1_pos q : 0 < q < 1 -> 0 < ratio1 q.
Proof.
  intros H. unfold ratio1. apply Rdiv_lt_0_compat; [|apply Rmult_lt_0_compat; lra].
  pose proof (ln_lt q ltac:(lra) ltac:(lra)). lra.
Qed.

Lemma ratio3_pos q : 0 < q < 1 -> 0 < ratio3 q.
Proof.
  intros H. unfold ratio3. apply Rdiv_lt_0_compat; [|repeat apply Rmult_lt_0_compat; lra].
  pose (f := fun q => (1 - q) * (1 - q) * (1 - q) / (q * q) + 3 * log_mean_gap q).
  assert (Z : f 1 = 0) by (unfold f; rewrite log_mean_gap_1; field).
  change (0 < f q). rewrite <- Z.
  apply (decreasing f (fun q => - (2 * ((1 - q) * (1 - q) * (1 - q)) / (q * q * q)))); [lra| |]; intros x Hx.
  - unfold f, log_mean_gap. auto_derive.
    + repeat split; try lra. apply Rgt_not_eq. apply Rmult_lt_0_compat; lra.
    + field. lra.
  - assert (0 < 2 * ((1 - x) * (1 - x) * (1 - x)) / (x * x * x)); [|lra].
    apply Rdiv_lt_0_compat; repeat apply Rmult_lt_0_compat; lra.
Qed.

Lemma entropy_ratio_half : entropy_ratio (1 / 2) = ln 2.
Proof.
  unfold entropy_ratio. replace (1 / 2) with (/ 2) by field. rewrite ln_Rinv by lra. field.
Qed.

(* concave: b(q) + b(1 - q) is largest at 1/2 *)
Lemma entropy_ratio_pair q : 0 < q < 1 -> entropy_ratio q + entropy_ratio (1 - q) <= 2 * ln 2.
Proof.
  intros H. destruct (Req_dec q (1 / 2)) as [->|N].
  { replace (1 - 1 / 2) with (1 / 2) by field. rewrite entropy_ratio_half. lra. }
  pose proof (chord_above (fun x => - entropy_ratio x) (fun x => - ratio1 x) (fun x => - ratio2 x) 0 1) as C.
  specialize (C ltac:(intros x Hx; apply (is_derive_opp entropy_ratio), entropy_ratio_derivative; exact Hx)).
  specialize (C ltac:(intros x Hx; apply (is_derive_opp ratio1), ratio1_derivative; exact Hx)).
  specialize (C ltac:(intros x Hx; pose proof (ratio2_neg x Hx); lra)).
  specialize (C q (1 - q) (1 / 2) H ltac:(lra) ltac:(lra) ltac:(lra)). cbv beta in C.
  replace (1 / 2 * q + (1 - 1 / 2) * (1 - q)) with (1 / 2) in C by field. rewrite entropy_ratio_half in C. lra.
Qed.
