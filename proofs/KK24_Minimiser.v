(* KK24 section 3.1: which predictions focal loss can lead to at a point with true probability p. *)

From Coq Require Import Reals Lra Lia Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss BinaryMap KK24_Prop4 KK24_Prop2 KK24_Prop3.
Open Scope R_scope.

(* q minimises the expected focal loss of two classes with probabilities p and 1 - p *)
Definition minimises (gamma p q : R) : Prop :=
  forall r, 0 < r < 1 -> binary_risk (focal_loss gamma) p q <= binary_risk (focal_loss gamma) p r.

Lemma minimises_map gamma p q : 0 <= gamma -> 0 < p < 1 -> 0 < q < 1 -> minimises gamma p q <-> binary_map gamma q = p.
Proof.
  intros Hg Hp Hq.
  assert (R2 : forall x, binary_risk (focal_loss gamma) p x = risk 2 (focal_loss_n gamma) (pair p) (pair x)).
  { intros x. unfold binary_risk, risk, focal_loss_n. simpl. ring. }
  assert (Sup : supports 2 (pair q) (pair p)) by (intros [|i] _ _; simpl; lra).
  pose proof (kk24_map_recovers_truth 2 gamma (pair p) (pair q) Hg (pair_simplex p ltac:(lra)) (pair_simplex q ltac:(lra)) Sup) as T.
  assert (M : binary_map gamma q = focal_map_closed 2 gamma (pair q) 0).
  { rewrite <- binary_map_two_classes by lra. unfold binary_map_closed.
    destruct (Rle_dec q 0); [exfalso; lra|]. destruct (Rle_dec 1 q); [exfalso; lra|reflexivity]. }
  split.
  - intros H. rewrite M. change (focal_map_closed 2 gamma (pair q) 0 = pair p 0). apply T; [|lia].
    intros r Hr Sr. pose proof (Sr 0%nat ltac:(lia) ltac:(simpl; lra)) as R0. pose proof (Sr 1%nat ltac:(lia) ltac:(simpl; lra)) as R1.
    destruct Hr as [_ E]. simpl in E. specialize (H (r 0%nat) ltac:(lra)).
    rewrite !R2 in H. eapply Rle_trans; [exact H|]. right. apply sum_ext.
    intros [|[|i]] Hi; [reflexivity| |lia]. simpl. unfold focal_loss_n. simpl. do 2 f_equal. lra.
  - intros H r Hr. destruct T as [_ T]. specialize (T ltac:(
      intros [|[|i]] Hi; [rewrite <- M; exact H| |lia];
      pose proof (proj2 (map_simplex 2 gamma (pair q) Hg (pair_simplex q ltac:(lra)))) as E; simpl in E; rewrite <- M, H in E; simpl; lra)).
    specialize (T (pair r) (pair_simplex r ltac:(lra)) ltac:(intros [|i] _ _; simpl; lra)).
    rewrite !R2. exact T.
Qed.

Lemma map_above gamma s : 0 < gamma -> 0 < s -> s < map_in_logits gamma s.
Proof.
  intros Hg Hs. assert (map_in_logits gamma 0 - 0 < map_in_logits gamma s - s).
  { apply (increasing (fun t => map_in_logits gamma t - t) (fun t => gamma + 1 - logit_gap_slope gamma t - 1)); [exact Hs| |]; intros x Hx.
    - apply (is_derive_minus (map_in_logits gamma) (fun t => t)); [apply map_in_logits_derivative; lra|auto_derive; [exact I|ring]].
    - pose proof (logit_gap_slope_bounds gamma x Hg). lra. }
  unfold map_in_logits at 1 in H. rewrite logit_gap_0 in H. lra.
Qed.

Lemma logit_pos q : 1 / 2 < q < 1 -> 0 < logit q.
Proof.
  intros H. unfold logit. apply ln_pos. apply (Rmult_lt_reg_r (1 - q)); [lra|].
  replace (q / (1 - q) * (1 - q)) with q by (field; lra). lra.
Qed.

Lemma logit_less q r : 0 < q -> q < r -> r < 1 -> logit q < logit r.
Proof.
  intros Hq L Hr. apply Rnot_le_lt. intros H. apply sigmoid_le in H. rewrite !sigmoid_logit in H by lra. lra.
