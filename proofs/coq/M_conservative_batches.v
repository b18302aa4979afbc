(* conservative_batches: batches of equal commit id, row locks, kills and retries.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable first : Z -> Z.
(* a batch is an interval of the relay log; each knows its first *)
Hypothesis axiom_batches_follow_each_other : (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && (p <=? q))) || ((0 <=? (first p)) && (((first p) <=? p) && ((Z.eqb (first p) (first q)) || (p <? (first q)))))) = true)).
(* a batch is free of conflicts *)
Hypothesis axiom_A7 : (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && (Z.eqb (first p) (first q))))) || (negb ((ws p r) && (ws q r)))) = true))).

Record state : Type := {
  running : Z -> bool;
  applied : Z -> Row -> bool;
  commit_started : Z -> bool;
  committed : Z -> bool;
  waits_for : Z -> Z;
  killed : Z -> bool;
  undone : Z -> bool;
  sent_by : Z -> Z
}.

Definition init_idle (st : state) : Prop :=
  (forall p : Z, ((negb (running st p)) && ((negb (commit_started st p)) && ((negb (committed st p)) && ((negb (killed st p)) && ((negb (undone st p)) && (Z.eqb (waits_for st p) (-1))))))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall p : Z, (forall r : Row, (negb (applied st p r)) = true)).

Definition init (st : state) : Prop :=
  init_idle st /\ init_nothing_applied st.

(* a worker begins: everything before the batch has started to commit *)
Definition guard_start (st : state) (p : Z) : Prop :=
  (((0 <=? p) = true) /\ (((negb (running st p)) = true) /\ (((negb (committed st p)) = true) /\ (((negb (undone st p)) = true) /\ ((forall q : Z, ((negb ((0 <=? q) && (q <? (first p)))) || (commit_started st q)) = true)))))).
Definition act_start (st : state) (p : Z) : state :=
  {|
     running := fun (x0 : Z) => ((running st x0) || (Z.eqb x0 p));
     applied := applied st;
     commit_started := commit_started st;
     committed := committed st;
     waits_for := waits_for st;
     killed := killed st;
     undone := undone st;
     sent_by := sent_by st
  |}.

(* the worker changes a row, and holds its lock until it commits or rolls back *)
Definition guard_apply (st : state) (p : Z) (r : Row) : Prop :=
  (((running st p) = true) /\ (((negb (commit_started st p)) = true) /\ (((Z.eqb (waits_for st p) (-1)) = true) /\ (((ws p r) = true) /\ ((forall q : Z, ((negb (applied st q r)) || ((committed st q) || (Z.eqb q p))) = true)))))).
Definition act_apply (st : state) (p : Z) (r : Row) : state :=
  {|
     running := running st;
     applied := fun (x0 : Z) (x1 : Row) => ((applied st x0 x1) || ((Z.eqb x0 p) && (eqb_Row x1 r)));
     commit_started := commit_started st;
     committed := committed st;
     waits_for := waits_for st;
     killed := killed st;
     undone := undone st;
     sent_by := sent_by st
  |}.

(* all rows applied, no kill pending: counted among those that commit *)
Definition guard_start_commit (st : state) (p : Z) : Prop :=
  (((running st p) = true) /\ (((negb (commit_started st p)) = true) /\ (((negb (killed st p)) = true) /\ (((Z.eqb (waits_for st p) (-1)) = true) /\ ((forall r : Row, ((negb (ws p r)) || (applied st p r)) = true)))))).
Definition act_start_commit (st : state) (p : Z) : state :=
  {|
     running := running st;
     applied := applied st;
     commit_started := fun (x0 : Z) => ((commit_started st x0) || (Z.eqb x0 p));
     committed := committed st;
     waits_for := waits_for st;
     killed := killed st;
     undone := undone st;
     sent_by := sent_by st
  |}.

(* an earlier one waits for a lock of a later one (a gap, say), which is killed *)
Definition guard_wait (st : state) (w : Z) (p : Z) : Prop :=
  ((running st w) && ((negb (commit_started st w)) && ((Z.eqb (waits_for st w) (-1)) && ((0 <=? w) && ((w <? p) && (running st p)))))) = true.
Definition act_wait (st : state) (w : Z) (p : Z) : state :=
  {|
     running := running st;
     applied := applied st;
     commit_started := commit_started st;
     committed := committed st;
     waits_for := fun (x0 : Z) => (if (Z.eqb x0 w) then p else (waits_for st x0));
     killed := fun (x0 : Z) => ((killed st x0) || (Z.eqb x0 p));
     undone := undone st;
     sent_by := fun (x0 : Z) => (if (Z.eqb x0 p) then w else (sent_by st x0))
  |}.

(* a temporary error *)
Definition guard_fail (st : state) (p : Z) : Prop :=
  ((running st p) && (negb (commit_started st p))) = true.
Definition act_fail (st : state) (p : Z) : state :=
  {|
     running := running st;
     applied := applied st;
     commit_started := commit_started st;
     committed := committed st;
     waits_for := waits_for st;
     killed := fun (x0 : Z) => ((killed st x0) || (Z.eqb x0 p));
     undone := undone st;
     sent_by := sent_by st
  |}.

(* the next batch must wait again *)
Definition guard_revoke_commit_start (st : state) (p : Z) : Prop :=
  ((killed st p) && ((commit_started st p) && (running st p))) = true.
Definition act_revoke_commit_start (st : state) (p : Z) : state :=
  {|
     running := running st;
     applied := applied st;
     commit_started := fun (x0 : Z) => ((commit_started st x0) && (negb (Z.eqb x0 p)));
     committed := committed st;
     waits_for := waits_for st;
     killed := killed st;
     undone := undone st;
     sent_by := sent_by st
  |}.

(* its rows are free; who waited for it goes on *)
Definition guard_roll_back (st : state) (p : Z) : Prop :=
  ((killed st p) && ((running st p) && (negb (commit_started st p)))) = true.
Definition act_roll_back (st : state) (p : Z) : state :=
  {|
     running := fun (x0 : Z) => ((running st x0) && (negb (Z.eqb x0 p)));
     applied := fun (x0 : Z) (x1 : Row) => ((applied st x0 x1) && (negb (Z.eqb x0 p)));
     commit_started := commit_started st;
     committed := committed st;
     waits_for := fun (x0 : Z) => (if ((Z.eqb x0 p) || (Z.eqb (waits_for st x0) p)) then (-1) else (waits_for st x0));
     killed := fun (x0 : Z) => ((killed st x0) && (negb (Z.eqb x0 p)));
     undone := fun (x0 : Z) => ((undone st x0) || (Z.eqb x0 p));
     sent_by := sent_by st
  |}.

(* it begins again, once everything before it has committed *)
Definition guard_retry (st : state) (p : Z) : Prop :=
  (((0 <=? p) = true) /\ (((undone st p) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? p))) || (committed st q)) = true)) /\ ((forall q : Z, (negb ((killed st q) && (Z.eqb (sent_by st q) p))) = true))))).
