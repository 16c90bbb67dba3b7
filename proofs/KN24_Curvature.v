(* KN24 on curvature, of the loss itself as a function of p: for gamma up to 1 it is larger than that of cross-entropy.

   Faithful: ours (kn24.curvature_probability_low), exact. KN24's own formulas could not be read. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio Gain M20_GainSlope.
Open Scope R_scope.

Lemma gain_derivative gamma q : 0 < q < 1 -> is_derive (gain gamma) q (gain gamma q / q - q * focal_curvature gamma q).
Proof.
  intros H. unfold gain, entropy_ratio, focal_curvature, Rpower. auto_derive; [repeat split; lra|].
  replace (1 + - q) with (1 - q) by ring. field. lra.
Qed.

(* g is strictly concave: up to p it comes nearer to its tangent at p *)
Lemma gain_to_tangent gamma x y p : 0 < gamma <= 1 -> 0 < x -> x < y -> y <= p -> p < 1 ->
  gain gamma x - x * Derive (gain gamma) p < gain gamma y - y * Derive (gain gamma) p.
Proof.
  intros G X L Y P. set (c := Derive (gain gamma) p).
  assert (A : gain gamma x - c * x < gain gamma y - c * y); [|lra].
  apply (increasing (fun t => gain gamma t - c * t) (fun t => Derive (gain gamma) t - c)); [exact L| |]; intros t T.
  - apply (is_derive_minus (gain gamma) (fun t => c * t)); [|auto_derive; [exact I|ring]].
    apply Derive_correct. eexists. apply gain_derivative. lra.
  - pose proof (m20_slope_decreases gamma t p G ltac:(lra) ltac:(lra) P). unfold c. lra.
Qed.

(* [focal_curvature] is the second derivative of focal loss in p, 1 / p^2 that of cross-entropy. Faithfulness: exact. *)
Theorem kn24_curvature_probability_low gamma p : 0 < gamma <= 1 -> 0 < p < 1 ->
  is_derive (focal_loss gamma) p (focal_slope gamma p) /\ is_derive (focal_slope gamma) p (focal_curvature gamma p) /\
  1 < p * p * focal_curvature gamma p.
Proof.
  intros G P. split; [apply focal_loss_derivative; exact P|]. split; [apply focal_slope_derivative; exact P|].
  set (c := Derive (gain gamma) p).
  assert (E : p * p * focal_curvature gamma p = gain gamma p - p * c).
  { unfold c. rewrite (is_derive_unique _ _ _ (gain_derivative gamma p P)). field. lra. }
  rewrite E. pose proof (gain_to_tangent gamma (p / 2) p p G ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as A. fold c in A.
  apply Rnot_le_lt. intros B. set (e := 1 - (gain gamma (p / 2) - p / 2 * c)). assert (E0 : 0 < e) by (unfold e; lra).
  (* near 0 the gain is above 1, and the tangent's slope adds less than e *)
  set (x := Rmin (p / 4) (Rmin (exp (- (1 + gamma)) / 2) (e / (2 * (Rabs c + 1))))).
  pose proof (exp_pos (- (1 + gamma))) as Ex. pose proof (Rabs_pos c) as C.
  assert (D : 0 < e / (2 * (Rabs c + 1))) by (apply Rdiv_lt_0_compat; lra).
  assert (X0 : 0 < x) by (unfold x; repeat apply Rmin_glb_lt; lra).
  assert (X1 : x <= p / 4) by apply Rmin_l.
  assert (X2 : x <= exp (- (1 + gamma)) / 2) by (unfold x; eapply Rle_trans; [apply Rmin_r|apply Rmin_l]).
  assert (X3 : x <= e / (2 * (Rabs c + 1))) by (unfold x; eapply Rle_trans; [apply Rmin_r|apply Rmin_r]).
  pose proof (gain_above_1 gamma x ltac:(lra) X0 ltac:(lra)) as Up.
  assert (S : x * c <= e / 2).
  { apply (Rle_trans _ (x * (Rabs c + 1))).
    - apply Rmult_le_compat_l; [lra|]. pose proof (Rle_abs c). lra.
    - apply (Rmult_le_compat_r (Rabs c + 1)) in X3; [|lra].
      replace (e / (2 * (Rabs c + 1)) * (Rabs c + 1)) with (e / 2) in X3 by (field; lra). exact X3. }
  pose proof (gain_to_tangent gamma x (p / 2) p G X0 ltac:(lra) ltac:(lra) ltac:(lra)) as T. fold c in T.
  unfold e in *. lra.
Qed.

Example kn24_curvature_at_half : 1 < 1 / 2 * (1 / 2) * focal_curvature 1 (1 / 2).
Proof. exact (proj2 (proj2 (kn24_curvature_probability_low 1 (1 / 2) ltac:(lra) ltac:(lra)))). Qed.
