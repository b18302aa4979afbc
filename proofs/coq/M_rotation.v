(* rotation: three locks, a rotation, a dump thread.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)

Record state : Type := {
  n : Z;
  synced : Z -> bool;
  sent : Z;
  engine : Z -> bool;
  file_start : Z;
  in_log : Z;
  in_ack : Z;
  in_commit : Z;
  rotating : bool;
  steps : Z -> Z
}.

Definition init_nothing_happened (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (sent st) 0) && ((Z.eqb (file_start st) 0) && ((negb (rotating st)) && ((Z.eqb (in_log st) (-1)) && ((Z.eqb (in_ack st) (-1)) && (Z.eqb (in_commit st) (-1)))))))) = true.

Definition init_no_group (st : state) : Prop :=
  (forall g : Z, ((negb (synced st g)) && ((negb (engine st g)) && (Z.eqb (steps st g) 0))) = true).

Definition init (st : state) : Prop :=
  init_nothing_happened st /\ init_no_group st.

(* FLUSH: the next group takes LOCK_log and is written *)
Definition guard_write (st : state) : Prop :=
  ((Z.eqb (in_log st) (-1)) && (negb (rotating st))) = true.
Definition act_write (st : state) : state :=
  {|
     n := ((n st) + 1);
     synced := synced st;
     sent := sent st;
     engine := engine st;
     file_start := file_start st;
     in_log := (n st);
     in_ack := in_ack st;
     in_commit := in_commit st;
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* SYNC: it is durable *)
Definition guard_sync (st : state) : Prop :=
  ((0 <=? (in_log st)) && (negb (synced st (in_log st)))) = true.
Definition act_sync (st : state) : state :=
  {|
     n := n st;
     synced := fun (x0 : Z) => ((synced st x0) || (Z.eqb x0 (in_log st)));
     sent := sent st;
     engine := engine st;
     file_start := file_start st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (in_log st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* ACK: takes LOCK_semi_sync, then releases LOCK_log *)
Definition guard_enter_ack (st : state) : Prop :=
  ((0 <=? (in_log st)) && ((synced st (in_log st)) && (Z.eqb (in_ack st) (-1)))) = true.
Definition act_enter_ack (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := sent st;
     engine := engine st;
     file_start := file_start st;
     in_log := (-1);
     in_ack := (in_log st);
     in_commit := in_commit st;
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (in_log st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* the dump thread sends the next group; the replica acknowledges it *)
Definition guard_receive (st : state) : Prop :=
  (synced st (sent st)) = true.
Definition act_receive (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := ((sent st) + 1);
     engine := engine st;
     file_start := file_start st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (sent st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* COMMIT: acknowledged; takes LOCK_commit_ordered, then releases LOCK_semi_sync *)
Definition guard_enter_commit (st : state) : Prop :=
  ((0 <=? (in_ack st)) && (((in_ack st) <? (sent st)) && (Z.eqb (in_commit st) (-1)))) = true.
Definition act_enter_commit (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := sent st;
     engine := engine st;
     file_start := file_start st;
     in_log := in_log st;
     in_ack := (-1);
     in_commit := (in_ack st);
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (in_ack st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* the group is visible; its XID is no longer pending *)
Definition guard_engine_commit (st : state) : Prop :=
  (0 <=? (in_commit st)) = true.
Definition act_engine_commit (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := sent st;
     engine := fun (x0 : Z) => ((engine st x0) || (Z.eqb x0 (in_commit st)));
     file_start := file_start st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := (-1);
     rotating := rotating st;
     steps := fun (x0 : Z) => (if (Z.eqb x0 (in_commit st)) then ((steps st x0) + 1) else (steps st x0))
  |}.

(* the file is full: the rotation takes LOCK_log *)
Definition guard_begin_rotation (st : state) : Prop :=
  ((Z.eqb (in_log st) (-1)) && (negb (rotating st))) = true.
Definition act_begin_rotation (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := sent st;
     engine := engine st;
     file_start := file_start st;
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     rotating := true;
     steps := steps st
  |}.

(* a new file begins, and LOCK_log is released *)
Definition guard_end_rotation (st : state) : Prop :=
  (rotating st) = true.
Definition act_end_rotation (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     sent := sent st;
     engine := engine st;
     file_start := (n st);
     in_log := in_log st;
     in_ack := in_ack st;
     in_commit := in_commit st;
     rotating := false;
     steps := steps st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_write : guard_write st ->
    step st (act_write st)
| step_sync : guard_sync st ->
    step st (act_sync st)
| step_enter_ack : guard_enter_ack st ->
    step st (act_enter_ack st)
| step_receive : guard_receive st ->
    step st (act_receive st)
| step_enter_commit : guard_enter_commit st ->
    step st (act_enter_commit st)
| step_engine_commit : guard_engine_commit st ->
    step st (act_engine_commit st)
| step_begin_rotation : guard_begin_rotation st ->
    step st (act_begin_rotation st)
| step_end_rotation : guard_end_rotation st ->
    step st (act_end_rotation st).

(* a group that has not committed holds a lock *)
Definition inv_everyone_is_somewhere (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((g <? (n st)) && (negb (engine st g))))) || ((Z.eqb (in_log st) g) || ((Z.eqb (in_ack st) g) || (Z.eqb (in_commit st) g)))) = true).

(* a group that has committed holds none *)
Definition inv_holders_have_not_committed (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((Z.eqb (in_log st) g) || ((Z.eqb (in_ack st) g) || (Z.eqb (in_commit st) g))))) || (negb (engine st g))) = true).

