(* L25 section 4.3, corrected: the bias of the minimiser of focal calibration loss shrinks like 1 / lambda.

   L25 has no such statement: it says that FCL is strictly proper ("unbiased probability estimation"), which
   [l25_not_proper] refutes. What holds, and is proved here for every number of classes, every p with all p_i > 0 and every
   real gamma >= 0: at the minimiser q,

     q_i - p_i = (g(p_i) - mean of the g(p_j)) / (2 lambda) + O(1 / lambda^2).

   Faithful: exact for the ledger's claim l25.bias with all p_i > 0 (at one-hot p the bias is 0);
   the paper's statement it corrects is related. [l25_minimiser_exists] shows that there is a minimiser to speak of. *)

From Coq Require Import Reals Lra Lia Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight KK24_Prop4 KK24_ManyClasses L25_FocalCalibrationLoss L25_OrderPreserving L25_NotProper.
Open Scope R_scope.

Lemma interior_lt_1 n p i : (2 <= n)%nat -> open_simplex n p -> (i < n)%nat -> 0 < p i < 1.
Proof.
  intros N [P S] I. split; [auto|]. set (o := if Nat.eqb i 0 then 1%nat else 0%nat).
  assert (O : (o < n)%nat /\ i <> o) by (unfold o; destruct (Nat.eqb_spec i 0); lia).
  pose proof (sum_two n p i o (fun k K => Rlt_le _ _ (P k K)) I (proj1 O) (proj2 O)). pose proof (P o (proj1 O)). lra.
Qed.

Lemma open_closed n p : open_simplex n p -> simplex n p.
Proof. intros [P S]. split; [intros i I; left; auto|exact S]. Qed.

(* ---- a first bound: the minimiser is within n (1 + gamma) / lambda of the truth ---- *)

Lemma first_bound n gamma lambda p q i : (2 <= n)%nat -> 0 <= gamma -> 0 < lambda -> open_simplex n p ->
  minimises n (fcl n gamma lambda) p q -> (i < n)%nat -> Rabs (q i - p i) <= INR n * (1 + gamma) / lambda.
Proof.
  intros N G L P (Sq & Su & M) I. pose proof (open_closed n p P) as Sp.
  specialize (M p Sp (fun k _ H => H)). rewrite !fcl_risk, squared_distance_self in M by apply Sp.
  set (c := 1 + gamma). assert (C : 0 < c) by (unfold c; lra).
  (* lambda |q - p|^2 <= sum of g_i (q_i - p_i) <= lambda |q - p|^2 / 2 + n c^2 / (2 lambda) *)
  assert (A : lambda * squared_distance n q p <=
    sum n (fun k => lambda / 2 * ((q k - p k) * (q k - p k)) + c * c / (2 * lambda))).
  { apply (Rle_trans _ (sum n (fun k => p k * focal_loss gamma (p k) - p k * focal_loss gamma (q k)))).
    - rewrite sum_minus. unfold risk, focal_loss_n in M. lra.
    - apply sum_le. intros k K. pose proof (interior_lt_1 n p k N P K) as B. pose proof (simplex_le_1 n q k Sq K) as Q.
      specialize (Su k K (proj1 B)).
      assert (T : p k * focal_loss gamma (p k) - p k * focal_loss gamma (q k) <= gain gamma (p k) * (q k - p k)).
      { destruct (Req_dec (p k) (q k)) as [E|E]; [rewrite <- E; lra|].
        pose proof (focal_loss_tangent gamma (p k) (q k) G B ltac:(lra) E) as T.
        rewrite focal_slope_gain in T by exact B.
        apply (Rmult_lt_compat_l (p k)) in T; [|lra].
        replace (p k * (focal_loss gamma (p k) + - (gain gamma (p k) / p k) * (q k - p k)))
          with (p k * focal_loss gamma (p k) - gain gamma (p k) * (q k - p k)) in T by (field; lra). lra. }
      pose proof (gain_at_most gamma (p k) G B) as U. pose proof (gain_pos gamma (p k) G B) as V. fold c in U.
      set (d := q k - p k) in *. set (g := gain gamma (p k)) in *.
      assert (W : 0 <= (lambda * d - g) * (lambda * d - g) / (2 * lambda)).
      { apply Rmult_le_pos; [apply Rle_0_sqr|left; apply Rinv_0_lt_compat; lra]. }
      replace ((lambda * d - g) * (lambda * d - g) / (2 * lambda))
        with (lambda / 2 * (d * d) - g * d + g * g / (2 * lambda)) in W by (field; lra).
      assert (g * g / (2 * lambda) <= c * c / (2 * lambda)).
      { unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|nra]. }
      lra. }
  rewrite sum_plus, sum_scale, sum_const in A. fold (squared_distance n q p) in A.
  assert (B : squared_distance n q p <= INR n * (c * c) / (lambda * lambda)).
  { apply (Rmult_le_reg_l (lambda / 2)); [lra|].
    replace (lambda / 2 * (INR n * (c * c) / (lambda * lambda))) with (INR n * (c * c / (2 * lambda))) by (field;
      lra). lra. }
  assert (D : (q i - p i) * (q i - p i) <= squared_distance n q p).
  { apply (sum_term n (fun k => (q k - p k) * (q k - p k))); [intros; apply Rle_0_sqr|exact I]. }
  assert (N1 : 1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia).
  assert (E : (q i - p i) * (q i - p i) <= (INR n * c / lambda) * (INR n * c / lambda)).
  { replace ((INR n * c / lambda) * (INR n * c / lambda)) with (INR n * (INR n * (c * c) / (lambda * lambda))) by
    (field; lra).
    assert (0 <= INR n * (c * c) / (lambda * lambda)).
    { apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; nra]. }
    assert (1 * (INR n * (c * c) / (lambda * lambda)) <= INR n * (INR n * (c * c) / (lambda * lambda)))
      by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (F : 0 <= INR n * c / lambda).
  { apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra]. }
  apply Rabs_le. split; nra.
