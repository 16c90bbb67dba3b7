(* L25 section 4.2, Theorem A.2 (App. A.5): focal calibration loss keeps the order of the classes.

   L25: "The Focal Calibration Loss is classification-calibrated; that is, it satisfies the Strictly Order-Preserving
   Property": p_i > p_j implies q_i > q_j at the minimiser q of the pointwise conditional risk.

   Faithful: exact for that implication, for every number of classes, every p of the simplex (zeros included) and all real
   gamma, lambda >= 0. L25's formulas are lost from the text at hand; the words 'suppose ..., we need to show that ...' and
   'if ..., it must be that ...' leave no other reading. L25's proof uses a Lagrange multiplier, so does this one. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4 L25_FocalCalibrationLoss.
Open Scope R_scope.

Lemma focal_slope_negative gamma q : 0 <= gamma -> 0 < q < 1 -> focal_slope gamma q < 0.
Proof.
  intros G H. rewrite focal_slope_gain by exact H. pose proof (gain_pos gamma q G H).
  assert (0 < gain gamma q / q) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Theorem l25_order_preserving n gamma lambda p q i j : 0 <= gamma -> 0 <= lambda ->
  simplex n p -> minimises n (fcl n gamma lambda) p q -> (i < n)%nat -> (j < n)%nat -> p j < p i -> q j < q i.
Proof.
  intros G L P M I J O. apply Rnot_le_lt. intro C.
  destruct M as (Sq & Su & M0). pose proof (conj Sq (conj Su M0)) as M. clear M0.
  pose proof (proj1 P j J) as Pj. pose proof (Su i I ltac:(lra)) as Qi.
  assert (D : i <> j) by (intros ->; lra).
  pose proof (sum_two n q i j (proj1 Sq) I J D) as T. rewrite (proj2 Sq) in T.
  pose proof (minimiser_slopes n gamma lambda p q i j P M I J Qi ltac:(lra)) as E. unfold slope in E.
  pose proof (focal_slope_negative gamma (q j) G ltac:(lra)) as N.
  assert (K : focal_slope gamma (q i) <= focal_slope gamma (q j)).
  { destruct C as [C|C]; [left; apply focal_slope_increasing; lra|rewrite C; lra]. }
  assert (p i * focal_slope gamma (q i) <= p i * focal_slope gamma (q j)) by (apply Rmult_le_compat_l; lra).
  assert (p i * focal_slope gamma (q j) < p j * focal_slope gamma (q j)) by nra.
  assert (lambda * (q i - p i) <= lambda * (q j - p j)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(* so the most probable class stays the most probable: Bayes-optimal decisions, L25 Def. 4.3.
   Faithfulness: equivalent to Def. 4.3 at a minimiser. *)
Theorem l25_classification_calibrated n gamma lambda p q i : 0 <= gamma -> 0 <= lambda ->
  simplex n p -> minimises n (fcl n gamma lambda) p q -> (i < n)%nat ->
  (forall k, (k < n)%nat -> q k <= q i) -> (forall k, (k < n)%nat -> p k <= p i).
Proof.
  intros G L P M I H k K. apply Rnot_lt_le. intro O.
  pose proof (l25_order_preserving n gamma lambda p q k i G L P M K I O). specialize (H k K). lra.
Qed.

Definition two (x : R) : nat -> R := fun i => if Nat.eqb i 0 then x else 1 - x.

Lemma two_simplex x : 0 <= x <= 1 -> simplex 2 (two x).
Proof.
  intros H. split; [|unfold two; simpl; ring].
  intros i I. unfold two. destruct (Nat.eqb i 0); lra.
Qed.

(* not vacuous: for all gamma, lambda >= 0 every (x, 1 - x) is the minimiser for one p = (p, 1 - p), 0 < p < 1.
   Faithfulness: related: an example that the hypothesis 'q is a minimiser' is met. *)
Theorem l25_minimisers_exist gamma lambda x : 0 <= gamma -> 0 <= lambda -> 0 < x < 1 ->
  exists p, 0 < p < 1 /\ minimises 2 (fcl 2 gamma lambda) (two p) (two x).
Proof.
  intros G L X. pose proof (focal_slope_negative gamma x G X) as A.
  pose proof (focal_slope_negative gamma (1 - x) G ltac:(lra)) as B.
  set (a := - focal_slope gamma x) in *. set (b := - focal_slope gamma (1 - x)) in *.
  assert (D : 0 < 4 * lambda + a + b) by (unfold a, b; lra).
  set (p := (4 * lambda * x + b) / (4 * lambda + a + b)).
  assert (P : 0 < p < 1).
  { assert (0 <= lambda * x) by (apply Rmult_le_pos; lra). assert (0 <= lambda * (1 - x)) by (apply Rmult_le_pos; lra).
    unfold p. split; [apply Rdiv_lt_0_compat; unfold a, b in *; lra|].
    apply (Rmult_lt_reg_r (4 * lambda + a + b)); [exact D|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    unfold a, b in *. lra. }
  exists p. split; [exact P|].
  apply (slopes_suffice 2 gamma lambda (two p) (two x) (slope gamma lambda (two p) (two x) 0)); try assumption.
  - apply two_simplex. lra.
  - apply two_simplex. lra.
  - intros i _ _. unfold two. destruct (Nat.eqb i 0); lra.
  - intros i _. unfold two. destruct (Nat.eqb i 0); lra.
  - intros i I _. destruct i as [|[|i]]; [reflexivity| |lia].
    unfold slope, two; simpl. fold a b.
    replace (focal_slope gamma x) with (- a) by (unfold a; ring).
    replace (focal_slope gamma (1 - x)) with (- b) by (unfold b; ring).
    assert (E : p * (4 * lambda + a + b) = 4 * lambda * x + b) by (unfold p; field; lra). lra.
  - intros i _ Z. exfalso. unfold two in Z. destruct (Nat.eqb i 0); lra.
Qed.

(* not vacuous: gamma = 2, lambda = 1; (3/4, 1/4) is the minimiser for some truth (p, 1 - p) with p > 1/2 *)
Example l25_order_preserving_example : exists p, 1 / 2 < p < 1 /\ minimises 2 (fcl 2 2 1) (two p) (two (3 / 4)).
Proof.
  destruct (l25_minimisers_exist 2 1 (3 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as [p [P M]]. exists p. split; [|exact M].
  pose proof (minimiser_slopes 2 2 1 (two p) (two (3 / 4)) 0 1 (two_simplex p ltac:(lra)) M ltac:(lia) ltac:(lia)
    ltac:(unfold two; simpl; lra) ltac:(unfold two; simpl; lra)) as E.
  unfold slope, two in E. simpl in E. pose proof (focal_slope_negative 2 (1 - 3 / 4) ltac:(lra) ltac:(lra)) as N.
  pose proof (focal_slope_increasing 2 (1 - 3 / 4) (3 / 4) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as I. nra.
Qed.
