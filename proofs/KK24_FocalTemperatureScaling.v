(* KK24 section 4.2 and conclusion: focal temperature scaling, and that it keeps the order of the classes.

   KK24: "First, instance class scores s_1, ..., s_n are converted into temperature-scaled softmax probabilities q_1, ..., q_n.
   These probabilities are then transformed with a focal calibration map as defined by Eq. (1)"; "while keeping the accuracy
   unchanged by design". KK24 use gamma = -0.5 and -0.25 too, where Prop. 1 and 4 do not apply.

   Faithful: exact, for every number of classes n >= 2, T > 0 and real gamma >= -1: the order of the classes is that of the
   scores, so the most probable class is (ties included). 'By design' has no proof in the paper. *)

From Coq Require Import Reals Lra Lia Psatz.
From Focal Require Import Focal Sums Calculus FocalLoss EntropyRatio Softmax.
Open Scope R_scope.

Definition focal_temperature_scaling (n : nat) (gamma T : R) (s : nat -> R) : nat -> R :=
  focal_map n gamma (softmax n (fun i => s i / T)).

(* ---- the weight keeps the order of two classes, gamma >= -1 ---- *)

Lemma entropy_ratio_increasing x y : 0 < x -> x < y -> y < 1 -> entropy_ratio x < entropy_ratio y.
Proof.
  intros. apply (increasing entropy_ratio ratio1); [lra| |].
  - intros c Hc. apply entropy_ratio_derivative. lra.
  - intros c Hc. apply ratio1_pos. lra.
Qed.

Lemma gain_pos_negative gamma q : -1 <= gamma -> 0 < q < 1 -> 0 < gain gamma q.
Proof.
  intros G H. unfold gain. apply Rmult_lt_0_compat; [apply Rpower_pos|].
  pose proof (entropy_ratio_pos q H). pose proof (entropy_ratio_lt_1 q H). nra.
Qed.

(* the printed summand of Eq. (1); its sign cancels in the map *)
Lemma eq1_term_gain gamma q : -1 <= gamma -> 0 < q < 1 -> eq1_term gamma q = - (q / gain gamma q).
Proof.
  intros G H. pose proof (gain_pos_negative gamma q G H) as P.
  unfold eq1_term. pose proof (focal_slope_gain gamma q H) as E. unfold focal_slope in E. rewrite E. field. lra.
Qed.

(* q (1 - q)^a keeps the order for 0 <= a <= 1: its logarithm is linear in a, and at a = 1 it is q - q^2 *)
Lemma variance_order a x y : 0 <= a <= 1 -> 0 < x -> x < y -> x + y <= 1 -> y < 1 ->
  x * Rpower (1 - x) a <= y * Rpower (1 - y) a.
Proof.
  intros A X L S Y.
  assert (E : forall q, 0 < q < 1 -> q * Rpower (1 - q) a = exp ((1 - a) * ln q + a * ln (q * (1 - q)))).
  { intros q Q. unfold Rpower. rewrite ln_mult by lra.
    replace ((1 - a) * ln q + a * (ln q + ln (1 - q))) with (ln q + a * ln (1 - q)) by ring.
    rewrite exp_plus, exp_ln by lra. reflexivity. }
  rewrite !E by lra.
  assert (ln x <= ln y) by (left; apply ln_increasing; lra).
  assert (ln (x * (1 - x)) <= ln (y * (1 - y))).
  { assert (x * (1 - x) <= y * (1 - y)) by nra. assert (0 < x * (1 - x)) by nra.
    destruct H0 as [B|B]; [left; apply ln_increasing; assumption|rewrite B; lra]. }
  assert (K : (1 - a) * ln x + a * ln (x * (1 - x)) <= (1 - a) * ln y + a * ln (y * (1 - y))).
  { apply Rplus_le_compat; apply Rmult_le_compat_l; lra. }
  destruct K as [K|K]; [left; apply exp_increasing, K|rewrite K; lra].
Qed.