Definition act_retry (st : state) (p : Z) : state :=
  {|
     running := fun (x0 : Z) => ((running st x0) || (Z.eqb x0 p));
     applied := applied st;
     commit_started := commit_started st;
     committed := committed st;
     waits_for := waits_for st;
     killed := killed st;
     undone := fun (x0 : Z) => ((undone st x0) && (negb (Z.eqb x0 p)));
     sent_by := sent_by st
  |}.

(* in relay-log order; its rows are free *)
Definition guard_engine_commit (st : state) (p : Z) : Prop :=
  (((running st p) = true) /\ (((commit_started st p) = true) /\ (((negb (killed st p)) = true) /\ ((forall q : Z, ((negb ((0 <=? q) && (q <? p))) || (committed st q)) = true))))).
Definition act_engine_commit (st : state) (p : Z) : state :=
  {|
     running := fun (x0 : Z) => ((running st x0) && (negb (Z.eqb x0 p)));
     applied := applied st;
     commit_started := commit_started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 p));
     waits_for := waits_for st;
     killed := killed st;
     undone := undone st;
     sent_by := sent_by st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_start : forall (p : Z), guard_start st p ->
    step st (act_start st p)
| step_apply : forall (p : Z) (r : Row), guard_apply st p r ->
    step st (act_apply st p r)
| step_start_commit : forall (p : Z), guard_start_commit st p ->
    step st (act_start_commit st p)
| step_wait : forall (w : Z) (p : Z), guard_wait st w p ->
    step st (act_wait st w p)
