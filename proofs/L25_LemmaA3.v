(* L25 Lemma A.3 and Cor. A.4 (App. A.6): the function phi of focal calibration loss.

   L25: phi "is continuous and differentiable on (0, 1)", tends to infinity at 0, "strictly decreasing", "there exists a unique
   [root]"; "the function's monotonic decrease ensures a unique mapping between the predicted probabilities and the true class
   probabilities".

   The formula of phi is lost from the text at hand; read from the proof it is phi(v) = - eta L'(v) - 2 lambda (v - eta), with eta
   the true probability. Faithful: equivalent under that reading, for every real gamma > 0, lambda > 0 and 0 < eta < 1
   ([l25_phi]). That the root is above eta, so that 'the mapping' is not the identity, is ours ([l25_phi_root_above]). *)

From Coq Require Import Reals Lra Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight.
Open Scope R_scope.

Definition phi (gamma lambda eta v : R) : R := - (eta * focal_slope gamma v) - 2 * lambda * (v - eta).

Section Phi.
Variables (gamma lambda eta : R).
Hypotheses (G : 0 < gamma) (L : 0 < lambda) (E : 0 < eta < 1).

Lemma phi_derivative v : 0 < v < 1 -> is_derive (phi gamma lambda eta) v (- (eta * focal_curvature gamma v) - 2
  * lambda).
Proof.
  intros V. apply (is_derive_minus (fun v => - (eta * focal_slope gamma v)) (fun v => 2 * lambda * (v - eta))).
  - apply (is_derive_opp (fun v => eta * focal_slope gamma v)). apply is_derive_scal, focal_slope_derivative, V.
  - auto_derive; [exact I|ring].
Qed.

Lemma phi_decreasing x y : 0 < x -> x < y -> y < 1 -> phi gamma lambda eta y < phi gamma lambda eta x.
Proof.
  intros X XY Y. pose proof (focal_slope_increasing gamma x y ltac:(lra) X XY Y) as A. unfold phi.
  apply (Rmult_lt_compat_l eta) in A; [|lra].
  assert (lambda * (x - eta) < lambda * (y - eta)) by (apply Rmult_lt_compat_l; lra). lra.
Qed.

