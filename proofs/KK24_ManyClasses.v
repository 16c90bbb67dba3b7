(* KK24 section 3.3 leaves open between which temperatures the map lies for three or more classes: the lower one, and the upper one
   where confidence never falls. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss EntropyRatio Gain KK24_Prop4 Confidence EachN KK24_Prop5.
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
   gives the predicted class at least the probability that the map gives it. That no larger temperature does is the next
   theorem. *)
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

(* a predicted class of nearly 1, the others equal: w(r) / w(a) ~ r^(gamma + 1), below (r / a)^b for b < gamma + 1 *)
Lemma weight_ratio_small g k b : 0 < g -> 1 <= k -> 0 < b -> b < g + 1 ->
  exists r, 0 < r /\ k * r <= 1 / 2 /\ weight g r * Rpower (1 - k * r) b < weight g (1 - k * r) * Rpower r b.
Proof.
  intros Hg Hk Hb Lb.
  pose (A := g * ln 2 + g * ln k + ln (1 + g) + ln 2).
  pose (r := Rmin (1 / (2 * k)) (exp (- (A + 1) / (g + 1 - b)))). exists r.
  assert (R0 : 0 < r) by (unfold r; apply Rmin_glb_lt; [apply Rdiv_lt_0_compat; lra|apply exp_pos]).
  assert (R1 : k * r <= 1 / 2).
  { assert (L : r <= 1 / (2 * k)) by apply Rmin_l. apply (Rmult_le_compat_l k) in L; [|lra].
    replace (k * (1 / (2 * k))) with (1 / 2) in L by (field; lra). exact L. }
  assert (R2 : (g + 1 - b) * ln r <= - (A + 1)).
  { assert (L : r <= exp (- (A + 1) / (g + 1 - b))) by apply Rmin_r.
    apply (Rcomplements.ln_le r _ R0) in L. rewrite ln_exp in L. apply (Rmult_le_compat_l (g + 1 - b)) in L; [|lra].
    replace ((g + 1 - b) * (- (A + 1) / (g + 1 - b))) with (- (A + 1)) in L by (field; lra). exact L. }
  split; [exact R0|]. split; [exact R1|].
  assert (R3 : r <= 1 / 2) by nra. set (a := 1 - k * r). assert (KR : 0 < k * r) by (apply Rmult_lt_0_compat; lra).
  assert (Ha : 1 / 2 <= a < 1) by (unfold a; lra).
  assert (W : forall q, 0 < q < 1 -> weight g q = exp (ln q - log_gain g q)).
  { intros q Q. unfold weight. rewrite gain_exp by lra. unfold Rminus. rewrite exp_plus, exp_ln, exp_Ropp by lra. reflexivity. }
  rewrite (W r), (W a) by lra. unfold Rpower. rewrite <- !exp_plus. apply exp_increasing.
  (* log g(r) >= g log (1/2); log g(a) <= g log (k r) + log (1 + g) *)
  assert (Half : ln (1 / 2) = - ln 2) by (rewrite ln_div, ln_1 by lra; ring).
  assert (G1 : - (g * ln 2) <= log_gain g r).
  { unfold log_gain. assert (L : ln (1 / 2) <= ln (1 - r)) by (apply Rcomplements.ln_le; lra). rewrite Half in L.
    apply (Rmult_le_compat_l g) in L; [|lra]. pose proof (entropy_ratio_pos r ltac:(lra)) as B.
    assert (0 < g * entropy_ratio r) by (apply Rmult_lt_0_compat; lra).
    pose proof (ln_pos (1 + g * entropy_ratio r) ltac:(lra)). lra. }
  assert (G2 : log_gain g a <= g * (ln k + ln r) + ln (1 + g)).
  { unfold log_gain. replace (1 - a) with (k * r) by (unfold a; ring). rewrite ln_mult by lra.
    pose proof (entropy_ratio_pos a ltac:(lra)) as B0. pose proof (entropy_ratio_lt_1 a ltac:(lra)) as B1.
    assert (0 < g * entropy_ratio a < g * 1) by (split; [apply Rmult_lt_0_compat|apply Rmult_lt_compat_l]; lra).
    assert (ln (1 + g * entropy_ratio a) < ln (1 + g)) by (apply ln_increasing; lra). lra. }
  assert (G3 : - ln 2 <= ln a <= 0).
  { split; [rewrite <- Half; apply Rcomplements.ln_le; lra|pose proof (ln_neg a ltac:(lra)); lra]. }
  assert (G4 : b * ln a - ln a <= ln 2).
  { replace (b * ln a - ln a) with (b * ln a + - ln a) by ring. assert (b * ln a <= 0) by nra. lra. }
  unfold A in R2. lra.
