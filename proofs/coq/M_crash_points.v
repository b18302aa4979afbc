(* crash_points: two engines, a binary log between them, crashes at any point.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)

Record state : Type := {
  cursor : Z;
  running : Z -> bool;
  retried : Z -> bool;
  data_prepared : Z -> bool;
  saved_prepared : Z -> bool;
  logged : Z -> bool;
  data : Z -> bool;
  saved : Z -> bool
}.

Definition init_at_the_beginning (st : state) : Prop :=
  (Z.eqb (cursor st) 0) = true.

Definition init_empty (st : state) : Prop :=
  (forall p : Z, ((negb (running st p)) && ((negb (retried st p)) && ((negb (data_prepared st p)) && ((negb (saved_prepared st p)) && ((negb (logged st p)) && ((negb (data st p)) && (negb (saved st p)))))))) = true).

Definition init (st : state) : Prop :=
  init_at_the_beginning st /\ init_empty st.

(* a worker begins the next transaction of the relay log *)
Definition guard_begin (st : state) : Prop :=
  true = true.
Definition act_begin (st : state) : state :=
  {|
     cursor := ((cursor st) + 1);
     running := fun (x0 : Z) => ((running st x0) || (Z.eqb x0 (cursor st)));
     retried := retried st;
     data_prepared := data_prepared st;
     saved_prepared := saved_prepared st;
     logged := logged st;
     data := data st;
     saved := saved st
  |}.

(* its changes are durable, but not visible *)
Definition guard_prepare_data (st : state) (p : Z) : Prop :=
  ((running st p) && (negb (logged st p))) = true.
Definition act_prepare_data (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := retried st;
     data_prepared := fun (x0 : Z) => ((data_prepared st x0) || (Z.eqb x0 p));
     saved_prepared := saved_prepared st;
     logged := logged st;
     data := data st;
     saved := saved st
  |}.

(* its position is durable, but not visible *)
Definition guard_prepare_position (st : state) (p : Z) : Prop :=
  ((running st p) && (negb (logged st p))) = true.
Definition act_prepare_position (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := retried st;
     data_prepared := data_prepared st;
     saved_prepared := fun (x0 : Z) => ((saved_prepared st x0) || (Z.eqb x0 p));
     logged := logged st;
     data := data st;
     saved := saved st
  |}.

(* a temporary error: both engines roll back, and the transaction is run again *)
Definition guard_retry (st : state) (p : Z) : Prop :=
  ((running st p) && (negb (logged st p))) = true.
Definition act_retry (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := fun (x0 : Z) => ((retried st x0) || (Z.eqb x0 p));
     data_prepared := fun (x0 : Z) => ((data_prepared st x0) && (negb (Z.eqb x0 p)));
     saved_prepared := fun (x0 : Z) => ((saved_prepared st x0) && (negb (Z.eqb x0 p)));
     logged := logged st;
     data := data st;
     saved := saved st
  |}.

