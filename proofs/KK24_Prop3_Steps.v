(* Steps of KK24's proof of Prop. 3 (App. A.3), with f_gamma(s) = (1 + gamma u(s)) / (1 + gamma u(-s)) = e^R(s). *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Calculus FocalLoss EntropyRatio BinaryMap KK24_Prop3.
Open Scope R_scope.

Definition f_gamma (gamma s : R) : R := (1 + gamma * u s) / (1 + gamma * u (- s)).

Lemma u_increasing s t : s < t -> u s < u t.
Proof.
  intros L. apply (increasing u (fun x => u x - sigmoid x)); [exact L| |]; intros x _; [apply u_derivative|].
  pose proof (u_range x). lra.
Qed.

(* 'Trivially' f > 0 'and' f(0) = 1, 'the nominator is monotonically increasing' 'and the denominator monotonically decreasing', so
   f >= 1 for s >= 0 and f <= 1 for s <= 0 (kk24.prop3_proof_increasing). Faithfulness: exact, for every real gamma > 0. *)
Theorem kk24_prop3_proof_increasing gamma : 0 < gamma ->
  (forall s, 0 < f_gamma gamma s) /\ f_gamma gamma 0 = 1 /\
  (forall s t, s < t -> 1 + gamma * u s < 1 + gamma * u t /\ 1 + gamma * u (- t) < 1 + gamma * u (- s)) /\
  (forall s, 0 <= s -> 1 <= f_gamma gamma s) /\ (forall s, s <= 0 -> f_gamma gamma s <= 1).
Proof.
  intros G. assert (P : forall s, 0 < 1 + gamma * u s) by (intros s; apply one_plus_u; lra).
  assert (I : forall s t, s <= t -> 1 + gamma * u s <= 1 + gamma * u t).
  { intros s t [L| ->]; [|lra]. pose proof (u_increasing s t L) as H. apply (Rmult_lt_compat_l gamma) in H; lra. }
  assert (Q : forall s, f_gamma gamma s * (1 + gamma * u (- s)) = 1 + gamma * u s).
  { intros s. unfold f_gamma. field. specialize (P (- s)). lra. }
  split; [|split; [|split; [|split]]].
  - intros s. unfold f_gamma. apply Rdiv_lt_0_compat; apply P.
  - unfold f_gamma. rewrite Ropp_0. field. specialize (P 0). lra.
  - intros s t L. pose proof (u_increasing s t L) as A. pose proof (u_increasing (- t) (- s) ltac:(lra)) as B.
    apply (Rmult_lt_compat_l gamma) in A; [|exact G]. apply (Rmult_lt_compat_l gamma) in B; [|exact G]. lra.
  - intros s S. apply (Rmult_le_reg_r (1 + gamma * u (- s))); [apply P|]. rewrite Q, Rmult_1_l. apply I. lra.
  - intros s S. apply (Rmult_le_reg_r (1 + gamma * u (- s))); [apply P|]. rewrite Q, Rmult_1_l. apply I. lra.
Qed.

(* 'Based on the same considerations, we can show that' f_gamma(s) >= (gamma + 1)^(s / 2) 'for negative logits s < 0'
   (kk24.prop3_proof_negative). Faithfulness: exact, for every real gamma > 0; by another proof, strictly. *)
Theorem kk24_prop3_proof_negative gamma s : 0 < gamma -> s < 0 -> Rpower (gamma + 1) (s / 2) < f_gamma gamma s.
Proof.
  intros G S. replace (f_gamma gamma s) with (exp (logit_gap gamma s)).
  - unfold Rpower. apply exp_increasing. destruct (kk24_prop3_log_strict gamma s G ltac:(lra)) as [_ [A B]].
    assert (H : logit_gap gamma s / s < 1 / 2 * ln (gamma + 1)) by lra.
    apply (Rmult_lt_compat_l (- s)) in H; [|lra].
    replace (- s * (logit_gap gamma s / s)) with (- logit_gap gamma s) in H by (field; lra). lra.
  - unfold logit_gap, f_gamma. apply exp_ln. apply Rdiv_lt_0_compat; apply one_plus_u; lra.
Qed.

(* not vacuous: gamma = 4 and s = -1, where f is above 5^(-1/2) and below its value 1 at 0 *)
Example kk24_prop3_steps_example : Rpower (4 + 1) (- 1 / 2) < f_gamma 4 (- 1) < f_gamma 4 0.
Proof.
  split; [apply kk24_prop3_proof_negative; lra|].
  destruct (kk24_prop3_proof_increasing 4 ltac:(lra)) as (_ & Z & M & _). rewrite Z.
  destruct (M (- 1) 1 ltac:(lra)) as [A _]. pose proof (one_plus_u 4 1 ltac:(lra)) as P.
  unfold f_gamma. replace (- - 1) with 1 by ring. apply (Rmult_lt_reg_r (1 + 4 * u 1)); [exact P|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
