(* KK24 section 3.2: the numbers on temperatures, in its text and in the caption of Fig. 2.

   KK24: "the theoretical result suggests the focal calibration with gamma = 4 for all possible logits are bounded between
   temperature scaling with T = 0.2 and T = 0.238. If we double-check this result numerically, we could suggest even tighter
   bounds T = 0.206 and T = 0.218": the maximal lower and minimal upper bound on logits "within the range (-20, 20)", T "in
   increments of 0.001". Fig. 2: "focal calibration with parameters 0.5 and 3 visualized in logit scale together with closest
   temperature scaling maps (with T = 0.76 and T = 0.36 correspondingly)".

   Faithful: T = 0.218 exact, as a bound at every logit, and the smallest of that search; T = 0.206 refuted exactly on
   (-20, 20), where it is 0.203, and shown to be what (-10, 10) gives. Of the caption the negation is equivalent: at every logit
   but 0 another temperature is strictly closer to the map, so the printed one is closest in no sense that grows with the
   differences. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio BinaryMap KK24_Prop3 KK24_Prop3_Sharp Confidence KK24_ManyClasses.
Open Scope R_scope.

Lemma temperature_scaling_mirror T s : temperature_scaling T (- s) = 1 - temperature_scaling T s.
Proof. unfold temperature_scaling. rewrite <- sigmoid_opp. f_equal. unfold Rdiv. ring. Qed.

Lemma FC_mirror g s : -1 <= g -> FC g (- s) = 1 - FC g s.
Proof.
  intros G. rewrite !FC_logits by exact G. rewrite <- sigmoid_opp, logit_gap_odd by exact G. f_equal. ring.
Qed.

Lemma sigmoid_lt_iff a b : sigmoid a < sigmoid b <-> a < b.
Proof.
  split; [|apply sigmoid_increasing]. intros H. apply Rnot_le_lt. intro L. pose proof (sigmoid_le b a L). lra.
Qed.

(* a bound on the right half is one on the left, mirrored *)
Lemma bound_mirrored g T reach : -1 <= g ->
  (forall s, 0 < s <= reach -> FC g s <= temperature_scaling T s) ->
  forall s, - reach <= s < 0 -> temperature_scaling T s <= FC g s.
Proof.
  intros G H s S. specialize (H (- s) ltac:(lra)). rewrite FC_mirror, temperature_scaling_mirror in H by exact G. lra.
Qed.

(* ---- Fig. 2: a temperature above 1 / beta_0 is at every logit further from the map than 1 / beta_0 is ---- *)

(* Faithfulness: equivalent: 'closest' as the distance of logits at each point. *)
Theorem kk24_not_closest gamma T s : 0 < gamma <= gamma_c -> 1 / beta_0 gamma < T -> s <> 0 ->
  Rabs (FC gamma s - temperature_scaling (1 / beta_0 gamma) s) < Rabs (FC gamma s - temperature_scaling T s).
Proof.
  intros G L.
  assert (P : forall s, 0 < s -> temperature_scaling T s < temperature_scaling (1 / beta_0 gamma) s < FC gamma s).
  { intros t Ht. pose proof (beta_0_pos gamma ltac:(lra)) as B. rewrite temperature_scaling_inverse by exact B.
    assert (T0 : 0 < 1 / beta_0 gamma) by (apply Rdiv_lt_0_compat; lra).
    split.
    - unfold temperature_scaling. apply sigmoid_increasing. unfold Rdiv at 1. rewrite (Rmult_comm t).
    apply Rmult_lt_compat_r; [exact Ht|].
      replace (beta_0 gamma) with (/ (1 / beta_0 gamma)) by (field; lra). apply Rinv_lt_contravar; [|exact L].
      apply Rmult_lt_0_compat; lra.
    - pose proof (kk24_prop3_sharp_strict gamma t G Ht) as S. rewrite logit_FC in S by lra. rewrite FC_logits by lra.
      apply sigmoid_increasing. lra. }
  intros N. destruct (Rtotal_order s 0) as [S|[S|S]]; [|contradiction|].
  - specialize (P (- s) ltac:(lra)). rewrite FC_mirror in P by lra. rewrite !temperature_scaling_mirror in P.
    rewrite !Rabs_left by lra. lra.
  - specialize (P s S). rewrite !Rabs_right by lra. lra.
Qed.

Theorem kk24_fig2_caption_half s : s <> 0 ->
  Rabs (FC (1 / 2) s - temperature_scaling (1 / beta_0 (1 / 2)) s) < Rabs (FC (1 / 2) s - temperature_scaling
    (76 / 100) s).
Proof.
  pose proof gamma_c_value. apply kk24_not_closest; [lra|]. unfold beta_0, gap_at_0. interval with (i_prec 60).
Qed.

Theorem kk24_fig2_caption_three s : s <> 0 ->
  Rabs (FC 3 s - temperature_scaling (1 / beta_0 3) s) < Rabs (FC 3 s - temperature_scaling (36 / 100) s).
Proof.
  pose proof gamma_c_value. apply kk24_not_closest; [lra|]. unfold beta_0, gap_at_0. interval with (i_prec 60).
Qed.

(* ---- gamma = 4: the upper temperature of the search ---- *)

Lemma FC_4_below T s : 0 < T -> (5 * s - logit_gap 4 s < s / T) -> FC 4 s < temperature_scaling T s.
Proof. intros P H. rewrite FC_logits by lra. unfold temperature_scaling. apply sigmoid_increasing. lra. Qed.

Lemma FC_4_above T s : 0 < T -> (s / T < 5 * s - logit_gap 4 s) -> temperature_scaling T s < FC 4 s.
Proof. intros P H. rewrite FC_logits by lra. unfold temperature_scaling. apply sigmoid_increasing. lra. Qed.

Theorem kk24_example_upper : (forall s, 0 < s -> temperature_scaling (218 / 1000) s < FC 4 s) /\
  FC 4 (1 / 10) < temperature_scaling (217 / 1000) (1 / 10).
Proof.
  pose proof gamma_c_value. split.
  - intros s S. pose proof (kk24_prop3_sharp_strict 4 s ltac:(lra) S) as [A _]. rewrite logit_FC in A by lra.
    assert (B : 1000 / 218 < beta_0 4) by (unfold beta_0, gap_at_0; interval with (i_prec 60)).
    apply FC_4_above; [lra|]. replace (s / (218 / 1000)) with (1000 / 218 * s) by field.
    assert (1000 / 218 * s < beta_0 4 * s) by (apply Rmult_lt_compat_r; assumption). lra.
  - apply FC_4_below; [lra|]. unfold logit_gap, u. rewrite Ropp_involutive. interval with (i_prec 60).
Qed.

(* ---- gamma = 4: the lower temperature of the search ---- *)

(* R(s) > c s on (0, reach]: by the slope up to 1, then directly *)
Lemma gap_from_slope c s : (forall t, 0 < t < 1 -> c < logit_gap_slope 4 t) -> 0 < s <= 1 -> c * s < logit_gap 4 s.
Proof.
  intros H S. assert (A : logit_gap 4 0 - c * 0 < logit_gap 4 s - c * s).
  { apply (increasing (fun t => logit_gap 4 t - c * t) (fun t => logit_gap_slope 4 t - c)); [lra| |]; intros t T.
    - apply (is_derive_minus (logit_gap 4) (fun t => c * t)); [apply logit_gap_derivative; lra|auto_derive;
      [exact I|ring]].
    - specialize (H t ltac:(lra)). lra. }
  rewrite logit_gap_0 in A. lra.
Qed.

Lemma slope_4 t : 0 < t < 1 -> 15 / 100 < logit_gap_slope 4 t.
Proof.
  intros T. assert (T1 : 0 <= t <= 1) by lra. unfold logit_gap_slope, sigmoid, u. rewrite ?Ropp_involutive.
  interval with (i_prec 60, i_bisect t, i_taylor t, i_degree 4).
Qed.

Lemma gap_up_to_10 s : 0 < s <= 10 -> 146 / 1000 * s < logit_gap 4 s.
Proof.
  intros S. destruct (Rle_lt_dec s 1) as [A|A].
  - pose proof (gap_from_slope (15 / 100) s slope_4 ltac:(lra)). lra.
  - assert (B : 0 < logit_gap 4 s - 146 / 1000 * s); [|lra].
    assert (S1 : 1 <= s <= 10) by lra. unfold logit_gap, u. rewrite ?Ropp_involutive.
    interval with (i_prec 60, i_bisect s, i_taylor s, i_degree 4).
Qed.

(* the printed 0.206 is no bound on (-20, 20): at logit 15 it is crossed.
   Faithfulness: equivalent: the printed number as a bound, at one logit. *)
Theorem kk24_example_lower_refuted : temperature_scaling (206 / 1000) 15 < FC 4 15 /\ FC 4
  (- 15) < temperature_scaling (206 / 1000) (- 15).
Proof.
  assert (A : temperature_scaling (206 / 1000) 15 < FC 4 15).
  { apply FC_4_above; [lra|]. pose proof (logit_gap_below_log 4 15 ltac:(lra)).
    assert (ln (1 + 4) < 2) by interval with (i_prec 60). lra. }
  split; [exact A|]. replace (- 15) with (Ropp 15) by lra. rewrite FC_mirror, temperature_scaling_mirror by lra. lra.
Qed.

(* it is what (-10, 10) gives: 0.206 bounds there, 0.207 does not.
   Faithfulness: ours, equivalent: three decimals, from both sides. *)
Theorem kk24_example_lower_10 : (forall s, 0 < s <= 10 -> FC 4 s < temperature_scaling (206 / 1000) s) /\
  temperature_scaling (207 / 1000) (999 / 100) < FC 4 (999 / 100).
Proof.
  split.
  - intros s S. apply FC_4_below; [lra|]. replace (s / (206 / 1000)) with (1000 / 206 * s) by field.
    pose proof (gap_up_to_10 s S). lra.
  - apply FC_4_above; [lra|]. pose proof (logit_gap_below_log 4 (999 / 100) ltac:(lra)).
    assert (ln (1 + 4) < 161 / 100) by interval with (i_prec 60). lra.
Qed.

(* on (-20, 20) the search gives 0.203: it bounds, 0.204 does not.
   Faithfulness: ours, equivalent: three decimals, from both sides. *)
Theorem kk24_example_lower_20 : (forall s, 0 < s <= 20 -> FC 4 s < temperature_scaling (203 / 1000) s) /\
  temperature_scaling (204 / 1000) (1999 / 100) < FC 4 (1999 / 100).
Proof.
  split.
  - intros s S. apply FC_4_below; [lra|]. replace (s / (203 / 1000)) with (1000 / 203 * s) by field.
    destruct (Rle_lt_dec s 10) as [A|A].
    + pose proof (gap_up_to_10 s ltac:(lra)). lra.
    + (* R increases, and R(10) > 1.5 *)
      assert (M : logit_gap 4 10 < logit_gap 4 s).
      { apply (increasing (logit_gap 4) (logit_gap_slope 4)); [exact A| |]; intros t T.
        - apply logit_gap_derivative. lra.
        - apply logit_gap_slope_bounds. lra. }
      assert (B : 15 / 10 < logit_gap 4 10) by (unfold logit_gap, u; interval with (i_prec 60)).
      lra.
  - apply FC_4_above; [lra|]. pose proof (logit_gap_below_log 4 (1999 / 100) ltac:(lra)).
    assert (ln (1 + 4) < 161 / 100) by interval with (i_prec 60). lra.
Qed.

(* ---- the theoretical bounds for gamma = 4, and Prop. 3's temperature with three classes ---- *)

Lemma inverse_temperature_4 : 4202 / 1000 < 4 + 1 - (2 * ln 2 - 1) * ln (4 + 1).
Proof. interval with (i_prec 60). Qed.

(* Paper: 'The theoretical result suggests the focal calibration with gamma = 4 for all possible logits are bounded between
   temperature scaling with T = 0.2 and T = 0.238.' Faithfulness: exact. The printed bound, 0.2384, is rounded down, and 0.238
   bounds all the same; to three digits the printed formulas give 0.2 and 0.238. *)
Theorem kk24_example_theory :
  (forall s, 0 <= s -> temperature_scaling (238 / 1000) s <= FC 4 s <= temperature_scaling (2 / 10) s) /\
  (forall s, s <= 0 -> temperature_scaling (2 / 10) s <= FC 4 s <= temperature_scaling (238 / 1000) s) /\
  1 / (4 + 1) = 2 / 10 /\ 2375 / 10000 < 1 / (4 + 1 - 1 / 2 * ln (4 + 1)) < 2385 / 10000.
Proof.
  pose proof inverse_temperature_4 as B.
  destruct (kk24_prop3_log 4 ltac:(lra)) as [Right Left]. set (b := 4 + 1 - (2 * ln 2 - 1) * ln (4 + 1)) in *.
  assert (T : forall s, s / (1 / b) = b * s) by (intros s; field; lra).
  assert (E : 1 / (4 + 1) = 2 / 10) by field. rewrite E in Right, Left.
  split; [|split; [|split; [exact E|]]].
  - intros s S. specialize (Right s S). split; [|apply Right]. eapply Rle_trans; [|apply Right].
    unfold temperature_scaling. apply sigmoid_le. rewrite T. replace (s / (238 / 1000)) with (1000 / 238 * s) by field.
    apply Rmult_le_compat_r; lra.
  - intros s S. specialize (Left s S). split; [apply Left|]. eapply Rle_trans; [apply Left|].
    unfold temperature_scaling. apply sigmoid_le. rewrite T. replace (s / (238 / 1000)) with (1000 / 238 * s) by field.
    replace (b * s) with (- (b * - s)) by ring. replace (1000 / 238 * s) with (- (1000 / 238 * - s)) by ring.
    apply Ropp_le_contravar. apply Rmult_le_compat_r; lra.
  - split; interval with (i_prec 60).
Qed.

(* three classes, one at 0.4 and two at 0.3 *)
Definition three_classes (i : nat) : R := match i with O => 4 / 10 | _ => 3 / 10 end.

(* With the upper temperature of Prop. 3, gamma = 1, temperature scaling is more confident than the map.
   Faithfulness: ours (kk24.prop3_not_for_three), exact; [focal_map] is Eq. (1) as printed. *)
Theorem kk24_prop3_not_for_three : open_simplex 3 three_classes /\ predicted 3 three_classes 0 /\
  focal_map 3 1 three_classes 0 < temperature_scaling_n 3 (1 / (1 + 1 - 1 / 2 * ln (1 + 1))) three_classes 0.
Proof.
  split; [|split].
  - split; [|simpl; field]. intros [|i] _; simpl; lra.
  - split; [lia|]. intros [|i] _; simpl; lra.
  - unfold focal_map, temperature_scaling_n, eq1_term, three_classes, Rpower. simpl. interval with (i_prec 60).
Qed.

(* not vacuous: the numbers themselves *)
Example kk24_section32_numbers :
  0.7371 < 1 / beta_0 (1 / 2) < 0.7372 /\ 0.2759 < 1 / beta_0 3 < 0.2760 /\ 0.2178 < 1 / beta_0 4 < 0.2179.
Proof. unfold beta_0, gap_at_0. repeat split; interval with (i_prec 60). Qed.

(* the axioms of all of them, once: a print takes half a minute with interval's proofs *)
Definition kk24_section32_theorems :=
  (kk24_not_closest, kk24_fig2_caption_half, kk24_fig2_caption_three, kk24_example_upper, kk24_example_lower_refuted,
   kk24_example_lower_10, kk24_example_lower_20, kk24_example_theory, kk24_prop3_not_for_three).