Qed.

(* Paper: 'by varying parameter gamma > 0, we could receive any value between 0.8 and 0.5', at p = 0.8.
   Faithfulness: exact, for every p between 1/2 and 1, and the converse too: no other value is received. *)
Theorem kk24_minimiser_range p q : 1 / 2 < p < 1 -> 0 < q < 1 ->
  (exists gamma, 0 < gamma /\ minimises gamma p q) <-> 1 / 2 < q < p.
Proof.
  intros Hp Hq. pose proof (logit_pos p Hp) as P.
  assert (E : forall g, 0 <= g -> binary_map g q = p <-> map_in_logits g (logit q) = logit p).
  { intros g Hg. assert (F : binary_map g q = sigmoid (map_in_logits g (logit q))).
    { rewrite <- (sigmoid_logit q Hq) at 1. apply FC_logits. lra. }
    rewrite F. split; intros H; [rewrite <- H; symmetry; apply logit_sigmoid|rewrite H; apply sigmoid_logit; lra]. }
  split.
  - intros [g [Hg H]]. apply minimises_map in H; [|lra|lra|exact Hq]. apply E in H; [|lra]. set (s := logit q) in *.
    assert (S : 0 < s).
    { apply Rnot_le_lt. intros L. destruct L as [L|L].
      - pose proof (map_above g (- s) Hg ltac:(lra)) as A. unfold map_in_logits in *. rewrite logit_gap_odd in A by lra. lra.
      - rewrite L in H. unfold map_in_logits in H. rewrite logit_gap_0 in H. lra. }
    pose proof (map_above g s Hg S) as A. rewrite H in A. rewrite <- (sigmoid_logit q Hq). fold s. split.
    + rewrite <- sigmoid_0. apply sigmoid_increasing. exact S.
    + rewrite <- (sigmoid_logit p) by lra. apply sigmoid_increasing. exact A.
  - intros [Q1 Q2]. pose proof (logit_pos q ltac:(lra)) as S. pose proof (logit_less q p ltac:(lra) Q2 ltac:(lra)) as L.
    set (s := logit q) in *. pose (G := logit p / s). assert (G0 : 0 < G) by (unfold G; apply Rdiv_lt_0_compat; lra).
    assert (Z : map_in_logits 0 s = s). { unfold map_in_logits, logit_gap. rewrite !Rmult_0_l, !Rplus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. ring. }
    destruct (IVT_interv (fun g => map_in_logits g s - logit p) 0 G) as [g [Hg H]]; [|exact G0|lra| |].
    + intros g Hg. pose proof (one_plus_u g s ltac:(lra)) as A. pose proof (one_plus_u g (- s) ltac:(lra)) as B.
      set (a := u s) in *. set (b := u (- s)) in *.
      apply (derive_continuity (fun g => map_in_logits g s - logit p) g (s - (a / (1 + g * a) - b / (1 + g * b)))).
      unfold map_in_logits, logit_gap. fold a b. generalize (logit p). intros lp. auto_derive.
      * repeat split; try lra. apply Rdiv_lt_0_compat; assumption.
      * field. lra.
    + pose proof (kk24_prop3_simple G s G0 S) as T. rewrite logit_FC in T by lra.
      assert (GS : G * s = logit p) by (unfold G; field; lra). unfold map_in_logits. lra.
    + assert (g <> 0). { intros Y. rewrite Y, Z in H. lra. }
      exists g. split; [lra|]. apply minimises_map; [lra|lra|exact Hq|]. apply E; [lra|]. lra.
Qed.

