(* commit_pipeline[receives]: log, ack and commit stages as counters; a wait that may time out.
   Written by paraply from the model of that name. *)

Require Import Response.

Section Model.

(* What no step changes. *)

Record state : Type := {
  n : Z;
  synced : Z;
  entered : Z;
  passed : Z;
  done : Z;
  received : Z;
  off : bool
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (synced st) 0) && ((Z.eqb (entered st) 0) && ((Z.eqb (passed st) 0) && ((Z.eqb (done st) 0) && ((Z.eqb (received st) 0) && (negb (off st)))))))) = true.

Definition init (st : state) : Prop :=
  init_empty st.

(* the next group takes LOCK_log *)
Definition guard_write (st : state) : Prop :=
  (Z.eqb (entered st) (n st)) = true.
Definition act_write (st : state) : state :=
  {|
     n := ((n st) + 1);
     synced := synced st;
     entered := entered st;
     passed := passed st;
     done := done st;
     received := received st;
     off := off st
  |}.

(* the binary log is durable *)
Definition guard_sync (st : state) : Prop :=
  ((synced st) <? (n st)) = true.
Definition act_sync (st : state) : state :=
  {|
     n := n st;
     synced := ((synced st) + 1);
     entered := entered st;
     passed := passed st;
     done := done st;
     received := received st;
     off := off st
  |}.

(* takes LOCK_semi_sync, then releases LOCK_log *)
Definition guard_enter_ack (st : state) : Prop :=
  (((entered st) <? (synced st)) && (Z.eqb (passed st) (entered st))) = true.
Definition act_enter_ack (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     entered := ((entered st) + 1);
     passed := passed st;
     done := done st;
     received := received st;
     off := off st
  |}.

(* acknowledged, or semi-sync is off; takes LOCK_commit_ordered *)
Definition guard_enter_commit (st : state) : Prop :=
  (((passed st) <? (entered st)) && ((Z.eqb (done st) (passed st)) && ((off st) || ((passed st) <? (received st))))) = true.
Definition act_enter_commit (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     entered := entered st;
     passed := ((passed st) + 1);
     done := done st;
     received := received st;
     off := off st
  |}.

(* the group is visible *)
Definition guard_engine_commit (st : state) : Prop :=
  ((done st) <? (passed st)) = true.
Definition act_engine_commit (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     entered := entered st;
     passed := passed st;
     done := ((done st) + 1);
     received := received st;
     off := off st
  |}.

(* a replica has the next group *)
Definition guard_receive (st : state) : Prop :=
  ((received st) <? (synced st)) = true.
Definition act_receive (st : state) : state :=
  {|
     n := n st;
     synced := synced st;
     entered := entered st;
     passed := passed st;
     done := done st;
     received := ((received st) + 1);
     off := off st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_write : guard_write st ->
    step st (act_write st)
| step_sync : guard_sync st ->
    step st (act_sync st)
| step_enter_ack : guard_enter_ack st ->
    step st (act_enter_ack st)
| step_enter_commit : guard_enter_commit st ->
    step st (act_enter_commit st)
| step_engine_commit : guard_engine_commit st ->
    step st (act_engine_commit st)
| step_receive : guard_receive st ->
    step st (act_receive st).

(* no group skips a stage *)
Definition inv_stages_follow_each_other (st : state) : Prop :=
  ((0 <=? (done st)) && (((done st) <=? (passed st)) && (((passed st) <=? (entered st)) && (((entered st) <=? (synced st)) && (((synced st) <=? (n st)) && ((0 <=? (received st)) && ((received st) <=? (synced st)))))))) = true.

(* each stage is one lock's *)
Definition inv_one_group_in_each_stage (st : state) : Prop :=
  (((passed st) <=? ((done st) + 1)) && (((entered st) <=? ((passed st) + 1)) && ((n st) <=? ((entered st) + 1)))) = true.

(* a visible group is in the durable binary log *)
Definition safe_what_commits_is_durable (st : state) : Prop :=
  (forall g : Z, ((negb ((0 <=? g) && (g <? (done st)))) || (g <? (synced st))) = true).

(* every group in the binary log becomes visible *)
Definition pending_every_written_group_commits (st : state) (g : Z) : bool :=
  ((0 <=? g) && (g <? (n st))).
Definition goal_every_written_group_commits (st : state) (g : Z) : bool :=
  (g <? (done st)).
Definition rank_every_written_group_commits (st : state) (g : Z) : list (Z * Z) :=
  [(g, (done st)); ((if ((done st) <? (passed st)) then 0 else 1), 0); ((if ((done st) <? (entered st)) then 0 else 1), 0); ((if ((done st) <? (synced st)) then 0 else 1), 0); (((done st) + 1), (if ((received st) <=? (done st)) then (received st) else ((done st) + 1)))].
Inductive help_every_written_group_commits : Type :=
| every_written_group_commits_to_sync (* the first uncommitted group is not durable *)
| every_written_group_commits_to_enter_ack (* it is durable *)
| every_written_group_commits_to_wait (* it waits, and no replica has it *)
| every_written_group_commits_to_enter_commit (* a replica has it, or semi-sync is off *)
| every_written_group_commits_to_commit (* it holds LOCK_commit_ordered *).
Definition helps_every_written_group_commits (g : Z) (h : help_every_written_group_commits) (st : state) : bool :=
  match h with
  | every_written_group_commits_to_sync => ((Z.eqb (entered st) (done st)) && (Z.eqb (synced st) (done st)))
  | every_written_group_commits_to_enter_ack => ((Z.eqb (entered st) (done st)) && ((done st) <? (synced st)))
  | every_written_group_commits_to_wait => ((Z.eqb (passed st) (done st)) && (((done st) <? (entered st)) && ((negb (off st)) && ((received st) <=? (done st)))))
  | every_written_group_commits_to_enter_commit => ((Z.eqb (passed st) (done st)) && (((done st) <? (entered st)) && ((off st) || ((done st) <? (received st)))))
  | every_written_group_commits_to_commit => ((done st) <? (passed st))
  end.
Definition guard_every_written_group_commits (h : help_every_written_group_commits) (st : state) : Prop :=
  match h with
  | every_written_group_commits_to_sync => guard_sync st
  | every_written_group_commits_to_enter_ack => guard_enter_ack st
  | every_written_group_commits_to_wait => guard_receive st
  | every_written_group_commits_to_enter_commit => guard_enter_commit st
  | every_written_group_commits_to_commit => guard_engine_commit st
  end.
Definition act_every_written_group_commits (h : help_every_written_group_commits) (st : state) : state :=
  match h with
  | every_written_group_commits_to_sync => act_sync st
  | every_written_group_commits_to_enter_ack => act_enter_ack st
  | every_written_group_commits_to_wait => act_receive st
  | every_written_group_commits_to_enter_commit => act_enter_commit st
  | every_written_group_commits_to_commit => act_engine_commit st
  end.

