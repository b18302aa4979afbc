(* lock_queue[sessions]: workers lock rows one by one and commit in the order of the log.
   Written by paraply from the model of that name. *)

Require Import Response.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable size : Z -> Z.
Variable row_at : Z -> Z -> Row.
Variable place : Z -> Row -> Z.
(* no lock set has a negative size *)
Hypothesis axiom_sizes : (forall p : Z, (0 <=? (size p)) = true).
(* no transaction locks a row twice *)
Hypothesis axiom_places : (forall p : Z, (forall i : Z, ((negb ((0 <=? i) && (i <? (size p)))) || (Z.eqb (place p (row_at p i)) i)) = true)).
(* a written row is locked *)
Hypothesis axiom_writes_are_locked : (forall p : Z, (forall r : Row, ((negb (ws p r)) || ((0 <=? (place p r)) && (((place p r) <? (size p)) && (eqb_Row (row_at p (place p r)) r)))) = true)).

Record state : Type := {
  n : Z;
  head : Z;
  started : Z -> bool;
  got : Z -> Z;
  holder : Row -> Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (Z.eqb (head st) 0)) = true.

Definition init_idle (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (Z.eqb (got st p) 0)) = true).

Definition init_unlocked (st : state) : Prop :=
  (forall r : Row, (Z.eqb (holder st r) (-1)) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_idle st /\ init_unlocked st.

(* the receiver writes *)
Definition guard_queue (st : state) : Prop :=
  true = true.
Definition act_queue (st : state) : state :=
  {|
     n := ((n st) + 1);
     head := head st;
     started := started st;
     got := got st;
     holder := holder st
  |}.

(* a worker takes the next transaction of the log *)
Definition guard_start (st : state) (p : Z) : Prop :=
  (((0 <=? p) = true) /\ (((p <? (n st)) = true) /\ (((negb (started st p)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? p))) || (started st q)) = true)) /\ ((forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? p) && ((ws p r) && (ws q r))))) || (q <? (head st))) = true))))))).
Definition act_start (st : state) (p : Z) : state :=
  {|
     n := n st;
     head := head st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 p));
     got := got st;
     holder := holder st
  |}.

(* the worker executes its next statement and so locks a row *)
Definition guard_lock_row (st : state) (p : Z) : Prop :=
  ((started st p) && (((head st) <=? p) && (((got st p) <? (size p)) && (Z.eqb (holder st (row_at p (got st p))) (-1))))) = true.
Definition act_lock_row (st : state) (p : Z) : state :=
  {|
     n := n st;
     head := head st;
     started := started st;
     got := fun (x0 : Z) => (if (Z.eqb x0 p) then ((got st p) + 1) else (got st x0));
     holder := fun (x0 : Row) => (if (eqb_Row x0 (row_at p (got st p))) then p else (holder st x0))
  |}.

(* all rows are locked and all earlier transactions have committed; frees its rows *)
Definition guard_engine_commit (st : state) (p : Z) : Prop :=
  ((started st p) && (((head st) <=? p) && ((Z.eqb (got st p) (size p)) && (Z.eqb p (head st))))) = true.
Definition act_engine_commit (st : state) (p : Z) : state :=
  {|
     n := n st;
     head := ((head st) + 1);
     started := started st;
     got := got st;
     holder := fun (x0 : Row) => (if (Z.eqb (holder st x0) p) then (-1) else (holder st x0))
  |}.

