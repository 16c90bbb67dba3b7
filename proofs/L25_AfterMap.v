(* L25 Def. 3.1 by KK24's way of Prop. 4: focal calibration loss is strictly proper after a map.

   Where it predicts q, p_i = q_i (2 lambda q_i + g) / (2 lambda q_i + g(q_i)), with g the mean of the g(q_j) in the weights
   v_j = q_j / (2 lambda q_j + g(q_j)). Neither L25 nor KK24 has it. Faithful: ours (l25.proper_after_map), exact, for every number
   of classes from two on, all real gamma, lambda >= 0 and truths inside the simplex. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4 L25_FocalCalibrationLoss L25_NotProper L25_Bias.
Open Scope R_scope.

Section Map.
Variables (n : nat) (gamma lambda : R).
Hypotheses (N : (2 <= n)%nat) (G : 0 <= gamma) (L : 0 <= lambda).

Definition share (v : R) : R := v / (2 * lambda * v + gain gamma v).
Definition mean_gain_of (q : nat -> R) : R := sum n (fun j => share (q j) * gain gamma (q j)) / sum n (fun j => share (q j)).
Definition after_map (q : nat -> R) (i : nat) : R :=
  q i * ((2 * lambda * q i + mean_gain_of q) / (2 * lambda * q i + gain gamma (q i))).

Lemma denominator_pos v : 0 < v < 1 -> 0 < 2 * lambda * v + gain gamma v.
Proof. intros V. pose proof (gain_pos gamma v G V). assert (0 <= lambda * v) by (apply Rmult_le_pos; lra). lra. Qed.

Lemma share_pos v : 0 < v < 1 -> 0 < share v.
Proof. intros V. apply Rdiv_lt_0_compat; [lra|apply denominator_pos, V]. Qed.

Lemma shares_pos q : open_simplex n q -> 0 < sum n (fun j => share (q j)).
Proof.
  intros Q. apply sum_pos.
  - intros i I. left. apply share_pos, (interior_lt_1 n); assumption.
  - exists 0%nat. split; [lia|]. apply share_pos, (interior_lt_1 n); [exact N|exact Q|lia].
Qed.

Lemma mean_gain_of_pos q : open_simplex n q -> 0 < mean_gain_of q.
Proof.
  intros Q. apply Rdiv_lt_0_compat; [|apply shares_pos, Q].
  assert (S : forall i, (i < n)%nat -> 0 < share (q i) * gain gamma (q i)).
  { intros i I. pose proof (interior_lt_1 n q i N Q I) as B.
    apply Rmult_lt_0_compat; [apply share_pos, B|apply gain_pos; assumption]. }
  apply sum_pos; [intros i I; left; apply S, I|]. exists 0%nat. split; [lia|]. apply S. lia.
Qed.

(* what stationarity with the common slope mu says of the truth *)
Lemma truth_of_slope p q i mu : 0 < q i < 1 ->
  slope gamma lambda p q i = mu <-> p i = q i * ((2 * lambda * q i - mu) / (2 * lambda * q i + gain gamma (q i))).
Proof.
  intros B. pose proof (denominator_pos (q i) B) as D. unfold slope. rewrite focal_slope_gain by exact B. split.
  - intros E. apply (Rmult_eq_reg_r (2 * lambda * q i + gain gamma (q i))); [|lra].
    replace (q i * ((2 * lambda * q i - mu) / (2 * lambda * q i + gain gamma (q i))) * (2 * lambda * q i + gain gamma (q i)))
      with (q i * (2 * lambda * q i - mu)) by (field; lra).
    rewrite <- E. field. lra.
  - intros E. rewrite E. field. lra.
Qed.

(* probabilities that sum to 1 leave one slope: minus the mean *)
Lemma slope_of_sums p q mu : open_simplex n q -> sum n p = 1 ->
  (forall i, (i < n)%nat -> p i = q i * ((2 * lambda * q i - mu) / (2 * lambda * q i + gain gamma (q i)))) ->
  mu = - mean_gain_of q.
Proof.
  intros Q S E. pose proof (shares_pos q Q) as P.
  assert (Z : sum n (fun i => share (q i) * gain gamma (q i)) + mu * sum n (fun i => share (q i)) = 0).
  { rewrite <- sum_scale, <- sum_plus, <- (Rminus_diag_eq 1 1 eq_refl). rewrite <- (proj2 Q) at 1. rewrite <- S, <- sum_minus.
    apply sum_ext. intros i I. pose proof (denominator_pos (q i) (interior_lt_1 n q i N Q I)).
    rewrite (E i I). unfold share. field. lra. }
  unfold mean_gain_of. apply (Rmult_eq_reg_r (sum n (fun j => share (q j)))); [|lra].
  replace (- (sum n (fun j => share (q j) * gain gamma (q j)) / sum n (fun j => share (q j))) * sum n (fun j => share (q j)))
    with (- sum n (fun j => share (q j) * gain gamma (q j))) by (field; lra). lra.
Qed.

Lemma minimiser_inside p q : open_simplex n p -> minimises n (fcl n gamma lambda) p q -> open_simplex n q.
Proof. intros P (Q & S & _). split; [|apply Q]. intros i I. apply S; [exact I|apply P, I]. Qed.

Lemma minimiser_slope p q : open_simplex n p -> minimises n (fcl n gamma lambda) p q ->
  forall i, (i < n)%nat -> slope gamma lambda p q i = slope gamma lambda p q 0.
Proof.
  intros P M i I. pose proof (minimiser_inside p q P M) as Q.
  apply (minimiser_slopes n gamma lambda p q); [apply open_closed, P|exact M|exact I|lia|apply Q, I|apply Q; lia].
Qed.

Lemma after_map_recovers p q : open_simplex n p -> minimises n (fcl n gamma lambda) p q ->
  forall i, (i < n)%nat -> after_map q i = p i.
Proof.
  intros P M. pose proof (minimiser_inside p q P M) as Q.
  assert (E : forall i, (i < n)%nat ->
    p i = q i * ((2 * lambda * q i - slope gamma lambda p q 0) / (2 * lambda * q i + gain gamma (q i)))).
  { intros i I. apply truth_of_slope; [apply (interior_lt_1 n); assumption|]. apply minimiser_slope; assumption. }
  intros i I. rewrite (E i I), (slope_of_sums p q _ Q (proj2 P) E). unfold after_map. do 2 f_equal. ring.
Qed.

Lemma after_map_simplex q : open_simplex n q -> open_simplex n (after_map q).
Proof.
  intros Q. pose proof (mean_gain_of_pos q Q) as M. pose proof (shares_pos q Q) as P. split.
  - intros i I. pose proof (interior_lt_1 n q i N Q I) as B. pose proof (denominator_pos (q i) B).
    assert (0 <= lambda * q i) by (apply Rmult_le_pos; lra).
    apply Rmult_lt_0_compat; [lra|apply Rdiv_lt_0_compat; lra].
  - assert (Z : sum n q - sum n (after_map q) = 0).
    { rewrite <- sum_minus. rewrite (sum_ext n _ (fun i => share (q i) * gain gamma (q i) - mean_gain_of q * share (q i))).
      - rewrite sum_minus, sum_scale. unfold mean_gain_of. field. lra.
      - intros i I. pose proof (denominator_pos (q i) (interior_lt_1 n q i N Q I)). unfold after_map, share. field. lra. }
    rewrite (proj2 Q) in Z. lra.
Qed.

Lemma after_map_predicts q : open_simplex n q -> minimises n (fcl n gamma lambda) (after_map q) q.
Proof.
  intros Q. pose proof (after_map_simplex q Q) as P.
  apply (slopes_suffice n gamma lambda (after_map q) q (- mean_gain_of q)); try assumption.
  - apply open_closed, P.
  - apply open_closed, Q.
  - intros i I _. apply Q, I.
  - intros i I. apply (interior_lt_1 n); assumption.
  - intros i I _. apply truth_of_slope; [apply (interior_lt_1 n); assumption|]. unfold after_map. do 2 f_equal. ring.
  - intros i I Z. pose proof (proj1 Q i I). lra.
Qed.

Lemma minimiser_unique p q r : open_simplex n p -> minimises n (fcl n gamma lambda) p q -> minimises n (fcl n gamma lambda) p r ->
  forall i, (i < n)%nat -> q i = r i.
Proof.
  assert (W : forall q r, open_simplex n p -> minimises n (fcl n gamma lambda) p q -> minimises n (fcl n gamma lambda) p r ->
    slope gamma lambda p q 0 <= slope gamma lambda p r 0 -> forall i, (i < n)%nat -> q i = r i).
  { intros x y P X Y S. pose proof (minimiser_inside p x P X) as Qx. pose proof (minimiser_inside p y P Y) as Qy.
    apply (sum_le_eq n); [|rewrite (proj2 Qx), (proj2 Qy); reflexivity].
    intros i I. apply Rnot_lt_le. intros D.
    pose proof (interior_lt_1 n x i N Qx I). pose proof (interior_lt_1 n y i N Qy I).
    pose proof (focal_slope_increasing gamma (y i) (x i) G ltac:(lra) D ltac:(lra)) as A.
    pose proof (minimiser_slope p x P X i I) as Ex. pose proof (minimiser_slope p y P Y i I) as Ey. unfold slope in *.
    pose proof (proj1 P i I) as Pi. apply (Rmult_lt_compat_l (p i)) in A; [|exact Pi].
    assert (lambda * (y i - p i) <= lambda * (x i - p i)) by (apply Rmult_le_compat_l; lra). lra. }
  intros P Q R. destruct (Rle_lt_dec (slope gamma lambda p q 0) (slope gamma lambda p r 0)) as [S|S].
  - apply W; assumption.
  - intros i I. symmetry. revert i I. apply W; try assumption. lra.
Qed.
End Map.

(* Each truth inside the simplex has one prediction, which the map leads back to it; each prediction is that of one truth.
   Faithfulness: ours (l25.proper_after_map), exact. *)
Theorem l25_proper_after_map n gamma lambda : (2 <= n)%nat -> 0 <= gamma -> 0 <= lambda ->
  (forall p, open_simplex n p -> exists q, open_simplex n q /\ minimises n (fcl n gamma lambda) p q /\
    (forall r, minimises n (fcl n gamma lambda) p r -> forall i, (i < n)%nat -> r i = q i) /\
    forall i, (i < n)%nat -> after_map n gamma lambda q i = p i) /\
  (forall q, open_simplex n q -> open_simplex n (after_map n gamma lambda q) /\
    minimises n (fcl n gamma lambda) (after_map n gamma lambda q) q).
Proof.
  intros N G L. split.
  - intros p P. destruct (l25_minimiser_exists n gamma lambda p N G L P) as [q [Q M]]. exists q.
    split; [exact Q|]. split; [exact M|]. split.
    + intros r R. apply (minimiser_unique n gamma lambda N G L p); assumption.
    + apply after_map_recovers; assumption.
  - intros q Q. split; [apply after_map_simplex|apply after_map_predicts]; assumption.
Qed.

Example l25_proper_after_map_two : minimises 2 (fcl 2 1 1) (after_map 2 1 1 (fun _ => 1 / 2)) (fun _ => 1 / 2).
Proof.
  apply (proj2 (l25_proper_after_map 2 1 1 ltac:(lia) ltac:(lra) ltac:(lra))).
  split; [intros i _; lra|simpl; lra].
Qed.
