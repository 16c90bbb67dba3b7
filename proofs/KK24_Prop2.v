(* KK24 Prop. 2: binary focal loss is a proper loss after a bijection of [0, 1]; the slope of the map in logits. *)

From Coq Require Import Reals Lra Lia Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight EntropyRatio BinaryMap KK24_Prop4.
Open Scope R_scope.

(* two classes as a vector *)
Definition pair (q : R) : nat -> R := fun i => match i with O => q | _ => 1 - q end.

Lemma pair_simplex q : 0 <= q <= 1 -> simplex 2 (pair q).
Proof. intros H. split; [intros [|i] _; simpl; lra|simpl; ring]. Qed.

Lemma pair_inside q : 0 < q < 1 -> forall i, (i < 2)%nat -> pair q i < 1.
Proof. intros H [|i] _; simpl; lra. Qed.

(* the printed formula of Prop. 2 is Eq. (1) for two classes *)
Lemma binary_map_weights g q : 0 <= g -> 0 < q < 1 -> binary_map g q = weight g q / (weight g q + weight g (1 - q)).
Proof.
  intros Hg H. pose proof (ln_neg q H) as L. pose proof (ln_neg (1 - q) ltac:(lra)) as L'.
  pose proof (Rpower_pos (1 - q) g) as A. pose proof (Rpower_pos q g) as B.
  assert (P : Rpower ((1 - q) / q) g = Rpower (1 - q) g / Rpower q g).
  { unfold Rpower. rewrite ln_div by lra. rewrite Rmult_minus_distr_l. unfold Rminus. rewrite exp_plus, exp_Ropp. reflexivity. }
  unfold binary_map, weight, gain, entropy_ratio. rewrite P. replace (1 - (1 - q)) with q by ring.
  assert (N : 0 < (1 - q) - g * q * ln q). { assert (0 <= g * q * - ln q) by (repeat apply Rmult_le_pos; lra). lra. }
  assert (D : 0 < q - g * (1 - q) * ln (1 - q)). { assert (0 <= g * (1 - q) * - ln (1 - q)) by (repeat apply Rmult_le_pos; lra). lra. }
  replace (q / (Rpower (1 - q) g * (1 + g * (- (q * ln q) / (1 - q))))) with
    (q * (1 - q) / (Rpower (1 - q) g * ((1 - q) - g * q * ln q))) by (field; lra).
  replace ((1 - q) / (Rpower q g * (1 + g * (- ((1 - q) * ln (1 - q)) / q)))) with
    (q * (1 - q) / (Rpower q g * (q - g * (1 - q) * ln (1 - q)))) by (field; lra).
  set (x := Rpower (1 - q) g) in *. set (y := Rpower q g) in *.
  set (m := 1 - q - g * q * ln q) in *. set (d := q - g * (1 - q) * ln (1 - q)) in *.
  assert (Q : 0 < q * (1 - q)) by (apply Rmult_lt_0_compat; lra).
  assert (0 < x * m) by (apply Rmult_lt_0_compat; lra). assert (0 < y * d) by (apply Rmult_lt_0_compat; lra).
  field. repeat split; try lra. apply Rgt_not_eq.
  assert (0 < q * (1 - q) * y * d) by (rewrite Rmult_assoc; apply Rmult_lt_0_compat; lra).
  assert (0 < q * (1 - q) * x * m) by (rewrite Rmult_assoc; apply Rmult_lt_0_compat; lra). nra.
Qed.

Lemma binary_map_two_classes g q : 0 <= g -> 0 <= q <= 1 -> binary_map_closed g q = focal_map_closed 2 g (pair q) 0.
Proof.
  intros Hg H. unfold binary_map_closed. destruct (Rle_dec q 0) as [A|A].
  { rewrite (map_vertex 2 g (pair q) 1 0 (pair_simplex q H)); simpl; try lra; lia. }
  destruct (Rle_dec 1 q) as [B|B].
  { rewrite (map_vertex 2 g (pair q) 0 0 (pair_simplex q H)); simpl; try lra; lia. }
  rewrite map_inside; [|exact Hg|apply pair_simplex; exact H|apply pair_inside; lra|lia].
  unfold total. simpl. rewrite !weight_closed_some by lra. rewrite Rplus_0_l. apply binary_map_weights; lra.
Qed.

