(* KN24 section 2, Fig. 1: focal loss beside cross-entropy. KN24's Definition 2 is lost from the text at hand; the loss is taken as
   Lin et al.'s, -(1 - p)^gamma log p. Its gradient is in M20_Threshold.v ([kn24_gradient_where]). *)

From Coq Require Import Reals Lra.
From Focal Require Import Focal Calculus FocalLoss.
Open Scope R_scope.

Lemma focal_below_log gamma p : 0 < gamma -> 0 < p < 1 -> focal_loss gamma p < log_loss p.
Proof.
  intros G P. unfold focal_loss, log_loss, Rpower. pose proof (ln_neg p P) as L. pose proof (ln_neg (1 - p) ltac:(lra)) as M.
  assert (E : exp (gamma * ln (1 - p)) < 1).
  { apply (Rlt_le_trans _ (exp 0)); [|rewrite exp_0; lra]. apply exp_increasing. assert (0 < gamma * - ln (1 - p)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (exp (gamma * ln (1 - p)) * - ln p < 1 * - ln p) by (apply Rmult_lt_compat_r; lra). lra.
Qed.

Lemma log_below_focal gamma p : gamma < 0 -> 0 < p < 1 -> log_loss p < focal_loss gamma p.
Proof.
  intros G P. unfold focal_loss, log_loss, Rpower. pose proof (ln_neg p P) as L. pose proof (ln_neg (1 - p) ltac:(lra)) as M.
  assert (E : 1 < exp (gamma * ln (1 - p))).
  { apply (Rle_lt_trans _ (exp 0)); [rewrite exp_0; lra|]. apply exp_increasing. assert (0 < - gamma * - ln (1 - p)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (1 * - ln p < exp (gamma * ln (1 - p)) * - ln p) by (apply Rmult_lt_compat_r; lra). lra.
Qed.

(* KN24's 'When gamma >= 1, the loss for well-classified samples (p close to 1) is smaller than that for cross-entropy'
   (kn24.fig1_loss_smaller) is not judged, as the loss is lost. Faithful: ours (kn24.fig1_loss_smaller_reading), exact, for every
   gamma > 0 and every p between 0 and 1. *)
Theorem kn24_loss_smaller gamma p : 0 < gamma -> 0 < p < 1 -> focal_loss gamma p < log_loss p.
Proof. apply focal_below_log. Qed.

(* Faithful: ours (kn24.fig1_coincide_corrected), exact, for every real gamma. *)
Theorem kn24_coincide gamma : (forall p, 0 < p < 1 -> focal_loss gamma p = log_loss p) <-> gamma = 0.
Proof.
  split.
  - intros H. specialize (H (1 / 2) ltac:(lra)). destruct (Rtotal_order gamma 0) as [G|[G|G]]; [|exact G|].
    + pose proof (log_below_focal gamma (1 / 2) G ltac:(lra)). lra.
    + pose proof (focal_below_log gamma (1 / 2) G ltac:(lra)). lra.
  - intros -> p P. unfold focal_loss, log_loss, Rpower. rewrite Rmult_0_l, exp_0. ring.
Qed.

(* not vacuous: gamma = 2 and p = 1/2, where focal loss is a quarter of cross-entropy *)
Example kn24_fig1_example : log_loss (1 / 2) = ln 2 /\ focal_loss 2 (1 / 2) = ln 2 / 4 /\ focal_loss 2 (1 / 2) < log_loss (1 / 2).
Proof.
  assert (L : ln (1 / 2) = - ln 2) by (replace (1 / 2) with (/ 2) by field; apply ln_Rinv; lra). split; [|split].
  - unfold log_loss. rewrite L. ring.
  - unfold focal_loss. rewrite L. replace (1 - 1 / 2) with (1 / 2) by field. change (Rpower (1 / 2) 2) with (Rpower (1 / 2) (INR 2)).
    rewrite Rpower_pow by lra. simpl. field.
  - apply kn24_loss_smaller; lra.
Qed.
