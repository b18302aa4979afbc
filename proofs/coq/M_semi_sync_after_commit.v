(* semi_sync[after commit]: FLUSH, SYNC, ACK and COMMIT stages; a replica; crashes.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)

Record state : Type := {
  n : Z;
  synced : Z -> bool;
  in_log : Z;
  in_ack : Z;
  in_commit : Z;
  between : Z -> bool;
  engine : Z -> bool;
  recovered : Z -> bool;
  opened : bool;
  received : Z -> bool;
  seen : Z -> bool;
  confirmed : Z -> Z -> bool;
  had : Z -> Z
}.

Definition init_nobody_is_answered (st : state) : Prop :=
  (forall g : Z, (forall p : Z, ((negb (confirmed st g p)) && (Z.eqb (had st g) 0)) = true)).

Definition init_locks_are_free (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (in_log st) (-1)) && ((Z.eqb (in_ack st) (-1)) && ((Z.eqb (in_commit st) (-1)) && (opened st))))) = true.

Definition init_nothing_happened (st : state) : Prop :=
  (forall g : Z, ((negb (synced st g)) && ((negb (between st g)) && ((negb (engine st g)) && ((negb (recovered st g)) && ((negb (received st g)) && (negb (seen st g))))))) = true).

Definition init (st : state) : Prop :=
  init_nobody_is_answered st /\ init_locks_are_free st /\ init_nothing_happened st.

(* FLUSH: the next group takes LOCK_log and is written to the binary log *)
Definition guard_write (st : state) : Prop :=
  (((Z.eqb (in_log st) (-1)) = true) /\ (((forall h : Z, (negb (recovered st h)) = true)) /\ ((opened st) = true))).
Definition act_write (st : state) : state :=
  {|
     n := ((n st) + 1);
     synced := synced st;
     in_log := (n st);
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* SYNC: the binary log is durable up to the group *)
Definition guard_sync (st : state) (g : Z) : Prop :=
  ((Z.eqb (in_log st) g) && (0 <=? g)) = true.
Definition act_sync (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := fun (x0 : Z) => ((synced st x0) || (Z.eqb x0 g));
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* ACK: takes LOCK_semi_sync, then releases LOCK_log *)
Definition guard_enter_ack (st : state) (g : Z) : Prop :=
  ((Z.eqb (in_ack st) (-1)) && ((0 <=? g) && ((Z.eqb (in_log st) g) && (synced st g)))) = true.
Definition act_enter_ack (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := (-1);
     in_ack := g;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* COMMIT: acknowledged; takes LOCK_commit_ordered, then releases LOCK_semi_sync *)
Definition guard_enter_commit (st : state) (g : Z) : Prop :=
  ((Z.eqb (in_ack st) g) && ((0 <=? g) && (Z.eqb (in_commit st) (-1)))) = true.
Definition act_enter_commit (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := (-1);
     in_commit := g;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* the group becomes visible *)
Definition guard_engine_commit (st : state) (g : Z) : Prop :=
  ((Z.eqb (in_commit st) g) && (0 <=? g)) = true.
Definition act_engine_commit (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := (-1);
     between := between st;
     engine := fun (x0 : Z) => ((engine st x0) || (Z.eqb x0 g));
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* the replica writes the next group to its relay log and acknowledges it *)
Definition guard_receive (st : state) (g : Z) : Prop :=
  (((synced st g) = true) /\ ((forall h : Z, ((negb ((0 <=? h) && (h <? g))) || (received st h)) = true))).