Lemma weight_order gamma x y : -1 <= gamma -> 0 < x -> x < y -> y < 1 -> x + y <= 1 -> weight gamma x < weight gamma y.
Proof.
  intros G X L Y S. destruct (Rle_lt_dec 0 gamma) as [P|N]; [apply weight_increasing; assumption|].
  set (a := - gamma).
  assert (W : forall q, 0 < q < 1 -> weight gamma q = q * Rpower (1 - q) a / (1 - a * entropy_ratio q)).
  { intros q Q. pose proof (entropy_ratio_pos q Q). pose proof (entropy_ratio_lt_1 q Q).
    unfold weight, gain, a. rewrite Rpower_Ropp. pose proof (Rpower_pos (1 - q) gamma). field.
    repeat split; nra. }
  rewrite !W by lra. pose proof (entropy_ratio_increasing x y X L Y) as B.
  pose proof (entropy_ratio_pos x ltac:(lra)). pose proof (entropy_ratio_lt_1 y ltac:(lra)).
  pose proof (variance_order a x y ltac:(unfold a; lra) X L S Y) as V.
  assert (D : 0 < 1 - a * entropy_ratio y) by (unfold a; nra).
  assert (D' : 1 - a * entropy_ratio y < 1 - a * entropy_ratio x) by (unfold a; nra).
  assert (I : / (1 - a * entropy_ratio x) < / (1 - a * entropy_ratio y))
    by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|exact D']).
  assert (Z : 0 < x * Rpower (1 - x) a) by (apply Rmult_lt_0_compat; [lra|apply Rpower_pos]).
  assert (0 < / (1 - a * entropy_ratio y)) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv. apply (Rlt_le_trans _ (x * Rpower (1 - x) a * / (1 - a * entropy_ratio y))).
  - apply Rmult_lt_compat_l; lra.
  - apply Rmult_le_compat_r; lra.
Qed.

(* ---- the map ---- *)

Lemma open_simplex_two n q i j : open_simplex n q -> (i < n)%nat -> (j < n)%nat -> i <> j -> q i + q j <= 1.
Proof. intros [P S] I J D. rewrite <- S. apply sum_two; auto. intros k K. left. auto. Qed.

Lemma open_simplex_lt_1 n q i : (2 <= n)%nat -> open_simplex n q -> (i < n)%nat -> 0 < q i < 1.
Proof.
  intros N [P S] I. split; [auto|].
  set (o := if Nat.eqb i 0 then 1%nat else 0%nat).
  assert (O : (o < n)%nat /\ i <> o) by (unfold o; destruct (Nat.eqb_spec i 0); lia).
  pose proof (open_simplex_two n q i o (conj P S) I (proj1 O) (proj2 O)). pose proof (P o (proj1 O)). lra.
Qed.

Lemma focal_map_weight n gamma q j : (2 <= n)%nat -> -1 <= gamma -> open_simplex n q -> (j < n)%nat ->
  0 < sum n (fun k => weight gamma (q k)) /\
  focal_map n gamma q j = weight gamma (q j) / sum n (fun k => weight gamma (q k)).
Proof.
  intros N G Q J.
  assert (W : forall k, (k < n)%nat -> 0 < weight gamma (q k)).
  { intros k K. pose proof (open_simplex_lt_1 n q k N Q K).
  apply Rdiv_lt_0_compat; [lra|apply gain_pos_negative; assumption]. }
  assert (S : 0 < sum n (fun k => weight gamma (q k))).
  { apply sum_pos; [intros k K; left; auto|exists j; auto]. }
  split; [exact S|]. unfold focal_map.
  rewrite (sum_ext n (fun k => eq1_term gamma (q k)) (fun k => -1 * weight gamma (q k))).
  - rewrite sum_scale, eq1_term_gain by (try exact G; apply (open_simplex_lt_1 n); assumption).
    fold (weight gamma (q j)). field. lra.
  - intros k K. rewrite eq1_term_gain by (try exact G; apply (open_simplex_lt_1 n); assumption). unfold weight. ring.
Qed.

Theorem focal_map_distribution n gamma q : (2 <= n)%nat -> -1 <= gamma -> open_simplex n q ->
  open_simplex n (focal_map n gamma q).
Proof.
  intros N G Q. split.
  - intros j J. destruct (focal_map_weight n gamma q j N G Q J) as [S ->]. apply Rdiv_lt_0_compat; [|exact S].
    pose proof (open_simplex_lt_1 n q j N Q J). apply Rdiv_lt_0_compat; [lra|apply gain_pos_negative; assumption].
  - destruct (focal_map_weight n gamma q 0 N G Q ltac:(lia)) as [S _].
    rewrite (sum_ext n _ (fun j => / sum n (fun k => weight gamma (q k)) * weight gamma (q j))).
    + rewrite sum_scale. field. lra.
    + intros j J. destruct (focal_map_weight n gamma q j N G Q J) as [_ ->]. unfold Rdiv. ring.
Qed.

Theorem focal_map_order n gamma q i j : (2 <= n)%nat -> -1 <= gamma -> open_simplex n q -> (i < n)%nat ->
  (j < n)%nat ->
  (q i < q j <-> focal_map n gamma q i < focal_map n gamma q j).
Proof.
  intros N G Q I J.
  assert (F : forall i j, (i < n)%nat -> (j < n)%nat -> q i < q j -> focal_map n gamma q i < focal_map n gamma q j).
  { clear i j I J. intros i j I J L.
    destruct (focal_map_weight n gamma q i N G Q I) as [S ->].
    destruct (focal_map_weight n gamma q j N G Q J) as [_ ->].
    unfold Rdiv. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, S|].
    assert (D : i <> j) by (intros ->; lra).
    apply weight_order; try assumption.
    - apply (open_simplex_lt_1 n q i N Q I).
    - apply (open_simplex_lt_1 n q j N Q J).
    - apply (open_simplex_two n); assumption. }
  split; [apply F; assumption|]. intros L. destruct (Rtotal_order (q i) (q j)) as [A|[A|A]]; [exact A| |].
  - exfalso. unfold focal_map in L. rewrite A in L. lra.
  - pose proof (F j i J I A). lra.
