(* KK24 Prop. 4, 'based on the same reasoning as for binary case, we can see that p-hat(q) is a bijection': what the reasoning
   is in n classes, the increasing weight and the one factor c that makes the preimage sum to 1. *)

From Coq Require Import Reals Lra Lia.
From Focal Require Import Focal Sums Calculus FocalLoss Weight.
Open Scope R_scope.

(* Faithfulness: exact for 'w increases' (kk24.prop4_bijection), onto (0, infinity) besides. *)
Theorem kk24_weight_increases_onto gamma : 0 < gamma ->
  (forall q r, 0 < q -> q < r -> r < 1 -> weight gamma q < weight gamma r) /\
  (forall y, 0 < y -> exists q, 0 < q < 1 /\ weight gamma q = y).
Proof.
  intros G. split; [intros q r; apply weight_increasing; lra|].
  intros y Y. destruct (weight_onto gamma y G Y) as [q Q]. exists q. exact Q.
Qed.

(* Faithfulness: exact for 'exactly one c makes the preimage sum to 1' (kk24.prop4_bijection), classes without probability included. *)
Theorem kk24_one_normaliser n gamma p : 0 < gamma -> simplex n p -> (forall i, (i < n)%nat -> p i < 1) ->
  exists! c, 0 < c /\ exists q, simplex n q /\
    forall i, (i < n)%nat -> (p i = 0 -> q i = 0) /\ (0 < p i -> 0 < q i < 1 /\ weight gamma (q i) = c * p i).
Proof.
  intros G P N. destruct (normaliser gamma G n p P N) as [c [C E]]. exists c. split.
  - split; [exact C|]. exists (fun i => unweight gamma G (c * p i)). split.
    + split; [|exact E]. intros i Hi. apply unweight_range. apply Rmult_le_pos; [lra|apply P; exact Hi].
    + intros i Hi. split; intros H.
      * rewrite H, Rmult_0_r. apply unweight_0.
      * apply unweight_spec. apply Rmult_lt_0_compat; assumption.
  - assert (Order : forall a b q r, a < b -> 0 < a -> simplex n q -> simplex n r ->
      (forall i, (i < n)%nat -> (p i = 0 -> q i = 0) /\ (0 < p i -> 0 < q i < 1 /\ weight gamma (q i) = a * p i)) ->
      (forall i, (i < n)%nat -> (p i = 0 -> r i = 0) /\ (0 < p i -> 0 < r i < 1 /\ weight gamma (r i) = b * p i)) -> False).
    { intros a b q r L A [_ Q] [_ R] Hq Hr.
      assert (Lt : forall i, (i < n)%nat -> 0 < p i -> q i < r i).
      { intros i Hi Pi. destruct (proj2 (Hq i Hi) Pi) as [Q1 Q2]. destruct (proj2 (Hr i Hi) Pi) as [R1 R2].
        assert (a * p i < b * p i) by (apply Rmult_lt_compat_r; assumption).
        apply Rnot_le_lt. intros [K|K]; [|rewrite K in *; lra].
        pose proof (weight_increasing gamma (r i) (q i) ltac:(lra) ltac:(lra) K ltac:(lra)). lra. }
      destruct (find_positive n p ltac:(rewrite (proj2 P); lra)) as [i [Hi Pi]].
      assert (Le : forall k, (k < n)%nat -> q k <= r k).
      { intros k Hk. destruct (proj1 P k Hk) as [K|K]; [apply Rlt_le, Lt; assumption|].
        rewrite (proj1 (Hq k Hk)), (proj1 (Hr k Hk)) by lra. lra. }
      pose proof (sum_le_eq n q r Le ltac:(lra) i Hi). specialize (Lt i Hi Pi). lra. }
    intros b [B [r [R Hr]]].
    assert (Own : forall i, (i < n)%nat -> (p i = 0 -> unweight gamma G (c * p i) = 0) /\
      (0 < p i -> 0 < unweight gamma G (c * p i) < 1 /\ weight gamma (unweight gamma G (c * p i)) = c * p i)).
    { intros i Hi. split; intros H; [rewrite H, Rmult_0_r; apply unweight_0|].
      apply unweight_spec. apply Rmult_lt_0_compat; assumption. }
    assert (S : simplex n (fun i => unweight gamma G (c * p i))).
    { split; [|exact E]. intros i Hi. apply unweight_range. apply Rmult_le_pos; [lra|apply P; exact Hi]. }
    destruct (Rtotal_order c b) as [L|[L|L]]; [exfalso|exact L|exfalso].
    + exact (Order c b _ r L C S R Own Hr).
    + exact (Order b c r _ L B R S Hr Own).
Qed.

(* not vacuous: two equal classes *)
Example kk24_one_normaliser_half : simplex 2 (fun _ => 1 / 2) /\ forall i, (i < 2)%nat -> (fun _ : nat => 1 / 2) i < 1.
Proof. split; [split; [intros; lra|simpl; field]|intros; lra]. Qed.