Definition act_receive (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := fun (x0 : Z) => ((received st x0) || (Z.eqb x0 g));
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

(* a client at the source sees the group *)
Definition guard_read (st : state) (g : Z) : Prop :=
  ((engine st g) && (opened st)) = true.
Definition act_read (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := fun (x0 : Z) => ((seen st x0) || (Z.eqb x0 g));
     confirmed := confirmed st;
     had := had st
  |}.

(* the replica writes the group's next transaction, which is not its last, to its relay log and acknowledges it *)
Definition guard_receive_one (st : state) (g : Z) : Prop :=
  (((synced st g) = true) /\ (((forall h : Z, ((negb ((0 <=? h) && (h <? g))) || (received st h)) = true)) /\ ((negb (received st g)) = true))).
Definition act_receive_one (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := fun (x0 : Z) => (if (Z.eqb x0 g) then ((had st x0) + 1) else (had st x0))
  |}.

(* a client that committed a transaction of the group gets its answer, after the acknowledgement of this transaction *)
Definition guard_answer_client (st : state) (g : Z) (p : Z) : Prop :=
  ((engine st g) && ((opened st) && ((0 <=? p) && ((received st g) || (p <? (had st g)))))) = true.
Definition act_answer_client (st : state) (g : Z) (p : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := engine st;
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := fun (x0 : Z) (x1 : Z) => ((confirmed st x0 x1) || ((Z.eqb x0 g) && (Z.eqb x1 p)));
     had := had st
  |}.

(* what is in the binary log survives; what was not synced is gone *)
Definition guard_crash_and_recover (st : state) : Prop :=
  true = true.
Definition act_crash_and_recover (st : state) : state :=
  {|
     n := (if ((0 <=? (in_log st)) && (negb (synced st (in_log st)))) then ((n st) + (-1)) else (n st));
     synced := synced st;
     in_log := (-1);
     in_ack := (-1);
     in_commit := (-1);
     between := fun (x0 : Z) => false;
     engine := fun (x0 : Z) => ((engine st x0) || (synced st x0));
     recovered := recovered st;
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st;
     had := had st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_write : guard_write st ->
    step st (act_write st)
| step_sync : forall (g : Z), guard_sync st g ->
    step st (act_sync st g)
| step_enter_ack : forall (g : Z), guard_enter_ack st g ->
    step st (act_enter_ack st g)
| step_enter_commit : forall (g : Z), guard_enter_commit st g ->
    step st (act_enter_commit st g)
| step_engine_commit : forall (g : Z), guard_engine_commit st g ->
    step st (act_engine_commit st g)
| step_receive : forall (g : Z), guard_receive st g ->
    step st (act_receive st g)
| step_read : forall (g : Z), guard_read st g ->
    step st (act_read st g)
| step_receive_one : forall (g : Z), guard_receive_one st g ->
    step st (act_receive_one st g)
| step_answer_client : forall (g : Z) (p : Z), guard_answer_client st g p ->
    step st (act_answer_client st g p)
| step_crash_and_recover : guard_crash_and_recover st ->
    step st (act_crash_and_recover st).

(* an answer follows the acknowledgement *)
Definition inv_confirmed_survives (st : state) : Prop :=
  (forall g : Z, (forall p : Z, ((negb (confirmed st g p)) || ((received st g) || (p <? (had st g)))) = true)).

(* LOCK_log is held by the group written last *)
Definition inv_log_holder_is_last (st : state) : Prop :=
  ((0 <=? (n st)) && (((Z.eqb (in_log st) (-1)) || (Z.eqb (in_log st) ((n st) + (-1)))) && (((-1) <=? (in_log st)) && (((-1) <=? (in_ack st)) && ((-1) <=? (in_commit st)))))) = true.

(* only written groups hold locks *)
Definition inv_holders_are_written (st : state) : Prop :=
  (((in_log st) <? (n st)) && (((in_ack st) <? (n st)) && ((in_commit st) <? (n st)))) = true.

(* replicas are sent what was synced *)
Definition inv_received_is_durable (st : state) : Prop :=
  (forall g : Z, ((negb ((received st g) || (1 <=? (had st g)))) || ((0 <=? g) && ((g <? (n st)) && (synced st g)))) = true).

(* sync follows write *)
Definition inv_synced_was_written (st : state) : Prop :=
  (forall g : Z, ((negb (synced st g)) || ((0 <=? g) && (g <? (n st)))) = true).

(* LOCK_log is released after the sync *)
Definition inv_left_log_is_synced (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((g <? (n st)) && (negb (Z.eqb (in_log st) g))))) || (synced st g)) = true).

