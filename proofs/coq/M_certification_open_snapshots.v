(* certification[open snapshots]: delivery in total order, first certified wins, garbage collection.
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

Record state : Type := {
  delivered : Txn -> bool;
  certified : Txn -> bool;
  before : Txn -> Txn -> bool;
  stable : Txn -> bool;
  has : Row -> bool;
  writer : Row -> Txn;
  grown : Txn -> bool;
  purged : Row -> bool;
  refuser : Txn -> Txn;
  refused_row : Txn -> Row
}.

Definition init_nothing_delivered (st : state) : Prop :=
  (forall t : Txn, ((negb (delivered st t)) && ((negb (certified st t)) && (negb (stable st t)))) = true).

Definition init_nothing_is_ordered (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (negb (before st t u)) = true)).

Definition init_certification_info_is_empty (st : state) : Prop :=
  (forall r : Row, (negb (has st r)) = true).

Definition init (st : state) : Prop :=
  init_nothing_delivered st /\ init_nothing_is_ordered st /\ init_certification_info_is_empty st.

(* no item of the write set has a writer outside the snapshot *)
Definition guard_certify_positively (st : state) (t : Txn) : Prop :=
  (((negb (delivered st t)) = true) /\ (((negb (snap t t)) = true) /\ (((forall u : Txn, ((negb (snap t u)) || (certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true))) /\ ((forall r : Row, ((negb ((ws t r) && (has st r))) = false -> ((forall u : Txn, ((negb ((snap (writer st r) u) || (eqb_Txn u (writer st r)))) || (snap t u)) = true))))))))).
Definition act_certify_positively (st : state) (t : Txn) : state :=
  {|
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     before := fun (x0 : Txn) (x1 : Txn) => ((before st x0 x1) || ((delivered st x0) && (eqb_Txn x1 t)));
     stable := stable st;
     has := fun (x0 : Row) => ((has st x0) || (ws t x0));
     writer := fun (x0 : Row) => (if (ws t x0) then t else (writer st x0));
     grown := grown st;
     purged := purged st;
     refuser := refuser st;
     refused_row := refused_row st
  |}.

(* refused; nothing but the order changes *)
Definition guard_certify_negatively (st : state) (t : Txn) (r : Row) (w : Txn) : Prop :=
  (((negb (delivered st t)) = true) /\ (((negb (snap t t)) = true) /\ (((forall u : Txn, ((negb (snap t u)) || (certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((stable st u) && ((ws t q) && (ws u q)))) || (snap t u)) = true))) /\ (((ws t r) = true) /\ (((has st r) = true) /\ ((((snap (writer st r) w) || (eqb_Txn w (writer st r))) = true) /\ ((negb (snap t w)) = true)))))))).
Definition act_certify_negatively (st : state) (t : Txn) (r : Row) (w : Txn) : state :=
  {|
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     before := fun (x0 : Txn) (x1 : Txn) => ((before st x0 x1) || ((delivered st x0) && (eqb_Txn x1 t)));
     stable := stable st;
     has := has st;
     writer := writer st;
     grown := grown st;
     purged := purged st;
     refuser := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (writer st r) else (refuser st x0));
     refused_row := fun (x0 : Txn) => (if (eqb_Txn x0 t) then r else (refused_row st x0))
  |}.

(* every member reported these transactions as executed *)
Definition guard_grow_stable_set (st : state) (grown' : Txn -> bool) : Prop :=
  (forall t : Txn, ((negb (grown' t)) || (certified st t)) = true).
Definition act_grow_stable_set (st : state) (grown' : Txn -> bool) : state :=
  {|
     delivered := delivered st;
     certified := certified st;
     before := before st;
     stable := fun (x0 : Txn) => ((stable st x0) || (grown' x0));
     has := has st;
     writer := writer st;
     grown := fun (x0 : Txn) => (grown' x0);
     purged := purged st;
     refuser := refuser st;
     refused_row := refused_row st
  |}.

(* purge items whose version is stable, at any time *)
Definition guard_collect_garbage (st : state) (purged' : Row -> bool) : Prop :=
  (forall r : Row, (forall u : Txn, ((negb ((purged' r) && ((has st r) && ((snap (writer st r) u) || (eqb_Txn u (writer st r)))))) || (stable st u)) = true)).
Definition act_collect_garbage (st : state) (purged' : Row -> bool) : state :=
  {|
     delivered := delivered st;
     certified := certified st;
     before := before st;
     stable := stable st;
     has := fun (x0 : Row) => ((has st x0) && (negb (purged' x0)));
     writer := writer st;
     grown := grown st;
     purged := fun (x0 : Row) => (purged' x0);
     refuser := refuser st;
     refused_row := refused_row st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify_positively : forall (t : Txn), guard_certify_positively st t ->
    step st (act_certify_positively st t)
| step_certify_negatively : forall (t : Txn) (r : Row) (w : Txn), guard_certify_negatively st t r w ->
    step st (act_certify_negatively st t r w)
| step_grow_stable_set : forall (grown' : Txn -> bool), guard_grow_stable_set st grown' ->
    step st (act_grow_stable_set st grown')
| step_collect_garbage : forall (purged' : Row -> bool), guard_collect_garbage st purged' ->
    step st (act_collect_garbage st purged').

(* the safety statement itself is inductive *)
Definition inv_later_writers_saw_earlier_ones (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((certified st t) && ((certified st u) && ((before st t u) && ((ws t r) && (ws u r)))))) || (snap u t)) = true))).

(* a certified writer, or a later one, is in the row's item, unless it is stable *)
Definition inv_writer_is_remembered (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (((has st r) && ((certified st (writer st r)) && ((ws (writer st r) r) && ((eqb_Txn (writer st r) t) || (before st t (writer st r)))))) || (stable st t))) = true)).

(* an item's writer is certified and wrote the row *)
Definition inv_item_names_a_writer (st : state) : Prop :=
  (forall r : Row, ((negb (has st r)) || ((certified st (writer st r)) && (ws (writer st r) r))) = true).

(* nothing is certified that was not delivered *)
Definition inv_certified_was_delivered (st : state) : Prop :=
  (forall t : Txn, ((negb (certified st t)) || (delivered st t)) = true).

(* the order relates delivered transactions only *)
Definition inv_order_is_of_the_delivered (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, ((negb (before st t u)) || ((delivered st t) && (delivered st u))) = true)).

(* the total order is transitive *)
Definition inv_order_is_transitive (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall w : Txn, ((negb ((before st t u) && (before st u w))) || (before st t w)) = true))).

(* only certified transactions become stable *)
Definition inv_stable_is_certified (st : state) : Prop :=
  (forall t : Txn, ((negb (stable st t)) || (certified st t)) = true).

(* of two certified writers of one row, the later one had seen the earlier one *)
Definition safe_first_certified_wins (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((certified st t) && ((certified st u) && ((before st t u) && ((ws t r) && (ws u r)))))) || (snap u t)) = true))).

