(* L25 section 4.3, App. A.8: is focal calibration loss strictly proper?

   L25: "We further prove in Appendix A.8 that FCL is strictly proper if [lambda > 0]", "The Focal Calibration Loss is strictly
   proper if and only if [lambda > 0 and ...]", "it is not strictly proper when [lambda = 0]"; A.8, case 2 includes gamma = 0,
   "where it reduces to the cross-entropy loss, which is proper but not strictly proper".

   Refuted both ways, for every number of classes n >= 2: with gamma > 0 it is not even proper, whatever lambda is
   ([l25_not_proper]); with gamma = 0 it is strictly proper, lambda = 0 included. So it is strictly proper exactly for
   gamma = 0 ([l25_strictly_proper_iff]).
   Faithful: the negation is exact under the reading, kept by L25's words around its lost formulas, that lambda is the weight
   of the calibration term; L25 Def. 4.4 is [strictly_proper]. The corrections are ours. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_LogLoss_Proper KK24_Prop4 L25_FocalCalibrationLoss.
Open Scope R_scope.

(* the truth (4/5, 1/5, 0, ...) *)
Definition skewed (i : nat) : R := match i with O => 4 / 5 | S O => 1 / 5 | _ => 0 end.

Lemma skewed_sum m : sum (2 + m) skewed = 1.
Proof. induction m; [simpl; field|]. change (sum (2 + m) skewed + skewed (2 + m) = 1). rewrite IHm. simpl. ring. Qed.

Lemma skewed_simplex n : (2 <= n)%nat -> simplex n skewed.
Proof.
  intros N. split.
  - intros i _. destruct i as [|[|i]]; simpl; lra.
  - replace n with (2 + (n - 2))%nat by lia. apply skewed_sum.
Qed.

(* g(4/5) < g(1/5) for every gamma > 0: 4^gamma > 1 + gamma *)
Lemma gain_skewed gamma : 0 < gamma -> gain gamma (4 / 5) < gain gamma (1 / 5).
Proof.
  intros G. unfold gain. replace (1 - 4 / 5) with (1 / 5) by field. replace (1 - 1 / 5) with (4 / 5) by field.
  pose proof (entropy_ratio_lt_1 (4 / 5) ltac:(lra)) as A. pose proof (entropy_ratio_pos (1 / 5) ltac:(lra)) as B.
  assert (E : Rpower (4 / 5) gamma = Rpower 4 gamma * Rpower (1 / 5) gamma).
  { rewrite Rpower_mult_distr by lra. f_equal. field. }
  pose proof (Rpower_pos (1 / 5) gamma) as P.
  assert (L : 1 < ln 4).
  { rewrite <- (ln_exp 1) at 1. apply ln_increasing; [apply exp_pos|]. pose proof exp_le_3. lra. }
  assert (F : 1 + gamma < Rpower 4 gamma).
  { unfold Rpower. pose proof (exp_ineq1_le (gamma * ln 4)). nra. }
  rewrite E. set (w := Rpower (1 / 5) gamma) in *. set (f := Rpower 4 gamma) in *.
  apply (Rlt_trans _ (w * (1 + gamma))); [apply Rmult_lt_compat_l; nra|].
  apply (Rlt_trans _ (f * w)); [nra|].
  assert (0 < f * w * (gamma * entropy_ratio (1 / 5))).
  { apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat; lra]. apply Rmult_lt_0_compat; lra. }
  lra.
Qed.

(* a proper loss has the truth among its minimisers *)
Lemma proper_minimises n L p : proper n L -> simplex n p -> minimises n L p p.
Proof. intros H P. split; [exact P|]. split; [intros i _ K; exact K|]. intros r R S. apply H; assumption. Qed.

Theorem l25_not_proper n gamma lambda : (2 <= n)%nat -> 0 < gamma -> ~ proper n (fcl n gamma lambda).
Proof.
  intros N G H. pose proof (skewed_simplex n N) as S.
  pose proof (minimiser_slopes n gamma lambda skewed skewed 0 1 S (proper_minimises n _ skewed H S)
    ltac:(lia) ltac:(lia) ltac:(simpl; lra) ltac:(simpl; lra)) as E.
  rewrite !gain_at_truth in E by (simpl; lra). simpl in E. pose proof (gain_skewed gamma G). lra.