(* a holder of a later lock is earlier in the log *)
Definition inv_one_lock_each (st : state) : Prop :=
  (((Z.eqb (in_commit st) (-1)) || ((Z.eqb (in_ack st) (-1)) || ((in_commit st) <? (in_ack st)))) && (((Z.eqb (in_commit st) (-1)) || ((Z.eqb (in_log st) (-1)) || ((in_commit st) <? (in_log st)))) && ((Z.eqb (in_ack st) (-1)) || ((Z.eqb (in_log st) (-1)) || ((in_ack st) <? (in_log st)))))) = true.

(* LOCK_log is the last one's *)
Definition inv_holders_are_written (st : state) : Prop :=
  (((-1) <=? (in_log st)) && (((-1) <=? (in_ack st)) && (((-1) <=? (in_commit st)) && (((in_ack st) <? (n st)) && (((in_commit st) <? (n st)) && ((Z.eqb (in_log st) (-1)) || (Z.eqb (in_log st) ((n st) + (-1))))))))) = true.

(* LOCK_log is released after the sync *)
Definition inv_left_log_is_synced (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((g <? (n st)) && (negb (Z.eqb (in_log st) g))))) || (synced st g)) = true).

(* nothing is synced or commits that was not written *)
Definition inv_synced_was_written (st : state) : Prop :=
  (forall g : Z, ((negb ((synced st g) || (engine st g))) || ((0 <=? g) && (g <? (n st)))) = true).

(* replicas are sent what was synced *)
Definition inv_sent_is_durable (st : state) : Prop :=
  ((0 <=? (sent st)) && (((sent st) <=? (n st)) && (((Z.eqb (in_log st) (-1)) || ((synced st (in_log st)) || ((sent st) <? (n st)))) && ((in_commit st) <? (sent st))))) = true.

(* the acknowledgement comes before the engine commit *)
Definition inv_committed_was_sent (st : state) : Prop :=
  (forall g : Z, ((negb (engine st g)) || (g <? (sent st))) = true).

(* the file begins somewhere in the log *)
Definition inv_file_is_part_of_the_log (st : state) : Prop :=
  ((0 <=? (file_start st)) && ((file_start st) <=? (n st))) = true.

(* both hold LOCK_log *)
Definition inv_rotation_excludes_writers (st : state) : Prop :=
  ((negb (rotating st)) || (Z.eqb (in_log st) (-1))) = true.

(* each step is counted where it is taken *)
Definition inv_steps_tell_the_stage (st : state) : Prop :=
  (forall g : Z, ((negb (0 <=? g)) || (Z.eqb (steps st g) (if (g <? (n st)) then (if (engine st g) then 6 else (if (Z.eqb (in_commit st) g) then 5 else (if (Z.eqb (in_ack st) g) then (if (g <? (sent st)) then 4 else 3) else (if (synced st g) then (if (g <? (sent st)) then 3 else 2) else 1)))) else 0))) = true).

(* while a group has not committed, some step is possible that no new group and no new rotation need begin *)
Definition safe_somebody_can_move (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((g <? (n st)) && (negb (engine st g))))) || (((0 <=? (in_log st)) && (negb (synced st (in_log st)))) || (((0 <=? (in_log st)) && ((synced st (in_log st)) && (Z.eqb (in_ack st) (-1)))) || (((0 <=? (in_ack st)) && (((in_ack st) <? (sent st)) && (Z.eqb (in_commit st) (-1)))) || ((0 <=? (in_commit st)) || ((synced st (sent st)) || (rotating st))))))) = true).

(* and during a rotation, it can end or a group can proceed *)
Definition safe_rotations_end (st : state) : Prop :=
  ((negb (rotating st)) || ((rotating st) || (((0 <=? (in_ack st)) && (((in_ack st) <? (sent st)) && (Z.eqb (in_commit st) (-1)))) || ((0 <=? (in_commit st)) || (synced st (sent st)))))) = true.

(* no group takes more than 6 steps, so 6 for each group written, less those taken, is a measure that every step of a group makes smaller *)
Definition safe_steps_run_out (st : state) : Prop :=
  (forall g : Z, ((negb (0 <=? g)) || ((steps st g) <=? 6)) = true).

(* a group that has no step left has committed *)
Definition safe_all_steps_are_taken (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && ((g <? (n st)) && (negb ((steps st g) <? 6))))) || (engine st g)) = true).

