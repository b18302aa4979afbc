(* auto_position[any purge]: a source's binary log, a connection, a relay log, workers, crashes.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)

Record state : Type := {
  written : Z;
  durable : Z;
  purged : Z;
  txn_at : Z -> Txn;
  connected : bool;
  told_ : Z -> bool;
  reads : Z;
  n : Z;
  gtid_at : Z -> Z;
  entry : Z -> Txn;
  place : Z -> Z;
  cursor : Z;
  running : Z -> bool;
  executed : Z -> bool;
  times : Z -> Z;
  did : Z -> Txn
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (written st) 0) && ((Z.eqb (durable st) 0) && ((Z.eqb (purged st) 0) && ((negb (connected st)) && ((Z.eqb (n st) 0) && (Z.eqb (cursor st) 0)))))) = true.

Definition init_nothing_applied (st : state) : Prop :=
  (forall p : Z, ((negb (running st p)) && ((negb (executed st p)) && (Z.eqb (times st p) 0))) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_applied st.

(* the source writes a transaction to its binary log under the next GTID *)
Definition guard_commit (st : state) (t : Txn) : Prop :=
  true = true.
Definition act_commit (st : state) (t : Txn) : state :=
  {|
     written := ((written st) + 1);
     durable := durable st;
     purged := purged st;
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (written st)) then t else (txn_at st x0));
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* what it wrote so far is durable *)
Definition guard_sync (st : state) (level : Z) : Prop :=
  (((durable st) <? level) && (level <=? (written st))) = true.
Definition act_sync (st : state) (level : Z) : state :=
  {|
     written := written st;
     durable := level;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the beginning of the binary log is purged *)
Definition guard_purge (st : state) (level : Z) : Prop :=
  (((purged st) <? level) && (level <=? (durable st))) = true.
Definition act_purge (st : state) (level : Z) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := level;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the source loses what was not durable, and gives its GTIDs again *)
Definition guard_source_crash (st : state) (left : Z) : Prop :=
  (((durable st) <=? left) && (left <=? (written st))) = true.
Definition act_source_crash (st : state) (left : Z) : state :=
  {|
     written := left;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := false;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the replica names GTIDs that it has; without the purged ones it is refused *)
Definition guard_connect (st : state) (told' : Z -> bool) : Prop :=
  (((forall p : Z, ((negb (told' p)) || ((executed st p) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && (Z.eqb (gtid_at st (place st p)) p))))) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && (p <? (purged st)))) || (told' p)) = true))).
Definition act_connect (st : state) (told' : Z -> bool) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := true;
     told_ := fun (x0 : Z) => (told' x0);
     reads := (purged st);
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the connection breaks; the applier goes on *)
Definition guard_disconnect (st : state) : Prop :=
  true = true.
Definition act_disconnect (st : state) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := false;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the next transaction that the replica did not name goes to its relay log *)
Definition guard_send (st : state) : Prop :=
  ((connected st) && (((purged st) <=? (reads st)) && (((reads st) <? (durable st)) && (negb (told_ st (reads st)))))) = true.
Definition act_send (st : state) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := ((reads st) + 1);
     n := ((n st) + 1);
     gtid_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (reads st) else (gtid_at st x0));
     entry := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (txn_at st (reads st)) else (entry st x0));
     place := fun (x0 : Z) => (if (Z.eqb x0 (reads st)) then (n st) else (place st x0));
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the source does not send what the replica named *)
Definition guard_pass_over (st : state) : Prop :=
  ((connected st) && (((purged st) <=? (reads st)) && (((reads st) <? (durable st)) && (told_ st (reads st))))) = true.
Definition act_pass_over (st : state) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := ((reads st) + 1);
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* the coordinator gives the next entry to a worker, which owns its GTID *)
Definition guard_give_out (st : state) : Prop :=
  ((((cursor st) <? (n st)) = true) /\ (((negb (executed st (gtid_at st (cursor st)))) = true) /\ ((forall e : Z, ((negb (running st e)) || (negb (Z.eqb (gtid_at st e) (gtid_at st (cursor st))))) = true)))).
Definition act_give_out (st : state) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := ((cursor st) + 1);
     running := fun (x0 : Z) => ((running st x0) || (Z.eqb x0 (cursor st)));
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* GTID auto-skip: it was executed before *)
Definition guard_skip (st : state) : Prop :=
  (((cursor st) <? (n st)) && (executed st (gtid_at st (cursor st)))) = true.
Definition act_skip (st : state) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := ((cursor st) + 1);
     running := running st;
     executed := executed st;
     times := times st;
     did := did st
  |}.

(* a worker commits data and GTID, in any order among workers *)
Definition guard_engine_commit (st : state) (e : Z) : Prop :=
  (running st e) = true.
Definition act_engine_commit (st : state) (e : Z) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := connected st;
     told_ := told_ st;
     reads := reads st;
     n := n st;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := cursor st;
     running := fun (x0 : Z) => ((running st x0) && (negb (Z.eqb x0 e)));
     executed := fun (x0 : Z) => ((executed st x0) || (Z.eqb x0 (gtid_at st e)));
     times := fun (x0 : Z) => (if (Z.eqb x0 (gtid_at st e)) then ((times st x0) + 1) else (times st x0));
     did := fun (x0 : Z) => (if (Z.eqb x0 (gtid_at st e)) then (entry st e) else (did st x0))
  |}.

(* any end of the relay log is lost; the applier begins before the first missing *)
Definition guard_replica_crash (st : state) (left : Z) (begin : Z) : Prop :=
  (((0 <=? begin) = true) /\ (((begin <=? left) = true) /\ (((left <=? (n st)) = true) /\ ((forall e : Z, ((negb ((0 <=? e) && (e <? begin))) || (executed st (gtid_at st e))) = true))))).
