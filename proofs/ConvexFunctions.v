(* Two general steps of the papers' proofs, on convex functions. *)

From Coq Require Import Reals Lra.
From Focal Require Import Focal.
Open Scope R_scope.

Section Vectors.
Variables (V : Type) (domain : V -> Prop) (mix : R -> V -> V -> V).

Definition convex_in (f : V -> R) : Prop :=
  forall x y t, domain x -> domain y -> 0 < t < 1 -> f (mix t x y) <= t * f x + (1 - t) * f y.
Definition strictly_convex_in (f : V -> R) : Prop :=
  forall x y t, domain x -> domain y -> x <> y -> 0 < t < 1 -> f (mix t x y) < t * f x + (1 - t) * f y.
End Vectors.

(* L25: 'Let f be a strictly convex function, and let h be a convex function. Then the function f + h is strictly convex' (l25.a4).
   Faithful: exact, in any space: [mix t x y] is t x + (1 - t) y there, on any domain. *)
Theorem l25_strictly_convex_sum V domain mix f h : strictly_convex_in V domain mix f -> convex_in V domain mix h ->
  strictly_convex_in V domain mix (fun v => f v + h v).
Proof.
  intros F H x y t X Y N T. specialize (F x y t X Y N T). specialize (H x y t X Y T). lra.
Qed.

(* KK24 App. A.5: 'Let f(x) be a concave function defined on [0, 1] range such that f(0) = 0. Then for all lambda in [0, 1]:
   f(lambda x) >= lambda f(x)' (kk24.prop5_sublemma). Faithful: exact. *)
Theorem kk24_prop5_sublemma (f : R -> R) :
  (forall x y t, 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= t <= 1 -> t * f x + (1 - t) * f y <= f (t * x + (1 - t) * y)) -> f 0 = 0 ->
  forall x lambda, 0 <= x <= 1 -> 0 <= lambda <= 1 -> lambda * f x <= f (lambda * x).
Proof.
  intros C Z x l X L. specialize (C x 0 l X ltac:(lra) L). rewrite Z in C.
  replace (l * x + (1 - l) * 0) with (l * x) in C by ring. lra.
Qed.

(* not vacuous: on the line, v^2 is strictly convex and |v| convex *)
Example l25_strictly_convex_sum_example :
  let anywhere := fun _ : R => True in let mix := fun t x y : R => t * x + (1 - t) * y in
  strictly_convex_in R anywhere mix (fun v => v * v) /\ convex_in R anywhere mix Rabs /\
  strictly_convex_in R anywhere mix (fun v => v * v + Rabs v).
Proof.
  intros anywhere mix.
  assert (F : strictly_convex_in R anywhere mix (fun v => v * v)).
  { intros x y t _ _ N T. unfold mix. assert (0 < (x - y) * (x - y)) by (apply Rsqr_pos_lt; lra).
    assert (0 < t * (1 - t) * ((x - y) * (x - y))); [|lra].
    apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|assumption]. }
  assert (H : convex_in R anywhere mix Rabs).
  { intros x y t _ _ T. unfold mix. eapply Rle_trans; [apply Rabs_triang|].
    rewrite !Rabs_mult, (Rabs_right t), (Rabs_right (1 - t)) by lra. lra. }
  split; [exact F|]. split; [exact H|]. exact (l25_strictly_convex_sum R anywhere mix _ _ F H).
Qed.

(* not vacuous: f(x) = x (1 - x), at x = lambda = 1/2, where 3/16 > 1/8 *)
Example kk24_prop5_sublemma_example : let f := fun x => x * (1 - x) in
  (forall x y t, 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= t <= 1 -> t * f x + (1 - t) * f y <= f (t * x + (1 - t) * y)) /\
  f 0 = 0 /\ 1 / 2 * f (1 / 2) < f (1 / 2 * (1 / 2)).
Proof.
  intros f. unfold f. split; [|lra]. intros x y t _ _ T. assert (0 <= (x - y) * (x - y)) by apply Rle_0_sqr.
  assert (0 <= t * (1 - t) * ((x - y) * (x - y))); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|assumption].
Qed.
