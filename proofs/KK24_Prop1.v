(* KK24 Prop. 1: focal loss is convex in the predicted probability, with the exact range of gamma. *)

From Coq Require Import Reals Lra Lia Psatz.
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

Definition strictly_concave_between (a b : R) (f : R -> R) : Prop :=
  forall x y t, a < x < b -> a < y < b -> x <> y -> 0 < t < 1 -> t * f x + (1 - t) * f y < f (t * x + (1 - t) * y).

(* For -1 < gamma < 0 focal loss is concave close to q = 1: on (a, 1) with a = 4 / (4 - gamma (1 + gamma)).
   Faithfulness: ours (kk24.prop1_negative, its second half; the first is [kk24_prop1_range]), exact, strictly. *)
Theorem kk24_prop1_concave_near_1 gamma : -1 < gamma < 0 ->
  exists a, 0 < a < 1 /\ strictly_concave_between a 1 (focal_loss gamma).
Proof.
  intros Hg. pose (a := 4 / (4 - gamma * (1 + gamma))). exists a.
  assert (Hd : 4 < 4 - gamma * (1 + gamma)) by nra.
  assert (Ha : 0 < a < 1).
  { unfold a. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (4 - gamma * (1 + gamma))); [lra|].
    replace (4 / (4 - gamma * (1 + gamma)) * (4 - gamma * (1 + gamma))) with 4 by (field; lra). lra. }
  split; [exact Ha|]. intros x y t Hx Hy N Ht.
  pose proof (chord_above (fun z => - focal_loss gamma z) (fun z => - focal_slope gamma z)
    (fun z => - focal_curvature gamma z) a 1) as Above.
  specialize (Above ltac:(intros z Hz; apply (is_derive_opp (focal_loss gamma)); apply focal_loss_derivative; lra)).
  specialize (Above ltac:(intros z Hz; apply (is_derive_opp (focal_slope gamma)); apply focal_slope_derivative; lra)).
  specialize (Above ltac:(intros z Hz; pose proof (focal_curvature_negative gamma z Hg Hz); lra)).
  specialize (Above x y t Hx Hy N Ht). cbv beta in Above. lra.
Qed.

