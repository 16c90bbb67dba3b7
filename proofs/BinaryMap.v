(* The binary map in logits: logit FC(s) = (gamma + 1) s - R(s), and the slope of R. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio.
Open Scope R_scope.

Lemma sigmoid_range s : 0 < sigmoid s < 1.
Proof.
  pose proof (exp_pos (- s)) as E. unfold sigmoid. split; [apply Rdiv_lt_0_compat; lra|].
  apply (Rmult_lt_reg_r (1 + exp (- s))); [lra|]. replace (1 / (1 + exp (- s)) * (1 + exp (- s))) with 1 by (field; lra). lra.
Qed.

Lemma sigmoid_opp s : sigmoid (- s) = 1 - sigmoid s.
Proof.
  unfold sigmoid. rewrite Ropp_involutive. pose proof (exp_pos s). rewrite exp_Ropp. field. lra.
Qed.

Lemma sigmoid_increasing s t : s < t -> sigmoid s < sigmoid t.
Proof.
  intros H. unfold sigmoid, Rdiv. rewrite !Rmult_1_l.
  pose proof (exp_pos (- s)). pose proof (exp_pos (- t)). pose proof (exp_increasing (- t) (- s) ltac:(lra)).
  apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|lra].
Qed.

Lemma sigmoid_le s t : s <= t -> sigmoid s <= sigmoid t.
Proof. intros [H| ->]; [apply Rlt_le, sigmoid_increasing; exact H|lra]. Qed.

Lemma sigmoid_0 : sigmoid 0 = 1 / 2.
Proof. unfold sigmoid. rewrite Ropp_0, exp_0. field. Qed.

Lemma logit_sigmoid s : logit (sigmoid s) = s.
Proof.
  unfold logit. rewrite <- sigmoid_opp. unfold sigmoid. rewrite Ropp_involutive.
  pose proof (exp_pos s). replace (1 / (1 + exp (- s)) / (1 / (1 + exp s))) with (exp s); [apply ln_exp|].
  rewrite exp_Ropp. field. lra.
Qed.

Lemma sigmoid_logit q : 0 < q < 1 -> sigmoid (logit q) = q.
Proof.
  intros H. unfold sigmoid, logit. rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; lra). field. lra.
Qed.

Lemma sigmoid_derivative s : is_derive sigmoid s (sigmoid s * (1 - sigmoid s)).
Proof.
  pose proof (exp_pos (- s)). unfold sigmoid. auto_derive; [lra|]. field. lra.
Qed.

(* u(s) = b(sigmoid s) *)
Lemma u_entropy_ratio s : u s = entropy_ratio (sigmoid s).
Proof.
  pose proof (exp_pos s) as P. pose proof (exp_pos (- s)) as M. unfold entropy_ratio. rewrite <- sigmoid_opp.
  unfold u, sigmoid at 1 2 3. rewrite Ropp_involutive.
  replace (1 / (1 + exp (- s))) with (/ (1 + exp (- s))) by (field; lra). rewrite ln_Rinv by lra.
  rewrite exp_Ropp in *. field. lra.
Qed.

