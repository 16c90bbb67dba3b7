(* The focal loss of one class: its derivatives, its gain g = - q L'(q), the weight w = - 1 / L'. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus.
Open Scope R_scope.

Definition focal_curvature (gamma q : R) : R :=
  Rpower (1 - q) gamma * (1 / (q * q) + 2 * gamma / (q * (1 - q)) - gamma * (gamma - 1) / ((1 - q) * (1 - q)) * ln q).

Lemma Rpower_pos x y : 0 < Rpower x y.
Proof. apply exp_pos. Qed.

Lemma focal_loss_derivative g q : 0 < q < 1 -> is_derive (focal_loss g) q (focal_slope g q).
Proof.
  intros H. unfold focal_loss, focal_slope, Rpower. auto_derive; [repeat split; lra|].
  replace (1 + - q) with (1 - q) by ring. field. lra.
Qed.

Lemma focal_slope_derivative g q : 0 < q < 1 -> is_derive (focal_slope g) q (focal_curvature g q).
Proof.
  intros H. unfold focal_slope, focal_curvature, Rpower. auto_derive; [repeat split; lra|].
  replace (1 + - q) with (1 - q) by ring. field. lra.
Qed.

(* (1 - q)^(2 - gamma) L''(q) in x = - log q: a function that is 0 at 0 *)
Definition curvature_in_x (g x : R) : R := (exp x - 1) * (exp x - 1) + 2 * g * (exp x - 1) + g * (g - 1) * x.
Definition curvature_in_x_slope (g x : R) : R :=
  2 * (exp x - 1) * (exp x - 1) + 2 * (1 + g) * (exp x - 1) + g * (g + 1).

Lemma curvature_in_x_derivative g x : is_derive (curvature_in_x g) x (curvature_in_x_slope g x).
Proof. unfold curvature_in_x, curvature_in_x_slope. auto_derive; [exact Logic.I|]. ring. Qed.

Lemma focal_curvature_in_x g q : 0 < q < 1 ->
  focal_curvature g q = Rpower (1 - q) g / ((1 - q) * (1 - q)) * curvature_in_x g (- ln q).
Proof.
  intros H. unfold focal_curvature, curvature_in_x. rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.

Lemma curvature_in_x_positive g x : 0 <= g \/ g <= -1 -> 0 < x -> 0 < curvature_in_x g x.
Proof.
  intros Hg Hx. assert (Z : curvature_in_x g 0 = 0) by (unfold curvature_in_x; rewrite exp_0; ring).
  rewrite <- Z. apply (increasing (curvature_in_x g) (curvature_in_x_slope g)); [exact Hx| |].
  - intros y _. apply curvature_in_x_derivative.
  - intros y [Hy _]. unfold curvature_in_x_slope.
    assert (P : 0 < exp y - 1) by (pose proof (exp_ineq1_le y); lra).
    set (e := exp y - 1) in *. destruct Hg as [Hg|Hg]; [nra|].
    replace (2 * e * e + 2 * (1 + g) * e + g * (g + 1))
      with (2 * ((e + (g + 1) / 2) * (e + (g + 1) / 2)) + (g + 1) * (g - 1) / 2) by field.
    pose proof (Rle_0_sqr (e + (g + 1) / 2)) as S. unfold Rsqr in S.
    destruct (Req_dec g (-1)) as [->|N].
    + replace (e + (-1 + 1) / 2) with e by field. nra.
    + nra.
Qed.

Lemma focal_curvature_positive g q : 0 <= g \/ g <= -1 -> 0 < q < 1 -> 0 < focal_curvature g q.
Proof.
  intros Hg H. rewrite focal_curvature_in_x by exact H. apply Rmult_lt_0_compat.
  - apply Rdiv_lt_0_compat; [apply Rpower_pos|apply Rmult_lt_0_compat; lra].
  - apply curvature_in_x_positive; [exact Hg|]. pose proof (ln_neg q H). lra.
Qed.

Lemma curvature_in_x_negative g x : -1 < g < 0 -> 0 < x -> exp x - 1 < - g * (1 + g) / 4 -> curvature_in_x g x < 0.
Proof.
  intros Hg Hx Hs. assert (Z : curvature_in_x g 0 = 0) by (unfold curvature_in_x; rewrite exp_0; ring).
  rewrite <- Z. apply (decreasing (curvature_in_x g) (curvature_in_x_slope g)); [exact Hx| |].
  - intros y _. apply curvature_in_x_derivative.
  - intros y [Hy Hyx]. unfold curvature_in_x_slope.
    assert (P : 0 < exp y - 1) by (pose proof (exp_ineq1_le y); lra).
    pose proof (exp_increasing y x Hyx) as E.
    set (e := exp y - 1) in *. assert (B : e < - g * (1 + g) / 4) by (unfold e; lra).
    assert (e < 1) by nra. assert (e * e < e) by nra. nra.
Qed.

Lemma focal_curvature_negative g q : -1 < g < 0 -> 4 / (4 - g * (1 + g)) < q < 1 -> focal_curvature g q < 0.
Proof.
  intros Hg Hq.
  assert (Hd : 0 < 4 - g * (1 + g)) by nra.
  assert (Hq0 : 0 < q). { assert (0 < 4 / (4 - g * (1 + g))) by (apply Rdiv_lt_0_compat; lra). lra. }
  assert (K : 4 < q * (4 - g * (1 + g))).
  { destruct Hq as [Hq _]. apply (Rmult_lt_compat_r (4 - g * (1 + g))) in Hq; [|exact Hd].
    replace (4 / (4 - g * (1 + g)) * (4 - g * (1 + g))) with 4 in Hq by (field; lra). exact Hq. }
  rewrite focal_curvature_in_x by lra.
  assert (P : 0 < Rpower (1 - q) g / ((1 - q) * (1 - q))).
  { apply Rdiv_lt_0_compat; [apply Rpower_pos|apply Rmult_lt_0_compat; lra]. }
  assert (C : curvature_in_x g (- ln q) < 0).
  { apply curvature_in_x_negative; [exact Hg| |].
    - pose proof (ln_neg q ltac:(lra)). lra.
    - rewrite exp_Ropp, exp_ln by lra. apply (Rmult_lt_reg_l q); [lra|]. 
      replace (q * (/ q - 1)) with (1 - q) by (field; lra). lra. }
  nra.
Qed.

(* ---- the gain and the weight ---- *)

Lemma entropy_ratio_pos q : 0 < q < 1 -> 0 < entropy_ratio q.
Proof.
  intros H. unfold entropy_ratio. apply Rdiv_lt_0_compat; [|lra]. pose proof (ln_neg q H). nra.
Qed.

Lemma entropy_ratio_lt_1 q : 0 < q < 1 -> entropy_ratio q < 1.
Proof.
  intros H. unfold entropy_ratio. apply (Rmult_lt_reg_r (1 - q)); [lra|].
  replace (- (q * ln q) / (1 - q) * (1 - q)) with (- (q * ln q)) by (field; lra).
  assert (A : - ln q < 1 / q - 1).
  { assert (N : / q <> 1). { intros E. assert (q * / q = 1) by (field; lra). rewrite E in H0. lra. }
    pose proof (ln_lt (/ q) ltac:(apply Rinv_0_lt_compat; lra) N) as B. rewrite ln_Rinv in B by lra. unfold Rdiv. lra. }
  apply (Rmult_lt_compat_l q) in A; [|lra]. replace (q * (1 / q - 1)) with (1 - q) in A by (field; lra). lra.
Qed.

Lemma gain_pos g q : 0 <= g -> 0 < q < 1 -> 0 < gain g q.
Proof.
  intros Hg H. unfold gain. apply Rmult_lt_0_compat; [apply Rpower_pos|].
  pose proof (entropy_ratio_pos q H). nra.
Qed.

(* g(q) = - q L'(q): the focal gradient over that of cross-entropy *)
Lemma focal_slope_gain g q : 0 < q < 1 -> focal_slope g q = - (gain g q / q).
Proof. intros H. unfold focal_slope, gain, entropy_ratio. field. lra. Qed.

Lemma weight_pos g q : 0 <= g -> 0 < q < 1 -> 0 < weight g q.
Proof. intros Hg H. apply Rdiv_lt_0_compat; [lra|apply gain_pos; assumption]. Qed.

Lemma focal_slope_weight g q : 0 <= g -> 0 < q < 1 -> focal_slope g q = - / weight g q.
Proof.
  intros Hg H. rewrite focal_slope_gain by exact H. unfold weight. pose proof (gain_pos g q Hg H). field. lra.
Qed.

(* the printed summand of KK24 Eq. (1) *)
Lemma eq1_term_weight g q : 0 <= g -> 0 < q < 1 -> eq1_term g q = - weight g q.
Proof.
  intros Hg H. pose proof (weight_pos g q Hg H) as W. pose proof (focal_slope_weight g q Hg H) as E.
  unfold eq1_term. unfold focal_slope in E. rewrite E. field. lra.
Qed.

Lemma focal_slope_increasing g q r : 0 <= g -> 0 < q -> q < r -> r < 1 -> focal_slope g q < focal_slope g r.
Proof.
  intros Hg. revert q r. apply (increasing_open (focal_slope g) (focal_curvature g) 0 1).
  - intros x Hx. apply focal_slope_derivative. exact Hx.
  - intros x Hx. apply focal_curvature_positive; [left; exact Hg|exact Hx].
Qed.

Lemma weight_increasing g q r : 0 <= g -> 0 < q -> q < r -> r < 1 -> weight g q < weight g r.
Proof.
  intros Hg H1 H2 H3. pose proof (focal_slope_increasing g q r Hg H1 H2 H3) as A.
  rewrite !focal_slope_weight in A by lra.
  apply Rinv_lt_cancel; [apply weight_pos; lra|lra].
Qed.

(* the focal loss lies above its tangents *)
Lemma focal_loss_above_tangent g q r : 0 <= g -> 0 < q < 1 -> 0 < r < 1 -> q <> r ->
  focal_loss g q + focal_slope g q * (r - q) < focal_loss g r.
Proof.
  intros Hg. apply (above_tangent (fun x => 0 < x < 1) (focal_loss g) (focal_slope g) (focal_curvature g)).
  - intros x y z Hx Hz Hy. lra.
  - apply focal_loss_derivative.
  - apply focal_slope_derivative.
  - intros x y z Hx Hz Hy. apply focal_curvature_positive; [left; exact Hg|lra].
Qed.