| step_fail : forall (p : Z), guard_fail st p ->
    step st (act_fail st p)
| step_revoke_commit_start : forall (p : Z), guard_revoke_commit_start st p ->
    step st (act_revoke_commit_start st p)
| step_roll_back : forall (p : Z), guard_roll_back st p ->
    step st (act_roll_back st p)
| step_retry : forall (p : Z), guard_retry st p ->
    step st (act_retry st p)
| step_engine_commit : forall (p : Z), guard_engine_commit st p ->
    step st (act_engine_commit st p).

(* it is inductive *)
Definition inv_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((ws p r) && (applied st q r))))) || (committed st p)) = true))).

(* no transaction runs beside a batch before its own, unless that is committing *)
Definition inv_earlier_batches_have_started_to_commit (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((running st q) && ((0 <=? p) && (p <? (first q))))) || (commit_started st p)) = true)).

(* a committing transaction holds all its rows *)
Definition inv_committing_has_applied_all (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((commit_started st p) && (ws p r))) || (applied st p r)) = true)).

(* a rollback leaves nothing behind *)
Definition inv_applied_is_running_or_committed (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb (applied st p r)) || ((0 <=? p) && ((ws p r) && ((running st p) || (committed st p))))) = true)).

(* one that waits for it has not started to commit, so no later batch has begun *)
Definition inv_killed_in_commit_was_for_an_earlier (st : state) : Prop :=
  (forall p : Z, ((negb ((killed st p) && (commit_started st p))) || ((0 <=? (sent_by st p)) && (((sent_by st p) <? p) && ((negb (commit_started st (sent_by st p))) && ((Z.eqb (waits_for st (sent_by st p)) p) || (undone st (sent_by st p))))))) = true).

(* a waiting transaction is applying; its blocker is killed *)
Definition inv_waits_end_with_a_kill (st : state) : Prop :=
  (forall w : Z, ((Z.eqb (waits_for st w) (-1)) || ((w <? (waits_for st w)) && ((running st (waits_for st w)) && ((killed st (waits_for st w)) && ((running st w) && (negb (commit_started st w))))))) = true).

(* a transaction runs, or is undone, or has committed *)
Definition inv_phases (st : state) : Prop :=
  (forall p : Z, (((negb (killed st p)) || (running st p)) && (((negb (running st p)) || ((0 <=? p) && (negb (undone st p)))) && (((negb (commit_started st p)) || ((running st p) || (committed st p))) && (((negb (committed st p)) || ((0 <=? p) && ((commit_started st p) && (negb (running st p))))) && ((negb (undone st p)) || ((negb (commit_started st p)) && (negb (committed st p)))))))) = true).

(* engine commits follow the relay log *)
Definition inv_commit_order_preserved (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && (committed st q)))) || (committed st p)) = true)).

(* no attempt, surviving or not, changes a row before all its earlier writers have committed *)
Definition safe_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((ws p r) && (applied st q r))))) || (committed st p)) = true))).

(* all that its start or retry waits for has happened *)
Definition safe_the_head_may_start (st : state) : Prop :=
  (forall m : Z, (forall p : Z, (((((0 <=? m) = true) /\ (((negb (committed st m)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? m))) || (committed st q)) = true)) /\ (((0 <=? p) = true) /\ ((p <? m) = true)))))) -> ((commit_started st p) && (committed st p)) = true))).

(* no row that it lacks is locked *)
Definition safe_the_head_is_never_blocked (st : state) : Prop :=
  (forall m : Z, (forall p : Z, (forall r : Row, (((((0 <=? m) = true) /\ (((negb (committed st m)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? m))) || (committed st q)) = true)) /\ (((ws m r) = true) /\ (((applied st p r) = true) /\ ((negb (Z.eqb p m)) = true))))))) -> (committed st p) = true)))).

(* so its wait ends *)
Definition safe_whoever_the_head_waits_for_is_killed (st : state) : Prop :=
  (forall m : Z, (((((0 <=? m) = true) /\ (((negb (committed st m)) = true) /\ (((forall q : Z, ((negb ((0 <=? q) && (q <? m))) || (committed st q)) = true)) /\ ((0 <=? (waits_for st m)) = true))))) -> ((running st (waits_for st m)) && (killed st (waits_for st m))) = true)).

