(* KK24 Prop. 4: n-class focal loss is a proper loss after a bijection of the simplex. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight.
Open Scope R_scope.

(* ---- the map on the closed simplex, by its positive weights ---- *)

Definition weight_closed (g q : R) : R := if Rle_dec q 0 then 0 else weight g q.

Lemma eq1_term_closed_weight g q : 0 <= g -> q < 1 -> eq1_term_closed g q = - weight_closed g q.
Proof.
  intros Hg H. unfold eq1_term_closed, weight_closed. destruct (Rle_dec q 0) as [L|L]; [ring|].
  apply eq1_term_weight; lra.
Qed.

Lemma weight_closed_zero g q : q <= 0 -> weight_closed g q = 0.
Proof. intros H. unfold weight_closed. destruct (Rle_dec q 0); [reflexivity|contradiction]. Qed.

Lemma weight_closed_some g q : 0 < q -> weight_closed g q = weight g q.
Proof. intros H. unfold weight_closed. destruct (Rle_dec q 0); [lra|reflexivity]. Qed.

Lemma weight_closed_nonneg g q : 0 <= g -> q < 1 -> 0 <= weight_closed g q.
Proof.
  intros Hg H. unfold weight_closed. destruct (Rle_dec q 0); [lra|]. apply Rlt_le, weight_pos; lra.
Qed.

Lemma weight_closed_increasing g q r : 0 <= g -> 0 <= q -> q < r -> r < 1 -> weight_closed g q < weight_closed g r.
Proof.
  intros Hg Hq L Hr. rewrite (weight_closed_some g r) by lra. destruct Hq as [Hq|E].
  - rewrite weight_closed_some by lra. apply weight_increasing; lra.
  - rewrite weight_closed_zero by lra. apply weight_pos; lra.
Qed.

Definition total (n : nat) (g : R) (q : nat -> R) : R := sum n (fun k => weight_closed g (q k)).

Lemma total_pos n g q : 0 <= g -> simplex n q -> (forall i, (i < n)%nat -> q i < 1) -> 0 < total n g q.
Proof.
  intros Hg [Hq Eq] N. destruct (find_positive n q ltac:(lra)) as [a [Ha Pa]]. apply sum_pos.
  - intros i Hi. apply weight_closed_nonneg; auto.
  - exists a. split; [exact Ha|]. rewrite weight_closed_some by exact Pa. apply weight_pos; [exact Hg|]. split; auto.
Qed.

(* no class certain: the printed formula, with positive weights *)
Lemma map_inside n g q j : 0 <= g -> simplex n q -> (forall i, (i < n)%nat -> q i < 1) -> (j < n)%nat ->
  focal_map_closed n g q j = weight_closed g (q j) / total n g q.
Proof.
  intros Hg Hq N Hj. unfold focal_map_closed. destruct (Rle_dec 1 (q j)) as [L|L]; [specialize (N j Hj); lra|].
  rewrite eq1_term_closed_weight by auto.
  rewrite (sum_ext n (fun k => eq1_term_closed g (q k)) (fun k => -1 * weight_closed g (q k))).
  - rewrite sum_scale. fold (total n g q). pose proof (total_pos n g q Hg Hq N). field. lra.
  - intros i Hi. rewrite eq1_term_closed_weight by auto. ring.
Qed.

(* one class certain: the map leaves it so *)
Lemma map_vertex n g q k j : simplex n q -> (k < n)%nat -> 1 <= q k -> (j < n)%nat -> focal_map_closed n g q j = q j.
Proof.
  intros Hq Hk K Hj. assert (E : q k = 1) by (pose proof (simplex_le_1 n q k Hq Hk); lra).
  unfold focal_map_closed. destruct (Rle_dec 1 (q j)) as [L|L].
  - pose proof (simplex_le_1 n q j Hq Hj). lra.
  - assert (D : k <> j) by (intros D; subst; lra). pose proof (simplex_vertex n q k j Hq Hk Hj D E) as Z.
    rewrite Z. unfold eq1_term_closed. destruct (Rle_dec 0 0) as [_|A]; [unfold Rdiv; ring|exfalso; apply A; lra].
Qed.

Lemma map_simplex n g q : 0 <= g -> simplex n q -> simplex n (focal_map_closed n g q).
Proof.
  intros Hg Hq. destruct (vertex_dec n q) as [[k [Hk K]]|N].
  - split.
    + intros i Hi. rewrite (map_vertex n g q k i Hq Hk K Hi). apply Hq. exact Hi.
    + rewrite (sum_ext n _ q); [apply Hq|]. intros i Hi. apply (map_vertex n g q k i Hq Hk K Hi).
  - pose proof (total_pos n g q Hg Hq N) as T. split.
    + intros i Hi. rewrite map_inside by auto. apply Rmult_le_pos; [apply weight_closed_nonneg; auto|].
      apply Rlt_le, Rinv_0_lt_compat, T.
    + rewrite (sum_ext n _ (fun i => / total n g q * weight_closed g (q i))).
      * rewrite sum_scale. fold (total n g q). field. lra.
      * intros i Hi. rewrite map_inside by auto. unfold Rdiv. ring.
Qed.

(* the map keeps which classes have any probability *)
Lemma map_positive n g q i : 0 <= g -> simplex n q -> (i < n)%nat -> 0 < focal_map_closed n g q i <-> 0 < q i.
Proof.
  intros Hg Hq Hi. destruct (vertex_dec n q) as [[k [Hk K]]|N].
  - rewrite (map_vertex n g q k i Hq Hk K Hi). reflexivity.
  - rewrite map_inside by auto. pose proof (total_pos n g q Hg Hq N) as T. specialize (N i Hi). split; intros H.
    + destruct (Rlt_dec 0 (q i)) as [A|A]; [exact A|exfalso]. rewrite weight_closed_zero in H by lra. unfold Rdiv in H. lra.
    + rewrite weight_closed_some by exact H. apply Rdiv_lt_0_compat; [apply weight_pos; lra|exact T].
Qed.

(* inside a point has no certain class, and neither has its image *)
Lemma map_below_1 n g q i : 0 <= g -> simplex n q -> (forall k, (k < n)%nat -> q k < 1) -> (i < n)%nat ->
  focal_map_closed n g q i < 1.
Proof.
  intros Hg Hq N Hi. pose proof (map_simplex n g q Hg Hq) as M.
  destruct (Rlt_dec (focal_map_closed n g q i) 1) as [A|A]; [exact A|exfalso].
  assert (E : focal_map_closed n g q i = 1) by (pose proof (simplex_le_1 _ _ i M Hi); lra).
  assert (B : q i = 1); [|specialize (N i Hi); lra].
  destruct Hq as [Hq Eq]. rewrite <- Eq, (sum_remove n q i Hi).
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_const; ring|].
  intros k Hk. destruct (PeanoNat.Nat.eq_dec k i) as [D|D]; [reflexivity|].
  pose proof (simplex_vertex n _ i k M Hi Hk (not_eq_sym D) E) as Z.
  destruct (Rlt_dec 0 (q k)) as [P|P]; [|specialize (Hq k Hk); lra].
  apply (map_positive n g q k Hg (conj Hq Eq) Hk) in P. lra.
