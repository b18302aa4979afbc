(* minimiser: smaller runs that break the same property are taken until none is.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Property : Type.
Variable some_Property : Property.
Variable eqb_Property : Property -> Property -> bool.
Hypothesis eqb_Property_true : forall x y, eqb_Property x y = true <-> x = y.

Variable Run : Type.
Variable some_Run : Run.
Variable eqb_Run : Run -> Run -> bool.
Hypothesis eqb_Run_true : forall x y, eqb_Run x y = true <-> x = y.

(* What no step changes. *)
Variable breaks : Run -> Property -> bool.
Variable holds : Run -> Property -> bool.
Variable size : Run -> Z.
Variable edits : Run -> Z.
Variable edit : Run -> Z -> Run.
Variable first : Run.
Variable wanted : Property.
(* the run to minimise breaks the property *)
Hypothesis axiom_begins_with_a_breach : (breaks first wanted) = true.

Record state : Type := {
  kept : Run;
  vain : Z -> bool;
  ended : bool;
  minimal : bool
}.

Definition init_first_is_kept (st : state) : Prop :=
  ((eqb_Run (kept st) first) && ((negb (ended st)) && (negb (minimal st)))) = true.

Definition init_nothing_tried (st : state) : Prop :=
  (forall i : Z, (negb (vain st i)) = true).

Definition init (st : state) : Prop :=
  init_first_is_kept st /\ init_nothing_tried st.

(* a simplification breaks the property and is smaller: it is kept, and all are tried anew *)
Definition guard_take (st : state) (i : Z) : Prop :=
  ((negb (ended st)) && ((0 <=? i) && ((i <? (edits (kept st))) && ((breaks (edit (kept st) i) wanted) && ((size (edit (kept st) i)) <? (size (kept st))))))) = true.
Definition act_take (st : state) (i : Z) : state :=
  {|
     kept := (edit (kept st) i);
     vain := fun (x0 : Z) => false;
     ended := ended st;
     minimal := minimal st
  |}.

(* a simplification does not break it, or is not smaller *)
Definition guard_try_in_vain (st : state) (i : Z) : Prop :=
  ((negb (ended st)) && ((0 <=? i) && ((i <? (edits (kept st))) && (negb ((breaks (edit (kept st) i) wanted) && ((size (edit (kept st) i)) <? (size (kept st)))))))) = true.
Definition act_try_in_vain (st : state) (i : Z) : state :=
  {|
     kept := kept st;
     vain := fun (x0 : Z) => ((vain st x0) || (Z.eqb x0 i));
     ended := ended st;
     minimal := minimal st
  |}.

(* all were tried in vain: the run is called minimal *)
Definition guard_end (st : state) : Prop :=
  (((negb (ended st)) = true) /\ ((forall i : Z, ((negb ((0 <=? i) && (i <? (edits (kept st))))) || (vain st i)) = true))).
Definition act_end (st : state) : state :=
  {|
     kept := kept st;
     vain := vain st;
     ended := true;
     minimal := true
  |}.

(* the budget of runs is spent *)
Definition guard_give_up (st : state) : Prop :=
  (negb (ended st)) = true.
Definition act_give_up (st : state) : state :=
  {|
     kept := kept st;
     vain := vain st;
     ended := true;
     minimal := false
  |}.

Inductive step (st : state) : state -> Prop :=
| step_take : forall (i : Z), guard_take st i ->
    step st (act_take st i)
| step_try_in_vain : forall (i : Z), guard_try_in_vain st i ->
    step st (act_try_in_vain st i)
| step_end : guard_end st ->
    step st (act_end st)
| step_give_up : guard_give_up st ->
    step st (act_give_up st).

(* it is inductive *)
Definition inv_the_verdict_is_kept (st : state) : Prop :=
  (breaks (kept st) wanted) = true.

(* it is inductive *)
Definition inv_it_never_grows (st : state) : Prop :=
  ((size (kept st)) <=? (size first)) = true.

(* what was tried in vain does not improve the kept run *)
Definition inv_vain_is_of_the_kept_run (st : state) : Prop :=
  (forall i : Z, ((negb (vain st i)) || (negb ((breaks (edit (kept st) i) wanted) && ((size (edit (kept st) i)) <? (size (kept st)))))) = true).

(* a run is called minimal when all was tried *)
Definition inv_minimal_means_all_were_tried (st : state) : Prop :=
  (forall i : Z, ((negb ((minimal st) && ((0 <=? i) && (i <? (edits (kept st)))))) || ((ended st) && (vain st i))) = true).

(* the kept run breaks the property that the first run breaks *)
Definition safe_the_verdict_is_kept (st : state) : Prop :=
  (breaks (kept st) wanted) = true.

(* the kept run is not larger than the first *)
Definition safe_it_never_grows (st : state) : Prop :=
  ((size (kept st)) <=? (size first)) = true.

(* no simplification of a run called minimal is a smaller run that breaks it *)
Definition safe_minimal_is_one_minimal (st : state) : Prop :=
  (forall i : Z, ((negb ((minimal st) && ((0 <=? i) && (i <? (edits (kept st)))))) || (negb ((breaks (edit (kept st) i) wanted) && ((size (edit (kept st) i)) <? (size (kept st)))))) = true).