Qed.

(* ---- the slope of focal loss is Lipschitz near each p_i ---- *)

Lemma slope_lipschitz gamma p : 0 < p < 1 -> exists del, 0 < del /\ exists m, 0 <= m /\
  forall x, Rabs (x - p) < del -> 0 < x /\ Rabs (focal_slope gamma x - focal_slope gamma p) <= m * Rabs (x - p).
Proof.
  intros H. pose proof (focal_slope_derivative gamma p H) as D. apply is_derive_Reals in D.
  destruct (D 1 ltac:(lra)) as [e K]. pose proof (cond_pos e) as E.
  exists (Rmin e p). split; [apply Rmin_glb_lt; lra|].
  exists (Rabs (focal_curvature gamma p) + 1). split; [pose proof (Rabs_pos (focal_curvature gamma p)); lra|].
  intros x X. assert (X1 : Rabs (x - p) < e) by (eapply Rlt_le_trans; [exact X|apply Rmin_l]).
  assert (X2 : Rabs (x - p) < p) by (eapply Rlt_le_trans; [exact X|apply Rmin_r]).
  split; [apply Rabs_def2 in X2; lra|].
  destruct (Req_dec x p) as [->|Ne]; [unfold Rminus; rewrite !Rplus_opp_r, Rabs_R0; lra|].
  specialize (K (x - p) ltac:(lra) X1). replace (p + (x - p)) with x in K by ring.
  set (f := focal_slope gamma x - focal_slope gamma p) in *. set (c := focal_curvature gamma p) in *.
  assert (T : Rabs (f / (x - p)) <= Rabs c + 1).
  { replace (f / (x - p)) with ((f / (x - p) - c) + c) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra. }
  replace f with (f / (x - p) * (x - p)) by (field; lra). rewrite Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|exact T].
Qed.

Lemma slopes_lipschitz gamma p n : (forall i, (i < n)%nat -> 0 < p i < 1) -> exists del, 0 < del /\ exists m, 0 <= m /\
  forall i x, (i < n)%nat -> Rabs (x - p i) < del ->
    0 < x /\ Rabs (focal_slope gamma x - focal_slope gamma (p i)) <= m * Rabs (x - p i).
