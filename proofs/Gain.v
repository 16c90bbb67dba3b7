(* The gain g(q) = - q L'(q): its logarithm is strictly concave, so it exceeds 1 up to tau and is below 1, falling, after it. *)

From Coq Require Import Reals Lra Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio.
Open Scope R_scope.

(* log (1 + g b) and its derivatives, for any b with derivatives b1, b2, b3 *)
Section Log1p.
Variables (g : R) (b b1 b2 b3 : R -> R) (x : R).
Hypothesis D1 : is_derive b x (b1 x).
Hypothesis D2 : is_derive b1 x (b2 x).
Hypothesis D3 : is_derive b2 x (b3 x).
Hypothesis P : 0 < 1 + g * b x.

Lemma log1p_derivative : is_derive (fun q => ln (1 + g * b q)) x (g * b1 x / (1 + g * b x)).
Proof.
  auto_derive; [split; [exists (b1 x); exact D1|split; [exact P|exact I]]|].
  replace (Derive (fun q : R => b q) x) with (b1 x) by (symmetry; apply is_derive_unique; exact D1). field. lra.
Qed.

Lemma log1p_derivative2 : is_derive (fun q => g * b1 q / (1 + g * b q)) x
  (g * b2 x / (1 + g * b x) - (g * b1 x / (1 + g * b x)) * (g * b1 x / (1 + g * b x))).
Proof.
  auto_derive.
  - split; [exists (b2 x); exact D2|split; [exists (b1 x); exact D1|split; [lra|exact I]]].
  - replace (Derive (fun q : R => b q) x) with (b1 x) by (symmetry; apply is_derive_unique; exact D1).
    replace (Derive (fun q : R => b1 q) x) with (b2 x) by (symmetry; apply is_derive_unique; exact D2). field. lra.
Qed.

Lemma log1p_derivative3 : is_derive
  (fun q => g * b2 q / (1 + g * b q) - (g * b1 q / (1 + g * b q)) * (g * b1 q / (1 + g * b q))) x
  (g * b3 x / (1 + g * b x) + 3 * (g * b1 x / (1 + g * b x)) * - (g * b2 x / (1 + g * b x))
   + 2 * ((g * b1 x / (1 + g * b x)) * (g * b1 x / (1 + g * b x)) * (g * b1 x / (1 + g * b x)))).
Proof.
  auto_derive.
  - repeat split; try lra; try (exists (b1 x); exact D1); try (exists (b2 x); exact D2); try (exists (b3 x); exact D3).
  - replace (Derive (fun q : R => b q) x) with (b1 x) by (symmetry; apply is_derive_unique; exact D1).
    replace (Derive (fun q : R => b1 q) x) with (b2 x) by (symmetry; apply is_derive_unique; exact D2).
    replace (Derive (fun q : R => b2 q) x) with (b3 x) by (symmetry; apply is_derive_unique; exact D3). field. lra.
Qed.
End Log1p.

Definition log_gain (g q : R) : R := g * ln (1 - q) + ln (1 + g * entropy_ratio q).
Definition log_gain1 (g q : R) : R := - (g / (1 - q)) + g * ratio1 q / (1 + g * entropy_ratio q).
(* the second derivative of log (1 + g b), and that of log g *)
Definition mixture2 (g q : R) : R :=
  g * ratio2 q / (1 + g * entropy_ratio q)
  - (g * ratio1 q / (1 + g * entropy_ratio q)) * (g * ratio1 q / (1 + g * entropy_ratio q)).
Definition log_gain2 (g q : R) : R := - (g / ((1 - q) * (1 - q))) + mixture2 g q.

Lemma one_plus_ratio g q : 0 <= g -> 0 < q < 1 -> 0 < 1 + g * entropy_ratio q.
Proof. intros Hg H. pose proof (entropy_ratio_pos q H). nra. Qed.

Lemma gain_exp g q : 0 <= g -> 0 < q < 1 -> gain g q = exp (log_gain g q).
Proof.
  intros Hg H. unfold gain, log_gain, Rpower. rewrite exp_plus, exp_ln; [reflexivity|]. apply one_plus_ratio; assumption.
Qed.

Lemma log_gain_ln g q : 0 <= g -> 0 < q < 1 -> log_gain g q = ln (gain g q).
Proof. intros Hg H. rewrite gain_exp by assumption. symmetry. apply ln_exp. Qed.

Lemma gain_lt g q r : 0 <= g -> 0 < q < 1 -> 0 < r < 1 -> log_gain g q < log_gain g r <-> gain g q < gain g r.
Proof.
  intros Hg Hq Hr. rewrite !gain_exp by assumption. split; [apply exp_increasing|apply exp_lt_inv].
Qed.

Lemma gain_le g q r : 0 <= g -> 0 < q < 1 -> 0 < r < 1 -> log_gain g q <= log_gain g r <-> gain g q <= gain g r.
Proof.
  intros Hg Hq Hr. pose proof (gain_lt g r q Hg Hr Hq). split; intros H1; apply Rnot_lt_le; intros H2; apply H in H2; lra.
Qed.

Lemma gain_le_1 g q : 0 <= g -> 0 < q < 1 -> log_gain g q <= 0 <-> gain g q <= 1.
Proof.
  intros Hg Hq. rewrite gain_exp by assumption. rewrite <- exp_0. split; intros [H|H].
  - left. apply exp_increasing. exact H.
  - right. rewrite H. reflexivity.
  - left. apply exp_lt_inv. exact H.
  - right. apply exp_inv. exact H.
Qed.

Lemma log_gain_derivative g q : 0 <= g -> 0 < q < 1 -> is_derive (log_gain g) q (log_gain1 g q).
Proof.
  intros Hg H. unfold log_gain, log_gain1.
  apply (is_derive_plus (fun q => g * ln (1 - q)) (fun q => ln (1 + g * entropy_ratio q))).
  - auto_derive; [lra|]. field. lra.
  - apply (log1p_derivative g entropy_ratio ratio1); [apply entropy_ratio_derivative; exact H|apply one_plus_ratio; assumption].
Qed.

Lemma log_gain1_derivative g q : 0 <= g -> 0 < q < 1 -> is_derive (log_gain1 g) q (log_gain2 g q).
Proof.
  intros Hg H. unfold log_gain1, log_gain2, mixture2.
  apply (is_derive_plus (fun q => - (g / (1 - q))) (fun q => g * ratio1 q / (1 + g * entropy_ratio q))).
  - auto_derive; [lra|]. field. lra.
  - apply (log1p_derivative2 g entropy_ratio ratio1 ratio2);
      [apply entropy_ratio_derivative; exact H|apply ratio1_derivative; exact H|apply one_plus_ratio; assumption].
Qed.

Lemma mixture2_neg g q : 0 < g -> 0 < q < 1 -> mixture2 g q < 0.
Proof.
  intros Hg H. unfold mixture2. pose proof (one_plus_ratio g q ltac:(lra) H) as P. pose proof (ratio2_neg q H) as N.
  assert (A : 0 < - (g * ratio2 q / (1 + g * entropy_ratio q))).
  { replace (- (g * ratio2 q / (1 + g * entropy_ratio q))) with (g * - ratio2 q / (1 + g * entropy_ratio q)) by (field; lra).
    apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact P]. }
  pose proof (Rle_0_sqr (g * ratio1 q / (1 + g * entropy_ratio q))) as S. unfold Rsqr in S. lra.
