(* writeset_tracker[hashes]: dependencies from the last writer of each row, and a replica.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Slot : Type.
Variable some_Slot : Slot.
Variable eqb_Slot : Slot -> Slot -> bool.
Hypothesis eqb_Slot_true : forall x y, eqb_Slot x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable noted : Z -> Slot -> bool.
Variable slot : Row -> Slot.
(* a write set has the hash of each of its rows *)
Hypothesis axiom_rows_are_hashed : (forall p : Z, (forall r : Row, ((negb (ws p r)) || (noted p (slot r))) = true)).

Record state : Type := {
  n : Z;
  known : Slot -> bool;
  writer : Slot -> Z;
  start : Z;
  depends : Z -> Z;
  started : Z -> bool;
  left : Z -> bool;
  mark : Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (start st) (-1)) && (Z.eqb (mark st) (-1)))) = true.

Definition init_nothing_known (st : state) : Prop :=
  (forall e : Slot, (negb (known st e)) = true).

Definition init_nothing_runs (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (negb (left st p))) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_known st /\ init_nothing_runs st.

(* the next transaction is logged with its bound *)
Definition guard_log (st : state) (low : Z) (parent : Z) : Prop :=
  ((((start st) <=? low) = true) /\ (((low <? (n st)) = true) /\ (((forall e : Slot, ((negb ((noted (n st) e) && (known st e))) || ((writer st e) <=? low)) = true)) /\ (((parent <? (n st)) = true) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((ws p r) && (ws (n st) r))))) || (p <=? parent)) = true))))))).
Definition act_log (st : state) (low : Z) (parent : Z) : state :=
  {|
     n := ((n st) + 1);
     known := fun (x0 : Slot) => ((known st x0) || (noted (n st) x0));
     writer := fun (x0 : Slot) => (if (noted (n st) x0) then (n st) else (writer st x0));
     start := start st;
     depends := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (if (low <=? parent) then low else parent) else (depends st x0));
     started := started st;
     left := left st;
     mark := mark st
  |}.

(* the history is full, or was emptied *)
Definition guard_forget (st : state) : Prop :=
  true = true.
Definition act_forget (st : state) : state :=
  {|
     n := n st;
     known := fun (x0 : Slot) => false;
     writer := writer st;
     start := ((n st) + (-1));
     depends := depends st;
     started := started st;
     left := left st;
     mark := mark st
  |}.

(* the replica starts it when its bound has been reached *)
Definition guard_start (st : state) (q : Z) : Prop :=
  ((0 <=? q) && ((q <? (n st)) && ((negb (started st q)) && ((depends st q) <=? (mark st))))) = true.
Definition act_start (st : state) (q : Z) : state :=
  {|
     n := n st;
     known := known st;
     writer := writer st;
     start := start st;
     depends := depends st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 q));
     left := left st;
     mark := mark st
  |}.

(* it has been applied *)
Definition guard_leave (st : state) (p : Z) : Prop :=
  ((started st p) && (negb (left st p))) = true.
Definition act_leave (st : state) (p : Z) : state :=
  {|
     n := n st;
     known := known st;
     writer := writer st;
     start := start st;
     depends := depends st;
     started := started st;
     left := fun (x0 : Z) => ((left st x0) || (Z.eqb x0 p));
     mark := mark st
  |}.

(* the mark moves over the next one that has left *)
Definition guard_advance (st : state) : Prop :=
  (left st ((mark st) + 1)) = true.
Definition act_advance (st : state) : state :=
  {|
     n := n st;
     known := known st;
     writer := writer st;
     start := start st;
     depends := depends st;
     started := started st;
     left := left st;
     mark := ((mark st) + 1)
  |}.

Inductive step (st : state) : state -> Prop :=
| step_log : forall (low : Z) (parent : Z), guard_log st low parent ->
    step st (act_log st low parent)
| step_forget : guard_forget st ->
    step st (act_forget st)
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_leave : forall (p : Z), guard_leave st p ->
    step st (act_leave st p)
| step_advance : guard_advance st ->
    step st (act_advance st).

(* the bound reaches every earlier writer of a common row *)
Definition inv_bound_reaches_the_writer (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((q <? (n st)) && ((ws p r) && (ws q r)))))) || (p <=? (depends st q))) = true))).

(* a writer is in the history, or the bound for all forgotten covers it *)
Definition inv_writer_is_remembered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && (ws p r)))) || (((known st (slot r)) && (p <=? (writer st (slot r)))) || (p <=? (start st)))) = true)).

(* everything up to the mark has left *)
Definition inv_mark_is_a_prefix (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <=? (mark st)))) || (left st p)) = true).

(* each started transaction had everything up to its bound gone *)
Definition inv_start_respects_its_bound (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((started st q) && ((0 <=? p) && (p <=? (depends st q))))) || (left st p)) = true)).

(* nothing starts that was not logged *)
Definition inv_only_logged_ones_start (st : state) : Prop :=
  (forall p : Z, ((negb ((started st p) || (left st p))) || ((0 <=? p) && (p <? (n st)))) = true).

(* the bound for all forgotten lies in the log *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (n st)) && (((start st) <? (n st)) && ((-1) <=? (mark st)))) = true.

(* the later writer of a row starts after the earlier has left *)
Definition safe_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((q <? (n st)) && ((ws p r) && ((ws q r) && (started st q))))))) || (left st p)) = true))).

