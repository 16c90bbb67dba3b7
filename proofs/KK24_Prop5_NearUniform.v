(* KK24 Prop. 5 next to the uniform distribution: whether the top probability falls depends on the side of p* that 1/n is on. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Gain KK24_Prop4 Confidence M20_Threshold.
Open Scope R_scope.

(* p* as in [m20_unimodal]: the gain rises before it and falls after it *)
Definition is_p_star (gamma p_star : R) : Prop := 0 < p_star < 1 /\
  (forall p, 0 < p < p_star -> 0 < Derive (gain gamma) p) /\ (forall p, p_star < p < 1 -> Derive (gain gamma) p < 0).

Lemma gain_derive gamma p : 0 < p < 1 -> is_derive (gain gamma) p (Derive (gain gamma) p).
Proof. intros P. apply Derive_correct. eexists. apply m20_gain_slope. exact P. Qed.

Lemma gain_rises gamma s p r : is_p_star gamma s -> 0 < p -> p < r -> r < s -> gain gamma p < gain gamma r.
Proof.
  intros (S & U & _) P L R. apply (increasing_open (gain gamma) (Derive (gain gamma)) 0 s); try assumption.
  intros x X. apply gain_derive. lra.
Qed.

Lemma gain_falls_after gamma s p r : is_p_star gamma s -> s < p -> p < r -> r < 1 -> gain gamma r < gain gamma p.
Proof.
  intros (S & _ & V) P L R. assert (- gain gamma p < - gain gamma r); [|lra].
  apply (increasing_open (fun x => - gain gamma x) (fun x => - Derive (gain gamma) x) s 1); try assumption; intros x X.
  - apply (is_derive_opp (gain gamma)), gain_derive. lra.
  - specialize (V x X). lra.
Qed.

(* Faithfulness: ours (kk24.prop5_near_uniform), exact, for every real gamma > 0 and n >= 2: 'next to' is within some distance d
   in every class. It falls strictly at every such distribution but the uniform one, which stays. *)
Theorem kk24_prop5_near_uniform gamma : 0 < gamma -> exists p_star, is_p_star gamma p_star /\
  forall n, (2 <= n)%nat ->
    (1 / INR n < p_star -> exists d, 0 < d /\ forall q j, simplex n q -> predicted n q j ->
       (forall i, (i < n)%nat -> Rabs (q i - 1 / INR n) < d) -> (exists i, (i < n)%nat /\ q i <> 1 / INR n) ->
       focal_map_closed n gamma q j < q j) /\
    (p_star < 1 / INR n -> exists d, 0 < d /\ forall q j, simplex n q -> predicted n q j ->
       (forall i, (i < n)%nat -> Rabs (q i - 1 / INR n) < d) -> q j <= focal_map_closed n gamma q j).
Proof.
  intros G. destruct (m20_unimodal gamma G) as [s S]. exists s. split; [exact S|]. intros n Hn.
  assert (N2 : 2 <= INR n) by (change 2 with (INR 2); apply le_INR; exact Hn).
  assert (U : 0 < 1 / INR n <= 1 / 2).
  { split; [apply Rdiv_lt_0_compat; lra|]. unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; lra. }
  set (m := 1 / INR n) in *. assert (NM : INR n * m = 1) by (unfold m; field; lra).
  assert (S01 : 0 < s < 1) by apply S. split; intros L.
  - exists (Rmin m (s - m)). split; [apply Rmin_glb_lt; lra|]. intros q j Q [Hj P] Near [i [Hi Ni]].
    assert (R : forall k, (k < n)%nat -> 0 < q k < s).
    { intros k Hk. specialize (Near k Hk). pose proof (Rmin_l m (s - m)). pose proof (Rmin_r m (s - m)).
      apply Rabs_def2 in Near. lra. }
    assert (Low : exists k, (k < n)%nat /\ q k < q j).
    { apply Classical_Prop.NNPP. intros H.
      assert (E : forall k, (k < n)%nat -> q k = q j).
      { intros k Hk. destruct (P k Hk) as [A|A]; [|exact A]. exfalso. apply H. exists k. split; assumption. }
      pose proof (proj2 Q) as T. rewrite (sum_ext n q (fun _ => q j) E), sum_const in T.
      apply Ni. rewrite (E i Hi). apply (Rmult_eq_reg_l (INR n)); lra. }
    destruct Low as [k [Hk Lk]]. apply (map_lowers_top n gamma q j k); [lra|exact Q|exact Hj| | |exact Hk|].
    + intros l Hl. specialize (R l Hl). lra.
    + intros l Hl. destruct (P l Hl) as [A|A]; [|rewrite A; lra]. pose proof (R l Hl). pose proof (R j Hj).
      apply Rlt_le, (gain_rises gamma s); [exact S|lra|exact A|lra].
    + pose proof (R k Hk). pose proof (R j Hj). apply (gain_rises gamma s); [exact S|lra|exact Lk|lra].
  - exists (Rmin (1 / 2) (m - s)). split; [apply Rmin_glb_lt; lra|]. intros q j Q [Hj P] Near.
    assert (R : forall k, (k < n)%nat -> s < q k < 1).
    { intros k Hk. specialize (Near k Hk). pose proof (Rmin_l (1 / 2) (m - s)). pose proof (Rmin_r (1 / 2) (m - s)).
      apply Rabs_def2 in Near. lra. }
    apply map_keeps_top; [lra|exact Q|exact Hj| | |].
    + intros l Hl. apply R. exact Hl.
    + specialize (R j Hj). lra.
    + intros l Hl _. destruct (P l Hl) as [A|A]; [|rewrite A; lra]. pose proof (R l Hl). pose proof (R j Hj).
      apply Rlt_le, (gain_falls_after gamma s); [exact S|lra|exact A|lra].
Qed.

(* not vacuous: gamma = 1 and 100 classes, one of them at 0.0199 *)
Example kk24_prop5_near_uniform_moves : let q := one_and_rest (1 / 100 + 99 / 10000) (1 / 100 - 1 / 10000) in
  simplex 100 q /\ predicted 100 q 0 /\ exists i, (i < 100)%nat /\ q i <> 1 / INR 100.
Proof.
  intros q. assert (H : INR 100 = 100) by (rewrite INR_IZR_INZ; reflexivity).
  assert (I99 : INR 99 = 99) by (rewrite INR_IZR_INZ; reflexivity).
  split; [apply one_and_rest_simplex; [lra|lra|rewrite I99; lra]|]. split; [apply (one_and_rest_predicted 99); lra|].
  exists 0%nat. split; [lia|]. rewrite H. simpl. lra.
Qed.