Qed.

Lemma mixture2_increasing g q r : 0 < g -> 0 < q -> q < r -> r < 1 -> mixture2 g q < mixture2 g r.
Proof.
  intros Hg. revert q r.
  apply (increasing_open (mixture2 g) (fun x => g * ratio3 x / (1 + g * entropy_ratio x)
    + 3 * (g * ratio1 x / (1 + g * entropy_ratio x)) * - (g * ratio2 x / (1 + g * entropy_ratio x))
    + 2 * ((g * ratio1 x / (1 + g * entropy_ratio x)) * (g * ratio1 x / (1 + g * entropy_ratio x)) * (g * ratio1 x / (1 + g * entropy_ratio x)))) 0 1);
    intros x Hx.
  - apply (log1p_derivative3 g entropy_ratio ratio1 ratio2 ratio3);
      [apply entropy_ratio_derivative|apply ratio1_derivative|apply ratio2_derivative|apply one_plus_ratio]; try assumption; lra.
  - pose proof (one_plus_ratio g x ltac:(lra) Hx) as P.
    pose proof (ratio1_pos x Hx) as R1. pose proof (ratio2_neg x Hx) as R2. pose proof (ratio3_pos x Hx) as R3.
    assert (A1 : 0 < g * ratio1 x / (1 + g * entropy_ratio x)) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact P]).
    assert (A3 : 0 < g * ratio3 x / (1 + g * entropy_ratio x)) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact P]).
    assert (A2 : 0 < - (g * ratio2 x / (1 + g * entropy_ratio x))).
    { replace (- (g * ratio2 x / (1 + g * entropy_ratio x))) with (g * - ratio2 x / (1 + g * entropy_ratio x)) by (field; lra).
      apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact P]. }
    set (a := g * ratio1 x / (1 + g * entropy_ratio x)) in *.
    assert (0 < a * a * a) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
    assert (0 < 3 * a * - (g * ratio2 x / (1 + g * entropy_ratio x))) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma log_gain2_neg g q : 0 < g -> 0 < q < 1 -> log_gain2 g q < 0.