Qed.

Lemma map_injective_ordered n g q r : 0 <= g -> simplex n q -> simplex n r ->
  (forall i, (i < n)%nat -> q i < 1) -> (forall i, (i < n)%nat -> r i < 1) ->
  (forall i, (i < n)%nat -> focal_map_closed n g q i = focal_map_closed n g r i) -> total n g q <= total n g r ->
  forall i, (i < n)%nat -> q i = r i.
Proof.
  intros Hg Hq Hr Nq Nr E L. pose proof (total_pos n g q Hg Hq Nq) as Tq. pose proof (total_pos n g r Hg Hr Nr) as Tr.
  apply sum_le_eq; [|destruct Hq, Hr; lra]. intros i Hi.
  destruct (Rle_lt_dec (q i) (r i)) as [A|A]; [exact A|exfalso].
  specialize (E i Hi). rewrite !map_inside in E by auto.
  pose proof (weight_closed_increasing g (r i) (q i) Hg (proj1 Hr i Hi) A (Nq i Hi)) as W.
  pose proof (weight_closed_nonneg g (r i) Hg (Nr i Hi)) as P.
  assert (F : weight_closed g (q i) * total n g r = weight_closed g (r i) * total n g q).
  { apply (Rmult_eq_reg_r (/ total n g q * / total n g r)).
    - replace (weight_closed g (q i) * total n g r * (/ total n g q * / total n g r)) with (weight_closed g (q i) / total n g q)
        by (field; lra). rewrite E. field. lra.
    - apply Rgt_not_eq, Rmult_lt_0_compat; apply Rinv_0_lt_compat; assumption. }
  assert (weight_closed g (r i) * total n g q <= weight_closed g (r i) * total n g r) by (apply Rmult_le_compat_l; lra).
  assert (weight_closed g (r i) * total n g r < weight_closed g (q i) * total n g r) by (apply Rmult_lt_compat_r; lra).
  lra.
