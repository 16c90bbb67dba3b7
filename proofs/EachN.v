(* For n classes and gain at most 1 at 1/(n - 1): the smallest probability has at least the gain of the largest. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss EntropyRatio Gain.
Open Scope R_scope.

(* D(e) = log g(e) - log g(m), m = (1 - e) / k, k = n - 1 classes at m and one at e *)
Section Difference.
Variables g k : R.
Hypothesis Hg : 0 < g.
Hypothesis Hk : 2 <= k.

Definition others (e : R) : R := (1 - e) / k.
Definition gap (e : R) : R := log_gain g e - log_gain g (others e).
Definition gap1 (e : R) : R := log_gain1 g e + log_gain1 g (others e) / k.
Definition gap2 (e : R) : R := log_gain2 g e - log_gain2 g (others e) / (k * k).

Lemma others_k e : k * others e = 1 - e.
Proof. unfold others. field. lra. Qed.

Lemma others_range e : 0 <= e < 1 -> 0 < others e < 1.
Proof. intros H. pose proof (others_k e) as K. split; nra. Qed.

Lemma others_above e : 0 <= e < / (k + 1) -> e < others e.
Proof.
  intros H. pose proof (others_k e) as K. assert (A : e * (k + 1) < 1).
  { destruct H as [_ H]. apply (Rmult_lt_compat_r (k + 1)) in H; [|lra]. rewrite Rinv_l in H by lra. exact H. }
  apply (Rmult_lt_reg_l k); lra.
Qed.

Lemma others_end : others (/ (k + 1)) = / (k + 1).
Proof. unfold others. field. lra. Qed.

Lemma end_range : 0 < / (k + 1) < 1.
Proof. split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. Qed.

Lemma others_derivative f df e : is_derive f (others e) df -> is_derive (fun x => f (others x)) e (- (df / k)).
Proof.
  intros D. replace (- (df / k)) with (scal (- / k) df) by (unfold scal; simpl; unfold mult; simpl; field; lra).
  apply (is_derive_comp f others); [exact D|]. unfold others. auto_derive; [lra|]. field. lra.
Qed.

Lemma gap_derivative e : 0 < e < 1 -> is_derive gap e (gap1 e).
Proof.
  intros H. pose proof (others_range e ltac:(lra)) as M. unfold gap1, gap.
  replace (log_gain1 g e + log_gain1 g (others e) / k) with (log_gain1 g e - - (log_gain1 g (others e) / k)) by ring.
  apply (is_derive_minus (log_gain g) (fun x => log_gain g (others x))).
  - apply log_gain_derivative; lra.
  - apply (others_derivative (log_gain g)), log_gain_derivative; lra.
Qed.

Lemma gap1_derivative e : 0 < e < 1 -> is_derive gap1 e (gap2 e).
Proof.
  intros H. pose proof (others_range e ltac:(lra)) as M. unfold gap2, gap1.
  replace (log_gain2 g e - log_gain2 g (others e) / (k * k)) with (log_gain2 g e + - (log_gain2 g (others e) / k / k)) by (field; lra).
  apply (is_derive_plus (log_gain1 g) (fun x => log_gain1 g (others x) / k)).
  - apply log_gain1_derivative; lra.
  - apply (others_derivative (fun x => log_gain1 g x / k) (log_gain2 g (others e) / k)).
    unfold Rdiv. apply (is_derive_ext (fun x => scal (/ k) (log_gain1 g x))).
    { intros t. unfold scal; simpl; unfold mult; simpl. ring. }
    replace (log_gain2 g (others e) * / k) with (scal (/ k) (log_gain2 g (others e))) by (unfold scal; simpl; unfold mult; simpl; ring).
    apply (is_derive_scal (log_gain1 g)), log_gain1_derivative; lra.
Qed.

Lemma gap2_neg e : 0 < e < / (k + 1) -> gap2 e < 0.
Proof.
  intros H. pose proof end_range as E. pose proof (others_range e ltac:(lra)) as M.
  pose proof (others_above e ltac:(lra)) as A. pose proof (others_k e) as K.
  unfold gap2, log_gain2. set (m := others e) in *.
  pose proof (mixture2_increasing g e m Hg ltac:(lra) A ltac:(lra)) as I.
  pose proof (mixture2_neg g m Hg ltac:(lra)) as N.
  assert (B : mixture2 g m <= mixture2 g m / (k * k)).
  { assert (P : / (k * k) <= 1). { rewrite <- Rinv_1. apply Rinv_le_contravar; nra. } unfold Rdiv. nra. }
  assert (C : g / ((1 - m) * (1 - m)) / (k * k) <= g / ((1 - e) * (1 - e))).
  { replace (g / ((1 - m) * (1 - m)) / (k * k)) with (g * / ((k * (1 - m)) * (k * (1 - m)))) by (field; lra).
    unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra|].
    apply Rmult_le_compat; lra. }
  replace ((- (g / ((1 - m) * (1 - m))) + mixture2 g m) / (k * k))
    with (- (g / ((1 - m) * (1 - m)) / (k * k)) + mixture2 g m / (k * k)) by (field; lra). lra.