Qed.

(* the same in plain words: for every gamma > 0 and lambda some prediction has a smaller expected loss than the truth.
   Faithfulness: equivalent to 'not proper', by a distribution of two classes. *)
Theorem l25_truth_is_beaten n gamma lambda : (2 <= n)%nat -> 0 < gamma ->
  exists q, simplex n q /\ supports n q skewed /\ risk n (fcl n gamma lambda) skewed q < risk n
    (fcl n gamma lambda) skewed skewed.
Proof.
  intros N G. apply Classical_Prop.NNPP. intro H.
  assert (M : minimises n (fcl n gamma lambda) skewed skewed).
  { split; [apply skewed_simplex, N|]. split; [intros i _ K; exact K|]. intros r R S. apply Rnot_lt_le. intro L.
    apply H. exists r. auto. }
  pose proof (minimiser_slopes n gamma lambda skewed skewed 0 1 (skewed_simplex n N) M
    ltac:(lia) ltac:(lia) ltac:(simpl; lra) ltac:(simpl; lra)) as E.
  rewrite !gain_at_truth in E by (simpl; lra). simpl in E. pose proof (gain_skewed gamma G). lra.
Qed.

Lemma focal_loss_gamma_0 q : focal_loss 0 q = log_loss q.
Proof. unfold focal_loss, log_loss, Rpower. rewrite Rmult_0_l, exp_0. ring. Qed.

Lemma squared_distance_nonneg n q p : 0 <= squared_distance n q p.
Proof. apply sum_nonneg. intros i _. apply Rle_0_sqr. Qed.

Lemma squared_distance_self n p : squared_distance n p p = 0.
Proof. unfold squared_distance. rewrite (sum_ext n _ (fun _ => 0)) by (intros; ring). rewrite sum_const. ring. Qed.

(* gamma = 0: cross-entropy and the square, both proper. Faithfulness: ours, exact. *)
Theorem l25_gamma_0_strictly_proper n lambda : 0 <= lambda -> strictly_proper n (fcl n 0 lambda).
Proof.
  intros L p q P Q S. rewrite !fcl_risk by apply P.
  assert (E : forall r, risk n (focal_loss_n 0) p r = risk n log_loss_n p r).
  { intros r. apply sum_ext. intros i _. unfold focal_loss_n, log_loss_n. rewrite focal_loss_gamma_0. reflexivity. }
  rewrite !E, squared_distance_self. destruct (log_loss_strictly_proper n p q P Q S) as [A B].
  assert (0 <= lambda * squared_distance n q p) by (apply Rmult_le_pos; [exact L|apply squared_distance_nonneg]).
  split; [lra|]. intros C. apply B. lra.
Qed.

Theorem l25_strictly_proper_iff n gamma lambda : (2 <= n)%nat -> 0 <= gamma -> 0 <= lambda ->
  (strictly_proper n (fcl n gamma lambda) <-> gamma = 0).
Proof.
  intros N G L. split.
  - intros H. destruct G as [G|G]; [exfalso|auto]. apply (l25_not_proper n gamma lambda N G).
    intros p q P Q S. apply H; assumption.
  - intros ->. apply l25_gamma_0_strictly_proper, L.
Qed.

(* App. A.7: the square alone is strictly proper *)
Definition brier (n : nat) : loss := fun q y => squared_distance n q (one_hot y).

(* L25 App. A.7: the Brier score is strictly proper. Faithful: exact, against every prediction: this loss is finite also where
   the prediction gives nothing to a class that can come, so [supports] is not asked for, as [strictly_proper] asks. *)
Theorem l25_brier_strictly_proper n p q : simplex n p -> simplex n q ->
  risk n (brier n) p p <= risk n (brier n) p q /\
  (risk n (brier n) p q = risk n (brier n) p p -> forall i, (i < n)%nat -> q i = p i).
