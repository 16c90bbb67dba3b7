(* The sign of L' in KK24's proofs of Prop. 2 (App. A.2) and Prop. 5 (App. A.5). *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Focal Require Import Focal FocalLoss KK24_Prop2.
Open Scope R_scope.

Lemma focal_slope_negative gamma q : 0 <= gamma -> 0 < q < 1 -> focal_slope gamma q < 0.
Proof.
  intros G Q. rewrite focal_slope_gain by exact Q. pose proof (gain_pos gamma q G Q).
  assert (0 < gain gamma q / q) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(* Faithfulness: ours (kk24.prop5_positive_corrected), exact: f = 1 / L' is negative on (0, 1), as L decreases. *)
Theorem kk24_prop5_negative_f gamma q : 0 <= gamma -> 0 < q < 1 ->
  is_derive (focal_loss gamma) q (focal_slope gamma q) /\ focal_slope gamma q < 0 /\ 1 / focal_slope gamma q < 0.
Proof.
  intros G Q. pose proof (focal_slope_negative gamma q G Q) as N. split; [apply focal_loss_derivative; exact Q|].
  split; [exact N|]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_lt_0_compat. exact N.
Qed.

(* App. A.2: 'Both nominator and denominator have the same sign due to the convexity of the focal loss. Also, the denominator is
   never zero', of - L'(1 - q) / (- L'(1 - q) - L'(q)), which is the map (kk24.prop2_sign). Faithfulness: exact; both are positive. *)
Theorem kk24_prop2_sign gamma q : 0 <= gamma -> 0 < q < 1 ->
  0 < - focal_slope gamma (1 - q) /\ 0 < - focal_slope gamma (1 - q) - focal_slope gamma q /\
  binary_map gamma q = - focal_slope gamma (1 - q) / (- focal_slope gamma (1 - q) - focal_slope gamma q).
Proof.
  intros G Q. pose proof (focal_slope_negative gamma q G Q). pose proof (focal_slope_negative gamma (1 - q) G ltac:(lra)).
  split; [lra|]. split; [lra|]. rewrite binary_map_weights by assumption. rewrite !focal_slope_weight by lra.
  pose proof (weight_pos gamma q G Q). pose proof (weight_pos gamma (1 - q) G ltac:(lra)). field. lra.
Qed.

(* not vacuous: gamma = 2 and q = 1/2 *)
Example kk24_slope_sign_example : focal_slope 2 (1 / 2) = - (ln 2 + 1 / 2) /\ focal_slope 2 (1 / 2) < 0 /\
  0 < - focal_slope 2 (1 - 1 / 2) - focal_slope 2 (1 / 2).
Proof.
  split; [|split].
  - unfold focal_slope. replace (1 - 1 / 2) with (1 / 2) by field. change (Rpower (1 / 2) 2) with (Rpower (1 / 2) (INR 2)).
    rewrite Rpower_pow, ln_div, ln_1 by lra. simpl. field.
  - apply (kk24_prop5_negative_f 2 (1 / 2)); lra.
  - apply (kk24_prop2_sign 2 (1 / 2)); lra.
Qed.