Qed.

Lemma gap_below_tangent x y : 0 < x <= / (k + 1) -> 0 < y <= / (k + 1) -> x <> y -> gap y < gap x + gap1 x * (y - x).
Proof.
  intros Hx Hy N. pose proof end_range as E.
  pose proof (above_tangent (fun z => 0 < z <= / (k + 1)) (fun x => - gap x) (fun x => - gap1 x) (fun x => - gap2 x)) as T.
  specialize (T ltac:(intros; lra)).
  specialize (T ltac:(intros z Hz; apply (is_derive_opp gap), gap_derivative; lra)).
  specialize (T ltac:(intros z Hz; apply (is_derive_opp gap1), gap1_derivative; lra)).
  specialize (T ltac:(intros w z t Hw Ht Hz; pose proof (gap2_neg z ltac:(lra)); lra)).
  specialize (T x y Hx Hy N). cbv beta in T. lra.
Qed.

(* a lower bound of the gap that is continuous at 0 *)
Definition gap_below (e : R) : R := g * ln (1 - e) - log_gain g (others e).

Lemma gap_below_gap e : 0 < e < 1 -> gap_below e < gap e.
Proof.
  intros H. unfold gap_below, gap, log_gain at 2. pose proof (entropy_ratio_pos e H) as B.
  assert (0 < g * entropy_ratio e) by (apply Rmult_lt_0_compat; lra).
  pose proof (ln_pos (1 + g * entropy_ratio e) ltac:(lra)). lra.
Qed.

Lemma gap_below_continuous : continuity_pt gap_below 0.
Proof.
  pose proof (others_range 0 ltac:(lra)) as M.
  apply (derive_continuity gap_below 0 (- g - - (log_gain1 g (others 0) / k))). unfold gap_below.
  apply (is_derive_minus (fun e => g * ln (1 - e)) (fun e => log_gain g (others e))).
  - auto_derive; [lra|]. field.
  - apply (others_derivative (log_gain g)), log_gain_derivative; lra.
Qed.