Proof.
  intros P Q.
  assert (E : forall r, risk n (brier n) p r = squared_distance n r p + (1 - sum n (fun i => p i * p i))).
  { intros r. pose proof (fcl_risk n 0 1 p r (proj2 P)) as F. pose proof (fcl_risk n 0 0 p r (proj2 P)) as Z.
    assert (D : risk n (fcl n 0 1) p r - risk n (fcl n 0 0) p r = risk n (brier n) p r).
    { unfold risk. rewrite <- sum_minus. apply sum_ext. intros i _. unfold fcl, brier. ring. }
    lra. }
  rewrite !E, squared_distance_self. pose proof (squared_distance_nonneg n q p). split; [lra|].
  intros C i I.
  assert (A : 0 = (q i - p i) * (q i - p i)).
  { apply (sum_le_eq n (fun _ => 0) (fun i => (q i - p i) * (q i - p i))); [intros; apply Rle_0_sqr| |exact I].
    rewrite sum_const, Rmult_0_r. unfold squared_distance in C. lra. }
  symmetry in A. apply Rmult_integral in A. lra.
Qed.

(* ---- where the truth is the minimiser all the same: g the same for every class it can draw ---- *)

(* Faithfulness: ours, exact. *)
Theorem l25_unbiased_iff n gamma lambda p : 0 <= gamma -> 0 <= lambda -> simplex n p ->
  (minimises n (fcl n gamma lambda) p p <->
   forall i j, (i < n)%nat -> (j < n)%nat -> 0 < p i -> 0 < p j -> gain gamma (p i) = gain gamma (p j)).
Proof.
  intros G L P. split.
  - intros M i j I J Pi Pj. destruct (PeanoNat.Nat.eq_dec i j) as [->|D]; [reflexivity|].
    pose proof (sum_two n p i j (proj1 P) I J D) as T. rewrite (proj2 P) in T.
    pose proof (minimiser_slopes n gamma lambda p p i j P M I J Pi Pj) as E.
    rewrite !gain_at_truth in E by lra. lra.
  - intros E. destruct (vertex_dec n p) as [[k [K V]]|N].
    + (* one certain class: its loss is 0, and no loss is smaller *)
      pose proof (simplex_le_1 n p k P K) as B. assert (V1 : p k = 1) by lra.
      assert (Z : forall i, (i < n)%nat -> i <> k -> p i = 0).
      { intros i I D. apply (simplex_vertex n p k i P K I (not_eq_sym D) V1). }
      split; [exact P|]. split; [intros i _ H; exact H|]. intros r R S.
      rewrite !fcl_risk by apply P. rewrite squared_distance_self. unfold risk, focal_loss_n.
      rewrite !(sum_vertex n p _ k K V1 Z), V1, focal_loss_1.
      assert (0 <= lambda * squared_distance n r p) by (apply Rmult_le_pos; [exact L|apply squared_distance_nonneg]).
      assert (0 <= focal_loss gamma (r k)); [|lra].
      pose proof (simplex_le_1 n r k R K). pose proof (S k K ltac:(lra)).
      destruct (Req_dec (r k) 1) as [->|D]; [rewrite focal_loss_1; lra|left; apply focal_loss_positive; lra].
    + destruct (find_positive n p) as [a [A Pa]]; [rewrite (proj2 P); lra|].
      apply (slopes_suffice n gamma lambda p p (- gain gamma (p a))); try assumption.
      * intros i _ H. exact H.
      * intros i I Pi. rewrite gain_at_truth by (specialize (N i I); lra). rewrite (E i a) by assumption. reflexivity.
      * intros i I Zi. pose proof (gain_pos gamma (p a) G ltac:(specialize (N a A); lra)). lra.
Qed.

(* not vacuous: the equal distribution is unbiased *)
Example l25_uniform_unbiased n gamma lambda : (1 <= n)%nat -> 0 <= gamma -> 0 <= lambda ->
  minimises n (fcl n gamma lambda) (fun _ => / INR n) (fun _ => / INR n).
Proof.
  intros N G L. assert (P : 0 < INR n) by (apply lt_0_INR; lia). apply l25_unbiased_iff; try assumption.
  - split; [intros i _; left; apply Rinv_0_lt_compat, P|]. rewrite sum_const. field. lra.
  - reflexivity.
Qed.