Lemma phi_infinite_at_0 y : exists d, 0 < d < 1 /\ forall v, 0 < v < d -> y < phi gamma lambda eta v.
Proof.
  set (m := Rabs y + 2 * lambda + 1). pose proof (Rabs_pos y). assert (M : 0 < m) by (unfold m; lra).
  destruct (weight_small gamma (eta / m) ltac:(lra) ltac:(apply Rdiv_lt_0_compat; lra)) as [a [A W]].
  exists a. split; [lra|]. intros v V. pose proof (weight_pos gamma v ltac:(lra) ltac:(lra)) as P.
  pose proof (weight_increasing gamma v a ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as U.
  unfold phi. rewrite focal_slope_weight by lra.
  assert (B : m < eta * / weight gamma v).
  { apply (Rmult_lt_reg_r (weight gamma v)); [exact P|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (m * weight gamma v < m * (eta / m)) by (apply Rmult_lt_compat_l; lra).
    replace (m * (eta / m)) with eta in H0 by (field; lra). lra. }
  assert (lambda * (v - eta) < lambda * 1) by (apply Rmult_lt_compat_l; lra).
  pose proof (Rle_abs y). unfold m in B. lra.
Qed.

Lemma phi_limit_at_1 eps : 0 < eps -> exists d, 0 < d < 1 /\ forall v, 1 - d < v < 1 ->
  Rabs (phi gamma lambda eta v - - (2 * lambda * (1 - eta))) < eps.
Proof.
  intros Ep. destruct (weight_large gamma (2 / eps) G ltac:(apply Rdiv_lt_0_compat; lra)) as [b [B W]].
  exists (Rmin (1 - b) (eps / (8 * lambda + 2 * eps))).
  assert (Q : 0 < eps / (8 * lambda + 2 * eps)) by (apply Rdiv_lt_0_compat; lra).
  split; [split; [apply Rmin_glb_lt; lra|]; eapply Rle_lt_trans; [apply Rmin_l|lra]|].
  intros v V. pose proof (Rmin_l (1 - b) (eps / (8 * lambda + 2 * eps))).
  pose proof (Rmin_r (1 - b) (eps / (8 * lambda + 2 * eps))).
  pose proof (weight_increasing gamma b v ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as U.
  assert (T : 0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  unfold phi. rewrite focal_slope_weight by lra.
  assert (A : 0 < eta * / weight gamma v < eps / 2).
  { assert (I : / weight gamma v < / (2 / eps)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra).
    replace (/ (2 / eps)) with (eps / 2) in I by (field; lra).
    assert (0 < / weight gamma v) by (apply Rinv_0_lt_compat; lra). split; [apply Rmult_lt_0_compat; lra|]. nra. }
  assert (C : 0 < 2 * lambda * (1 - v) < eps / 2).
  { split; [apply Rmult_lt_0_compat; lra|].
    assert (D : (1 - v) * (8 * lambda + 2 * eps) < eps).
    { assert ((1 - v) * (8 * lambda + 2 * eps) < eps / (8 * lambda + 2 * eps) * (8 * lambda + 2 * eps)) by
      (apply Rmult_lt_compat_r; lra).
      replace (eps / (8 * lambda + 2 * eps) * (8 * lambda + 2 * eps)) with eps in H1 by (field; lra). exact H1. }
    assert (0 < (1 - v) * eps) by (apply Rmult_lt_0_compat; lra). lra. }
  replace (- (eta * - / weight gamma v) - 2 * lambda * (v - eta) - - (2 * lambda * (1 - eta)))
    with (eta * / weight gamma v + 2 * lambda * (1 - v)) by ring.
  apply Rabs_def1; lra.
Qed.

Lemma l25_phi_root : exists! v, 0 < v < 1 /\ phi gamma lambda eta v = 0.
Proof.
  destruct (phi_infinite_at_0 0) as [d [D A]].
  assert (T : 0 < 2 * lambda * (1 - eta)) by (apply Rmult_lt_0_compat; lra).
  destruct (phi_limit_at_1 (2 * lambda * (1 - eta)) T) as [e [Ee B]].
  set (x := d / 2). set (y := Rmax ((1 + x) / 2) (1 - e / 2)).
  assert (Y1 : (1 + x) / 2 <= y) by apply Rmax_l. assert (Y2 : 1 - e / 2 <= y) by apply Rmax_r.
  assert (X : 0 < x < 1) by (unfold x; lra). assert (Y3 : y < 1) by (unfold y; apply Rmax_lub_lt; lra).
  pose proof (A x ltac:(unfold x; lra)) as Ax. pose proof (B y ltac:(lra)) as By. apply Rabs_def2 in By.
  destruct (IVT_interv (fun v => - phi gamma lambda eta v) x y) as [v [V Z]]; try lra.
  - intros t Ht. apply (continuity_pt_opp (phi gamma lambda eta)).
    apply (derive_continuity _ _ _ (phi_derivative t ltac:(lra))).
  - exists v. split; [split; lra|]. intros w [W Zw]. destruct (Rtotal_order v w) as [C|[C|C]]; [|exact C|].
    + pose proof (phi_decreasing v w ltac:(lra) C ltac:(lra)). lra.
    + pose proof (phi_decreasing w v ltac:(lra) C ltac:(lra)). lra.
Qed.
End Phi.

Theorem l25_phi gamma lambda eta : 0 < gamma -> 0 < lambda -> 0 < eta < 1 ->
  (forall v, 0 < v < 1 -> ex_derive (phi gamma lambda eta) v) /\
  (forall x y, 0 < x -> x < y -> y < 1 -> phi gamma lambda eta y < phi gamma lambda eta x) /\
  (forall y, exists d, 0 < d < 1 /\ forall v, 0 < v < d -> y < phi gamma lambda eta v) /\
  (forall eps, 0 < eps -> exists d, 0 < d < 1 /\ forall v, 1 - d < v < 1 ->
     Rabs (phi gamma lambda eta v - - (2 * lambda * (1 - eta))) < eps) /\
  (exists! v, 0 < v < 1 /\ phi gamma lambda eta v = 0).
Proof.
  intros G L E. split; [|split; [|split; [|split]]].
  - intros v V. eexists. apply phi_derivative; assumption.
  - intros x y. apply phi_decreasing; assumption.
  - intros y. apply phi_infinite_at_0; assumption.
  - intros eps. apply phi_limit_at_1; assumption.
  - apply l25_phi_root; assumption.
Qed.

(* the root is above the true probability. Faithfulness: ours, exact. *)
Theorem l25_phi_root_above gamma lambda eta v : 0 < gamma -> 0 < lambda -> 0 < eta < 1 -> 0 < v < 1 ->
  phi gamma lambda eta v = 0 -> eta < v.
Proof.
  intros G L E V Z. apply Rnot_le_lt. intros C.
  assert (P : 0 < phi gamma lambda eta eta).
  { unfold phi. rewrite focal_slope_gain by exact E. pose proof (gain_pos gamma eta ltac:(lra) E).
    replace (- (eta * - (gain gamma eta / eta)) - 2 * lambda * (eta - eta)) with (gain gamma eta) by (field; lra).
    assumption. }
  destruct C as [C|C]; [|rewrite C in Z; lra].
  pose proof (phi_decreasing gamma lambda eta G L E v eta ltac:(lra) C ltac:(lra)). lra.
Qed.

(* the root rises with the true probability: different truths have different roots.
   Faithful: ours (l25.a6_mapping, under its reading of phi), exact. *)
Theorem l25_phi_root_increasing gamma lambda eta1 eta2 v1 v2 : 0 < gamma -> 0 < lambda -> 0 < eta1 -> eta1 < eta2 -> eta2 < 1 ->
  0 < v1 < 1 -> phi gamma lambda eta1 v1 = 0 -> 0 < v2 < 1 -> phi gamma lambda eta2 v2 = 0 -> v1 < v2.
Proof.
  intros G L E1 E E2 V1 Z1 V2 Z2. apply Rnot_le_lt. intros C.
  assert (M : phi gamma lambda eta1 v1 <= phi gamma lambda eta1 v2).
  { destruct C as [C|C]; [apply Rlt_le, phi_decreasing; lra|rewrite C; lra]. }
  assert (P : phi gamma lambda eta1 v2 < phi gamma lambda eta2 v2); [|lra].
  unfold phi. rewrite focal_slope_gain by exact V2.
  assert (Q : 0 < gain gamma v2 / v2) by (apply Rdiv_lt_0_compat; [apply gain_pos; lra|lra]).
  assert (0 < (eta2 - eta1) * (gain gamma v2 / v2)) by (apply Rmult_lt_0_compat; lra).
  assert (0 < lambda * (eta2 - eta1)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(* not vacuous: gamma = 2, lambda = 1; the roots for the true probabilities 1/4 and 1/2 *)
Example l25_phi_example : exists v1 v2, 1 / 4 < v1 /\ v1 < v2 /\ 1 / 2 < v2 < 1 /\
  phi 2 1 (1 / 4) v1 = 0 /\ phi 2 1 (1 / 2) v2 = 0.
Proof.
  destruct (l25_phi 2 1 (1 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as (_ & _ & _ & _ & v1 & [V1 Z1] & _).
  destruct (l25_phi 2 1 (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra)) as (_ & _ & _ & _ & v2 & [V2 Z2] & _).
  exists v1, v2. pose proof (l25_phi_root_above 2 1 (1 / 4) v1 ltac:(lra) ltac:(lra) ltac:(lra) V1 Z1).
  pose proof (l25_phi_root_above 2 1 (1 / 2) v2 ltac:(lra) ltac:(lra) ltac:(lra) V2 Z2).
  pose proof (l25_phi_root_increasing 2 1 (1 / 4) (1 / 2) v1 v2 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) V1 Z1 V2 Z2).
  repeat split; try assumption; lra.
Qed.