(* a client's session changes a row *)
Definition guard_session_locks (st : state) (r : Row) : Prop :=
  (((Z.eqb (holder st r) (-1)) = true) /\ ((forall q : Z, ((negb (0 <=? q)) || (negb ((started st q) && (((head st) <=? q) && (((got st q) <? (size q)) && (eqb_Row (row_at q (got st q)) r)))))) = true))).
Definition act_session_locks (st : state) (r : Row) : state :=
  {|
     n := n st;
     head := head st;
     started := started st;
     got := got st;
     holder := fun (x0 : Row) => (if (eqb_Row x0 r) then (-2) else (holder st x0))
  |}.

(* the session commits or rolls back, and nobody waits for its row *)
Definition guard_session_ends (st : state) (r : Row) : Prop :=
  (((Z.eqb (holder st r) (-2)) = true) /\ ((forall q : Z, ((negb (0 <=? q)) || (negb ((started st q) && (((head st) <=? q) && (((got st q) <? (size q)) && (eqb_Row (row_at q (got st q)) r)))))) = true))).
Definition act_session_ends (st : state) (r : Row) : state :=
  {|
     n := n st;
     head := head st;
     started := started st;
     got := got st;
     holder := fun (x0 : Row) => (if (eqb_Row x0 r) then (-1) else (holder st x0))
  |}.

(* the session ends or is killed, and its row goes to the earliest that waits *)
Definition guard_session_gives_way (st : state) (q : Z) : Prop :=
  (((started st q) = true) /\ ((((head st) <=? q) = true) /\ (((0 <=? q) = true) /\ ((((got st q) <? (size q)) = true) /\ (((forall i : Z, ((negb ((0 <=? i) && (i <? q))) || (negb ((started st i) && (((head st) <=? i) && (((got st i) <? (size i)) && (eqb_Row (row_at i (got st i)) (row_at q (got st q)))))))) = true)) /\ ((Z.eqb (holder st (row_at q (got st q))) (-2)) = true)))))).
Definition act_session_gives_way (st : state) (q : Z) : state :=
  {|
     n := n st;
     head := head st;
     started := started st;
     got := fun (x0 : Z) => (if (Z.eqb x0 q) then ((got st x0) + 1) else (got st x0));
     holder := fun (x0 : Row) => (if (eqb_Row x0 (row_at q (got st q))) then q else (holder st x0))
  |}.

(* a holder of a row that an earlier transaction wants rolls back and begins again *)
Definition guard_call_back (st : state) (p : Z) (q : Z) : Prop :=
  (((started st p) = true) /\ ((((head st) <=? p) = true) /\ (((0 <=? q) = true) /\ (((q <? p) = true) /\ (((started st q) = true) /\ ((((head st) <=? q) = true) /\ ((((got st q) <? (size q)) = true) /\ (((Z.eqb (holder st (row_at q (got st q))) p) = true) /\ ((forall i : Z, ((negb ((0 <=? i) && (i <? q))) || (negb ((started st i) && (((head st) <=? i) && (((got st i) <? (size i)) && (Z.eqb (holder st (row_at i (got st i))) p)))))) = true)))))))))).
Definition act_call_back (st : state) (p : Z) (q : Z) : state :=
  {|
     n := n st;
     head := head st;
     started := started st;
     got := fun (x0 : Z) => (if (Z.eqb x0 p) then 0 else (if (Z.eqb x0 q) then ((got st q) + 1) else (got st x0)));
     holder := fun (x0 : Row) => (if (eqb_Row x0 (row_at q (got st q))) then q else (if (Z.eqb (holder st x0) p) then (-1) else (holder st x0)))
  |}.

Inductive step (st : state) : state -> Prop :=
| step_queue : guard_queue st ->
    step st (act_queue st)
| step_start : forall (p : Z), guard_start st p ->
    step st (act_start st p)
| step_lock_row : forall (p : Z), guard_lock_row st p ->
    step st (act_lock_row st p)
| step_engine_commit : forall (p : Z), guard_engine_commit st p ->
    step st (act_engine_commit st p)
| step_session_locks : forall (r : Row), guard_session_locks st r ->
    step st (act_session_locks st r)
| step_session_ends : forall (r : Row), guard_session_ends st r ->
    step st (act_session_ends st r)
| step_session_gives_way : forall (q : Z), guard_session_gives_way st q ->
    step st (act_session_gives_way st q)
| step_call_back : forall (p : Z) (q : Z), guard_call_back st p q ->
    step st (act_call_back st p q).

(* only logged transactions commit *)
Definition inv_head_is_in_the_log (st : state) : Prop :=
  ((0 <=? (head st)) && ((head st) <=? (n st))) = true.

(* no transaction starts before it is logged *)
Definition inv_started_was_queued (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) || ((0 <=? p) && (p <? (n st)))) = true).

(* no transaction commits before it starts *)
Definition inv_committed_was_started (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (head st)))) || (started st p)) = true).

(* no conflicting parallel apply *)
Definition inv_running_transactions_do_not_conflict (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((started st q) && ((ws p r) && (ws q r)))))) || (p <? (head st))) = true))).

(* no transaction locks more rows than it has statements *)
Definition inv_counts_are_in_range (st : state) : Prop :=
  (forall p : Z, ((0 <=? (got st p)) && ((got st p) <=? (size p))) = true).

(* a lock needs a worker *)
Definition inv_only_started_ones_lock (st : state) : Prop :=
  (forall p : Z, ((negb (0 <? (got st p))) || (started st p)) = true).

