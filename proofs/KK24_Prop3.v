(* KK24 Prop. 3: the binary map lies between two temperatures; with 2 log 2 - 1 in place of 1/2, and nothing smaller. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio BinaryMap KK24_Prop2.
Open Scope R_scope.

(* u(s) - u(-s) <= (2 log 2 - 1) s for s >= 0: its derivative is u(s) + u(-s) - 1 *)
Lemma u_difference s : 0 <= s -> u s - u (- s) <= (2 * ln 2 - 1) * s.
Proof.
  intros H. assert (Z : (2 * ln 2 - 1) * 0 - (u 0 - u (- 0)) = 0) by (rewrite Ropp_0; ring).
  assert (0 <= (2 * ln 2 - 1) * s - (u s - u (- s))); [|lra]. rewrite <- Z.
  apply (nondecreasing (fun s => (2 * ln 2 - 1) * s - (u s - u (- s))) (fun s => 2 * ln 2 - 1 - (u s + u (- s) - 1)));
    [exact H| |]; intros x Hx.
  - apply (is_derive_minus (fun s => (2 * ln 2 - 1) * s) (fun s => u s - u (- s))).
    + auto_derive; [exact I|ring].
    + replace (u x + u (- x) - 1) with ((u x - sigmoid x) - - (u (- x) - sigmoid (- x))) by (rewrite sigmoid_opp; ring).
      apply (is_derive_minus u (fun s => u (- s))); [apply u_derivative|apply u_mirror_derivative].
  - pose proof (u_pair_below x). lra.
Qed.

Lemma factor_pos : 0 < 2 * ln 2 - 1.
Proof. pose proof (ln_lt (/ 2) ltac:(lra) ltac:(lra)) as X. rewrite ln_Rinv in X by lra. lra. Qed.

(* by growth in gamma from 0, where both sides are 0 *)
Lemma logit_gap_log_strict gamma s : 0 < gamma -> 0 < s -> logit_gap gamma s < (2 * ln 2 - 1) * ln (gamma + 1) * s.
Proof.
  intros Hg Hs. pose proof (u_difference s ltac:(lra)) as D. pose proof (u_pair_above s) as P.
  pose proof (u_pos s) as U. pose proof (u_pos (- s)) as V. set (a := u s) in *. set (b := u (- s)) in *.
  set (k := 2 * ln 2 - 1) in *.
  pose (f := fun t => k * ln (t + 1) * s - (ln (1 + t * a) - ln (1 + t * b))).
  assert (Z : f 0 = 0). { unfold f. rewrite !Rmult_0_l, !Rplus_0_l, !Rplus_0_r, ln_1. ring. }
  assert (F : 0 < f gamma).
  { rewrite <- Z. apply (increasing f (fun t => k * s / (t + 1) - (a / (1 + t * a) - b / (1 + t * b)))); [exact Hg| |]; intros t Ht.
    - assert (0 < 1 + t * a) by nra. assert (0 < 1 + t * b) by nra.
      unfold f. auto_derive; [repeat split; lra|]. field. repeat split; lra.
    - assert (0 < t * a) by (apply Rmult_lt_0_compat; lra). assert (0 < t * b) by (apply Rmult_lt_0_compat; lra).
      replace (a / (1 + t * a) - b / (1 + t * b)) with ((a - b) / ((1 + t * a) * (1 + t * b))) by (field; split; lra).
      assert (L : 1 + t < (1 + t * a) * (1 + t * b)).
      { assert (0 < t * a * (t * b)) by (apply Rmult_lt_0_compat; assumption).
        assert (0 <= t * (a + b - 1)) by (apply Rmult_le_pos; lra). lra. }
      assert (I1 : / ((1 + t * a) * (1 + t * b)) < / (1 + t)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra).
      assert (I0 : 0 < / ((1 + t * a) * (1 + t * b))) by (apply Rinv_0_lt_compat; lra).
      replace (t + 1) with (1 + t) by ring. unfold Rdiv.
      assert (K0 : 0 < k * s) by (apply Rmult_lt_0_compat; [exact factor_pos|exact Hs]).
      assert (A1 : (a - b) * / ((1 + t * a) * (1 + t * b)) <= k * s * / ((1 + t * a) * (1 + t * b))) by (apply Rmult_le_compat_r; lra).
      assert (A2 : k * s * / ((1 + t * a) * (1 + t * b)) < k * s * / (1 + t)) by (apply Rmult_lt_compat_l; lra).
      lra. }
  unfold f in F. unfold logit_gap. fold a b. rewrite ln_div by nra. lra.
Qed.

Lemma logit_gap_log gamma s : 0 <= gamma -> 0 <= s -> logit_gap gamma s <= (2 * ln 2 - 1) * ln (gamma + 1) * s.
Proof.
  intros [G|<-] [S|<-]; [apply Rlt_le, logit_gap_log_strict; assumption| | |]; try (rewrite logit_gap_0; lra).
  rewrite Rplus_0_l, ln_1. unfold logit_gap. rewrite !Rmult_0_l, Rplus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. lra.
Qed.

Lemma logit_gap_nonneg gamma s : 0 <= gamma -> 0 <= s -> 0 <= logit_gap gamma s.
Proof.
  intros [Hg|<-] Hs.
  - rewrite <- (logit_gap_0 gamma). apply (nondecreasing (logit_gap gamma) (logit_gap_slope gamma)); [exact Hs| |]; intros x Hx.
    + apply logit_gap_derivative. lra.
    + pose proof (logit_gap_slope_bounds gamma x Hg). lra.
  - unfold logit_gap. rewrite !Rmult_0_l, Rplus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. lra.
Qed.

(* 2 log 2 - 1 < 1/2, that is log 2 < 3/4: e^(3/4) = (e^(3/32))^8 > (35/32)^8 > 2 *)
Lemma ln_2_below : ln 2 < 3 / 4.
Proof.
  assert (D : forall x, exp x * exp x = exp (2 * x)) by (intros x; rewrite <- exp_plus; f_equal; ring).
  assert (S : forall a x, 0 < a -> a < exp x -> a * a < exp (2 * x)).
  { intros a x Ha H. rewrite <- D. apply Rmult_gt_0_lt_compat; lra. }
  pose proof (exp_ineq1 (3 / 32) ltac:(lra)) as A.
  apply S in A; [|lra]. apply S in A; [|lra]. apply S in A; [|lra].
  rewrite <- (ln_exp (3 / 4)). apply ln_increasing; [lra|].
  replace (2 * (2 * (2 * (3 / 32)))) with (3 / 4) in A by field. lra.
Qed.

Lemma ln_1_plus_nonneg gamma : 0 <= gamma -> 0 <= ln (gamma + 1).
Proof.
  intros [H|H].
  - pose proof (ln_pos (gamma + 1) ltac:(lra)). lra.
  - rewrite <- H, Rplus_0_l, ln_1. lra.
Qed.

Lemma inverse_temperature_pos c gamma : c <= 1 -> 0 <= gamma -> 0 < gamma + 1 - c * ln (gamma + 1).
Proof.
  intros Hc Hg. pose proof (ln_le (gamma + 1) ltac:(lra)) as A.
  pose proof (ln_1_plus_nonneg gamma Hg).
  nra.
Qed.

Lemma temperature_scaling_inverse b s : 0 < b -> temperature_scaling (1 / b) s = sigmoid (b * s).
Proof. intros H. unfold temperature_scaling. f_equal. field. lra. Qed.

Lemma between_temperatures c gamma : 2 * ln 2 - 1 <= c <= 1 -> 0 <= gamma ->
  let T_low := 1 / (gamma + 1) in let T_high := 1 / (gamma + 1 - c * ln (gamma + 1)) in
  (forall s, 0 <= s -> temperature_scaling T_high s <= FC gamma s <= temperature_scaling T_low s) /\
  (forall s, s <= 0 -> temperature_scaling T_low s <= FC gamma s <= temperature_scaling T_high s).
Proof.
  intros Hc Hg T_low T_high. pose proof (inverse_temperature_pos c gamma (proj2 Hc) Hg) as B.
  pose proof (ln_1_plus_nonneg gamma Hg) as L0.
  assert (P : forall s, 0 <= s -> 0 <= logit_gap gamma s <= c * ln (gamma + 1) * s).
  { intros s Hs. pose proof (logit_gap_log gamma s Hg Hs) as A. pose proof (logit_gap_nonneg gamma s Hg Hs).
    assert (0 <= ln (gamma + 1) * s) by (apply Rmult_le_pos; assumption). split; [assumption|]. nra. }
  unfold T_low, T_high. split; intros s Hs; rewrite !temperature_scaling_inverse by lra; rewrite FC_logits by lra.
  - specialize (P s Hs). split; apply sigmoid_le; lra.
  - specialize (P (- s) ltac:(lra)). rewrite logit_gap_odd in P by lra. split; apply sigmoid_le; lra.
Qed.

(* Paper: with T = 1 / (gamma + 1) and T = 1 / (gamma + 1 - log(gamma + 1) / 2), for all s <= 0 the first scaling is at most FC(s)
   and the second at least, for all s >= 0 the other way round. (In the text at hand signs of inequalities and the formula of
   the second temperature are damaged; section 1 and the numbers of section 3.2, T = 0.2 and 0.238 for gamma = 4, fix them.)
   Faithfulness: exact under that reading, for every real gamma >= 0 and every logit. *)
Theorem kk24_prop3 gamma : 0 <= gamma ->
  let T_low := 1 / (gamma + 1) in let T_high := 1 / (gamma + 1 - 1 / 2 * ln (gamma + 1)) in
  (forall s, 0 <= s -> temperature_scaling T_high s <= FC gamma s <= temperature_scaling T_low s) /\
  (forall s, s <= 0 -> temperature_scaling T_low s <= FC gamma s <= temperature_scaling T_high s).
Proof. apply between_temperatures. pose proof ln_2_below. lra. Qed.

(* The same with 2 log 2 - 1 = 0.386... in place of 1/2. Faithfulness: ours, sharpens Prop. 3 (kk24.prop3_log), exact. *)
Theorem kk24_prop3_log gamma : 0 <= gamma ->
  let T_low := 1 / (gamma + 1) in let T_high := 1 / (gamma + 1 - (2 * ln 2 - 1) * ln (gamma + 1)) in
  (forall s, 0 <= s -> temperature_scaling T_high s <= FC gamma s <= temperature_scaling T_low s) /\
  (forall s, s <= 0 -> temperature_scaling T_low s <= FC gamma s <= temperature_scaling T_high s).
Proof. apply between_temperatures. pose proof ln_2_below. lra. Qed.

(* For every gamma > 0 and every logit but 0: R(s) / s < (2 log 2 - 1) log (1 + gamma), and the printed bound with 1/2 is larger.
   Faithfulness: ours (kk24.prop3_log, its first half), exact. *)
Theorem kk24_prop3_log_strict gamma s : 0 < gamma -> s <> 0 ->
  logit (FC gamma s) = (gamma + 1) * s - logit_gap gamma s /\
  logit_gap gamma s / s < (2 * ln 2 - 1) * ln (gamma + 1) < 1 / 2 * ln (gamma + 1).
Proof.
  intros G N. split; [apply logit_FC; lra|]. split.
  - assert (P : forall t, 0 < t -> logit_gap gamma t / t < (2 * ln 2 - 1) * ln (gamma + 1)).
    { intros t T. apply (Rmult_lt_reg_r t); [exact T|]. replace (logit_gap gamma t / t * t) with (logit_gap gamma t) by (field; lra).
      apply logit_gap_log_strict; assumption. }
    destruct (Rlt_dec 0 s) as [S|S]; [apply P; exact S|]. specialize (P (- s) ltac:(lra)). rewrite logit_gap_odd in P by lra.
    replace (- logit_gap gamma s / - s) with (logit_gap gamma s / s) in P by (field; lra). exact P.
  - apply Rmult_lt_compat_r; [apply ln_pos; lra|]. pose proof ln_2_below. lra.
Qed.

(* a function that is 0 at 0 with slope d there lies above every flatter line somewhere to the right *)
Lemma steeper_somewhere (f : R -> R) d c : is_derive f 0 d -> f 0 = 0 -> c < d -> exists s, 0 < s /\ c * s < f s.
Proof.
  intros D Z L. apply is_derive_Reals in D. destruct (D (d - c) ltac:(lra)) as [delta Hd].
  pose proof (cond_pos delta) as P. exists (delta / 2). split; [lra|].
  specialize (Hd (delta / 2) ltac:(lra)). rewrite Rplus_0_l, Z, Rminus_0_r in Hd.
  assert (A : Rabs (delta / 2) < delta) by (rewrite Rabs_right; lra). specialize (Hd A). apply Rabs_def2 in Hd.
  destruct Hd as [_ Hd]. assert (B : c < f (delta / 2) / (delta / 2)) by lra.
  apply (Rmult_lt_compat_r (delta / 2)) in B; [|lra].
  replace (f (delta / 2) / (delta / 2) * (delta / 2)) with (f (delta / 2)) in B by (field; lra). exact B.
Qed.

Lemma sigmoid_le_cancel s t : sigmoid s <= sigmoid t -> s <= t.
Proof. intros H. destruct (Rle_lt_dec s t) as [A|A]; [exact A|]. pose proof (sigmoid_increasing t s A). lra. Qed.

(* Nothing smaller will do: the bound holds for all gamma and s exactly if the factor c is at least 2 log 2 - 1.
   Faithfulness: ours (kk24.prop3_log, 'and nothing smaller'), exact. *)
Theorem kk24_prop3_log_smallest c : c <= 1 ->
  (forall gamma s, 0 < gamma -> 0 <= s -> temperature_scaling (1 / (gamma + 1 - c * ln (gamma + 1))) s <= FC gamma s)
    <-> 2 * ln 2 - 1 <= c.
Proof.
  intros Hc1. split.
  - intros H. destruct (Rle_lt_dec (2 * ln 2 - 1) c) as [A|A]; [exact A|exfalso].
    pose proof (ln_ge 2 ltac:(lra)) as L2. pose proof ln_2_below as L2'.
    (* c' between c and 2 log 2 - 1, positive; gamma so small that (2 log 2 - 1) / (1 + gamma log 2) > c' *)
    pose (k := 2 * ln 2 - 1). assert (Hk : 0 <= k < 1 / 2) by (unfold k; lra). fold k in A.
    destruct (Req_dec k 0) as [K0|K0].
    { (* not so: log 2 > 1/2 *) pose proof (ln_lt (/ 2) ltac:(lra) ltac:(lra)) as X. rewrite ln_Rinv in X by lra. unfold k in K0. lra. }
    pose (c' := Rmax c (k / 2)).
    assert (C0 : 0 < c'). { apply (Rlt_le_trans _ (k / 2)); [lra|apply Rmax_r]. }
    assert (C1 : c' < k) by (unfold c'; apply Rmax_lub_lt; lra). assert (C2 : c <= c') by apply Rmax_l.
    pose (gamma := (k - c') / c'). assert (G : 0 < gamma) by (unfold gamma; apply Rdiv_lt_0_compat; lra).
    assert (Slope : c' * ln (gamma + 1) < logit_gap_slope gamma 0).
    { unfold logit_gap_slope. rewrite Ropp_0, u_0, sigmoid_0.
      assert (P : 0 < 1 + gamma * ln 2). { assert (0 < gamma * ln 2) by (apply Rmult_lt_0_compat; lra). lra. }
      apply (Rmult_lt_reg_r (1 + gamma * ln 2)); [exact P|].
      replace ((gamma * (ln 2 - 1 / 2) / (1 + gamma * ln 2) + gamma * (ln 2 - 1 / 2) / (1 + gamma * ln 2)) * (1 + gamma * ln 2))
        with (gamma * k) by (unfold k; field; lra).
      pose proof (ln_le (gamma + 1) ltac:(lra)) as E.
      assert (X1 : c' * ln (gamma + 1) <= c' * gamma) by (apply Rmult_le_compat_l; lra).
      assert (X2 : c' * ln (gamma + 1) * (1 + gamma * ln 2) <= c' * gamma * (1 + gamma * ln 2)) by (apply Rmult_le_compat_r; lra).
      assert (X3 : c' * (1 + gamma * ln 2) < k).
      { assert (Y : c' * gamma = k - c') by (unfold gamma; field; lra).
        replace (c' * (1 + gamma * ln 2)) with (c' + c' * gamma * ln 2) by ring. rewrite Y.
        assert ((k - c') * ln 2 < (k - c') * 1) by (apply Rmult_lt_compat_l; lra). lra. }
      assert (X4 : gamma * (c' * (1 + gamma * ln 2)) < gamma * k) by (apply Rmult_lt_compat_l; lra). lra. }
    destruct (steeper_somewhere (logit_gap gamma) (logit_gap_slope gamma 0) (c' * ln (gamma + 1))
      (logit_gap_derivative gamma 0 ltac:(lra)) (logit_gap_0 gamma) Slope) as [s [Hs S]].
    specialize (H gamma s G ltac:(lra)).
    rewrite temperature_scaling_inverse in H by (apply inverse_temperature_pos; lra).
    rewrite FC_logits in H by lra. apply sigmoid_le_cancel in H.
    pose proof (ln_pos (gamma + 1) ltac:(lra)) as LP.
    assert (0 <= (c' - c) * (ln (gamma + 1) * s)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). lra.
  - intros H gamma s Hg Hs. apply (between_temperatures c gamma (conj H Hc1)); lra.
Qed.

(* For every gamma > 0 and s > 0: gamma < logit FC(s) / s < gamma + 1, T between 1 / (gamma + 1) and 1 / gamma; and the upper
   value gamma + 1 is approached. Faithfulness: ours (kk24.prop3_simple and the limit in kk24.prop3_sharpness_zero), equivalent. *)
Theorem kk24_prop3_simple gamma s : 0 < gamma -> 0 < s -> gamma * s < logit (FC gamma s) < (gamma + 1) * s.
Proof.
  intros Hg Hs. rewrite logit_FC by lra.
  assert (A : logit_gap gamma 0 < logit_gap gamma s).
  { apply (increasing (logit_gap gamma) (logit_gap_slope gamma)); [exact Hs| |]; intros x Hx.
    - apply logit_gap_derivative. lra.
    - apply logit_gap_slope_bounds. exact Hg. }
  assert (B : 0 - logit_gap gamma 0 < s - logit_gap gamma s).
  { apply (increasing (fun x => x - logit_gap gamma x) (fun x => 1 - logit_gap_slope gamma x)); [exact Hs| |]; intros x Hx.
    - apply (is_derive_minus (fun x => x) (logit_gap gamma)); [auto_derive; [exact I|ring]|apply logit_gap_derivative; lra].
    - pose proof (logit_gap_slope_bounds gamma x Hg). lra. }
  rewrite logit_gap_0 in *. lra.
Qed.

(* As temperatures: at every logit but 0 the T with FC(s) = sigmoid(s / T) lies strictly between 1 / (gamma + 1) and 1 / gamma.
   Faithfulness: ours (kk24.prop3_simple, its first half), exact. *)
Theorem kk24_prop3_simple_temperature gamma s : 0 < gamma -> s <> 0 ->
  exists T, FC gamma s = temperature_scaling T s /\ (forall T', T' <> 0 -> FC gamma s = temperature_scaling T' s -> T' = T) /\
  1 / (gamma + 1) < T < 1 / gamma.
Proof.
  intros G N. set (b := logit (FC gamma s) / s).
  assert (B : gamma < b < gamma + 1).
  { assert (P : forall t, 0 < t -> gamma < logit (FC gamma t) / t < gamma + 1).
    { intros t T. pose proof (kk24_prop3_simple gamma t G T).
      split; apply (Rmult_lt_reg_r t); try exact T; replace (logit (FC gamma t) / t * t) with (logit (FC gamma t)) by (field; lra); lra. }
    unfold b. destruct (Rlt_dec 0 s) as [S|S]; [apply P; exact S|]. specialize (P (- s) ltac:(lra)).
    rewrite logit_FC, logit_gap_odd in P by lra. rewrite logit_FC by lra.
    replace (((gamma + 1) * - s - - logit_gap gamma s) / - s) with (((gamma + 1) * s - logit_gap gamma s) / s) in P by (field; lra).
    exact P. }
  assert (E : forall T, T <> 0 -> FC gamma s = temperature_scaling T s -> T = 1 / b).
  { intros T Z H. assert (L : logit (FC gamma s) = s / T) by (rewrite H; apply logit_sigmoid).
    unfold b. rewrite L. field. split; assumption. }
  exists (1 / b). split; [|split; [exact E|]].
  - rewrite temperature_scaling_inverse by lra. rewrite FC_logits by lra. f_equal.
    unfold b. rewrite logit_FC by lra. field. exact N.
  - split; unfold Rdiv; rewrite !Rmult_1_l; apply Rinv_lt_contravar; try (apply Rmult_lt_0_compat); lra.
Qed.

(* 1 / gamma is the better upper temperature exactly for gamma > e^2 - 1 = 6.389...
   Faithfulness: ours (kk24.prop3_simple, 'better than the printed bound'), exact, 'if and only if'. *)
Theorem kk24_prop3_simple_better gamma : 0 < gamma ->
  1 / gamma < 1 / (gamma + 1 - 1 / 2 * ln (gamma + 1)) <-> exp 2 - 1 < gamma.
Proof.
  intros G. pose proof (inverse_temperature_pos (1 / 2) gamma ltac:(lra) ltac:(lra)) as P. unfold Rdiv at 1 2. rewrite !Rmult_1_l.
  assert (Z : exp 2 - 1 < gamma <-> 2 < ln (gamma + 1)).
  { split; intros H.
    - rewrite <- (ln_exp 2) at 1. apply ln_increasing; [apply exp_pos|lra].
    - apply exp_increasing in H. rewrite exp_ln in H by lra. lra. }
  rewrite Z. split; intros H.
  - apply Rnot_le_lt. intros L. assert (/ (gamma + 1 - 1 / 2 * ln (gamma + 1)) <= / gamma) by (apply Rinv_le_contravar; lra). lra.
  - apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|lra].
Qed.

(* R stays below log (gamma + 1) *)
Lemma logit_gap_bounded gamma s : 0 < gamma -> logit_gap gamma s < ln (gamma + 1).
Proof.
  intros Hg. unfold logit_gap. pose proof (u_range s) as U. pose proof (u_pos s). pose proof (u_pos (- s)) as V.
  pose proof (one_plus_u gamma s ltac:(lra)) as A. pose proof (one_plus_u gamma (- s) ltac:(lra)) as B.
  apply ln_increasing; [apply Rdiv_lt_0_compat; assumption|].
  apply (Rmult_lt_reg_r (1 + gamma * u (- s))); [exact B|].
  replace ((1 + gamma * u s) / (1 + gamma * u (- s)) * (1 + gamma * u (- s))) with (1 + gamma * u s) by (field; lra).
  assert (0 < gamma * u (- s)) by (apply Rmult_lt_0_compat; lra). assert (gamma * u s < gamma * 1) by (apply Rmult_lt_compat_l; lra). nra.
Qed.

(* Faithfulness: ours, exact: no smaller inverse temperature than gamma + 1 bounds the map. *)
Theorem kk24_prop3_low_sharp gamma b : 0 < gamma -> b < gamma + 1 -> exists s, 0 < s /\ b * s < logit (FC gamma s).
Proof.
  intros Hg Hb. pose proof (ln_pos (gamma + 1) ltac:(lra)) as L.
  assert (P : 0 < ln (gamma + 1) / (gamma + 1 - b)) by (apply Rdiv_lt_0_compat; lra).
  exists (ln (gamma + 1) / (gamma + 1 - b)). split; [exact P|]. set (s := ln (gamma + 1) / (gamma + 1 - b)) in *.
  rewrite logit_FC by lra. assert (E : (gamma + 1 - b) * s = ln (gamma + 1)) by (unfold s; field; lra).
  pose proof (logit_gap_bounded gamma s Hg). lra.
Qed.

(* not vacuous: gamma = 4, the paper's example, T_low = 0.2, at s = 1 the map lies strictly between *)
Example kk24_prop3_example : 1 / (4 + 1) = 0.2 /\ temperature_scaling (1 / (4 + 1)) (- 1) < FC 4 (- 1).
Proof.
  split; [lra|]. rewrite temperature_scaling_inverse by lra. rewrite FC_logits by lra. apply sigmoid_increasing.
  replace (logit_gap 4 (- 1)) with (- logit_gap 4 1) by (rewrite <- logit_gap_odd by lra; f_equal; ring). pose proof (kk24_prop3_simple 4 1 ltac:(lra) ltac:(lra)) as H. rewrite logit_FC in H by lra. lra.
Qed.
