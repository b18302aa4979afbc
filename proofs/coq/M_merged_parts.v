(* merged_parts: one log read as a whole, and in three parts that are merged.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)

Record state : Type := {
  resets_whole : bool;
  has_head_whole : bool;
  head_whole : Z;
  has_tail_whole : bool;
  tail_whole : Z;
  found_whole : bool;
  resets_a : bool;
  has_head_a : bool;
  head_a : Z;
  has_tail_a : bool;
  tail_a : Z;
  found_a : bool;
  resets_b : bool;
  has_head_b : bool;
  head_b : Z;
  has_tail_b : bool;
  tail_b : Z;
  found_b : bool;
  resets_c : bool;
  has_head_c : bool;
  head_c : Z;
  has_tail_c : bool;
  tail_c : Z;
  found_c : bool;
  part : Z
}.

Definition init_nothing_in_whole (st : state) : Prop :=
  ((negb (resets_whole st)) && ((negb (has_head_whole st)) && ((negb (has_tail_whole st)) && (negb (found_whole st))))) = true.

Definition init_nothing_in_a (st : state) : Prop :=
  ((negb (resets_a st)) && ((negb (has_head_a st)) && ((negb (has_tail_a st)) && (negb (found_a st))))) = true.

Definition init_nothing_in_b (st : state) : Prop :=
  ((negb (resets_b st)) && ((negb (has_head_b st)) && ((negb (has_tail_b st)) && (negb (found_b st))))) = true.

Definition init_nothing_in_c (st : state) : Prop :=
  ((negb (resets_c st)) && ((negb (has_head_c st)) && ((negb (has_tail_c st)) && (negb (found_c st))))) = true.

Definition init_the_first_part (st : state) : Prop :=
  (Z.eqb (part st) 0) = true.

Definition init (st : state) : Prop :=
  init_nothing_in_whole st /\ init_nothing_in_a st /\ init_nothing_in_b st /\ init_nothing_in_c st /\ init_the_first_part st.

(* a transaction with any numbers touches the key *)
Definition guard_touch_in_a (st : state) (low : Z) (high : Z) : Prop :=
  (Z.eqb (part st) 0) = true.
Definition act_touch_in_a (st : state) (low : Z) (high : Z) : state :=
  {|
     resets_whole := resets_whole st;
     has_head_whole := ((has_head_whole st) || ((negb (has_tail_whole st)) && (negb (resets_whole st))));
     head_whole := (if ((has_tail_whole st) || (resets_whole st)) then (head_whole st) else low);
     has_tail_whole := true;
     tail_whole := high;
     found_whole := ((found_whole st) || ((has_tail_whole st) && (low <? (tail_whole st))));
     resets_a := resets_a st;
     has_head_a := ((has_head_a st) || ((negb (has_tail_a st)) && (negb (resets_a st))));
     head_a := (if ((has_tail_a st) || (resets_a st)) then (head_a st) else low);
     has_tail_a := true;
     tail_a := high;
     found_a := ((found_a st) || ((has_tail_a st) && (low <? (tail_a st))));
     resets_b := resets_b st;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := has_tail_b st;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := resets_c st;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := has_tail_c st;
     tail_c := tail_c st;
     found_c := found_c st;
     part := part st
  |}.

(* a view change or a new clock: numbers begin anew *)
Definition guard_reset_in_a (st : state) : Prop :=
  (Z.eqb (part st) 0) = true.
Definition act_reset_in_a (st : state) : state :=
  {|
     resets_whole := true;
     has_head_whole := has_head_whole st;
     head_whole := head_whole st;
     has_tail_whole := false;
     tail_whole := tail_whole st;
     found_whole := found_whole st;
     resets_a := true;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := false;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := resets_b st;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := has_tail_b st;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := resets_c st;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := has_tail_c st;
     tail_c := tail_c st;
     found_c := found_c st;
     part := part st
  |}.

(* a transaction with any numbers touches the key *)
Definition guard_touch_in_b (st : state) (low : Z) (high : Z) : Prop :=
  (Z.eqb (part st) 1) = true.