Lemma gap_nonneg e : gain g (/ k) <= 1 -> 0 < e <= / (k + 1) -> 0 <= gap e.
Proof.
  intros H He. pose proof end_range as E.
  assert (End : gap (/ (k + 1)) = 0) by (unfold gap; rewrite others_end; ring).
  destruct (Req_dec e (/ (k + 1))) as [->|N]; [lra|].
  apply Rnot_lt_le. intros L.
  pose proof (gap_below_tangent e (/ (k + 1)) ltac:(lra) ltac:(lra) N) as T. rewrite End in T.
  assert (S : 0 < gap1 e) by nra.
  assert (Z : 0 <= gap_below 0).
  { unfold gap_below, others. rewrite Rminus_0_r, ln_1. replace (1 / k) with (/ k) by (field; lra).
    apply gain_le_1 in H; [lra|lra|]. split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
  destruct (gap_below_continuous (- gap e) ltac:(lra)) as [d [Hd C]].
  pose (x := Rmin (d / 2) (e / 2)). assert (X0 : 0 < x) by (unfold x; apply Rmin_glb_lt; lra).
  assert (X1 : x <= d / 2) by apply Rmin_l. assert (X2 : x <= e / 2) by apply Rmin_r.
  specialize (C x). unfold dist in C; simpl in C; unfold R_dist in C.
  assert (Cx : Rabs (gap_below x - gap_below 0) < - gap e).
  { apply C. split; [split; [exact I|lra]|]. rewrite Rminus_0_r, Rabs_right; lra. }
  apply Rabs_def2 in Cx. pose proof (gap_below_gap x ltac:(lra)) as B.
  pose proof (gap_below_tangent e x ltac:(lra) ltac:(lra) ltac:(lra)) as T2.
  assert (gap1 e * (x - e) < 0) by nra. lra.
Qed.

(* every probability between the two has at least the gain of the larger *)
Lemma gain_between e q : gain g (/ k) <= 1 -> 0 < e <= / (k + 1) -> e <= q <= others e -> gain g (others e) <= gain g q.
Proof.
  intros H He Hq. pose proof end_range as E. pose proof (others_range e ltac:(lra)) as M.
  pose proof (gap_nonneg e H He) as D. unfold gap in D. set (m := others e) in *.
  apply gain_le; try lra. destruct (proj2 Hq) as [L|L]; [|rewrite L; lra].
  destruct (proj1 Hq) as [L0|L0]; [|rewrite <- L0; lra].
  apply Rnot_lt_le. intros F.
  pose proof (log_gain_below_tangent g q m Hg ltac:(lra) ltac:(lra) ltac:(lra)) as T.
  pose proof (log_gain_below_tangent g q e Hg ltac:(lra) ltac:(lra) ltac:(lra)) as T2.
  assert (S : 0 < log_gain1 g q) by nra. assert (log_gain1 g q * (e - q) < 0) by nra. lra.
Qed.
End Difference.

(* one of n numbers that are at most m and sum to s is at least s - (n - 1) m *)
Lemma sum_rest_le n f m i : (i < n)%nat -> (forall j, (j < n)%nat -> f j <= m) -> sum n f <= f i + (INR n - 1) * m.
Proof.
  intros Hi H. rewrite (sum_remove n f i Hi).
  assert (A : sum n (fun j => if PeanoNat.Nat.eq_dec j i then 0 else f j) <= sum n (fun j => if PeanoNat.Nat.eq_dec j i then 0 else m)).
  { apply sum_le. intros j Hj. destruct (PeanoNat.Nat.eq_dec j i); [lra|apply H; exact Hj]. }
  pose proof (sum_remove n (fun _ => m) i Hi) as B. rewrite sum_const in B. lra.
Qed.

(* ---- gamma* ---- *)

(* log (1 + gamma b) / gamma falls in gamma *)
Lemma ln_1_plus_concave b x y : 0 < b -> 0 < x -> x < y -> x * ln (1 + y * b) < y * ln (1 + x * b).
Proof.
  intros Hb Hx L. pose (h := fun t => t * ln (1 + x * b) - x * ln (1 + t * b)).
  assert (XB : 0 < x * b) by (apply Rmult_lt_0_compat; lra).
  assert (Z : h x = 0) by (unfold h; ring). assert (0 < h y); [|unfold h in *; lra]. rewrite <- Z.
  apply (increasing h (fun t => ln (1 + x * b) - x * b / (1 + t * b))); [exact L| |]; intros t Ht.
  - assert (0 < t * b) by (apply Rmult_lt_0_compat; lra). unfold h. auto_derive; [lra|]. field. lra.
  - assert (TB : x * b < t * b) by (apply Rmult_lt_compat_r; lra).
    assert (N : / (1 + x * b) <> 1).
    { intros E. assert (Y : (1 + x * b) * / (1 + x * b) = 1) by (field; lra). rewrite E in Y. lra. }
    pose proof (ln_lt (/ (1 + x * b)) ltac:(apply Rinv_0_lt_compat; lra) N) as A. rewrite ln_Rinv in A by lra.
    assert (B : x * b / (1 + t * b) < x * b / (1 + x * b)).
    { unfold Rdiv. apply Rmult_lt_compat_l; [exact XB|]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|lra]. }
    replace (x * b / (1 + x * b)) with (1 - / (1 + x * b)) in B by (field; lra). lra.
Qed.

Lemma gain_below_1_later p x y : 0 < p < 1 -> 0 < x -> x < y -> gain x p <= 1 -> gain y p < 1.
Proof.
  intros Hp Hx L H. apply gain_le_1 in H; [|lra|exact Hp]. rewrite gain_exp by lra.
  apply (Rlt_le_trans _ (exp 0)); [|rewrite exp_0; lra]. apply exp_increasing. unfold log_gain in *.
  pose proof (entropy_ratio_pos p Hp) as B. pose proof (ln_1_plus_concave (entropy_ratio p) x y B Hx L) as C.
  apply (Rmult_le_compat_l y) in H; [|lra]. apply (Rmult_lt_reg_l x); [exact Hx|]. lra.
Qed.

Lemma gamma_star_threshold p gs g : 0 < p < 1 -> is_gamma_star p gs -> 0 < g -> gain g p <= 1 <-> gs <= g.
Proof.
  intros Hp [Hs E] Hg. split.
  - intros H. apply Rnot_lt_le. intros L. pose proof (gain_below_1_later p g gs Hp Hg L H). lra.
  - intros [L|L]; [|subst; lra]. apply Rlt_le, (gain_below_1_later p gs g Hp Hs L). lra.
Qed.
