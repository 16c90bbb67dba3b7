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

(* corrected: each loss has gap 0 at its own minimiser *)
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

(* M20_Entropy.v has an example by interval; what is used of it here is not *)
Print Assumptions l25_thm45_refuted.
Print Assumptions l25_thm45_corrected.