(* not vacuous: the paper's p = 0.8, and its 0.62 is received for some gamma *)
Example kk24_minimiser_062 : exists gamma, 0 < gamma /\ minimises gamma 0.8 0.62.
Proof. apply kk24_minimiser_range; lra. Qed.

(* The map extends continuously to [0, 1]: KK24 App. A.2 says 'defined on [0, 1]', where the formula divides by 0.
   Faithfulness: ours (kk24.prop2_ends), exact for gamma >= 0: near 0 the map is as small as one likes; at 1 by symmetry. *)
Lemma binary_map_mirror gamma q : 0 <= gamma -> 0 < q < 1 -> binary_map gamma (1 - q) = 1 - binary_map gamma q.
Proof.
  intros Hg H. rewrite !binary_map_weights by lra. replace (1 - (1 - q)) with q by ring.
  pose proof (weight_pos gamma q Hg H). pose proof (weight_pos gamma (1 - q) Hg ltac:(lra)). field. lra.
Qed.

(* Faithfulness: equivalent: 'the map sends 0 to 0 and 1 to 1', as the limits at both ends. *)
Theorem kk24_prop2_ends gamma eps : 0 <= gamma -> 0 < eps -> exists d, 0 < d < 1 /\
  forall q, 0 < q < d -> 0 < binary_map gamma q < eps /\ 1 - eps < binary_map gamma (1 - q) < 1.
Proof.
  intros Hg He. destruct (kk24_prop2 gamma Hg) as [_ [_ [Onto _]]].
  assert (C : forall x, 0 < x < 1 -> binary_map_closed gamma x = binary_map gamma x).
  { intros x Hx. unfold binary_map_closed. destruct (Rle_dec x 0); [exfalso; lra|]. destruct (Rle_dec 1 x); [exfalso; lra|reflexivity]. }
  pose (e := Rmin (1 / 2) eps). assert (E0 : 0 < e) by (unfold e; apply Rmin_glb_lt; lra).
  assert (E1 : e <= 1 / 2) by apply Rmin_l. assert (E2 : e <= eps) by apply Rmin_r.
  assert (Z : binary_map_closed gamma 0 = 0) by (unfold binary_map_closed; destruct (Rle_dec 0 0); [reflexivity|exfalso; lra]).
  assert (O : binary_map_closed gamma 1 = 1).
  { unfold binary_map_closed. destruct (Rle_dec 1 0); [exfalso; lra|]. destruct (Rle_dec 1 1); [reflexivity|exfalso; lra]. }
  destruct (Onto e ltac:(lra)) as [d [Hd D]].
  assert (Hd' : 0 < d < 1).
  { split; apply Rnot_le_lt; intros L; [assert (Y : d = 0) by lra|assert (Y : d = 1) by lra]; rewrite Y in D; lra. }
  exists d. split; [exact Hd'|]. intros q Hq. rewrite binary_map_mirror by lra.
  pose proof (binary_map_increasing gamma q d Hg ltac:(lra) ltac:(lra) ltac:(lra)) as A.
  pose proof (binary_map_increasing gamma 0 q Hg ltac:(lra) ltac:(lra) ltac:(lra)) as B.
  rewrite (C q) in A, B by lra. lra.
Qed.

(* On [0, 1], the ends by their limits, the map increases onto for -1 <= gamma < 0, too.
   Faithfulness: ours (kk24.prop2_negative), exact. *)
Theorem kk24_prop2_negative_closed gamma : -1 <= gamma < 0 ->
  (forall q, 0 <= q <= 1 -> 0 <= binary_map_closed gamma q <= 1) /\
  (forall q r, 0 <= q -> q < r -> r <= 1 -> binary_map_closed gamma q < binary_map_closed gamma r) /\
  (forall p, 0 <= p <= 1 -> exists q, 0 <= q <= 1 /\ binary_map_closed gamma q = p).
Proof.
  intros Hg. destruct (kk24_prop2_negative gamma Hg) as (Range & Inc & Onto).
  assert (Z : binary_map_closed gamma 0 = 0) by (unfold binary_map_closed; destruct (Rle_dec 0 0); [reflexivity|exfalso; lra]).
  assert (O : binary_map_closed gamma 1 = 1).
  { unfold binary_map_closed. destruct (Rle_dec 1 0); [exfalso; lra|]. destruct (Rle_dec 1 1); [reflexivity|exfalso; lra]. }
  assert (C : forall x, 0 < x < 1 -> binary_map_closed gamma x = binary_map gamma x).
  { intros x Hx. unfold binary_map_closed. destruct (Rle_dec x 0); [exfalso; lra|]. destruct (Rle_dec 1 x); [exfalso; lra|reflexivity]. }
  split; [|split].
  - intros q Hq. destruct (Req_dec q 0) as [->|N0]; [lra|]. destruct (Req_dec q 1) as [->|N1]; [lra|]. rewrite C by lra. specialize (Range q ltac:(lra)). lra.
  - intros q r [Hq|<-] L [Hr| ->].
    + rewrite !C by lra. apply Inc; lra.
    + rewrite O, C by lra. apply Range. lra.
    + rewrite Z, C by lra. apply Range. lra.
    + rewrite Z, O. lra.
  - intros p Hp. destruct (Req_dec p 0) as [->|N0]; [exists 0; lra|]. destruct (Req_dec p 1) as [->|N1]; [exists 1; lra|].
    destruct (Onto p ltac:(lra)) as [q [Q E]]. exists q. split; [lra|]. rewrite C by exact Q. exact E.
Qed.

(* Inside and at the ends: the map is continuous on [0, 1].
   Faithfulness: ours (kk24.prop2_ends), exact, with the limits at the ends of [kk24_prop2_ends]. *)
Theorem kk24_prop2_continuous gamma q eps : 0 <= gamma -> 0 <= q <= 1 -> 0 < eps -> exists d, 0 < d /\
  forall r, 0 <= r <= 1 -> Rabs (r - q) < d -> Rabs (binary_map_closed gamma r - binary_map_closed gamma q) < eps.
Proof.
  intros Hg Hq He. destruct (kk24_prop2 gamma Hg) as (Range & Inc & Onto & _). set (v := binary_map_closed gamma q).
  assert (V : 0 <= v <= 1) by (apply Range; exact Hq).
  assert (Le : forall x y, 0 <= x -> x <= y -> y <= 1 -> binary_map_closed gamma x <= binary_map_closed gamma y).
  { intros x y X L Y. destruct L as [L| ->]; [left; apply Inc; assumption|lra]. }
  assert (Up : exists d, 0 < d /\ forall r, 0 <= r <= 1 -> r < q + d -> binary_map_closed gamma r < v + eps).
  { destruct (Rlt_le_dec 1 (v + eps)) as [B|B].
    - exists 1. split; [lra|]. intros r Hr _. pose proof (Range r Hr). lra.
    - destruct (Onto (v + eps) ltac:(lra)) as [x [Hx X]]. exists (x - q). split.
      + apply Rnot_le_lt. intros L. pose proof (Le x q ltac:(lra) ltac:(lra) ltac:(lra)). fold v in H. lra.
      + intros r Hr L. rewrite <- X. apply Inc; lra. }
  assert (Down : exists d, 0 < d /\ forall r, 0 <= r <= 1 -> q - d < r -> v - eps < binary_map_closed gamma r).
  { destruct (Rlt_le_dec (v - eps) 0) as [B|B].
    - exists 1. split; [lra|]. intros r Hr _. pose proof (Range r Hr). lra.
    - destruct (Onto (v - eps) ltac:(lra)) as [x [Hx X]]. exists (q - x). split.
      + apply Rnot_le_lt. intros L. pose proof (Le q x ltac:(lra) ltac:(lra) ltac:(lra)). fold v in H. lra.
      + intros r Hr L. rewrite <- X. apply Inc; lra. }
  destruct Up as [a [A Up]]. destruct Down as [b [B Down]]. exists (Rmin a b). split; [apply Rmin_glb_lt; assumption|].
  intros r Hr D. pose proof (Rmin_l a b). pose proof (Rmin_r a b). apply Rabs_def2 in D.
  specialize (Up r Hr ltac:(lra)). specialize (Down r Hr ltac:(lra)). apply Rabs_def1; lra.
Qed.

Lemma focal_loss_less gamma q r : 0 <= gamma -> 0 < q -> q < r -> r < 1 -> focal_loss gamma r < focal_loss gamma q.
Proof.
  intros Hg Q L Hr. apply (decreasing (focal_loss gamma) (focal_slope gamma)); [exact L| |]; intros x Hx.
  - apply focal_loss_derivative. lra.
  - rewrite focal_slope_gain by lra. pose proof (gain_pos gamma x Hg ltac:(lra)).
    assert (0 < gain gamma x / x) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(* KK24 section 3.2 on Fig. 1: 'The proper part of the focal loss compared with a regular focal loss with the same gamma has lower
   loss values for predictions lower than 0.5 and higher loss otherwise', on the true class.
   Faithfulness: exact, and what 'otherwise' leaves out: at 1/2 and at 1 the two are equal. At 0 both are infinite. *)
Theorem kk24_proper_part_sides gamma p : 0 < gamma ->
  (0 < p < 1 / 2 -> proper_loss_1 gamma p < focal_loss gamma p) /\
  (1 / 2 < p < 1 -> focal_loss gamma p < proper_loss_1 gamma p) /\
  proper_loss_1 gamma (1 / 2) = focal_loss gamma (1 / 2) /\ proper_loss_1 gamma 1 = focal_loss gamma 1.
Proof.
  intros Hg. destruct (kk24_prop2 gamma ltac:(lra)) as (_ & Inc & _).
  assert (C : forall x, 0 < x < 1 -> binary_map_closed gamma x = binary_map gamma x).
  { intros x Hx. unfold binary_map_closed. destruct (Rle_dec x 0); [exfalso; lra|]. destruct (Rle_dec 1 x); [exfalso; lra|reflexivity]. }
  assert (Z : binary_map_closed gamma 0 = 0) by (unfold binary_map_closed; destruct (Rle_dec 0 0); [reflexivity|exfalso; lra]).
  assert (O : binary_map_closed gamma 1 = 1).
  { unfold binary_map_closed. destruct (Rle_dec 1 0); [exfalso; lra|]. destruct (Rle_dec 1 1); [reflexivity|exfalso; lra]. }
  assert (Above : forall x, 1 / 2 < x < 1 -> x < binary_map_closed gamma x).
  { intros x Hx. rewrite C by lra. pose proof (map_above gamma (logit x) Hg (logit_pos x Hx)) as A.
    apply sigmoid_increasing in A. rewrite sigmoid_logit in A by lra. unfold map_in_logits in A.
    rewrite <- FC_logits in A by lra. unfold FC in A. rewrite sigmoid_logit in A by lra. exact A. }
  assert (Below : forall x, 0 < x < 1 / 2 -> binary_map_closed gamma x < x).
  { intros x Hx. pose proof (Above (1 - x) ltac:(lra)) as A. rewrite C in A by lra. rewrite binary_map_mirror in A by lra.
    rewrite C by lra. lra. }
  assert (Half : binary_map_closed gamma (1 / 2) = 1 / 2).
  { rewrite C by lra. pose proof (binary_map_mirror gamma (1 / 2) ltac:(lra) ltac:(lra)) as M.
    replace (1 - 1 / 2) with (1 / 2) in M by field. lra. }
  assert (Same : forall x y, 0 <= x <= 1 -> 0 <= y <= 1 -> binary_map_closed gamma x = binary_map_closed gamma y -> x = y).
  { intros x y X Y E. destruct (Rtotal_order x y) as [L|[L|L]]; [|exact L|].
    - pose proof (Inc x y ltac:(lra) L ltac:(lra)). lra.
    - pose proof (Inc y x ltac:(lra) L ltac:(lra)). lra. }
  assert (Fixed : forall x, 0 <= x <= 1 -> binary_map_closed gamma x = x -> proper_loss_1 gamma x = focal_loss gamma x).
  { intros x X E. unfold proper_loss_1. f_equal. destruct (binary_inverse_spec gamma x ltac:(lra) X) as [R M].
    apply Same; [exact R|exact X|]. lra. }
  repeat split; [intros P|intros P|apply Fixed; [lra|exact Half]|apply Fixed; [lra|exact O]];
    destruct (binary_inverse_spec gamma p ltac:(lra) ltac:(lra)) as [R M]; unfold proper_loss_1;
    set (q := binary_inverse gamma p) in *.
  - assert (Q : p < q).
    { apply Rnot_le_lt. intros [L|L]; [pose proof (Inc q p ltac:(lra) L ltac:(lra))|rewrite L in M]; pose proof (Below p P); lra. }
    assert (q <> 1) by (intros E; rewrite E in M; lra). apply focal_loss_less; lra.
  - assert (Q : q < p).
    { apply Rnot_le_lt. intros [L|L]; [pose proof (Inc p q ltac:(lra) L ltac:(lra))|rewrite <- L in M]; pose proof (Above p P); lra. }
    assert (q <> 0) by (intros E; rewrite E in M; lra). apply focal_loss_less; lra.
Qed.