Proof.
  induction n; intros H.
  - exists 1. split; [lra|]. exists 0. split; [lra|]. intros i x I. lia.
  - destruct IHn as [d1 [D1 [m1 [M1 K1]]]]; [auto|].
    destruct (slope_lipschitz gamma (p n) (H n ltac:(lia))) as [d2 [D2 [m2 [M2 K2]]]].
    exists (Rmin d1 d2). split; [apply Rmin_glb_lt; lra|].
    exists (Rmax m1 m2). pose proof (Rmax_l m1 m2). pose proof (Rmax_r m1 m2). split; [lra|].
    intros i x I X. pose proof (Rmin_l d1 d2). pose proof (Rmin_r d1 d2). pose proof (Rabs_pos (x - p i)).
    destruct (PeanoNat.Nat.eq_dec i n) as [->|Ne].
    + destruct (K2 x ltac:(lra)) as [A B]. split; [exact A|]. eapply Rle_trans; [exact B|].
    apply Rmult_le_compat_r; lra.
    + destruct (K1 i x ltac:(lia) ltac:(lra)) as [A B]. split; [exact A|]. eapply Rle_trans; [exact B|].
    apply Rmult_le_compat_r; lra.
Qed.

Lemma sum_abs n f c : (forall i, (i < n)%nat -> Rabs (f i) <= c) -> Rabs (sum n f) <= INR n * c.
Proof.
  intros H. rewrite <- sum_const. apply Rabs_le. split.
  - replace (- sum n (fun _ => c)) with (sum n (fun _ => -1 * c)) by (rewrite sum_scale; ring).
    apply sum_le. intros i I. specialize (H i I). apply Rabs_le_between in H. lra.
  - apply sum_le. intros i I. specialize (H i I). apply Rabs_le_between in H. lra.
Qed.

(* ---- the theorem ---- *)

Definition mean_gain (n : nat) (gamma : R) (p : nat -> R) : R := sum n (fun j => gain gamma (p j)) / INR n.

Theorem l25_bias n gamma p : (2 <= n)%nat -> 0 <= gamma -> open_simplex n p ->
  exists C lambda_0, 0 < lambda_0 /\
  forall lambda q, lambda_0 <= lambda -> minimises n (fcl n gamma lambda) p q -> forall i, (i < n)%nat ->
    Rabs ((q i - p i) - (gain gamma (p i) - mean_gain n gamma p) / (2 * lambda)) <= C / (lambda * lambda).