Definition act_replica_crash (st : state) (left : Z) (begin : Z) : state :=
  {|
     written := written st;
     durable := durable st;
     purged := purged st;
     txn_at := txn_at st;
     connected := false;
     told_ := told_ st;
     reads := reads st;
     n := left;
     gtid_at := gtid_at st;
     entry := entry st;
     place := place st;
     cursor := begin;
     running := fun (x0 : Z) => false;
     executed := executed st;
     times := times st;
     did := did st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_commit : forall (t : Txn), guard_commit st t ->
    step st (act_commit st t)
| step_sync : forall (level : Z), guard_sync st level ->
    step st (act_sync st level)
| step_purge : forall (level : Z), guard_purge st level ->
    step st (act_purge st level)
| step_source_crash : forall (left : Z), guard_source_crash st left ->
    step st (act_source_crash st left)
| step_connect : forall (told' : Z -> bool), guard_connect st told' ->
    step st (act_connect st told')
| step_disconnect : guard_disconnect st ->
    step st (act_disconnect st)
| step_send : guard_send st ->
    step st (act_send st)
| step_pass_over : guard_pass_over st ->
    step st (act_pass_over st)
| step_give_out : guard_give_out st ->
    step st (act_give_out st)
| step_skip : guard_skip st ->
    step st (act_skip st)
| step_engine_commit : forall (e : Z), guard_engine_commit st e ->
    step st (act_engine_commit st e)
| step_replica_crash : forall (left : Z) (begin : Z), guard_replica_crash st left begin ->
    step st (act_replica_crash st left begin).

(* a commit adds data and GTID at once *)
Definition inv_times_are_of_executed (st : state) : Prop :=
  (forall p : Z, (Z.eqb (times st p) (if (executed st p) then 1 else 0)) = true).

(* nothing is applied that the source may lose *)
Definition inv_applied_is_durable_at_the_source (st : state) : Prop :=
  (forall p : Z, ((negb (executed st p)) || ((0 <=? p) && ((p <? (durable st)) && (eqb_Txn (did st p) (txn_at st p))))) = true).

(* the relay log has copies of what is durable at the source *)
Definition inv_entries_are_the_sources (st : state) : Prop :=
  (forall e : Z, ((negb ((0 <=? e) && (e <? (n st)))) || ((0 <=? (gtid_at st e)) && (((gtid_at st e) <? (durable st)) && (eqb_Txn (entry st e) (txn_at st (gtid_at st e)))))) = true).

(* what is in progress was read and has not committed *)
Definition inv_running_is_not_executed (st : state) : Prop :=
  (forall e : Z, ((negb (running st e)) || ((0 <=? e) && ((e <? (cursor st)) && (negb (executed st (gtid_at st e)))))) = true).

(* two workers never run one GTID *)
Definition inv_gtids_have_one_owner (st : state) : Prop :=
  (forall e : Z, (forall f : Z, ((negb ((running st e) && ((running st f) && (Z.eqb (gtid_at st e) (gtid_at st f))))) || (Z.eqb e f)) = true)).

(* an entry that was read is executed, or a worker runs it *)
Definition inv_read_is_executed_or_runs (st : state) : Prop :=
  (forall e : Z, ((negb ((0 <=? e) && ((e <? (cursor st)) && (negb (running st e))))) || (executed st (gtid_at st e))) = true).

(* it is inductive *)
Definition inv_nothing_is_passed_over (st : state) : Prop :=
  (forall p : Z, ((negb ((connected st) && ((0 <=? p) && (p <? (reads st))))) || ((executed st p) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && (Z.eqb (gtid_at st (place st p)) p))))) = true).

(* while a connection stands, the replica keeps what it named *)
Definition inv_told_is_there (st : state) : Prop :=
  (forall p : Z, ((negb ((connected st) && (told_ st p))) || ((executed st p) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && (Z.eqb (gtid_at st (place st p)) p))))) = true).

(* everybody reads inside a log *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (purged st)) && (((purged st) <=? (durable st)) && (((durable st) <=? (written st)) && ((0 <=? (cursor st)) && (((cursor st) <=? (n st)) && ((negb (connected st)) || ((reads st) <=? (durable st)))))))) = true.

(* no transaction commits again *)
Definition safe_nothing_is_applied_twice (st : state) : Prop :=
  (forall p : Z, ((times st p) <=? 1) = true).

(* whatever the source has passed is executed or in the relay log *)
Definition safe_nothing_is_passed_over (st : state) : Prop :=
  (forall p : Z, ((negb ((connected st) && ((0 <=? p) && (p <? (reads st))))) || ((executed st p) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && (Z.eqb (gtid_at st (place st p)) p))))) = true).

(* what was applied under a GTID is what the source keeps under it *)
Definition safe_applied_is_what_the_source_has (st : state) : Prop :=
  (forall p : Z, ((negb (executed st p)) || ((0 <=? p) && ((p <? (written st)) && (eqb_Txn (did st p) (txn_at st p))))) = true).

(* a replica that has caught up has applied each transaction once *)
Definition safe_caught_up_means_exactly_once (st : state) : Prop :=
  (forall p : Z, (((((connected st) = true) /\ ((((durable st) <=? (reads st)) = true) /\ ((((n st) <=? (cursor st)) = true) /\ (((forall e : Z, (negb (running st e)) = true)) /\ (((0 <=? p) = true) /\ ((p <? (durable st)) = true))))))) -> ((Z.eqb (times st p) 1) && (eqb_Txn (did st p) (txn_at st p))) = true)).

