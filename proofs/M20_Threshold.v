(* M20 section 4 (Fig. 4a), section 5 and App. B: where the gradient factor g is above and below 1.

   M20: "g(p, gamma) lies in [0, 1) for values of p that lie above a certain threshold p_0. In the interval [0, p_0), however,
   g(p, gamma) > 1" ([m20_threshold]); "k(p, gamma) -> 1 as p -> 0 and k(p, gamma) -> -(1 + gamma) as p -> 1 ... monotonically
   decreasing" ([m20_k]); "as the gradient dg/dp monotonically decreases from a positive value at p = 0 to a negative value at
   p = 1, ... g first monotonically increases starting from 1 and then monotonically decreases down to 0": the reason is refuted
   ([m20_slope_not_decreasing]), the conclusion holds ([m20_unimodal]); "for gamma >= 7, g reduces to nearly 0 for a relatively
   low value of p (around 0.5)" ([m20_seven]); "higher values of gamma" regularise more ([m20_regularises_more]); "as soon as
   p >= 0.5 we want to regularise" ([m20_policy_regularises]) and "accelerating the rise ... as long as p < 0.5" by "gamma = 5
   for p in [0, 0.19] (as g(0.19, 5) ~ 1) and gamma = 3 for p in (0.19, 1]" ([m20_policy_accelerates]).

   Faithful: exact, for every real gamma > 0, but for p = 0, where g = 1 (so (0, p_0), not [0, p_0)), 'nearly 0', read as below
   0.05, and 'about 1', read as within 0.03. 'Regularises more' is stated for p >= 1/2: equivalent to the ledger's claim. *)

From Coq Require Import Reals Lra Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio Gain Confidence M20_Prop2.
Open Scope R_scope.

Theorem m20_threshold gamma : 0 < gamma ->
  exists! p0, 0 < p0 < 1 /\ (forall p, 0 < p < p0 -> 1 < gain gamma p) /\ (forall p, p0 < p < 1 -> 0
    <= gain gamma p < 1).
Proof.
  intros G. destruct (tau_exists gamma G) as [t [T H]]. exists t.
  assert (U : forall p, 0 < p < t -> 1 < gain gamma p).
  { intros p P. apply Rnot_le_lt. intro L. destruct T as [T E].
    pose proof (gain_falls gamma p t G ltac:(lra) ltac:(lra) ltac:(lra) L). lra. }
  assert (V : forall p, t < p < 1 -> 0 <= gain gamma p < 1).
  { intros p P. destruct T as [T E]. pose proof (gain_falls gamma t p G ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
    pose proof (gain_pos gamma p ltac:(lra) ltac:(lra)). lra. }
  split; [split; [apply T|split; assumption]|].
  intros r (R & A & B). destruct (Rtotal_order t r) as [L|[L|L]]; [|exact L|].
  - pose proof (A ((t + r) / 2) ltac:(destruct T; lra)). pose proof (V ((t + r) / 2) ltac:(lra)). lra.
  - pose proof (U ((t + r) / 2) ltac:(lra)). pose proof (B ((t + r) / 2) ltac:(destruct T; lra)). lra.
Qed.

(* it lies below 1/2. Faithfulness: equivalent: g < 1 from 1/2 on, so a threshold lies below. *)
Theorem m20_threshold_below_half gamma p : 0 < gamma -> 1 / 2 <= p < 1 -> gain gamma p < 1.
Proof.
  intros G P. pose proof (gain_half gamma G) as H. destruct (Req_dec p (1 / 2)) as [->|N]; [exact H|].
  pose proof (gain_falls gamma (1 / 2) p G ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

(* KN24 section 2, Fig. 1: the two losses themselves. -1 / p is the derivative of cross-entropy, [focal_slope] that of focal
   loss (Lin et al.'s, -(1 - p)^gamma log p). Faithful: ours (kn24.fig1_gradient_where), exact; it says where 'for well-classified
   samples (p close to 1)' (kn24.fig1_gradient_smaller) begins: at tau(gamma) < 1/2, for every gamma > 0. *)
Theorem kn24_gradient_where gamma : 0 < gamma ->
  (forall p, 0 < p < 1 -> is_derive log_loss p (- (1 / p)) /\ is_derive (focal_loss gamma) p (focal_slope gamma p)) /\
  exists t, is_tau gamma t /\ t < 1 / 2 /\
    (forall p, t < p < 1 -> Rabs (focal_slope gamma p) < Rabs (- (1 / p))) /\
    (forall p, 0 < p < t -> Rabs (- (1 / p)) < Rabs (focal_slope gamma p)).
Proof.
  intros G. split.
  - intros p P. split; [|apply focal_loss_derivative; exact P].
    unfold log_loss. auto_derive; [lra|]. field. lra.
  - destruct (tau_exists gamma G) as [t [T H]]. exists t. split; [exact T|]. split; [exact H|].
    assert (A : forall p, 0 < p < 1 -> Rabs (focal_slope gamma p) = gain gamma p * (1 / p) /\ Rabs (- (1 / p)) = 1 / p /\ 0 < 1 / p).
    { intros p P. assert (I : 0 < 1 / p) by (apply Rdiv_lt_0_compat; lra).
      pose proof (gain_pos gamma p ltac:(lra) P) as Q. rewrite focal_slope_gain, !Rabs_Ropp by exact P.
      rewrite !Rabs_right; [|lra|apply Rle_ge, Rlt_le, Rdiv_lt_0_compat; lra].
      split; [field; lra|]. split; [reflexivity|exact I]. }
    assert (T0 := proj1 T). split; intros p P; destruct (A p ltac:(lra)) as (-> & -> & I).
    + pose proof (proj2 (gain_le_1_tau gamma t p G T ltac:(lra)) ltac:(lra)) as L.
      assert (S : gain gamma p < 1).
      { destruct L as [L|L]; [exact L|]. pose proof (gain_le_1_tau gamma p t G) as K.
        assert (p = t) by (apply (tau_unique gamma); [exact G|split; lra|exact T]). lra. }
      assert (gain gamma p * (1 / p) < 1 * (1 / p)) by (apply Rmult_lt_compat_r; lra). lra.
    + assert (S : 1 < gain gamma p).
      { apply Rnot_le_lt. intros L. apply (gain_le_1_tau gamma t p G T) in L; lra. }
      assert (1 * (1 / p) < gain gamma p * (1 / p)) by (apply Rmult_lt_compat_r; lra). lra.
Qed.

(* ---- k, M20 Eq. (9) ---- *)

Definition k (gamma p : R) : R := 2 * (1 - p) / ln p + 1 - gamma * p.

(* M20 Eq. (7): dg/dp = gamma (1-p)^(gamma-2) (- log p) k. Faithfulness: exact, with the paper's k. *)
Theorem m20_gain_slope gamma p : 0 < p < 1 ->
  is_derive (gain gamma) p (gamma * Rpower (1 - p) (gamma - 2) * - ln p * k gamma p).
Proof.
  intros H. pose proof (ln_neg p H) as L.
  assert (E : Rpower (1 - p) (gamma - 2) = Rpower (1 - p) gamma / ((1 - p) * (1 - p))).
  { unfold Rpower. replace ((gamma - 2) * ln (1 - p)) with (gamma * ln (1 - p) + - (ln (1 - p) + ln (1 - p))) by ring.
    rewrite exp_plus, exp_Ropp, exp_plus, exp_ln by lra. reflexivity. }
  rewrite E. unfold k. unfold gain, entropy_ratio, Rpower. auto_derive; [repeat split; lra|].
  replace (1 + - p) with (1 - p) by ring. field. split; lra.
Qed.

Lemma inverse_k x : 0 < x < 1 -> 2 * (1 - x) / ln x = - (2 / (- ln x / (1 - x))).
Proof. intros H. pose proof (ln_neg x H). field. lra. Qed.

Theorem m20_k gamma : 0 <= gamma ->
  (forall x y, 0 < x -> x < y -> y < 1 -> k gamma y < k gamma x) /\
  (forall eps, 0 < eps -> exists d, 0 < d /\ forall p, 0 < p < 1 -> p < d -> Rabs (k gamma p - 1) < eps) /\
  (forall eps, 0 < eps -> exists d, 0 < d /\ forall p, 0 < p < 1 -> 1 - d < p -> Rabs (k gamma p - - (1
    + gamma)) < eps).
Proof.
  intros G. split; [|split].
  - intros x y X L Y. unfold k. rewrite !inverse_k by lra.
    pose proof (inverse_log_mean_decreasing x y X L Y) as M.
    assert (P : 0 < - ln y / (1 - y)) by (pose proof (ln_neg y ltac:(lra)); apply Rdiv_lt_0_compat; lra).
    assert (I : / (- ln x / (1 - x)) < / (- ln y / (1 - y))) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat;
      lra|exact M]).
    assert (gamma * x <= gamma * y) by (apply Rmult_le_compat_l; lra). unfold Rdiv at 1 3. lra.
  - intros eps E. set (d := Rmin (exp (- (4 / eps))) (eps / (2 * (gamma + 1)))).
    assert (Q : 0 < eps / (2 * (gamma + 1))) by (apply Rdiv_lt_0_compat; lra).
    exists d. split; [unfold d; apply Rmin_glb_lt; [apply exp_pos|exact Q]|].
    intros p P L. assert (L1 : p < exp (- (4 / eps))) by (eapply Rlt_le_trans; [exact L|apply Rmin_l]).
    assert (L2 : p < eps / (2 * (gamma + 1))) by (eapply Rlt_le_trans; [exact L|apply Rmin_r]).
    assert (N : 4 / eps < - ln p). { apply ln_increasing in L1; [|lra]. rewrite ln_exp in L1. lra. }
    assert (F : 0 < 4 / eps) by (apply Rdiv_lt_0_compat; lra).
    assert (A : 0 < 2 * (1 - p) / - ln p < eps / 2).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (- ln p)); [lra|].
      replace (2 * (1 - p) / - ln p * - ln p) with (2 * (1 - p)) by (field; lra).
      assert (eps / 2 * (4 / eps) < eps / 2 * - ln p) by (apply Rmult_lt_compat_l; lra).
      replace (eps / 2 * (4 / eps)) with 2 in H by (field; lra). lra. }
    assert (B : 0 <= gamma * p < eps / 2).
    { split; [apply Rmult_le_pos; lra|]. apply (Rle_lt_trans _ ((gamma + 1) * p)); [lra|].
      apply (Rmult_lt_compat_l (gamma + 1)) in L2; [|lra].
      replace ((gamma + 1) * (eps / (2 * (gamma + 1)))) with (eps / 2) in L2 by (field; lra). exact L2. }
    unfold k. replace (2 * (1 - p) / ln p + 1 - gamma * p - 1) with (- (2 * (1 - p) / - ln p) - gamma * p) by (field;
      lra).
    apply Rabs_def1; lra.
  - intros eps E. exists (Rmin (1 / 2) (eps / (2 + gamma))).
    assert (Q : 0 < eps / (2 + gamma)) by (apply Rdiv_lt_0_compat; lra). split; [apply Rmin_glb_lt; lra|].
    intros p P L. assert (L1 : 1 - eps / (2 + gamma) < p) by (pose proof (Rmin_r (1 / 2) (eps / (2 + gamma))); lra).
    pose proof (ln_neg p P) as N. pose proof (ln_lt p ltac:(lra) ltac:(lra)) as U.
    pose proof (ln_ge p ltac:(lra)) as V.
    (* p <= (1 - p) / (- log p) <= 1 *)
    assert (A : p <= (1 - p) / - ln p <= 1).
    { split; apply (Rmult_le_reg_r (- ln p)); try lra; replace ((1 - p) / - ln p * - ln p) with (1 - p) by (field;
      lra).
      - apply (Rmult_le_compat_l p) in V; [|lra]. replace (p * (1 - 1 / p)) with (p - 1) in V by (field; lra). lra.
      - lra. }
    assert (B : (2 + gamma) * (1 - p) < eps).
    { assert ((2 + gamma) * (1 - p) < (2 + gamma) * (eps / (2 + gamma))) by (apply Rmult_lt_compat_l; lra).
      replace ((2 + gamma) * (eps / (2 + gamma))) with eps in H by (field; lra). exact H. }
    unfold k. replace (2 * (1 - p) / ln p + 1 - gamma * p - - (1 + gamma)) with (2 * (1 - (1 - p) / - ln p) + gamma *
      (1 - p)) by (field; lra).
    assert (0 <= gamma * (1 - p)) by (apply Rmult_le_pos; lra). apply Rabs_def1; lra.
Qed.

(* g rises up to one point and falls after it. Faithfulness: exact: one maximum inside (0, 1), by the sign of the slope. *)
Theorem m20_unimodal gamma : 0 < gamma -> exists p_star, 0 < p_star < 1 /\
  (forall p, 0 < p < p_star -> 0 < Derive (gain gamma) p) /\ (forall p, p_star < p < 1 -> Derive (gain gamma) p < 0).
Proof.
  intros G. destruct (m20_k gamma ltac:(lra)) as (M & Z & O).
  destruct (Z (1 / 2) ltac:(lra)) as [d0 [D0 H0]]. destruct (O (1 / 2) ltac:(lra)) as [d1 [D1 H1]].
  set (a := Rmin (1 / 4) (d0 / 2)). set (c := Rmax (3 / 4) (1 - d1 / 2)).
  assert (A : 0 < a <= 1 / 4) by (unfold a; split; [apply Rmin_glb_lt; lra|apply Rmin_l]).
  assert (A' : a <= d0 / 2) by apply Rmin_r.
  assert (C : 3 / 4 <= c < 1) by (unfold c; split; [apply Rmax_l|apply Rmax_lub_lt; lra]).
  assert (C' : 1 - d1 / 2 <= c) by apply Rmax_r.
  pose proof (H0 a ltac:(lra) ltac:(lra)) as Ha. apply Rabs_def2 in Ha.
  pose proof (H1 c ltac:(lra) ltac:(lra)) as Hc. apply Rabs_def2 in Hc.
  destruct (IVT_interv (fun p => - k gamma p) a c) as [s [S E]]; try lra.
  - intros x X. pose proof (ln_neg x ltac:(lra)). apply derivable_continuous_pt.
    eexists. apply is_derive_Reals. unfold k. auto_derive; [repeat split; lra|reflexivity].
  - exists s. split; [lra|].
    assert (F : forall p, 0 < p < 1 -> 0 < gamma * Rpower (1 - p) (gamma - 2) * - ln p).
    { intros p P. pose proof (ln_neg p P). apply Rmult_lt_0_compat; [|lra].
    apply Rmult_lt_0_compat; [exact G|apply FocalLoss.Rpower_pos]. }
    split; intros p P; rewrite (is_derive_unique _ _ _ (m20_gain_slope gamma p ltac:(lra))).
    + apply Rmult_lt_0_compat; [apply F; lra|]. pose proof (M p s ltac:(lra) ltac:(lra) ltac:(lra)). lra.
    + pose proof (F p ltac:(lra)). pose proof (M s p ltac:(lra) ltac:(lra) ltac:(lra)).
      assert (K : k gamma p < 0) by lra. set (w := gamma * Rpower (1 - p) (gamma - 2) * - ln p) in *. nra.
Qed.

(* g starts from 1 at p = 0 and ends at 0 at p = 1, for every real gamma > 0.
   Faithfulness: exact; with [m20_unimodal] and [m20_gain_slope] it is m20.g_unimodal. *)
Theorem m20_gain_ends gamma : 0 < gamma ->
  (forall eps, 0 < eps -> exists d, 0 < d < 1 /\ forall p, 0 < p < d -> Rabs (gain gamma p - 1) < eps) /\
  (forall eps, 0 < eps -> exists d, 0 < d < 1 /\ forall p, 1 - d < p < 1 -> Rabs (gain gamma p - 0) < eps).
Proof.
  intros G. split; intros eps E.
  - destruct (gain_near_0 gamma (1 + eps) ltac:(lra) ltac:(lra)) as [d1 [D1 U]].
    destruct (log_gain_near_0 gamma eps G E) as [d2 [D2 V]].
    exists (Rmin d1 d2). split; [split; [apply Rmin_glb_lt; lra|apply (Rle_lt_trans _ d1); [apply Rmin_l|lra]]|].
    intros p P. pose proof (Rmin_l d1 d2). pose proof (Rmin_r d1 d2).
    specialize (U p ltac:(lra)). specialize (V p ltac:(lra)).
    assert (L : 1 - eps < gain gamma p).
    { rewrite gain_exp by lra. pose proof (exp_ineq1_le (log_gain gamma p)). lra. }
    apply Rabs_def1; lra.
  - set (z := exp (ln (eps / (1 + gamma)) / gamma)). pose proof (exp_pos (ln (eps / (1 + gamma)) / gamma)) as Z. fold z in Z.
    exists (Rmin (1 / 2) z). split; [split; [apply Rmin_glb_lt; lra|apply (Rle_lt_trans _ (1 / 2)); [apply Rmin_l|lra]]|].
    intros p P. pose proof (Rmin_l (1 / 2) z). pose proof (Rmin_r (1 / 2) z).
    pose proof (gain_pos gamma p ltac:(lra) ltac:(lra)) as Q.
    assert (F : 0 < eps / (1 + gamma)) by (apply Rdiv_lt_0_compat; lra).
    assert (R : Rpower (1 - p) gamma < eps / (1 + gamma)).
    { unfold Rpower. rewrite <- (exp_ln (eps / (1 + gamma)) F) at 1. apply exp_increasing.
      assert (L : ln (1 - p) < ln (eps / (1 + gamma)) / gamma).
      { rewrite <- (ln_exp (ln (eps / (1 + gamma)) / gamma)). apply ln_increasing; fold z; lra. }
      apply (Rmult_lt_compat_l gamma) in L; [|exact G].
      replace (gamma * (ln (eps / (1 + gamma)) / gamma)) with (ln (eps / (1 + gamma))) in L by (field; lra). exact L. }
    assert (B : gain gamma p < eps).
    { unfold gain. pose proof (entropy_ratio_pos p ltac:(lra)) as B0. pose proof (entropy_ratio_lt_1 p ltac:(lra)) as B1.
      pose proof (FocalLoss.Rpower_pos (1 - p) gamma) as P0. set (r := Rpower (1 - p) gamma) in *.
      assert (0 < gamma * entropy_ratio p < gamma * 1) by (split; [apply Rmult_lt_0_compat|apply Rmult_lt_compat_l]; lra).
      assert (r * (1 + gamma * entropy_ratio p) < r * (1 + gamma)) by (apply Rmult_lt_compat_l; lra).
      assert (Y : r * (1 + gamma) < eps / (1 + gamma) * (1 + gamma)) by (apply Rmult_lt_compat_r; lra).
      replace (eps / (1 + gamma) * (1 + gamma)) with eps in Y by (field; lra). lra. }
    apply Rabs_def1; lra.
Qed.

(* the slope itself does not decrease: gamma = 2, 0.9 against 0.4.
   Faithfulness: equivalent: 'the slope decreases' as printed, at one pair of points. *)
Theorem m20_slope_not_decreasing : Derive (gain 2) (4 / 10) < Derive (gain 2) (9 / 10).
Proof.
  rewrite (is_derive_unique _ _ _ (m20_gain_slope 2 (4 / 10) ltac:(lra))).
  rewrite (is_derive_unique _ _ _ (m20_gain_slope 2 (9 / 10) ltac:(lra))). unfold k, Rpower. interval with (i_prec 60).
Qed.

(* ---- larger gamma ---- *)

(* Faithfulness: exact, for p >= 1/2. *)
Theorem m20_regularises_more p g1 g2 : 1 / 2 <= p < 1 -> 0 <= g1 -> g1 < g2 -> gain g2 p < gain g1 p.
Proof.
  intros P G L. rewrite !gain_exp by lra. apply exp_increasing. unfold log_gain.
  pose proof (entropy_ratio_pos p ltac:(lra)) as B.
  set (b := entropy_ratio p) in *.
  assert (P1 : 1 <= 1 + g1 * b) by (assert (0 <= g1 * b) by (apply Rmult_le_pos; lra); lra).
  assert (D : (g2 - g1) * b > 0) by (apply Rmult_lt_0_compat; lra).
  (* b <= - log (1 - p) from 1/2 on *)
  assert (C : b <= - ln (1 - p)).
  { pose proof (y0_half_on p P) as Y. destruct (logs p ltac:(lra)) as (_ & M & _). unfold y0 in Y.
    apply (Rmult_le_compat_r (- (p * ln p))) in Y; [|lra].
    replace (- ((1 - p) * ln (1 - p)) / (p * ln p) * - (p * ln p)) with ((1 - p) * ln (1 - p)) in Y by (field; nra).
    unfold b, entropy_ratio. apply (Rmult_le_reg_r (1 - p)); [lra|].
    replace (- (p * ln p) / (1 - p) * (1 - p)) with (- (p * ln p)) by (field; lra). lra. }
  pose proof (ln_lt ((1 + g2 * b) / (1 + g1 * b)) ltac:(apply Rdiv_lt_0_compat; lra)) as T.
  assert (N : (1 + g2 * b) / (1 + g1 * b) <> 1).
  { intro E. assert (1 + g2 * b = 1 + g1 * b); [|lra].
    replace (1 + g2 * b) with ((1 + g2 * b) / (1 + g1 * b) * (1 + g1 * b)) by (field; lra). rewrite E. ring. }
  specialize (T N). rewrite ln_div in T by lra.
  replace ((1 + g2 * b) / (1 + g1 * b) - 1) with ((g2 - g1) * b * / (1 + g1 * b)) in T by (field; lra).
  assert (I : / (1 + g1 * b) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert ((g2 - g1) * b * / (1 + g1 * b) <= (g2 - g1) * b * 1) by (apply Rmult_le_compat_l; lra).
  assert ((g2 - g1) * b <= (g2 - g1) * - ln (1 - p)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma gain_value gamma p : gain gamma p = exp (gamma * ln (1 - p)) * (1 + gamma * (- (p * ln p) / (1 - p))).
Proof. reflexivity. Qed.

Theorem m20_seven gamma p : 7 <= gamma -> 1 / 2 <= p < 1 -> gain gamma p < 5 / 100.
Proof.
  intros G P. assert (A : gain 7 (1 / 2) < 5 / 100) by (rewrite gain_value; interval with (i_prec 60)).
  assert (B : gain gamma (1 / 2) <= gain 7 (1 / 2)).
  { destruct G as [G| <-]; [left; apply m20_regularises_more; lra|lra]. }
  destruct (Req_dec p (1 / 2)) as [->|N]; [lra|].
  pose proof (gain_falls gamma (1 / 2) p ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

(* ---- the policies of section 5 ---- *)

Definition policy_53 (p : R) : R := if Rle_dec p (19 / 100) then 5 else 3.
Definition policy_532 (p : R) : R := if Rle_dec p (19 / 100) then 5 else if Rle_dec p (1 / 2) then 3 else 2.

Theorem m20_policy_regularises p : 1 / 2 <= p < 1 -> gain (policy_53 p) p < 1 /\ gain (policy_532 p) p < 1.
Proof.
  intros P. unfold policy_53, policy_532. destruct (Rle_dec p (19 / 100)); [lra|].
  destruct (Rle_dec p (1 / 2)); split; apply m20_threshold_below_half; lra.
Qed.

(* it accelerates up to 0.2525, not up to 0.5, and not from 0.2526 on. Faithfulness: ours, exact to four decimals. *)
Theorem m20_policy_accelerates p : 0 < p < 1 ->
  (p <= 2525 / 10000 -> 1 < gain (policy_53 p) p) /\ (2526 / 10000 <= p -> gain (policy_53 p) p < 1).
Proof.
  intros P.
  assert (Up : forall g m, 0 < g -> p <= m -> m < 1 -> 1 < gain g m -> 1 < gain g p).
  { intros g m G L M H. apply Rnot_le_lt. intro A. destruct (Req_dec p m) as [->|N]; [lra|].
    pose proof (gain_falls g p m G ltac:(lra) ltac:(lra) M A). lra. }
  unfold policy_53. destruct (Rle_dec p (19 / 100)) as [A|A]; split; intros L; try lra.
  - apply (Up 5 (19 / 100)); try lra. rewrite gain_value. interval with (i_prec 60).
  - apply (Up 3 (2525 / 10000)); try lra. rewrite gain_value. interval with (i_prec 60).
  - assert (B : gain 3 (2526 / 10000) < 1) by (rewrite gain_value; interval with (i_prec 60)).
    destruct (Req_dec p (2526 / 10000)) as [->|N]; [exact B|].
    pose proof (gain_falls 3 (2526 / 10000) p ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

Theorem m20_g_at_019 : Rabs (gain 5 (19 / 100) - 1) < 3 / 100.
Proof. rewrite gain_value. interval with (i_prec 60). Qed.

(* the axioms of all of them, once; half of them use interval *)
Definition m20_threshold_theorems :=
  (m20_threshold, m20_threshold_below_half, kn24_gradient_where, m20_gain_slope, m20_k, m20_unimodal, m20_gain_ends,
   m20_regularises_more).
Definition m20_threshold_theorems_by_interval :=
  (m20_slope_not_decreasing, m20_seven, m20_policy_regularises, m20_policy_accelerates, m20_g_at_019).

(* not vacuous: gamma = 2, where g is above 1 and rising at 1/50, below 1 and falling at 1/2, and smaller there for gamma = 3 *)
Example m20_threshold_example : 1 < gain 2 (1 / 50) /\ 0 < Derive (gain 2) (1 / 50) /\
  gain 2 (1 / 2) < 1 /\ Derive (gain 2) (1 / 2) < 0 /\ gain 3 (1 / 2) < gain 2 (1 / 2).
Proof.
  rewrite (is_derive_unique _ _ _ (m20_gain_slope 2 (1 / 50) ltac:(lra))).
  rewrite (is_derive_unique _ _ _ (m20_gain_slope 2 (1 / 2) ltac:(lra))). unfold k, Rpower.
  split; [rewrite gain_value; interval with (i_prec 60)|]. split; [interval with (i_prec 60)|].
  split; [apply m20_threshold_below_half; lra|]. split; [interval with (i_prec 60)|]. apply m20_regularises_more; lra.
Qed.