Definition act_touch_in_b (st : state) (low : Z) (high : Z) : state :=
  {|
     resets_whole := resets_whole st;
     has_head_whole := ((has_head_whole st) || ((negb (has_tail_whole st)) && (negb (resets_whole st))));
     head_whole := (if ((has_tail_whole st) || (resets_whole st)) then (head_whole st) else low);
     has_tail_whole := true;
     tail_whole := high;
     found_whole := ((found_whole st) || ((has_tail_whole st) && (low <? (tail_whole st))));
     resets_a := resets_a st;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := has_tail_a st;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := resets_b st;
     has_head_b := ((has_head_b st) || ((negb (has_tail_b st)) && (negb (resets_b st))));
     head_b := (if ((has_tail_b st) || (resets_b st)) then (head_b st) else low);
     has_tail_b := true;
     tail_b := high;
     found_b := ((found_b st) || ((has_tail_b st) && (low <? (tail_b st))));
     resets_c := resets_c st;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := has_tail_c st;
     tail_c := tail_c st;
     found_c := found_c st;
     part := part st
  |}.

(* a view change or a new clock: numbers begin anew *)
Definition guard_reset_in_b (st : state) : Prop :=
  (Z.eqb (part st) 1) = true.
Definition act_reset_in_b (st : state) : state :=
  {|
     resets_whole := true;
     has_head_whole := has_head_whole st;
     head_whole := head_whole st;
     has_tail_whole := false;
     tail_whole := tail_whole st;
     found_whole := found_whole st;
     resets_a := resets_a st;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := has_tail_a st;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := true;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := false;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := resets_c st;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := has_tail_c st;
     tail_c := tail_c st;
     found_c := found_c st;
     part := part st
  |}.

(* a transaction with any numbers touches the key *)
Definition guard_touch_in_c (st : state) (low : Z) (high : Z) : Prop :=
  (Z.eqb (part st) 2) = true.
Definition act_touch_in_c (st : state) (low : Z) (high : Z) : state :=
  {|
     resets_whole := resets_whole st;
     has_head_whole := ((has_head_whole st) || ((negb (has_tail_whole st)) && (negb (resets_whole st))));
     head_whole := (if ((has_tail_whole st) || (resets_whole st)) then (head_whole st) else low);
     has_tail_whole := true;
     tail_whole := high;
     found_whole := ((found_whole st) || ((has_tail_whole st) && (low <? (tail_whole st))));
     resets_a := resets_a st;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := has_tail_a st;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := resets_b st;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := has_tail_b st;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := resets_c st;
     has_head_c := ((has_head_c st) || ((negb (has_tail_c st)) && (negb (resets_c st))));
     head_c := (if ((has_tail_c st) || (resets_c st)) then (head_c st) else low);
     has_tail_c := true;
     tail_c := high;
     found_c := ((found_c st) || ((has_tail_c st) && (low <? (tail_c st))));
     part := part st
  |}.

(* a view change or a new clock: numbers begin anew *)
Definition guard_reset_in_c (st : state) : Prop :=
  (Z.eqb (part st) 2) = true.
Definition act_reset_in_c (st : state) : state :=
  {|
     resets_whole := true;
     has_head_whole := has_head_whole st;
     head_whole := head_whole st;
     has_tail_whole := false;
     tail_whole := tail_whole st;
     found_whole := found_whole st;
     resets_a := resets_a st;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := has_tail_a st;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := resets_b st;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := has_tail_b st;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := true;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := false;
     tail_c := tail_c st;
     found_c := found_c st;
     part := part st
  |}.

(* the log is cut here *)
Definition guard_cut (st : state) : Prop :=
  ((part st) <=? 1) = true.
Definition act_cut (st : state) : state :=
  {|
     resets_whole := resets_whole st;
     has_head_whole := has_head_whole st;
     head_whole := head_whole st;
     has_tail_whole := has_tail_whole st;
     tail_whole := tail_whole st;
     found_whole := found_whole st;
     resets_a := resets_a st;
     has_head_a := has_head_a st;
     head_a := head_a st;
     has_tail_a := has_tail_a st;
     tail_a := tail_a st;
     found_a := found_a st;
     resets_b := resets_b st;
     has_head_b := has_head_b st;
     head_b := head_b st;
     has_tail_b := has_tail_b st;
     tail_b := tail_b st;
     found_b := found_b st;
     resets_c := resets_c st;
     has_head_c := has_head_c st;
     head_c := head_c st;
     has_tail_c := has_tail_c st;
     tail_c := tail_c st;
     found_c := found_c st;
     part := ((part st) + 1)
  |}.