Proof.
  intros Hg H. unfold log_gain2. pose proof (mixture2_neg g q Hg H).
  assert (0 < g / ((1 - q) * (1 - q))) by (apply Rdiv_lt_0_compat; [lra|apply Rmult_lt_0_compat; lra]). lra.
Qed.

(* strictly concave: below its tangents *)
Lemma log_gain_below_tangent g q r : 0 < g -> 0 < q < 1 -> 0 < r < 1 -> q <> r ->
  log_gain g r < log_gain g q + log_gain1 g q * (r - q).
Proof.
  intros Hg Hq Hr N.
  pose proof (above_tangent (fun x => 0 < x < 1) (fun x => - log_gain g x) (fun x => - log_gain1 g x) (fun x => - log_gain2 g x)) as T.
  specialize (T ltac:(intros; lra)).
  specialize (T ltac:(intros x Hx; apply (is_derive_opp (log_gain g)), log_gain_derivative; lra)).
  specialize (T ltac:(intros x Hx; apply (is_derive_opp (log_gain1 g)), log_gain1_derivative; lra)).
  specialize (T ltac:(intros x y z Hx Hz Hy; pose proof (log_gain2_neg g y Hg ltac:(lra)); lra)).
  specialize (T q r Hq Hr N). cbv beta in T. lra.
Qed.

