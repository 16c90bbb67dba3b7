(* Focal calibration loss (L25 Def. 3.1): focal loss plus lambda times the squared distance to the one-hot label.
   L25 is Liang et al., "Towards trustworthy deep neural network through Euclidean distance"; its formulas are lost from the
   text at hand, the definition is that of its Eqs. (10) to (12) by the words around them.

   Minimisers of the expected loss are taken among the predictions that support p, the others have infinite loss. Here:
   what changes when probability moves from one class to another, so that at a minimiser all slopes are equal; and that
   equal slopes are enough. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss KK24_Prop4.
Open Scope R_scope.

Definition one_hot (y i : nat) : R := if Nat.eqb i y then 1 else 0.
Definition squared_distance (n : nat) (q p : nat -> R) : R := sum n (fun i => (q i - p i) * (q i - p i)).

(* FCL = focal loss + lambda || q - e_y ||^2 *)
Definition fcl (n : nat) (gamma lambda : R) : loss :=
  fun q y => focal_loss gamma (q y) + lambda * squared_distance n q (one_hot y).

(* q has the smallest expected loss under p *)
Definition minimises (n : nat) (L : loss) (p q : nat -> R) : Prop :=
  simplex n q /\ supports n q p /\ forall r, simplex n r -> supports n r p -> risk n L p q <= risk n L p r.

(* the derivative of the expected loss in q_i, up to a constant of p: p_i L'(q_i) + 2 lambda (q_i - p_i) *)
Definition slope (gamma lambda : R) (p q : nat -> R) (i : nat) : R :=
  p i * focal_slope gamma (q i) + 2 * lambda * (q i - p i).

(* ---- the expected square: || q - p ||^2 and a constant ---- *)

Lemma sum_one_hot n f y : (y < n)%nat -> sum n (fun i => f i * one_hot y i) = f y.
Proof.
  intros Y. rewrite (sum_ext n _ (fun i => one_hot y i * f i)) by (intros; ring).
  apply sum_vertex; [exact Y| |].
  - unfold one_hot. rewrite Nat.eqb_refl. reflexivity.
  - intros i _ N. unfold one_hot. destruct (Nat.eqb_spec i y); [contradiction|reflexivity].
Qed.

Lemma squared_distance_one_hot n q y : (y < n)%nat ->
  squared_distance n q (one_hot y) = sum n (fun i => q i * q i) - 2 * q y + 1.
Proof.
  intros Y. unfold squared_distance.
  rewrite (sum_ext n _ (fun i => (q i * q i - 2 * (q i * one_hot y i)) + 1 * one_hot y i)).
  - rewrite sum_plus, sum_minus, sum_scale, (sum_one_hot n q y Y).
    rewrite (sum_one_hot n (fun _ => 1) y Y). ring.
  - intros i _. unfold one_hot. destruct (Nat.eqb i y); ring.
Qed.

Lemma fcl_risk n gamma lambda p q : sum n p = 1 ->
  risk n (fcl n gamma lambda) p q =
  risk n (focal_loss_n gamma) p q + lambda * squared_distance n q p + lambda * (1 - sum n (fun i => p i * p i)).
Proof.
  intros S. unfold risk, fcl, focal_loss_n.
  rewrite (sum_ext n _ (fun y => p y * focal_loss gamma (q y) +
    lambda * ((sum n (fun i => q i * q i) + 1) * p y - 2 * (p y * q y)))).
  - rewrite sum_plus, sum_scale, sum_minus, !sum_scale, S. unfold squared_distance.
    rewrite (sum_ext n (fun i => (q i - p i) * (q i - p i)) (fun i => (q i * q i - 2 * (p i * q i)) + p i * p i)) by
      (intros; ring).
    rewrite sum_plus, sum_minus, sum_scale. ring.
  - intros y Y. rewrite squared_distance_one_hot by exact Y. ring.
Qed.

(* ---- moving probability from class j to class i ---- *)

Definition moved (q : nat -> R) (i j : nat) (t : R) : nat -> R :=
  fun k => if Nat.eqb k i then q i + t else if Nat.eqb k j then q j - t else q k.

Lemma moved_i q i j t : moved q i j t i = q i + t.
Proof. unfold moved. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma moved_j q i j t : i <> j -> moved q i j t j = q j - t.
Proof. intros D. unfold moved. destruct (Nat.eqb_spec j i); [congruence|]. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma moved_other q i j t k : k <> i -> k <> j -> moved q i j t k = q k.
Proof.
  intros I J. unfold moved. destruct (Nat.eqb_spec k i); [contradiction|].
  destruct (Nat.eqb_spec k j); [contradiction|reflexivity].
Qed.

Lemma sum_moved n q i j t (f : nat -> R -> R) : (i < n)%nat -> (j < n)%nat -> i <> j ->
  sum n (fun k => f k (moved q i j t k)) - sum n (fun k => f k (q k)) =
  (f i (q i + t) - f i (q i)) + (f j (q j - t) - f j (q j)).
Proof.
  intros I J D. rewrite <- sum_minus. rewrite (sum_remove n _ i I), (sum_remove n _ j J).
  rewrite (sum_ext n _ (fun _ => 0)).
  - rewrite sum_const, Rmult_0_r. destruct (PeanoNat.Nat.eq_dec j i) as [E|_]; [congruence|].
    rewrite moved_i, moved_j by exact D. ring.
  - intros k _. destruct (PeanoNat.Nat.eq_dec k j); [reflexivity|]. destruct (PeanoNat.Nat.eq_dec k i); [reflexivity|].
    rewrite moved_other by assumption. ring.
Qed.

Lemma moved_simplex n q i j t : (i < n)%nat -> (j < n)%nat -> i <> j -> simplex n q -> 0 <= t <= q j ->
  simplex n (moved q i j t).
Proof.
  intros I J D [P S] T. split.
  - intros k K. destruct (PeanoNat.Nat.eq_dec k i) as [->|Ni]; [rewrite moved_i; specialize (P i I); lra|].
    destruct (PeanoNat.Nat.eq_dec k j) as [->|Nj]; [rewrite moved_j by exact D; lra|].
    rewrite moved_other by assumption. auto.
  - pose proof (sum_moved n q i j t (fun _ v => v) I J D) as E. cbv beta in E.
    change (sum n (moved q i j t) - sum n q = q i + t - q i + (q j - t - q j)) in E. lra.
Qed.

(* a negative slope gives a smaller value close by *)
Lemma smaller_nearby (f : R -> R) d e : is_derive f 0 d -> d < 0 -> 0 < e -> exists t, 0 < t < e /\ f t < f 0.
Proof.
  intros D N E. apply is_derive_Reals in D. destruct (D (- d / 2) ltac:(lra)) as [del H].
  set (t := Rmin (e / 2) (del / 2)). assert (P : 0 < del) by apply cond_pos.
  assert (T : 0 < t) by (unfold t; apply Rmin_glb_lt; lra).
  assert (T1 : t <= e / 2) by apply Rmin_l. assert (T2 : t <= del / 2) by apply Rmin_r.
  exists t. split; [lra|]. specialize (H t ltac:(lra) ltac:(rewrite Rabs_right; lra)).
  apply Rabs_def2 in H. rewrite Rplus_0_l in H.
  assert (K : (f t - f 0) / t < 0) by lra.
  apply (Rmult_lt_compat_r t) in K; [|exact T]. replace ((f t - f 0) / t * t) with (f t - f 0) in K by (field; lra).
  lra.
Qed.

Lemma fcl_moved n gamma lambda p q i j t : sum n p = 1 -> (i < n)%nat -> (j < n)%nat -> i <> j ->
  risk n (fcl n gamma lambda) p (moved q i j t) - risk n (fcl n gamma lambda) p q =
  p i * (focal_loss gamma (q i + t) - focal_loss gamma (q i)) + p j * (focal_loss gamma (q j - t) - focal_loss gamma
    (q j)) +
  lambda * ((q i + t - p i) * (q i + t - p i) - (q i - p i) * (q i - p i) +
            ((q j - t - p j) * (q j - t - p j) - (q j - p j) * (q j - p j))).
Proof.
  intros S I J D. rewrite !fcl_risk by exact S. unfold risk, focal_loss_n, squared_distance.
  pose proof (sum_moved n q i j t (fun k v => p k * focal_loss gamma v) I J D) as A.
  pose proof (sum_moved n q i j t (fun k v => (v - p k) * (v - p k)) I J D) as B. cbv beta in A, B.
  set (a := sum n (fun i0 => p i0 * focal_loss gamma (moved q i j t i0))) in *.
  set (b := sum n (fun i0 => (moved q i j t i0 - p i0) * (moved q i j t i0 - p i0))) in *.
  set (c := sum n (fun k => p k * focal_loss gamma (q k))) in *.
  set (e := sum n (fun k => (q k - p k) * (q k - p k))) in *.
  replace a with (c + (a - c)) by ring. replace b with (e + (b - e)) by ring. rewrite A, B. ring.
Qed.

Lemma minimiser_slopes_le n gamma lambda p q i j : simplex n p -> minimises n (fcl n gamma lambda) p q ->
  (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < q i -> 0 < q j -> slope gamma lambda p q j <= slope gamma lambda p q i.
Proof.
  intros [Pp Sp] (Sq & Su & M) I J D Qi Qj. apply Rnot_lt_le. intro L.
  pose proof (sum_two n q i j (proj1 Sq) I J D) as T. rewrite (proj2 Sq) in T.
  set (f := fun t : R =>
    p i * focal_loss gamma (q i + t) + p j * focal_loss gamma (q j - t) +
    lambda * ((q i + t - p i) * (q i + t - p i) + (q j - t - p j) * (q j - t - p j))).
  assert (F : is_derive f 0 (slope gamma lambda p q i - slope gamma lambda p q j)).
  { unfold f. evar_last.
    - apply (is_derive_plus (fun t => p i * focal_loss gamma (q i + t) + p j * focal_loss gamma (q j - t))).
      + apply (is_derive_plus (fun t => p i * focal_loss gamma (q i + t))); apply is_derive_scal.
        * apply (is_derive_comp (focal_loss gamma) (fun t => q i + t)).
          { rewrite Rplus_0_r. apply focal_loss_derivative. lra. }
          { instantiate (1 := 1). auto_derive; [exact Logic.I|ring]. }
        * apply (is_derive_comp (focal_loss gamma) (fun t => q j - t)).
          { rewrite Rminus_0_r. apply focal_loss_derivative. lra. }
          { instantiate (1 := -1). auto_derive; [exact Logic.I|ring]. }
      + instantiate (1 := lambda * (2 * (q i - p i) - 2 * (q j - p j))). auto_derive; [exact Logic.I|ring].
    - unfold slope, plus, scal; simpl. unfold mult; simpl. ring. }
  destruct (smaller_nearby f _ (q j) F ltac:(lra) Qj) as [t [Ht Lt]].
  assert (R : risk n (fcl n gamma lambda) p q <= risk n (fcl n gamma lambda) p (moved q i j t)).
  { apply M.
    - apply moved_simplex; try assumption. lra.
    - intros k K Pk. destruct (PeanoNat.Nat.eq_dec k i) as [->|Ni]; [rewrite moved_i; lra|].
      destruct (PeanoNat.Nat.eq_dec k j) as [->|Nj]; [rewrite moved_j by exact D; lra|].
      rewrite moved_other by assumption. apply Su; assumption. }
  pose proof (fcl_moved n gamma lambda p q i j t Sp I J D) as E.
  unfold f in Lt. rewrite Rplus_0_r, Rminus_0_r in Lt. lra.
Qed.

(* at a minimiser the slopes of all classes with a positive probability are equal (Lagrange) *)
Lemma minimiser_slopes n gamma lambda p q i j : simplex n p -> minimises n (fcl n gamma lambda) p q ->
  (i < n)%nat -> (j < n)%nat -> 0 < q i -> 0 < q j -> slope gamma lambda p q i = slope gamma lambda p q j.
Proof.
  intros P M I J Qi Qj. destruct (PeanoNat.Nat.eq_dec i j) as [->|D]; [reflexivity|].
  apply Rle_antisym; eapply minimiser_slopes_le; eauto.
Qed.

(* and enough: with equal slopes mu, at least mu where the probability is 0, q has the smallest expected loss, and is the
   only such point where lambda > 0 or every p_i > 0 *)
Lemma slopes_suffice n gamma lambda p q mu : 0 <= gamma -> 0 <= lambda -> simplex n p -> simplex n q ->
  supports n q p -> (forall i, (i < n)%nat -> q i < 1) ->
  (forall i, (i < n)%nat -> 0 < q i -> slope gamma lambda p q i = mu) ->
  (forall i, (i < n)%nat -> q i = 0 -> mu <= 2 * lambda * (q i - p i)) ->
  minimises n (fcl n gamma lambda) p q.
Proof.
  intros G L [Pp Sp] Sq Su Q1 E Z. split; [exact Sq|]. split; [exact Su|]. intros r Sr Sur.
  rewrite !fcl_risk by exact Sp.
  assert (A : 0 <= sum n (fun i => p i * (focal_loss gamma (r i) - focal_loss gamma (q i)) +
    lambda * ((r i - p i) * (r i - p i) - (q i - p i) * (q i - p i)))).
  { apply (Rle_trans _ (sum n (fun i => mu * (r i - q i)))).
    - rewrite sum_scale, sum_minus, (proj2 Sr), (proj2 Sq). lra.
    - apply sum_le. intros i I. pose proof (simplex_le_1 n r i Sr I) as Ri. pose proof (Q1 i I) as Qi.
      assert (B : 2 * lambda * (q i - p i) * (r i - q i) <= lambda * ((r i - p i) * (r i - p i) - (q i - p i) *
        (q i - p i))).
      { replace (lambda * ((r i - p i) * (r i - p i) - (q i - p i) * (q i - p i)))
          with (2 * lambda * (q i - p i) * (r i - q i) + lambda * ((r i - q i) * (r i - q i))) by ring.
        assert (0 <= lambda * ((r i - q i) * (r i - q i))) by (apply Rmult_le_pos; [exact L|apply Rle_0_sqr]). lra. }
      destruct (proj1 Sq i I) as [Pq|Zq].
      + rewrite <- (E i I Pq). unfold slope.
        assert (C : p i * (focal_slope gamma (q i) * (r i - q i)) <= p i * (focal_loss gamma (r i) - focal_loss gamma
          (q i))).
        { destruct (Pp i I) as [Pi|Zi]; [|rewrite <- Zi; lra].
          apply Rmult_le_compat_l; [lra|].
          destruct (Req_dec (q i) (r i)) as [Eq|Ne]; [rewrite Eq; lra|].
          pose proof (focal_loss_tangent gamma (q i) (r i) G ltac:(lra) ltac:(specialize (Sur i I Pi); lra) Ne). lra. }
        lra.
      + specialize (Z i I (eq_sym Zq)).
        assert (p i = 0). { destruct (Pp i I) as [Pi|]; [|lra]. specialize (Su i I Pi). lra. }
        rewrite H in *. rewrite <- Zq in *. nra. }
  rewrite sum_plus, sum_scale, sum_minus in A.
  rewrite (sum_ext n (fun i => p i * (focal_loss gamma (r i) - focal_loss gamma (q i)))
    (fun i => p i * focal_loss gamma (r i) - p i * focal_loss gamma (q i))) in A by (intros; ring).
  rewrite sum_minus in A. unfold risk, focal_loss_n, squared_distance. lra.
Qed.

Lemma gain_at_truth gamma lambda p i : 0 < p i < 1 -> slope gamma lambda p p i = - gain gamma (p i).
Proof. intros H. unfold slope. rewrite focal_slope_gain by exact H. field. lra. Qed.
