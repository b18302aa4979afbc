(* members: one order of delivery, two certification infos, two collections.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable snap : Txn -> Txn -> bool.
Variable ws : Txn -> Row -> bool.
(* members execute in an order that keeps causes before effects *)
Hypothesis axiom_snapshots_are_closed : (forall t : Txn, (forall u : Txn, (forall w : Txn, ((negb ((snap t u) && (snap u w))) || (snap t w)) = true))).

Record state : Type := {
  delivered : Txn -> bool;
  certified : Txn -> bool;
  written : Row -> bool;
  writer : Row -> Txn;
  stable : Txn -> bool;
  has_a : Row -> bool;
  has_b : Row -> bool;
  purged : Row -> bool;
  grown : Txn -> bool
}.

Definition init_nothing_delivered (st : state) : Prop :=
  (forall t : Txn, ((negb (delivered st t)) && ((negb (certified st t)) && (negb (stable st t)))) = true).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, ((negb (written st r)) && ((negb (has_a st r)) && (negb (has_b st r)))) = true).

Definition init (st : state) : Prop :=
  init_nothing_delivered st /\ init_nothing_written st.

(* both accept, or the statement is broken before they can differ *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((negb (delivered st t)) = true) /\ (((negb (snap t t)) = true) /\ (((forall u : Txn, ((negb (snap t u)) || (certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true))) /\ ((forall r : Row, (forall u : Txn, (negb ((ws t r) && ((has_a st r) && (((snap (writer st r) u) || (eqb_Txn u (writer st r))) && (negb (snap t u)))))) = true))))))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     written := fun (x0 : Row) => ((written st x0) || (ws t x0));
     writer := fun (x0 : Row) => (if (ws t x0) then t else (writer st x0));
     stable := stable st;
     has_a := fun (x0 : Row) => ((has_a st x0) || (ws t x0));
     has_b := fun (x0 : Row) => ((has_b st x0) || (ws t x0));
     purged := purged st;
     grown := grown st
  |}.

(* a refused transaction changes nothing *)
Definition guard_refuse (st : state) (t : Txn) : Prop :=
  (((negb (delivered st t)) = true) /\ (((negb (snap t t)) = true) /\ (((forall u : Txn, ((negb (snap t u)) || (certified st u)) = true)) /\ ((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true)))))).
Definition act_refuse (st : state) (t : Txn) : state :=
  {|
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     written := written st;
     writer := writer st;
     stable := stable st;
     has_a := has_a st;
     has_b := has_b st;
     purged := purged st;
     grown := grown st
  |}.

(* every member reported these transactions as executed *)
Definition guard_grow_stable_set (st : state) (grown' : Txn -> bool) : Prop :=
  (forall t : Txn, ((negb (grown' t)) || (certified st t)) = true).
Definition act_grow_stable_set (st : state) (grown' : Txn -> bool) : state :=
  {|
     delivered := delivered st;
     certified := certified st;
     written := written st;
     writer := writer st;
     stable := fun (x0 : Txn) => ((stable st x0) || (grown' x0));
     has_a := has_a st;
     has_b := has_b st;
     purged := purged st;
     grown := fun (x0 : Txn) => (grown' x0)
  |}.

(* one member purges stable items *)
Definition guard_collect_at_a (st : state) (purged' : Row -> bool) : Prop :=
  (forall r : Row, (forall u : Txn, ((negb ((purged' r) && ((snap (writer st r) u) || (eqb_Txn u (writer st r))))) || (stable st u)) = true)).
Definition act_collect_at_a (st : state) (purged' : Row -> bool) : state :=
  {|
     delivered := delivered st;
     certified := certified st;
     written := written st;
     writer := writer st;
     stable := stable st;
     has_a := fun (x0 : Row) => ((has_a st x0) && (negb (purged' x0)));
     has_b := has_b st;
     purged := fun (x0 : Row) => (purged' x0);
     grown := grown st
  |}.

(* one member purges stable items *)
Definition guard_collect_at_b (st : state) (purged' : Row -> bool) : Prop :=
  (forall r : Row, (forall u : Txn, ((negb ((purged' r) && ((snap (writer st r) u) || (eqb_Txn u (writer st r))))) || (stable st u)) = true)).
Definition act_collect_at_b (st : state) (purged' : Row -> bool) : state :=
  {|
     delivered := delivered st;
     certified := certified st;
     written := written st;
     writer := writer st;
     stable := stable st;
     has_a := has_a st;
     has_b := fun (x0 : Row) => ((has_b st x0) && (negb (purged' x0)));
     purged := fun (x0 : Row) => (purged' x0);
     grown := grown st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn), guard_refuse st t ->
    step st (act_refuse st t)
| step_grow_stable_set : forall (grown' : Txn -> bool), guard_grow_stable_set st grown' ->
    step st (act_grow_stable_set st grown')
| step_collect_at_a : forall (purged' : Row -> bool), guard_collect_at_a st purged' ->
    step st (act_collect_at_a st purged')
| step_collect_at_b : forall (purged' : Row -> bool), guard_collect_at_b st purged' ->
    step st (act_collect_at_b st purged').

(* an item is of a transaction that wrote the row *)
Definition inv_last_writer_wrote_the_row (st : state) : Prop :=
  (forall r : Row, ((negb (written st r)) || (ws (writer st r) r)) = true).

(* an item that was purged is of a version that is stable *)
Definition inv_item_lacks_at_a_only_if_stable (st : state) : Prop :=
  (forall r : Row, (forall u : Txn, ((negb ((written st r) && ((negb (has_a st r)) && ((snap (writer st r) u) || (eqb_Txn u (writer st r)))))) || (stable st u)) = true)).

(* there is no item without a writer *)
Definition inv_item_at_a_was_written (st : state) : Prop :=
  (forall r : Row, ((negb (has_a st r)) || (written st r)) = true).

(* an item that was purged is of a version that is stable *)
Definition inv_item_lacks_at_b_only_if_stable (st : state) : Prop :=
  (forall r : Row, (forall u : Txn, ((negb ((written st r) && ((negb (has_b st r)) && ((snap (writer st r) u) || (eqb_Txn u (writer st r)))))) || (stable st u)) = true)).

(* there is no item without a writer *)
Definition inv_item_at_b_was_written (st : state) : Prop :=
  (forall r : Row, ((negb (has_b st r)) || (written st r)) = true).

(* the item because of which one member refuses is there at the other as well, or was stable, and then no refusal is due to it *)
Definition safe_what_a_refuses_b_refuses (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, (forall u : Txn, (((((negb (delivered st t)) = true) /\ (((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true))) /\ (((ws t r) = true) /\ (((has_a st r) = true) /\ ((((snap (writer st r) u) || (eqb_Txn u (writer st r))) = true) /\ ((negb (snap t u)) = true))))))) -> (has_b st r) = true)))).

(* the item because of which one member refuses is there at the other as well, or was stable, and then no refusal is due to it *)
Definition safe_what_b_refuses_a_refuses (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, (forall u : Txn, (((((negb (delivered st t)) = true) /\ (((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true))) /\ (((ws t r) = true) /\ (((has_b st r) = true) /\ ((((snap (writer st r) u) || (eqb_Txn u (writer st r))) = true) /\ ((negb (snap t u)) = true))))))) -> (has_a st r) = true)))).

