(* What L25 says of focal loss alone: FCL with lambda = 0. *)

From Coq Require Import Reals Lra Lia.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4 L25_FocalCalibrationLoss L25_OrderPreserving L25_NotProper M20_AppH M20_Entropy.
Open Scope R_scope.

(* 'Focal loss is not a proper scoring rule': it 'is classification-calibrated, it is not strictly proper' (l25.focal_improper).
   Faithful: exact, for every n >= 2 and every real gamma > 0; classification-calibrated: the classes that its minimiser makes most
   probable are most probable. *)
Theorem l25_focal_improper n gamma : (2 <= n)%nat -> 0 < gamma ->
  ~ proper n (focal_loss_n gamma) /\ ~ strictly_proper n (focal_loss_n gamma) /\
  (forall p q i, simplex n p -> minimises n (focal_loss_n gamma) p q -> (i < n)%nat ->
     (forall k, (k < n)%nat -> q k <= q i) -> forall k, (k < n)%nat -> p k <= p i).
Proof.
  intros N G.
  assert (A : ~ proper n (focal_loss_n gamma)).
  { intros H. apply (l25_not_proper n gamma 0 N G). intros p q P Q S. specialize (H p q P Q S).
    rewrite !fcl_risk by apply P. lra. }
  split; [exact A|]. split.
  - intros H. apply A. intros p q P Q S. apply (H p q P Q S).
  - intros p q i P M I. apply (l25_classification_calibrated n gamma 0 p q i); [lra|lra|exact P| |exact I].
    apply minimises_focal; assumption.
Qed.

(* 'Focal loss often yields higher-entropy predictions, leading to underconfident outputs even when the true probability is near 0
   or 1' (l25.higher_entropy_two_classes). Faithful: exact: for every truth but 0, 1/2 and 1. *)
Theorem l25_higher_entropy gamma p x : 0 < gamma -> 0 < p < 1 -> p <> 1 / 2 ->
  minimises 2 (focal_loss_n gamma) (two p) (two x) ->
  entropy 2 (two p) < entropy 2 (two x) /\ Rmax x (1 - x) < Rmax p (1 - p).
Proof.
  intros G P N M. pose proof (m20_entropy_binary gamma p x G P N M) as E. split; [exact E|].
  assert (X0 : 0 < x) by (destruct M as (_ & U & _); apply (U 0%nat); [lia|unfold two; simpl; lra]).
  assert (X1 : 0 < 1 - x) by (destruct M as (_ & U & _); apply (U 1%nat); [lia|unfold two; simpl; lra]).
  rewrite !entropy_two_classes in E.
  assert (T : forall y, 0 < y < 1 -> entropy_2 (Rmax y (1 - y)) = entropy_2 y /\ 1 / 2 <= Rmax y (1 - y) < 1).
  { intros y Y. unfold Rmax. destruct (Rle_dec y (1 - y)); split; try lra; try reflexivity. apply entropy_2_mirror. }
  destruct (T x ltac:(lra)) as [Ex Rx]. destruct (T p P) as [Ep Rp]. rewrite <- Ex, <- Ep in E.
  apply Rnot_le_lt. intros [L|L].
  - pose proof (entropy_2_decreasing (Rmax p (1 - p)) (Rmax x (1 - x)) ltac:(lra) L ltac:(lra)). lra.
  - rewrite L in E. lra.
Qed.

(* not vacuous: gamma = 2 and two classes; (3/4, 1/4) is the minimiser for some truth (p, 1 - p), which is further from (1/2, 1/2)
   and has less entropy *)
Example l25_focal_loss_example : ~ proper 2 (focal_loss_n 2) /\ exists p, 3 / 4 < p < 1 /\
  minimises 2 (focal_loss_n 2) (two p) (two (3 / 4)) /\ entropy 2 (two p) < entropy 2 (two (3 / 4)).
Proof.
  split; [apply (l25_focal_improper 2 2); [lia|lra]|].
  destruct (m20_entropy_example 2 (3 / 4) ltac:(lra) ltac:(lra)) as [p [P M]]. exists p.
  pose proof (two_simplex p ltac:(lra)) as S.
  pose proof (minimiser_slopes 2 2 0 (two p) (two (3 / 4)) 0 1 S (proj1 (minimises_focal 2 2 _ _ S) M) ltac:(lia) ltac:(lia)
    ltac:(unfold two; simpl; lra) ltac:(unfold two; simpl; lra)) as E.
  unfold slope, two in E. simpl in E. rewrite !focal_slope_gain in E by lra.
  pose proof (solution_nearer 2 p (3 / 4) ltac:(lra) P ltac:(lra) ltac:(lra) ltac:(lra)) as N.
  split; [lra|]. split; [exact M|]. apply (l25_higher_entropy 2 p (3 / 4)); try lra. exact M.
Qed.