Qed.

(* Faithfulness: ours (the second half of kk24.many_low, 'no larger T does'), exact: for every n >= 2, gamma > 0 and
   T > 1 / (gamma + 1) there is a prediction whose top class the map gives more than temperature scaling with T. *)
Theorem kk24_many_low_largest n gamma T : (2 <= n)%nat -> 0 < gamma -> 1 / (gamma + 1) < T ->
  exists q j, open_simplex n q /\ (forall i, (i < n)%nat -> q i < 1) /\ predicted n q j /\
    temperature_scaling_n n T q j < focal_map n gamma q j.
Proof.
  intros Hn Hg HT. destruct n as [|k]; [lia|].
  assert (I0 : 0 < 1 / (gamma + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (K : 1 <= INR k) by (change 1 with (INR 1); apply le_INR; lia).
  assert (B0 : 0 < 1 / T) by (apply Rdiv_lt_0_compat; lra).
  assert (B1 : 1 / T < gamma + 1).
  { apply (Rmult_lt_reg_r T); [lra|]. replace (1 / T * T) with 1 by (field; lra).
    apply (Rmult_lt_compat_l (gamma + 1)) in HT; [|lra]. replace ((gamma + 1) * (1 / (gamma + 1))) with 1 in HT by (field; lra). lra. }
  destruct (weight_ratio_small gamma (INR k) (1 / T) Hg K B0 B1) as [r [R0 [R1 W]]].
  assert (R2 : r <= 1 / 2) by nra. assert (KR : 0 < INR k * r) by (apply Rmult_lt_0_compat; lra).
  set (a := 1 - INR k * r) in *. set (b := 1 / T) in *.
  set (q := one_and_rest a r).
  assert (Q : simplex (S k) q) by (apply one_and_rest_simplex; unfold a; lra).
  assert (N : forall i, (i < S k)%nat -> 0 < q i < 1) by (intros [|i] _; unfold q, a; simpl; lra).
  assert (O : open_simplex (S k) q) by (split; [intros i Hi; apply N; exact Hi|apply Q]).
  assert (N1 : forall i, (i < S k)%nat -> q i < 1) by (intros i Hi; apply N; exact Hi).
  exists q, 0%nat. split; [exact O|]. split; [exact N1|].
  split; [apply one_and_rest_predicted; unfold a; lra|].
  rewrite <- kk24_prop4_printed; [|exact O|exact N1|lia]. rewrite map_inside; [|lra|exact Q|exact N1|lia].
  assert (A0 : 0 < a < 1) by (unfold a; lra).
  assert (S1 : total (S k) gamma q = weight gamma a + INR k * weight gamma r).
  { unfold total. rewrite sum_first. simpl q at 1. rewrite weight_closed_some by lra. f_equal.
    rewrite (sum_ext k _ (fun _ => weight gamma r)) by (intros i Hi; simpl; apply weight_closed_some; lra).
    apply sum_const. }
  rewrite S1. unfold temperature_scaling_n. fold b. rewrite sum_first. simpl q.
  rewrite sum_const.
  rewrite weight_closed_some by lra.
  pose proof (weight_pos gamma a ltac:(lra) A0) as WA. pose proof (weight_pos gamma r ltac:(lra) ltac:(lra)) as WR.
  pose proof (Rpower_pos a b) as PA. pose proof (Rpower_pos r b) as PR.
  set (wa := weight gamma a) in *. set (wr := weight gamma r) in *. set (pa := Rpower a b) in *. set (pr := Rpower r b) in *.
  assert (D1 : 0 < wa + INR k * wr) by nra. assert (D2 : 0 < pa + INR k * pr) by nra.
  apply (Rmult_lt_reg_r ((wa + INR k * wr) * (pa + INR k * pr))); [apply Rmult_lt_0_compat; assumption|].
  replace (pa / (pa + INR k * pr) * ((wa + INR k * wr) * (pa + INR k * pr))) with (pa * (wa + INR k * wr)) by (field; lra).
  replace (wa / (wa + INR k * wr) * ((wa + INR k * wr) * (pa + INR k * pr))) with (wa * (pa + INR k * pr)) by (field; lra).
  assert (INR k * (wr * pa) < INR k * (wa * pr)) by (apply Rmult_lt_compat_l; lra). lra.
Qed.

(* not vacuous: three classes *)
Example kk24_many_low_three : let q := one_and_rest 0.5 0.25 in
  open_simplex 3 q /\ predicted 3 q 0 /\ focal_map 3 1 q 0 <= temperature_scaling_n 3 (1 / (1 + 1)) q 0.
Proof.
  intros q. assert (O : open_simplex 3 q) by (split; [intros [|i] _; simpl; lra|simpl; lra]).
  assert (P : predicted 3 q 0) by (apply (one_and_rest_predicted 2); lra).
  split; [exact O|split; [exact P|]]. apply kk24_many_low; [lra|exact O| |exact P]. intros [|i] _; simpl; lra.
Qed.

(* ---- from below: where confidence never falls, T = 1 and no smaller temperature ---- *)

Lemma gain_at_most gamma q : 0 <= gamma -> 0 < q < 1 -> gain gamma q <= 1 + gamma.
Proof.
  intros G H. unfold gain. pose proof (entropy_ratio_pos q H) as A. pose proof (entropy_ratio_lt_1 q H) as B.
  assert (R : Rpower (1 - q) gamma <= 1).
  { unfold Rpower. pose proof (ln_neg (1 - q) ltac:(lra)). assert (K : gamma * ln (1 - q) <= 0) by nra.
    destruct K as [K|K]; [apply exp_increasing in K|rewrite K]; rewrite exp_0 in *; lra. }
  pose proof (Rpower_pos (1 - q) gamma). assert (gamma * entropy_ratio q <= gamma * 1) by (apply Rmult_le_compat_l; lra).
  apply (Rle_trans _ (1 * (1 + gamma * entropy_ratio q))); [apply Rmult_le_compat_r; nra|lra].
Qed.

Lemma gain_at_least gamma q r : 0 <= gamma -> 0 < q -> q <= r -> r < 1 -> Rpower (1 - r) gamma <= gain gamma q.
Proof.
  intros G Q L R. unfold gain. pose proof (entropy_ratio_pos q ltac:(lra)) as A. pose proof (Rpower_pos (1 - q) gamma) as P.
  assert (B : Rpower (1 - r) gamma <= Rpower (1 - q) gamma) by (apply Rle_Rpower_l; lra).
  assert (0 <= gamma * entropy_ratio q) by (apply Rmult_le_pos; lra). nra.
Qed.

(* n - 1 tied classes and a small enough one: temperature scaling with T < 1 is more confident than the map *)
Lemma sharper_than_map k gamma T : (2 <= k)%nat -> 0 < gamma -> 0 < T < 1 ->
  exists q j, open_simplex (S k) q /\ predicted (S k) q j /\ focal_map (S k) gamma q j < temperature_scaling_n (S k) T q j.
Proof.
  intros Hk Hg HT. assert (K : 2 <= INR k) by (change 2 with (INR 2); apply le_INR; exact Hk).
  assert (IK : 0 < / INR k <= 1 / 2).
  { split; [apply Rinv_0_lt_compat; lra|]. replace (1 / 2) with (/ 2) by field. apply Rinv_le_contravar; lra. }
  set (b := 1 / T). assert (B : 1 < b).
  { unfold b. apply (Rmult_lt_reg_r T); [lra|]. replace (1 / T * T) with 1 by (field; lra). lra. }
  set (c := Rpower (1 - / INR k) gamma). pose proof (Rpower_pos (1 - / INR k) gamma) as C. fold c in C.
  assert (C1 : c <= 1).
  { unfold c, Rpower. pose proof (ln_neg (1 - / INR k) ltac:(lra)). assert (Z : gamma * ln (1 - / INR k) < 0) by nra.
    apply exp_increasing in Z. rewrite exp_0 in Z. lra. }
  set (D := c / (2 * (1 + gamma))). assert (HD : 0 < D < 1).
  { unfold D. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (2 * (1 + gamma))); [lra|].
    replace (c / (2 * (1 + gamma)) * (2 * (1 + gamma))) with c by (field; lra). lra. }
  set (d := Rpower D (/ (b - 1))). pose proof (Rpower_pos D (/ (b - 1))) as D0. fold d in D0.
  assert (P : Rpower d (b - 1) = D).
  { unfold d. rewrite Rpower_mult. replace (/ (b - 1) * (b - 1)) with 1 by (field; lra). apply Rpower_1. lra. }
  assert (D1 : d < 1).
  { unfold d, Rpower. pose proof (ln_neg D HD). assert (I : 0 < / (b - 1)) by (apply Rinv_0_lt_compat; lra).
    assert (Z : / (b - 1) * ln D < 0) by nra. apply exp_increasing in Z. rewrite exp_0 in Z. exact Z. }
  set (m := / (INR k + d)). assert (M0 : 0 < m) by (unfold m; apply Rinv_0_lt_compat; lra).
  assert (M1 : m <= / INR k) by (unfold m; apply Rinv_le_contravar; lra).
  assert (E0 : 0 < d * m < m) by nra.
  assert (S1 : d * m + INR k * m = 1) by (unfold m; field; lra).
  set (q := one_and_rest (d * m) m).
  assert (Q : simplex (S k) q) by (apply one_and_rest_simplex; lra).
  assert (N : forall i, (i < S k)%nat -> 0 < q i < 1) by (intros [|i] _; unfold q; simpl; lra).
  assert (O : open_simplex (S k) q) by (split; [intros i Hi; apply N; exact Hi|apply Q]).
  assert (N1 : forall i, (i < S k)%nat -> q i < 1) by (intros i Hi; apply N; exact Hi).
  exists q, 1%nat. split; [exact O|]. split; [split; [lia|intros [|i] _; unfold q; simpl; lra]|].
  rewrite <- kk24_prop4_printed; [|exact O|exact N1|lia]. rewrite map_inside; [|lra|exact Q|exact N1|lia].
  assert (ST : total (S k) gamma q = weight gamma (d * m) + INR k * weight gamma m).
  { unfold total. rewrite sum_first. simpl q at 1. rewrite weight_closed_some by lra. f_equal.
    rewrite (sum_ext k _ (fun _ => weight gamma m)) by (intros i Hi; simpl; apply weight_closed_some; lra). apply sum_const. }
  rewrite ST. unfold temperature_scaling_n. fold b. rewrite sum_first. simpl q. rewrite sum_const. rewrite weight_closed_some by lra.
  pose proof (weight_pos gamma m ltac:(lra) ltac:(lra)) as WM. pose proof (weight_pos gamma (d * m) ltac:(lra) ltac:(lra)) as WE.
  assert (PE : Rpower (d * m) b = D * d * Rpower m b).
  { rewrite <- Rpower_mult_distr by lra. f_equal. rewrite <- P. replace b with ((b - 1) + 1) at 1 by ring.
    rewrite Rpower_plus, Rpower_1 by lra. reflexivity. }
  rewrite PE. pose proof (Rpower_pos m b) as PM.
  assert (X : weight gamma m * (D * d) < weight gamma (d * m)).
  { unfold weight. pose proof (gain_pos gamma m ltac:(lra) ltac:(lra)) as GM.
    pose proof (gain_pos gamma (d * m) ltac:(lra) ltac:(lra)) as GE.
    pose proof (gain_at_most gamma (d * m) ltac:(lra) ltac:(lra)) as U.
    pose proof (gain_at_least gamma m (/ INR k) ltac:(lra) M0 M1 ltac:(lra)) as W. fold c in W.
    assert (DG : D * gain gamma (d * m) < gain gamma m).
    { apply (Rle_lt_trans _ (D * (1 + gamma))); [apply Rmult_le_compat_l; lra|].
      replace (D * (1 + gamma)) with (c / 2) by (unfold D; field; lra). lra. }
    apply (Rmult_lt_reg_r (gain gamma m * gain gamma (d * m))); [apply Rmult_lt_0_compat; assumption|].
    replace (m / gain gamma m * (D * d) * (gain gamma m * gain gamma (d * m))) with (d * m * (D * gain gamma (d * m))) by (field; lra).
    replace (d * m / gain gamma (d * m) * (gain gamma m * gain gamma (d * m))) with (d * m * gain gamma m) by (field; lra).
    apply Rmult_lt_compat_l; lra. }
  set (wm := weight gamma m) in *. set (we := weight gamma (d * m)) in *. set (pm := Rpower m b) in *.
  assert (KW : 0 < INR k * wm) by (apply Rmult_lt_0_compat; lra).
  assert (DD : 0 < D * d * pm) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact PM]).
  assert (KP : 0 < INR k * pm) by (apply Rmult_lt_0_compat; lra).
  apply (Rmult_lt_reg_r ((we + INR k * wm) * (D * d * pm + INR k * pm))); [apply Rmult_lt_0_compat; lra|].
  replace (wm / (we + INR k * wm) * ((we + INR k * wm) * (D * d * pm + INR k * pm))) with
    (wm * (D * d) * pm + INR k * wm * pm) by (field; lra).
  replace (pm / (D * d * pm + INR k * pm) * ((we + INR k * wm) * (D * d * pm + INR k * pm))) with
    (we * pm + INR k * wm * pm) by (field; lra).
  apply (Rmult_lt_compat_r pm) in X; [|exact PM]. lra.
