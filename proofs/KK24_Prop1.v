(* KK24 Prop. 1: focal loss is convex in the predicted probability, with the exact range of gamma. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus Sums FocalLoss.
Open Scope R_scope.

(* Paper: 'Focal loss is convex with respect to the first (prediction) argument p for all gamma >= 0.'
   Faithfulness: exact for one class (strictly convex, which is more); convexity is stated by chords, not by L''.
   q = 0 is left out, where the loss is infinite, and q = 1, where it is 0 by continuity. *)
Theorem kk24_prop1 gamma : 0 <= gamma -> strictly_convex_on_unit (focal_loss gamma).
Proof.
  intros Hg x y t. apply (chord_above (focal_loss gamma) (focal_slope gamma) (focal_curvature gamma) 0 1).
  - intros z Hz. apply focal_loss_derivative. exact Hz.
  - intros z Hz. apply focal_slope_derivative. exact Hz.
  - intros z Hz. apply focal_curvature_positive; [left; exact Hg|exact Hz].
Qed.

Lemma strictly_convex_convex f : strictly_convex_on_unit f -> convex_on_unit f.
Proof.
  intros H x y t Hx Hy Ht. destruct (Req_dec x y) as [->|N].
  { replace (t * y + (1 - t) * y) with y by ring. lra. }
  destruct (Req_dec t 0) as [->|N0]. { replace (0 * x + (1 - 0) * y) with y by ring. lra. }
  destruct (Req_dec t 1) as [->|N1]. { replace (1 * x + (1 - 1) * y) with x by ring. lra. }
  apply Rlt_le. apply H; auto; lra.
Qed.

(* The exact range. Faithfulness: ours; KK24 section 5.1 uses gamma = -1/2 and -1/4, where convexity fails. *)
Theorem kk24_prop1_range gamma : convex_on_unit (focal_loss gamma) <-> 0 <= gamma \/ gamma <= -1.
Proof.
  split.
  - intros C. destruct (Rle_dec 0 gamma) as [P|P]; [left; exact P|].
    destruct (Rle_dec gamma (-1)) as [M|M]; [right; exact M|exfalso].
    assert (Hg : -1 < gamma < 0) by lra.
    (* above a = 4 / (4 - gamma (1 + gamma)) the second derivative is negative: chords lie below *)
    pose (a := 4 / (4 - gamma * (1 + gamma))).
    assert (Hd : 4 < 4 - gamma * (1 + gamma)) by nra.
    assert (Ha : 0 < a < 1).
    { unfold a. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (4 - gamma * (1 + gamma))); [lra|].
      replace (4 / (4 - gamma * (1 + gamma)) * (4 - gamma * (1 + gamma))) with 4 by (field; lra). lra. }
    pose (x := (2 * a + 1) / 3). pose (y := (a + 2) / 3).
    assert (Hx : a < x < 1) by (unfold x; lra). assert (Hy : a < y < 1) by (unfold y; lra).
    assert (N : x <> y) by (unfold x, y; lra).
    pose proof (C x y (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra)) as Below.
    pose proof (chord_above (fun z => - focal_loss gamma z) (fun z => - focal_slope gamma z)
      (fun z => - focal_curvature gamma z) a 1) as Above.
    specialize (Above ltac:(intros z Hz; apply (is_derive_opp (focal_loss gamma)); apply focal_loss_derivative; lra)).
    specialize (Above ltac:(intros z Hz; apply (is_derive_opp (focal_slope gamma)); apply focal_slope_derivative; lra)).
    specialize (Above ltac:(intros z Hz; pose proof (focal_curvature_negative gamma z Hg Hz); lra)).
    specialize (Above x y (1 / 2) Hx Hy N ltac:(lra)). simpl in Above. lra.
  - intros Hg. apply strictly_convex_convex. intros x y t.
    apply (chord_above (focal_loss gamma) (focal_slope gamma) (focal_curvature gamma) 0 1).
    + intros z Hz. apply focal_loss_derivative. exact Hz.
    + intros z Hz. apply focal_slope_derivative. exact Hz.
    + intros z Hz. apply focal_curvature_positive; assumption.
Qed.

(* n classes: the expected focal loss under any label distribution p, one-hot labels among them, is convex in the whole
   predicted vector. Faithfulness: exact for one-hot p (App. A.1, end), more for soft labels. *)
Theorem kk24_prop1_n_classes n gamma p x y t : 0 <= gamma -> (forall i, (i < n)%nat -> 0 <= p i) ->
  (forall i, (i < n)%nat -> 0 < x i < 1) -> (forall i, (i < n)%nat -> 0 < y i < 1) -> 0 <= t <= 1 ->
  risk n (focal_loss_n gamma) p (fun i => t * x i + (1 - t) * y i)
    <= t * risk n (focal_loss_n gamma) p x + (1 - t) * risk n (focal_loss_n gamma) p y.
Proof.
  intros Hg Hp Hx Hy Ht. unfold risk, focal_loss_n. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros i Hi.
  pose proof (strictly_convex_convex _ (kk24_prop1 gamma Hg) (x i) (y i) t (Hx i Hi) (Hy i Hi) Ht) as C.
  specialize (Hp i Hi). apply (Rmult_le_compat_l (p i)) in C; [|exact Hp]. lra.
Qed.

(* not vacuous: gamma = 2 is in the range, gamma = -1/2 is not *)
Example kk24_prop1_gamma_2 : focal_loss 2 (1 / 2) < (focal_loss 2 (1 / 4) + focal_loss 2 (3 / 4)) / 2.
Proof.
  pose proof (kk24_prop1 2 ltac:(lra) (1 / 4) (3 / 4) (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as H.
  replace (1 / 2 * (1 / 4) + (1 - 1 / 2) * (3 / 4)) with (1 / 2) in H by field. lra.
Qed.

Example kk24_prop1_not_minus_half : ~ convex_on_unit (focal_loss (- (1 / 2))).
Proof. rewrite kk24_prop1_range. lra. Qed.
