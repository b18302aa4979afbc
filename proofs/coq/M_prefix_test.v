(* prefix_test: each shown state is given the first equal prefix from the last on.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Print : Type.
Variable some_Print : Print.
Variable eqb_Print : Print -> Print -> bool.
Hypothesis eqb_Print_true : forall x y, eqb_Print x y = true <-> x = y.

Variable State : Type.
Variable some_State : State.
Variable eqb_State : State -> State -> bool.
Hypothesis eqb_State_true : forall x y, eqb_State x y = true <-> x = y.

(* What no step changes. *)
Variable content : Z -> State.
Variable shown : Z -> State.
Variable n : Z.
Variable fingerprint : State -> Print.
Variable state_of : Print -> State.
Variable other : Z -> Z.
Variable explained : Z.
(* the source has a first state *)
Hypothesis axiom_source_begins : (0 <=? n) = true.
(* different states have different fingerprints *)
Hypothesis axiom_A19 : (forall s : State, (eqb_State (state_of (fingerprint s)) s) = true).
(* `other` gives each of the first states an equal prefix *)
Hypothesis axiom_other_explains : (forall k_ : Z, ((negb ((0 <=? k_) && (k_ <? explained))) || ((0 <=? (other k_)) && (((other k_) <=? n) && (eqb_State (content (other k_)) (shown k_))))) = true).
(* and no later one a shorter prefix *)
Hypothesis axiom_other_rises : (forall k_ : Z, (forall l : Z, ((negb ((0 <=? k_) && ((k_ <=? l) && (l <? explained)))) || ((other k_) <=? (other l))) = true)).

Record state : Type := {
  seen : Z;
  at_ : Z -> Z;
  last : Z;
  failed : bool
}.

Definition init_nothing_shown (st : state) : Prop :=
  ((Z.eqb (seen st) 0) && ((Z.eqb (last st) 0) && (negb (failed st)))) = true.

Definition init (st : state) : Prop :=
  init_nothing_shown st.

(* the shown state has the fingerprint of a prefix, the first from the last on *)
Definition guard_place (st : state) (i : Z) : Prop :=
  (((negb (failed st)) = true) /\ ((((last st) <=? i) = true) /\ (((i <=? n) = true) /\ (((eqb_Print (fingerprint (content i)) (fingerprint (shown (seen st)))) = true) /\ ((forall j : Z, ((negb (((last st) <=? j) && (j <? i))) || (negb (eqb_Print (fingerprint (content j)) (fingerprint (shown (seen st)))))) = true)))))).
Definition act_place (st : state) (i : Z) : state :=
  {|
     seen := ((seen st) + 1);
     at_ := fun (x0 : Z) => (if (Z.eqb x0 (seen st)) then i else (at_ st x0));
     last := i;
     failed := failed st
  |}.

(* no prefix from the last one on has this fingerprint *)
Definition guard_fail (st : state) : Prop :=
  (((negb (failed st)) = true) /\ ((forall j : Z, ((negb (((last st) <=? j) && (j <=? n))) || (negb (eqb_Print (fingerprint (content j)) (fingerprint (shown (seen st)))))) = true))).
Definition act_fail (st : state) : state :=
  {|
     seen := seen st;
     at_ := at_ st;
     last := last st;
     failed := true
  |}.

Inductive step (st : state) : state -> Prop :=
| step_place : forall (i : Z), guard_place st i ->
    step st (act_place st i)
| step_fail : guard_fail st ->
    step st (act_fail st).

(* it is inductive *)
Definition inv_what_is_shown_is_a_prefix (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && (k_ <? (seen st)))) || ((0 <=? (at_ st k_)) && (((at_ st k_) <=? n) && (eqb_State (content (at_ st k_)) (shown k_))))) = true).

(* it is inductive *)
Definition inv_no_reader_goes_back (st : state) : Prop :=
  (forall k_ : Z, (forall l : Z, ((negb ((0 <=? k_) && ((k_ <=? l) && (l <? (seen st))))) || ((at_ st k_) <=? (at_ st l))) = true)).

(* it is inductive *)
Definition inv_failing_means_no_explanation (st : state) : Prop :=
  ((negb (failed st)) || (explained <=? (seen st))) = true.

(* the test is never ahead of another explanation *)
Definition inv_first_is_least (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? explained) && (k_ <? (seen st))))) || ((at_ st k_) <=? (other k_))) = true).

(* the last position is the highest *)
Definition inv_last_is_the_latest (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && (k_ <? (seen st)))) || ((at_ st k_) <=? (last st))) = true).

(* it is the one given last, or the beginning *)
Definition inv_last_was_given (st : state) : Prop :=
  ((0 <=? (seen st)) && ((0 <=? (last st)) && (((last st) <=? n) && (((Z.eqb (seen st) 0) || (Z.eqb (last st) (at_ st ((seen st) + (-1))))) && ((0 <? (seen st)) || (Z.eqb (last st) 0)))))) = true.

(* each state that passed is the source's state after some commits *)
Definition safe_what_is_shown_is_a_prefix (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && (k_ <? (seen st)))) || ((0 <=? (at_ st k_)) && (((at_ st k_) <=? n) && (eqb_State (content (at_ st k_)) (shown k_))))) = true).

(* a later state that passed is of no shorter prefix *)
Definition safe_no_reader_goes_back (st : state) : Prop :=
  (forall k_ : Z, (forall l : Z, ((negb ((0 <=? k_) && ((k_ <=? l) && (l <? (seen st))))) || ((at_ st k_) <=? (at_ st l))) = true)).

(* where the test fails, no choice of rising prefixes explains the state *)
Definition safe_failing_means_no_explanation (st : state) : Prop :=
  ((negb (failed st)) || (explained <=? (seen st))) = true.