Qed.

Lemma map_injective n g q r : 0 <= g -> simplex n q -> simplex n r ->
  (forall i, (i < n)%nat -> focal_map_closed n g q i = focal_map_closed n g r i) ->
  forall i, (i < n)%nat -> q i = r i.
Proof.
  intros Hg Hq Hr E.
  destruct (vertex_dec n q) as [[k [Hk K]]|Nq]; destruct (vertex_dec n r) as [[l [Hl L]]|Nr].
  - intros i Hi. rewrite <- (map_vertex n g q k i), <- (map_vertex n g r l i); auto.
  - pose proof (E k Hk) as F. rewrite (map_vertex n g q k k Hq Hk K Hk) in F.
    pose proof (map_below_1 n g r k Hg Hr Nr Hk). lra.
  - pose proof (E l Hl) as F. rewrite (map_vertex n g r l l Hr Hl L Hl) in F.
    pose proof (map_below_1 n g q l Hg Hq Nq Hl). lra.
  - destruct (Rle_dec (total n g q) (total n g r)) as [A|A].
    + apply (map_injective_ordered n g q r); auto.
    + intros i Hi. symmetry. revert i Hi. apply (map_injective_ordered n g r q); auto; [|lra].
      intros i Hi. symmetry. auto.
Qed.

Lemma map_onto n g p : 0 <= g -> simplex n p ->
  {q | simplex n q /\ forall i, (i < n)%nat -> focal_map_closed n g q i = p i}.
