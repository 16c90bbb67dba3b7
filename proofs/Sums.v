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

Lemma simplex_le_1 n q i : simplex n q -> (i < n)%nat -> 0 <= q i <= 1.
Proof. intros [H E] Hi. split; [auto|]. rewrite <- E. apply sum_term; auto. Qed.

(* with one probability 1 all others are 0 *)
Lemma simplex_vertex n q i j : simplex n q -> (i < n)%nat -> (j < n)%nat -> i <> j -> q i = 1 -> q j = 0.
Proof.
  intros [H E] Hi Hj D V. pose proof (sum_two n q i j H Hi Hj D). specialize (H j Hj). lra.
Qed.

(* one summand apart *)
Lemma sum_remove n f a : (a < n)%nat -> sum n f = f a + sum n (fun i => if PeanoNat.Nat.eq_dec i a then 0 else f i).
Proof.
  induction n; intros Ha; [lia|]. simpl. destruct (PeanoNat.Nat.eq_dec n a) as [->|D].
  - rewrite (sum_ext a (fun i => if PeanoNat.Nat.eq_dec i a then 0 else f i) f); [ring|].
    intros i Hi. destruct (PeanoNat.Nat.eq_dec i a); [lia|reflexivity].
  - rewrite IHn by lia. ring.
Qed.

(* one summand changed *)
Lemma sum_changed n f a c : (a < n)%nat -> sum n (fun i => if Nat.eqb i a then c else f i) = sum n f + (c - f a).
Proof.
  induction n; intros H; [lia|]. simpl. destruct (Nat.eq_dec n a) as [->|N].
  - rewrite Nat.eqb_refl. rewrite (sum_ext a _ f); [ring|].
    intros i Hi. destruct (Nat.eqb_spec i a); [lia|reflexivity].
  - destruct (Nat.eqb_spec n a); [contradiction|]. rewrite IHn by lia. ring.
Qed.

(* all weight on one class *)
Lemma sum_vertex n p f a : (a < n)%nat -> p a = 1 -> (forall i, (i < n)%nat -> i <> a -> p i = 0) ->
  sum n (fun i => p i * f i) = f a.
Proof.
  intros Ha V Z. rewrite (sum_remove n _ a Ha), V.
  rewrite (sum_ext n _ (fun _ => 0)).
  - rewrite sum_const. ring.
  - intros i Hi. destruct (PeanoNat.Nat.eq_dec i a) as [E|D]; [reflexivity|]. rewrite (Z i Hi D). ring.
Qed.

(* either one class has probability 1, or none has *)
Lemma vertex_dec n (q : nat -> R) :
  {k | (k < n)%nat /\ 1 <= q k} + {forall i, (i < n)%nat -> q i < 1}.
Proof.
  induction n.
  - right. intros i Hi. lia.
  - destruct IHn as [[k [Hk K]]|N].
    + left. exists k. split; [lia|exact K].
    + destruct (Rle_dec 1 (q n)) as [L|L].
      * left. exists n. split; [lia|exact L].
      * right. intros i Hi. destruct (PeanoNat.Nat.eq_dec i n) as [->|D]; [lra|apply N; lia].
Qed.

(* a class of positive probability, found *)
Lemma find_positive n (f : nat -> R) : 0 < sum n f -> {i | (i < n)%nat /\ 0 < f i}.
Proof.
  induction n; simpl; intros H; [lra|].
  destruct (Rlt_dec 0 (f n)) as [P|P]; [exists n; split; [lia|exact P]|].
  destruct IHn as [i [Hi Pi]]; [lra|]. exists i. split; [lia|exact Pi].
Qed.

Lemma simplex_dec n p : {simplex n p} + {~ simplex n p}.
Proof.
  assert (D : {forall i, (i < n)%nat -> 0 <= p i} + {~ forall i, (i < n)%nat -> 0 <= p i}).
  { induction n.
    - left. intros i Hi. lia.
    - destruct IHn as [A|A].
      + destruct (Rle_dec 0 (p n)) as [L|L].
        * left. intros i Hi. destruct (PeanoNat.Nat.eq_dec i n) as [->|Q]; [exact L|apply A; lia].
        * right. intros B. apply L. apply B. lia.
      + right. intros B. apply A. intros i Hi. apply B. lia. }
  destruct D as [A|A]; [|right; intros [B _]; contradiction].
  destruct (Req_EM_T (sum n p) 1) as [E|E]; [left; split; assumption|right; intros [_ B]; contradiction].
Qed.
