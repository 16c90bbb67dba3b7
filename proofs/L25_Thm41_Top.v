(* L25 Theorem 4.1 (App. A.2), read from its proof: not so for the top probability. With ten classes and gamma = lambda = 1 the top
   probability of the minimiser of FCL is farther from the true one than that of focal loss alone.

   Faithful: ours (l25.thm41_top), exact. The theorem's own formula is lost from the text at hand. *)

From Coq Require Import Reals Lra Lia.
From Interval Require Import Tactic.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4 Confidence L25_FocalCalibrationLoss L25_OrderPreserving L25_Bias.
Open Scope R_scope.

Definition ten (a b c d e f : R) (i : nat) : R :=
  match i with O => a | 1 => b | 2 => c | 3 => d | 4 => e | _ => f end%nat.
Definition truth : nat -> R := ten (20 / 100) (18 / 100) (16 / 100) (14 / 100) (12 / 100) (4 / 100).

Lemma truth_open : open_simplex 10 truth.
Proof. split; [|simpl; field]. intros [|[|[|[|[|i]]]]] _; unfold truth; simpl; lra. Qed.

Lemma truth_less i : (0 < i)%nat -> truth i < truth 0.
Proof. intros I. destruct i as [|[|[|[|[|i]]]]]; [lia| | | | |]; unfold truth; simpl; lra. Qed.

Definition slope_at (lambda : R) (i : nat) (v : R) : R := truth i * focal_slope 1 v + 2 * lambda * (v - truth i).

Lemma slope_at_le lambda i x y : 0 <= lambda -> (i < 10)%nat -> 0 < x -> x <= y -> y < 1 -> slope_at lambda i x <= slope_at lambda i y.
Proof.
  intros L I X [XY| ->] Y; [|lra]. pose proof (proj1 truth_open i I) as P.
  pose proof (focal_slope_increasing 1 x y ltac:(lra) X XY Y) as A. unfold slope_at.
  apply (Rmult_lt_compat_l (truth i)) in A; [|exact P].
  assert (lambda * (x - truth i) <= lambda * (y - truth i)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Section Bounds.
Variables (lambda : R) (q u : nat -> R).
Hypotheses (L : 0 <= lambda) (M : minimises 10 (fcl 10 1 lambda) truth q) (U : forall i, (i < 10)%nat -> 0 < u i < 1).

Lemma minimiser_range i : (i < 10)%nat -> 0 < q i < 1.
Proof.
  intros I. assert (O : open_simplex 10 q).
  { destruct M as (Q & S & _). split; [|apply Q]. intros k K. apply S; [exact K|apply truth_open, K]. }
  apply (interior_lt_1 10); [lia|exact O|exact I].
Qed.

Lemma minimiser_slope_at i : (i < 10)%nat -> slope_at lambda i (q i) = slope_at lambda 0 (q 0%nat).
Proof.
  intros I. apply (minimiser_slopes 10 1 lambda truth q i 0); [apply open_closed, truth_open|exact M|exact I|lia| |];
    apply minimiser_range; [exact I|lia].
Qed.

(* slopes at u of at least that of the top class, and too little probability: the top one is above u *)
Lemma top_above : (forall i, (i < 10)%nat -> slope_at lambda 0 (u 0%nat) <= slope_at lambda i (u i)) -> sum 10 u < 1 -> u 0%nat < q 0%nat.
Proof.
  intros H S. apply Rnot_le_lt. intros C.
  assert (A : sum 10 q <= sum 10 u).
  { apply sum_le. intros i I. apply Rnot_lt_le. intros D. pose proof (minimiser_range i I) as R. pose proof (U i I) as V.
    pose proof (focal_slope_increasing 1 (u i) (q i) ltac:(lra) ltac:(lra) D ltac:(lra)) as F.
    apply (Rmult_lt_compat_l (truth i)) in F; [|apply truth_open, I].
    assert (lambda * (u i - truth i) <= lambda * (q i - truth i)) by (apply Rmult_le_compat_l; lra).
    pose proof (H i I) as Hi. pose proof (minimiser_slope_at i I) as E.
    pose proof (slope_at_le lambda 0 (q 0%nat) (u 0%nat) L ltac:(lia) ltac:(apply minimiser_range; lia) C ltac:(apply U; lia)).
    unfold slope_at in *. lra. }
  destruct M as ((_ & Q) & _). lra.
Qed.

(* slopes of at most that of the top class, and too much probability: it is below *)
Lemma top_below : (forall i, (i < 10)%nat -> slope_at lambda i (u i) <= slope_at lambda 0 (u 0%nat)) -> 1 < sum 10 u -> q 0%nat < u 0%nat.
Proof.
  intros H S. apply Rnot_le_lt. intros C.
  assert (A : sum 10 u <= sum 10 q).
  { apply sum_le. intros i I. apply Rnot_lt_le. intros D. pose proof (minimiser_range i I) as R. pose proof (U i I) as V.
    pose proof (focal_slope_increasing 1 (q i) (u i) ltac:(lra) ltac:(lra) D ltac:(lra)) as F.
    apply (Rmult_lt_compat_l (truth i)) in F; [|apply truth_open, I].
    assert (lambda * (q i - truth i) <= lambda * (u i - truth i)) by (apply Rmult_le_compat_l; lra).
    pose proof (H i I) as Hi. pose proof (minimiser_slope_at i I) as E.
    pose proof (slope_at_le lambda 0 (u 0%nat) (q 0%nat) L ltac:(lia) ltac:(apply U; lia) C ltac:(apply minimiser_range; lia)).
    unfold slope_at in *. lra. }
  destruct M as ((_ & Q) & _). lra.
Qed.

Lemma top_is_first : predicted 10 q 0.
Proof.
  split; [lia|]. intros [|i] I; [lra|]. left.
  apply (l25_order_preserving 10 1 lambda truth q 0 (S i)); try lra; try lia; try assumption;
    [apply open_closed, truth_open|apply truth_less; lia].
Qed.
End Bounds.

Ltac each_class := let I := fresh in intros [|[|[|[|[|[|[|[|[|[|?]]]]]]]]]] I; [.. | lia].
Ltac slopes := each_class; unfold slope_at, truth, ten, focal_slope, Rpower; cbv beta iota; try lra; interval with (i_prec 60).
Ltac inside := each_class; unfold ten; cbv beta iota; lra.

(* 0.20015 lies between the two tops, both above 0.2. There are minimisers to speak of.
   Faithfulness: ours (l25.thm41_top), exact. *)
Theorem l25_thm41_top :
  (forall lambda, 0 <= lambda -> exists q, minimises 10 (fcl 10 1 lambda) truth q) /\ predicted 10 truth 0 /\
  forall q r, minimises 10 (fcl 10 1 0) truth q -> minimises 10 (fcl 10 1 1) truth r ->
    predicted 10 q 0 /\ predicted 10 r 0 /\ Rabs (q 0%nat - truth 0) < Rabs (r 0%nat - truth 0).
Proof.
  split; [|split].
  - intros lambda L. apply l25_minimiser_exists_everywhere; [lra|exact L|apply open_closed, truth_open].
  - split; [lia|]. intros [|i] _; [lra|]. left. apply truth_less. lia.
  - intros q r Q R. split; [apply (top_is_first 0); [lra|exact Q]|]. split; [apply (top_is_first 1); [lra|exact R]|].
    assert (A : 20 / 100 < q 0%nat).
    { apply (top_above 0 q (ten (20 / 100) 0.18104 0.16158 0.14166 0.12136 0.038765) ltac:(lra) Q); [inside|slopes|simpl; lra]. }
    assert (B : q 0%nat < 0.20015).
    { apply (top_below 0 q (ten 0.20015 0.18117 0.16170 0.14177 0.12145 0.038796) ltac:(lra) Q); [inside|slopes|simpl; lra]. }
    assert (C : 0.20015 < r 0%nat).
    { apply (top_above 1 r (ten 0.20015 0.18094 0.16137 0.14145 0.12123 0.03889) ltac:(lra) R); [inside|slopes|simpl; lra]. }
    change (truth 0) with (20 / 100). rewrite !Rabs_right by lra. lra.
Qed.

Example l25_thm41_top_minimisers : exists q r, minimises 10 (fcl 10 1 0) truth q /\ minimises 10 (fcl 10 1 1) truth r /\
  Rabs (q 0%nat - truth 0) < Rabs (r 0%nat - truth 0).
Proof.
  destruct l25_thm41_top as (E & _ & H). destruct (E 0 ltac:(lra)) as [q Q]. destruct (E 1 ltac:(lra)) as [r R].
  exists q, r. split; [exact Q|]. split; [exact R|]. apply (H q r Q R).
Qed.
