(* Sums over classes: what all theorems on n classes need of [sum]. *)

From Coq Require Import Reals Lra Lia.
From Focal Require Import Focal.
Open Scope R_scope.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn, H; auto; lia. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; ring|]. rewrite S_INR. simpl. rewrite IHn. ring. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  apply Rplus_le_compat; [apply IHn; auto|apply H; lia].
Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. rewrite <- (Rmult_0_r (INR n)), <- sum_const. apply sum_le. exact H. Qed.

(* one summand is at most the sum of non-negative ones *)
Lemma sum_term n f i : (forall k, (k < n)%nat -> 0 <= f k) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n; simpl; intros H Hi; [lia|].
  assert (0 <= sum n f) by (apply sum_nonneg; auto).
  assert (0 <= f n) by auto.
  destruct (PeanoNat.Nat.eq_dec i n) as [->|D]; [lra|].
  assert (f i <= sum n f) by (apply IHn; auto; lia). lra.
Qed.

Lemma sum_two n f i j : (forall k, (k < n)%nat -> 0 <= f k) -> (i < n)%nat -> (j < n)%nat -> i <> j ->
  f i + f j <= sum n f.
Proof.
  induction n; simpl; intros H Hi Hj D; [lia|].
  assert (0 <= f n) by auto.
  destruct (PeanoNat.Nat.eq_dec i n) as [->|Di].
  { assert (f j <= sum n f) by (apply sum_term; auto; lia). lra. }
  destruct (PeanoNat.Nat.eq_dec j n) as [->|Dj].
  { assert (f i <= sum n f) by (apply sum_term; auto; lia). lra. }
  assert (f i + f j <= sum n f) by (apply IHn; auto; lia). lra.
Qed.

Lemma sum_pos n f : (forall i, (i < n)%nat -> 0 <= f i) -> (exists i, (i < n)%nat /\ 0 < f i) -> 0 < sum n f.
Proof. intros H [i [Hi P]]. pose proof (sum_term n f i H Hi). lra. Qed.

(* termwise at most, and equal sums: equal terms *)
Lemma sum_le_eq n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f = sum n g ->
  forall i, (i < n)%nat -> f i = g i.
Proof.
  intros H E i Hi.
  assert (g i - f i <= sum n (fun k => g k - f k)).
  { apply (sum_term n (fun k => g k - f k)); auto. intros k Hk. specialize (H k Hk). lra. }
  rewrite sum_minus in H0. specialize (H i Hi). lra.
Qed.

Lemma sum_positive_term n f : 0 < sum n f -> exists i, (i < n)%nat /\ 0 < f i.
Proof.
  induction n; simpl; intros H; [lra|].
  destruct (Rlt_dec 0 (f n)) as [P|P]; [exists n; split; [lia|exact P]|].
  destruct IHn as [i [Hi Pi]]; [lra|]. exists i. split; [lia|exact Pi].
Qed.

Lemma simplex_le_1 n q i : simplex n q -> (i < n)%nat -> 0 <= q i <= 1.
Proof. intros [H E] Hi. split; [auto|]. rewrite <- E. apply sum_term; auto. Qed.

(* with one probability 1 all others are 0 *)
Lemma simplex_vertex n q i j : simplex n q -> (i < n)%nat -> (j < n)%nat -> i <> j -> q i = 1 -> q j = 0.
Proof.
  intros [H E] Hi Hj D V. pose proof (sum_two n q i j H Hi Hj D). specialize (H j Hj). lra.
Qed.