Inductive step (st : state) : state -> Prop :=
| step_touch_in_a : forall (low : Z) (high : Z), guard_touch_in_a st low high ->
    step st (act_touch_in_a st low high)
| step_reset_in_a : guard_reset_in_a st ->
    step st (act_reset_in_a st)
| step_touch_in_b : forall (low : Z) (high : Z), guard_touch_in_b st low high ->
    step st (act_touch_in_b st low high)
| step_reset_in_b : guard_reset_in_b st ->
    step st (act_reset_in_b st)
| step_touch_in_c : forall (low : Z) (high : Z), guard_touch_in_c st low high ->
    step st (act_touch_in_c st low high)
| step_reset_in_c : guard_reset_in_c st ->
    step st (act_reset_in_c st)
| step_cut : guard_cut st ->
    step st (act_cut st).

(* merged from the left, the parts give `resets` as one pass does *)
Definition inv_merging_from_the_left_gives_resets (st : state) : Prop :=
  (Bool.eqb ((resets_a st) || ((resets_b st) || (resets_c st))) (resets_whole st)) = true.

(* merged from the left, the parts give `has_head` as one pass does *)
Definition inv_merging_from_the_left_gives_has_head (st : state) : Prop :=
  (Bool.eqb ((has_head_a st) || (((negb (resets_a st)) && (has_head_b st)) || ((negb ((resets_a st) || (resets_b st))) && (has_head_c st)))) (has_head_whole st)) = true.

(* merged from the left, the parts give `head` as one pass does *)
Definition inv_merging_from_the_left_gives_head (st : state) : Prop :=
  ((negb ((has_head_a st) || (((negb (resets_a st)) && (has_head_b st)) || ((negb ((resets_a st) || (resets_b st))) && (has_head_c st))))) || (Z.eqb (if ((has_head_a st) || ((negb (resets_a st)) && (has_head_b st))) then (if (has_head_a st) then (head_a st) else (head_b st)) else (head_c st)) (head_whole st))) = true.

(* merged from the left, the parts give `has_tail` as one pass does *)
Definition inv_merging_from_the_left_gives_has_tail (st : state) : Prop :=
  (Bool.eqb ((has_tail_c st) || ((negb (resets_c st)) && ((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st))))) (has_tail_whole st)) = true.

(* merged from the left, the parts give `tail` as one pass does *)
Definition inv_merging_from_the_left_gives_tail (st : state) : Prop :=
  ((negb ((has_tail_c st) || ((negb (resets_c st)) && ((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st)))))) || (Z.eqb (if (has_tail_c st) then (tail_c st) else (if (has_tail_b st) then (tail_b st) else (tail_a st))) (tail_whole st))) = true.

(* merged from the left, the parts give `found` as one pass does *)
Definition inv_merging_from_the_left_gives_found (st : state) : Prop :=
  (Bool.eqb ((found_a st) || ((found_b st) || (((has_tail_a st) && ((has_head_b st) && ((head_b st) <? (tail_a st)))) || ((found_c st) || (((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st))) && ((has_head_c st) && ((head_c st) <? (if (has_tail_b st) then (tail_b st) else (tail_a st))))))))) (found_whole st)) = true.

(* merged from the right, the parts give `resets` as one pass does *)
Definition inv_merging_from_the_right_gives_resets (st : state) : Prop :=
  (Bool.eqb ((resets_a st) || ((resets_b st) || (resets_c st))) (resets_whole st)) = true.

(* merged from the right, the parts give `has_head` as one pass does *)
Definition inv_merging_from_the_right_gives_has_head (st : state) : Prop :=
  (Bool.eqb ((has_head_a st) || ((negb (resets_a st)) && ((has_head_b st) || ((negb (resets_b st)) && (has_head_c st))))) (has_head_whole st)) = true.

(* merged from the right, the parts give `head` as one pass does *)
Definition inv_merging_from_the_right_gives_head (st : state) : Prop :=
  ((negb ((has_head_a st) || ((negb (resets_a st)) && ((has_head_b st) || ((negb (resets_b st)) && (has_head_c st)))))) || (Z.eqb (if (has_head_a st) then (head_a st) else (if (has_head_b st) then (head_b st) else (head_c st))) (head_whole st))) = true.