(* in relay-log order it is written to the replica's binary log: decided *)
Definition guard_log (st : state) (p : Z) : Prop :=
  (((running st p) = true) /\ (((negb (logged st p)) = true) /\ (((data_prepared st p) = true) /\ (((saved_prepared st p) = true) /\ ((forall q : Z, ((negb ((0 <=? q) && (q <? p))) || (logged st q)) = true)))))).
Definition act_log (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := retried st;
     data_prepared := data_prepared st;
     saved_prepared := saved_prepared st;
     logged := fun (x0 : Z) => ((logged st x0) || (Z.eqb x0 p));
     data := data st;
     saved := saved st
  |}.

(* the engine of the data commits *)
Definition guard_commit_data (st : state) (p : Z) : Prop :=
  ((running st p) && (logged st p)) = true.
Definition act_commit_data (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := retried st;
     data_prepared := data_prepared st;
     saved_prepared := saved_prepared st;
     logged := logged st;
     data := fun (x0 : Z) => ((data st x0) || (Z.eqb x0 p));
     saved := saved st
  |}.

(* the engine of the position table commits *)
Definition guard_commit_position (st : state) (p : Z) : Prop :=
  ((running st p) && ((logged st p) && (saved_prepared st p))) = true.
Definition act_commit_position (st : state) (p : Z) : state :=
  {|
     cursor := cursor st;
     running := running st;
     retried := retried st;
     data_prepared := data_prepared st;
     saved_prepared := saved_prepared st;
     logged := logged st;
     data := data st;
     saved := fun (x0 : Z) => ((saved st x0) || (Z.eqb x0 p))
  |}.

(* the binary log decides what is prepared; the highest position counts *)
Definition guard_crash_and_recover (st : state) (begin : Z) : Prop :=
  (((0 <=? begin) = true) /\ ((((Z.eqb begin 0) || ((saved st (begin + (-1))) || ((saved_prepared st (begin + (-1))) && (logged st (begin + (-1)))))) = true) /\ ((forall q : Z, ((negb (begin <=? q)) || (negb ((saved st q) || ((saved_prepared st q) && (logged st q))))) = true)))).
Definition act_crash_and_recover (st : state) (begin : Z) : state :=
  {|
     cursor := begin;
     running := fun (x0 : Z) => false;
     retried := fun (x0 : Z) => false;
     data_prepared := fun (x0 : Z) => false;
     saved_prepared := fun (x0 : Z) => false;
     logged := logged st;
     data := fun (x0 : Z) => ((data st x0) || ((data_prepared st x0) && (logged st x0)));
     saved := fun (x0 : Z) => ((saved st x0) || ((saved_prepared st x0) && (logged st x0)))
  |}.

Inductive step (st : state) : state -> Prop :=
| step_begin : guard_begin st ->
    step st (act_begin st)
| step_prepare_data : forall (p : Z), guard_prepare_data st p ->
    step st (act_prepare_data st p)
| step_prepare_position : forall (p : Z), guard_prepare_position st p ->
    step st (act_prepare_position st p)
| step_retry : forall (p : Z), guard_retry st p ->
    step st (act_retry st p)
| step_log : forall (p : Z), guard_log st p ->
    step st (act_log st p)
| step_commit_data : forall (p : Z), guard_commit_data st p ->
    step st (act_commit_data st p)
| step_commit_position : forall (p : Z), guard_commit_position st p ->
    step st (act_commit_position st p)
| step_crash_and_recover : forall (begin : Z), guard_crash_and_recover st begin ->
    step st (act_crash_and_recover st begin).

(* both engines have prepared what the binary log has *)
Definition inv_logged_is_decided (st : state) : Prop :=
  (forall p : Z, ((negb (logged st p)) || (((data st p) || (data_prepared st p)) && ((saved st p) || (saved_prepared st p)))) = true).

(* no engine commits what the binary log does not have *)
Definition inv_committed_is_logged (st : state) : Prop :=
  (forall p : Z, ((negb ((data st p) || (saved st p))) || (logged st p)) = true).

(* the replica's binary log follows the relay log *)
Definition inv_log_is_a_prefix (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (logged st q)))) || (logged st p)) = true)).

(* nothing is logged that was not begun *)
Definition inv_logged_was_begun (st : state) : Prop :=
  (forall p : Z, ((negb ((logged st p) || (running st p))) || ((0 <=? p) && (p <? (cursor st)))) = true).

(* a restart begins after what is decided *)
Definition inv_begun_is_running_or_logged (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (cursor st)))) || ((running st p) || (logged st p))) = true).

(* positions count from 0 *)
Definition inv_cursor_is_a_position (st : state) : Prop :=
  (0 <=? (cursor st)) = true.

(* a crash at this moment leaves the position of exactly what is in the data *)
Definition safe_position_equals_data (st : state) : Prop :=
  (forall p : Z, (Bool.eqb ((data st p) || ((data_prepared st p) && (logged st p))) ((saved st p) || ((saved_prepared st p) && (logged st p)))) = true).

(* whatever is before the highest position is in the data *)
Definition safe_one_position_tells_all (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && ((saved st q) || ((saved_prepared st q) && (logged st q)))))) || ((data st p) || ((data_prepared st p) && (logged st p)))) = true)).

(* what is still to be begun is not in the data *)
Definition safe_nothing_is_applied_twice (st : state) : Prop :=
  (forall p : Z, ((negb ((cursor st) <=? p)) || (negb ((data st p) || ((data_prepared st p) && (logged st p))))) = true).

(* what was begun runs or is in the data *)
Definition safe_nothing_is_passed_over (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (cursor st)))) || ((running st p) || ((data st p) || ((data_prepared st p) && (logged st p))))) = true).

