(* The weight w = - 1 / L' of the focal map as a function onto (0, infinity), and its inverse. *)

From Coq Require Import Reals Lra Lia Psatz Ranalysis5.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss.
Open Scope R_scope.

Lemma weight_continuous g q : 0 <= g -> 0 < q < 1 -> continuity_pt (weight g) q.
Proof.
  intros Hg H. pose proof (gain_pos g q Hg H) as P. unfold gain, entropy_ratio, Rpower in P.
  assert (E : ex_derive (weight g) q).
  { unfold weight, gain, entropy_ratio, Rpower. auto_derive.
    repeat split; try lra. replace (1 + - q) with (1 - q) by ring.
    apply Rgt_not_eq. unfold Rdiv in P. exact P. }
  destruct E as [d D]. apply (derive_continuity (weight g) q d D).
Qed.

Lemma weight_gamma_0 q : 0 < q < 1 -> weight 0 q = q.
Proof. intros H. unfold weight, gain, Rpower. rewrite Rmult_0_l, exp_0. field. Qed.

(* small at 0 *)
Lemma weight_small g y : 0 <= g -> 0 < y -> {a | 0 < a <= 1 / 2 /\ weight g a < y}.
Proof.
  intros Hg Hy. pose (k := Rpower (1 / 2) g). assert (K : 0 < k) by apply Rpower_pos.
  pose (a := Rmin (1 / 2) (y * k / 2)). exists a.
  assert (Ha : 0 < a) by (unfold a; apply Rmin_glb_lt; [lra|]; assert (0 < y * k) by (apply Rmult_lt_0_compat; lra); lra).
  assert (Ha2 : a <= 1 / 2) by apply Rmin_l. assert (Ha3 : a <= y * k / 2) by apply Rmin_r.
  split; [lra|]. unfold weight.
  pose proof (gain_pos g a Hg ltac:(lra)) as P.
  assert (B : k <= gain g a).
  { unfold gain. pose proof (entropy_ratio_pos a ltac:(lra)) as E.
    assert (L : k <= Rpower (1 - a) g).
    { unfold k. apply Rle_Rpower_l; lra. }
    assert (0 <= Rpower (1 - a) g * (g * entropy_ratio a)).
    { apply Rmult_le_pos; [apply Rlt_le, Rpower_pos|apply Rmult_le_pos; lra]. }
    lra. }
  apply (Rmult_lt_reg_r (gain g a)); [exact P|]. replace (a / gain g a * gain g a) with a by (field; lra).
  assert (y * k <= y * gain g a) by (apply Rmult_le_compat_l; lra).
  assert (0 < y * k) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(* large at 1 *)
Lemma weight_large g y : 0 < g -> 0 < y -> {b | 1 / 2 < b < 1 /\ y < weight g b}.
Proof.
  intros Hg Hy. pose (z := 1 / (4 * (1 + g) * (y + 1))).
  assert (Hz : 0 < z) by (unfold z; apply Rdiv_lt_0_compat; [lra|]; apply Rmult_lt_0_compat; lra).
  assert (Hz' : z * ((1 + g) * y) < 1 / 2).
  { assert (z * (4 * (1 + g) * (y + 1)) = 1) by (unfold z; field; lra).
    assert (0 < z * (1 + g)) by (apply Rmult_lt_0_compat; lra). nra. }
  (* e^g' < z for 1 - b = exp (- K) *)
  pose (K := Rmax 1 (- ln z / g)). exists (1 - exp (- K)).
  assert (K1 : 1 <= K) by apply Rmax_l. assert (K2 : - ln z / g <= K) by apply Rmax_r.
  assert (E : exp (- K) < 1 / 2).
  { rewrite exp_Ropp. pose proof (exp_ineq1 1 ltac:(lra)) as A.
    assert (exp 1 <= exp K). { destruct (Req_dec 1 K) as [<-|N]; [lra|]. apply Rlt_le, exp_increasing. lra. }
    replace (1 / 2) with (/ 2) by field. apply Rinv_lt_contravar; [|lra]. apply Rmult_lt_0_compat; lra. }
  pose proof (exp_pos (- K)) as E0. split; [lra|].
  set (b := 1 - exp (- K)). assert (Hb : 1 / 2 < b < 1) by (unfold b; lra).
  pose proof (gain_pos g b ltac:(lra) ltac:(lra)) as P.
  assert (G : gain g b <= z * (1 + g)).
  { unfold gain. assert (L : Rpower (1 - b) g <= z).
    { unfold Rpower. replace (1 - b) with (exp (- K)) by (unfold b; ring). rewrite ln_exp.
      rewrite <- (exp_ln z) by exact Hz.
      assert (g * - K <= ln z).
      { apply (Rmult_le_compat_l g) in K2; [|lra]. replace (g * (- ln z / g)) with (- ln z) in K2 by (field; lra). lra. }
      destruct H as [H|H]; [apply Rlt_le, exp_increasing; exact H|rewrite H; lra]. }
    pose proof (entropy_ratio_lt_1 b ltac:(lra)). pose proof (entropy_ratio_pos b ltac:(lra)).
    apply Rmult_le_compat; [apply Rlt_le, Rpower_pos| |exact L|].
    - assert (0 <= g * entropy_ratio b) by (apply Rmult_le_pos; lra). lra.
    - assert (g * entropy_ratio b <= g * 1) by (apply Rmult_le_compat_l; lra). lra. }
  unfold weight. apply (Rmult_lt_reg_r (gain g b)); [exact P|]. replace (b / gain g b * gain g b) with b by (field; lra).
  assert (y * gain g b <= y * (z * (1 + g))) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Lemma weight_onto g y : 0 < g -> 0 < y -> {q | 0 < q < 1 /\ weight g q = y}.
Proof.
  intros Hg Hy. destruct (weight_small g y ltac:(lra) Hy) as [a [Ha A]]. destruct (weight_large g y Hg Hy) as [b [Hb B]].
  destruct (IVT_interv (fun q => weight g q - y) a b) as [q [Hq E]]; try lra.
  - intros x Hx. apply (continuity_pt_minus (weight g) (fun _ => y)).
    + apply weight_continuous; lra.
    + apply continuity_pt_const. intros s t. reflexivity.
  - exists q. split; lra.
Qed.

(* the inverse of the weight, 0 on what is not positive *)
Section Inverse.
Variable g : R.
Hypothesis Hg : 0 < g.

Definition unweight (y : R) : R :=
  match Rlt_dec 0 y with left h => proj1_sig (weight_onto g y Hg h) | right _ => 0 end.

Lemma unweight_spec y : 0 < y -> 0 < unweight y < 1 /\ weight g (unweight y) = y.
Proof.
  intros H. unfold unweight. destruct (Rlt_dec 0 y) as [h|h]; [|contradiction].
  destruct (weight_onto g y Hg h) as [q Q]. exact Q.
Qed.

Lemma unweight_0 : unweight 0 = 0.
Proof. unfold unweight. destruct (Rlt_dec 0 0) as [h|h]; [exfalso; lra|reflexivity]. Qed.

Lemma unweight_range y : 0 <= y -> 0 <= unweight y < 1.
Proof.
  intros [H|E].
  - destruct (unweight_spec y H) as [[A B] _]. split; lra.
  - rewrite <- E, unweight_0. split; lra.
Qed.

(* unweight y <= q where y <= weight q *)
Lemma unweight_below y q : 0 <= y -> 0 < q < 1 -> y <= weight g q -> unweight y <= q.
Proof.
  intros [H|<-] Hq L; [|rewrite unweight_0; apply Rlt_le, Hq]. destruct (unweight_spec y H) as [R E].
  destruct (Rle_lt_dec (unweight y) q) as [A|A]; [exact A|exfalso].
  pose proof (weight_increasing g q (unweight y) ltac:(lra) ltac:(lra) A ltac:(lra)). lra.
Qed.

Lemma unweight_above y q : 0 < q < 1 -> weight g q <= y -> q <= unweight y.
Proof.
  intros Hq L. pose proof (weight_pos g q ltac:(lra) Hq) as P. destruct (unweight_spec y ltac:(lra)) as [R E].
  destruct (Rle_lt_dec q (unweight y)) as [A|A]; [exact A|exfalso].
  pose proof (weight_increasing g (unweight y) q ltac:(lra) ltac:(lra) A ltac:(lra)). lra.
Qed.

Lemma unweight_continuous y : 0 < y -> continuity_pt unweight y.
Proof.
  intros H eps He. destruct (unweight_spec y H) as [R E]. set (q := unweight y) in *.
  pose (a := Rmax (q / 2) (q - eps / 2)). pose (b := Rmin ((q + 1) / 2) (q + eps / 2)).
  assert (Ha : 0 < a < q). { split; [apply (Rlt_le_trans _ (q / 2)); [lra|apply Rmax_l]|unfold a; apply Rmax_lub_lt; lra]. }
  assert (Hb : q < b < 1). { split; [unfold b; apply Rmin_glb_lt; lra|apply (Rle_lt_trans _ ((q + 1) / 2)); [apply Rmin_l|lra]]. }
  assert (Ha2 : q - eps / 2 <= a) by apply Rmax_r. assert (Hb2 : b <= q + eps / 2) by apply Rmin_r.
  pose proof (weight_increasing g a q ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as A.
  pose proof (weight_increasing g q b ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as B.
  pose proof (weight_pos g a ltac:(lra) ltac:(lra)) as WA.
  exists (Rmin (y - weight g a) (weight g b - y)). split; [apply Rmin_glb_lt; lra|].
  intros x [_ D]. unfold dist in *; simpl in *. unfold R_dist in *.
  assert (D1 : Rabs (x - y) < y - weight g a) by (eapply Rlt_le_trans; [exact D|apply Rmin_l]).
  assert (D2 : Rabs (x - y) < weight g b - y) by (eapply Rlt_le_trans; [exact D|apply Rmin_r]).
  apply Rabs_def2 in D1. apply Rabs_def2 in D2.
  pose proof (unweight_below x b ltac:(lra) ltac:(lra) ltac:(lra)).
  pose proof (unweight_above x a ltac:(lra) ltac:(lra)).
  apply Rabs_def1; lra.
Qed.

Lemma sum_continuous n (f : nat -> R -> R) c : (forall i, (i < n)%nat -> continuity_pt (f i) c) ->
  continuity_pt (fun x => sum n (fun i => f i x)) c.
Proof.
  induction n; simpl; intros H.
  - apply continuity_pt_const. intros s t. reflexivity.
  - apply (continuity_pt_plus (fun x => sum n (fun i => f i x)) (f n)); auto.
Qed.

(* where no class is certain, exactly one factor c makes the unweighted probabilities sum to 1: the step KK24 leaves out *)
Lemma normaliser n p : simplex n p -> (forall i, (i < n)%nat -> p i < 1) ->
  {c | 0 < c /\ sum n (fun i => unweight (c * p i)) = 1}.
Proof.
  intros [Hp Ep] N.
  destruct (find_positive n p ltac:(lra)) as [a [Ha Pa]].
  destruct (find_positive n (fun i => if PeanoNat.Nat.eq_dec i a then 0 else p i)) as [b [Hb Pb]].
  { pose proof (sum_remove n p a Ha) as E. pose proof (N a Ha). lra. }
  destruct (PeanoNat.Nat.eq_dec b a) as [F|D]; [lra|].
  pose (m := Rmin (p a) (p b)).
  assert (Hm : 0 < m) by (unfold m; apply Rmin_glb_lt; lra).
  assert (Ma : m <= p a) by apply Rmin_l. assert (Mb : m <= p b) by apply Rmin_r.
  pose proof (N a Ha) as A1.
  pose (e := / (INR n + 1)).
  assert (Hn : 1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia).
  assert (He : 0 < e <= / 2). { unfold e. split; [apply Rinv_0_lt_compat; lra|apply Rinv_le_contravar; lra]. }
  pose (c0 := weight g e). pose (c1 := weight g (2 / 3) / m).
  pose proof (weight_pos g e ltac:(lra) ltac:(lra)) as C0. fold c0 in C0.
  pose proof (weight_increasing g e (2 / 3) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as W. fold c0 in W.
  assert (C1 : c1 * m = weight g (2 / 3)) by (unfold c1; field; lra).
  assert (C01 : c0 < c1).
  { assert (c1 * m <= c1 * 1); [|lra]. apply Rmult_le_compat_l; [|lra].
    unfold c1. apply Rlt_le, Rdiv_lt_0_compat; lra. }
  destruct (IVT_interv (fun c => sum n (fun i => unweight (c * p i)) - 1) c0 c1) as [c [Hc E]].
  - intros c Hc. apply (continuity_pt_minus (fun c => sum n (fun i => unweight (c * p i))) (fun _ => 1)).
    + apply (sum_continuous n (fun i c => unweight (c * p i))). intros i Hi. specialize (Hp i Hi).
      destruct (Req_dec (p i) 0) as [Z|Z].
      * intros eps Heps. exists 1. split; [lra|]. intros x _. rewrite Z, !Rmult_0_r. 
        unfold dist; simpl. rewrite (proj2 (R_dist_refl _ _)); [exact Heps|reflexivity].
      * apply (continuity_pt_comp (fun c => c * p i) unweight).
        { apply derivable_continuous_pt. exists (p i). apply is_derive_Reals. auto_derive; [exact Logic.I|ring]. }
        apply unweight_continuous. apply Rmult_lt_0_compat; lra.
    + apply continuity_pt_const. intros s t. reflexivity.
  - exact C01.
  - assert (sum n (fun i => unweight (c0 * p i)) <= sum n (fun _ => e)).
    { apply sum_le. intros i Hi. specialize (Hp i Hi). specialize (N i Hi).
      apply unweight_below; [apply Rmult_le_pos; lra|lra|]. fold c0.
      assert (c0 * p i <= c0 * 1) by (apply Rmult_le_compat_l; lra). lra. }
    rewrite sum_const in H. assert (INR n * e < 1).
    { assert ((INR n + 1) * e = 1) by (unfold e; field; lra). lra. }
    lra.
  - assert (unweight (c1 * p a) + unweight (c1 * p b) <= sum n (fun i => unweight (c1 * p i))).
    { apply (sum_two n (fun i => unweight (c1 * p i))); auto.
      intros k Hk. specialize (Hp k Hk). apply unweight_range. apply Rmult_le_pos; lra. }
    assert (c1 * m <= c1 * p a) by (apply Rmult_le_compat_l; lra).
    assert (c1 * m <= c1 * p b) by (apply Rmult_le_compat_l; lra).
    pose proof (unweight_above (c1 * p a) (2 / 3) ltac:(lra) ltac:(lra)).
    pose proof (unweight_above (c1 * p b) (2 / 3) ltac:(lra) ltac:(lra)). lra.
  - exists c. split; lra.
Qed.
End Inverse.
