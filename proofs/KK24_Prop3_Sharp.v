(* KK24 Prop. 3 sharpened: the temperatures that bound the binary map, with nothing left to improve.

   KK24 section 3.2 asks for it: "the theoretical assumptions could be strengthened to suggest even tighter theoretical bounds".

   beta(s) = logit FC(s) / s is the inverse temperature at logit s. Its infimum over s is its limit at 0,
   beta_0 = gamma + 1 - gamma (2 log 2 - 1) / (1 + gamma log 2), exactly for gamma <= gamma_c = 5.63537995..., where gamma_c is
   the root of the third derivative of R at 0 and has a closed form.

   Faithful: ours (the ledger's kk24.prop3_sharp), equivalent and for every real gamma > 0: 'exactly up to gamma_c' is an 'if and
   only if' ([kk24_prop3_sharp]). The ledger's certificate shows more, that beta increases in |s|; and what beta does for
   gamma > gamma_c (kk24.prop3_sharp_above) is formalised only in that beta dips below beta_0. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio BinaryMap KK24_Prop2 KK24_Prop3.
Open Scope R_scope.

Definition gap_at_0 (g : R) : R := g * (2 * ln 2 - 1) / (1 + g * ln 2).
Definition beta_0 (g : R) : R := g + 1 - gap_at_0 g.

(* beta(s) >= beta_0 says that this is not positive *)
Definition excess (g s : R) : R := logit_gap g s - s * gap_at_0 g.

Lemma ln_2_range : 69 / 100 < ln 2 < 7 / 10.
Proof. split; interval with (i_prec 60). Qed.

(* ---- in gamma: where the excess is negative at one gamma, it is at every smaller one ---- *)

Lemma excess_smaller_gamma g1 g s : 0 < s -> 0 < g -> g <= g1 -> excess g1 s < 0 -> excess g s < 0.
Proof.
  intros S G L E1. apply Rnot_le_lt. intro E. pose proof ln_2_range as L2.
  pose proof (u_pos s) as U. pose proof (u_pos (- s)) as V. pose proof (u_pair_below s) as P.
  set (a := u s) in *. set (b := u (- s)) in *. set (l := ln 2) in *. set (k := 2 * l - 1).
  assert (K : 0 < k) by (unfold k; lra).
  pose (f := fun t => ln (1 + t * a) - ln (1 + t * b) - s * (t * k / (1 + t * l))).
  pose (df := fun t => (a - b) / ((1 + t * a) * (1 + t * b)) - s * k / ((1 + t * l) * (1 + t * l))).
  assert (Pos : forall t c, 0 <= t -> 0 < c -> 0 < 1 + t * c) by (intros t c Ht Hc; assert (0 <= t * c) by
    (apply Rmult_le_pos; lra); lra).
  assert (D : forall t, 0 <= t -> is_derive f t (df t)).
  { intros t Ht. pose proof (Pos t a Ht U). pose proof (Pos t b Ht V). pose proof (Pos t l Ht ltac:(lra)).
    unfold f, df. auto_derive; [repeat split; lra|]. field. repeat split; lra. }
  assert (F : forall t, 0 <= t -> excess t s = f t).
  { intros t Ht. unfold excess, logit_gap, gap_at_0, f. fold a b l k. rewrite ln_div; [ring| |]; apply Pos; lra. }
  rewrite F in E, E1 by lra.
  assert (Z : f 0 = 0) by (unfold f; rewrite !Rmult_0_l, !Rplus_0_r, ln_1; field).
  destruct (MVT_cor2 f df 0 g G) as [x [Ex Hx]]; [intros c Hc; apply is_derive_Reals, D; lra|].
  rewrite Z, !Rminus_0_r in Ex.
  assert (Dx : 0 <= df x) by nra.
  (* (1 + t a)(1 + t b) / (1 + t l)^2 decreases in t, as (a + b) / 2 <= l *)
  assert (Dy : forall y, x <= y -> 0 <= df y).
  { intros y Y. pose proof (Pos x a ltac:(lra) U) as Xa. pose proof (Pos x b ltac:(lra) V) as Xb.
  pose proof (Pos x l ltac:(lra) ltac:(lra)) as Xl.
    pose proof (Pos y a ltac:(lra) U) as Ya. pose proof (Pos y b ltac:(lra) V) as Yb.
    pose proof (Pos y l ltac:(lra) ltac:(lra)) as Yl.
    unfold df in *.
    set (Nx := (1 + x * a) * (1 + x * b)) in *. set (Ny := (1 + y * a) * (1 + y * b)) in *.
    set (Mx := (1 + x * l) * (1 + x * l)) in *. set (My := (1 + y * l) * (1 + y * l)) in *.
    assert (PNx : 0 < Nx) by (apply Rmult_lt_0_compat; assumption).
    assert (PNy : 0 < Ny) by (apply Rmult_lt_0_compat; assumption).
    assert (PMx : 0 < Mx) by (apply Rmult_lt_0_compat; assumption).
    assert (PMy : 0 < My) by (apply Rmult_lt_0_compat; assumption).
    assert (A : s * k * Nx <= (a - b) * Mx).
    { apply (Rmult_le_compat_r (Nx * Mx)) in Dx; [|apply Rlt_le, Rmult_lt_0_compat; assumption].
      replace (((a - b) / Nx - s * k / Mx) * (Nx * Mx)) with ((a - b) * Mx - s * k * Nx) in Dx by (field; lra). lra. }
    set (m := (a + b) / 2). assert (M : m <= l) by (unfold m; lra).
    assert (B : Ny * Mx <= Nx * My).
    { set (c := (a - b) * (a - b) / 4).
    assert (C : 0 <= c) by (unfold c; pose proof (Rle_0_sqr (a - b)) as Q; unfold Rsqr in Q; lra).
      replace Ny with ((1 + y * m) * (1 + y * m) - y * y * c) by (unfold Ny, m, c; field).
      replace Nx with ((1 + x * m) * (1 + x * m) - x * x * c) by (unfold Nx, m, c; field).
      assert (M0 : 0 < m) by (unfold m; lra).
      assert (B1 : (1 + y * m) * (1 + x * l) <= (1 + x * m) * (1 + y * l)).
      { assert (0 <= (y - x) * (l - m)) by (apply Rmult_le_pos; lra). lra. }
      assert (B0 : 0 <= (1 + y * m) * (1 + x * l)).
      { apply Rmult_le_pos; [|lra]. assert (0 <= y * m) by (apply Rmult_le_pos; lra). lra. }
      assert (B2 : ((1 + y * m) * (1 + x * l)) * ((1 + y * m) * (1 + x * l)) <= ((1 + x * m) * (1 + y * l)) * ((1 + x
        * m) * (1 + y * l)))
        by (apply Rmult_le_compat; assumption).
      assert (B3 : x * (1 + y * l) <= y * (1 + x * l)) by lra.
      assert (B4 : (x * (1 + y * l)) * (x * (1 + y * l)) <= (y * (1 + x * l)) * (y * (1 + x * l))).
      { apply Rmult_le_compat; try assumption; apply Rmult_le_pos; lra. }
      assert (B5 : (x * (1 + y * l)) * (x * (1 + y * l)) * c <= (y * (1 + x * l)) * (y * (1 + x * l)) * c) by
        (apply Rmult_le_compat_r; assumption).
      unfold Mx, My. lra. }
    assert (SK : 0 <= s * k) by (apply Rmult_le_pos; lra).
    assert (C1 : s * k * (Ny * Mx) <= s * k * (Nx * My)) by (apply Rmult_le_compat_l; assumption).
    assert (C2 : s * k * Nx * My <= (a - b) * Mx * My) by (apply Rmult_le_compat_r; lra).
    assert (C3 : s * k * Ny <= (a - b) * My).
    { apply (Rmult_le_reg_r Mx); [exact PMx|]. lra. }
    replace ((a - b) / Ny - s * k / My) with (((a - b) * My - s * k * Ny) / (Ny * My)) by (field; lra).
    apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption. }
  assert (f g <= f g1).
  { apply (nondecreasing f df); [exact L| |]; intros t Ht; [apply D; lra|apply Dy; lra]. }
  lra.
Qed.

(* ---- the derivatives of R: with x_k = g u^(k) / (1 + g u), those of log (1 + g u) are polynomials in the x_k ---- *)

Definition v (s : R) : R := sigmoid s * (1 - sigmoid s).
Definition u1 (s : R) : R := u s - sigmoid s.
Definition u2 (s : R) : R := u1 s - v s.
Definition u3 (s : R) : R := u2 s - v s * (1 - 2 * sigmoid s).
Definition u4 (s : R) : R := u3 s - v s * (1 - 6 * sigmoid s + 6 * (sigmoid s * sigmoid s)).
Definition u5 (s : R) : R := u4 s - v s * (1 - 2 * sigmoid s) * (1 - 12 * sigmoid s + 12 * (sigmoid s * sigmoid s)).

Lemma polynomial_derivative (f : R -> R) a b c d e s :
  (f = fun s => a * u s + (b * sigmoid s + c * (sigmoid s * sigmoid s) + d * (sigmoid s * sigmoid s * sigmoid s)
     + e * (sigmoid s * sigmoid s * sigmoid s * sigmoid s))) ->
  is_derive f s (a * (u s - sigmoid s) + v s * (b + 2 * c * sigmoid s + 3 * d * (sigmoid s * sigmoid s)
     + 4 * e * (sigmoid s * sigmoid s * sigmoid s))).
Proof.
  intros ->. pose proof (u_derivative s) as U. pose proof (sigmoid_derivative s) as S.
  assert (Eu : ex_derive u s) by (eexists; exact U). assert (Es : ex_derive sigmoid s) by (eexists; exact S).
  auto_derive; [repeat split; assumption|].
  replace (Derive (fun x : R => u x) s) with (u s - sigmoid s) by (symmetry; apply is_derive_unique; exact U).
  replace (Derive (fun x : R => sigmoid x) s) with (sigmoid s * (1 - sigmoid s)) by (symmetry; apply is_derive_unique;
    exact S).
  unfold v. ring.
Qed.

Ltac by_polynomial f g a b c d e :=
  let s := fresh in intros s;
  apply (is_derive_ext (fun s => a * u s + (b * sigmoid s + c * (sigmoid s * sigmoid s) + d * (sigmoid s * sigmoid s
    * sigmoid s)
     + e * (sigmoid s * sigmoid s * sigmoid s * sigmoid s))));
  [let t := fresh in intros t; unfold u5, u4, u3, u2, u1, v; match goal with |- ?l = ?r => change (@eq R l r) end;
    ring|
   evar_last; [apply (polynomial_derivative _ a b c d e); reflexivity|unfold u5, u4, u3, u2, u1, v; ring]].

Lemma u0_derivative : forall s, is_derive u s (u1 s).
Proof. apply u_derivative. Qed.
Lemma u1_derivative : forall s, is_derive u1 s (u2 s).
Proof. by_polynomial u1 u2 1 (-1) 0 0 0. Qed.
Lemma u2_derivative : forall s, is_derive u2 s (u3 s).
Proof. by_polynomial u2 u3 1 (-2) 1 0 0. Qed.
Lemma u3_derivative : forall s, is_derive u3 s (u4 s).
Proof. by_polynomial u3 u4 1 (-3) 4 (-2) 0. Qed.
Lemma u4_derivative : forall s, is_derive u4 s (u5 s).
Proof. by_polynomial u4 u5 1 (-4) 11 (-14) 6. Qed.

Section Derivatives.
Variable g : R.
Hypothesis G : 0 < g.

Definition x (d : R -> R) (s : R) : R := g * d s / (1 + g * u s).

Lemma x_derivative d d' s : is_derive d s (d' s) -> is_derive (x d) s (x d' s - x d s * x u1 s).
Proof.
  intros D. pose proof (one_plus_u g s ltac:(lra)) as P. pose proof (u_derivative s) as U.
  assert (Ed : ex_derive d s) by (eexists; exact D). assert (Eu : ex_derive u s) by (eexists; exact U).
  unfold x. auto_derive; [repeat split; try assumption; lra|].
  replace (Derive (fun x0 : R => d x0) s) with (d' s) by (symmetry; apply is_derive_unique; exact D).
  replace (Derive (fun x0 : R => u x0) s) with (u s - sigmoid s) by (symmetry; apply is_derive_unique; exact U).
  unfold u1. field. lra.
Qed.

Definition p1 (s : R) : R := x u1 s.
Definition p2 (s : R) : R := x u2 s - x u1 s * x u1 s.
Definition p3 (s : R) : R := x u3 s - 3 * (x u1 s * x u2 s) + 2 * (x u1 s * x u1 s * x u1 s).
Definition p4 (s : R) : R := x u4 s - 4 * (x u1 s * x u3 s) - 3 * (x u2 s * x u2 s)
  + 12 * (x u1 s * x u1 s * x u2 s) - 6 * (x u1 s * x u1 s * x u1 s * x u1 s).
Definition p5 (s : R) : R := x u5 s - 5 * (x u1 s * x u4 s) - 10 * (x u2 s * x u3 s) + 20 * (x u1 s * x u1 s * x u3 s)
  + 30 * (x u1 s * x u2 s * x u2 s) - 60 * (x u1 s * x u1 s * x u1 s * x u2 s)
  + 24 * (x u1 s * x u1 s * x u1 s * x u1 s * x u1 s).

Ltac derive_x s :=
  pose proof (x_derivative u1 u2 s (u1_derivative s)) as D1; pose proof (x_derivative u2 u3 s (u2_derivative s)) as D2;
  pose proof (x_derivative u3 u4 s (u3_derivative s)) as D3; pose proof (x_derivative u4 u5 s (u4_derivative s)) as D4;
  assert (E1 : ex_derive (x u1) s) by (eexists; exact D1); assert (E2 : ex_derive (x u2) s) by (eexists; exact D2);
  assert (E3 : ex_derive (x u3) s) by (eexists; exact D3); assert (E4 : ex_derive (x u4) s) by (eexists; exact D4);
  apply is_derive_unique in D1; apply is_derive_unique in D2; apply is_derive_unique in D3;
    apply is_derive_unique in D4;
  auto_derive; [repeat split; assumption|];
  try change (Derive (fun t : R => x u1 t) s) with (Derive (x u1) s); try change (Derive (fun t : R => x u2 t) s) with
    (Derive (x u2) s);
  try change (Derive (fun t : R => x u3 t) s) with (Derive (x u3) s); try change (Derive (fun t : R => x u4 t) s) with
    (Derive (x u4) s);
  rewrite ?D1, ?D2, ?D3, ?D4; ring.

Lemma p1_derivative s : is_derive p1 s (p2 s).
Proof. unfold p1, p2. derive_x s. Qed.
Lemma p2_derivative s : is_derive p2 s (p3 s).
Proof. unfold p2, p3. derive_x s. Qed.
Lemma p3_derivative s : is_derive p3 s (p4 s).
Proof. unfold p3, p4. derive_x s. Qed.
Lemma p4_derivative s : is_derive p4 s (p5 s).
Proof. unfold p4, p5. derive_x s. Qed.

Lemma mirrored f d s : is_derive f (- s) d -> is_derive (fun s => f (- s)) s (- d).
Proof.
  intros D. replace (- d) with (scal (-1) d) by (unfold scal; simpl; unfold mult; simpl; ring).
  apply (is_derive_comp f (fun s => - s)); [exact D|]. auto_derive; [exact I|ring].
Qed.

(* R', ..., R^(5) *)
Definition r1 (s : R) : R := p1 s + p1 (- s).
Definition r2 (s : R) : R := p2 s - p2 (- s).
Definition r3 (s : R) : R := p3 s + p3 (- s).
Definition r4 (s : R) : R := p4 s - p4 (- s).
Definition r5 (s : R) : R := p5 s + p5 (- s).

Lemma r1_derivative s : is_derive r1 s (r2 s).
Proof. apply (is_derive_plus p1 (fun s => p1 (- s))); [apply p1_derivative|apply mirrored, p1_derivative]. Qed.
Lemma r2_derivative s : is_derive r2 s (r3 s).
Proof.
  unfold r3. replace (p3 s + p3 (- s)) with (p3 s - - p3 (- s)) by ring.
  apply (is_derive_minus p2 (fun s => p2 (- s))); [apply p2_derivative|apply mirrored, p2_derivative].
Qed.
Lemma r3_derivative s : is_derive r3 s (r4 s).
Proof. apply (is_derive_plus p3 (fun s => p3 (- s))); [apply p3_derivative|apply mirrored, p3_derivative]. Qed.
Lemma r4_derivative s : is_derive r4 s (r5 s).
Proof.
  unfold r5. replace (p5 s + p5 (- s)) with (p5 s - - p5 (- s)) by ring.
  apply (is_derive_minus p4 (fun s => p4 (- s))); [apply p4_derivative|apply mirrored, p4_derivative].
Qed.

Lemma r2_at_0 : r2 0 = 0.
Proof. unfold r2. rewrite Ropp_0. ring. Qed.
Lemma r4_at_0 : r4 0 = 0.
Proof. unfold r4. rewrite Ropp_0. ring. Qed.

Lemma r1_at_0 : r1 0 = gap_at_0 g.
Proof.
  pose proof ln_2_range. unfold r1, p1, x, u1, gap_at_0. rewrite Ropp_0, u_0, sigmoid_0. field.
  assert (0 < g * ln 2) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(* R'''(0) = 2 t (b - 3 a b t + 2 a^3 t^2), t = g / (1 + g log 2), a = log 2 - 1/2, b = log 2 - 3/4 *)
Lemma r3_at_0 : let a := ln 2 - 1 / 2 in let b := ln 2 - 3 / 4 in let t := g / (1 + g * ln 2) in
  r3 0 = 2 * t * (b - 3 * a * b * t + 2 * (a * a * a) * (t * t)).
Proof.
  intros a b t. pose proof ln_2_range.
  assert (0 < g * ln 2) by (apply Rmult_lt_0_compat; lra).
  unfold r3, p3, x, u3, u2, u1, v, t, a, b. rewrite Ropp_0, u_0, sigmoid_0. field. lra.
Qed.

Lemma excess_derivative s : is_derive (excess g) s (r1 s - gap_at_0 g).
Proof.
  unfold excess. apply (is_derive_minus (logit_gap g) (fun s => s * gap_at_0 g)).
  - apply logit_gap_derivative. lra.
  - auto_derive; [exact I|ring].
Qed.

Lemma excess_at_0 : excess g 0 = 0.
Proof. unfold excess. rewrite logit_gap_0. ring. Qed.

(* from the third derivative near 0 to the excess *)
Lemma excess_near_negative e : 0 < e -> (forall s, 0 < s < e -> r3 s < 0) -> forall s, 0 < s <= e -> excess g s < 0.
Proof.
  intros E H3.
  assert (H2 : forall s, 0 < s <= e -> r2 s < 0).
  { intros s S. rewrite <- r2_at_0.
  apply (decreasing r2 r3); [lra| |]; intros t T; [apply r2_derivative|apply H3; lra]. }
  assert (H1 : forall s, 0 < s <= e -> r1 s - gap_at_0 g < 0).
  { intros s S. rewrite <- r1_at_0. assert (r1 s < r1 0); [|lra].
    apply (decreasing r1 r2); [lra| |]; intros t T; [apply r1_derivative|apply H2; lra]. }
  intros s S. rewrite <- excess_at_0. apply (decreasing (excess g) (fun s => r1 s - gap_at_0 g)); [lra| |]; intros t T.
  - apply excess_derivative.
  - apply H1. lra.
Qed.

Lemma excess_near_positive e : 0 < e -> (forall s, 0 < s < e -> 0 < r3 s) -> forall s, 0 < s <= e -> 0 < excess g s.
Proof.
  intros E H3.
  assert (H2 : forall s, 0 < s <= e -> 0 < r2 s).
  { intros s S. rewrite <- r2_at_0.
  apply (increasing r2 r3); [lra| |]; intros t T; [apply r2_derivative|apply H3; lra]. }
  assert (H1 : forall s, 0 < s <= e -> 0 < r1 s - gap_at_0 g).
  { intros s S. rewrite <- r1_at_0. assert (r1 0 < r1 s); [|lra].
    apply (increasing r1 r2); [lra| |]; intros t T; [apply r1_derivative|apply H2; lra]. }
  intros s S. rewrite <- excess_at_0. apply (increasing (excess g) (fun s => r1 s - gap_at_0 g)); [lra| |]; intros t T.
  - apply excess_derivative.
  - apply H1. lra.
Qed.

Lemma r3_positive_near : 0 < r3 0 -> exists e, 0 < e /\ forall s, 0 < s < e -> 0 < r3 s.
Proof.
  intros P. pose proof (derive_continuity r3 0 (r4 0) (r3_derivative 0)) as C.
  destruct (C (r3 0) P) as [e [E H]]. exists e. split; [exact E|]. intros s S.
  assert (D : Rabs (r3 s - r3 0) < r3 0).
  { apply (H s). split; [split; [exact I|lra]|]. unfold dist; simpl. unfold R_dist.
  rewrite Rminus_0_r, Rabs_right; lra. }
  apply Rabs_def2 in D. lra.
Qed.
End Derivatives.

(* ---- gamma_c, where R'''(0) = 0 ---- *)

Definition t_c : R :=
  let a := ln 2 - 1 / 2 in let b := ln 2 - 3 / 4 in
  (3 * a * b + sqrt (9 * (a * a) * (b * b) - 8 * (a * a * a) * b)) / (4 * (a * a * a)).
Definition gamma_c : R := t_c / (1 - t_c * ln 2).

Lemma t_c_range : 1148 / 1000 < t_c < 1149 / 1000.
Proof. unfold t_c; cbv zeta. split; interval with (i_prec 60). Qed.

Theorem gamma_c_value : 5.63537995 < gamma_c < 5.63537996.
Proof. unfold gamma_c, t_c; cbv zeta. split; interval with (i_prec 80). Qed.

Lemma t_c_root : let a := ln 2 - 1 / 2 in let b := ln 2 - 3 / 4 in b - 3 * a * b * t_c + 2 * (a * a * a) * (t_c
  * t_c) = 0.
Proof.
  intros a b. pose proof ln_2_range. assert (A : 0 < a) by (unfold a; lra). assert (B : b < 0) by (unfold b; lra).
  assert (A3 : 0 < a * a * a) by (repeat apply Rmult_lt_0_compat; assumption).
  set (r := sqrt (9 * (a * a) * (b * b) - 8 * (a * a * a) * b)).
  assert (R2 : r * r = 9 * (a * a) * (b * b) - 8 * (a * a * a) * b).
  { unfold r. apply sqrt_sqrt. assert (0 <= 9 * (a * a) * (b * b)) by nra. nra. }
  change t_c with ((3 * a * b + r) / (4 * (a * a * a))).
  replace (b - 3 * a * b * ((3 * a * b + r) / (4 * (a * a * a))) + 2 * (a * a * a) * ((3 * a * b + r) / (4 * (a * a
    * a)) * ((3 * a * b + r) / (4 * (a * a * a)))))
    with ((r * r - (9 * (a * a) * (b * b) - 8 * (a * a * a) * b)) / (8 * (a * a * a))) by (field; lra).
  rewrite R2. unfold Rdiv. ring.
Qed.

Lemma gamma_c_t : gamma_c / (1 + gamma_c * ln 2) = t_c.
Proof.
  pose proof ln_2_range. pose proof t_c_range. assert (0 < 1 - t_c * ln 2) by nra.
  unfold gamma_c. field. split; [|lra]. lra.
Qed.

Lemma r3_gamma_c : r3 gamma_c 0 = 0.
Proof. pose proof gamma_c_value. rewrite r3_at_0 by lra. cbv zeta. rewrite gamma_c_t, t_c_root. ring. Qed.

Lemma r3_above_gamma_c g : gamma_c < g -> 0 < r3 g 0.
Proof.
  intros L. pose proof gamma_c_value. pose proof ln_2_range as L2. rewrite r3_at_0 by lra. cbv zeta.
  set (a := ln 2 - 1 / 2). set (b := ln 2 - 3 / 4). set (t := g / (1 + g * ln 2)).
  assert (A : 0 < a) by (unfold a; lra). assert (B : b < 0) by (unfold b; lra).
  assert (P1 : 0 < 1 + g * ln 2) by nra. assert (P2 : 0 < 1 + gamma_c * ln 2) by nra.
  assert (T : t_c < t).
  { rewrite <- gamma_c_t. unfold t.
  apply (Rmult_lt_reg_r ((1 + g * ln 2) * (1 + gamma_c * ln 2))); [apply Rmult_lt_0_compat; assumption|].
    replace (gamma_c / (1 + gamma_c * ln 2) * ((1 + g * ln 2) * (1 + gamma_c * ln 2))) with (gamma_c * (1 + g * ln 2))
      by (field; lra).
    replace (g / (1 + g * ln 2) * ((1 + g * ln 2) * (1 + gamma_c * ln 2))) with (g * (1 + gamma_c * ln 2)) by (field;
      lra). lra. }
  pose proof t_c_range. pose proof t_c_root as Z. cbv zeta in Z. fold a b in Z.
  assert (A3 : 0 < a * a * a) by (repeat apply Rmult_lt_0_compat; assumption).
  assert (N : 0 < - (3 * a * b)) by nra.
  assert (t_c * t_c < t * t) by nra.
  assert (- (3 * a * b) * t_c < - (3 * a * b) * t) by (apply Rmult_lt_compat_l; lra).
  assert (2 * (a * a * a) * (t_c * t_c) < 2 * (a * a * a) * (t * t)) by (apply Rmult_lt_compat_l; lra).
  apply Rmult_lt_0_compat; lra.
Qed.

(* ---- at gamma_c the excess is negative for every s > 0 ---- *)

Lemma excess_gamma_c_near s : 0 < s <= 3 / 4 -> excess gamma_c s < 0.
Proof.
  pose proof gamma_c_value as V. revert s. apply excess_near_negative; [lra|lra|].
  assert (H5 : forall s, 0 <= s <= 3 / 4 -> r5 gamma_c s < 0).
  { intros s S. assert (W : 563537 / 100000 <= gamma_c <= 563538 / 100000) by lra.
    generalize dependent gamma_c. intros g _ W.
    unfold r5, p5, x, u5, u4, u3, u2, u1, v, sigmoid, u. rewrite ?Ropp_involutive.
    interval with (i_prec 60, i_bisect s, i_taylor s, i_degree 6). }
  assert (H4 : forall s, 0 < s <= 3 / 4 -> r4 gamma_c s < 0).
  { intros s S. rewrite <- (r4_at_0 gamma_c). apply (decreasing (r4 gamma_c) (r5 gamma_c)); [lra| |]; intros t T.
    - apply r4_derivative. lra.
    - apply H5. lra. }
  intros s S. rewrite <- r3_gamma_c. apply (decreasing (r3 gamma_c) (r4 gamma_c)); [lra| |]; intros t T.
  - apply r3_derivative. lra.
  - apply H4. lra.
Qed.

Lemma excess_gamma_c_middle s : 3 / 4 <= s <= 5 -> excess gamma_c s < 0.
Proof.
  pose proof gamma_c_value as V. intros S. assert (W : 563537 / 100000 <= gamma_c <= 563538 / 100000) by lra.
  generalize dependent gamma_c. intros g _ W.
  unfold excess, logit_gap, gap_at_0, u. rewrite ?Ropp_involutive.
  interval with (i_prec 60, i_bisect s, i_taylor s, i_degree 6).
Qed.

Lemma logit_gap_below_log g s : 0 < g -> logit_gap g s < ln (1 + g).
Proof.
  intros G. unfold logit_gap. pose proof (u_range s) as U. pose proof (u_pos s). pose proof (u_pos (- s)) as V.
  pose proof (one_plus_u g s ltac:(lra)) as A. pose proof (one_plus_u g (- s) ltac:(lra)) as B.
  apply ln_increasing; [apply Rdiv_lt_0_compat; assumption|].
  apply (Rmult_lt_reg_r (1 + g * u (- s))); [exact B|].
  replace ((1 + g * u s) / (1 + g * u (- s)) * (1 + g * u (- s))) with (1 + g * u s) by (field; lra).
  assert (0 < g * u (- s)) by (apply Rmult_lt_0_compat; lra).
  assert (g * u s < g * 1) by (apply Rmult_lt_compat_l; lra). nra.
Qed.

Lemma excess_gamma_c_far s : 5 <= s -> excess gamma_c s < 0.
Proof.
  intros S. pose proof gamma_c_value as V. assert (W : 563537 / 100000 <= gamma_c <= 563538 / 100000) by lra.
  pose proof (logit_gap_below_log gamma_c s ltac:(lra)) as L.
  assert (H : ln (1 + gamma_c) < 5 * gap_at_0 gamma_c).
  { unfold gap_at_0. clear L V. generalize dependent gamma_c. intros g W. apply Rminus_lt. interval with (i_prec 60). }
  assert (P : 0 < gap_at_0 gamma_c).
  { unfold gap_at_0. clear L V H. generalize dependent gamma_c. intros g W. interval with (i_prec 60). }
  assert (5 * gap_at_0 gamma_c <= s * gap_at_0 gamma_c) by (apply Rmult_le_compat_r; lra).
  unfold excess. lra.
Qed.

Lemma excess_negative g s : 0 < g <= gamma_c -> 0 < s -> excess g s < 0.
Proof.
  intros G S. apply (excess_smaller_gamma gamma_c); try lra.
  destruct (Rle_lt_dec s (3 / 4)) as [A|A]; [apply excess_gamma_c_near; lra|].
  destruct (Rle_lt_dec s 5) as [B|B]; [apply excess_gamma_c_middle; lra|apply excess_gamma_c_far; lra].
Qed.

(* ---- the theorems ---- *)

(* beta(s) >= beta_0 for every s up to gamma_c and for no larger gamma; and then beta(s) > beta_0.
   Faithfulness: ours, exact: the sharp form of KK24 Prop. 3 for the temperature 1 / beta_0. *)
Theorem kk24_prop3_sharp gamma : 0 < gamma ->
  (forall s, 0 < s -> beta_0 gamma * s <= logit (FC gamma s)) <-> gamma <= gamma_c.
Proof.
  intros G. split.
  - intros H. apply Rnot_lt_le. intro L.
    destruct (r3_positive_near gamma G (r3_above_gamma_c gamma L)) as [e [E K]].
    pose proof (excess_near_positive gamma G e E K (e / 2) ltac:(lra)) as P.
    specialize (H (e / 2) ltac:(lra)). rewrite logit_FC in H by lra. unfold excess, beta_0 in *. lra.
  - intros L s S. pose proof (excess_negative gamma s ltac:(lra) S) as E. rewrite logit_FC by lra.
    unfold excess, beta_0 in *. lra.
Qed.

Theorem kk24_prop3_sharp_strict gamma s : 0 < gamma <= gamma_c -> 0 < s ->
  beta_0 gamma * s < logit (FC gamma s) < (gamma + 1) * s.
Proof.
  intros G S. pose proof (excess_negative gamma s G S) as E. split; [|apply kk24_prop3_simple; lra].
  rewrite logit_FC by lra. unfold excess, beta_0 in *. lra.
Qed.

(* beta_0 is the limit at 0: no larger inverse temperature will do, for any gamma > 0.
   Faithfulness: ours, exact: with the sharp temperature in place of the paper's. *)
Theorem kk24_prop3_high_sharp gamma b : 0 < gamma -> beta_0 gamma < b -> exists s, 0 < s /\ logit (FC gamma s) < b * s.
Proof.
  intros G B. destruct (steeper_somewhere (logit_gap gamma) (logit_gap_slope gamma 0) (gamma + 1 - b)
    (logit_gap_derivative gamma 0 ltac:(lra)) (logit_gap_0 gamma)) as [s [S H]].
  - change (logit_gap_slope gamma 0) with (r1 gamma 0). rewrite r1_at_0 by lra. unfold beta_0 in B. lra.
  - exists s. split; [exact S|]. rewrite logit_FC by lra. lra.
Qed.

(* beta(s) = logit FC(s) / s tends to beta_0 at 0, and to gamma + 1 at infinity.
   Faithfulness: ours (kk24.prop3_sharpness_zero), exact, for every real gamma > 0. *)
Theorem kk24_prop3_limits gamma : 0 < gamma ->
  (forall eps, 0 < eps -> exists d, 0 < d /\ forall s, s <> 0 -> Rabs s < d -> Rabs (logit (FC gamma s) / s - beta_0 gamma) < eps) /\
  (forall eps, 0 < eps -> exists far, 0 < far /\ forall s, far < s -> Rabs (logit (FC gamma s) / s - (gamma + 1)) < eps).
Proof.
  intros G. split; intros eps E.
  - pose proof (logit_gap_derivative gamma 0 ltac:(lra)) as D. apply is_derive_Reals in D.
    destruct (D eps E) as [delta H]. exists delta. split; [apply cond_pos|]. intros s N S.
    specialize (H s N S). rewrite Rplus_0_l, logit_gap_0, Rminus_0_r in H.
    change (logit_gap_slope gamma 0) with (r1 gamma 0) in H. rewrite r1_at_0 in H by lra.
    rewrite logit_FC by lra. unfold beta_0.
    replace (((gamma + 1) * s - logit_gap gamma s) / s - (gamma + 1 - gap_at_0 gamma))
      with (- (logit_gap gamma s / s - gap_at_0 gamma)) by (field; exact N).
    rewrite Rabs_Ropp. exact H.
  - pose proof (ln_pos (gamma + 1) ltac:(lra)) as L. exists (ln (gamma + 1) / eps).
    assert (F : 0 < ln (gamma + 1) / eps) by (apply Rdiv_lt_0_compat; lra). split; [exact F|]. intros s S.
    pose proof (logit_gap_bounded gamma s G) as B. pose proof (logit_gap_nonneg gamma s ltac:(lra) ltac:(lra)) as Z.
    rewrite logit_FC by lra.
    replace (((gamma + 1) * s - logit_gap gamma s) / s - (gamma + 1)) with (- (logit_gap gamma s / s)) by (field; lra).
    rewrite Rabs_Ropp, Rabs_right by (apply Rle_ge; unfold Rdiv; apply Rmult_le_pos; [exact Z|apply Rlt_le, Rinv_0_lt_compat; lra]).
    apply (Rmult_lt_reg_r s); [lra|]. replace (logit_gap gamma s / s * s) with (logit_gap gamma s) by (field; lra).
    apply (Rmult_lt_compat_l eps) in S; [|exact E].
    replace (eps * (ln (gamma + 1) / eps)) with (ln (gamma + 1)) in S by (field; lra). lra.
Qed.

Lemma beta_0_pos gamma : 0 < gamma -> 0 < beta_0 gamma.
Proof.
  intros G. pose proof ln_2_range. unfold beta_0, gap_at_0.
  assert (P : 0 < gamma * ln 2) by (apply Rmult_lt_0_compat; lra).
  assert (gamma * (2 * ln 2 - 1) / (1 + gamma * ln 2) < 1); [|lra].
  apply (Rmult_lt_reg_r (1 + gamma * ln 2)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(* in the form of KK24 Prop. 3, with the sharp temperature.
   Faithfulness: ours, exact: the paper's form of the proposition, for gamma up to gamma_c. *)
Theorem kk24_prop3_sharp_temperatures gamma : 0 < gamma <= gamma_c ->
  let T_low := 1 / (gamma + 1) in let T_high := 1 / beta_0 gamma in
  (forall s, 0 <= s -> temperature_scaling T_high s <= FC gamma s <= temperature_scaling T_low s) /\
  (forall s, s <= 0 -> temperature_scaling T_low s <= FC gamma s <= temperature_scaling T_high s).
Proof.
  intros G T_low T_high. pose proof (beta_0_pos gamma ltac:(lra)) as B.
  assert (P : forall s, 0 <= s -> 0 <= logit_gap gamma s <= s * gap_at_0 gamma).
  { intros s [S|<-].
    - pose proof (excess_negative gamma s G S) as E. pose proof (logit_gap_nonneg gamma s ltac:(lra) ltac:(lra)).
    unfold excess in E. lra.
    - rewrite logit_gap_0. lra. }
  unfold T_low, T_high. split; intros s S; rewrite !temperature_scaling_inverse by lra; rewrite FC_logits by lra.
  - specialize (P s S). unfold beta_0. split; apply sigmoid_le; lra.
  - specialize (P (- s) ltac:(lra)). rewrite logit_gap_odd in P by lra. unfold beta_0. split; apply sigmoid_le; lra.
Qed.

(* not vacuous: gamma = 4 of the paper lies below gamma_c *)
Example kk24_prop3_sharp_example : 0 < 4 <= gamma_c /\ 4.590 < beta_0 4 < 4.591.
Proof.
  pose proof gamma_c_value. repeat split; try lra; unfold beta_0, gap_at_0; interval with (i_prec 60).
Qed.

(* the axioms of all of them, once: a print takes half a minute with interval's proofs. Besides those of the real numbers
   they are the kernel's machine integers and what they compute *)
Definition kk24_prop3_sharp_theorems :=
  (kk24_prop3_sharp, kk24_prop3_sharp_strict, kk24_prop3_high_sharp, kk24_prop3_sharp_temperatures, gamma_c_value).
