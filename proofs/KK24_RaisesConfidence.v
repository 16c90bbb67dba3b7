(* Which losses have a map that never lowers the predicted class, whatever the number of classes: beyond KK24 Prop. 5.
   A loss on the probability of the true class alone has the map q_i h(q_i) / sum of q_j h(q_j), with h(q) = - 1 / (q L'(q)):
   for focal loss h = 1 / gain, for temperature scaling h(q) = q^(1/T - 1). *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Confidence.
Open Scope R_scope.

Definition map_of (h : R -> R) (n : nat) (q : nat -> R) (j : nat) : R := q j * h (q j) / sum n (fun i => q i * h (q i)).

Definition raises_confidence (h : R -> R) : Prop :=
  forall n q j, (2 <= n)%nat -> open_simplex n q -> predicted n q j -> q j <= map_of h n q j.

(* of any two classes that can occur together the larger has at least the factor of the smaller *)
Definition spreads_pairs (h : R -> R) : Prop := forall a b, 0 < b <= a -> a + b <= 1 -> h b <= h a.

Definition positive (h : R -> R) : Prop := forall q, 0 < q < 1 -> 0 < h q.

(* h turns at most once; c outside of (0, 1) is a monotone h *)
Definition falls_then_rises (h : R -> R) : Prop := exists c,
  (forall x y, 0 < x <= y -> y <= c -> y < 1 -> h y <= h x) /\ (forall x y, 0 < x <= y -> c <= x -> y < 1 -> h x <= h y).
Definition rises_then_falls (h : R -> R) : Prop := exists c,
  (forall x y, 0 < x <= y -> y <= c -> y < 1 -> h x <= h y) /\ (forall x y, 0 < x <= y -> c <= x -> y < 1 -> h y <= h x).

Lemma two_sum_le_1 n q i j : open_simplex n q -> (i < n)%nat -> (j < n)%nat -> i <> j -> q i + q j <= 1.
Proof.
  intros [P E] Hi Hj D. rewrite <- E. apply sum_two; auto. intros k Hk. apply Rlt_le, P, Hk.
Qed.

Lemma open_below_1 n q i : (2 <= n)%nat -> open_simplex n q -> (i < n)%nat -> 0 < q i < 1.
Proof.
  intros Hn Q Hi. pose (j := match i with O => 1%nat | _ => 0%nat end).
  assert (Hj : (j < n)%nat /\ i <> j) by (unfold j; destruct i; lia). destruct Hj as [Hj D].
  pose proof (two_sum_le_1 n q i j Q Hi Hj D) as S. destruct Q as [P _]. pose proof (P i Hi). pose proof (P j Hj). lra.
Qed.

Lemma weighted_pos h n q : positive h -> (2 <= n)%nat -> open_simplex n q -> 0 < sum n (fun i => q i * h (q i)).
Proof.
  intros H Hn Q. assert (T : forall i, (i < n)%nat -> 0 < q i * h (q i)).
  { intros i Hi. pose proof (open_below_1 n q i Hn Q Hi) as R. apply Rmult_lt_0_compat; [lra|apply H, R]. }
  apply sum_pos; [intros i Hi; apply Rlt_le, T, Hi|]. exists 0%nat. split; [lia|apply T; lia].
Qed.

(* the predicted class is not lowered: its factor is at least the mean factor *)
Lemma raised_iff h n q j : positive h -> (2 <= n)%nat -> open_simplex n q -> (j < n)%nat ->
  (q j <= map_of h n q j <-> sum n (fun i => q i * h (q i)) <= h (q j)).
Proof.
  intros H Hn Q Hj. pose proof (weighted_pos h n q H Hn Q) as S. pose proof (open_below_1 n q j Hn Q Hj) as P.
  unfold map_of. set (s := sum n (fun i => q i * h (q i))) in *. split; intros L.
  - apply (Rmult_le_compat_r s) in L; [|lra].
    replace (q j * h (q j) / s * s) with (q j * h (q j)) in L by (field; lra). apply (Rmult_le_reg_l (q j)); lra.
  - apply (Rmult_le_reg_r s); [exact S|]. replace (q j * h (q j) / s * s) with (q j * h (q j)) by (field; lra).
    apply Rmult_le_compat_l; lra.
Qed.

(* Faithfulness: ours (first half of the ledger's kk24.raises_every_n), exact: where every pair that can occur together is
   spread, the predicted class is never lowered, for no number of classes. *)
Theorem kk24_raises_every_n h : positive h -> spreads_pairs h -> raises_confidence h.
Proof.
  intros H P n q j Hn Q [Hj T]. apply (raised_iff h n q j H Hn Q Hj).
  replace (h (q j)) with (sum n (fun i => h (q j) * q i)) by (rewrite sum_scale, (proj2 Q); ring).
  apply sum_le. intros i Hi. pose proof (open_below_1 n q i Hn Q Hi) as R. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [lra|]. destruct (Nat.eq_dec i j) as [->|D]; [lra|].
  apply P; [split; [lra|apply T, Hi]|]. pose proof (two_sum_le_1 n q i j Q Hi Hj D). lra.
Qed.

Lemma two_classes h x : positive h -> raises_confidence h -> 0 < x <= 1 / 2 -> h x <= h (1 - x).
Proof.
  intros H C Hx. pose (q := one_and_rest (1 - x) x).
  assert (Q : open_simplex 2 q). { split; [intros [|i] _; unfold q; simpl; lra|unfold q; simpl; ring]. }
  assert (T : predicted 2 q 0) by (apply one_and_rest_predicted; lra).
  pose proof (proj1 (raised_iff h 2 q 0 H ltac:(lia) Q ltac:(lia)) (C 2%nat q 0%nat ltac:(lia) Q T)) as L.
  unfold q in L. simpl in L. nra.
Qed.

(* one class at a, the others at most b: one of the numbers of classes lowers a *)
Lemma many_small h a b : positive h -> raises_confidence h -> 0 < b <= a -> a < 1 -> (forall x, 0 < x <= b -> h b <= h x) ->
  h b <= h a.
Proof.
  intros H C Hb Ha M. destruct (archimed ((1 - a) / b)) as [U _].
  assert (D : 0 < (1 - a) / b) by (apply Rdiv_lt_0_compat; lra).
  set (z := up ((1 - a) / b)) in *. assert (Z : (0 < z)%Z) by (apply lt_IZR; lra).
  pose (k := Z.to_nat z). assert (K : INR k = IZR z) by (unfold k; rewrite INR_IZR_INZ, Znat.Z2Nat.id by lia; reflexivity).
  assert (K0 : 0 < INR k) by (rewrite K; lra). assert (K1 : (1 <= k)%nat) by (unfold k; lia).
  pose (r := (1 - a) / INR k). assert (E : INR k * r = 1 - a) by (unfold r; field; lra).
  assert (R0 : 0 < r) by (unfold r; apply Rdiv_lt_0_compat; lra).
  assert (R1 : r <= b).
  { apply (Rmult_le_reg_l (INR k)); [exact K0|]. rewrite E, K. replace (1 - a) with ((1 - a) / b * b) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  pose (q := one_and_rest a r).
  assert (Q : open_simplex (S k) q).
  { split; [intros [|i] _; unfold q; simpl; lra|]. unfold q. rewrite sum_first. simpl. rewrite sum_const. lra. }
  assert (T : predicted (S k) q 0) by (apply one_and_rest_predicted; lra).
  pose proof (proj1 (raised_iff h (S k) q 0 H ltac:(lia) Q ltac:(lia)) (C (S k) q 0%nat ltac:(lia) Q T)) as L.
  rewrite sum_first in L. unfold q in L. simpl in L. rewrite sum_const in L.
  pose proof (M r ltac:(lra)) as G.
  assert (X : INR k * (r * h r) = (1 - a) * h r) by (rewrite <- E; ring). rewrite X in L.
  apply (Rle_trans _ (h r)); [exact G|]. nra.
Qed.

(* Faithfulness: ours (second half of the ledger's kk24.raises_every_n), exact: an h that turns at most once raises confidence
   for every number of classes only where every pair is spread. *)
Theorem kk24_raises_every_n_only h : positive h -> falls_then_rises h \/ rises_then_falls h -> raises_confidence h ->
  spreads_pairs h.
Proof.
  intros H U C.
  assert (half : forall a b, 0 < b <= a -> a <= 1 / 2 -> h b <= h a).
  { intros a b Hb Ha. destruct (Rle_lt_dec (h b) (h a)) as [|N]; [assumption|exfalso].
    destruct U as [[c [F G]]|[c [F G]]].
    - destruct (Rle_lt_dec c b) as [A|A]; [pose proof (G b a ltac:(lra) A ltac:(lra)); lra|].
      assert (h b <= h a); [|lra]. apply many_small; auto; [lra|]. intros x Hx. apply F; lra.
    - destruct (Rle_lt_dec a c) as [A|A]; [pose proof (F b a ltac:(lra) A ltac:(lra)); lra|].
      destruct (Rle_lt_dec c b) as [B|B].
      + pose proof (two_classes h b H C ltac:(lra)). pose proof (G a (1 - b) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
      + pose proof (two_classes h c H C ltac:(lra)). pose proof (G a (1 - c) ltac:(lra) ltac:(lra) ltac:(lra)).
        pose proof (F b c ltac:(lra) ltac:(lra) ltac:(lra)). lra. }
  intros a b Hb S. destruct (Rle_lt_dec a (1 / 2)) as [A|A]; [apply half; assumption|].
  apply (Rle_trans _ (h (1 - a))); [apply half; lra|].
  replace a with (1 - (1 - a)) at 2 by ring. apply two_classes; auto; lra.
Qed.

(* Faithfulness: ours (the ledger's kk24.raises_every_n), exact: every pair is spread if h does not fall up to 1/2 and each
   probability above 1/2 has at least the factor of its complement, and only then. *)
Theorem kk24_spreads_pairs_iff h : spreads_pairs h <->
  (forall a b, 0 < b <= a -> a <= 1 / 2 -> h b <= h a) /\ (forall a, 1 / 2 <= a < 1 -> h (1 - a) <= h a).
Proof.
  split.
  - intros P. split; intros; apply P; lra.
  - intros [F G] a b Hb S. destruct (Rle_lt_dec a (1 / 2)) as [A|A]; [apply F; assumption|].
    apply (Rle_trans _ (h (1 - a))); [apply F; lra|apply G; lra].
Qed.

(* Faithfulness: ours (the ledger's kk24.raises_examples), related: a case, of temperature scaling T <= 1 alone raises confidence. *)
Theorem kk24_raises_temperature T : 0 < T -> raises_confidence (fun q => Rpower q (1 / T - 1)) <-> T <= 1.
Proof.
  intros HT. set (h := fun q => Rpower q (1 / T - 1)).
  assert (H : positive h) by (intros q _; apply exp_pos).
  assert (M : forall x y, 0 < x <= y -> 1 <= 1 / T -> h x <= h y) by (intros; apply Rle_Rpower_l; lra).
  split.
  - intros C. apply Rnot_lt_le. intros L.
    assert (N : 1 / T < 1) by (apply (Rmult_lt_reg_r T); [exact HT|]; replace (1 / T * T) with 1 by (field; lra); lra).
    pose proof (two_classes h (1 / 4) H C ltac:(lra)) as D. unfold h, Rpower in D.
    assert (ln (1 / 4) < ln (1 - 1 / 4)) by (apply ln_increasing; lra).
    apply Rle_not_lt in D. apply D. apply exp_increasing. nra.
  - intros L. apply kk24_raises_every_n; [exact H|]. intros a b Hb _. apply M; [exact Hb|].
    apply (Rmult_le_reg_r T); [exact HT|]. replace (1 / T * T) with 1 by (field; lra). lra.
Qed.

(* not vacuous: a temperature of 1/2 raises confidence, one of 2 does not *)
Example kk24_raises_example : raises_confidence (fun q => Rpower q (1 / (1 / 2) - 1)) /\ ~ raises_confidence (fun q => Rpower q (1 / 2 - 1)).
Proof.
  split; [apply kk24_raises_temperature; lra|]. intros C. apply kk24_raises_temperature in C; lra.
Qed.
