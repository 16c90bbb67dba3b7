(* KK24 section 3.3 leaves open between which temperatures the map lies for three or more classes: the upper one. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Confidence KK24_ManyClasses KK24_RaisesConfidence.
Open Scope R_scope.

(* the map of a loss with the weight w = - 1 / L' *)
Definition map_of_weight (w : R -> R) (n : nat) (q : nat -> R) (j : nat) : R := w (q j) / sum n (fun i => w (q i)).

(* temperature scaling with 1/beta gives the predicted class at most what the map gives it *)
Definition bounds_from_below (w : R -> R) (n : nat) (beta : R) : Prop :=
  forall q j, open_simplex n q -> predicted n q j -> temperature_scaling_n n (1 / beta) q j <= map_of_weight w n q j.

(* all but one of the others are at most the predicted class *)
Lemma top_beside n q i j : (2 <= n)%nat -> open_simplex n q -> predicted n q j -> (i < n)%nat -> 1 - q i <= (INR n - 1) * q j.
Proof.
  intros Hn [_ E] [Hj P] Hi.
  assert (S : sum n q <= sum n (fun k => if Nat.eqb k i then q i else q j)).
  { apply sum_le. intros k Hk. destruct (Nat.eqb_spec k i) as [->|D]; [lra|apply P, Hk]. }
  rewrite (sum_changed n (fun _ => q j) i (q i) Hi), sum_const, E in S. lra.
Qed.

(* Faithfulness: ours (the ledger's kk24.many_high_exact), related: where w(q) / q^beta does not fall from 1/n on, which for the
   focal map is so of n <= 1/q_e (not proved here), scaling with 1/beta bounds all predictions if it bounds those of n - 1
   tied classes and one below, and only then. *)
Theorem kk24_upper_temperature_tied w n beta : (2 <= n)%nat -> 0 < beta -> (forall q, 0 < q < 1 -> 0 < w q) ->
  (forall x y, 1 / INR n <= x <= y -> y < 1 -> w x * Rpower y beta <= w y * Rpower x beta) ->
  (bounds_from_below w n beta <->
   forall m e, 0 < e < m -> (INR n - 1) * m + e = 1 -> w e * Rpower m beta <= w m * Rpower e beta).
Proof.
  intros Hn Hb W M.
  assert (N2 : 2 <= INR n) by (change 2 with (INR 2); apply le_INR; exact Hn).
  assert (B : 1 / (1 / beta) = beta) by (field; lra).
  assert (cross : forall q j, open_simplex n q -> (j < n)%nat ->
    (temperature_scaling_n n (1 / beta) q j <= map_of_weight w n q j <->
     Rpower (q j) beta * sum n (fun i => w (q i)) <= w (q j) * sum n (fun i => Rpower (q i) beta))).
  { intros q j Q Hj. unfold temperature_scaling_n, map_of_weight. rewrite B.
    assert (S : 0 < sum n (fun i => Rpower (q i) beta)).
    { apply sum_pos; [intros i _; apply Rlt_le, exp_pos|exists j; split; [exact Hj|apply exp_pos]]. }
    assert (T : 0 < sum n (fun i => w (q i))).
    { apply sum_pos; [intros i Hi; apply Rlt_le, W, (open_below_1 n); assumption|].
      exists j. split; [exact Hj|apply W, (open_below_1 n); assumption]. }
    set (s := sum n (fun i => Rpower (q i) beta)) in *. set (t := sum n (fun i => w (q i))) in *.
    assert (ST : 0 < s * t) by (apply Rmult_lt_0_compat; assumption). split; intros L.
    - apply (Rmult_le_compat_r (s * t)) in L; [|lra].
      replace (Rpower (q j) beta / s * (s * t)) with (Rpower (q j) beta * t) in L by (field; lra).
      replace (w (q j) / t * (s * t)) with (w (q j) * s) in L by (field; lra). exact L.
    - apply (Rmult_le_reg_r (s * t)); [exact ST|].
      replace (Rpower (q j) beta / s * (s * t)) with (Rpower (q j) beta * t) by (field; lra).
      replace (w (q j) / t * (s * t)) with (w (q j) * s) by (field; lra). exact L. }
  split.
  - intros U m e He E. destruct n as [|[|k]]; [lia|lia|]. set (n := S (S k)) in *.
    pose (q := one_and_rest e m). assert (K : INR (S k) = INR n - 1) by (unfold n; rewrite (S_INR (S k)); ring).
    assert (Q : open_simplex n q).
    { split; [intros [|i] _; unfold q; simpl; lra|]. unfold q, n. rewrite sum_first. cbn [one_and_rest].
      rewrite sum_const, K. lra. }
    assert (P : predicted n q 1) by (apply one_and_rest_predicted_rest; lra).
    pose proof (proj1 (cross q 1%nat Q ltac:(unfold n; lia)) (U q 1%nat Q P)) as L.
    unfold q, n in L. rewrite !(sum_first (S k)) in L. cbn [one_and_rest] in L. rewrite !sum_const, K in L. lra.
  - intros T q j Q P. apply (cross q j Q (proj1 P)). rewrite <- !sum_scale. apply sum_le. intros i Hi.
    pose proof (open_below_1 n q j Hn Q (proj1 P)) as J. pose proof (open_below_1 n q i Hn Q Hi) as I.
    pose proof (proj2 P i Hi) as O. rewrite (Rmult_comm (Rpower (q j) beta)).
    destruct (Rle_lt_dec (1 / INR n) (q i)) as [A|A]; [apply M; lra|].
    (* the tied classes that leave q i *)
    pose (m := (1 - q i) / (INR n - 1)). assert (E : (INR n - 1) * m = 1 - q i) by (unfold m; field; lra).
    assert (N1 : INR n * (1 / INR n) = 1) by (field; lra).
    assert (A1 : INR n * q i < 1) by (rewrite <- N1; apply Rmult_lt_compat_l; lra).
    assert (M1 : 1 / INR n <= m).
    { apply (Rmult_le_reg_l (INR n - 1)); [lra|]. rewrite E. lra. }
    assert (M2 : m <= q j).
    { apply (Rmult_le_reg_l (INR n - 1)); [lra|]. rewrite E. apply top_beside; assumption. }
    pose proof (T m (q i) ltac:(lra) ltac:(lra)) as T1. pose proof (M m (q j) ltac:(lra) ltac:(lra)) as T2.
    pose proof (exp_pos (beta * ln m)) as R1. pose proof (exp_pos (beta * ln (q j))) as R2.
    pose proof (exp_pos (beta * ln (q i))) as R3.
    change (exp (beta * ln m)) with (Rpower m beta) in R1. change (exp (beta * ln (q j))) with (Rpower (q j) beta) in R2.
    change (exp (beta * ln (q i))) with (Rpower (q i) beta) in R3.
    apply (Rmult_le_reg_r (Rpower m beta)); [exact R1|].
    apply (Rle_trans _ (w m * Rpower (q i) beta * Rpower (q j) beta)).
    + apply (Rmult_le_compat_r (Rpower (q j) beta)) in T1; lra.
    + apply (Rmult_le_compat_r (Rpower (q i) beta)) in T2; lra.
Qed.

(* not vacuous: of cross-entropy, w(q) = q, temperature 1 bounds three classes and is the map itself *)
Example kk24_upper_temperature_example : bounds_from_below (fun q => q) 3 1.
Proof.
  assert (N : 0 < 1 / INR 3) by (apply Rdiv_lt_0_compat; [lra|apply lt_0_INR; lia]).
  apply kk24_upper_temperature_tied; [lia|lra|intros q H; lra| |].
  - intros x y [A B] _. rewrite !Rpower_1 by lra. lra.
  - intros m e He _. rewrite !Rpower_1 by lra. lra.
Qed.
