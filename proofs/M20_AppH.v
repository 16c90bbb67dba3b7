(* M20 App. H (also KN24 Lemma 1 and L25 App. A.9): focal loss is at least cross-entropy minus gamma times the entropy.

   M20: "FL_gamma(p, q) = - sum_i (1 - q_i)^gamma p_i log q_i >= ... >= CE(p, q) - gamma Entropy(q)" and "FL(p, q) >=
   KL(p||q) + Entropy(p) - gamma Entropy(q)"; the first step "by Bernoulli's inequality, for all gamma >= 1 and 0 <= q_i <= 1".

   Faithful: exact, for every number of classes, every real gamma >= 0 (M20's chain needs gamma >= 1) and all soft labels p;
   q supports p, else both losses are infinite. L25's and KN24's own formulas are lost from the texts at hand: for them
   'equivalent under the reading' that they state this inequality. *)

From Coq Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus FocalLoss.
Open Scope R_scope.

(* 0 log 0 = 0 in Coq as in the papers *)
Definition entropy (n : nat) (q : nat -> R) : R := - sum n (fun i => q i * ln (q i)).
Definition kl_divergence (n : nat) (p q : nat -> R) : R := sum n (fun i => p i * ln (p i / q i)).

(* one label: (- log q)(1 - (1-q)^gamma) <= gamma (- q log q - (1-q) log (1-q)) *)
Lemma one_label gamma q : 0 <= gamma -> 0 < q < 1 ->
  - ln q * (1 - Rpower (1 - q) gamma) <= gamma * (- (q * ln q) - (1 - q) * ln (1 - q)).
Proof.
  intros G H. pose proof (ln_neg q H) as L. pose proof (ln_neg (1 - q) ltac:(lra)) as M.
  set (a := - ln (1 - q)).
  assert (B : 1 - Rpower (1 - q) gamma <= gamma * a).
  { unfold Rpower. pose proof (exp_ineq1_le (gamma * ln (1 - q))). unfold a. lra. }
  assert (C : - ln q * (1 - Rpower (1 - q) gamma) <= - ln q * (gamma * a)) by (apply Rmult_le_compat_l; lra).
  assert (U : - ln q * q <= 1 - q).
  { pose proof (ln_ge q ltac:(lra)) as E. apply (Rmult_le_compat_r q) in E; [|lra].
    replace ((1 - 1 / q) * q) with (q - 1) in E by (field; lra). lra. }
  assert (V : a * (1 - q) <= q).
  { pose proof (ln_ge (1 - q) ltac:(lra)) as E. apply (Rmult_le_compat_r (1 - q)) in E; [|lra].
    replace ((1 - 1 / (1 - q)) * (1 - q)) with (- q) in E by (field; lra). unfold a. lra. }
  assert (Q : q <= a) by (pose proof (ln_le (1 - q) ltac:(lra)); unfold a; lra).
  (* (- log q)(a - q) <= (1 - q) a, from q (- log q) <= 1 - q and a - q <= a q *)
  assert (W : - ln q * (a - q) <= (1 - q) * a).
  { apply (Rmult_le_reg_l q); [lra|].
    assert (q * (- ln q * (a - q)) <= (1 - q) * (a - q)) by (replace (q * (- ln q * (a - q))) with ((- ln q * q) *
      (a - q)) by ring;
      apply Rmult_le_compat_r; lra).
    assert ((1 - q) * (a - q) <= (1 - q) * (a * q)) by (apply Rmult_le_compat_l; lra).
    replace (q * ((1 - q) * a)) with ((1 - q) * (a * q)) by ring. lra. }
  replace (- (q * ln q) - (1 - q) * ln (1 - q)) with (- ln q * q + (1 - q) * a) by (unfold a; ring).
  assert (- ln q * a <= - ln q * q + (1 - q) * a) by lra.
  assert (gamma * (- ln q * a) <= gamma * (- ln q * q + (1 - q) * a)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* the entropy is at least that of 'class y or not' *)
Lemma entropy_two n q y : simplex n q -> (y < n)%nat -> 0 < q y < 1 ->
  - (q y * ln (q y)) - (1 - q y) * ln (1 - q y) <= entropy n q.
Proof.
  intros [P S] Y H. unfold entropy. set (a := - ln (1 - q y)).
  assert (A : sum n (fun i => if Nat.eqb i y then - (q y * ln (q y)) else a * q i) <= sum n (fun i => -1 * (q i * ln
    (q i)))).
  { apply sum_le. intros i I. destruct (Nat.eqb_spec i y) as [->|N]; [lra|].
    pose proof (P i I) as Z. destruct Z as [Z|Z]; [|rewrite <- Z; lra].
    pose proof (sum_two n q i y P I Y N) as T. rewrite S in T.
    assert (ln (q i) <= ln (1 - q y)) by (apply Rcomplements.ln_le; lra). unfold a.
    assert (q i * ln (q i) <= q i * ln (1 - q y)) by (apply Rmult_le_compat_l; lra). lra. }
  rewrite sum_changed, sum_scale, sum_scale, S in A by exact Y. unfold a in A. lra.
Qed.

Lemma entropy_nonneg n q : simplex n q -> 0 <= entropy n q.
Proof.
  intros S. unfold entropy. replace (- sum n (fun i => q i * ln (q i))) with (sum n (fun i => -1 * (q i * ln (q i))))
    by (rewrite sum_scale; ring).
  apply sum_nonneg. intros i I. destruct (simplex_le_1 n q i S I) as [[A|A] [B|B]].
  - pose proof (ln_neg (q i) ltac:(lra)). nra.
  - rewrite B, ln_1. lra.
  - rewrite <- A. lra.
  - lra.
Qed.

Theorem m20_app_h n gamma p q : 0 <= gamma -> simplex n p -> simplex n q -> supports n q p ->
  risk n log_loss_n p q - gamma * entropy n q <= risk n (focal_loss_n gamma) p q.
Proof.
  intros G [Pp Sp] Sq Su.
  assert (E : gamma * entropy n q = sum n (fun i => (gamma * entropy n q) * p i)) by (rewrite sum_scale, Sp; ring).
  rewrite E. unfold risk. rewrite <- sum_minus. apply sum_le. intros i I.
  unfold log_loss_n, log_loss, focal_loss_n, focal_loss.
  pose proof (entropy_nonneg n q Sq) as N.
  destruct (Pp i I) as [Z|Z]; [|rewrite <- Z; lra].
  pose proof (Su i I Z) as Q. destruct (simplex_le_1 n q i Sq I) as [_ [Q1|Q1]].
  - pose proof (one_label gamma (q i) G ltac:(lra)) as A. pose proof (entropy_two n q i Sq I ltac:(lra)) as B.
    assert (gamma * (- (q i * ln (q i)) - (1 - q i) * ln (1 - q i)) <= gamma * entropy n q) by
      (apply Rmult_le_compat_l; lra).
    assert (C : p i * (- ln (q i) * (1 - Rpower (1 - q i) gamma)) <= p i * (gamma * entropy n q)) by
      (apply Rmult_le_compat_l; lra).
    lra.
  - rewrite Q1, ln_1. assert (0 <= gamma * entropy n q) by (apply Rmult_le_pos; lra). nra.
Qed.

(* cross-entropy is KL divergence plus entropy *)
Lemma cross_entropy_kl n p q : simplex n p -> supports n q p ->
  risk n log_loss_n p q = kl_divergence n p q + entropy n p.
Proof.
  intros [P _] S. unfold risk, kl_divergence, entropy, log_loss_n, log_loss.
  replace (- sum n (fun i => p i * ln (p i))) with (sum n (fun i => -1 * (p i * ln (p i)))) by (rewrite sum_scale;
    ring).
  rewrite <- sum_plus. apply sum_ext. intros i I.
  destruct (P i I) as [Z|Z]; [|rewrite <- Z; ring]. rewrite ln_div by (auto using S). ring.
Qed.

Theorem m20_app_h_kl n gamma p q : 0 <= gamma -> simplex n p -> simplex n q -> supports n q p ->
  kl_divergence n p q + entropy n p - gamma * entropy n q <= risk n (focal_loss_n gamma) p q.
Proof. intros G P Q S. rewrite <- cross_entropy_kl by assumption. apply m20_app_h; assumption. Qed.

Lemma bernoulli_derivative gamma x : 0 < x -> is_derive (fun x => Rpower x gamma - gamma * x) x (gamma * (Rpower x
  (gamma - 1) - 1)).
Proof.
  intros X. unfold Rpower. auto_derive; [lra|].
  replace ((gamma - 1) * ln x) with (gamma * ln x + - ln x) by ring. rewrite exp_plus, exp_Ropp, exp_ln by lra.
  field. lra.
Qed.

Lemma Rpower_1_base gamma : Rpower 1 gamma = 1.
Proof. unfold Rpower. rewrite ln_1, Rmult_0_r. apply exp_0. Qed.

(* below gamma = 1 Bernoulli's inequality is reversed. Faithful: ours (m20.app_h_below_one, its second half; the first is
   [m20_app_h]), exact. *)
