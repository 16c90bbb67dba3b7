(* KK24 Prop. 5 is false as stated; from tau on, for two and three classes, and for each n from gamma*(1/(n-1)) on it holds. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss Weight EntropyRatio Gain KK24_Prop4 Confidence EachN.
From Focal Require M20_Prop2.
Open Scope R_scope.

(* ---- bounds of logarithms by squaring, without machine arithmetic ---- *)

Lemma exp_square a b x : 0 < a -> b <= a * a -> a < exp x -> b < exp (2 * x).
Proof.
  intros Ha Hb H. replace (2 * x) with (x + x) by ring. rewrite exp_plus.
  apply (Rle_lt_trans _ (a * a)); [exact Hb|]. apply Rmult_gt_0_lt_compat; lra.
Qed.

Lemma exp_first x : x <> 0 -> 1 + x < exp x.
Proof. apply exp_ineq1. Qed.

(* - log (333/1000) > 1.02: e^(-1.02) > (1 - 0.1275)^8 > 0.333 *)
Lemma ln_333 : 1.02 < - ln (333 / 1000).
Proof.
  assert (H : 333 / 1000 < exp (2 * (2 * (2 * (- 0.1275))))).
  { pose proof (exp_first (- 0.1275) ltac:(lra)) as A.
    apply (exp_square _ 0.76125) in A; [|lra|lra]. apply (exp_square _ 0.5795) in A; [|lra|lra].
    apply (exp_square _ 0.333) in A; [|lra|lra]. lra. }
  apply ln_increasing in H; [|lra]. rewrite ln_exp in H. lra.
Qed.

(* - log (1/1000) < 7.5, from 2^10 > 1000 and log 2 < 3/4 *)
Lemma ln_1000 : - ln (1 / 1000) < 7.5.
Proof.
  assert (H : 1000 < exp (2 * (2 * (2 * (2 * (2 * (2 * (7.5 / 64)))))))).
  { pose proof (exp_first (7.5 / 64) ltac:(lra)) as A.
    apply (exp_square _ 1.248) in A; [|lra|lra]. apply (exp_square _ 1.557) in A; [|lra|lra].
    apply (exp_square _ 2.424) in A; [|lra|lra]. apply (exp_square _ 5.875) in A; [|lra|lra].
    apply (exp_square _ 34.5) in A; [|lra|lra]. apply (exp_square _ 1000) in A; [|lra|lra]. exact A. }
  apply ln_increasing in H; [|lra]. rewrite ln_exp in H.
  replace (1 / 1000) with (/ 1000) by field. rewrite ln_Rinv by lra. lra.
Qed.

(* - log 0.13 > 2.03 *)
Lemma ln_013 : 2.03 < - ln 0.13.
Proof.
  assert (H : 0.13 < exp (2 * (2 * (2 * (2 * (2 * (2 * (2 * (2 * (- (2.03 / 256))))))))))).
  { pose proof (exp_first (- (2.03 / 256)) ltac:(lra)) as A.
    apply (exp_square _ 0.984203) in A; [|lra|lra]. apply (exp_square _ 0.968655) in A; [|lra|lra].
    apply (exp_square _ 0.938292) in A; [|lra|lra]. apply (exp_square _ 0.880391) in A; [|lra|lra].
    apply (exp_square _ 0.775088) in A; [|lra|lra]. apply (exp_square _ 0.600761) in A; [|lra|lra].
    apply (exp_square _ 0.360913) in A; [|lra|lra]. apply (exp_square _ 0.13) in A; [|lra|lra]. exact A. }
  apply ln_increasing in H; [|lra]. rewrite ln_exp in H. lra.
Qed.

(* - log (0.87/99) < 4.8 *)
Lemma ln_087_99 : - ln (0.87 / 99) < 4.8.
Proof.
  assert (H : 99 / 0.87 < exp (2 * (2 * (2 * (2 * (2 * (2 * (2 * (2 * (4.8 / 256)))))))))).
  { pose proof (exp_first (4.8 / 256) ltac:(lra)) as A.
    apply (exp_square _ 1.03785) in A; [|lra|lra]. apply (exp_square _ 1.07713) in A; [|lra|lra].
    apply (exp_square _ 1.16020) in A; [|lra|lra]. apply (exp_square _ 1.34606) in A; [|lra|lra].
    apply (exp_square _ 1.81187) in A; [|lra|lra]. apply (exp_square _ 3.28287) in A; [|lra|lra].
    apply (exp_square _ 10.7772) in A; [|lra|lra]. apply (exp_square _ (99 / 0.87)) in A; [|lra|lra]. exact A. }
  apply ln_increasing in H; [|lra]. rewrite ln_exp in H.
  replace (0.87 / 99) with (/ (99 / 0.87)) by lra. rewrite ln_Rinv by lra. lra.
Qed.

(* gamma = 1: g(q) = (1 - q) - q log q *)
Lemma gain_gamma_1 q : 0 < q < 1 -> gain 1 q = (1 - q) + q * - ln q.
Proof. intros H. unfold gain, entropy_ratio. rewrite Rpower_1 by lra. field. lra. Qed.

Lemma div_mult a b : 0 < b -> a / b * b = a.
Proof. intros H. field. lra. Qed.

(* ---- refuted ---- *)

(* Paper: 'the j-th coordinate of the resulting vector will be higher than or equal to all coordinates of the initial
   prediction q: p-hat(q)_j >= max q_i = q_j', j the predicted class, for every number of classes and gamma > 0.
   Faithfulness: exact negation: four classes, gamma = 1, q = (0.001, 0.333, 0.333, 0.333), class 1 is predicted and falls. *)
Theorem kk24_prop5_refuted_4 :
  let q := one_and_rest 0.001 0.333 in
  simplex 4 q /\ predicted 4 q 1 /\ open_simplex 4 q /\ focal_map 4 1 q 1 < q 1%nat.
Proof.
  intros q. assert (S : simplex 4 q) by (apply one_and_rest_simplex; simpl; lra).
  assert (P : predicted 4 q 1) by (apply one_and_rest_predicted_rest; lra).
  assert (N : forall i, (i < 4)%nat -> 0 < q i < 1) by (intros [|i] _; simpl; lra).
  assert (O : open_simplex 4 q) by (split; [intros i Hi; apply N; exact Hi|apply S]).
  split; [exact S|]. split; [exact P|]. split; [exact O|].
  rewrite <- kk24_prop4_printed; [|exact O|intros i Hi; apply N; exact Hi|lia].
  assert (L : gain 1 0.001 < gain 1 0.333).
  { rewrite !gain_gamma_1 by lra. pose proof ln_333 as A. pose proof ln_1000 as B.
    replace 0.333 with (333 / 1000) by lra. replace 0.001 with (1 / 1000) by lra. lra. }
  apply (map_lowers_top 4 1 q 1 0); [lra|exact S|lia|exact N| |lia|exact L].
  intros [|i] _; simpl; lra.
Qed.

(* 100 classes, gamma = 1, 0.13 for the predicted class and the rest equal: it falls by more than 0.01.
   Faithfulness: exact negation, and the size of the effect (the ledger's kk24.prop5_large). *)
Theorem kk24_prop5_refuted_100 :
  let q := one_and_rest 0.13 (0.87 / 99) in
  simplex 100 q /\ predicted 100 q 0 /\ open_simplex 100 q /\ focal_map 100 1 q 0 < q 0%nat - 0.01.
Proof.
  intros q. assert (I99 : INR 99 = 99) by (rewrite INR_IZR_INZ; reflexivity).
  assert (S : simplex 100 q) by (apply one_and_rest_simplex; [lra|lra|rewrite I99; lra]).
  assert (P : predicted 100 q 0) by (apply one_and_rest_predicted; lra).
  assert (N : forall i, (i < 100)%nat -> 0 < q i < 1) by (intros [|i] _; simpl; lra).
  assert (O : open_simplex 100 q) by (split; [intros i Hi; apply N; exact Hi|apply S]).
  split; [exact S|]. split; [exact P|]. split; [exact O|].
  rewrite <- kk24_prop4_printed; [|exact O|intros i Hi; apply N; exact Hi|lia].
  rewrite map_inside; [|lra|exact S|intros i Hi; apply N; exact Hi|lia].
  assert (T : total 100 1 q = weight 1 0.13 + 99 * weight 1 (0.87 / 99)).
  { unfold total. rewrite sum_first. simpl q at 1. rewrite weight_closed_some by lra. f_equal.
    rewrite (sum_ext 99 _ (fun _ => weight 1 (0.87 / 99))) by (intros i Hi; simpl; apply weight_closed_some; lra).
    rewrite sum_const, I99. reflexivity. }
  rewrite T. simpl q. rewrite weight_closed_some by lra.
  pose proof ln_013 as A. pose proof ln_087_99 as B.
  unfold weight. rewrite !gain_gamma_1 by lra. set (x := - ln 0.13) in *. set (y := - ln (0.87 / 99)) in *.
  assert (Y : 0 < y). { unfold y. pose proof (ln_neg (0.87 / 99) ltac:(lra)). lra. }
  set (w := 0.13 / (1 - 0.13 + 0.13 * x)). set (v := 0.87 / 99 / (1 - 0.87 / 99 + 0.87 / 99 * y)).
  assert (W : 0 < w < 0.11465).
  { unfold w. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (1 - 0.13 + 0.13 * x)); [lra|].
    rewrite div_mult by lra. lra. }
  assert (V : 0.008503 < v).
  { unfold v. apply (Rmult_lt_reg_r (1 - 0.87 / 99 + 0.87 / 99 * y)); [lra|].
    rewrite div_mult by lra. lra. }
  apply (Rmult_lt_reg_r (w + 99 * v)); [lra|]. rewrite div_mult by lra. lra.
Qed.

(* Faithfulness: exact: the negation of the proposition, for every n and gamma at once. *)
Theorem kk24_prop5_refuted : ~ (forall n gamma, 0 < gamma -> confidence_never_falls n gamma).
Proof.
  intros H. destruct kk24_prop5_refuted_4 as [S [P [O L]]].
  rewrite <- kk24_prop4_printed in L; [|exact O| |lia].
  - specialize (H 4%nat 1 ltac:(lra) _ 1%nat S P). lra.
  - intros [|i] _; simpl; lra.
Qed.

(* ---- corrected: from tau on ---- *)

(* Faithfulness: ours (kk24.prop5_threshold), exact: for every n and every real gamma > 0, where the largest probability is at
   least tau(gamma), it does not fall. tau(gamma) exists, is unique, and is below 1/2. *)
Theorem kk24_prop5_tau gamma : 0 < gamma ->
  exists t, is_tau gamma t /\ (forall t', is_tau gamma t' -> t' = t) /\ t < 1 / 2 /\
  forall n q j, simplex n q -> predicted n q j -> t <= q j -> q j <= focal_map_closed n gamma q j.
Proof.
  intros Hg. destruct (tau_exists gamma Hg) as [t [T T2]]. exists t. split; [exact T|].
  split; [intros t' T'; apply (tau_unique gamma); assumption|]. split; [exact T2|].
  intros n q j Hq P Hj. apply keeps_from_gain; try assumption.
  intros L. apply (gain_le_1_tau gamma t); try assumption. split; [apply (predicted_pos n q j); assumption|exact L].
Qed.

(* Below tau(gamma): with that largest probability m and all other classes equal, it falls for every number of classes from
   some N on. Faithfulness: ours (kk24.prop5_threshold_sharp), exact, for every real gamma > 0 and 0 < m < tau(gamma). *)
Theorem kk24_prop5_tau_sharp gamma t m : 0 < gamma -> is_tau gamma t -> 0 < m < t ->
  exists N, forall n, (N <= n)%nat -> let q := one_and_rest m ((1 - m) / (INR n - 1)) in
    open_simplex n q /\ predicted n q 0 /\ q 0%nat = m /\ focal_map_closed n gamma q 0 < m.
Proof.
  intros Hg T Hm. assert (Ht : 0 < t < 1) by apply T.
  assert (G : 1 < gain gamma m).
  { apply Rnot_le_lt. intros L. apply (gain_le_1_tau gamma t m Hg T ltac:(lra)) in L. lra. }
  destruct (gain_near_0 gamma (gain gamma m) ltac:(lra) G) as [d [Hd D]].
  (* so many equal classes that each is below d and m *)
  pose (e := Rmin d m). assert (He : 0 < e) by (unfold e; apply Rmin_glb_lt; lra).
  assert (E1 : e <= d) by apply Rmin_l. assert (E2 : e <= m) by apply Rmin_r.
  destruct (archimed_cor1 e He) as [N [HN N0]]. exists (S N). intros n Hn.
  destruct n as [|k]; [lia|]. replace (INR (S k) - 1) with (INR k) by (rewrite S_INR; ring).
  assert (Np : 0 < INR N) by (apply lt_0_INR; exact N0).
  assert (NK : INR N <= INR k) by (apply le_INR; lia).
  assert (Hk : / INR k < e) by (apply (Rle_lt_trans _ (/ INR N)); [apply Rinv_le_contravar; lra|exact HN]).
  assert (Kp : 0 < INR k) by lra.
  pose (r := (1 - m) / INR k). fold r.
  assert (Hr : 0 < r < e).
  { unfold r. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rlt_trans _ (/ INR k)); [|exact Hk]. unfold Rdiv.
    assert (0 < / INR k) by (apply Rinv_0_lt_compat; exact Kp). nra. }
  intros q. assert (Q : simplex (S k) q) by (apply one_and_rest_simplex; [lra|lra|unfold r; field; lra]).
  split; [split; [intros [|i] _; simpl; lra|apply Q]|].
  split; [apply one_and_rest_predicted; lra|]. split; [reflexivity|].
  change m with (q 0%nat) at 1. specialize (D r ltac:(lra)).
  apply (map_lowers_top (S k) gamma q 0 1); [lra|exact Q|lia| | |lia|exact D].
  - intros [|i] _; simpl; lra.
  - intros [|i] _; simpl; lra.
Qed.

(* ---- corrected: each number of classes ---- *)

Lemma never_falls_from_gain k gamma : 0 < gamma -> (2 <= k)%nat -> gain gamma (/ INR k) <= 1 -> confidence_never_falls (S k) gamma.
Proof.
  intros Hg Hk H q j Hq P. assert (Pj := P). destruct Pj as [Hj Pj].
  assert (K2 : 2 <= INR k) by (change 2 with (INR 2); apply le_INR; exact Hk).
  assert (IK : 0 < / INR k < 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_lt_contravar; lra]).
  pose proof (predicted_pos (S k) q j Hq P) as Q0.
  destruct (Rle_lt_dec (/ INR k) (q j)) as [A|A].
  { apply keeps_from_gain; try assumption. intros L. destruct A as [A|A]; [|rewrite <- A; exact H].
    pose proof (gain_falls gamma (/ INR k) (q j) Hg ltac:(lra) A L H). lra. }
  set (m := q j) in *. pose (e := 1 - INR k * m).
  assert (Km : INR k * m < 1). { apply (Rmult_lt_compat_l (INR k)) in A; [|lra]. rewrite Rinv_r in A by lra. exact A. }
  assert (Sk : INR (S k) - 1 = INR k) by (rewrite S_INR; ring).
  assert (Low : forall i, (i < S k)%nat -> e <= q i).
  { intros i Hi. pose proof (sum_rest_le (S k) q m i Hi Pj) as B. rewrite (proj2 Hq), Sk in B. unfold e. lra. }
  assert (Em : others (INR k) e = m) by (unfold others, e; field; lra).
  assert (He : 0 < e <= / (INR k + 1)).
  { split; [unfold e; lra|]. pose proof (Low j Hj) as B. fold m in B. unfold e in *.
    apply (Rmult_le_reg_r (INR k + 1)); [lra|]. rewrite Rinv_l by lra. nra. }
  apply map_keeps_top; [lra|exact Hq|exact Hj| |exact Q0|].
  - intros i Hi. specialize (Pj i Hi). lra.
  - intros i Hi _. change (gain gamma m <= gain gamma (q i)). rewrite <- Em.
    apply (gain_between gamma (INR k) Hg K2 e (q i) H He). rewrite Em. split; [apply Low; exact Hi|apply Pj; exact Hi].
Qed.

Lemma falls_from_gain k gamma : 0 < gamma -> (2 <= k)%nat -> 1 < gain gamma (/ INR k) ->
  exists e0, 0 < e0 /\ forall e, 0 < e < e0 -> let q := one_and_rest e ((1 - e) / INR k) in
    open_simplex (S k) q /\ predicted (S k) q 1 /\ focal_map_closed (S k) gamma q 1 < q 1%nat.
Proof.
  intros Hg Hk H. assert (K2 : 2 <= INR k) by (change 2 with (INR 2); apply le_INR; exact Hk).
  assert (IK : 0 < / INR k < 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_lt_contravar; lra]).
  pose (M := (gain gamma (/ INR k) + 1) / 2). assert (HM : 1 < M < gain gamma (/ INR k)) by (unfold M; lra).
  destruct (gain_near_0 gamma M ltac:(lra) (proj1 HM)) as [d [Hd D]].
  destruct (gain_continuous gamma (/ INR k) ltac:(lra) IK (gain gamma (/ INR k) - M) ltac:(lra)) as [d2 [Hd2 C]].
  pose proof (end_range (INR k) K2) as ER.
  exists (Rmin (Rmin (d / 2) (d2 / 2)) (/ (INR k + 1) / 2)). split; [repeat apply Rmin_glb_lt; lra|].
  intros e [E0 Ee].
  assert (E1 : e <= d / 2) by (apply Rlt_le; eapply Rlt_le_trans; [exact Ee|eapply Rle_trans; [apply Rmin_l|apply Rmin_l]]).
  assert (E2 : e <= d2 / 2) by (apply Rlt_le; eapply Rlt_le_trans; [exact Ee|eapply Rle_trans; [apply Rmin_l|apply Rmin_r]]).
  assert (E3 : e <= / (INR k + 1) / 2) by (apply Rlt_le; eapply Rlt_le_trans; [exact Ee|apply Rmin_r]).
  pose (m := others (INR k) e).
  pose proof (others_range (INR k) K2 e ltac:(lra)) as Hm. pose proof (others_above (INR k) K2 e ltac:(lra)) as Am.
  pose proof (others_k (INR k) K2 e) as Km. fold m in Hm, Am, Km.
  assert (Near : Rabs (m - / INR k) < d2).
  { replace (m - / INR k) with (- (e * / INR k)) by (unfold m, others; field; lra).
    rewrite Rabs_Ropp, Rabs_right by (apply Rle_ge, Rmult_le_pos; lra). nra. }
  assert (Gm : M < gain gamma m).
  { destruct (Req_dec m (/ INR k)) as [->|N]; [lra|]. specialize (C m). unfold dist in C; simpl in C; unfold R_dist in C.
    assert (X : Rabs (gain gamma m - gain gamma (/ INR k)) < gain gamma (/ INR k) - M).
    { apply C. split; [split; [exact I|lra]|exact Near]. }
    apply Rabs_def2 in X. lra. }
  assert (Ge : gain gamma e < gain gamma m) by (specialize (D e ltac:(lra)); lra).
  change ((1 - e) / INR k) with m. cbv zeta.
  assert (Q : simplex (S k) (one_and_rest e m)) by (apply one_and_rest_simplex; lra).
  split; [split; [intros [|i] _; simpl; lra|apply Q]|].
  split; [split; [lia|intros [|i] _; simpl; lra]|].
  apply (map_lowers_top (S k) gamma (one_and_rest e m) 1 0); [lra|exact Q|lia| | |lia|exact Ge].
  - intros [|i] _; simpl; lra.
  - intros [|i] _; simpl; lra.
