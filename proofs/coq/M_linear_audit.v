(* linear_audit: one pass over a log, with the newest writer and reader of a key.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Key : Type.
Variable some_Key : Key.
Variable eqb_Key : Key -> Key -> bool.
Hypothesis eqb_Key_true : forall x y, eqb_Key x y = true <-> x = y.

(* What no step changes. *)
Variable writes : Z -> Key -> bool.
Variable reads : Z -> Key -> bool.
Variable run_ : Z -> Z.
Variable rank : Z -> Z.
Variable floor : Z -> Z.
(* numbers rise inside a run *)
Hypothesis axiom_A20 : (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (Z.eqb (run_ p) (run_ q))))) || ((rank p) <? (rank q))) = true)).
(* no run comes back after another one *)
Hypothesis axiom_runs_follow : (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && (p <? q))) || ((run_ p) <=? (run_ q))) = true)).

Record state : Type := {
  n : Z;
  writer : Key -> Z;
  reader : Key -> Z;
  found : bool;
  earlier : Z;
  later : Z;
  key : Key
}.

Definition init_nothing_read (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (negb (found st))) = true.

Definition init_nothing_known (st : state) : Prop :=
  (forall k_ : Key, ((Z.eqb (writer st k_) (-1)) && (Z.eqb (reader st k_) (-1))) = true).

Definition init (st : state) : Prop :=
  init_nothing_read st /\ init_nothing_known st.

(* the next transaction overlaps nobody whom the pass remembers *)
Definition guard_pass_over (st : state) : Prop :=
  (forall k_ : Key, ((negb (((writes (n st) k_) || (reads (n st) k_)) && ((0 <=? (writer st k_)) && ((Z.eqb (run_ (writer st k_)) (run_ (n st))) && ((floor (n st)) <? (rank (writer st k_))))))) && (negb ((writes (n st) k_) && ((0 <=? (reader st k_)) && ((Z.eqb (run_ (reader st k_)) (run_ (n st))) && ((floor (n st)) <? (rank (reader st k_)))))))) = true).
Definition act_pass_over (st : state) : state :=
  {|
     n := ((n st) + 1);
     writer := fun (x0 : Key) => (if (writes (n st) x0) then (n st) else (writer st x0));
     reader := fun (x0 : Key) => (if (reads (n st) x0) then (n st) else (reader st x0));
     found := found st;
     earlier := earlier st;
     later := later st;
     key := key st
  |}.

(* it overlaps the newest writer or reader of a key *)
Definition guard_find (st : state) (k_ : Key) : Prop :=
  ((((writes (n st) k_) || (reads (n st) k_)) && ((0 <=? (writer st k_)) && ((Z.eqb (run_ (writer st k_)) (run_ (n st))) && ((floor (n st)) <? (rank (writer st k_)))))) || ((writes (n st) k_) && ((0 <=? (reader st k_)) && ((Z.eqb (run_ (reader st k_)) (run_ (n st))) && ((floor (n st)) <? (rank (reader st k_))))))) = true.
Definition act_find (st : state) (k_ : Key) : state :=
  {|
     n := ((n st) + 1);
     writer := fun (x0 : Key) => (if (writes (n st) x0) then (n st) else (writer st x0));
     reader := fun (x0 : Key) => (if (reads (n st) x0) then (n st) else (reader st x0));
     found := true;
     earlier := (if (((writes (n st) k_) || (reads (n st) k_)) && ((0 <=? (writer st k_)) && ((Z.eqb (run_ (writer st k_)) (run_ (n st))) && ((floor (n st)) <? (rank (writer st k_)))))) then (writer st k_) else (reader st k_));
     later := (n st);
     key := k_
  |}.

Inductive step (st : state) : state -> Prop :=
| step_pass_over : guard_pass_over st ->
    step st (act_pass_over st)
| step_find : forall (k_ : Key), guard_find st k_ ->
    step st (act_find st k_).

(* it is inductive *)
Definition inv_silence_means_no_pair (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall k_ : Key, ((negb ((negb (found st)) && ((0 <=? p) && ((p <? q) && ((q <? (n st)) && (((writes p k_) && ((writes q k_) || (reads q k_))) || ((reads p k_) && (writes q k_)))))))) || (negb ((Z.eqb (run_ p) (run_ q)) && ((floor q) <? (rank p))))) = true))).

(* it is inductive *)
Definition inv_a_finding_is_a_pair (st : state) : Prop :=
  ((negb (found st)) || ((0 <=? (earlier st)) && (((earlier st) <? (later st)) && (((later st) <? (n st)) && ((((writes (earlier st) (key st)) && ((writes (later st) (key st)) || (reads (later st) (key st)))) || ((reads (earlier st) (key st)) && (writes (later st) (key st)))) && ((Z.eqb (run_ (earlier st)) (run_ (later st))) && ((floor (later st)) <? (rank (earlier st))))))))) = true.

(* no writer so far is newer than the one remembered *)
Definition inv_writer_is_the_newest (st : state) : Prop :=
  (forall p : Z, (forall k_ : Key, ((negb ((0 <=? p) && ((p <? (n st)) && (writes p k_)))) || (p <=? (writer st k_))) = true)).

(* who is remembered is a writer of the key *)
Definition inv_writer_was_read (st : state) : Prop :=
  (forall k_ : Key, ((Z.eqb (writer st k_) (-1)) || ((0 <=? (writer st k_)) && (((writer st k_) <? (n st)) && (writes (writer st k_) k_)))) = true).

(* no reader so far is newer than the one remembered *)
Definition inv_reader_is_the_newest (st : state) : Prop :=
  (forall p : Z, (forall k_ : Key, ((negb ((0 <=? p) && ((p <? (n st)) && (reads p k_)))) || (p <=? (reader st k_))) = true)).

(* who is remembered is a reader of the key *)
Definition inv_reader_was_read (st : state) : Prop :=
  (forall k_ : Key, ((Z.eqb (reader st k_) (-1)) || ((0 <=? (reader st k_)) && (((reader st k_) <? (n st)) && (reads (reader st k_) k_)))) = true).

(* positions count from 0 *)
Definition inv_counts_from_zero (st : state) : Prop :=
  (0 <=? (n st)) = true.

(* while nothing is found, no pair so far conflicts and may overlap *)
Definition safe_silence_means_no_pair (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall k_ : Key, ((negb ((negb (found st)) && ((0 <=? p) && ((p <? q) && ((q <? (n st)) && (((writes p k_) && ((writes q k_) || (reads q k_))) || ((reads p k_) && (writes q k_)))))))) || (negb ((Z.eqb (run_ p) (run_ q)) && ((floor q) <? (rank p))))) = true))).

(* what is found is a pair of the log that conflicts and may overlap *)
Definition safe_a_finding_is_a_pair (st : state) : Prop :=
  ((negb (found st)) || ((0 <=? (earlier st)) && (((earlier st) <? (later st)) && (((later st) <? (n st)) && ((((writes (earlier st) (key st)) && ((writes (later st) (key st)) || (reads (later st) (key st)))) || ((reads (earlier st) (key st)) && (writes (later st) (key st)))) && ((Z.eqb (run_ (earlier st)) (run_ (later st))) && ((floor (later st)) <? (rank (earlier st))))))))) = true.