Theorem m20_app_h_reversed gamma q : 0 < gamma < 1 -> 0 < q < 1 -> Rpower (1 - q) gamma < 1 - gamma * q.
Proof.
  intros G Q.
  assert (A : Rpower (1 - q) gamma - gamma * (1 - q) < Rpower 1 gamma - gamma * 1).
  { apply (increasing (fun x => Rpower x gamma - gamma * x) (fun x => gamma * (Rpower x (gamma - 1) - 1))); [lra| |].
    - intros x X. apply bernoulli_derivative. lra.
    - intros x X. apply Rmult_lt_0_compat; [lra|]. unfold Rpower.
      assert (0 < (gamma - 1) * ln x) by (pose proof (ln_neg x ltac:(lra)); nra).
      pose proof (exp_ineq1_le ((gamma - 1) * ln x)). lra. }
  rewrite Rpower_1_base in A. lra.
Qed.

(* M20's first step: Bernoulli's inequality, for gamma >= 1 (and 0) and for no gamma between.
   Faithfulness: related: one step of M20's argument, and for which gamma it holds. *)
Theorem m20_app_h_bernoulli gamma : 0 <= gamma ->
  (forall q, 0 <= q < 1 -> 1 - gamma * q <= Rpower (1 - q) gamma) <-> gamma = 0 \/ 1 <= gamma.
Proof.
  intros G. split.
  - intros H. destruct (Req_dec gamma 0) as [E|E]; [left; exact E|right]. apply Rnot_lt_le. intro L.
    specialize (H (1 / 2) ltac:(lra)). pose proof (m20_app_h_reversed gamma (1 / 2) ltac:(lra) ltac:(lra)). lra.
  - intros C q Q. destruct C as [->|C].
    + unfold Rpower. rewrite !Rmult_0_l, exp_0. lra.
    + assert (A : Rpower 1 gamma - gamma * 1 <= Rpower (1 - q) gamma - gamma * (1 - q)).
      { apply (nonincreasing (fun x => Rpower x gamma - gamma * x) (fun x => gamma * (Rpower x (gamma - 1) - 1)));
        [lra| |].
        - intros x X. apply bernoulli_derivative. lra.
        - intros x X. assert (Rpower x (gamma - 1) <= 1); [|nra].
          unfold Rpower. assert (L : ln x <= 0) by (pose proof (ln_le x ltac:(lra)); lra).
          assert (K : (gamma - 1) * ln x <= 0) by nra.
          destruct K as [K|K]; [apply exp_increasing in K|rewrite K]; rewrite exp_0 in *; lra. }
      rewrite Rpower_1_base in A. lra.
Qed.

(* M20's third and fourth step, 'by Hoelder's inequality with p = infinity, q = 1' and 'p_i <= 1 for all i':
   - gamma |sum p_i q_i log q_i| >= - gamma max_j p_j sum |q_i log q_i| >= gamma sum q_i log q_i = - gamma Entropy(q).
   Faithfulness: exact under the reading that the bars on the left, not in the text at hand, are there; for every gamma >= 0. *)
Theorem m20_app_h_hoelder n gamma p q largest : 0 <= gamma -> simplex n p -> simplex n q ->
  (forall i, (i < n)%nat -> p i <= largest) -> (exists j, (j < n)%nat /\ p j = largest) ->
  - gamma * (largest * sum n (fun i => Rabs (q i * ln (q i)))) <= - gamma * Rabs (sum n (fun i => p i * q i * ln (q i))) /\
  gamma * sum n (fun i => q i * ln (q i)) <= - gamma * (largest * sum n (fun i => Rabs (q i * ln (q i)))) /\
  gamma * sum n (fun i => q i * ln (q i)) = - gamma * entropy n q.
Proof.
  intros G P Q Up [j [J E]].
  assert (T : forall i, (i < n)%nat -> q i * ln (q i) <= 0).
  { intros i I. destruct (simplex_le_1 n q i Q I) as [[A|A] B]; [|rewrite <- A; lra].
    assert (ln (q i) <= 0) by (pose proof (ln_le (q i) A); lra). nra. }
  assert (S : sum n (fun i => Rabs (q i * ln (q i))) = entropy n q).
  { unfold entropy. replace (- sum n (fun i => q i * ln (q i))) with (-1 * sum n (fun i => q i * ln (q i))) by ring.
    rewrite <- sum_scale. apply sum_ext. intros i I. rewrite Rabs_left1 by (apply T; exact I). ring. }
  assert (A : Rabs (sum n (fun i => p i * q i * ln (q i))) <= largest * entropy n q).
  { rewrite <- S, <- sum_scale. apply Rabs_le. split.
    - replace (- sum n (fun i => largest * Rabs (q i * ln (q i)))) with (-1 * sum n (fun i => largest * Rabs (q i * ln (q i))))
        by ring. rewrite <- sum_scale. apply sum_le. intros i I. specialize (T i I). rewrite Rabs_left1 by exact T.
      specialize (Up i I). nra.
    - apply sum_le. intros i I. specialize (T i I). rewrite Rabs_left1 by exact T. pose proof (proj1 P i I). specialize (Up i I). nra. }
  assert (L : 0 <= largest <= 1) by (rewrite <- E; apply (simplex_le_1 n); assumption).
  pose proof (entropy_nonneg n q Q) as H. rewrite S.
  split; [|split].
  - apply (Rmult_le_compat_l gamma) in A; [|exact G]. lra.
  - assert (largest * entropy n q <= 1 * entropy n q) by (apply Rmult_le_compat_r; lra).
    apply (Rmult_le_compat_l gamma) in H0; [|exact G]. unfold entropy in *. lra.
  - unfold entropy. ring.
Qed.

(* not vacuous: two equal classes, gamma = 1, where the inequality says - log 2 <= ... *)
Example m20_app_h_example :
  let half := fun _ : nat => 1 / 2 in
  simplex 2 half /\ supports 2 half half /\
  risk 2 log_loss_n half half - 1 * entropy 2 half = 0 /\ risk 2 (focal_loss_n 1) half half = ln 2 / 2.
Proof.
  intros half. assert (L : ln (1 / 2) = - ln 2) by (rewrite ln_div, ln_1 by lra; ring).
  repeat split.
  - intros i _. unfold half. lra.
  - unfold half. simpl. field.
  - intros i _ _. unfold half. lra.
  - unfold risk, entropy, half, log_loss_n, log_loss. simpl. ring.
  - unfold risk, half, focal_loss_n, focal_loss. simpl. rewrite L.
    replace (1 - 1 / 2) with (1 / 2) by field. rewrite Rpower_1 by lra. field.
Qed.