(* merged from the right, the parts give `has_tail` as one pass does *)
Definition inv_merging_from_the_right_gives_has_tail (st : state) : Prop :=
  (Bool.eqb ((has_tail_c st) || (((negb (resets_c st)) && (has_tail_b st)) || ((negb ((resets_b st) || (resets_c st))) && (has_tail_a st)))) (has_tail_whole st)) = true.

(* merged from the right, the parts give `tail` as one pass does *)
Definition inv_merging_from_the_right_gives_tail (st : state) : Prop :=
  ((negb ((has_tail_c st) || (((negb (resets_c st)) && (has_tail_b st)) || ((negb ((resets_b st) || (resets_c st))) && (has_tail_a st))))) || (Z.eqb (if ((has_tail_c st) || ((negb (resets_c st)) && (has_tail_b st))) then (if (has_tail_c st) then (tail_c st) else (tail_b st)) else (tail_a st)) (tail_whole st))) = true.

(* merged from the right, the parts give `found` as one pass does *)
Definition inv_merging_from_the_right_gives_found (st : state) : Prop :=
  (Bool.eqb ((found_a st) || ((found_b st) || ((found_c st) || (((has_tail_b st) && ((has_head_c st) && ((head_c st) <? (tail_b st)))) || ((has_tail_a st) && (((has_head_b st) || ((negb (resets_b st)) && (has_head_c st))) && ((if (has_head_b st) then (head_b st) else (head_c st)) <? (tail_a st)))))))) (found_whole st)) = true.

(* what comes later has no part yet *)
Definition inv_a_is_empty_before (st : state) : Prop :=
  ((negb ((part st) <? 0)) || ((negb (resets_a st)) && ((negb (has_head_a st)) && ((negb (has_tail_a st)) && (negb (found_a st)))))) = true.

(* what comes later has no part yet *)
Definition inv_b_is_empty_before (st : state) : Prop :=
  ((negb ((part st) <? 1)) || ((negb (resets_b st)) && ((negb (has_head_b st)) && ((negb (has_tail_b st)) && (negb (found_b st)))))) = true.

(* what comes later has no part yet *)
Definition inv_c_is_empty_before (st : state) : Prop :=
  ((negb ((part st) <? 2)) || ((negb (resets_c st)) && ((negb (has_head_c st)) && ((negb (has_tail_c st)) && (negb (found_c st)))))) = true.

(* without a reset, who is last had a first *)
Definition inv_whole_has_both_or_none (st : state) : Prop :=
  ((resets_whole st) || (Bool.eqb (has_head_whole st) (has_tail_whole st))) = true.

(* without a reset, who is last had a first *)
Definition inv_a_has_both_or_none (st : state) : Prop :=
  ((resets_a st) || (Bool.eqb (has_head_a st) (has_tail_a st))) = true.

(* without a reset, who is last had a first *)
Definition inv_b_has_both_or_none (st : state) : Prop :=
  ((resets_b st) || (Bool.eqb (has_head_b st) (has_tail_b st))) = true.

(* without a reset, who is last had a first *)
Definition inv_c_has_both_or_none (st : state) : Prop :=
  ((resets_c st) || (Bool.eqb (has_head_c st) (has_tail_c st))) = true.

(* there are three parts *)
Definition inv_three_parts (st : state) : Prop :=
  ((0 <=? (part st)) && ((part st) <=? 2)) = true.

(* merged from the left, the parts give `resets` as one pass does *)
Definition safe_merging_from_the_left_gives_resets (st : state) : Prop :=
  (Bool.eqb ((resets_a st) || ((resets_b st) || (resets_c st))) (resets_whole st)) = true.

(* merged from the left, the parts give `has_head` as one pass does *)
Definition safe_merging_from_the_left_gives_has_head (st : state) : Prop :=
  (Bool.eqb ((has_head_a st) || (((negb (resets_a st)) && (has_head_b st)) || ((negb ((resets_a st) || (resets_b st))) && (has_head_c st)))) (has_head_whole st)) = true.

