(* L25 Theorem 4.1 (App. A.2), what holds of it: more weight on the square brings the minimiser closer to the truth in Euclidean
   distance; and the norms of App. A.2.

   The formula of Theorem 4.1 is lost from the text at hand. Read from its proof, it compares |max q - max p|, for which
   L25_Thm41_Top.v has a counterexample with ten classes. [l25_thm41_norm] is the correction: ours, equivalent to the
   ledger's l25.thm41_norm, for every number of classes and all real gamma and lambda; nothing of focal loss is used.
   [l25_thm41_norms] are steps 1, 2 and 4 of App. A.2: equivalent under the reading that they say this. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4 L25_FocalCalibrationLoss L25_NotProper L25_Bias.
Open Scope R_scope.

Theorem l25_thm41_norm n gamma lambda mu p q r : lambda < mu -> simplex n p ->
  minimises n (fcl n gamma lambda) p q -> minimises n (fcl n gamma mu) p r ->
  squared_distance n r p <= squared_distance n q p.
Proof.
  intros L P (Sq & Uq & Mq) (Sr & Ur & Mr). specialize (Mq r Sr Ur). specialize (Mr q Sq Uq).
  rewrite !fcl_risk in Mq, Mr by apply P.
  assert (0 <= (mu - lambda) * (squared_distance n q p - squared_distance n r p)) by lra.
  apply Rnot_lt_le. intro C. nra.
Qed.

(* the top probabilities differ by at most the largest difference, that by at most the Euclidean distance.
   Faithfulness: equivalent, both inequalities for every pair of distributions. *)
Theorem l25_thm41_norms n p q i j : (i < n)%nat -> (j < n)%nat ->
  (forall k, (k < n)%nat -> q k <= q i) -> (forall k, (k < n)%nat -> p k <= p j) ->
  (exists k, (k < n)%nat /\ Rabs (q i - p j) <= Rabs (q k - p k)) /\
  (forall k, (k < n)%nat -> Rabs (q k - p k) <= sqrt (squared_distance n q p)).
Proof.
  intros I J Q P. split.
  - destruct (Rle_lt_dec (p j) (q i)) as [L|L].
    + exists i. split; [exact I|]. specialize (P i I). rewrite !Rabs_right; lra.
    + exists j. split; [exact J|]. specialize (Q j J). rewrite !Rabs_left1; lra.
  - intros k K. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt.
    apply (sum_term n (fun i => (q i - p i) * (q i - p i))); [intros; apply Rle_0_sqr|exact K].
Qed.

(* E || q - e_Y ||^2 = || q - p ||^2 + 1 - || p ||^2.
   Faithfulness: equivalent: the paper's expectation over labels, as a sum over the classes. *)
Theorem l25_expected_square n p q : sum n p = 1 ->
  risk n (brier n) p q = squared_distance n q p + (1 - sum n (fun i => p i * p i)).
Proof.
  intros S. pose proof (fcl_risk n 0 1 p q S) as F. pose proof (fcl_risk n 0 0 p q S) as Z.
  assert (D : risk n (fcl n 0 1) p q - risk n (fcl n 0 0) p q = risk n (brier n) p q).
  { unfold risk. rewrite <- sum_minus. apply sum_ext. intros i _. unfold fcl, brier. ring. }
  lra.
Qed.

(* not vacuous: two classes, gamma = 2, the truth (4/5, 1/5), lambda = 0 and 1; [l25_minimiser_exists] gives minimisers for every
   number of classes *)
Example l25_thm41_example : simplex 2 skewed /\ exists q r, minimises 2 (fcl 2 2 0) skewed q /\ minimises 2 (fcl 2 2 1) skewed r /\
  squared_distance 2 r skewed <= squared_distance 2 q skewed.
Proof.
  destruct l25_bias_example as (P & _ & M & _). pose proof (open_closed 2 skewed P) as S.
  destruct (M 0 ltac:(lra)) as [q Q]. destruct (M 1 ltac:(lra)) as [r T]. split; [exact S|]. exists q, r.
  split; [exact Q|]. split; [exact T|]. apply (l25_thm41_norm 2 2 0 1); [lra|exact S|exact Q|exact T].
Qed.