(* near 0 it is not below g log (1 - q), which tends to 0 *)
Lemma log_gain_near_0 g eps : 0 < g -> 0 < eps -> exists d, 0 < d < 1 /\ forall q, 0 < q < d -> - eps < log_gain g q.
Proof.
  intros Hg He. exists (1 - exp (- (eps / g))).
  assert (E : 0 < eps / g) by (apply Rdiv_lt_0_compat; lra).
  assert (X : exp (- (eps / g)) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  pose proof (exp_pos (- (eps / g))) as X0. split; [lra|]. intros q Hq. unfold log_gain.
  assert (L : - (eps / g) < ln (1 - q)). { rewrite <- (ln_exp (- (eps / g))). apply ln_increasing; lra. }
  apply (Rmult_lt_compat_l g) in L; [|exact Hg]. replace (g * - (eps / g)) with (- eps) in L by (field; lra).
  pose proof (entropy_ratio_pos q ltac:(lra)) as B.
  assert (0 < ln (1 + g * entropy_ratio q)) by (apply ln_pos; assert (0 < g * entropy_ratio q) by (apply Rmult_lt_0_compat; lra); lra).
  lra.
Qed.

(* a rise anywhere means a value above 0 *)
Lemma log_gain_rise g a m : 0 < g -> 0 < a -> a < m -> m < 1 -> log_gain g a <= log_gain g m -> 0 < log_gain g a.
Proof.
  intros Hg Ha L Hm H. destruct (Rlt_dec 0 (log_gain g a)) as [P|P]; [exact P|exfalso].
  pose proof (log_gain_below_tangent g a m Hg ltac:(lra) ltac:(lra) ltac:(lra)) as T.
  assert (S : 0 < log_gain1 g a) by nra.
  destruct (log_gain_near_0 g (log_gain1 g a * (a / 2)) Hg) as [d [Hd N]]; [apply Rmult_lt_0_compat; lra|].
  pose (q := Rmin (d / 2) (a / 2)).
  assert (Q0 : 0 < q) by (unfold q; apply Rmin_glb_lt; lra).
  assert (Q1 : q <= d / 2) by apply Rmin_l. assert (Q2 : q <= a / 2) by apply Rmin_r.
  specialize (N q ltac:(lra)).
  pose proof (log_gain_below_tangent g a q Hg ltac:(lra) ltac:(lra) ltac:(lra)) as T2. nra.
Qed.

(* once at most 1, the gain falls *)
Lemma gain_falls g a m : 0 < g -> 0 < a -> a < m -> m < 1 -> gain g a <= 1 -> gain g m < gain g a.
Proof.
  intros Hg Ha L Hm H. apply gain_lt; try lra. apply gain_le_1 in H; try lra.
  apply Rnot_le_lt. intros R. pose proof (log_gain_rise g a m Hg Ha L Hm R). lra.
Qed.

(* where it is at most 1, it was larger before *)
Lemma gain_larger_before g q m : 0 < g -> 0 < q -> q < m -> m < 1 -> gain g m <= 1 -> gain g m < gain g q.
Proof.
  intros Hg Hq L Hm H. destruct (Rle_lt_dec (gain g q) 1) as [A|A]; [apply gain_falls; assumption|lra].
Qed.

(* below 1 at 1/2 *)
Lemma gain_half g : 0 < g -> gain g (1 / 2) < 1.
Proof.
  intros Hg. rewrite gain_exp by lra. apply (Rlt_le_trans _ (exp 0)); [|rewrite exp_0; lra].
  apply exp_increasing. unfold log_gain. rewrite entropy_ratio_half.
  replace (1 - 1 / 2) with (/ 2) by field. rewrite ln_Rinv by lra.
  pose proof (ln_pos 2 ltac:(lra)) as P. assert (Q : 0 < g * ln 2) by (apply Rmult_lt_0_compat; lra).
  pose proof (ln_lt (1 + g * ln 2) ltac:(lra) ltac:(lra)). lra.
Qed.

(* above 1 near 0 *)
Lemma gain_above_1 g q : 0 < g -> 0 < q -> q < exp (- (1 + g)) -> 1 < gain g q.
Proof.
  intros Hg Hq H. assert (E : exp (- (1 + g)) < 1) by (apply (Rlt_le_trans _ (exp 0)); [apply exp_increasing; lra|rewrite exp_0; lra]).
  rewrite gain_exp by lra. apply (Rle_lt_trans _ (exp 0)); [rewrite exp_0; lra|]. apply exp_increasing. unfold log_gain.
  assert (L : ln q < - (1 + g)). { rewrite <- (ln_exp (- (1 + g))). apply ln_increasing; lra. }
  pose proof (entropy_ratio_pos q ltac:(lra)) as B. pose proof (entropy_ratio_lt_1 q ltac:(lra)) as B1.
  assert (GB : 0 < g * entropy_ratio q) by (apply Rmult_lt_0_compat; lra).
  pose proof (ln_ge (1 + g * entropy_ratio q) ltac:(lra)) as L1. pose proof (ln_ge (1 - q) ltac:(lra)) as L2.
  (* log (1 + x) >= x / (1 + x) >= x / (1 + g), log (1 - q) >= - q / (1 - q), b = (- log q) q / (1 - q) > (1 + g) q / (1 - q) *)
  assert (A : g * entropy_ratio q / (1 + g) <= 1 - 1 / (1 + g * entropy_ratio q)).
  { replace (1 - 1 / (1 + g * entropy_ratio q)) with (g * entropy_ratio q / (1 + g * entropy_ratio q)) by (field; lra).
    unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|]. 
    assert (g * entropy_ratio q < g * 1) by (apply Rmult_lt_compat_l; lra). lra. }
  assert (C : (1 + g) * (q / (1 - q)) < entropy_ratio q).
  { unfold entropy_ratio. replace (- (q * ln q) / (1 - q)) with (- ln q * (q / (1 - q))) by (field; lra).
    apply Rmult_lt_compat_r; [apply Rdiv_lt_0_compat; lra|lra]. }
  assert (D : g * (q / (1 - q)) < g * entropy_ratio q / (1 + g)).
  { replace (g * entropy_ratio q / (1 + g)) with (g * (entropy_ratio q / (1 + g))) by (field; lra).
    apply Rmult_lt_compat_l; [exact Hg|]. apply (Rmult_lt_reg_r (1 + g)); [lra|].
    replace (entropy_ratio q / (1 + g) * (1 + g)) with (entropy_ratio q) by (field; lra). lra. }
  replace (1 - 1 / (1 - q)) with (- (q / (1 - q))) in L2 by (field; lra).
  apply (Rmult_le_compat_l g) in L2; lra.
