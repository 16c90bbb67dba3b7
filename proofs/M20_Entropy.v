(* M20 App. H, last paragraph and Fig. 7: the focal solution has more entropy than that of cross-entropy.

   M20: "in a binary classification problem (i.e. K = 2) ... Focal loss favours a more entropic solution q that is closer to 0.5.
   In other words, ... solutions to focal loss (Eqn 13) will always have higher entropy than that of Cross Entropy."

   Faithful: exact for two classes, every real gamma > 0 and 0 < p < 1 but p = 1/2, where both are 1/2; at p = 0 and 1 both have
   entropy 0 ([m20_entropy_binary]; the solution of cross-entropy is q = p). For four classes or more the sentence would be false:
   [m20_entropy_many_classes], ours, not a claim of the paper. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Focal Require Import Focal Sums Calculus FocalLoss Gain KK24_Prop4 L25_FocalCalibrationLoss L25_OrderPreserving M20_AppH.
Open Scope R_scope.

(* focal loss is FCL without the square *)
Lemma minimises_focal n gamma p q : simplex n p -> minimises n (focal_loss_n gamma) p q <-> minimises n
  (fcl n gamma 0) p q.
Proof.
  intros P. assert (E : forall r, risk n (fcl n gamma 0) p r = risk n (focal_loss_n gamma) p r).
  { intros r. rewrite fcl_risk by apply P. ring. }
  unfold minimises. split; intros (Q & U & M); (split; [exact Q|split; [exact U|]]); intros r R S; specialize
    (M r R S);
    rewrite !E in *; exact M.
Qed.

(* the entropy of two classes falls away from 1/2 *)
Definition entropy_2 (x : R) : R := - (x * ln x) - (1 - x) * ln (1 - x).

Lemma entropy_two_classes x : entropy 2 (two x) = entropy_2 x.
Proof. unfold entropy, entropy_2, two. simpl. ring. Qed.

Lemma entropy_2_decreasing x y : 1 / 2 <= x -> x < y -> y < 1 -> entropy_2 y < entropy_2 x.
Proof.
  intros X L Y. apply (decreasing entropy_2 (fun t => ln (1 - t) - ln t)); [exact L| |]; intros t T.
  - unfold entropy_2. auto_derive; [repeat split; lra|]. replace (1 + - t) with (1 - t) by ring. field. lra.
  - assert (ln (1 - t) < ln t) by (apply ln_increasing; lra). lra.
Qed.

Lemma entropy_2_mirror x : entropy_2 (1 - x) = entropy_2 x.
Proof. unfold entropy_2. replace (1 - (1 - x)) with x by ring. ring. Qed.

(* the solution is strictly between 1/2 and p *)
Lemma solution_nearer gamma p x : 0 < gamma -> 0 < p < 1 -> 0 < x < 1 ->
  p * (gain gamma x / x) = (1 - p) * (gain gamma (1 - x) / (1 - x)) -> 1 / 2 < x -> x < p.
Proof.
  intros G P X E H. pose proof (gain_half gamma G) as Half.
  pose proof (gain_falls gamma (1 / 2) x G ltac:(lra) H ltac:(lra) ltac:(lra)) as A.
  pose proof (gain_larger_before gamma (1 - x) x G ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as B.
  pose proof (gain_pos gamma x ltac:(lra) X) as C. set (a := gain gamma x) in *. set (b := gain gamma (1 - x)) in *.
  assert (F : p * a * (1 - x) = (1 - p) * b * x).
  { apply (Rmult_eq_compat_r (x * (1 - x))) in E.
    replace (p * (a / x) * (x * (1 - x))) with (p * a * (1 - x)) in E by (field; lra).
    replace ((1 - p) * (b / (1 - x)) * (x * (1 - x))) with ((1 - p) * b * x) in E by (field; lra). exact E. }
  assert (0 < (1 - p) * x) by (apply Rmult_lt_0_compat; lra).
  assert ((1 - p) * x * a < (1 - p) * x * b) by (apply Rmult_lt_compat_l; assumption).
  assert (a * ((1 - p) * x) < a * (p * (1 - x))) by lra.
  apply Rmult_lt_reg_l in H2; [|exact C]. lra.
Qed.

Theorem m20_entropy_binary gamma p x : 0 < gamma -> 0 < p < 1 -> p <> 1 / 2 ->
  minimises 2 (focal_loss_n gamma) (two p) (two x) -> entropy 2 (two p) < entropy 2 (two x).
Proof.
  intros G P N M. pose proof (two_simplex p ltac:(lra)) as S. apply minimises_focal in M; [|exact S].
  assert (X0 : 0 < x) by (destruct M as (_ & U & _); apply (U 0%nat); [lia|unfold two; simpl; lra]).
  assert (X1 : 0 < 1 - x) by (destruct M as (_ & U & _); apply (U 1%nat); [lia|unfold two; simpl; lra]).
  pose proof (minimiser_slopes 2 gamma 0 (two p) (two x) 0 1 S M ltac:(lia) ltac:(lia) X0 X1) as E.
  unfold slope, two in E. simpl in E. rewrite !focal_slope_gain in E by lra.
  assert (F : p * (gain gamma x / x) = (1 - p) * (gain gamma (1 - x) / (1 - x))) by lra. clear E.
  rewrite !entropy_two_classes. destruct (Rtotal_order x (1 / 2)) as [C|[C|C]].
  - pose proof (solution_nearer gamma (1 - p) (1 - x) G ltac:(lra) ltac:(lra)) as K.
    replace (1 - (1 - x)) with x in K by ring. replace (1 - (1 - p)) with p in K by ring.
    specialize (K (eq_sym F) ltac:(lra)).
    rewrite <- (entropy_2_mirror p), <- (entropy_2_mirror x). apply entropy_2_decreasing; lra.
  - exfalso. apply N. subst x. replace (1 - 1 / 2) with (1 / 2) in F by field.
    pose proof (gain_pos gamma (1 / 2) ltac:(lra) ltac:(lra)) as Q.
    assert (0 < gain gamma (1 / 2) / (1 / 2)) by (apply Rdiv_lt_0_compat; lra). apply Rmult_eq_reg_r in F; lra.
  - pose proof (solution_nearer gamma p x G P ltac:(lra) F C). apply entropy_2_decreasing; lra.
Qed.

(* not vacuous: every x between 0 and 1 is the solution for some p, [l25_minimisers_exist] with lambda = 0 *)
Example m20_entropy_example gamma x : 0 < gamma -> 0 < x < 1 ->
  exists p, 0 < p < 1 /\ minimises 2 (focal_loss_n gamma) (two p) (two x).
Proof.
  intros G X. destruct (l25_minimisers_exist gamma 0 x ltac:(lra) ltac:(lra) X) as [p [P M]]. exists p.
  split; [exact P|].
  apply minimises_focal; [apply two_simplex; lra|exact M].
Qed.

(* ---- four classes or more, gamma = 1/2: the solution (0.33, 0.33, 0.33, 0.01) has less entropy than the truth ---- *)

(* further classes have probability 0, in the solution and in the truth *)
Definition tied (i : nat) : R := match i with 0%nat | 1%nat | 2%nat => 33 / 100 | 3%nat => 1 / 100 | _ => 0 end.
Definition w (q : R) : R := q / (exp (1 / 2 * ln (1 - q)) * (1 + 1 / 2 * (- (q * ln q) / (1 - q)))).
Definition total : R := 3 * w (33 / 100) + w (1 / 100).
Definition truth (i : nat) : R := w (tied i) / total.

Lemma w_weight q : w q = weight (1 / 2) q.
Proof. reflexivity. Qed.

Lemma w_0 : w 0 = 0.
Proof. unfold w, Rdiv. apply Rmult_0_l. Qed.

Lemma total_pos : 0 < total.
Proof.
  unfold total. rewrite (w_weight (33 / 100)), (w_weight (1 / 100)).
  pose proof (weight_pos (1 / 2) (33 / 100) ltac:(lra) ltac:(lra)).
  pose proof (weight_pos (1 / 2) (1 / 100) ltac:(lra) ltac:(lra)). lra.
Qed.

Lemma tied_range i : 0 <= tied i < 1.
Proof. destruct i as [|[|[|[|i]]]]; simpl; lra. Qed.

Lemma tied_0 k : tied (k + 4) = 0.
Proof. rewrite Nat.add_comm. reflexivity. Qed.

Lemma truth_0 i : tied i = 0 -> truth i = 0.
Proof. intros Z. unfold truth. rewrite Z, w_0. unfold Rdiv. apply Rmult_0_l. Qed.

Lemma truth_pos i : 0 < tied i -> 0 < truth i.
Proof.
  intros T. unfold truth. rewrite w_weight. apply Rdiv_lt_0_compat; [|exact total_pos].
  pose proof (tied_range i). apply weight_pos; lra.
Qed.

Lemma sum_first_four k f : (forall i, f (i + 4)%nat = 0) -> sum (k + 4) f = sum 4 f.
Proof. intros Z. induction k; [reflexivity|]. simpl plus. simpl sum. rewrite Z, IHk. simpl. ring. Qed.

(* ours (m20.entropy_many_classes), exact: for every n >= 4 *)
Theorem m20_entropy_many_classes n : (4 <= n)%nat ->
  exists p, simplex n p /\ minimises n (focal_loss_n (1 / 2)) p tied /\ entropy n tied < entropy n p.
Proof.
  intros N. replace n with ((n - 4) + 4)%nat by lia. set (k := (n - 4)%nat).
  exists truth. pose proof total_pos as T.
  assert (S : simplex (k + 4) truth).
  { split.
    - intros i _. destruct (proj1 (tied_range i)) as [H|H]; [left; apply truth_pos; exact H|right; symmetry; apply truth_0; lra].
    - rewrite sum_first_four by (intros i; apply truth_0, tied_0).
      replace (sum 4 truth) with ((3 * w (33 / 100) + w (1 / 100)) * / total) by (unfold truth, tied; simpl;
      unfold Rdiv; ring).
      change (total * / total = 1). apply Rinv_r. lra. }
  split; [exact S|]. split.
  - apply minimises_focal; [exact S|]. apply (slopes_suffice (k + 4) (1 / 2) 0 truth tied (- / total)); try lra.
    + exact S.
    + split; [intros i _; apply tied_range|]. rewrite sum_first_four by apply tied_0. simpl. field.
    + intros i _ P. destruct (proj1 (tied_range i)) as [H|H]; [exact H|]. rewrite truth_0 in P by lra. lra.
    + intros i _. apply tied_range.
    + intros i _ P. unfold slope, truth. pose proof (tied_range i).
      rewrite w_weight, focal_slope_weight by lra.
      pose proof (weight_pos (1 / 2) (tied i) ltac:(lra) ltac:(lra)). field. lra.
    + intros i _ _. assert (0 < / total) by (apply Rinv_0_lt_compat; exact T). lra.
  - unfold entropy. rewrite !sum_first_four.
    + unfold truth, tied. simpl. unfold total, w. interval with (i_prec 60).
    + intros i. rewrite truth_0 by apply tied_0. ring.
    + intros i. rewrite tied_0. ring.
Qed.

Definition m20_entropy_theorems := (m20_entropy_binary, m20_entropy_many_classes).
