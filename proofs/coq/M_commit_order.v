(* commit_order: workers, row locks, and engine commits in the order of the log.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.

Record state : Type := {
  n : Z;
  started : Z -> bool;
  committed : Z -> bool;
  holder : Row -> Z;
  read : Z -> bool;
  head : Z
}.

Definition init_empty (st : state) : Prop :=
  (Z.eqb (n st) 0) = true.

Definition init_the_first_has_its_turn (st : state) : Prop :=
  (Z.eqb (head st) 0) = true.

Definition init_idle (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && ((negb (committed st p)) && (negb (read st p)))) = true).

Definition init_unlocked (st : state) : Prop :=
  (forall r : Row, (Z.eqb (holder st r) (-1)) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_the_first_has_its_turn st /\ init_idle st /\ init_unlocked st.

(* the receiver writes *)
Definition guard_queue (st : state) : Prop :=
  true = true.
Definition act_queue (st : state) : state :=
  {|
     n := ((n st) + 1);
     started := started st;
     committed := committed st;
     holder := holder st;
     read := read st;
     head := head st
  |}.

(* a worker takes the next transaction of the log *)
Definition guard_start (st : state) (p : Z) : Prop :=
  (((0 <=? p) = true) /\ (((p <? (n st)) = true) /\ (((negb (started st p)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? p))) || (started st q)) = true)) /\ ((forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? p) && ((ws p r) && (ws q r))))) || (committed st q)) = true))))))).
Definition act_start (st : state) (p : Z) : state :=
  {|
     n := n st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 p));
     committed := committed st;
     holder := holder st;
     read := read st;
     head := head st
  |}.

(* the worker applies a change to the row and so locks it *)
Definition guard_lock_row (st : state) (p : Z) (r : Row) : Prop :=
  ((started st p) && ((negb (committed st p)) && ((ws p r) && (Z.eqb (holder st r) (-1))))) = true.
Definition act_lock_row (st : state) (p : Z) (r : Row) : state :=
  {|
     n := n st;
     started := started st;
     committed := committed st;
     holder := fun (x0 : Row) => (if (eqb_Row x0 r) then p else (holder st x0));
     read := read st;
     head := head st
  |}.

(* all rows applied, and it has its turn; frees its rows, and the next has its turn *)
Definition guard_engine_commit (st : state) (p : Z) : Prop :=
  (((started st p) = true) /\ (((negb (committed st p)) = true) /\ (((forall r : Row, ((negb (ws p r)) || (Z.eqb (holder st r) p)) = true)) /\ ((Z.eqb p (head st)) = true)))).
Definition act_engine_commit (st : state) (p : Z) : state :=
  {|
     n := n st;
     started := started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 p));
     holder := fun (x0 : Row) => (if (Z.eqb (holder st x0) p) then (-1) else (holder st x0));
     read := read st;
     head := ((head st) + 1)
  |}.

(* a reader's snapshot is what has committed *)
Definition guard_take_snapshot (st : state) : Prop :=
  true = true.
Definition act_take_snapshot (st : state) : state :=
  {|
     n := n st;
     started := started st;
     committed := committed st;
     holder := holder st;
     read := fun (x0 : Z) => (committed st x0);
     head := head st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_queue : guard_queue st ->
    step st (act_queue st)
| step_start : forall (p : Z), guard_start st p ->
    step st (act_start st p)
| step_lock_row : forall (p : Z) (r : Row), guard_lock_row st p r ->
    step st (act_lock_row st p r)
| step_engine_commit : forall (p : Z), guard_engine_commit st p ->
    step st (act_engine_commit st p)
| step_take_snapshot : guard_take_snapshot st ->
    step st (act_take_snapshot st).

(* turns follow the log *)
Definition inv_committed_had_its_turn (st : state) : Prop :=
  (forall p : Z, ((negb (0 <=? p)) || (Bool.eqb (committed st p) (p <? (head st)))) = true).

(* the first turn is that of 0 *)
Definition inv_turns_count_from_0 (st : state) : Prop :=
  (0 <=? (head st)) = true.

(* only the head of the queue goes *)
Definition inv_commit_order_preserved (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (committed st q)))) || (committed st p)) = true)).

(* a snapshot is taken of a prefix *)
Definition inv_readers_see_prefixes (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (read st q)))) || (read st p)) = true)).

(* a row is held by a running transaction that writes it *)
Definition inv_holder_is_running (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (holder st r) (-1)) || ((0 <=? (holder st r)) && (((holder st r) <? (n st)) && ((started st (holder st r)) && ((negb (committed st (holder st r))) && (ws (holder st r) r)))))) = true).

(* no conflicting parallel apply *)
Definition inv_running_transactions_do_not_conflict (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((started st q) && ((ws p r) && (ws q r)))))) || (committed st p)) = true))).

(* nothing commits that did not start *)
Definition inv_finished_was_started (st : state) : Prop :=
  (forall p : Z, ((negb (committed st p)) || (started st p)) = true).

(* nothing starts that is not in the log *)
Definition inv_started_was_queued (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) || ((0 <=? p) && (p <? (n st)))) = true).

(* positions count from 0 *)
Definition inv_log_has_no_negative_length (st : state) : Prop :=
  (0 <=? (n st)) = true.

(* what has committed is a prefix *)
Definition safe_commit_order_preserved (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (committed st q)))) || (committed st p)) = true)).

(* a reader sees everything before whatever it sees *)
Definition safe_readers_see_prefixes (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (read st q)))) || (read st p)) = true)).

(* so it can lock what it lacks, and then commit: no deadlock *)
Definition safe_the_head_is_never_blocked (st : state) : Prop :=
  (forall m : Z, (forall r : Row, (((((0 <=? m) = true) /\ (((m <? (n st)) = true) /\ (((negb (committed st m)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? m))) || (committed st q)) = true)) /\ (((started st m) = true) /\ ((ws m r) = true))))))) -> ((Z.eqb (holder st r) (-1)) || (Z.eqb (holder st r) m)) = true))).

(* all that its start waits for has happened *)
Definition safe_the_head_may_start (st : state) : Prop :=
  (forall m : Z, (forall q : Z, (((((0 <=? m) = true) /\ (((m <? (n st)) = true) /\ (((negb (committed st m)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? m))) || (committed st q)) = true)) /\ (((negb (started st m)) = true) /\ (((0 <=? q) = true) /\ ((q <? m) = true)))))))) -> ((started st q) && (committed st q)) = true))).