Proof.
  intros Hg Hp. destruct (vertex_dec n p) as [[k [Hk K]]|N].
  { exists p. split; [exact Hp|]. intros i Hi. apply (map_vertex n g p k i Hp Hk K Hi). }
  destruct (Rlt_dec 0 g) as [G|G].
  - destruct (normaliser g G n p Hp N) as [c [Hc E]].
    exists (fun i => unweight g G (c * p i)).
    assert (P : forall i, (i < n)%nat -> 0 <= c * p i) by (intros i Hi; apply Rmult_le_pos; [lra|apply Hp; exact Hi]).
    assert (Q : simplex n (fun i => unweight g G (c * p i))).
    { split; [|exact E]. intros i Hi. apply unweight_range. auto. }
    split; [exact Q|]. intros i Hi.
    assert (W : forall k, (k < n)%nat -> weight_closed g (unweight g G (c * p k)) = c * p k).
    { intros k Hk. destruct (P k Hk) as [Pk|Pk].
      - destruct (unweight_spec g G (c * p k) Pk) as [[A B] F]. rewrite weight_closed_some by exact A. exact F.
      - rewrite <- Pk, unweight_0. apply weight_closed_zero. lra. }
    rewrite map_inside; auto.
    + rewrite W by exact Hi. unfold total. rewrite (sum_ext n _ (fun k => c * p k)) by exact W.
      rewrite sum_scale, (proj2 Hp). field. lra.
    + intros k Hk. apply unweight_range. auto.
  - (* gamma = 0: the map is the identity *)
    exists p. split; [exact Hp|]. intros i Hi. assert (Z : g = 0) by lra. subst g. rewrite map_inside by auto.
    assert (W : forall k, (k < n)%nat -> weight_closed 0 (p k) = p k).
    { intros k Hk. destruct (proj1 Hp k Hk) as [A|A].
      - rewrite weight_closed_some by exact A. apply weight_gamma_0. split; auto.
      - rewrite <- A. apply weight_closed_zero. lra. }
    unfold total. rewrite (sum_ext n _ p) by exact W. rewrite W by exact Hi. rewrite (proj2 Hp). field.
Qed.

(* the inverse map, a function *)
Definition focal_map_inverse (n : nat) (g : R) (p : nat -> R) : nat -> R :=
  match Rle_dec 0 g with
  | left hg => match simplex_dec n p with left hp => proj1_sig (map_onto n g p hg hp) | right _ => p end
  | right _ => p
  end.

Lemma inverse_spec n g p : 0 <= g -> simplex n p ->
  simplex n (focal_map_inverse n g p) /\
  forall i, (i < n)%nat -> focal_map_closed n g (focal_map_inverse n g p) i = p i.
Proof.
  intros Hg Hp. unfold focal_map_inverse. destruct (Rle_dec 0 g) as [hg|hg]; [|contradiction].
  destruct (simplex_dec n p) as [hp|hp]; [|contradiction]. apply (proj2_sig (map_onto n g p hg hp)).
Qed.

(* ---- properness ---- *)

(* above its tangent, r = 1 included *)
Lemma focal_loss_tangent g q r : 0 <= g -> 0 < q < 1 -> 0 < r <= 1 -> q <> r ->
  focal_loss g q + focal_slope g q * (r - q) < focal_loss g r.
Proof.
  intros Hg Hq [Hr [L|L]] N; [apply focal_loss_above_tangent; auto|]. subst r.
  unfold focal_loss, focal_slope. rewrite ln_1, Rmult_0_r.
  pose proof (Rpower_pos (1 - q) g) as P. set (w := Rpower (1 - q) g) in *.
  replace (- (w * ln q) + w * (g * ln q / (1 - q) - 1 / q) * (1 - q)) with (w * (- ln q + g * ln q - (1 - q) / q))
    by (field; lra).
  assert (A : - ln q < (1 - q) / q).
  { assert (D : / q <> 1). { intros E. assert (B : q * / q = 1) by (field; lra). rewrite E in B. lra. }
    pose proof (ln_lt (/ q) ltac:(apply Rinv_0_lt_compat; lra) D) as B. rewrite ln_Rinv in B by lra.
    replace ((1 - q) / q) with (/ q - 1) by (field; lra). exact B. }
  pose proof (ln_neg q Hq). assert (g * ln q <= 0) by nra.
  assert (w * (- ln q + g * ln q - (1 - q) / q) < 0) by nra. lra.
Qed.

Lemma focal_loss_positive g q : 0 < q < 1 -> 0 < focal_loss g q.
Proof. intros H. unfold focal_loss. pose proof (Rpower_pos (1 - q) g). pose proof (ln_neg q H). nra. Qed.

Lemma focal_loss_1 g : focal_loss g 1 = 0.
Proof. unfold focal_loss. rewrite ln_1. ring. Qed.