(* the inverse of the map, KK24 section 3.2, and the proper part L*: of the positive class L*(p), of the negative L*(1 - p) *)
Definition binary_inverse (g p : R) : R := focal_map_inverse 2 g (pair p) 0.
Definition proper_loss_1 (g p : R) : R := focal_loss g (binary_inverse g p).
Definition proper_loss_0 (g p : R) : R := focal_loss g (1 - binary_inverse g p).

Lemma binary_inverse_spec g p : 0 <= g -> 0 <= p <= 1 ->
  0 <= binary_inverse g p <= 1 /\ binary_map_closed g (binary_inverse g p) = p.
Proof.
  intros Hg Hp. destruct (inverse_spec 2 g (pair p) Hg (pair_simplex p Hp)) as [S E]. unfold binary_inverse.
  assert (R : 0 <= focal_map_inverse 2 g (pair p) 0 <= 1) by (apply (simplex_le_1 2); [exact S|lia]).
  split; [exact R|]. rewrite binary_map_two_classes by assumption.
  rewrite <- (E 0%nat ltac:(lia)) at 2. unfold focal_map_closed. simpl.
  destruct S as [_ S]. simpl in S. replace (1 - focal_map_inverse 2 g (pair p) 0) with (focal_map_inverse 2 g (pair p) 1) by lra.
  reflexivity.
Qed.

Lemma binary_map_increasing g q r : 0 <= g -> 0 <= q -> q < r -> r <= 1 -> binary_map_closed g q < binary_map_closed g r.
Proof.
  intros Hg Hq L Hr.
  assert (In : forall x, 0 < x < 1 -> 0 < binary_map_closed g x < 1).
  { intros x Hx. rewrite binary_map_two_classes by lra. split.
    - apply map_positive; [exact Hg|apply pair_simplex; lra|lia|simpl; lra].
    - apply map_below_1; [exact Hg|apply pair_simplex; lra|apply pair_inside; exact Hx|lia]. }
  assert (Z : binary_map_closed g 0 = 0). { unfold binary_map_closed. destruct (Rle_dec 0 0); [reflexivity|exfalso; lra]. }
  assert (O : binary_map_closed g 1 = 1).
  { unfold binary_map_closed. destruct (Rle_dec 1 0); [exfalso; lra|]. destruct (Rle_dec 1 1); [reflexivity|exfalso; lra]. }
  destruct Hq as [Hq|<-]; destruct Hr as [Hr|Hr]; [|subst r| |subst r].
  - unfold binary_map_closed. destruct (Rle_dec q 0); [exfalso; lra|]. destruct (Rle_dec 1 q); [exfalso; lra|].
    destruct (Rle_dec r 0); [exfalso; lra|]. destruct (Rle_dec 1 r); [exfalso; lra|].
    rewrite !binary_map_weights by lra.
    pose proof (weight_increasing g q r Hg Hq L Hr) as A.
    pose proof (weight_increasing g (1 - r) (1 - q) Hg ltac:(lra) ltac:(lra) ltac:(lra)) as B.
    pose proof (weight_pos g q Hg ltac:(lra)). pose proof (weight_pos g (1 - r) Hg ltac:(lra)).
    set (a := weight g q) in *. set (b := weight g r) in *. set (c := weight g (1 - q)) in *. set (d := weight g (1 - r)) in *.
    apply (Rmult_lt_reg_r ((a + c) * (b + d))); [apply Rmult_lt_0_compat; lra|].
    replace (a / (a + c) * ((a + c) * (b + d))) with (a * (b + d)) by (field; lra).
    replace (b / (b + d) * ((a + c) * (b + d))) with (b * (a + c)) by (field; lra). nra.
  - rewrite O. apply In. lra.
  - rewrite Z. apply In. lra.
  - rewrite Z, O. lra.
Qed.

(* Paper: 'Let L(q, y) be a binary focal loss parametrized with some gamma > 0. Then it can be decomposed into a bijective
   function p-hat: [0, 1] -> [0, 1] and a proper loss L*: [0, 1] x {0, 1} -> R such that L*(q, y) = L(p-hat^-1(q), y)',
   p-hat as printed. Faithfulness: exact, for every real gamma >= 0, and more: p-hat increases and L* is strictly proper.
   [binary_map_closed] is the printed formula on (0, 1) and its limits at 0 and 1, where the formula divides by 0.
   Where p' gives no probability to a class that p can draw, the paper's risk is infinite: the two implications leave it out. *)