Qed.

Theorem kk24_focal_temperature_scaling_order n gamma T s i j : (2 <= n)%nat -> -1 <= gamma -> 0 < T ->
  (i < n)%nat -> (j < n)%nat ->
  (s i < s j <-> focal_temperature_scaling n gamma T s i < focal_temperature_scaling n gamma T s j).
Proof.
  intros N G Tp I J. unfold focal_temperature_scaling.
  rewrite <- (focal_map_order n gamma (softmax n (fun i => s i / T)) i j N G)
    by (try assumption; apply softmax_open_simplex; lia).
  assert (0 < / T) by (apply Rinv_0_lt_compat, Tp).
  assert (F : forall i j, s i < s j -> softmax n (fun i => s i / T) i < softmax n (fun i => s i / T) j).
  { intros a b L. apply softmax_increasing; [lia|]. unfold Rdiv. apply Rmult_lt_compat_r; assumption. }
  split; [apply F|]. intros L. destruct (Rtotal_order (s i) (s j)) as [A|[A|A]]; [exact A| |].
  - exfalso. unfold softmax in L. rewrite A in L. lra.
  - pose proof (F j i A). lra.
Qed.

(* accuracy: the most probable classes are those of the largest score.
   Faithfulness: exact: 'accuracy' as the set of classes that are most probable, for every sample. *)
Theorem kk24_accuracy_unchanged n gamma T s i : (2 <= n)%nat -> -1 <= gamma -> 0 < T -> (i < n)%nat ->
  ((forall k, (k < n)%nat -> s k <= s i) <->
   (forall k, (k < n)%nat -> focal_temperature_scaling n gamma T s k <= focal_temperature_scaling n gamma T s i)).
Proof.
  intros N G Tp I. split; intros H k K; specialize (H k K); apply Rnot_lt_le; intro L.
  - apply (kk24_focal_temperature_scaling_order n gamma T s i k) in L; try assumption. lra.
  - apply (kk24_focal_temperature_scaling_order n gamma T s i k N G Tp I K) in L. lra.
Qed.

(* not vacuous: what comes out is a distribution, for KK24's gamma = -1/2 too.
   Faithfulness: related: what the paper takes for granted, that scaled outputs are probabilities. *)
Theorem focal_temperature_scaling_distribution n gamma T s : (2 <= n)%nat -> -1 <= gamma ->
  open_simplex n (focal_temperature_scaling n gamma T s).
Proof. intros N G. apply focal_map_distribution; [exact N|exact G|]. apply softmax_open_simplex. lia. Qed.

Example kk24_focal_temperature_scaling_example :
  focal_temperature_scaling 3 (- (1 / 2)) 2 (fun i => INR i) 0 < focal_temperature_scaling 3 (- (1 / 2)) 2
    (fun i => INR i) 2.
Proof. apply kk24_focal_temperature_scaling_order; try lia; simpl; lra. Qed.
