(* low_water_mark: groups, jobs, and the longest prefix of jobs that is done.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

(* What no step changes. *)
Variable sn : Z -> Z.
Variable lc : Z -> Z.

Record state : Type := {
  given : Z;
  group : Z;
  prefix : Z;
  done : Z -> bool;
  group_of : Z -> Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (given st) 0) && ((Z.eqb (group st) 0) && (Z.eqb (prefix st) 0))) = true.

Definition init_nothing_done (st : state) : Prop :=
  (forall p : Z, (negb (done st p)) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_done st.

(* a gap, a rotation or LC 0: the numbers say nothing about what came before *)
Definition guard_open_group (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (given st)))) || (done st p)) = true).
Definition act_open_group (st : state) : state :=
  {|
     given := ((given st) + 1);
     group := (given st);
     prefix := (given st);
     done := done st;
     group_of := fun (x0 : Z) => (if (Z.eqb x0 (given st)) then (given st) else (group_of st x0))
  |}.

(* LC is at or below the low-water mark *)
Definition guard_give_out (st : state) : Prop :=
  (((group st) <? (given st)) && (((sn ((given st) + (-1))) <? (sn (given st))) && (((group st) <? (prefix st)) && ((lc (given st)) <=? (sn ((prefix st) + (-1))))))) = true.
Definition act_give_out (st : state) : state :=
  {|
     given := ((given st) + 1);
     group := group st;
     prefix := prefix st;
     done := done st;
     group_of := fun (x0 : Z) => (if (Z.eqb x0 (given st)) then (group st) else (group_of st x0))
  |}.

(* a worker is done *)
Definition guard_finish (st : state) (p : Z) : Prop :=
  ((0 <=? p) && (p <? (given st))) = true.
Definition act_finish (st : state) (p : Z) : state :=
  {|
     given := given st;
     group := group st;
     prefix := prefix st;
     done := fun (x0 : Z) => ((done st x0) || (Z.eqb x0 p));
     group_of := group_of st
  |}.

(* the prefix that is done grows *)
Definition guard_advance (st : state) : Prop :=
  (((prefix st) <? (given st)) && (done st (prefix st))) = true.
Definition act_advance (st : state) : state :=
  {|
     given := given st;
     group := group st;
     prefix := ((prefix st) + 1);
     done := done st;
     group_of := group_of st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_open_group : guard_open_group st ->
    step st (act_open_group st)
| step_give_out : guard_give_out st ->
    step st (act_give_out st)
| step_finish : forall (p : Z), guard_finish st p ->
    step st (act_finish st p)
| step_advance : guard_advance st ->
    step st (act_advance st).

(* each started transaction had all up to its LC, and every earlier group, done *)
Definition inv_starts_respect_last_committed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && ((q <? (given st)) && ((p <? (group_of st q)) || ((sn p) <=? (lc q))))))) || (done st p)) = true)).

(* a group was opened when all before it was done *)
Definition inv_earlier_groups_are_done (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (group st)))) || (done st p)) = true).

(* everything in the prefix is done *)
Definition inv_prefix_is_done (st : state) : Prop :=
  (forall p : Z, ((negb (((group st) <=? p) && (p <? (prefix st)))) || (done st p)) = true).

(* within a group the numbers rise *)
Definition inv_numbers_rise_in_the_group (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && ((q <? (given st)) && ((group st) <=? p))))) || ((sn p) <? (sn q))) = true)).

(* the prefix lies in the group *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (group st)) && (((group st) <=? (prefix st)) && (((prefix st) <=? (given st)) && ((group st) <=? (given st))))) = true.

(* each started transaction had all up to its LC, and every earlier group, done *)
Definition safe_starts_respect_last_committed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? q) && ((q <? (given st)) && ((p <? (group_of st q)) || ((sn p) <=? (lc q))))))) || (done st p)) = true)).