(* among predictions r, the expected focal loss under the map of q is smallest at r = q, and nowhere else *)
Lemma focal_risk_minimum n g q r : 0 <= g -> simplex n q -> simplex n r -> supports n r q ->
  let p := focal_map_closed n g q in
  risk n (focal_loss_n g) p q <= risk n (focal_loss_n g) p r /\
  (risk n (focal_loss_n g) p r = risk n (focal_loss_n g) p q -> forall i, (i < n)%nat -> r i = q i).
Proof.
  intros Hg Hq Hr S p. unfold risk, focal_loss_n.
  destruct (vertex_dec n q) as [[k [Hk K]]|N].
  - assert (V : q k = 1) by (pose proof (simplex_le_1 n q k Hq Hk); lra).
    assert (Pk : p k = 1) by (unfold p; rewrite (map_vertex n g q k k Hq Hk K Hk); exact V).
    assert (Z : forall i, (i < n)%nat -> i <> k -> p i = 0).
    { intros i Hi D. unfold p. rewrite (map_vertex n g q k i Hq Hk K Hi).
      apply (simplex_vertex n q k i Hq Hk Hi (not_eq_sym D) V). }
    rewrite !(sum_vertex n p _ k Hk Pk Z). rewrite V, focal_loss_1.
    assert (Rk : 0 < r k) by (apply S; [exact Hk|lra]). pose proof (simplex_le_1 n r k Hr Hk) as Rk1.
    split.
    + destruct (proj2 Rk1) as [L|L]; [|rewrite L, focal_loss_1; lra].
      apply Rlt_le, focal_loss_positive. lra.
    + intros E i Hi. assert (Rk2 : r k = 1).
      { destruct (proj2 Rk1) as [L|L]; [|exact L]. pose proof (focal_loss_positive g (r k) ltac:(lra)). lra. }
      destruct (PeanoNat.Nat.eq_dec i k) as [->|D]; [lra|].
      rewrite (simplex_vertex n q k i Hq Hk Hi (not_eq_sym D) V).
      apply (simplex_vertex n r k i Hr Hk Hi (not_eq_sym D) Rk2).
  - pose proof (total_pos n g q Hg Hq N) as T. set (t := total n g q) in *.
    assert (P : forall i, (i < n)%nat -> p i = weight_closed g (q i) / t) by (intros i Hi; apply map_inside; auto).
    (* p_i L'(q_i) = - 1 / t for every class of positive probability: the Lagrange condition *)
    assert (Lag : forall i, (i < n)%nat -> 0 < q i -> p i * focal_slope g (q i) = - / t).
    { intros i Hi H. rewrite P by exact Hi. rewrite weight_closed_some by exact H.
      pose proof (N i Hi). rewrite focal_slope_weight by lra. pose proof (weight_pos g (q i) Hg ltac:(lra)). field. lra. }
    assert (Zero : forall i, (i < n)%nat -> q i = 0 -> p i = 0).
    { intros i Hi H. rewrite P by exact Hi. rewrite H, weight_closed_zero by lra. unfold Rdiv. ring. }
    assert (Pos : forall i, (i < n)%nat -> 0 < q i -> 0 < p i).
    { intros i Hi H. apply (map_positive n g q i Hg Hq Hi). exact H. }
    assert (It : 0 < / t) by (apply Rinv_0_lt_compat; exact T).
    assert (Tan : forall i, (i < n)%nat -> p i * focal_loss g (q i) - / t * (r i - q i) <= p i * focal_loss g (r i)).
    { intros i Hi. destruct (proj1 Hq i Hi) as [H|H].
      - destruct (Req_dec (q i) (r i)) as [E|D]; [rewrite E; lra|].
        pose proof (simplex_le_1 n r i Hr Hi) as Ri. pose proof (S i Hi H) as Ri0.
        pose proof (focal_loss_tangent g (q i) (r i) Hg (conj H (N i Hi)) (conj Ri0 (proj2 Ri)) D) as A.
        apply (Rmult_lt_compat_l (p i)) in A; [|apply Pos; auto]. specialize (Lag i Hi H). nra.
      - rewrite (Zero i Hi (eq_sym H)), <- H. pose proof (proj1 Hr i Hi). nra. }
    assert (Sum : sum n (fun i => p i * focal_loss g (q i) - / t * (r i - q i)) = sum n (fun i => p i * focal_loss g (q i))).
    { rewrite sum_minus, sum_scale, sum_minus, (proj2 Hq), (proj2 Hr). ring. }
    split.
    + rewrite <- Sum. apply sum_le. exact Tan.
    + intros E i Hi.
      pose proof (sum_le_eq n (fun i => p i * focal_loss g (q i) - / t * (r i - q i)) (fun i => p i * focal_loss g (r i)) Tan
        ltac:(rewrite Sum; symmetry; exact E) i Hi) as F. cbv beta in F.
      destruct (proj1 Hq i Hi) as [H|H].
      * destruct (Req_dec (q i) (r i)) as [D|D]; [symmetry; exact D|exfalso].
        pose proof (simplex_le_1 n r i Hr Hi) as Ri. pose proof (S i Hi H) as Ri0.
        pose proof (focal_loss_tangent g (q i) (r i) Hg (conj H (N i Hi)) (conj Ri0 (proj2 Ri)) D) as A.
        apply (Rmult_lt_compat_l (p i)) in A; [|apply Pos; auto]. specialize (Lag i Hi H). nra.
      * rewrite (Zero i Hi (eq_sym H)), <- H in F. rewrite <- H. assert (/ t * r i = 0) by lra.
        apply Rmult_integral in H0. lra.
Qed.

(* the proper part of focal loss, KK24: L*(p, y) = L(p^-1(p), y) *)
Definition proper_part (n : nat) (g : R) : loss := fun p i => focal_loss g (focal_map_inverse n g p i).

(* Paper: 'Let L(q, y) be a multiclass focal loss parametrized with some gamma > 0. Then, it can be deconstructed into a
   composition of a bijective function p-hat(q) and a proper loss L*(q, y)', p-hat as in Eq. (1), L*(q, y) = L(p-hat^-1(q), y).
   Faithfulness: exact, for every number of classes n and every real gamma >= 0, and more: L* is strictly proper.
   [focal_map_closed] is Eq. (1) inside (theorem [kk24_prop4_printed]) and its extension on the boundary of the simplex,
   where the paper's formula divides by 0. *)
Theorem kk24_prop4 n gamma : 0 <= gamma ->
  bijective_on_simplex n (focal_map_closed n gamma) /\
  strictly_proper n (proper_part n gamma) /\
  (forall q i, simplex n q -> (i < n)%nat -> focal_loss_n gamma q i = proper_part n gamma (focal_map_closed n gamma q) i).
Proof.
  intros Hg. split; [|split].
  - split; [|split].
    + intros q Hq. apply map_simplex; assumption.
    + intros q r Hq Hr. apply map_injective; assumption.
    + intros p Hp. destruct (map_onto n gamma p Hg Hp) as [q Q]. exists q. exact Q.
  - intros p p' Hp Hp' S. destruct (inverse_spec n gamma p Hg Hp) as [Hq Eq].
    destruct (inverse_spec n gamma p' Hg Hp') as [Hr Er].
    set (q := focal_map_inverse n gamma p) in *. set (r := focal_map_inverse n gamma p') in *.
    assert (S' : supports n r q).
    { intros i Hi P. apply (map_positive n gamma r i Hg Hr Hi). rewrite Er by exact Hi. apply S; [exact Hi|].
      rewrite <- Eq by exact Hi. apply (map_positive n gamma q i Hg Hq Hi). exact P. }
    destruct (focal_risk_minimum n gamma q r Hg Hq Hr S') as [M U].
    assert (R1 : forall v, risk n (focal_loss_n gamma) (focal_map_closed n gamma q) v = sum n (fun i => p i * focal_loss gamma (v i))).
    { intros v. apply sum_ext. intros i Hi. rewrite Eq by exact Hi. reflexivity. }
    rewrite !R1 in M, U. unfold risk, proper_part. fold q r. split; [exact M|].
    intros E i Hi. specialize (U E). rewrite <- Eq, <- Er by exact Hi.
    assert (T : forall k, (k < n)%nat -> focal_map_closed n gamma r k = focal_map_closed n gamma q k); [|auto].
    intros k Hk. unfold focal_map_closed. rewrite (U k Hk).
    rewrite (sum_ext n (fun k => eq1_term_closed gamma (r k)) (fun k => eq1_term_closed gamma (q k))); [reflexivity|].
    intros m Hm. rewrite (U m Hm). reflexivity.
  - intros q i Hq Hi. unfold focal_loss_n, proper_part.
    destruct (inverse_spec n gamma (focal_map_closed n gamma q) Hg (map_simplex n gamma q Hg Hq)) as [Hr Er].
    rewrite (map_injective n gamma q _ Hg Hq Hr); [reflexivity| |exact Hi]. intros k Hk. symmetry. apply Er. exact Hk.
Qed.

(* inside the simplex the map is Eq. (1) as printed.
   Faithfulness: exact: Eq. (1) with the paper's terms, on the open simplex, where none of them divides by 0. *)
Theorem kk24_prop4_printed n gamma q j : open_simplex n q -> (forall i, (i < n)%nat -> q i < 1) -> (j < n)%nat ->
  focal_map_closed n gamma q j = focal_map n gamma q j.
Proof.
  intros [Hq _] N Hj.
  assert (T : forall i, (i < n)%nat -> eq1_term_closed gamma (q i) = eq1_term gamma (q i)).
  { intros i Hi. unfold eq1_term_closed. destruct (Rle_dec (q i) 0) as [L|L]; [specialize (Hq i Hi); lra|reflexivity]. }
  unfold focal_map_closed, focal_map. destruct (Rle_dec 1 (q j)) as [L|L]; [specialize (N j Hj); lra|].
  rewrite T by exact Hj. f_equal. apply sum_ext. exact T.
Qed.

(* KK24 section 3.3, after Charoenphakdee et al. (2021): the map sends what focal loss predicts back to the true
   distribution. Faithfulness: equivalent; q minimises the expected focal loss under p exactly if p is the map of q. *)
Theorem kk24_map_recovers_truth n gamma p q : 0 <= gamma -> simplex n p -> simplex n q -> supports n q p ->
  (forall r, simplex n r -> supports n r p -> risk n (focal_loss_n gamma) p q <= risk n (focal_loss_n gamma) p r)
    <-> (forall i, (i < n)%nat -> focal_map_closed n gamma q i = p i).
Proof.
  intros Hg Hp Hq S.
  assert (R1 : forall x v, (forall i, (i < n)%nat -> focal_map_closed n gamma x i = p i) ->
    risk n (focal_loss_n gamma) (focal_map_closed n gamma x) v = risk n (focal_loss_n gamma) p v).
  { intros x v Ex. apply sum_ext. intros i Hi. rewrite Ex by exact Hi. reflexivity. }
  assert (Sup : forall x v, simplex n x -> (forall i, (i < n)%nat -> focal_map_closed n gamma x i = p i) ->
    supports n v p -> supports n v x).
  { intros x v Hx Ex Sv i Hi P. apply Sv; [exact Hi|]. rewrite <- Ex by exact Hi.
    apply (map_positive n gamma x i Hg Hx Hi). exact P. }
  split.
  - intros Min. destruct (map_onto n gamma p Hg Hp) as [x [Hx Ex]].
    destruct (focal_risk_minimum n gamma x q Hg Hx Hq (Sup x q Hx Ex S)) as [M U].
    rewrite !(R1 x _ Ex) in M, U.
    assert (Sx : supports n x p).
    { intros i Hi P. apply (map_positive n gamma x i Hg Hx Hi). rewrite Ex by exact Hi. exact P. }
    specialize (Min x Hx Sx). specialize (U ltac:(lra)). intros i Hi. rewrite <- Ex by exact Hi.
    unfold focal_map_closed. rewrite (U i Hi).
    rewrite (sum_ext n (fun k => eq1_term_closed gamma (q k)) (fun k => eq1_term_closed gamma (x k))); [reflexivity|].
    intros m Hm. rewrite (U m Hm). reflexivity.
  - intros E r Hr Sr. destruct (focal_risk_minimum n gamma q r Hg Hq Hr (Sup q r Hq E Sr)) as [M _].
    rewrite !(R1 q _ E) in M. exact M.
Qed.

(* not vacuous: the map moves a point, so L* is another loss than L; three classes, gamma = 1, one of them without probability *)
Example kk24_prop4_moves :
  let q := fun i : nat => match i with 0%nat => 2 / 3 | 1%nat => 1 / 3 | _ => 0 end in
  simplex 3 q /\ focal_map_closed 3 1 q 0 <> q 0%nat.
Proof.
  intros q. assert (Hq : simplex 3 q). { split; [intros [|[|i]] _; simpl; lra|simpl; field]. }
  split; [exact Hq|]. rewrite map_inside; [|lra|exact Hq|intros [|[|i]] _; simpl; lra|lia].
  unfold total. simpl. rewrite (weight_closed_zero 1 0), !weight_closed_some by lra.
  pose proof (weight_pos 1 (2 / 3) ltac:(lra) ltac:(lra)) as A. pose proof (weight_pos 1 (1 / 3) ltac:(lra) ltac:(lra)) as B.
  intros E.
  assert (F : weight 1 (2 / 3) = 2 * weight 1 (1 / 3)).
  { apply (Rmult_eq_compat_r (0 + weight 1 (2 / 3) + weight 1 (1 / 3) + 0)) in E. field_simplify in E; lra. }
  unfold weight, gain, entropy_ratio in F. rewrite !Rpower_1 in F by lra.
  assert (L2 : - (2 / 3 * ln (2 / 3)) / (1 - 2 / 3) = - 2 * ln (2 / 3)) by field.
  assert (L1 : - (1 / 3 * ln (1 / 3)) / (1 - 1 / 3) = - (1 / 2) * ln (1 / 3)) by field.
  rewrite L1, L2 in F.
  pose proof (ln_neg (2 / 3) ltac:(lra)) as N2. pose proof (ln_neg (1 / 3) ltac:(lra)) as N1.
  pose proof (ln_ge (2 / 3) ltac:(lra)) as G2.
  (* g(2/3) = g(1/3), but g(2/3) <= (1/3) 2 < 2/3 < g(1/3) *)
  assert (X : 1 / 3 * (1 + 1 * (- 2 * ln (2 / 3))) <= 2 / 3) by lra.
  assert (Y : 2 / 3 < 2 / 3 * (1 + 1 * (- (1 / 2) * ln (1 / 3)))) by lra.
  replace (1 - 2 / 3) with (1 / 3) in F by field. replace (1 - 1 / 3) with (2 / 3) in F by field.
  set (g2 := 1 / 3 * (1 + 1 * (- 2 * ln (2 / 3)))) in *. set (g1 := 2 / 3 * (1 + 1 * (- (1 / 2) * ln (1 / 3)))) in *.
  assert (P2 : 0 < g2) by (unfold g2; lra). assert (P1 : 0 < g1) by lra.
  assert (F' : 2 / 3 * g1 = 2 / 3 * g2).
  { apply (Rmult_eq_compat_r (g1 * g2)) in F. field_simplify in F; lra. }
  lra.
Qed.
