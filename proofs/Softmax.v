(* The softmax of a vector of logits. *)

From Coq Require Import Reals Lra Lia.
From Focal Require Import Focal Sums.
Open Scope R_scope.

Definition softmax (n : nat) (s : nat -> R) (i : nat) : R := exp (s i) / sum n (fun k => exp (s k)).

Lemma sum_exp_pos n s : (0 < n)%nat -> 0 < sum n (fun k => exp (s k)).
Proof. intros H. apply sum_pos; [intros; left; apply exp_pos|exists 0%nat; split; [exact H|apply exp_pos]]. Qed.

Lemma softmax_open_simplex n s : (0 < n)%nat -> open_simplex n (softmax n s).
Proof.
  intros N. pose proof (sum_exp_pos n s N) as P. split.
  - intros i _. apply Rdiv_lt_0_compat; [apply exp_pos|exact P].
  - unfold softmax. rewrite (sum_ext n _ (fun i => / sum n (fun k => exp (s k)) * exp (s i))).
    + rewrite sum_scale. field. lra.
    + intros i _. unfold Rdiv. ring.
Qed.

Lemma softmax_between n s y : (2 <= n)%nat -> (y < n)%nat -> 0 < softmax n s y < 1.
Proof.
  intros N Y. pose proof (sum_exp_pos n s ltac:(lia)) as P. unfold softmax. pose proof (exp_pos (s y)) as E.
  split; [apply Rdiv_lt_0_compat; assumption|].
  set (o := if Nat.eqb y 0 then 1%nat else 0%nat).
  assert (O : (o < n)%nat /\ y <> o) by (unfold o; destruct (Nat.eqb_spec y 0); lia).
  pose proof (sum_two n (fun k => exp (s k)) y o (fun k _ => Rlt_le _ _ (exp_pos _)) Y (proj1 O) (proj2 O)) as T.
  cbv beta in T. pose proof (exp_pos (s o)).
  apply (Rmult_lt_reg_r (sum n (fun k => exp (s k)))); [exact P|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_l by lra. lra.
Qed.

Lemma softmax_increasing n s i j : (0 < n)%nat -> s i < s j -> softmax n s i < softmax n s j.
Proof.
  intros N L. unfold softmax, Rdiv. apply Rmult_lt_compat_r.
  - apply Rinv_0_lt_compat, sum_exp_pos, N.
  - apply exp_increasing, L.
Qed.