(* The exact range. Faithfulness: ours; KK24 section 5.1 uses gamma = -1/2 and -1/4, where convexity fails. *)
Theorem kk24_prop1_range gamma : convex_on_unit (focal_loss gamma) <-> 0 <= gamma \/ gamma <= -1.
Proof.
  split.
  - intros C. destruct (Rle_dec 0 gamma) as [P|P]; [left; exact P|].
    destruct (Rle_dec gamma (-1)) as [M|M]; [right; exact M|exfalso].
    destruct (kk24_prop1_concave_near_1 gamma ltac:(lra)) as [a [Ha Above]].
    specialize (Above ((2 * a + 1) / 3) ((a + 2) / 3) (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
    specialize (C ((2 * a + 1) / 3) ((a + 2) / 3) (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
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

(* ---- the Hessian of the loss of n classes ---- *)

Definition with_class (q : nat -> R) (i : nat) (v : R) : nat -> R := fun k => if Nat.eqb k i then v else q k.
Definition partial (F : (nat -> R) -> R) (i : nat) (q : nat -> R) : R := Derive (fun v => F (with_class q i v)) (q i).

Lemma with_class_same q i v : with_class q i v i = v.
Proof. unfold with_class. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma with_class_other q i v k : k <> i -> with_class q i v k = q k.
Proof. intros N. unfold with_class. destruct (Nat.eqb_spec k i); [contradiction|reflexivity]. Qed.

Lemma risk_with_class n gamma p q i v : (i < n)%nat ->
  risk n (focal_loss_n gamma) p (with_class q i v) =
  risk n (focal_loss_n gamma) p q + p i * (focal_loss gamma v - focal_loss gamma (q i)).
Proof.
  intros Hi. unfold risk, focal_loss_n.
  replace (p i * (focal_loss gamma v - focal_loss gamma (q i)))
    with (p i * focal_loss gamma v - p i * focal_loss gamma (q i)) by ring.
  rewrite <- (sum_changed n (fun k => p k * focal_loss gamma (q k)) i (p i * focal_loss gamma v) Hi).
  apply sum_ext. intros k _. unfold with_class. destruct (Nat.eqb_spec k i) as [->|]; reflexivity.
Qed.

Lemma risk_partial n gamma p q i : (i < n)%nat -> 0 < q i < 1 ->
  is_derive (fun v => risk n (focal_loss_n gamma) p (with_class q i v)) (q i) (p i * focal_slope gamma (q i)).
Proof.
  intros Hi Q. apply (is_derive_ext (fun v =>
    risk n (focal_loss_n gamma) p q + p i * (focal_loss gamma v - focal_loss gamma (q i)))).
  { intros v. symmetry. apply risk_with_class. exact Hi. }
  pose proof (focal_loss_derivative gamma (q i) Q) as D. auto_derive; [eexists; exact D|].
  replace (Derive (fun x => focal_loss gamma x) (q i)) with (focal_slope gamma (q i))
    by (symmetry; apply is_derive_unique; exact D). ring.
Qed.

(* App. A.1, end: the Hessian of the multiclass focal loss is diagonal, its entries are not negative. For any label
   distribution p, one-hot ones among them. Faithfulness: exact, for every n and every real gamma >= 0; all the derivatives exist. *)
Theorem kk24_prop1_hessian n gamma p q i j : 0 <= gamma -> (forall k, (k < n)%nat -> 0 <= p k) ->
  (forall k, (k < n)%nat -> 0 < q k < 1) -> (i < n)%nat -> (j < n)%nat ->
  let F := risk n (focal_loss_n gamma) p in
  ex_derive (fun v => F (with_class q i v)) (q i) /\
  ex_derive (fun v => partial F i (with_class q j v)) (q j) /\
  (i <> j -> partial (partial F i) j q = 0) /\ 0 <= partial (partial F i) i q.
Proof.
  intros G P Q Hi Hj F.
  assert (S : forall r, 0 < r i < 1 -> partial F i r = p i * focal_slope gamma (r i)).
  { intros r Hr. apply is_derive_unique, risk_partial; assumption. }
  assert (Own : is_derive (fun v => partial F i (with_class q i v)) (q i) (p i * focal_curvature gamma (q i))).
  { specialize (Q i Hi). apply (is_derive_ext_loc (fun v => p i * focal_slope gamma v)).
    - assert (M : 0 < Rmin (q i) (1 - q i)) by (apply Rmin_glb_lt; lra).
      exists (mkposreal _ M). intros v Hv. simpl in Hv. unfold ball in Hv; simpl in Hv.
      unfold AbsRing_ball, abs, minus, plus, opp in Hv; simpl in Hv.
      assert (A : Rabs (v + - q i) < q i) by (eapply Rlt_le_trans; [exact Hv|apply Rmin_l]).
      assert (B : Rabs (v + - q i) < 1 - q i) by (eapply Rlt_le_trans; [exact Hv|apply Rmin_r]).
      apply Rabs_def2 in A. apply Rabs_def2 in B.
      rewrite S by (rewrite with_class_same; lra). rewrite with_class_same. reflexivity.
    - apply is_derive_scal, focal_slope_derivative. exact Q. }
  assert (Mixed : i <> j -> is_derive (fun v => partial F i (with_class q j v)) (q j) 0).
  { intros D. apply (is_derive_ext (fun _ => p i * focal_slope gamma (q i))); [|apply @is_derive_const].
    intros v. rewrite S; rewrite with_class_other by exact D; [reflexivity|apply Q; exact Hi]. }
  split; [eexists; apply risk_partial; auto|]. split; [|split].
  - destruct (Nat.eq_dec i j) as [<-|D]; eexists; [exact Own|exact (Mixed D)].
  - intros D. apply is_derive_unique. exact (Mixed D).
  - replace (partial (partial F i) i q) with (p i * focal_curvature gamma (q i))
      by (symmetry; apply is_derive_unique; exact Own). apply Rmult_le_pos; [apply P; exact Hi|].
    apply Rlt_le, focal_curvature_positive; [left; exact G|apply Q; exact Hi].
Qed.

(* not vacuous: gamma = 2 is in the range, gamma = -1/2 is not *)
Example kk24_prop1_gamma_2 : focal_loss 2 (1 / 2) < (focal_loss 2 (1 / 4) + focal_loss 2 (3 / 4)) / 2.
Proof.
  pose proof (kk24_prop1 2 ltac:(lra) (1 / 4) (3 / 4) (1 / 2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as H.
  replace (1 / 2 * (1 / 4) + (1 - 1 / 2) * (3 / 4)) with (1 / 2) in H by field. lra.
Qed.

Example kk24_prop1_not_minus_half : ~ convex_on_unit (focal_loss (- (1 / 2))).
Proof. rewrite kk24_prop1_range. lra. Qed.