Proof.
  intros N G P. pose proof (fun i => interior_lt_1 n p i N P) as B.
  destruct (slopes_lipschitz gamma p n B) as [del [Del [m [Mpos K]]]].
  set (b := INR n * (1 + gamma)).
  assert (N1 : 1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia).
  assert (Bpos : 0 < b) by (unfold b; nra).
  exists (m * b), (2 * b / del). split; [apply Rdiv_lt_0_compat; lra|].
  intros lambda q L M. assert (L0 : 0 < 2 * b / del) by (apply Rdiv_lt_0_compat; lra).
  assert (Lpos : 0 < lambda) by lra.
  assert (Small : b / lambda < del).
  { apply (Rmult_lt_reg_r lambda); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (del * (2 * b / del) <= del * lambda) by (apply Rmult_le_compat_l; lra).
    replace (del * (2 * b / del)) with (2 * b) in H by (field; lra). lra. }
  assert (F : forall i, (i < n)%nat -> Rabs (q i - p i) <= b / lambda).
  { intros i I. apply (first_bound n gamma lambda p q i); assumption. }
  set (e := fun i => p i * (focal_slope gamma (q i) - focal_slope gamma (p i))).
  assert (E : forall i, (i < n)%nat -> 0 < q i /\ Rabs (e i) <= m * (b / lambda)).
  { intros i I. specialize (F i I). destruct (K i (q i) I ltac:(lra)) as [A C]. split; [exact A|].
    unfold e. rewrite Rabs_mult, (Rabs_right (p i)) by (specialize (B i I); lra).
    pose proof (Rabs_pos (focal_slope gamma (q i) - focal_slope gamma (p i))).
    assert (m * Rabs (q i - p i) <= m * (b / lambda)) by (apply Rmult_le_compat_l; lra).
    specialize (B i I). nra. }
  set (mu := slope gamma lambda p q 0).
  assert (S : forall i, (i < n)%nat -> 2 * lambda * (q i - p i) = mu + gain gamma (p i) - e i).
  { intros i I. unfold mu. rewrite (minimiser_slopes n gamma lambda p q 0 i (open_closed n p P) M)
      by (try lia; try exact I; apply E; lia || exact I).
    unfold slope, e. rewrite (focal_slope_gain gamma (p i)) by auto. field. specialize (B i I). lra. }
  set (ebar := sum n e / INR n).
  assert (Mu : mu = ebar - mean_gain n gamma p).
  { assert (Z : sum n (fun i => 2 * lambda * (q i - p i)) = 0).
    { rewrite sum_scale, sum_minus. destruct P as [_ ->]. destruct M as [[_ ->] _]. ring. }
    rewrite (sum_ext n _ (fun i => (mu + gain gamma (p i)) - e i)) in Z by exact S.
    rewrite sum_minus, sum_plus, sum_const in Z. unfold ebar, mean_gain.
    apply (Rmult_eq_reg_l (INR n)); [|lra].
    replace (INR n * (sum n e / INR n - sum n (fun j => gain gamma (p j)) / INR n))
      with (sum n e - sum n (fun j => gain gamma (p j))) by (field; lra). lra. }
  assert (Eb : Rabs ebar <= m * (b / lambda)).
  { unfold ebar, Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; apply Rinv_0_lt_compat; lra).
    pose proof (sum_abs n e (m * (b / lambda)) (fun i I => proj2 (E i I))) as H.
    apply (Rmult_le_reg_r (INR n)); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. unfold Rdiv in H. lra. }
  intros i I. specialize (S i I). destruct (E i I) as [_ Ei].
  replace (q i - p i) with ((mu + gain gamma (p i) - e i) / (2 * lambda)) by (rewrite <- S; field; lra).
  rewrite Mu.
  replace ((ebar - mean_gain n gamma p + gain gamma (p i) - e i) / (2 * lambda) -
           (gain gamma (p i) - mean_gain n gamma p) / (2 * lambda)) with ((ebar - e i) * / (2 * lambda)) by (field;
             lra).
  rewrite Rabs_mult, (Rabs_right (/ (2 * lambda))) by (left; apply Rinv_0_lt_compat; lra).
  replace (m * b / (lambda * lambda)) with (2 * (m * (b / lambda)) * / (2 * lambda)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  apply Rabs_le_between in Eb. apply Rabs_le_between in Ei. apply Rabs_le. lra.
Qed.

(* ---- there is a minimiser: the common slope mu for which the class probabilities sum to 1 ---- *)

Section Existence.
Variables (n : nat) (gamma lambda : R) (p : nat -> R).
Hypotheses (N : (2 <= n)%nat) (G : 0 < gamma) (L : 0 <= lambda) (P : simplex n p) (P1 : forall i, (i < n)%nat -> p i < 1).

Definition class_slope (i : nat) (v : R) : R := p i * focal_slope gamma v + 2 * lambda * (v - p i).

Lemma class_slope_increasing i x y : 0 < p i -> 0 < x -> x < y -> y < 1 -> class_slope i x < class_slope i y.
Proof.
  intros B X XY Y.
  pose proof (focal_slope_increasing gamma x y ltac:(lra) X XY Y) as A. unfold class_slope.
  apply (Rmult_lt_compat_l (p i)) in A; [|lra].
  assert (lambda * (x - p i) <= lambda * (y - p i)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma class_slope_continuous i v : 0 < v < 1 -> continuity_pt (class_slope i) v.
Proof.
  intros W. apply (derive_continuity _ _ (p i * focal_curvature gamma v + 2 * lambda)).
  apply (is_derive_plus (fun v => p i * focal_slope gamma v) (fun v => 2 * lambda * (v - p i))).
  - apply is_derive_scal, focal_slope_derivative, W.
  - auto_derive; [exact Logic.I|ring].
Qed.

Lemma class_slope_onto i y : (i < n)%nat -> 0 < p i -> y < 0 -> {v | 0 < v < 1 /\ class_slope i v = y}.
Proof.
  intros I Pi Y. assert (B : 0 < p i < 1) by (split; auto).
  assert (Y1 : 0 < p i / (2 * lambda - y)) by (apply Rdiv_lt_0_compat; lra).
  destruct (weight_small gamma (p i / (2 * lambda - y)) ltac:(lra) Y1) as [a [Ha A]].
  destruct (weight_large gamma (1 / - y) G ltac:(apply Rdiv_lt_0_compat; lra)) as [b [Hb Bb]].
  pose (c := Rmax b ((1 + p i) / 2)). assert (C1 : b <= c) by apply Rmax_l.
  assert (C2 : (1 + p i) / 2 <= c) by apply Rmax_r.
  assert (C3 : c < 1) by (unfold c; apply Rmax_lub_lt; lra).
  assert (Low : class_slope i a < y).
  { unfold class_slope. pose proof (weight_pos gamma a ltac:(lra) ltac:(lra)) as W.
    rewrite focal_slope_weight by lra.
    assert (2 * lambda - y < p i * / weight gamma a).
    { apply (Rmult_lt_reg_r (weight gamma a)); [exact W|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      apply (Rmult_lt_compat_l (2 * lambda - y)) in A; [|lra].
      replace ((2 * lambda - y) * (p i / (2 * lambda - y))) with (p i) in A by (field; lra). exact A. }
    assert (lambda * (a - p i) <= lambda * 1) by (apply Rmult_le_compat_l; lra). lra. }
  assert (High : y < class_slope i c).
  { unfold class_slope. pose proof (weight_pos gamma b ltac:(lra) ltac:(lra)) as W.
    assert (S : focal_slope gamma b <= focal_slope gamma c).
    { destruct C1 as [C1|C1]; [left; apply focal_slope_increasing; lra|rewrite <- C1; lra]. }
    rewrite (focal_slope_weight gamma b) in S by lra.
    assert (U : / weight gamma b < - y).
    { replace (- y) with (/ (1 / - y)) by (field; lra). apply Rinv_lt_contravar; [|exact Bb].
      apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|exact W]. }
    assert (0 <= lambda * (c - p i)) by (apply Rmult_le_pos; lra).
    assert (y < focal_slope gamma c) by lra.
    assert (p i * y < p i * focal_slope gamma c) by (apply Rmult_lt_compat_l; lra).
    assert (y <= p i * y) by nra. lra. }
  assert (AC : a < c) by lra.
  destruct (IVT_interv (fun v => class_slope i v - y) a c) as [v [V E]]; try lra.
  - intros x X. apply (continuity_pt_minus (class_slope i) (fun _ => y)).
    + apply class_slope_continuous. lra.
    + apply continuity_pt_const. intros s t. reflexivity.
  - exists v. split; lra.
Qed.

(* the probability of a class at the common slope y; none where the truth has none *)
Definition class_at (i : nat) (y : R) : R :=
  match Compare_dec.lt_dec i n, Rlt_dec 0 (p i), Rlt_dec y 0 with
  | left h, left r, left k => proj1_sig (class_slope_onto i y h r k)
  | _, _, _ => 0
  end.

Lemma class_at_spec i y : (i < n)%nat -> 0 < p i -> y < 0 -> 0 < class_at i y < 1 /\ class_slope i (class_at i y) = y.
Proof.
  intros I Pi Y. unfold class_at. destruct (Compare_dec.lt_dec i n) as [h|h]; [|contradiction].
  destruct (Rlt_dec 0 (p i)) as [r|r]; [|contradiction]. destruct (Rlt_dec y 0) as [k|k]; [|contradiction].
  destruct (class_slope_onto i y h r k) as [v W]. exact W.
Qed.

Lemma class_at_none i y : (i < n)%nat -> ~ 0 < p i -> class_at i y = 0.
Proof.
  intros I Z. unfold class_at. destruct (Compare_dec.lt_dec i n); [|reflexivity]. destruct (Rlt_dec 0 (p i)); [contradiction|reflexivity].
Qed.

Lemma class_at_below i y v : (i < n)%nat -> y < 0 -> 0 < v < 1 -> y <= class_slope i v -> class_at i y <= v.
Proof.
  intros I Y W H. destruct (Rlt_dec 0 (p i)) as [Pi|Pi]; [|rewrite class_at_none by assumption; lra].
  destruct (class_at_spec i y I Pi Y) as [B E]. apply Rnot_lt_le. intro C.
  pose proof (class_slope_increasing i v (class_at i y) Pi ltac:(lra) C ltac:(lra)). lra.
Qed.

Lemma class_at_above i y v : (i < n)%nat -> 0 < p i -> y < 0 -> 0 < v < 1 -> class_slope i v <= y -> v <= class_at i y.
Proof.
  intros I Pi Y W H. destruct (class_at_spec i y I Pi Y) as [B E]. apply Rnot_lt_le. intro C.
  pose proof (class_slope_increasing i (class_at i y) v Pi ltac:(lra) C ltac:(lra)). lra.
Qed.

Lemma class_at_continuous i y : (i < n)%nat -> y < 0 -> continuity_pt (class_at i) y.
Proof.
  intros I Y. destruct (Rlt_dec 0 (p i)) as [Pi|Pi].
  2: { apply (continuity_pt_ext (fun _ => 0)); [intros x; rewrite class_at_none by assumption; reflexivity|].
       apply continuity_pt_const. intros x z. reflexivity. }
  intros eps He. destruct (class_at_spec i y I Pi Y) as [R E]. set (q := class_at i y) in *.
  pose (a := Rmax (q / 2) (q - eps / 2)). pose (b := Rmin ((q + 1) / 2) (q + eps / 2)).
  assert (Ha : 0 < a < q) by (split; [apply (Rlt_le_trans _ (q / 2)); [lra|apply Rmax_l]|unfold a; apply Rmax_lub_lt;
    lra]).
  assert (Hb : q < b < 1) by (split; [unfold b; apply Rmin_glb_lt; lra|apply (Rle_lt_trans _ ((q + 1) / 2));
    [apply Rmin_l|lra]]).
  assert (Ha2 : q - eps / 2 <= a) by apply Rmax_r. assert (Hb2 : b <= q + eps / 2) by apply Rmin_r.
  pose proof (class_slope_increasing i a q Pi ltac:(lra) ltac:(lra) ltac:(lra)) as A.
  pose proof (class_slope_increasing i q b Pi ltac:(lra) ltac:(lra) ltac:(lra)) as B.
  exists (Rmin (- y) (Rmin (y - class_slope i a) (class_slope i b - y))). split; [repeat apply Rmin_glb_lt; lra|].
  intros x [_ D]. unfold dist in *; simpl in *. unfold R_dist in *.
  pose proof (Rmin_l (- y) (Rmin (y - class_slope i a) (class_slope i b - y))).
  pose proof (Rmin_r (- y) (Rmin (y - class_slope i a) (class_slope i b - y))).
  pose proof (Rmin_l (y - class_slope i a) (class_slope i b - y)).
  pose proof (Rmin_r (y - class_slope i a) (class_slope i b - y)).
  assert (D0 : Rabs (x - y) < - y) by lra. assert (D1 : Rabs (x - y) < y - class_slope i a) by lra.
  assert (D2 : Rabs (x - y) < class_slope i b - y) by lra.
  apply Rabs_def2 in D0. apply Rabs_def2 in D1. apply Rabs_def2 in D2.
  pose proof (class_at_below i x b I ltac:(lra) ltac:(lra) ltac:(lra)).
  pose proof (class_at_above i x a I Pi ltac:(lra) ltac:(lra) ltac:(lra)).
  apply Rabs_def1; lra.
Qed.

(* a number below all of finitely many, and below a given one *)
Lemma below_all m (f : nat -> R) c : {d | d <= c /\ forall i, (i < m)%nat -> d <= f i}.
Proof.
  induction m.
  - exists c. split; [lra|]. intros i I. lia.
  - destruct IHm as [d [D H]]. exists (Rmin d (f m)). split; [eapply Rle_trans; [apply Rmin_l|exact D]|].
    intros i I. destruct (PeanoNat.Nat.eq_dec i m) as [->|Ne]; [apply Rmin_r|].
    eapply Rle_trans; [apply Rmin_l|]. apply H. lia.
Qed.

Lemma above_negatives m (f : nat -> R) : (forall i, (i < m)%nat -> f i < 0) -> {d | d < 0 /\ forall i, (i < m)%nat
  -> f i <= d}.
Proof.
  induction m; intros H.
  - exists (-1). split; [lra|]. intros i I. lia.
  - destruct IHm as [d [D K]]; [auto|]. exists (Rmax d (f m)). split; [apply Rmax_lub_lt; auto|].
    intros i I. destruct (PeanoNat.Nat.eq_dec i m) as [->|Ne]; [apply Rmax_r|].
    eapply Rle_trans; [apply K; lia|apply Rmax_l].
Qed.

Lemma l25_minimiser_exists_inside : exists q, minimises n (fcl n gamma lambda) p q.
Proof.
  assert (N1 : 2 <= INR n) by (change 2 with (INR 2); apply le_INR; lia).
  assert (B : 0 < / INR n < 1).
  { split; [apply Rinv_0_lt_compat; lra|]. apply (Rmult_lt_reg_r (INR n)); [lra|]. rewrite Rinv_l by lra. lra. }
  destruct (above_negatives n (fun i => if Rlt_dec 0 (p i) then class_slope i (p i) else -1)) as [high [Hh H]].
  { intros i I. destruct (Rlt_dec 0 (p i)) as [Pi|]; [|lra]. change (slope gamma lambda p p i < 0).
    assert (Bi : 0 < p i < 1) by (split; auto).
    rewrite gain_at_truth by exact Bi. pose proof (gain_pos gamma (p i) ltac:(lra) Bi). lra. }
  destruct (below_all n (fun i => class_slope i (/ INR n)) (high - 1)) as [low [Hl K]].
  destruct (IVT_gen (fun y => sum n (fun i => class_at i (Rmin y high))) low high 1) as [y0 [Y E]].
  - (* continuous everywhere, as y is capped below 0 *)
    intros y. apply (sum_continuous n (fun i y => class_at i (Rmin y high))). intros i I.
    apply (continuity_pt_comp (fun y => Rmin y high) (class_at i)).
    + intros eps He. exists eps. split; [exact He|]. intros x [_ D]. unfold dist in *; simpl in *. unfold R_dist in *.
      unfold Rmin. destruct (Rle_dec x high), (Rle_dec y high); apply Rabs_def2 in D; apply Rabs_def1; lra.
    + apply class_at_continuous; [exact I|]. eapply Rle_lt_trans; [apply Rmin_r|exact Hh].
  - rewrite (Rmin_left low high), (Rmin_left high high) by lra.
    assert (S0 : sum n (fun i => class_at i low) <= 1).
    { replace 1 with (sum n (fun _ => / INR n)) by (rewrite sum_const; field; lra). apply sum_le. intros i I.
      apply class_at_below; try assumption; [lra|]. apply K, I. }
    assert (S1 : 1 <= sum n (fun i => class_at i high)).
    { rewrite <- (proj2 P). apply sum_le. intros i I. destruct (Rlt_dec 0 (p i)) as [Pi|Pi].
      - apply class_at_above; try assumption; [split; auto|]. specialize (H i I). destruct (Rlt_dec 0 (p i)); [exact H|contradiction].
      - rewrite class_at_none by assumption. lra. }
    rewrite Rmin_left, Rmax_right by lra. lra.
  - rewrite Rmin_left, Rmax_right in Y by lra. rewrite (sum_ext n _ (fun i => class_at i y0)) in E
      by (intros; rewrite Rmin_left by lra; reflexivity).
    assert (Q : forall i, (i < n)%nat -> 0 < p i /\ 0 < class_at i y0 < 1 \/ p i = 0 /\ class_at i y0 = 0).
    { intros i I. destruct (Rlt_dec 0 (p i)) as [Pi|Pi].
      - left. split; [exact Pi|]. apply class_at_spec; [exact I|exact Pi|lra].
      - right. pose proof (proj1 P i I). split; [lra|]. apply class_at_none; assumption. }
    exists (fun i => class_at i y0). apply (slopes_suffice n gamma lambda p (fun i => class_at i y0) y0); try lra.
    + exact P.
    + split; [|exact E]. intros i I. destruct (Q i I); lra.
    + intros i I Pi. destruct (Q i I); lra.
    + intros i I. destruct (Q i I); lra.
    + intros i I Qi. destruct (Q i I) as [[Pi _]|]; [|lra]. apply class_at_spec; [exact I|exact Pi|lra].
    + intros i I Z. destruct (Q i I) as [|[Pi _]]; [lra|]. rewrite Pi, Z. lra.
Qed.
End Existence.

(* At every truth, inside the simplex or on its boundary, there is a minimiser.
   Faithfulness: related: what the theorems on minimisers speak of, so that they are nowhere vacuous. *)
Theorem l25_minimiser_exists_everywhere n gamma lambda p : 0 <= gamma -> 0 <= lambda -> simplex n p ->
  exists q, minimises n (fcl n gamma lambda) p q.
Proof.
  intros [G|<-] L P.
  - destruct (vertex_dec n p) as [[a [A E]]|F].
    + (* one class alone, with certainty *)
      assert (V : p a = 1) by (pose proof (simplex_le_1 n p a P A); lra).
      assert (O : forall i, (i < n)%nat -> 0 < p i -> i = a).
      { intros i I Pi. destruct (PeanoNat.Nat.eq_dec i a) as [D|D]; [exact D|exfalso].
        pose proof (simplex_vertex n p a i P A I (not_eq_sym D) V). lra. }
      exists p. apply l25_unbiased_iff; try assumption; [lra|]. intros i j I J Pi Pj. rewrite (O i I Pi), (O j J Pj). reflexivity.
    + apply l25_minimiser_exists_inside; try assumption. destruct n as [|[|n]]; [| |lia]; exfalso.
      * destruct P as [_ S]. simpl in S. lra.
      * pose proof (F 0%nat ltac:(lia)). destruct P as [_ S]. simpl in S. lra.
  - exists p. apply proper_minimises; [|exact P]. intros r q R Q S. apply l25_gamma_0_strictly_proper; assumption.
Qed.

Theorem l25_minimiser_exists n gamma lambda p : (2 <= n)%nat -> 0 <= gamma -> 0 <= lambda -> open_simplex n p ->
  exists q, open_simplex n q /\ minimises n (fcl n gamma lambda) p q.
Proof.
  intros N G L P. destruct (l25_minimiser_exists_everywhere n gamma lambda p G L (open_closed n p P)) as [q M].
  exists q. split; [|exact M]. destruct M as (Q & S & _). split; [|apply Q]. intros i I. apply S; [exact I|]. apply P, I.
Qed.

(* not vacuous: two classes, gamma = 2 and the truth (4/5, 1/5): there is a minimiser for every lambda >= 0, from some lambda on it is
   as the theorem says, and the term with 1 / lambda is not 0 *)
Example l25_bias_example : open_simplex 2 skewed /\ gain 2 (skewed 0) < mean_gain 2 2 skewed /\
  (forall lambda, 0 <= lambda -> exists q, minimises 2 (fcl 2 2 lambda) skewed q) /\
  exists C lambda_0, 0 < lambda_0 /\ forall lambda, lambda_0 <= lambda -> exists q, minimises 2 (fcl 2 2 lambda) skewed q /\
    Rabs ((q 0%nat - skewed 0) - (gain 2 (skewed 0) - mean_gain 2 2 skewed) / (2 * lambda)) <= C / (lambda * lambda).
Proof.
  assert (P : open_simplex 2 skewed).
  { split; [|simpl; field]. intros i I. destruct i as [|[|i]]; [simpl; lra|simpl; lra|lia]. }
  assert (M : forall lambda, 0 <= lambda -> exists q, minimises 2 (fcl 2 2 lambda) skewed q).
  { intros lambda L. destruct (l25_minimiser_exists 2 2 lambda skewed ltac:(lia) ltac:(lra) L P) as (q & _ & M). exists q. exact M. }
  split; [exact P|]. split; [|split; [exact M|]].
  - unfold mean_gain. simpl. pose proof (gain_skewed 2 ltac:(lra)). lra.
  - destruct (l25_bias 2 2 skewed ltac:(lia) ltac:(lra) P) as (C & l0 & L0 & B). exists C, l0. split; [exact L0|].
    intros lambda L. destruct (M lambda ltac:(lra)) as [q Q]. exists q. split; [exact Q|]. apply (B lambda q L Q). lia.
Qed.