Qed.

(* Faithfulness: ours (kk24.many_high_one), exact: T = 1 bounds the predicted class from below for three classes, and for more from
   gamma* (1 / (n - 1)) on, since confidence never falls there; no temperature below 1 does. *)
Theorem kk24_many_high_one n gamma : 0 < gamma ->
  n = 3%nat \/ (4 <= n)%nat /\ (exists gamma_star, is_gamma_star (1 / (INR n - 1)) gamma_star /\ gamma_star <= gamma) ->
  (forall q j, open_simplex n q -> predicted n q j -> temperature_scaling_n n 1 q j <= focal_map n gamma q j) /\
  (forall T, 0 < T < 1 -> exists q j, open_simplex n q /\ predicted n q j /\
    focal_map n gamma q j < temperature_scaling_n n T q j).
Proof.
  intros Hg H. assert (N3 : (3 <= n)%nat) by (destruct H as [->|[H _]]; lia).
  assert (Never : confidence_never_falls n gamma).
  { destruct H as [->|[H [gs [S L]]]]; [apply kk24_prop5_three_classes; exact Hg|].
    apply kk24_prop5_each_n; [exact Hg|lia|]. apply (gamma_star_threshold _ gs); [|exact S|exact Hg|exact L].
    assert (4 <= INR n) by (replace 4 with (INR 4) by (simpl; ring); apply le_INR; exact H).
    unfold Rdiv. rewrite Rmult_1_l. split; [apply Rinv_0_lt_compat; lra|].
    rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
  split.
  - intros q j O P. assert (Q : simplex n q) by (split; [intros i Hi; apply Rlt_le, O; exact Hi|apply O]).
    assert (N1 : forall i, (i < n)%nat -> q i < 1).
    { intros i Hi. set (o := if Nat.eqb i 0 then 1%nat else 0%nat).
      assert (Ho : (o < n)%nat /\ i <> o) by (unfold o; destruct (Nat.eqb_spec i 0); lia).
      pose proof (sum_two n q i o (proj1 Q) Hi (proj1 Ho) (proj2 Ho)). pose proof (proj1 O o (proj1 Ho)). rewrite (proj2 Q) in *. lra. }
    assert (E : temperature_scaling_n n 1 q j = q j).
    { unfold temperature_scaling_n. replace (1 / 1) with 1 by field. rewrite Rpower_1 by (apply O, P).
      rewrite (sum_ext n _ q) by (intros i Hi; apply Rpower_1, O; exact Hi). rewrite (proj2 Q). field. }
    rewrite E, <- kk24_prop4_printed by (auto; apply P). apply Never; assumption.
  - intros T HT. destruct n as [|k]; [lia|]. apply sharper_than_map; [lia|exact Hg|exact HT].
Qed.