(* COMMIT follows SYNC *)
Definition inv_visible_was_synced (st : state) : Prop :=
  (forall g : Z, ((negb (engine st g)) || (synced st g)) = true).

(* a group that has committed holds no lock *)
Definition inv_held_is_not_visible (st : state) : Prop :=
  (forall g : Z, ((negb ((engine st g) && (0 <=? g))) || (negb ((Z.eqb (in_log st) g) || ((Z.eqb (in_ack st) g) || (Z.eqb (in_commit st) g))))) = true).

(* a written group is somewhere *)
Definition inv_everyone_is_somewhere (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && (g <? (n st)))) || ((engine st g) || ((Z.eqb (in_log st) g) || ((Z.eqb (in_ack st) g) || ((Z.eqb (in_commit st) g) || ((between st g) || (recovered st g))))))) = true).

(* a holder of a later lock is earlier in the log *)
Definition inv_locks_are_in_log_order (st : state) : Prop :=
  (((Z.eqb (in_commit st) (-1)) || ((Z.eqb (in_ack st) (-1)) || ((in_commit st) <? (in_ack st)))) && (((Z.eqb (in_commit st) (-1)) || ((Z.eqb (in_log st) (-1)) || ((in_commit st) <? (in_log st)))) && ((Z.eqb (in_ack st) (-1)) || ((Z.eqb (in_log st) (-1)) || ((in_ack st) <? (in_log st)))))) = true.

(* the next lock is taken before the last one is released *)
Definition inv_nobody_between_chained_locks (st : state) : Prop :=
  (forall g : Z, (negb (between st g)) = true).

(* everything before a committing group has committed *)
Definition inv_holders_commit_in_order (st : state) : Prop :=
  (forall g : Z, (forall h : Z, ((negb ((0 <=? g) && ((g <? h) && ((engine st h) || (Z.eqb (in_commit st) h))))) || (engine st g)) = true)).

(* everything before the waiting group has committed or is committing *)
Definition inv_waiters_follow_the_committing (st : state) : Prop :=
  (forall g : Z, (forall h : Z, ((negb ((0 <=? g) && ((g <? h) && (Z.eqb (in_ack st) h)))) || ((engine st g) || (Z.eqb (in_commit st) g))) = true)).

(* recovered groups wait alone *)
Definition inv_recovered_is_durable (st : state) : Prop :=
  (forall g : Z, ((negb (recovered st g)) || ((synced st g) && ((negb (engine st g)) && ((Z.eqb (in_log st) (-1)) && ((Z.eqb (in_ack st) (-1)) && (Z.eqb (in_commit st) (-1))))))) = true).

(* only one of the remedies holds recovered groups back *)
Definition inv_nothing_waits_recovered (st : state) : Prop :=
  (forall g : Z, (negb (recovered st g)) = true).

(* every transaction that a client got an answer for is on the replica *)
Definition safe_confirmed_survives (st : state) : Prop :=
  (forall g : Z, (forall p : Z, ((negb (confirmed st g p)) || ((received st g) || (p <? (had st g)))) = true)).

(* engine commits follow the binary log *)
Definition safe_no_overtaking (st : state) : Prop :=
  (forall g : Z, (forall h : Z, ((negb ((0 <=? g) && ((g <? h) && (engine st h)))) || (engine st g)) = true)).

(* a crash of the source never leaves a replica with more than the source has *)
Definition safe_replica_is_not_ahead (st : state) : Prop :=
  (forall g : Z, ((negb ((received st g) || (1 <=? (had st g)))) || ((0 <=? g) && ((g <? (n st)) && (synced st g)))) = true).