(* merged from the left, the parts give `head` as one pass does *)
Definition safe_merging_from_the_left_gives_head (st : state) : Prop :=
  ((negb ((has_head_a st) || (((negb (resets_a st)) && (has_head_b st)) || ((negb ((resets_a st) || (resets_b st))) && (has_head_c st))))) || (Z.eqb (if ((has_head_a st) || ((negb (resets_a st)) && (has_head_b st))) then (if (has_head_a st) then (head_a st) else (head_b st)) else (head_c st)) (head_whole st))) = true.

(* merged from the left, the parts give `has_tail` as one pass does *)
Definition safe_merging_from_the_left_gives_has_tail (st : state) : Prop :=
  (Bool.eqb ((has_tail_c st) || ((negb (resets_c st)) && ((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st))))) (has_tail_whole st)) = true.

(* merged from the left, the parts give `tail` as one pass does *)
Definition safe_merging_from_the_left_gives_tail (st : state) : Prop :=
  ((negb ((has_tail_c st) || ((negb (resets_c st)) && ((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st)))))) || (Z.eqb (if (has_tail_c st) then (tail_c st) else (if (has_tail_b st) then (tail_b st) else (tail_a st))) (tail_whole st))) = true.

(* merged from the left, the parts give `found` as one pass does *)
Definition safe_merging_from_the_left_gives_found (st : state) : Prop :=
  (Bool.eqb ((found_a st) || ((found_b st) || (((has_tail_a st) && ((has_head_b st) && ((head_b st) <? (tail_a st)))) || ((found_c st) || (((has_tail_b st) || ((negb (resets_b st)) && (has_tail_a st))) && ((has_head_c st) && ((head_c st) <? (if (has_tail_b st) then (tail_b st) else (tail_a st))))))))) (found_whole st)) = true.

(* merged from the right, the parts give `resets` as one pass does *)
Definition safe_merging_from_the_right_gives_resets (st : state) : Prop :=
  (Bool.eqb ((resets_a st) || ((resets_b st) || (resets_c st))) (resets_whole st)) = true.

(* merged from the right, the parts give `has_head` as one pass does *)
Definition safe_merging_from_the_right_gives_has_head (st : state) : Prop :=
  (Bool.eqb ((has_head_a st) || ((negb (resets_a st)) && ((has_head_b st) || ((negb (resets_b st)) && (has_head_c st))))) (has_head_whole st)) = true.

(* merged from the right, the parts give `head` as one pass does *)
Definition safe_merging_from_the_right_gives_head (st : state) : Prop :=
  ((negb ((has_head_a st) || ((negb (resets_a st)) && ((has_head_b st) || ((negb (resets_b st)) && (has_head_c st)))))) || (Z.eqb (if (has_head_a st) then (head_a st) else (if (has_head_b st) then (head_b st) else (head_c st))) (head_whole st))) = true.

(* merged from the right, the parts give `has_tail` as one pass does *)
Definition safe_merging_from_the_right_gives_has_tail (st : state) : Prop :=
  (Bool.eqb ((has_tail_c st) || (((negb (resets_c st)) && (has_tail_b st)) || ((negb ((resets_b st) || (resets_c st))) && (has_tail_a st)))) (has_tail_whole st)) = true.

(* merged from the right, the parts give `tail` as one pass does *)
Definition safe_merging_from_the_right_gives_tail (st : state) : Prop :=
  ((negb ((has_tail_c st) || (((negb (resets_c st)) && (has_tail_b st)) || ((negb ((resets_b st) || (resets_c st))) && (has_tail_a st))))) || (Z.eqb (if ((has_tail_c st) || ((negb (resets_c st)) && (has_tail_b st))) then (if (has_tail_c st) then (tail_c st) else (tail_b st)) else (tail_a st)) (tail_whole st))) = true.

(* merged from the right, the parts give `found` as one pass does *)
Definition safe_merging_from_the_right_gives_found (st : state) : Prop :=
  (Bool.eqb ((found_a st) || ((found_b st) || ((found_c st) || (((has_tail_b st) && ((has_head_c st) && ((head_c st) <? (tail_b st)))) || ((has_tail_a st) && (((has_head_b st) || ((negb (resets_b st)) && (has_head_c st))) && ((if (has_head_b st) then (head_b st) else (head_c st)) <? (tail_a st)))))))) (found_whole st)) = true.