Theorem kk24_prop2 gamma : 0 <= gamma ->
  (* a bijection of [0, 1], increasing *)
  (forall q, 0 <= q <= 1 -> 0 <= binary_map_closed gamma q <= 1) /\
  (forall q r, 0 <= q -> q < r -> r <= 1 -> binary_map_closed gamma q < binary_map_closed gamma r) /\
  (forall p, 0 <= p <= 1 -> exists q, 0 <= q <= 1 /\ binary_map_closed gamma q = p) /\
  (* focal loss is L* after it *)
  (forall q, 0 <= q <= 1 -> focal_loss gamma q = proper_loss_1 gamma (binary_map_closed gamma q) /\
                            focal_loss gamma (1 - q) = proper_loss_0 gamma (binary_map_closed gamma q)) /\
  (* L* is strictly proper *)
  (forall p p', 0 <= p <= 1 -> 0 <= p' <= 1 -> (0 < p -> 0 < p') -> (p < 1 -> p' < 1) ->
     let risk := fun x => p * proper_loss_1 gamma x + (1 - p) * proper_loss_0 gamma x in
     risk p <= risk p' /\ (risk p' = risk p -> p' = p)).
Proof.
  intros Hg.
  assert (Range : forall q, 0 <= q <= 1 -> 0 <= binary_map_closed gamma q <= 1).
  { intros q Hq. rewrite binary_map_two_classes by assumption.
    apply (simplex_le_1 2); [apply map_simplex; [exact Hg|apply pair_simplex; exact Hq]|lia]. }
  split; [exact Range|].
  split; [intros q r; apply binary_map_increasing; exact Hg|].
  split.
  { intros p Hp. exists (binary_inverse gamma p). apply binary_inverse_spec; assumption. }
  split.
  - assert (Inv : forall q, 0 <= q <= 1 -> binary_inverse gamma (binary_map_closed gamma q) = q).
    { intros q Hq. destruct (binary_inverse_spec gamma _ Hg (Range q Hq)) as [A B].
      set (x := binary_inverse gamma (binary_map_closed gamma q)) in *.
      destruct (Rtotal_order x q) as [L|[E|L]]; [|exact E|].
      - pose proof (binary_map_increasing gamma x q Hg ltac:(lra) L ltac:(lra)). lra.
      - pose proof (binary_map_increasing gamma q x Hg ltac:(lra) L ltac:(lra)). lra. }
    intros q Hq. unfold proper_loss_1, proper_loss_0. rewrite Inv by exact Hq. split; reflexivity.
  - intros p p' Hp Hp' S1 S0 risk.
    destruct (kk24_prop4 2 gamma Hg) as [_ [SP _]].
    assert (S : supports 2 (pair p') (pair p)).
    { intros [|[|i]] Hi P; simpl in *; [auto|apply Rlt_Rminus, S0; lra|lia]. }
    specialize (SP (pair p) (pair p') (pair_simplex p Hp) (pair_simplex p' Hp') S).
    assert (R : forall x, 0 <= x <= 1 -> Focal.risk 2 (proper_part 2 gamma) (pair p) (pair x) = risk x).
    { intros x Hx. unfold Focal.risk, proper_part, risk, proper_loss_1, proper_loss_0, binary_inverse. simpl.
      destruct (inverse_spec 2 gamma (pair x) Hg (pair_simplex x Hx)) as [[_ T] _]. simpl in T.
      replace (1 - focal_map_inverse 2 gamma (pair x) 0) with (focal_map_inverse 2 gamma (pair x) 1) by lra. ring. }
    rewrite !R in SP by assumption. destruct SP as [M U]. split; [exact M|].
    intros E. exact (U E 0%nat ltac:(lia)).
Qed.

(* Faithfulness: ours, sharpens KK24 Prop. 2 (the ledger's kk24.prop2_slope), exact. *)
Theorem kk24_prop2_slope gamma s : 0 < gamma ->
  exists d, is_derive (fun t => logit (FC gamma t)) s d /\ Rmax 1 gamma < d /\ d < gamma + 1.
Proof.
  intros H. exists (gamma + 1 - logit_gap_slope gamma s).
  pose proof (logit_gap_slope_bounds gamma s H) as [A [B C]]. split; [|split; [apply Rmax_lub_lt; lra|lra]].
  apply (is_derive_ext (fun t => (gamma + 1) * t - logit_gap gamma t)).
  { intros t. symmetry. apply logit_FC. lra. }
  apply (is_derive_minus (fun t => (gamma + 1) * t) (logit_gap gamma)).
  - auto_derive; [exact I|ring].
  - apply logit_gap_derivative. lra.
Qed.

(* KK24 section 3.2: 'technically, negative gamma could also be plugged into the calibration map'. For -1 <= gamma < 0 the map is
   still an increasing bijection of (0, 1). Faithfulness: ours (kk24.prop2_negative), exact. *)
Lemma logit_gap_slope_negative g s : -1 <= g < 0 -> logit_gap_slope g s < 0.
Proof.
  intros H. unfold logit_gap_slope.
  assert (P : forall t, 0 < - (g * (u t - sigmoid t) / (1 + g * u t))).
  { intros t. pose proof (u_range t). pose proof (one_plus_u g t ltac:(lra)) as A.
    replace (- (g * (u t - sigmoid t) / (1 + g * u t))) with (- g * (u t - sigmoid t) / (1 + g * u t)) by (field; lra).
    apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|exact A]. }
  pose proof (P s). pose proof (P (- s)). lra.
Qed.

Definition map_in_logits (g s : R) : R := (g + 1) * s - logit_gap g s.

Lemma map_in_logits_derivative g s : -1 <= g -> is_derive (map_in_logits g) s (g + 1 - logit_gap_slope g s).
Proof.
  intros H. unfold map_in_logits. apply (is_derive_minus (fun t => (g + 1) * t) (logit_gap g)).
  - auto_derive; [exact I|ring].
  - apply logit_gap_derivative. exact H.
Qed.

Lemma map_in_logits_large g y : -1 <= g < 0 -> 0 < y -> exists s, 0 < s /\ y < map_in_logits g s.
Proof.
  intros Hg Hy. destruct (Req_dec g (-1)) as [->|N].
  - exists (y + 2). split; [lra|]. unfold map_in_logits.
    set (s := y + 2). pose proof (u_range s) as [U1 U2]. pose proof (u_sqrt (- s)) as W.
    assert (Hs : sigmoid (- s) < 1 / 4).
    { unfold sigmoid. rewrite Ropp_involutive. pose proof (exp_ineq1 s ltac:(unfold s; lra)) as X.
      assert (E4 : 4 < 1 + exp s) by (unfold s in *; lra).
      unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_lt_contravar; lra. }
    assert (V : u (- s) < 1 / 2).
    { apply (Rlt_trans _ _ _ W). apply (Rlt_le_trans _ (sqrt (1 / 4))).
      - apply sqrt_lt_1; [apply Rlt_le, sigmoid_range|lra|exact Hs].
      - right. replace (1 / 4) with (1 / 2 * (1 / 2)) by field. apply sqrt_square. lra. }
    pose proof (u_pos (- s)) as V0.
    assert (D : 1 - sigmoid s < exp (- s)).
    { rewrite one_minus_sigmoid. pose proof (sigmoid_range s). pose proof (exp_pos (- s)). nra. }
    assert (L : logit_gap (-1) s < - (s - 1)); [|unfold s in *; lra].
    unfold logit_gap. rewrite <- (ln_exp (- (s - 1))).
    apply ln_increasing; [apply Rdiv_lt_0_compat; lra|].
    apply (Rmult_lt_reg_r (1 + -1 * u (- s))); [lra|].
    replace ((1 + -1 * u s) / (1 + -1 * u (- s)) * (1 + -1 * u (- s))) with (1 + -1 * u s) by (field; lra).
    replace (- (s - 1)) with (- s + 1) by ring. rewrite exp_plus. pose proof (exp_pos (- s)) as M.
    pose proof (exp_ineq1 1 ltac:(lra)) as E2.
    assert (exp (- s) * 1 < exp (- s) * exp 1 * (1 + -1 * u (- s))); [|lra].
    rewrite Rmult_assoc. apply Rmult_lt_compat_l; [exact M|]. nra.
  - assert (P : 0 < g + 1) by lra. exists ((y + 1) / (g + 1)).
    assert (Hs : 0 < (y + 1) / (g + 1)) by (apply Rdiv_lt_0_compat; lra). split; [exact Hs|]. unfold map_in_logits.
    assert (logit_gap g ((y + 1) / (g + 1)) < logit_gap g 0).
    { apply (decreasing (logit_gap g) (logit_gap_slope g)); [exact Hs| |]; intros x Hx.
      - apply logit_gap_derivative. lra.
      - apply logit_gap_slope_negative. lra. }
    rewrite logit_gap_0 in H. replace ((g + 1) * ((y + 1) / (g + 1))) with (y + 1) by (field; lra). lra.
Qed.

(* Faithfulness: ours, exact: the map is a bijection of (0, 1) for gamma in [-1, 0), too. *)
Theorem kk24_prop2_negative gamma : -1 <= gamma < 0 ->
  (forall q, 0 < q < 1 -> 0 < binary_map gamma q < 1) /\
  (forall q r, 0 < q -> q < r -> r < 1 -> binary_map gamma q < binary_map gamma r) /\
  (forall p, 0 < p < 1 -> exists q, 0 < q < 1 /\ binary_map gamma q = p).
Proof.
  intros Hg.
  assert (E : forall q, 0 < q < 1 -> binary_map gamma q = sigmoid (map_in_logits gamma (logit q))).
  { intros q Hq. rewrite <- (sigmoid_logit q Hq) at 1. apply FC_logits. lra. }
  assert (Inc : forall s t, s < t -> map_in_logits gamma s < map_in_logits gamma t).
  { intros s t L. apply (increasing (map_in_logits gamma) (fun x => gamma + 1 - logit_gap_slope gamma x)); [exact L| |]; intros x Hx.
    - apply map_in_logits_derivative. lra.
    - pose proof (logit_gap_slope_negative gamma x Hg). lra. }
  split; [|split].
  - intros q Hq. rewrite E by exact Hq. apply sigmoid_range.
  - intros q r Hq L Hr. rewrite !E by lra. apply sigmoid_increasing, Inc. unfold logit.
    apply ln_increasing; [apply Rdiv_lt_0_compat; lra|].
    apply (Rmult_lt_reg_r ((1 - q) * (1 - r))); [apply Rmult_lt_0_compat; lra|].
    replace (q / (1 - q) * ((1 - q) * (1 - r))) with (q * (1 - r)) by (field; lra).
    replace (r / (1 - r) * ((1 - q) * (1 - r))) with (r * (1 - q)) by (field; lra). lra.
  - intros p Hp. destruct (map_in_logits_large gamma (Rabs (logit p) + 1) Hg) as [a [Ha A]].
    { pose proof (Rabs_pos (logit p)). lra. }
    assert (Odd : map_in_logits gamma (- a) = - map_in_logits gamma a).
    { unfold map_in_logits. rewrite logit_gap_odd by lra. ring. }
    pose proof (Rle_abs (logit p)) as P1. pose proof (Rle_abs (- logit p)) as P2. rewrite Rabs_Ropp in P2.
    destruct (IVT_interv (fun s => map_in_logits gamma s - logit p) (- a) a) as [s [Hs Z]]; try lra.
    { intros x Hx. apply (continuity_pt_minus (map_in_logits gamma) (fun _ => logit p)).
      - apply (derive_continuity (map_in_logits gamma) x (gamma + 1 - logit_gap_slope gamma x)), map_in_logits_derivative. lra.
      - apply continuity_pt_const. intros z t. reflexivity. }
    exists (sigmoid s). split; [apply sigmoid_range|]. rewrite E by apply sigmoid_range. rewrite logit_sigmoid.
    replace (map_in_logits gamma s) with (logit p) by lra. apply sigmoid_logit. exact Hp.
Qed.

(* not vacuous: for gamma = 2 the map raises 3/4, so L* is another loss than focal loss *)
Example kk24_prop2_example : 3 / 4 < binary_map 2 (3 / 4).
Proof.
  rewrite <- (sigmoid_logit (3 / 4)) at 2 by lra. change (3 / 4 < FC 2 (logit (3 / 4))). rewrite FC_logits by lra.
  rewrite <- (sigmoid_logit (3 / 4)) at 1 by lra. apply sigmoid_increasing.
  assert (L : 0 < logit (3 / 4)). { unfold logit. replace (3 / 4 / (1 - 3 / 4)) with 3 by field. apply ln_pos. lra. }
  set (s := logit (3 / 4)) in *.
  assert (map_in_logits 2 0 - 0 < map_in_logits 2 s - s).
  { apply (increasing (fun t => map_in_logits 2 t - t) (fun t => 2 + 1 - logit_gap_slope 2 t - 1)); [exact L| |]; intros x Hx.
    - apply (is_derive_minus (map_in_logits 2) (fun t => t)); [apply map_in_logits_derivative; lra|auto_derive; [exact I|ring]].
    - pose proof (logit_gap_slope_bounds 2 x ltac:(lra)). lra. }
  unfold map_in_logits at 1 in H. rewrite logit_gap_0 in H. unfold map_in_logits in H. lra.
Qed.
