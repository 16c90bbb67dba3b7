(* KK24 section 3.3 leaves open between which temperatures the map lies for three or more classes: the lower one. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss EntropyRatio Gain KK24_Prop4 Confidence.
Open Scope R_scope.

(* temperature scaling of n probabilities: the softmax of log q / T *)
Definition temperature_scaling_n (n : nat) (T : R) (q : nat -> R) (j : nat) : R :=
  Rpower (q j) (1 / T) / sum n (fun i => Rpower (q i) (1 / T)).

(* log w(q) - (gamma + 1) log q *)
Definition excess (g q : R) : R := - log_gain g q - g * ln q.

Lemma excess_falls g q r : 0 < g -> 0 < q -> q <= r -> r <= 1 / 2 -> excess g r <= excess g q.
Proof.
  intros Hg Hq L Hr. apply (nonincreasing (excess g) (fun x => - log_gain1 g x - g / x)); [exact L| |]; intros x Hx.
  - unfold excess. apply (is_derive_minus (fun x => - log_gain g x) (fun x => g * ln x)).
    + apply (is_derive_opp (log_gain g)), log_gain_derivative; lra.
    + auto_derive; [lra|]. field. lra.
  - unfold log_gain1. pose proof (one_plus_ratio g x ltac:(lra) ltac:(lra)) as P. pose proof (ratio1_pos x ltac:(lra)) as B.
    assert (0 < g * ratio1 x / (1 + g * entropy_ratio x)) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact P]).
    assert (/ (1 - x) <= / x) by (apply Rinv_le_contravar; lra).
    assert (g * / (1 - x) <= g * / x) by (apply Rmult_le_compat_l; lra). unfold Rdiv in *. lra.
Qed.

Lemma entropy_ratio_increasing q r : 0 < q -> q < r -> r < 1 -> entropy_ratio q < entropy_ratio r.
Proof.
  apply (increasing_open entropy_ratio ratio1 0 1); intros x Hx; [apply entropy_ratio_derivative|apply ratio1_pos]; exact Hx.
Qed.

Lemma excess_mirror g q : 0 < g -> 1 / 2 <= q < 1 -> excess g q <= excess g (1 - q).
Proof.
  intros Hg H. unfold excess, log_gain. replace (1 - (1 - q)) with q by ring.
  assert (A : ln (1 + g * entropy_ratio (1 - q)) <= ln (1 + g * entropy_ratio q)); [|lra].
  destruct (Req_dec q (1 / 2)) as [->|N]; [replace (1 - 1 / 2) with (1 / 2) by field; lra|].
  apply Rlt_le, ln_increasing; [apply one_plus_ratio; lra|].
  pose proof (entropy_ratio_increasing (1 - q) q ltac:(lra) ltac:(lra) ltac:(lra)) as B.
  apply (Rmult_lt_compat_l g) in B; lra.
Qed.

Lemma excess_pair g q m : 0 < g -> 0 < q -> q <= m -> m < 1 -> q + m <= 1 \/ q = m -> excess g m <= excess g q.
Proof.
  intros Hg Hq L Hm [S|E]; [|rewrite E; lra].
  destruct (Rle_lt_dec m (1 / 2)) as [A|A]; [apply excess_falls; lra|].
  apply (Rle_trans _ (excess g (1 - m))); [apply excess_mirror; lra|apply excess_falls; lra].
Qed.

Lemma weight_excess g q : 0 <= g -> 0 < q < 1 -> weight g q = exp (excess g q) * Rpower q (g + 1).
Proof.
  intros Hg H. unfold weight, excess, Rpower. rewrite gain_exp by assumption. rewrite <- exp_plus.
  replace (- log_gain g q - g * ln q + (g + 1) * ln q) with (ln q + - log_gain g q) by ring.
  rewrite exp_plus, exp_ln, exp_Ropp by lra. reflexivity.
Qed.

