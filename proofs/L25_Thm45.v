(* L25 Theorem 4.5 (section 4.4): does focal calibration loss have the smaller post-processing gap?

   L25: "For any predictor and any distribution over [...], the [focal calibration loss] yields a smaller (or equal)
   post-processing gap than focal loss alone". The gap is that of Blasiok et al. (2024), which L25 cites: how much the expected
   loss falls by a post-processing kappa of the prediction, at best, where kappa(v) - v is 1-Lipschitz.

   Refuted for every gamma > 0 and lambda > 0: where the input is always the same, the two classes have the probabilities
   (p, 1 - p) and the predictor is the minimiser of focal loss, the gap of focal loss is 0, that of FCL is positive.
   Faithful: the negation is equivalent under the reading that the gap is Blasiok et al.'s; L25's formulas are lost from the text
   at hand. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss Gain KK24_Prop4 L25_FocalCalibrationLoss L25_OrderPreserving L25_NotProper M20_Entropy.
Open Scope R_scope.

Definition post_processing (kappa : R -> R) : Prop :=
  (forall v, 0 <= v <= 1 -> 0 <= kappa v <= 1) /\
  (forall v w, 0 <= v <= 1 -> 0 <= w <= 1 -> Rabs ((kappa v - v) - (kappa w - w)) <= Rabs (v - w)).

(* the gains over a constant prediction x where the truth is p; a prediction of 0 or 1 has infinite loss, so no gain *)
Definition gains (L : loss) (p x d : R) : Prop :=
  exists kappa, post_processing kappa /\ 0 < kappa x < 1 /\
    d = risk 2 L (two p) (two x) - risk 2 L (two p) (two (kappa x)).
Definition is_gap (L : loss) (p x g : R) : Prop := is_lub (gains L p x) g.

(* a shift, kept in [0, 1] *)
Definition shift (c v : R) : R := Rmax 0 (Rmin 1 (v + c)).

Lemma shift_post_processing c : post_processing (shift c).
Proof.
  unfold shift. split.
  - intros v _. split; [apply Rmax_l|]. apply Rmax_lub; [lra|apply Rmin_l].
  - intros v w V W. unfold Rmax, Rmin.
    destruct (Rle_dec 1 (v + c)), (Rle_dec 1 (w + c));
    repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end;
    unfold Rabs; destruct (Rcase_abs _), (Rcase_abs _); lra.
Qed.

Lemma shift_exact x y : 0 < y < 1 -> shift (y - x) x = y.
Proof. intros Y. unfold shift. replace (x + (y - x)) with y by ring. rewrite Rmin_right, Rmax_right; lra. Qed.

Lemma risk_two gamma lambda p r : r 1%nat = 1 - r 0%nat ->
  risk 2 (fcl 2 gamma lambda) (two p) r = risk 2 (fcl 2 gamma lambda) (two p) (two (r 0%nat)).
Proof. intros E. unfold risk, fcl, squared_distance, two, one_hot. simpl. rewrite E. reflexivity. Qed.

Lemma risk_nonneg gamma lambda p x : 0 <= lambda -> 0 <= p <= 1 -> 0 < x < 1 -> 0 <= risk 2 (fcl 2 gamma lambda)
  (two p) (two x).
Proof.
  intros L P X. apply sum_nonneg. intros i I. apply Rmult_le_pos; [apply (two_simplex p P); exact I|].
  unfold fcl. assert (0 <= lambda * squared_distance 2 (two x) (one_hot i)) by (apply Rmult_le_pos;
    [exact L|apply squared_distance_nonneg]).
  assert (0 < focal_loss gamma (two x i)); [|lra].
  apply focal_loss_positive. unfold two. destruct (Nat.eqb i 0); lra.
Qed.

Theorem l25_thm45_refuted gamma lambda : 0 < gamma -> 0 < lambda -> exists p x g h,
  0 < p < 1 /\ 0 < x < 1 /\ is_gap (focal_loss_n gamma) p x g /\ is_gap (fcl 2 gamma lambda) p x h /\ g < h.
Proof.
  intros G L. destruct (l25_minimisers_exist gamma 0 (3 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as [p [P M0]].
  pose proof (two_simplex p ltac:(lra)) as S. pose proof (two_simplex (3 / 4) ltac:(lra)) as Sx.
  assert (M : minimises 2 (focal_loss_n gamma) (two p) (two (3 / 4))) by (apply minimises_focal; assumption).
  pose proof (minimiser_slopes 2 gamma 0 (two p) (two (3 / 4)) 0 1 S M0 ltac:(lia) ltac:(lia) ltac:(unfold two; simpl;
    lra)
    ltac:(unfold two; simpl; lra)) as E.
  unfold slope, two in E. simpl in E.
  assert (N : 3 / 4 < p).
  { rewrite (focal_slope_gain gamma (3 / 4)), (focal_slope_gain gamma (1 - 3 / 4)) in E by lra.
    apply (solution_nearer gamma); lra. }
  (* it does not minimise FCL: the slopes differ by 4 lambda (x - p) *)
  assert (B : exists y, 0 < y < 1 /\
    risk 2 (fcl 2 gamma lambda) (two p) (two y) < risk 2 (fcl 2 gamma lambda) (two p) (two (3 / 4))).
  { apply Classical_Prop.NNPP. intro H.
    assert (C : minimises 2 (fcl 2 gamma lambda) (two p) (two (3 / 4))).
    { split; [exact Sx|]. split; [apply M|]. intros r R Sr. apply Rnot_lt_le. intro K. apply H. exists (r 0%nat).
      assert (R1 : r 1%nat = 1 - r 0%nat) by (destruct R as [_ R]; simpl in R; lra).
      pose proof (Sr 0%nat ltac:(lia) ltac:(unfold two; simpl; lra)).
      pose proof (Sr 1%nat ltac:(lia) ltac:(unfold two; simpl; lra)).
      split; [lra|]. rewrite <- risk_two by exact R1. exact K. }
    pose proof (minimiser_slopes 2 gamma lambda (two p) (two (3 / 4)) 0 1 S C ltac:(lia) ltac:(lia) ltac:(unfold two;
      simpl; lra)
      ltac:(unfold two; simpl; lra)) as F.
    unfold slope, two in F. simpl in F.
    assert (0 < lambda * (p - 3 / 4)) by (apply Rmult_lt_0_compat; lra). lra. }
  destruct B as [y [Y B]].
  assert (Better : gains (fcl 2 gamma lambda) p (3 / 4)
    (risk 2 (fcl 2 gamma lambda) (two p) (two (3 / 4)) - risk 2 (fcl 2 gamma lambda) (two p) (two y))).
  { exists (shift (y - 3 / 4)). rewrite shift_exact by exact Y. split; [apply shift_post_processing|].
  split; [exact Y|reflexivity]. }
  destruct (completeness (gains (fcl 2 gamma lambda) p (3 / 4))) as [h Hh].
  - exists (risk 2 (fcl 2 gamma lambda) (two p) (two (3 / 4))). intros d (kappa & _ & K & ->).
    pose proof (risk_nonneg gamma lambda p (kappa (3 / 4)) ltac:(lra) ltac:(lra) K). lra.
  - eexists. exact Better.
  - exists p, (3 / 4), 0, h. split; [exact P|]. split; [lra|]. split; [|split; [exact Hh|]].
    + split.
      * intros d (kappa & _ & K & ->). destruct M as (_ & _ & M).
        specialize (M (two (kappa (3 / 4))) (two_simplex (kappa (3 / 4)) ltac:(lra))).
        assert (U : supports 2 (two (kappa (3 / 4))) (two p)).
        { intros i _ _. unfold two. destruct (Nat.eqb i 0); lra. }
        specialize (M U). lra.
      * intros d D. apply (D 0). exists (shift 0). split; [apply shift_post_processing|].
        replace (shift 0 (3 / 4)) with (3 / 4); [split; [lra|ring]|].
        unfold shift. rewrite Rplus_0_r, Rmin_right, Rmax_right; lra.
    + destruct Hh as [Up _]. specialize (Up _ Better). lra.
Qed.

(* ---- corrected ---- *)

Definition mixed (t : R) (q r : nat -> R) : nat -> R := fun i => (1 - t) * q i + t * r i.

(* the focal loss of one class is convex on (0, 1] *)
Lemma focal_loss_chord gamma x y t : 0 <= gamma -> 0 < x <= 1 -> 0 < y <= 1 -> 0 < t < 1 ->
  focal_loss gamma ((1 - t) * x + t * y) <= (1 - t) * focal_loss gamma x + t * focal_loss gamma y.
Proof.
  intros G X Y T. destruct (Req_dec x y) as [->|N]; [replace ((1 - t) * y + t * y) with y by ring; lra|].
  set (m := (1 - t) * x + t * y).
  assert (M : 0 < m < 1).
  { split; [unfold m; nra|]. assert (B : (1 - t) * (1 - x) + t * (1 - y) = 1 - m) by (unfold m; ring).
    assert (0 < (1 - t) * (1 - x) + t * (1 - y)); [|lra].
    destruct (proj2 X) as [X1|X1], (proj2 Y) as [Y1|Y1]; [nra|subst; nra|subst; nra|lra]. }
  assert (A : forall r, 0 < r <= 1 -> focal_loss gamma m + focal_slope gamma m * (r - m) <= focal_loss gamma r).
  { intros r R. destruct (Req_dec m r) as [E|D]; [rewrite E; lra|]. apply Rlt_le, focal_loss_tangent; auto. }
  pose proof (A x X) as Ax. pose proof (A y Y) as Ay.
  apply (Rmult_le_compat_l (1 - t)) in Ax; [|lra]. apply (Rmult_le_compat_l t) in Ay; [|lra].
  assert (Z : (1 - t) * (focal_slope gamma m * (x - m)) + t * (focal_slope gamma m * (y - m)) = 0) by (unfold m; ring).
  lra.
Qed.

Lemma mixed_simplex n q r t : simplex n q -> simplex n r -> 0 < t < 1 -> simplex n (mixed t q r).
Proof.
  intros [Q SQ] [Rp SR] T. split.
  - intros i I. specialize (Q i I). specialize (Rp i I). unfold mixed.
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - unfold mixed. rewrite sum_plus, !sum_scale, SQ, SR. ring.
Qed.

Lemma mixed_supports n p q r t : simplex n q -> simplex n r -> supports n q p -> supports n r p -> 0 < t < 1 ->
  supports n (mixed t q r) p.
Proof.
  intros Sq Sr Q S T i I P. specialize (Q i I P). specialize (S i I P). unfold mixed. apply Rplus_lt_0_compat; apply Rmult_lt_0_compat; lra.
Qed.

Lemma squared_distance_mixed n p q r t : squared_distance n (mixed t q r) p =
  (1 - t) * squared_distance n q p + t * squared_distance n r p - t * (1 - t) * squared_distance n r q.
Proof. unfold squared_distance, mixed. rewrite <- !sum_scale, <- sum_plus, <- sum_minus. apply sum_ext. intros i _. ring. Qed.

(* moving the minimiser q of FCL to r raises the expected FCL by at least lambda || r - q ||^2.
   Faithfulness: ours, equivalent: the quadratic growth that the paper's proof needs. *)
Theorem l25_thm45_growth n gamma lambda p q r : 0 <= gamma -> 0 <= lambda -> simplex n p ->
  minimises n (fcl n gamma lambda) p q -> simplex n r -> supports n r p ->
  lambda * squared_distance n r q <= risk n (fcl n gamma lambda) p r - risk n (fcl n gamma lambda) p q.
Proof.
  intros G L [Pp Sp] (Sq & Uq & M) Sr Ur.
  set (D := squared_distance n r q). assert (D0 : 0 <= D) by apply squared_distance_nonneg.
  set (F := fun v => risk n (fcl n gamma lambda) p v).
  assert (B : forall t, 0 < t < 1 -> lambda * (1 - t) * D <= F r - F q).
  { intros t T. pose proof (M (mixed t q r) (mixed_simplex n q r t Sq Sr T) (mixed_supports n p q r t Sq Sr Uq Ur T)) as K.
    assert (C : F (mixed t q r) <= (1 - t) * F q + t * F r - lambda * (t * (1 - t) * D)).
    { unfold F. rewrite !fcl_risk by exact Sp. rewrite squared_distance_mixed. fold D.
      assert (H : risk n (focal_loss_n gamma) p (mixed t q r) <=
        (1 - t) * risk n (focal_loss_n gamma) p q + t * risk n (focal_loss_n gamma) p r).
      { unfold risk. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros i I. unfold focal_loss_n, mixed.
        destruct (Pp i I) as [P|P]; [|rewrite <- P; lra].
        pose proof (simplex_le_1 n q i Sq I) as Q1. pose proof (simplex_le_1 n r i Sr I) as R1.
        specialize (Uq i I P). specialize (Ur i I P).
        pose proof (focal_loss_chord gamma (q i) (r i) t G ltac:(lra) ltac:(lra) T) as E.
        apply (Rmult_le_compat_l (p i)) in E; lra. }
      lra. }
    fold (F q) in K. fold (F (mixed t q r)) in K.
    apply (Rmult_le_reg_l t); [lra|]. lra. }
  change (lambda * D <= F r - F q). apply Rnot_lt_le. intros N.
  destruct (Rle_lt_or_eq_dec 0 (lambda * D) ltac:(apply Rmult_le_pos; assumption)) as [P|Z].
  - pose proof (B (1 / 2) ltac:(lra)) as Half.
    set (x := lambda * D) in *. set (y := F r - F q) in *.
    assert (Y : 0 < y) by (unfold x in P; lra).
    specialize (B ((x - y) / (2 * x)) ltac:(split; [apply Rdiv_lt_0_compat; lra|
      apply (Rmult_lt_reg_r (2 * x)); [lra|]; replace ((x - y) / (2 * x) * (2 * x)) with (x - y) by (field; lra); lra])).
    replace (lambda * (1 - (x - y) / (2 * x)) * D) with (x * (1 - (x - y) / (2 * x))) in B by (unfold x; ring).
    replace (x * (1 - (x - y) / (2 * x))) with ((x + y) / 2) in B by (field; lra). lra.
  - specialize (B (1 / 2) ltac:(lra)). lra.
Qed.

(* Inputs 0, ..., m - 1 with the weights mu, the truth p x and the prediction q x; a post-processing kappa is whatever map of
   predictions is admissible, the identity among them. Each loss, FCL and with lambda = 0 focal loss, has gap 0 at its own minimiser.
   Faithful: ours (l25.thm45_corrected), equivalent: for every n; the inputs are finitely many, [l25_thm45_growth] holds at each. *)
Theorem l25_thm45_own_minimiser n m gamma lambda (mu : nat -> R) (p q : nat -> nat -> R)
  (admissible : ((nat -> R) -> nat -> R) -> Prop) : 0 <= gamma -> 0 <= lambda -> (forall x, (x < m)%nat -> 0 <= mu x) ->
  (forall x, (x < m)%nat -> simplex n (p x) /\ minimises n (fcl n gamma lambda) (p x) (q x)) ->
  admissible (fun v => v) ->
  let expected (predict : nat -> nat -> R) := sum m (fun x => mu x * risk n (fcl n gamma lambda) (p x) (predict x)) in
  let possible kappa := admissible kappa /\ forall x, (x < m)%nat -> simplex n (kappa (q x)) /\ supports n (kappa (q x)) (p x) in
  is_lub (fun gain => exists kappa, possible kappa /\ gain = expected q - expected (fun x => kappa (q x))) 0 /\
  (forall kappa, possible kappa ->
     lambda * sum m (fun x => mu x * squared_distance n (kappa (q x)) (q x)) <= expected (fun x => kappa (q x)) - expected q).
Proof.
  intros G L Mu H Id expected possible.
  assert (Grow : forall kappa, possible kappa ->
     lambda * sum m (fun x => mu x * squared_distance n (kappa (q x)) (q x)) <= expected (fun x => kappa (q x)) - expected q).
  { intros kappa [_ K]. unfold expected. rewrite <- sum_scale, <- sum_minus. apply sum_le. intros x X.
    destruct (H x X) as [P M]. destruct (K x X) as [S U].
    pose proof (l25_thm45_growth n gamma lambda (p x) (q x) (kappa (q x)) G L P M S U) as E.
    apply (Rmult_le_compat_l (mu x)) in E; [|apply Mu; exact X]. lra. }
  split; [|exact Grow]. split.
  - intros d (kappa & K & ->). specialize (Grow kappa K).
    assert (0 <= lambda * sum m (fun x => mu x * squared_distance n (kappa (q x)) (q x))); [|lra].
    apply Rmult_le_pos; [exact L|]. apply sum_nonneg. intros x X.
    apply Rmult_le_pos; [apply Mu; exact X|apply squared_distance_nonneg].
  - intros d D. apply (D 0). exists (fun v => v). split; [|symmetry; apply Rminus_diag_eq; reflexivity]. split; [exact Id|].
    intros x X. destruct (H x X) as [_ (S & U & _)]. split; assumption.
Qed.

(* each loss of two classes has gap 0 at its own minimiser, whatever the loss. Faithfulness: ours, exact, for two classes. *)
Theorem l25_thm45_corrected (L : loss) p x : 0 < p < 1 -> 0 < x < 1 -> minimises 2 L (two p) (two x) -> is_gap L p x 0.
Proof.
  intros P X (_ & _ & M). split.
  - intros d (kappa & _ & K & ->). specialize (M (two (kappa x)) (two_simplex (kappa x) ltac:(lra))).
    assert (U : supports 2 (two (kappa x)) (two p)) by (intros i _ _; unfold two; destruct (Nat.eqb i 0); lra).
    specialize (M U). lra.
  - intros d D. apply (D 0). exists (shift 0). split; [apply shift_post_processing|].
    replace (shift 0 x) with x; [split; [lra|ring]|].
    unfold shift. rewrite Rplus_0_r, Rmin_right, Rmax_right; lra.
Qed.

(* not vacuous: gamma = 2, lambda = 1. (3/4, 1/4) is the minimiser for some truth (p, 1 - p); its gap is 0, and moving it to
   (1/2, 1/2) raises the expected loss by 1/8 or more *)
Example l25_thm45_example : exists p, 0 < p < 1 /\ minimises 2 (fcl 2 2 1) (two p) (two (3 / 4)) /\
  is_gap (fcl 2 2 1) p (3 / 4) 0 /\
  1 / 8 <= risk 2 (fcl 2 2 1) (two p) (two (1 / 2)) - risk 2 (fcl 2 2 1) (two p) (two (3 / 4)).
Proof.
  destruct (l25_minimisers_exist 2 1 (3 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as [p [P M]]. exists p.
  split; [exact P|]. split; [exact M|]. split; [apply l25_thm45_corrected; [exact P|lra|exact M]|].
  assert (U : supports 2 (two (1 / 2)) (two p)) by (intros i _ _; unfold two; destruct (Nat.eqb i 0); lra).
  pose proof (l25_thm45_growth 2 2 1 (two p) (two (3 / 4)) (two (1 / 2)) ltac:(lra) ltac:(lra) (two_simplex p ltac:(lra)) M
    (two_simplex (1 / 2) ltac:(lra)) U) as E.
  assert (D : squared_distance 2 (two (1 / 2)) (two (3 / 4)) = 1 / 8) by (unfold squared_distance, two; simpl; field).
  lra.
Qed.

(* not vacuous: gamma = 2, lambda = 1, two inputs of weight 1/2 with the minimisers (3/4, 1/4) and (1/4, 3/4), every map of
   predictions admissible: the gap is 0, and to answer (1/2, 1/2) everywhere costs 1/8 or more *)
Example l25_thm45_own_minimiser_example : let q (x : nat) := two (if Nat.eqb x 0 then 3 / 4 else 1 / 4) in exists p : nat -> R,
  (forall x, (x < 2)%nat -> simplex 2 (two (p x)) /\ minimises 2 (fcl 2 2 1) (two (p x)) (q x)) /\
  let expected (predict : nat -> nat -> R) := sum 2 (fun x => 1 / 2 * risk 2 (fcl 2 2 1) (two (p x)) (predict x)) in
  is_lub (fun gain => exists kappa : (nat -> R) -> nat -> R,
    (True /\ forall x, (x < 2)%nat -> simplex 2 (kappa (q x)) /\ supports 2 (kappa (q x)) (two (p x))) /\
    gain = expected q - expected (fun x => kappa (q x))) 0 /\
  1 / 8 <= expected (fun _ => two (1 / 2)) - expected q.
Proof.
  intros q. destruct (l25_minimisers_exist 2 1 (3 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as [p0 [P0 M0]].
  destruct (l25_minimisers_exist 2 1 (1 / 4) ltac:(lra) ltac:(lra) ltac:(lra)) as [p1 [P1 M1]].
  exists (fun x => if Nat.eqb x 0 then p0 else p1). set (p := fun x => if Nat.eqb x 0 then p0 else p1).
  assert (H : forall x, (x < 2)%nat -> simplex 2 (two (p x)) /\ minimises 2 (fcl 2 2 1) (two (p x)) (q x)).
  { intros x _. unfold p, q. destruct (Nat.eqb x 0); (split; [apply two_simplex; lra|assumption]). }
  split; [exact H|]. intros expected.
  destruct (l25_thm45_own_minimiser 2 2 2 1 (fun _ => 1 / 2) (fun x => two (p x)) q (fun _ => True) ltac:(lra) ltac:(lra)
    ltac:(intros; lra) H I) as [G C].
  split; [exact G|]. specialize (C (fun _ => two (1 / 2))).
  assert (K : forall x, (x < 2)%nat -> simplex 2 (two (1 / 2)) /\ supports 2 (two (1 / 2)) (two (p x))).
  { intros x _. split; [apply two_simplex; lra|]. intros i _ _. unfold two. destruct (Nat.eqb i 0); lra. }
  specialize (C (conj I K)). cbv beta in C. fold expected in C. eapply Rle_trans; [|exact C].
  unfold squared_distance, q, two. simpl. lra.
Qed.

(* M20_Entropy.v has an example by interval; what is used of it here is not *)
