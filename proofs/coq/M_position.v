(* position: a relay log read in order, workers, crashes, a saved position.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)

Record state : Type := {
  n : Z;
  cursor : Z;
  running : Z -> bool;
  executed : Z -> bool;
  twice : Z -> bool;
  position : Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (cursor st) 0) && (Z.eqb (position st) 0))) = true.

Definition init_idle (st : state) : Prop :=
  (forall p : Z, ((negb (running st p)) && ((negb (executed st p)) && (negb (twice st p)))) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_idle st.

(* the relay log grows *)
Definition guard_receive (st : state) : Prop :=
  true = true.
Definition act_receive (st : state) : state :=
  {|
     n := ((n st) + 1);
     cursor := cursor st;
     running := running st;
     executed := executed st;
     twice := twice st;
     position := position st
  |}.

(* the coordinator gives the next transaction to a worker *)
Definition guard_give_out (st : state) : Prop :=
  ((cursor st) <? (n st)) = true.
Definition act_give_out (st : state) : state :=
  {|
     n := n st;
     cursor := ((cursor st) + 1);
     running := fun (x0 : Z) => ((running st x0) || (Z.eqb x0 (cursor st)));
     executed := executed st;
     twice := twice st;
     position := position st
  |}.

(* the worker commits; the position is saved with the data *)
Definition guard_engine_commit (st : state) (p : Z) : Prop :=
  (((running st p) = true) /\ ((forall q : Z, ((negb (running st q)) || (p <=? q)) = true))).
Definition act_engine_commit (st : state) (p : Z) : state :=
  {|
     n := n st;
     cursor := cursor st;
     running := fun (x0 : Z) => ((running st x0) && (negb (Z.eqb x0 p)));
     executed := fun (x0 : Z) => ((executed st x0) || (Z.eqb x0 p));
     twice := fun (x0 : Z) => ((twice st x0) || ((Z.eqb x0 p) && (executed st x0)));
     position := (if ((position st) <=? p) then (p + 1) else (position st))
  |}.

(* begin again after the position saved *)
Definition guard_crash (st : state) : Prop :=
  true = true.
Definition act_crash (st : state) : state :=
  {|
     n := n st;
     cursor := (position st);
     running := fun (x0 : Z) => false;
     executed := executed st;
     twice := twice st;
     position := position st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_receive : guard_receive st ->
    step st (act_receive st)
| step_give_out : guard_give_out st ->
    step st (act_give_out st)
| step_engine_commit : forall (p : Z), guard_engine_commit st p ->
    step st (act_engine_commit st p)
| step_crash : guard_crash st ->
    step st (act_crash st).

(* the position is saved with the data *)
Definition inv_position_equals_data (st : state) : Prop :=
  (forall p : Z, (((negb ((0 <=? p) && (p <? (position st)))) || (executed st p)) && ((negb (executed st p)) || (p <? (position st)))) = true).

(* the statement is inductive *)
Definition inv_nothing_is_applied_twice (st : state) : Prop :=
  (forall p : Z, (negb (twice st p)) = true).

(* it is inductive *)
Definition inv_nothing_is_passed_over (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (cursor st)) && (negb (running st p))))) || (executed st p)) = true).

(* what is in progress was read and has not committed *)
Definition inv_running_is_not_executed (st : state) : Prop :=
  (forall p : Z, ((negb (running st p)) || ((negb (executed st p)) && ((0 <=? p) && (p <? (cursor st))))) = true).

(* only what is in the relay log is executed *)
Definition inv_executed_was_received (st : state) : Prop :=
  (forall p : Z, ((negb (executed st p)) || ((0 <=? p) && (p <? (n st)))) = true).

(* the coordinator reads inside the log *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (n st)) && ((0 <=? (cursor st)) && (((cursor st) <=? (n st)) && ((0 <=? (position st)) && ((position st) <=? (n st)))))) = true.

(* what is executed was read since the last restart, or lies before it *)
Definition inv_executed_is_before_the_cursor (st : state) : Prop :=
  (forall p : Z, ((negb (executed st p)) || (p <? (cursor st))) = true).

(* no transaction commits again *)
Definition safe_nothing_is_applied_twice (st : state) : Prop :=
  (forall p : Z, (negb (twice st p)) = true).

(* whatever the coordinator has read is executed or in progress *)
Definition safe_nothing_is_passed_over (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (cursor st)) && (negb (running st p))))) || (executed st p)) = true).

(* at every moment the position covers what was executed, and nothing else *)
Definition safe_position_equals_data (st : state) : Prop :=
  (forall p : Z, (((negb ((0 <=? p) && (p <? (position st)))) || (executed st p)) && ((negb (executed st p)) || (p <? (position st)))) = true).