Qed.

Lemma gain_continuous g q : 0 <= g -> 0 < q < 1 -> continuity_pt (gain g) q.
Proof.
  intros Hg H. apply (derive_continuity (gain g) q (exp (log_gain g q) * log_gain1 g q)).
  apply (is_derive_ext_loc (fun x => exp (log_gain g x))).
  - assert (P : 0 < Rmin q (1 - q)) by (apply Rmin_glb_lt; lra).
    exists (mkposreal _ P). intros y Hy. simpl in Hy. unfold ball in Hy; simpl in Hy. unfold AbsRing_ball, abs, minus, plus, opp in Hy; simpl in Hy.
    assert (A : Rabs (y + - q) < q) by (eapply Rlt_le_trans; [exact Hy|apply Rmin_l]).
    assert (B : Rabs (y + - q) < 1 - q) by (eapply Rlt_le_trans; [exact Hy|apply Rmin_r]).
    apply Rabs_def2 in A. apply Rabs_def2 in B. symmetry. apply gain_exp; lra.
  - replace (exp (log_gain g q) * log_gain1 g q) with (scal (log_gain1 g q) (exp (log_gain g q)))
      by (unfold scal; simpl; unfold mult; simpl; ring).
    apply (is_derive_comp exp (log_gain g)); [apply is_derive_exp|apply log_gain_derivative; assumption].
Qed.

(* tau exists and is the only point of (0, 1) with gain 1; the gain is at most 1 exactly from tau on *)
Lemma tau_exists g : 0 < g -> exists t, is_tau g t /\ t < 1 / 2.
Proof.
  intros Hg. pose (a := exp (- (1 + g)) / 2). pose proof (exp_pos (- (1 + g))) as E0.
  assert (E : exp (- (1 + g)) < 1) by (apply (Rlt_le_trans _ (exp 0)); [apply exp_increasing; lra|rewrite exp_0; lra]).
  assert (Ha : 0 < a < 1 / 2) by (unfold a; lra).
  pose proof (gain_above_1 g a Hg ltac:(lra) ltac:(unfold a; lra)) as A. pose proof (gain_half g Hg) as H.
  destruct (IVT_interv (fun q => 1 - gain g q) a (1 / 2)) as [t [Ht Z]]; try lra.
  - intros x Hx. apply (continuity_pt_minus (fun _ => 1) (gain g)).
    + apply continuity_pt_const. intros s r. reflexivity.
    + apply gain_continuous; lra.
  - assert (T : t <> 1 / 2) by (intros Y; rewrite Y in Z; lra). exists t. split; [split; lra|lra].
Qed.

Lemma gain_le_1_tau g t q : 0 < g -> is_tau g t -> 0 < q < 1 -> gain g q <= 1 <-> t <= q.
Proof.
  intros Hg [Ht E] Hq. split.
  - intros H. apply Rnot_lt_le. intros L. pose proof (gain_falls g q t Hg ltac:(lra) L ltac:(lra) H). lra.
  - intros [L|L]; [|subst q; lra]. pose proof (gain_falls g t q Hg ltac:(lra) L ltac:(lra) ltac:(lra)). lra.
Qed.

Lemma tau_unique g t t' : 0 < g -> is_tau g t -> is_tau g t' -> t = t'.
Proof.
  intros Hg T T'. apply Rle_antisym.
  - apply (gain_le_1_tau g t t' Hg T); [apply T'|destruct T'; lra].
  - apply (gain_le_1_tau g t' t Hg T'); [apply T|destruct T; lra].
Qed.
