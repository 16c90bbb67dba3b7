(* KK24 section 2: cross-entropy (log loss) is a proper loss, for any number of classes. *)

From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal Sums Calculus.
Open Scope R_scope.

Lemma gibbs_term p q : 0 <= p -> 0 <= q -> (0 < p -> 0 < q) -> p * log_loss p <= p * log_loss q + (q - p).
Proof.
  intros Hp Hq S. unfold log_loss. destruct (Req_dec p 0) as [->|N]; [lra|].
  assert (P : 0 < p) by lra. specialize (S P).
  pose proof (ln_le (q / p) ltac:(apply Rdiv_lt_0_compat; lra)) as A. rewrite ln_div in A by lra.
  apply (Rmult_le_compat_l p) in A; [|lra]. replace (p * (q / p - 1)) with (q - p) in A by (field; lra). lra.
Qed.

Lemma gibbs_term_equality p q : 0 <= p -> 0 <= q -> (0 < p -> 0 < q) ->
  p * log_loss p = p * log_loss q + (q - p) -> q = p.
Proof.
  intros Hp Hq S E. unfold log_loss in E. destruct (Req_dec p 0) as [->|N]; [lra|].
  assert (P : 0 < p) by lra. specialize (S P).
  destruct (Req_dec q p) as [D|D]; [exact D|exfalso].
  assert (N1 : q / p <> 1). { intros Z. apply D. replace q with (q / p * p) by (field; lra). rewrite Z. ring. }
  pose proof (ln_lt (q / p) ltac:(apply Rdiv_lt_0_compat; lra) N1) as A. rewrite ln_div in A by lra.
  apply (Rmult_lt_compat_l p) in A; [|lra]. replace (p * (q / p - 1)) with (q - p) in A by (field; lra). lra.
Qed.

(* Paper: 'It is a proper loss function' (section 2, on cross-entropy).
   Faithfulness: exact, and strict: on the whole closed simplex, every number of classes. *)
Theorem log_loss_strictly_proper n : strictly_proper n log_loss_n.
Proof.
  intros p q [Hp Ep] [Hq Eq] S. unfold risk, log_loss_n.
  assert (T : forall i, (i < n)%nat -> p i * log_loss (p i) <= p i * log_loss (q i) + (q i - p i)).
  { intros i Hi. apply gibbs_term; auto. }
  assert (Z : sum n (fun i => p i * log_loss (q i) + (q i - p i)) = sum n (fun i => p i * log_loss (q i))).
  { rewrite sum_plus, sum_minus. lra. }
  split.
  - rewrite <- Z. apply sum_le. exact T.
  - intros E i Hi. apply gibbs_term_equality; auto.
    apply (sum_le_eq n (fun i => p i * log_loss (p i)) (fun i => p i * log_loss (q i) + (q i - p i))); auto.
    rewrite Z. symmetry. exact E.
Qed.

(* Faithfulness: exact, for every number of classes. *)
Theorem log_loss_proper n : proper n log_loss_n.
Proof. intros p q Hp Hq S. apply log_loss_strictly_proper; assumption. Qed.

(* not vacuous: a true distribution with a zero, and a prediction with none *)
Example log_loss_proper_example :
  let p := fun i : nat => match i with 0%nat => 1 | _ => 0 end in
  let q := fun i : nat => match i with 0%nat => 1 / 2 | _ => 1 / 4 end in
  simplex 3 p /\ simplex 3 q /\ supports 3 q p /\ risk 3 log_loss_n p p < risk 3 log_loss_n p q.
Proof.
  intros p q.
  assert (Hp : simplex 3 p). { split; [intros [|i] _; simpl; lra|simpl; ring]. }
  assert (Hq : simplex 3 q). { split; [intros [|i] _; simpl; lra|simpl; field]. }
  assert (S : supports 3 q p). { intros [|i] _ _; simpl; lra. }
  repeat split; try apply Hp; try apply Hq; try apply S.
  destruct (log_loss_strictly_proper 3 p q Hp Hq S) as [[L|L] U]; [exact L|].
  specialize (U (eq_sym L) 0%nat ltac:(lia)). simpl in U. lra.
Qed.
