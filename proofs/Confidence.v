(* When the map keeps, and when it lowers, the probability of the predicted class: KK24 Prop. 5 by the gains of the classes. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight EntropyRatio Gain KK24_Prop4.
Open Scope R_scope.

(* class j is predicted: no other has a larger probability *)
Definition predicted (n : nat) (q : nat -> R) (j : nat) : Prop := (j < n)%nat /\ forall i, (i < n)%nat -> q i <= q j.

Lemma predicted_pos n q j : simplex n q -> predicted n q j -> 0 < q j.
Proof.
  intros [Hq E] [Hj P]. destruct (find_positive n q ltac:(lra)) as [a [Ha A]]. specialize (P a Ha). lra.
Qed.

(* weights against the gain of the predicted class *)
Lemma weight_ratio g q m : 0 <= g -> 0 <= q < 1 -> 0 < m < 1 -> (0 < q -> gain g m <= gain g q) ->
  weight_closed g q <= q * / gain g m.
Proof.
  intros Hg [[Hq|Hq] Q1] Hm H.
  - rewrite weight_closed_some by exact Hq. unfold weight, Rdiv. apply Rmult_le_compat_l; [lra|].
    apply Rinv_le_contravar; [apply gain_pos; assumption|apply H; exact Hq].
  - subst q. rewrite weight_closed_zero by lra. lra.
Qed.

Lemma weight_ratio_above g q m : 0 <= g -> 0 < q < 1 -> 0 < m < 1 -> gain g q <= gain g m ->
  q * / gain g m <= weight_closed g q.
Proof.
  intros Hg Hq Hm H. rewrite weight_closed_some by lra. unfold weight, Rdiv. apply Rmult_le_compat_l; [lra|].
  apply Rinv_le_contravar; [apply gain_pos; assumption|exact H].
Qed.

Lemma map_keeps_top n g q j : 0 <= g -> simplex n q -> (j < n)%nat -> (forall i, (i < n)%nat -> q i < 1) -> 0 < q j ->
  (forall i, (i < n)%nat -> 0 < q i -> gain g (q j) <= gain g (q i)) -> q j <= focal_map_closed n g q j.
Proof.
  intros Hg Hq Hj N Pj H. rewrite map_inside by assumption. pose proof (total_pos n g q Hg Hq N) as T.
  pose proof (gain_pos g (q j) Hg (conj Pj (N j Hj))) as G.
  assert (S : total n g q <= / gain g (q j)).
  { replace (/ gain g (q j)) with (/ gain g (q j) * sum n q) by (rewrite (proj2 Hq); ring). rewrite <- sum_scale.
    apply sum_le. intros i Hi. rewrite Rmult_comm. apply weight_ratio; auto. split; [apply Hq; exact Hi|auto]. }
  rewrite weight_closed_some by exact Pj. unfold weight. apply (Rmult_le_reg_r (total n g q)); [exact T|].
  replace (q j / gain g (q j) / total n g q * total n g q) with (q j * / gain g (q j)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

Lemma map_lowers_top n g q j k : 0 <= g -> simplex n q -> (j < n)%nat -> (forall i, (i < n)%nat -> 0 < q i < 1) ->
  (forall i, (i < n)%nat -> gain g (q i) <= gain g (q j)) -> (k < n)%nat -> gain g (q k) < gain g (q j) ->
  focal_map_closed n g q j < q j.
Proof.
  intros Hg Hq Hj N H Hk L. assert (N1 : forall i, (i < n)%nat -> q i < 1) by (intros i Hi; apply N; exact Hi).
  rewrite map_inside by assumption. pose proof (total_pos n g q Hg Hq N1) as T.
  pose proof (gain_pos g (q j) Hg (N j Hj)) as G. pose proof (gain_pos g (q k) Hg (N k Hk)) as Gk.
  assert (S : / gain g (q j) < total n g q).
  { assert (A : forall i, (i < n)%nat -> q i * / gain g (q j) <= weight_closed g (q i)).
    { intros i Hi. apply weight_ratio_above; auto. }
    assert (B : sum n (fun i => q i * / gain g (q j)) = / gain g (q j)).
    { rewrite (sum_ext n _ (fun i => / gain g (q j) * q i)) by (intros; ring). rewrite sum_scale, (proj2 Hq). ring. }
    rewrite <- B. apply Rnot_le_lt. intros C.
    assert (D : sum n (fun i => q i * / gain g (q j)) = total n g q) by (apply Rle_antisym; [apply sum_le; exact A|exact C]).
    pose proof (sum_le_eq n (fun i => q i * / gain g (q j)) (fun i => weight_closed g (q i)) A D k Hk) as E. cbv beta in E.
    rewrite weight_closed_some in E by (apply N; exact Hk). unfold weight, Rdiv in E.
    assert (F : / gain g (q j) < / gain g (q k)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; assumption|exact L]).
    assert (q k * / gain g (q j) < q k * / gain g (q k)) by (apply Rmult_lt_compat_l; [apply N; exact Hk|exact F]). lra. }
  pose proof (N j Hj) as Nj. rewrite weight_closed_some by lra. unfold weight.
  apply (Rmult_lt_reg_r (total n g q)); [exact T|].
  replace (q j / gain g (q j) / total n g q * total n g q) with (q j * / gain g (q j)) by (field; lra).
  apply Rmult_lt_compat_l; lra.
Qed.

(* what KK24 Prop. 5 says of n classes and gamma *)
Definition confidence_never_falls (n : nat) (gamma : R) : Prop :=
  forall q j, simplex n q -> predicted n q j -> q j <= focal_map_closed n gamma q j.

(* a certain class stays *)
Lemma map_keeps_vertex n g q j k : simplex n q -> (k < n)%nat -> 1 <= q k -> (j < n)%nat -> q j <= focal_map_closed n g q j.
Proof. intros Hq Hk K Hj. rewrite (map_vertex n g q k j Hq Hk K Hj). lra. Qed.

(* the predicted class at tau or more *)
Lemma keeps_from_gain n g q j : 0 < g -> simplex n q -> predicted n q j -> (q j < 1 -> gain g (q j) <= 1) ->
  q j <= focal_map_closed n g q j.
Proof.
  intros Hg Hq [Hj P] H. destruct (vertex_dec n q) as [[k [Hk K]]|N]; [apply (map_keeps_vertex n g q j k); assumption|].
  pose proof (predicted_pos n q j Hq (conj Hj P)) as Pj.
  apply map_keeps_top; auto; [lra|]. intros i Hi Pi. specialize (P i Hi). specialize (H (N j Hj)).
  destruct P as [L|E]; [|rewrite E; lra]. apply Rlt_le, gain_larger_before; auto.
Qed.

(* two kinds of vectors: one class apart, all others equal *)
Definition one_and_rest (a r : R) : nat -> R := fun i => match i with O => a | _ => r end.

Lemma sum_first n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof. induction n; [simpl; ring|]. change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IHn. simpl. ring. Qed.

Lemma one_and_rest_simplex n a r : 0 <= a -> 0 <= r -> a + INR n * r = 1 -> simplex (S n) (one_and_rest a r).
Proof.
  intros Ha Hr E. split; [intros [|i] _; simpl; assumption|]. rewrite sum_first. simpl. rewrite sum_const. exact E.
Qed.

Lemma one_and_rest_predicted n a r : r <= a -> predicted (S n) (one_and_rest a r) 0.
Proof. intros H. split; [lia|]. intros [|i] _; simpl; lra. Qed.

Lemma one_and_rest_predicted_rest n a r : a <= r -> predicted (S (S n)) (one_and_rest a r) 1.
Proof. intros H. split; [lia|]. intros [|i] _; simpl; lra. Qed.

(* the gain tends to 1 at 0 *)
Lemma gain_near_0 g m : 0 <= g -> 1 < m -> exists d, 0 < d < 1 / 2 /\ forall q, 0 < q < d -> gain g q < m.
Proof.
  intros Hg Hm. pose (e := (m - 1) / (4 * (g + 1))).
  assert (He : 0 < e) by (unfold e; apply Rdiv_lt_0_compat; lra).
  assert (Ge : 4 * (g + 1) * e = m - 1) by (unfold e; field; lra).
  exists (Rmin (1 / 4) (e * e)). assert (D1 : Rmin (1 / 4) (e * e) <= 1 / 4) by apply Rmin_l.
  assert (D2 : Rmin (1 / 4) (e * e) <= e * e) by apply Rmin_r.
  split; [split; [apply Rmin_glb_lt; nra|lra]|]. intros q Hq. unfold gain.
  assert (B : entropy_ratio q <= 4 * e).
  { (* - q log q <= 2 sqrt q *)
    pose proof (sqrt_lt_R0 q ltac:(lra)) as S0. assert (SS : sqrt q * sqrt q = q) by (apply sqrt_sqrt; lra).
    assert (Se : sqrt q < e). { rewrite <- (sqrt_square e) by lra. apply sqrt_lt_1; lra. }
    assert (L : ln q = 2 * ln (sqrt q)) by (rewrite <- SS at 1; rewrite ln_mult by lra; ring).
    pose proof (ln_ge (sqrt q) S0) as G.
    assert (X : - (q * ln q) <= 2 * sqrt q).
    { rewrite L. assert (Y : q * (1 - 1 / sqrt q) <= q * ln (sqrt q)) by (apply Rmult_le_compat_l; lra).
      replace (q * (1 - 1 / sqrt q)) with (q - sqrt q) in Y by (rewrite <- SS at 1 3; field; lra). lra. }
    unfold entropy_ratio. apply (Rmult_le_reg_r (1 - q)); [lra|].
    replace (- (q * ln q) / (1 - q) * (1 - q)) with (- (q * ln q)) by (field; lra).
    assert (4 * e * (1 / 2) <= 4 * e * (1 - q)) by (apply Rmult_le_compat_l; lra). lra. }
  pose proof (entropy_ratio_pos q ltac:(lra)) as B0.
  assert (P : Rpower (1 - q) g <= 1).
  { unfold Rpower. pose proof (ln_neg (1 - q) ltac:(lra)) as N.
    assert (0 <= g * - ln (1 - q)) by (apply Rmult_le_pos; lra).
    apply (Rle_trans _ (exp 0)); [|rewrite exp_0; lra].
    destruct (Req_dec (g * ln (1 - q)) 0) as [->|D]; [lra|]. apply Rlt_le, exp_increasing. lra. }
  pose proof (Rpower_pos (1 - q) g) as P0.
  assert (0 <= g * entropy_ratio q) by (apply Rmult_le_pos; lra).
  assert (g * entropy_ratio q <= g * (4 * e)) by (apply Rmult_le_compat_l; lra). nra.
Qed.