Qed.

(* The exact condition for each n >= 3: Prop. 5 holds for n classes and gamma exactly if g(1/(n-1)) <= 1.
   Faithfulness: ours (kk24.prop5_n_holds and kk24.prop5_n_fails together), equivalent: gamma >= gamma*(1/(n-1)) is
   the next theorem. *)
Theorem kk24_prop5_each_n n gamma : 0 < gamma -> (3 <= n)%nat ->
  confidence_never_falls n gamma <-> gain gamma (1 / (INR n - 1)) <= 1.
Proof.
  intros Hg Hn. destruct n as [|k]; [lia|].
  assert (E : 1 / (INR (S k) - 1) = / INR k).
  { assert (2 <= INR k) by (change 2 with (INR 2); apply le_INR; lia). rewrite S_INR. field. lra. }
  rewrite E. split; [|apply never_falls_from_gain; [exact Hg|lia]].
  intros H. apply Rnot_lt_le. intros L. destruct (falls_from_gain k gamma Hg ltac:(lia) L) as [e0 [E0 A]].
  destruct (A (e0 / 2) ltac:(lra)) as [O [P F]]. set (q := one_and_rest (e0 / 2) ((1 - e0 / 2) / INR k)) in *.
  assert (S' : simplex (S k) q) by (split; [intros i Hi; apply Rlt_le, O; exact Hi|apply O]).
  specialize (H q 1%nat S' P). lra.
Qed.

(* For each n >= 4, Prop. 5 holds exactly from gamma*(1/(n-1)) on, M20's gamma* by the branch W_-1 of the Lambert function.
   Faithfulness: ours (kk24.prop5_n_holds and kk24.prop5_n_fails), exact. *)
Theorem kk24_prop5_gamma_star n : (4 <= n)%nat ->
  let p0 := 1 / (INR n - 1) in
  exists w gamma_star,
    (M20_Prop2.is_lambert_minus1 (M20_Prop2.lambert_argument p0) w /\ gamma_star = M20_Prop2.lambert_gamma p0 w) /\
    is_gamma_star p0 gamma_star /\
    forall gamma, 0 < gamma -> (confidence_never_falls n gamma <-> gamma_star <= gamma).
Proof.
  intros Hn p0. assert (H4 : 4 <= INR n) by (replace 4 with (INR 4) by (simpl; ring); apply le_INR; exact Hn).
  assert (Hp : 0 < p0 < 1 / 2).
  { unfold p0, Rdiv. rewrite !Rmult_1_l. split; [apply Rinv_0_lt_compat; lra|].
    apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|lra]. }
  destruct (M20_Prop2.m20_prop2_gamma_star_exists p0 ltac:(lra)) as [w [W _]]. exists w, (M20_Prop2.lambert_gamma p0 w). split; [split; [exact W|reflexivity]|].
  destruct (M20_Prop2.m20_prop2_threshold p0 w Hp W) as [S _]. split; [exact S|].
  intros gamma Hg. rewrite kk24_prop5_each_n by (auto; lia). apply (gamma_star_threshold p0); [split; lra|exact S|exact Hg].
Qed.

(* Below gamma* it fails where n - 1 classes are tied and the last one is small: at every small enough one.
   Faithfulness: ours (kk24.prop5_n_fails), exact; [kk24_prop5_gamma_star] says what gamma*(1/(n-1)) is. *)
Theorem kk24_prop5_n_fails n gamma gamma_star : (4 <= n)%nat -> is_gamma_star (1 / (INR n - 1)) gamma_star ->
  0 < gamma < gamma_star ->
  exists e0, 0 < e0 /\ forall e, 0 < e < e0 -> let q := one_and_rest e ((1 - e) / (INR n - 1)) in
    open_simplex n q /\ predicted n q 1 /\ focal_map_closed n gamma q 1 < q 1%nat.
Proof.
  intros Hn S Hg. destruct n as [|k]; [lia|].
  assert (K : 3 <= INR k) by (replace 3 with (INR 3) by (simpl; ring); apply le_INR; lia).
  replace (INR (Datatypes.S k) - 1) with (INR k) in * by (rewrite S_INR; ring).
  replace (1 / INR k) with (/ INR k) in S by (field; lra).
  apply falls_from_gain; [apply Hg|lia|]. apply Rnot_le_lt. intros L.
  apply (gamma_star_threshold (/ INR k) gamma_star gamma) in L; [lra| |exact S|apply Hg].
  split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.

(* Two and three classes: Prop. 5 holds for every gamma > 0.
   Faithfulness: exact for n = 2, 3 (kk24.prop5_two_classes, kk24.prop5_three_classes). *)
Theorem kk24_prop5_three_classes gamma : 0 < gamma -> confidence_never_falls 3 gamma.
Proof.
  intros Hg. apply kk24_prop5_each_n; [exact Hg|lia|]. pose proof (gain_half gamma Hg) as H.
  replace (1 / (INR 3 - 1)) with (1 / 2) by (simpl; field). lra.
Qed.

(* Faithfulness: ours, exact: the proposition for two classes. *)
Theorem kk24_prop5_two_classes gamma : 0 < gamma -> confidence_never_falls 2 gamma.
Proof.
  intros Hg q j Hq P. destruct (tau_exists gamma Hg) as [t [T T2]].
  apply keeps_from_gain; try assumption. intros L.
  apply (gain_le_1_tau gamma t); [exact Hg|exact T| |].
  - split; [apply (predicted_pos 2 q j); assumption|exact L].
  - destruct P as [Hj P]. destruct Hq as [_ E]. simpl in E.
    pose proof (P 0%nat ltac:(lia)). pose proof (P 1%nat ltac:(lia)). lra.
Qed.

(* not vacuous: four classes fail for gamma = 1 and hold for gamma = 2; three classes do move *)
Example kk24_prop5_four_classes_gamma_1 : ~ confidence_never_falls 4 1.
Proof.
  rewrite kk24_prop5_each_n by (lra || lia). replace (1 / (INR 4 - 1)) with (1 / 3) by (simpl; field).
  rewrite gain_gamma_1 by lra. pose proof ln_333 as A.
  assert (B : ln (1 / 3) <= ln (333 / 1000) + 1 / 999).
  { replace (1 / 3) with (333 / 1000 * (1000 / 999)) by field. rewrite ln_mult by lra.
    pose proof (ln_le (1000 / 999) ltac:(lra)). lra. }
  lra.
Qed.

Example kk24_prop5_four_classes_gamma_2 : confidence_never_falls 4 2.
Proof.
  apply kk24_prop5_each_n; [lra|lia|]. replace (1 / (INR 4 - 1)) with (1 / 3) by (simpl; field).
  unfold gain, entropy_ratio. replace (Rpower (1 - 1 / 3) 2) with (4 / 9).
  - assert (H : 3 < exp (2 * (2 * (2 * (2 * (1.2 / 16)))))).
    { pose proof (exp_first (1.2 / 16) ltac:(lra)) as A.
      apply (exp_square _ 1.155) in A; [|lra|lra]. apply (exp_square _ 1.334) in A; [|lra|lra].
      apply (exp_square _ 1.779) in A; [|lra|lra]. apply (exp_square _ 3) in A; [|lra|lra]. exact A. }
    apply ln_increasing in H; [|lra]. rewrite ln_exp in H.
    replace (1 / 3) with (/ 3) by field. rewrite ln_Rinv by lra. lra.
  - replace 2 with (INR 2) by (simpl; ring). rewrite Rpower_pow by lra. simpl. field.
Qed.
