(* Facts on real functions that the theorems share: bounds of the logarithm, monotony from a derivative, tangents. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma ln_le x : 0 < x -> ln x <= x - 1.
Proof. intros Hx. pose proof (exp_ineq1_le (ln x)) as H. rewrite exp_ln in H by exact Hx. lra. Qed.

Lemma ln_lt x : 0 < x -> x <> 1 -> ln x < x - 1.
Proof.
  intros Hx D. assert (ln x <> 0). { intros E. apply D. rewrite <- ln_1 in E. apply ln_inv in E; lra. }
  pose proof (exp_ineq1 (ln x) H) as A. rewrite exp_ln in A by exact Hx. lra.
Qed.

Lemma ln_ge x : 0 < x -> 1 - 1 / x <= ln x.
Proof.
  intros Hx. assert (0 < / x) by (apply Rinv_0_lt_compat; lra). pose proof (ln_le (/ x) H) as A.
  rewrite ln_Rinv in A by lra. unfold Rdiv. lra.
Qed.

Lemma ln_neg x : 0 < x < 1 -> ln x < 0.
Proof. intros H. pose proof (ln_le x ltac:(lra)). lra. Qed.

Lemma ln_pos x : 1 < x -> 0 < ln x.
Proof. intros H. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma derive_continuity (f : R -> R) x d : is_derive f x d -> continuity_pt f x.
Proof. intros D. apply derivable_continuous_pt. exists d. apply is_derive_Reals. exact D. Qed.

(* a positive derivative on the open interval: increasing on the closed one, given continuity at its ends *)
Lemma increasing_open (f df : R -> R) a b : (forall x, a < x < b -> is_derive f x (df x)) -> (forall x, a < x < b -> 0 < df x) ->
  forall x y, a < x -> x < y -> y < b -> f x < f y.
Proof.
  intros D P x y Hx Hxy Hy.
  refine (incr_function f (Finite a) (Finite b) df _ _ x y Hx Hxy Hy); simpl; intros z Hz Kz; [apply D|apply P]; lra.
Qed.

Lemma increasing_closed (f df : R -> R) a b : a < b -> (forall x, a < x < b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> continuity_pt f x) -> (forall x, a < x < b -> 0 < df x) -> f a < f b.
Proof.
  intros H D C P.
  assert (I : forall x y, a < x -> x < y -> y < b -> f x < f y) by (apply (increasing_open f df a b D P)).
  assert (A : forall x, a < x < b -> f a <= f x).
  { intros x Hx. destruct (Rle_lt_dec (f a) (f x)) as [L|L]; [exact L|exfalso].
    destruct (MVT_gen f a x df) as [d [Hd Ed]]; rewrite ?Rmin_left, ?Rmax_right in * by lra;
      [intros y Hy; apply D; lra|intros y Hy; apply C; lra|].
    destruct (Req_dec d a) as [->|Na].
    - assert (K := C a ltac:(lra)). 
      assert (0 < f a - f x) as E0 by lra.
      destruct (K (f a - f x) E0) as [del [Hdel Kd]].
      pose (y := Rmin ((a + x) / 2) (a + del / 2)).
      assert (Hy1 : y <= (a + x) / 2) by apply Rmin_l.
      assert (Hy2 : y <= a + del / 2) by apply Rmin_r.
      assert (Hy3 : a < y) by (unfold y; apply Rmin_glb_lt; lra).
      assert (Q : Rabs (f y - f a) < f a - f x).
      { apply (Kd y). split. split; [exact Logic.I|lra]. unfold dist; simpl. unfold R_dist. rewrite Rabs_right; lra. }
      apply Rabs_def2 in Q. assert (f y < f x) by (apply I; lra). lra.
    - assert (0 < df d) by (apply P; lra). assert (0 < df d * (x - a)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (B : forall x, a < x < b -> f x <= f b).
  { intros x Hx. destruct (Rle_lt_dec (f x) (f b)) as [L|L]; [exact L|exfalso].
    assert (K := C b ltac:(lra)).
    destruct (K (f x - f b) ltac:(lra)) as [del [Hdel Kd]].
    pose (y := Rmax ((x + b) / 2) (b - del / 2)).
    assert (Hy1 : (x + b) / 2 <= y) by apply Rmax_l.
    assert (Hy2 : b - del / 2 <= y) by apply Rmax_r.
    assert (Hy3 : y < b) by (unfold y; apply Rmax_lub_lt; lra).
    assert (Q : Rabs (f y - f b) < f x - f b).
    { apply (Kd y). split. split; [exact Logic.I|lra]. unfold dist; simpl. unfold R_dist. rewrite Rabs_left; lra. }
    apply Rabs_def2 in Q. assert (f x < f y) by (apply I; lra). lra. }
  pose proof (A ((2 * a + b) / 3) ltac:(lra)). pose proof (B ((a + 2 * b) / 3) ltac:(lra)).
  pose proof (I ((2 * a + b) / 3) ((a + 2 * b) / 3) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

(* differentiable on the closed interval is enough *)
Lemma increasing (f df : R -> R) a b : a < b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a < x < b -> 0 < df x) -> f a < f b.
Proof.
  intros H D P. apply (increasing_closed f df a b); auto.
  - intros x Hx. apply D. lra.
  - intros x Hx. apply (derive_continuity f x (df x)). apply D. exact Hx.
Qed.

Lemma nondecreasing (f df : R -> R) a b : a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> 0 <= df x) -> f a <= f b.
Proof.
  intros H D P. destruct (MVT_gen f a b df) as [c [Hc E]]; rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros x Hx. apply D. lra.
  - intros x Hx. apply (derive_continuity f x (df x)). apply D. exact Hx.
  - assert (0 <= df c * (b - a)) by (apply Rmult_le_pos; [apply P; lra|lra]). lra.
Qed.

Lemma nonincreasing (f df : R -> R) a b : a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a <= x <= b -> df x <= 0) -> f b <= f a.
Proof.
  intros H D P. assert (- f a <= - f b).
  { apply (nondecreasing (fun x => - f x) (fun x => - df x)); auto.
    - intros x Hx. apply (is_derive_opp f). auto.
    - intros x Hx. specialize (P x Hx). lra. }
  lra.
Qed.

Lemma decreasing (f df : R -> R) a b : a < b -> (forall x, a <= x <= b -> is_derive f x (df x)) ->
  (forall x, a < x < b -> df x < 0) -> f b < f a.
Proof.
  intros H D P. assert (- f a < - f b).
  { apply (increasing (fun x => - f x) (fun x => - df x)); auto.
    - intros x Hx. apply (is_derive_opp f). auto.
    - intros x Hx. specialize (P x Hx). lra. }
  lra.
Qed.

(* a positive second derivative inside an interval P, whatever its ends: the function lies above its tangents, strictly apart
   from the point of contact *)
Lemma above_tangent (P : R -> Prop) (f df ddf : R -> R) :
  (forall x y z, P x -> P z -> x <= y <= z -> P y) ->
  (forall x, P x -> is_derive f x (df x)) -> (forall x, P x -> is_derive df x (ddf x)) ->
  (forall x y z, P x -> P z -> x < y < z -> 0 < ddf y) ->
  forall x y, P x -> P y -> x <> y -> f x + df x * (y - x) < f y.
Proof.
  intros V D1 D2 C x y Hx Hy N.
  assert (I : forall z t, P z -> P t -> z < t -> df z < df t).
  { intros z t Hz Ht L. apply (increasing df ddf); [exact L| |]; intros w Hw; [apply D2, (V z w t)|apply (C z w t)]; auto. }
  pose (h := fun z => f z - df x * (z - x)).
  assert (Dh : forall z, P z -> is_derive h z (df z - df x)).
  { intros z Hz. unfold h.
    apply (is_derive_minus f (fun z => df x * (z - x))); [auto|]. auto_derive; [exact Logic.I|ring]. }
  assert (h x < h y).
  { destruct (Rlt_dec x y) as [L|L].
    - apply (increasing h (fun z => df z - df x)); [exact L| |]; intros z Hz; [apply Dh, (V x z y); auto|].
      assert (df x < df z) by (apply I; [exact Hx|apply (V x z y); auto; lra|lra]). lra.
    - apply (decreasing h (fun z => df z - df x)); [lra| |]; intros z Hz; [apply Dh, (V y z x); auto|].
      assert (df z < df x) by (apply I; [apply (V y z x); auto; lra|exact Hx|lra]). lra. }
  unfold h in H. lra.
Qed.

Lemma chord_above (f df ddf : R -> R) a b :
  (forall x, a < x < b -> is_derive f x (df x)) -> (forall x, a < x < b -> is_derive df x (ddf x)) ->
  (forall x, a < x < b -> 0 < ddf x) ->
  forall x y t, a < x < b -> a < y < b -> x <> y -> 0 < t < 1 -> f (t * x + (1 - t) * y) < t * f x + (1 - t) * f y.
Proof.
  intros D1 D2 P x y t Hx Hy N Ht.
  set (m := t * x + (1 - t) * y).
  assert (Hm : a < m < b) by (unfold m; split; nra).
  assert (Nx : m <> x). { intros E. assert (Z : (1 - t) * (y - x) = 0) by (unfold m in E; lra).
    apply Rmult_integral in Z. lra. }
  assert (Ny : m <> y). { intros E. assert (Z : t * (x - y) = 0) by (unfold m in E; lra).
    apply Rmult_integral in Z. lra. }
  assert (T : forall z, a < z < b -> m <> z -> f m + df m * (z - m) < f z).
  { intros z Hz Nz. apply (above_tangent (fun z => a < z < b) f df ddf); auto; intros; [lra|apply P; lra]. }
  pose proof (T x Hx Nx) as A. pose proof (T y Hy Ny) as B.
  apply (Rmult_lt_compat_l t) in A; [|lra]. apply (Rmult_lt_compat_l (1 - t)) in B; [|lra].
  assert (Z : t * (df m * (x - m)) + (1 - t) * (df m * (y - m)) = 0) by (unfold m; ring).
  lra.
Qed.
