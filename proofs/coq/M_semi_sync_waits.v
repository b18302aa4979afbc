(* semi_sync[waits]: FLUSH, SYNC, ACK and COMMIT stages; a replica; crashes.
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
  confirmed : Z -> bool
}.

Definition init_locks_are_free (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (in_log st) (-1)) && ((Z.eqb (in_ack st) (-1)) && ((Z.eqb (in_commit st) (-1)) && (opened st))))) = true.

Definition init_nothing_happened (st : state) : Prop :=
  (forall g : Z, ((negb (synced st g)) && ((negb (between st g)) && ((negb (engine st g)) && ((negb (recovered st g)) && ((negb (received st g)) && ((negb (seen st g)) && (negb (confirmed st g)))))))) = true).

Definition init (st : state) : Prop :=
  init_locks_are_free st /\ init_nothing_happened st.

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
     confirmed := confirmed st
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
     confirmed := confirmed st
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
     confirmed := confirmed st
  |}.

(* COMMIT: acknowledged; takes LOCK_commit_ordered, then releases LOCK_semi_sync *)
Definition guard_enter_commit (st : state) (g : Z) : Prop :=
  ((Z.eqb (in_ack st) g) && ((0 <=? g) && ((Z.eqb (in_commit st) (-1)) && (received st g)))) = true.
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
     confirmed := confirmed st
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
     confirmed := confirmed st
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
     confirmed := confirmed st
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
     confirmed := confirmed st
  |}.

(* the client that committed the group gets its answer; under AFTER_COMMIT only after the acknowledgement *)
Definition guard_answer_client (st : state) (g : Z) : Prop :=
  ((engine st g) && (opened st)) = true.
Definition act_answer_client (st : state) (g : Z) : state :=
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
     confirmed := fun (x0 : Z) => ((confirmed st x0) || (Z.eqb x0 g))
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
     engine := engine st;
     recovered := fun (x0 : Z) => ((synced st x0) && (negb (engine st x0)));
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st
  |}.

(* recovered groups commit in log order, once a replica has them *)
Definition guard_release_recovered (st : state) (g : Z) : Prop :=
  (((recovered st g) = true) /\ (((received st g) = true) /\ ((forall h : Z, ((negb (h <? g)) || (negb (recovered st h))) = true)))).
Definition act_release_recovered (st : state) (g : Z) : state :=
  {|
     n := n st;
     synced := synced st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     between := between st;
     engine := fun (x0 : Z) => ((engine st x0) || (Z.eqb x0 g));
     recovered := fun (x0 : Z) => ((recovered st x0) && (negb (Z.eqb x0 g)));
     opened := opened st;
     received := received st;
     seen := seen st;
     confirmed := confirmed st
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
| step_answer_client : forall (g : Z), guard_answer_client st g ->
    step st (act_answer_client st g)
| step_crash_and_recover : guard_crash_and_recover st ->
    step st (act_crash_and_recover st)
| step_release_recovered : forall (g : Z), guard_release_recovered st g ->
    step st (act_release_recovered st g).

(* the safety statement is inductive *)
Definition inv_no_phantom_visibility (st : state) : Prop :=
  (forall g : Z, ((negb (seen st g)) || (received st g)) = true).

(* an answer follows the acknowledgement *)
Definition inv_confirmed_survives (st : state) : Prop :=
  (forall g : Z, ((negb (confirmed st g)) || (received st g)) = true).

(* AFTER_SYNC: the engine commit follows the acknowledgement *)
Definition inv_visible_was_received (st : state) : Prop :=
  (forall g : Z, ((negb (engine st g)) || (received st g)) = true).

(* LOCK_commit_ordered is entered after the acknowledgement *)
Definition inv_committing_was_received (st : state) : Prop :=
  (forall g : Z, ((negb ((Z.eqb (in_commit st) g) && (0 <=? g))) || (received st g)) = true).

(* LOCK_log is held by the group written last *)
Definition inv_log_holder_is_last (st : state) : Prop :=
  ((0 <=? (n st)) && (((Z.eqb (in_log st) (-1)) || (Z.eqb (in_log st) ((n st) + (-1)))) && (((-1) <=? (in_log st)) && (((-1) <=? (in_ack st)) && ((-1) <=? (in_commit st)))))) = true.

(* only written groups hold locks *)
Definition inv_holders_are_written (st : state) : Prop :=
  (((in_log st) <? (n st)) && (((in_ack st) <? (n st)) && ((in_commit st) <? (n st)))) = true.

(* replicas are sent what was synced *)
Definition inv_received_is_durable (st : state) : Prop :=
  (forall g : Z, ((negb (received st g)) || ((0 <=? g) && ((g <? (n st)) && (synced st g)))) = true).

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

(* whatever a client saw is on the replica: it survives the loss of the source *)
Definition safe_no_phantom_visibility (st : state) : Prop :=
  (forall g : Z, ((negb (seen st g)) || (received st g)) = true).

(* every transaction that a client got an answer for is on the replica *)
Definition safe_confirmed_survives (st : state) : Prop :=
  (forall g : Z, ((negb (confirmed st g)) || (received st g)) = true).

(* engine commits follow the binary log *)
Definition safe_no_overtaking (st : state) : Prop :=
  (forall g : Z, (forall h : Z, ((negb ((0 <=? g) && ((g <? h) && (engine st h)))) || (engine st g)) = true)).

(* a crash of the source never leaves a replica with more than the source has *)
Definition safe_replica_is_not_ahead (st : state) : Prop :=
  (forall g : Z, ((negb (received st g)) || ((0 <=? g) && ((g <? (n st)) && (synced st g)))) = true).