(* Faithfulness: ours (first half of the ledger's kk24.many_low), exact: for every n and gamma > 0 the temperature 1 / (gamma + 1)
   gives the predicted class at least the probability that the map gives it. That no larger temperature does is
   [kk24_prop3_low_sharp] for two classes. *)
Theorem kk24_many_low n gamma q j : 0 < gamma -> open_simplex n q -> (forall i, (i < n)%nat -> q i < 1) -> predicted n q j ->
  focal_map n gamma q j <= temperature_scaling_n n (1 / (gamma + 1)) q j.
Proof.
  intros Hg O N [Hj P]. assert (Hq : simplex n q) by (split; [intros i Hi; apply Rlt_le, O; exact Hi|apply O]).
  rewrite <- kk24_prop4_printed by assumption. rewrite map_inside by (assumption || lra).
  pose proof (total_pos n gamma q ltac:(lra) Hq N) as T.
  unfold temperature_scaling_n. replace (1 / (1 / (gamma + 1))) with (gamma + 1) by (field; lra).
  assert (S : 0 < sum n (fun i => Rpower (q i) (gamma + 1))).
  { apply sum_pos; [intros i _; apply Rlt_le, Rpower_pos|exists j; split; [exact Hj|apply Rpower_pos]]. }
  rewrite weight_closed_some by (apply O; exact Hj).
  pose proof (proj1 O j Hj) as Pj. pose proof (N j Hj) as Nj.
  pose proof (Rpower_pos (q j) (gamma + 1)) as RP.
  assert (K : weight gamma (q j) * sum n (fun i => Rpower (q i) (gamma + 1)) <= Rpower (q j) (gamma + 1) * total n gamma q).
  { unfold total. rewrite <- !sum_scale. apply sum_le. intros i Hi. pose proof (proj1 O i Hi) as Pi. pose proof (N i Hi) as Ni.
    rewrite weight_closed_some by exact Pi. rewrite !weight_excess by lra.
    assert (X : excess gamma (q j) <= excess gamma (q i)).
    { apply excess_pair; [exact Hg|exact Pi|apply P; exact Hi|exact Nj|].
      destruct (PeanoNat.Nat.eq_dec i j) as [->|D]; [right; reflexivity|left].
      rewrite <- (proj2 O). apply sum_two; auto. intros k Hk. apply Hq. exact Hk. }
    assert (Y : exp (excess gamma (q j)) <= exp (excess gamma (q i))).
    { destruct X as [X|X]; [apply Rlt_le, exp_increasing; exact X|rewrite X; lra]. }
    pose proof (Rpower_pos (q i) (gamma + 1)) as RI.
    assert (Z : 0 < Rpower (q j) (gamma + 1) * Rpower (q i) (gamma + 1)) by (apply Rmult_lt_0_compat; assumption).
    apply (Rmult_le_compat_r _ _ _ (Rlt_le _ _ Z)) in Y. lra. }
  apply (Rmult_le_reg_r (total n gamma q * sum n (fun i => Rpower (q i) (gamma + 1)))); [apply Rmult_lt_0_compat; assumption|].
  set (s := sum n (fun i => Rpower (q i) (gamma + 1))) in *. set (t := total n gamma q) in *.
  replace (weight gamma (q j) / t * (t * s)) with (weight gamma (q j) * s) by (field; lra).
  replace (Rpower (q j) (gamma + 1) / s * (t * s)) with (Rpower (q j) (gamma + 1) * t) by (field; lra). exact K.
Qed.

(* not vacuous: three classes *)
Example kk24_many_low_three : let q := one_and_rest 0.5 0.25 in
  open_simplex 3 q /\ predicted 3 q 0 /\ focal_map 3 1 q 0 <= temperature_scaling_n 3 (1 / (1 + 1)) q 0.
Proof.
  intros q. assert (O : open_simplex 3 q) by (split; [intros [|i] _; simpl; lra|simpl; lra]).
  assert (P : predicted 3 q 0) by (apply (one_and_rest_predicted 2); lra).
  split; [exact O|split; [exact P|]]. apply kk24_many_low; [lra|exact O| |exact P]. intros [|i] _; simpl; lra.
Qed.
