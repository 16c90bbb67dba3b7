(* M20 Prop. 1 (App. B Prop. 3): the gradient of focal loss is that of cross-entropy times g.

   M20: "For focal loss L_f and cross-entropy loss L_c, the gradients dL_f/dw = dL_c/dw g(p, gamma), where g(p, gamma) =
   (1 - p)^gamma - gamma p (1 - p)^(gamma - 1) log(p), gamma >= 0 is the focal loss hyperparameter, and w are the last layer
   network parameters. Thus ||dL_f/dw|| <= ||dL_c/dw|| iff g(p, gamma) is in [0, 1]."

   Faithful: the gradient identity is exact, for every linear last layer, number of classes, true class, feature vector and
   every real gamma (a bias is the weight of a feature that is 1), and for any network parameter whatever
   ([m20_prop1_any_parameter]). 'Iff' holds where the gradient of cross-entropy is not 0 ([m20_prop1_norm]); where it is 0
   both norms are 0 whatever g is ([m20_prop1_norm_fails]): so the last sentence is related, its direction 'if' exact. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Softmax.
Open Scope R_scope.

(* g as printed in M20 Eq. (6) *)
Definition printed_g (gamma p : R) : R := Rpower (1 - p) gamma - gamma * p * Rpower (1 - p) (gamma - 1) * ln p.

Lemma printed_g_gain gamma p : 0 < p < 1 -> printed_g gamma p = gain gamma p.
Proof.
  intros H. unfold printed_g, gain, entropy_ratio, Rpower.
  replace (exp ((gamma - 1) * ln (1 - p))) with (exp (gamma * ln (1 - p)) / (1 - p)).
  - field. lra.
  - replace ((gamma - 1) * ln (1 - p)) with (gamma * ln (1 - p) + - ln (1 - p)) by ring.
    rewrite exp_plus, exp_Ropp, exp_ln by lra. reflexivity.
Qed.

(* ---- any parameter t that the probability of the true class depends on ---- *)

(* Faithfulness: related: the same factor for a parameter of any kind, not only a weight of the last layer. *)
Theorem m20_prop1_any_parameter gamma (p : R -> R) t d : 0 < p t < 1 -> is_derive p t d ->
  exists c, is_derive (fun v => log_loss (p v)) t c /\
            is_derive (fun v => focal_loss gamma (p v)) t (printed_g gamma (p t) * c).
Proof.
  intros H D. exists (- / p t * d). split.
  - evar_last.
    + apply (is_derive_comp log_loss p); [|exact D].
      unfold log_loss. apply (is_derive_opp ln). apply is_derive_Reals, derivable_pt_lim_ln. lra.
    + unfold scal, opp; simpl. unfold mult; simpl. ring.
  - evar_last.
    + apply (is_derive_comp (focal_loss gamma) p); [|exact D]. apply focal_loss_derivative, H.
    + rewrite focal_slope_gain, printed_g_gain by exact H. unfold scal; simpl. unfold mult; simpl. field. lra.
Qed.

(* ---- the last layer: n classes, m features, logits s_i = sum_l W_il x_l, softmax ---- *)

Definition logits (m : nat) (W : nat -> nat -> R) (x : nat -> R) (i : nat) : R := sum m (fun l => W i l * x l).
Definition prediction (n m : nat) (x : nat -> R) (W : nat -> nat -> R) (y : nat) : R := softmax n (logits m W x) y.

(* partial derivatives: one weight changed *)
Definition with_weight (W : nat -> nat -> R) (j k : nat) (v : R) : nat -> nat -> R :=
  fun i l => if andb (Nat.eqb i j) (Nat.eqb l k) then v else W i l.
Definition along (F : (nat -> nat -> R) -> R) W j k : R -> R := fun v => F (with_weight W j k v).
Definition gradient (F : (nat -> nat -> R) -> R) (W : nat -> nat -> R) (j k : nat) : R := Derive (along F W j k)
  (W j k).

Definition cross_entropy_of n m x y : (nat -> nat -> R) -> R := fun W => log_loss (prediction n m x W y).
Definition focal_loss_of gamma n m x y : (nat -> nat -> R) -> R := fun W => focal_loss gamma (prediction n m x W y).

(* Euclidean norm of a gradient *)
Definition norm (n m : nat) (G : nat -> nat -> R) : R := sqrt (sum n (fun j => sum m (fun k => G j k * G j k))).

Lemma logits_changed m W x j k v i : (k < m)%nat ->
  logits m (with_weight W j k v) x i = logits m W x i + (if Nat.eqb i j then (v - W j k) * x k else 0).
Proof.
  intros K. unfold logits, with_weight. destruct (Nat.eqb_spec i j) as [->|N].
  - simpl. replace ((v - W j k) * x k) with (v * x k - W j k * x k) by ring.
    rewrite <- (sum_changed m (fun l => W j l * x l) k (v * x k) K).
    apply sum_ext. intros l _. destruct (Nat.eqb_spec l k) as [->|]; reflexivity.
  - rewrite Rplus_0_r. reflexivity.
Qed.

(* softmax along one weight of class j, t = v - W_jk *)
Lemma prediction_along n m x W j k y v : (j < n)%nat -> (k < m)%nat ->
  prediction n m x (with_weight W j k v) y =
  exp (logits m W x y + (if Nat.eqb y j then (v - W j k) * x k else 0)) /
  (sum n (fun i => exp (logits m W x i)) + exp (logits m W x j) * (exp ((v - W j k) * x k) - 1)).
Proof.
  intros J K. unfold prediction, softmax. rewrite logits_changed by exact K. f_equal.
  set (e := exp ((v - W j k) * x k)).
  replace (exp (logits m W x j) * (e - 1)) with (exp (logits m W x j) * e - exp (logits m W x j)) by ring.
  rewrite <- (sum_changed n (fun i => exp (logits m W x i)) j (exp (logits m W x j) * e) J).
  apply sum_ext. intros i _. rewrite logits_changed by exact K.
  destruct (Nat.eqb_spec i j) as [->|]; [apply exp_plus|rewrite Rplus_0_r; reflexivity].
Qed.

(* the well-known gradient of softmax cross-entropy's probability *)
Lemma prediction_derivative n m x W j k y : (j < n)%nat -> (k < m)%nat ->
  is_derive (along (fun W => prediction n m x W y) W j k) (W j k)
    (prediction n m x W y * ((if Nat.eqb y j then 1 else 0) - prediction n m x W j) * x k).
Proof.
  intros J K. pose proof (sum_exp_pos n (logits m W x) ltac:(lia)) as P.
  apply (is_derive_ext (fun v =>
    exp (logits m W x y + (if Nat.eqb y j then (v - W j k) * x k else 0)) /
    (sum n (fun i => exp (logits m W x i)) + exp (logits m W x j) * (exp ((v - W j k) * x k) - 1)))).
  { intros v. symmetry. apply prediction_along; assumption. }
  unfold prediction, softmax. set (S := sum n (fun i => exp (logits m W x i))) in *.
  destruct (Nat.eqb y j).
  - auto_derive; replace (W j k + - W j k) with 0 by ring; rewrite ?Rmult_0_l, ?exp_0.
    + repeat split; lra.
    + rewrite Rplus_0_r. field. lra.
  - auto_derive; replace (W j k + - W j k) with 0 by ring; rewrite ?Rmult_0_l, ?exp_0.
    + repeat split; lra.
    + rewrite Rplus_0_r. field. lra.
Qed.

Lemma prediction_at n m x W j k y : (j < n)%nat -> (k < m)%nat ->
  along (fun W => prediction n m x W y) W j k (W j k) = prediction n m x W y.
Proof.
  intros J K. unfold along. rewrite prediction_along by assumption. unfold prediction, softmax.
  replace (W j k - W j k) with 0 by ring. rewrite Rmult_0_l, exp_0.
  replace (if Nat.eqb y j then 0 else 0) with 0 by (destruct (Nat.eqb y j); reflexivity).
  f_equal; [f_equal; ring|ring].
Qed.

Theorem m20_prop1 gamma n m x W y j k : (2 <= n)%nat -> (y < n)%nat -> (j < n)%nat -> (k < m)%nat ->
  ex_derive (along (focal_loss_of gamma n m x y) W j k) (W j k) /\
  ex_derive (along (cross_entropy_of n m x y) W j k) (W j k) /\
  gradient (focal_loss_of gamma n m x y) W j k =
    gradient (cross_entropy_of n m x y) W j k * printed_g gamma (prediction n m x W y).
Proof.
  intros N Y J K. pose proof (prediction_derivative n m x W j k y J K) as D.
  pose proof (prediction_at n m x W j k y J K) as A.
  assert (B : 0 < along (fun W => prediction n m x W y) W j k (W j k) < 1)
    by (rewrite A; apply softmax_between; assumption).
  destruct (m20_prop1_any_parameter gamma _ _ _ B D) as [c [C F]].
  rewrite A in F. split; [eexists; exact F|]. split; [eexists; exact C|].
  assert (C1 : gradient (cross_entropy_of n m x y) W j k = c) by exact (is_derive_unique _ _ _ C).
  assert (F1 : gradient (focal_loss_of gamma n m x y) W j k = printed_g gamma (prediction n m x W y) * c)
    by exact (is_derive_unique _ _ _ F).
  rewrite C1, F1. ring.
Qed.

(* ---- norms ---- *)

Lemma norm_factor n m gamma x W y : (2 <= n)%nat -> (y < n)%nat ->
  0 <= gamma ->
  norm n m (gradient (focal_loss_of gamma n m x y) W) =
    norm n m (gradient (cross_entropy_of n m x y) W) * printed_g gamma (prediction n m x W y).
Proof.
  intros N Y G. set (g := printed_g gamma (prediction n m x W y)).
  assert (P : 0 < g).
  { unfold g. pose proof (softmax_between n (logits m W x) y N Y). rewrite printed_g_gain by assumption.
    apply gain_pos; assumption. }
  unfold norm. rewrite (sum_ext n _ (fun j => g * g * sum m (fun k =>
    gradient (cross_entropy_of n m x y) W j k * gradient (cross_entropy_of n m x y) W j k))).
  - rewrite sum_scale, sqrt_mult_alt by nra. rewrite sqrt_square by lra. ring.
  - intros j J. rewrite <- sum_scale. apply sum_ext. intros k K.
    destruct (m20_prop1 gamma n m x W y j k N Y J K) as (_ & _ & E). rewrite E. unfold g. ring.
Qed.

Theorem m20_prop1_norm gamma n m x W y : 0 <= gamma -> (2 <= n)%nat -> (y < n)%nat ->
  let focal := norm n m (gradient (focal_loss_of gamma n m x y) W) in
  let cross := norm n m (gradient (cross_entropy_of n m x y) W) in
  let g := printed_g gamma (prediction n m x W y) in
  (0 <= g <= 1 -> focal <= cross) /\ (cross <> 0 -> (focal <= cross <-> 0 <= g <= 1)).
Proof.
  intros G N Y focal cross g. pose proof (norm_factor n m gamma x W y N Y G) as F. fold focal cross g in F.
  assert (P : 0 < g).
  { unfold g. pose proof (softmax_between n (logits m W x) y N Y). rewrite printed_g_gain by assumption.
    apply gain_pos; assumption. }
  assert (C : 0 <= cross) by apply sqrt_pos.
  assert (Q : 0 <= g <= 1 -> focal <= cross) by (intros H; rewrite F; nra).
  split; [exact Q|]. intros Z. split; [|exact Q]. intros H. split; [lra|]. rewrite F in H. nra.
Qed.

(* with a feature vector of 0 both gradients vanish, though g > 1: ten classes, so that p = 1/10, and gamma = 1.
   Faithfulness: equivalent: one case in which the 'if and only if' of the norms does not hold. *)
Theorem m20_prop1_norm_fails :
  let zero := fun _ : nat => 0 in let W := fun _ _ : nat => 0 in
  norm 10 1 (gradient (focal_loss_of 1 10 1 zero 0) W) <= norm 10 1 (gradient (cross_entropy_of 10 1 zero 0) W) /\
  1 < printed_g 1 (prediction 10 1 zero W 0).
Proof.
  intros zero W. split.
  - rewrite (norm_factor 10 1 1 zero W 0) by (try lia; lra).
    replace (norm 10 1 (gradient (cross_entropy_of 10 1 zero 0) W)) with 0; [lra|].
    unfold norm. rewrite (sum_ext 10 _ (fun _ => 0)).
    + rewrite sum_const, Rmult_0_r, sqrt_0. reflexivity.
    + intros j J. simpl. replace (gradient (cross_entropy_of 10 1 zero 0) W j 0) with 0; [ring|].
      symmetry. unfold gradient. apply is_derive_unique.
      apply (is_derive_ext (fun _ => cross_entropy_of 10 1 zero 0 W)); [|apply @is_derive_const].
      intros t. unfold along, cross_entropy_of, prediction, softmax, logits, zero. simpl. rewrite !Rmult_0_r.
      reflexivity.
  - assert (E : prediction 10 1 zero W 0 = 1 / 10).
    { unfold prediction, softmax, logits, W, zero. simpl. rewrite Rmult_0_l, Rplus_0_l, exp_0. field. }
    rewrite E, printed_g_gain by lra. unfold gain, entropy_ratio. rewrite Rpower_1 by lra.
    assert (L : 2 < - ln (1 / 10)).
    { rewrite ln_div, ln_1 by lra.
      replace 2 with (ln (exp 2)) at 1 by apply ln_exp. rewrite Rminus_0_l, Ropp_involutive.
      apply ln_increasing; [apply exp_pos|].
      replace 2 with (1 + 1) by ring. rewrite exp_plus. pose proof exp_le_3. pose proof (exp_pos 1). nra. }
    nra.
Qed.

(* not vacuous: with one feature of 1 and all weights 0 the gradient of class 0 is -1/2 for cross-entropy; focal loss of
   gamma 1 has it smaller in size *)
Example m20_prop1_example :
  let x := fun _ : nat => 1 in let W := fun _ _ : nat => 0 in
  gradient (cross_entropy_of 2 1 x 0) W 0 0 = - (1 / 2) /\
  gradient (focal_loss_of 1 2 1 x 0) W 0 0 = - (1 / 2) * ((1 + ln 2) / 2).
Proof.
  intros x W. assert (E : forall i, prediction 2 1 x W i = 1 / 2).
  { intros i. unfold prediction, softmax, logits, W, x. simpl. rewrite Rmult_0_l, Rplus_0_l, exp_0. field. }
  assert (C : gradient (cross_entropy_of 2 1 x 0) W 0 0 = - (1 / 2)).
  { unfold gradient. apply is_derive_unique.
  pose proof (prediction_derivative 2 1 x W 0 0 0 ltac:(lia) ltac:(lia)) as D.
    pose proof (prediction_at 2 1 x W 0 0 0 ltac:(lia) ltac:(lia)) as A. rewrite !E in D. rewrite E in A.
    evar_last.
    - apply (is_derive_comp log_loss (along (fun W => prediction 2 1 x W 0) W 0 0)); [|exact D].
      unfold log_loss. apply (is_derive_opp ln). apply is_derive_Reals, derivable_pt_lim_ln. rewrite A. lra.
    - rewrite A. unfold scal, opp, x; simpl. unfold mult; simpl. field. }
  split; [exact C|].
  destruct (m20_prop1 1 2 1 x W 0 0 0) as (_ & _ & F); try lia. rewrite F, C, E, printed_g_gain by lra.
  unfold gain, entropy_ratio. rewrite Rpower_1 by lra. replace (1 - 1 / 2) with (1 / 2) by field.
  rewrite ln_div, ln_1 by lra. field.
Qed.