Lemma u_range s : sigmoid s < u s < 1.
Proof.
  split; [|rewrite u_entropy_ratio; apply entropy_ratio_lt_1, sigmoid_range].
  pose proof (exp_pos s) as P. pose proof (exp_pos (- s)) as M. unfold u, sigmoid.
  pose proof (ln_lt (/ (1 + exp (- s)))) as L. rewrite ln_Rinv in L by lra.
  assert (I : / (1 + exp (- s)) <> 1).
  { intros E. assert (X : (1 + exp (- s)) * / (1 + exp (- s)) = 1) by (field; lra). rewrite E in X. lra. }
  specialize (L ltac:(apply Rinv_0_lt_compat; lra) I).
  assert (E : exp s * exp (- s) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  apply (Rmult_lt_reg_l (exp (- s))); [exact M|].
  replace (exp (- s) * (exp s * ln (1 + exp (- s)))) with (ln (1 + exp (- s))) by (rewrite <- Rmult_assoc, (Rmult_comm (exp (- s))), E; ring).
  replace (exp (- s) * (1 / (1 + exp (- s)))) with (1 - / (1 + exp (- s))) by (field; lra). lra.
Qed.

Lemma u_pos s : 0 < u s.
Proof. pose proof (u_range s). pose proof (sigmoid_range s). lra. Qed.

(* u' = u - sigmoid *)
Lemma u_derivative s : is_derive u s (u s - sigmoid s).
Proof.
  pose proof (exp_pos (- s)). unfold u, sigmoid. auto_derive; [lra|].
  assert (E : exp s * exp (- s) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  replace (1 / (1 + exp (- s))) with (exp s * exp (- s) / (1 + exp (- s))) by (rewrite E; reflexivity). field. lra.
Qed.

Lemma u_mirror_derivative s : is_derive (fun s => u (- s)) s (- (u (- s) - sigmoid (- s))).
Proof.
  replace (- (u (- s) - sigmoid (- s))) with (scal (-1) (u (- s) - sigmoid (- s))) by (unfold scal; simpl; unfold mult; simpl; ring).
  apply (is_derive_comp u (fun s => - s)); [apply u_derivative|]. auto_derive; [exact I|ring].
Qed.

Lemma u_0 : u 0 = ln 2.
Proof. unfold u. rewrite Ropp_0, exp_0. replace (1 + 1) with 2 by ring. ring. Qed.

Lemma u_pair_above s : 1 < u s + u (- s).
Proof. pose proof (u_range s). pose proof (u_range (- s)). rewrite sigmoid_opp in *. lra. Qed.

Lemma u_pair_below s : u s + u (- s) <= 2 * ln 2.
Proof. rewrite !u_entropy_ratio, sigmoid_opp. apply entropy_ratio_pair, sigmoid_range. Qed.

(* ---- R ---- *)

Lemma one_plus_u g s : -1 <= g -> 0 < 1 + g * u s.
Proof. intros H. pose proof (u_range s). pose proof (u_pos s). nra. Qed.

Definition logit_gap_slope (g s : R) : R :=
  g * (u s - sigmoid s) / (1 + g * u s) + g * (u (- s) - sigmoid (- s)) / (1 + g * u (- s)).

Lemma logit_gap_derivative g s : -1 <= g -> is_derive (logit_gap g) s (logit_gap_slope g s).
Proof.
  intros H. pose proof (one_plus_u g s H) as A. pose proof (one_plus_u g (- s) H) as B.
  assert (E : forall t, logit_gap g t = ln (1 + g * u t) - ln (1 + g * u (- t))).
  { intros t. unfold logit_gap. apply ln_div; apply one_plus_u; exact H. }
  apply (is_derive_ext (fun t => ln (1 + g * u t) - ln (1 + g * u (- t)))); [intros t; symmetry; apply E|].
  unfold logit_gap_slope.
  replace (g * (u s - sigmoid s) / (1 + g * u s) + g * (u (- s) - sigmoid (- s)) / (1 + g * u (- s)))
    with (g * (u s - sigmoid s) / (1 + g * u s) - g * - (u (- s) - sigmoid (- s)) / (1 + g * u (- s))) by (field; lra).
  apply (is_derive_minus (fun t => ln (1 + g * u t)) (fun t => ln (1 + g * u (- t)))).
  - pose proof (u_derivative s) as D. auto_derive.
    + split; [exists (u s - sigmoid s); exact D|split; [exact A|exact I]].
    + replace (Derive (fun x : R => u x) s) with (u s - sigmoid s) by (symmetry; apply is_derive_unique; exact D). field. lra.
  - pose proof (u_derivative (- s)) as D. auto_derive.
    + split; [exists (u (- s) - sigmoid (- s)); exact D|split; [exact B|exact I]].
    + replace (Derive (fun x : R => u x) (- s)) with (u (- s) - sigmoid (- s)) by (symmetry; apply is_derive_unique; exact D). field. lra.
Qed.

Lemma logit_gap_odd g s : -1 <= g -> logit_gap g (- s) = - logit_gap g s.
Proof.
  intros H. unfold logit_gap. rewrite Ropp_involutive. rewrite !ln_div by (apply one_plus_u; exact H). ring.
Qed.

Lemma logit_gap_0 g : logit_gap g 0 = 0.
Proof.
  unfold logit_gap. rewrite Ropp_0. destruct (Req_dec (1 + g * u 0) 0) as [E|E].
  - rewrite E. unfold Rdiv. rewrite Rmult_0_l. unfold ln. destruct (Rlt_dec 0 0); [exfalso; lra|reflexivity].
  - replace ((1 + g * u 0) / (1 + g * u 0)) with 1 by (field; exact E). apply ln_1.
Qed.

(* ---- the printed map of KK24 Prop. 2 ---- *)

Lemma one_minus_sigmoid s : 1 - sigmoid s = sigmoid s * exp (- s).
Proof. unfold sigmoid. pose proof (exp_pos (- s)). field. lra. Qed.

Lemma ln_sigmoid s : ln (sigmoid s) = - ln (1 + exp (- s)).
Proof. unfold sigmoid. pose proof (exp_pos (- s)). replace (1 / (1 + exp (- s))) with (/ (1 + exp (- s))) by (field; lra). apply ln_Rinv. lra. Qed.

(* its odds in logits *)
Lemma FC_logits g s : -1 <= g -> FC g s = sigmoid ((g + 1) * s - logit_gap g s).
Proof.
  intros H. pose proof (one_plus_u g s H) as A. pose proof (one_plus_u g (- s) H) as B.
  pose proof (sigmoid_range s) as S. pose proof (exp_pos s) as P. pose proof (exp_pos (- s)) as M.
  assert (E : exp s * exp (- s) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  unfold FC, binary_map.
  assert (O : (1 - sigmoid s) / sigmoid s = exp (- s)) by (rewrite one_minus_sigmoid; field; lra).
  assert (N : (1 - sigmoid s) - g * sigmoid s * ln (sigmoid s) = sigmoid s * exp (- s) * (1 + g * u s)).
  { rewrite one_minus_sigmoid, ln_sigmoid. unfold u.
    replace (sigmoid s * exp (- s) * (1 + g * (exp s * ln (1 + exp (- s)))))
      with (sigmoid s * exp (- s) + g * sigmoid s * ln (1 + exp (- s)) * (exp s * exp (- s))) by ring.
    rewrite E. ring. }
  assert (D : sigmoid s - g * (1 - sigmoid s) * ln (1 - sigmoid s) = sigmoid s * (1 + g * u (- s))).
  { rewrite <- sigmoid_opp, ln_sigmoid. rewrite sigmoid_opp, one_minus_sigmoid. unfold u. ring. }
  rewrite O, N, D. unfold Rpower. rewrite ln_exp.
  unfold sigmoid at 3. f_equal. f_equal.
  replace (- ((g + 1) * s - logit_gap g s)) with (g * - s + (- s + logit_gap g s)) by ring.
  rewrite !exp_plus. f_equal. unfold logit_gap. rewrite exp_ln by (apply Rdiv_lt_0_compat; assumption). field. lra.
Qed.

Lemma logit_FC g s : -1 <= g -> logit (FC g s) = (g + 1) * s - logit_gap g s.
Proof. intros H. rewrite FC_logits by exact H. apply logit_sigmoid. Qed.

(* ---- the slope of R, gamma > 0 ---- *)

Lemma logit_gap_slope_even g s : logit_gap_slope g (- s) = logit_gap_slope g s.
Proof. unfold logit_gap_slope. rewrite Ropp_involutive. ring. Qed.

Lemma slope_part_pos g s : 0 < g -> 0 < g * (u s - sigmoid s) / (1 + g * u s).
Proof.
  intros H. pose proof (u_range s). apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply one_plus_u; lra].
Qed.

Lemma slope_part_gamma g s : 0 < g -> g * (u s - sigmoid s) / (1 + g * u s) < g * (u s - sigmoid s).
Proof.
  intros H. pose proof (u_range s) as U. pose proof (u_pos s) as P. pose proof (one_plus_u g s ltac:(lra)) as A.
  apply (Rmult_lt_reg_r (1 + g * u s)); [exact A|].
  replace (g * (u s - sigmoid s) / (1 + g * u s) * (1 + g * u s)) with (g * (u s - sigmoid s)) by (field; lra).
  assert (0 < g * (u s - sigmoid s)) by (apply Rmult_lt_0_compat; lra).
  assert (0 < g * u s) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

(* u <= sqrt(sigmoid): logarithmic against geometric mean *)
Lemma u_sqrt s : u s < sqrt (sigmoid s).
Proof.
  pose proof (exp_pos (- s)) as M. pose proof (exp_pos s) as P. pose proof (sigmoid_range s) as S.
  pose (y := sqrt (1 + exp (- s))).
  assert (Y : y * y = 1 + exp (- s)) by (apply sqrt_sqrt; lra).
  assert (Y1 : 1 < y). { apply (Rle_lt_trans _ (sqrt 1)); [rewrite sqrt_1; lra|apply sqrt_lt_1; lra]. }
  pose proof (log_mean_gap_pos y Y1) as L. unfold log_mean_gap in L.
  assert (E : exp s * exp (- s) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (Q : sqrt (sigmoid s) = 1 / y).
  { unfold sigmoid. rewrite sqrt_div_alt by lra. rewrite sqrt_1. reflexivity. }
  rewrite Q. unfold u. rewrite <- Y. rewrite ln_mult by lra.
  apply (Rmult_lt_reg_l (exp (- s))); [exact M|].
  replace (exp (- s) * (exp s * (ln y + ln y))) with (exp s * exp (- s) * (2 * ln y)) by ring. rewrite E.
  replace (exp (- s)) with (y * y - 1) by lra. replace ((y * y - 1) * (1 / y)) with (y - 1 / y) by (field; lra). lra.
Qed.

Lemma slope_part_one g s : 0 < g -> g * (u s - sigmoid s) / (1 + g * u s) < 1 - sqrt (sigmoid s).
Proof.
  intros H. pose proof (u_range s) as U. pose proof (u_pos s) as P. pose proof (one_plus_u g s ltac:(lra)) as A.
  pose proof (sigmoid_range s) as S. pose proof (u_sqrt s) as Q. pose proof (sqrt_lt_R0 (sigmoid s) (proj1 S)) as R0.
  assert (SS : sqrt (sigmoid s) * sqrt (sigmoid s) = sigmoid s) by (apply sqrt_sqrt; lra).
  set (r := sqrt (sigmoid s)) in *.
  apply (Rmult_lt_reg_r (1 + g * u s)); [exact A|].
  replace (g * (u s - sigmoid s) / (1 + g * u s) * (1 + g * u s)) with (g * (u s - sigmoid s)) by (field; lra).
  rewrite <- SS. assert (r < 1) by nra.
  (* (1 - r)(1 + g u) - g (u - r^2) = (1 - r) + g r (r - u) *)
  assert (0 < g * (r * (r - u s))) by (apply Rmult_lt_0_compat; [lra|apply Rmult_lt_0_compat; lra]). nra.
Qed.

Lemma logit_gap_slope_bounds g s : 0 < g -> 0 < logit_gap_slope g s /\ logit_gap_slope g s < g /\ logit_gap_slope g s < 1.
Proof.
  intros H. unfold logit_gap_slope.
  pose proof (slope_part_pos g s H) as A1. pose proof (slope_part_pos g (- s) H) as A2.
  pose proof (slope_part_gamma g s H) as B1. pose proof (slope_part_gamma g (- s) H) as B2.
  pose proof (slope_part_one g s H) as C1. pose proof (slope_part_one g (- s) H) as C2.
  pose proof (u_range s). pose proof (u_range (- s)). rewrite sigmoid_opp in *.
  split; [lra|]. split; [nra|].
  pose proof (sigmoid_range s) as S. 
  assert (Q1 : sigmoid s < sqrt (sigmoid s)).
  { pose proof (sqrt_lt_R0 (sigmoid s) (proj1 S)). assert (sqrt (sigmoid s) * sqrt (sigmoid s) = sigmoid s) by (apply sqrt_sqrt; lra).
    assert (sqrt (sigmoid s) < 1); [|nra].
    apply (Rlt_le_trans _ (sqrt 1)); [apply sqrt_lt_1; lra|rewrite sqrt_1; lra]. }
  assert (Q2 : 1 - sigmoid s < sqrt (1 - sigmoid s)).
  { pose proof (sqrt_lt_R0 (1 - sigmoid s) ltac:(lra)).
    assert (sqrt (1 - sigmoid s) * sqrt (1 - sigmoid s) = 1 - sigmoid s) by (apply sqrt_sqrt; lra).
    assert (sqrt (1 - sigmoid s) < 1); [|nra].
    apply (Rlt_le_trans _ (sqrt 1)); [apply sqrt_lt_1; lra|rewrite sqrt_1; lra]. }
  lra.
Qed.