(* a row is held by a running transaction that has come to it *)
Definition inv_holder_is_running (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (holder st r) (-1)) || ((Z.eqb (holder st r) (-2)) || ((started st (holder st r)) && (((head st) <=? (holder st r)) && ((0 <=? (place (holder st r) r)) && (((place (holder st r) r) <? (size (holder st r))) && ((eqb_Row (row_at (holder st r) (place (holder st r) r)) r) && ((place (holder st r) r) <? (got st (holder st r)))))))))) = true).

(* a running transaction keeps the rows that it has locked *)
Definition inv_rows_are_kept (st : state) : Prop :=
  (forall p : Z, (forall i : Z, ((negb ((started st p) && (((head st) <=? p) && ((0 <=? i) && (i <? (got st p)))))) || (Z.eqb (holder st (row_at p i)) p)) = true)).

(* of two transactions that write one row, the later starts after the earlier has committed *)
Definition safe_conflicts_do_not_overlap (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((started st q) && ((ws p r) && (ws q r)))))) || (p <? (head st))) = true))).

(* every transaction in the relay log is committed eventually *)
Definition pending_the_log_is_finished (st : state) (t : Z) : bool :=
  ((0 <=? t) && (t <? (n st))).
Definition goal_the_log_is_finished (st : state) (t : Z) : bool :=
  (t <? (head st)).
Definition rank_the_log_is_finished (st : state) (t : Z) : list (Z * Z) :=
  [(t, (head st)); ((if (started st (head st)) then 0 else 1), 0); ((size (head st)), (got st (head st))); ((if ((started st (head st)) && (((got st (head st)) <? (size (head st))) && (negb (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-1))))) then 0 else 1), 0)].
Inductive help_the_log_is_finished : Type :=
| the_log_is_finished_to_start (p' : Z) (* the first uncommitted transaction has no worker yet *)
| the_log_is_finished_to_lock (p' : Z) (* it has a worker, and its next row is free *)
| the_log_is_finished_to_commit (p' : Z) (* it has locked all its rows *)
| the_log_is_finished_waits_for_a_session (q' : Z) (* a client's session has locked its next row *)
| the_log_is_finished_waits (p' : Z) (q' : Z) (* a later transaction has locked its next row *).
Definition helps_the_log_is_finished (t : Z) (h : help_the_log_is_finished) (st : state) : bool :=
  match h with
  | the_log_is_finished_to_start p' => ((negb (started st (head st))) && (Z.eqb p' (head st)))
  | the_log_is_finished_to_lock p' => (((started st (head st)) && (((got st (head st)) <? (size (head st))) && (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-1)))) && (Z.eqb p' (head st)))
  | the_log_is_finished_to_commit p' => (((started st (head st)) && ((size (head st)) <=? (got st (head st)))) && (Z.eqb p' (head st)))
  | the_log_is_finished_waits_for_a_session q' => (((started st (head st)) && (((got st (head st)) <? (size (head st))) && ((negb (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-1))) && (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-2))))) && (Z.eqb q' (head st)))
  | the_log_is_finished_waits p' q' => (((started st (head st)) && (((got st (head st)) <? (size (head st))) && ((negb (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-1))) && (negb (Z.eqb (holder st (row_at (head st) (got st (head st)))) (-2)))))) && ((Z.eqb p' (holder st (row_at (head st) (got st (head st))))) && (Z.eqb q' (head st))))
  end.
Definition guard_the_log_is_finished (h : help_the_log_is_finished) (st : state) : Prop :=
  match h with
  | the_log_is_finished_to_start p' => guard_start st p'
  | the_log_is_finished_to_lock p' => guard_lock_row st p'
  | the_log_is_finished_to_commit p' => guard_engine_commit st p'
  | the_log_is_finished_waits_for_a_session q' => guard_session_gives_way st q'
  | the_log_is_finished_waits p' q' => guard_call_back st p' q'
  end.
Definition act_the_log_is_finished (h : help_the_log_is_finished) (st : state) : state :=
  match h with
  | the_log_is_finished_to_start p' => act_start st p'
  | the_log_is_finished_to_lock p' => act_lock_row st p'
  | the_log_is_finished_to_commit p' => act_engine_commit st p'
  | the_log_is_finished_waits_for_a_session q' => act_session_gives_way st q'
  | the_log_is_finished_waits p' q' => act_call_back st p' q'
  end.

