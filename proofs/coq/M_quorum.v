(* quorum: acknowledging sets, replicas that crash, a promotion.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Ackers : Type.
Variable some_Ackers : Ackers.
Variable eqb_Ackers : Ackers -> Ackers -> bool.
Hypothesis eqb_Ackers_true : forall x y, eqb_Ackers x y = true <-> x = y.

Variable Replica : Type.
Variable some_Replica : Replica.
Variable eqb_Replica : Replica -> Replica -> bool.
Hypothesis eqb_Replica_true : forall x y, eqb_Replica x y = true <-> x = y.

Variable Voters : Type.
Variable some_Voters : Voters.
Variable eqb_Voters : Voters -> Voters -> bool.
Hypothesis eqb_Voters_true : forall x y, eqb_Voters x y = true <-> x = y.

(* What no step changes. *)
Variable acks : Replica -> Ackers -> bool.
Variable votes : Replica -> Voters -> bool.
Variable meet : Ackers -> Voters -> Replica.
(* somebody has to acknowledge *)
Hypothesis axiom_sets_are_not_empty : (forall a : Ackers, (forall v : Voters, (acks (meet a v) a) = true)).
(* each acknowledging set has a replica in common with each electing set *)
Hypothesis axiom_A10 : (forall a : Ackers, (forall v : Voters, (votes (meet a v) v) = true)).

Record state : Type := {
  n : Z;
  received : Replica -> Z;
  applied : Replica -> Z;
  known : Replica -> Z;
  visible : Z;
  seen : Z -> bool;
  lost : bool;
  promoted : Replica -> bool;
  by_set : Ackers;
  common : Replica -> Replica
}.

Definition init_nothing_logged (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (visible st) 0) && (negb (lost st)))) = true.

Definition init_nothing_received (st : state) : Prop :=
  (forall k_ : Replica, ((Z.eqb (received st k_) 0) && ((Z.eqb (applied st k_) 0) && ((Z.eqb (known st k_) 0) && (negb (promoted st k_))))) = true).

Definition init_nothing_seen (st : state) : Prop :=
  (forall g : Z, (negb (seen st g)) = true).

Definition init (st : state) : Prop :=
  init_nothing_logged st /\ init_nothing_received st /\ init_nothing_seen st.

(* the next group is durable in the source's binary log *)
Definition guard_write (st : state) : Prop :=
  (negb (lost st)) = true.
Definition act_write (st : state) : state :=
  {|
     n := ((n st) + 1);
     received := received st;
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* a replica writes the next group to its relay log *)
Definition guard_receive (st : state) (k_ : Replica) : Prop :=
  ((negb (lost st)) && ((received st k_) <? (n st))) = true.
Definition act_receive (st : state) (k_ : Replica) : state :=
  {|
     n := n st;
     received := fun (x0 : Replica) => (if (eqb_Replica x0 k_) then ((received st x0) + 1) else (received st x0));
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* the source learns how far the replica is *)
Definition guard_acknowledge (st : state) (k_ : Replica) : Prop :=
  (negb (lost st)) = true.
Definition act_acknowledge (st : state) (k_ : Replica) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := fun (x0 : Replica) => (if (eqb_Replica x0 k_) then (received st x0) else (known st x0));
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* a replica commits the next group *)
Definition guard_apply (st : state) (k_ : Replica) : Prop :=
  ((applied st k_) <? (received st k_)) = true.
Definition act_apply (st : state) (k_ : Replica) : state :=
  {|
     n := n st;
     received := received st;
     applied := fun (x0 : Replica) => (if (eqb_Replica x0 k_) then ((applied st x0) + 1) else (applied st x0));
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* a whole set has acknowledged the next group: its engine commit *)
Definition guard_make_visible (st : state) (a : Ackers) : Prop :=
  (((negb (lost st)) = true) /\ ((((visible st) <? (n st)) = true) /\ ((forall k_ : Replica, ((negb (acks k_ a)) || ((visible st) <? (known st k_))) = true)))).
Definition act_make_visible (st : state) (a : Ackers) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := known st;
     visible := ((visible st) + 1);
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := a;
     common := common st
  |}.

(* a client sees a group *)
Definition guard_read (st : state) (g : Z) : Prop :=
  ((negb (lost st)) && ((0 <=? g) && (g <? (visible st)))) = true.
Definition act_read (st : state) (g : Z) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := fun (x0 : Z) => ((seen st x0) || (Z.eqb x0 g));
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* a replica restarts, with its relay log *)
Definition guard_crash_replica (st : state) (k_ : Replica) : Prop :=
  (negb (promoted st k_)) = true.
Definition act_crash_replica (st : state) (k_ : Replica) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* the source restarts and has to be told again; recovered groups wait *)
Definition guard_restart_source (st : state) : Prop :=
  (negb (lost st)) = true.
Definition act_restart_source (st : state) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := fun (x0 : Replica) => 0;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* the source is gone for good *)
Definition guard_lose_source (st : state) : Prop :=
  true = true.
Definition act_lose_source (st : state) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := true;
     promoted := promoted st;
     by_set := by_set st;
     common := common st
  |}.

(* of an electing set, the replica that has most becomes the source *)
Definition guard_promote (st : state) (k_ : Replica) (v : Voters) : Prop :=
  (((lost st) = true) /\ (((votes k_ v) = true) /\ ((forall l : Replica, ((negb (votes l v)) || ((received st l) <=? (received st k_))) = true)))).
Definition act_promote (st : state) (k_ : Replica) (v : Voters) : state :=
  {|
     n := n st;
     received := received st;
     applied := applied st;
     known := known st;
     visible := visible st;
     seen := seen st;
     lost := lost st;
     promoted := fun (x0 : Replica) => ((promoted st x0) || (eqb_Replica x0 k_));
     by_set := by_set st;
     common := fun (x0 : Replica) => (if (eqb_Replica x0 k_) then (meet (by_set st) v) else (common st x0))
  |}.

Inductive step (st : state) : state -> Prop :=
| step_write : guard_write st ->
    step st (act_write st)
| step_receive : forall (k_ : Replica), guard_receive st k_ ->
    step st (act_receive st k_)
| step_acknowledge : forall (k_ : Replica), guard_acknowledge st k_ ->
    step st (act_acknowledge st k_)
| step_apply : forall (k_ : Replica), guard_apply st k_ ->
    step st (act_apply st k_)
| step_make_visible : forall (a : Ackers), guard_make_visible st a ->
    step st (act_make_visible st a)
| step_read : forall (g : Z), guard_read st g ->
    step st (act_read st g)
| step_crash_replica : forall (k_ : Replica), guard_crash_replica st k_ ->
    step st (act_crash_replica st k_)
| step_restart_source : guard_restart_source st ->
    step st (act_restart_source st)
| step_lose_source : guard_lose_source st ->
    step st (act_lose_source st)
| step_promote : forall (k_ : Replica) (v : Voters), guard_promote st k_ v ->
    step st (act_promote st k_ v).

(* the set that let the last group pass has all before it, too *)
Definition inv_visible_is_at_a_whole_set (st : state) : Prop :=
  (forall k_ : Replica, ((negb ((0 <? (visible st)) && (acks k_ (by_set st)))) || ((visible st) <=? (received st k_))) = true).

(* clients see what is visible *)
Definition inv_seen_was_visible (st : state) : Prop :=
  (forall g : Z, ((negb (seen st g)) || ((0 <=? g) && (g <? (visible st)))) = true).

(* a replica keeps what it has acknowledged *)
Definition inv_known_was_received (st : state) : Prop :=
  (forall k_ : Replica, ((0 <=? (known st k_)) && ((known st k_) <=? (received st k_))) = true).

(* a replica applies what it received *)
Definition inv_applied_was_received (st : state) : Prop :=
  (forall k_ : Replica, ((0 <=? (applied st k_)) && ((applied st k_) <=? (received st k_))) = true).

(* no replica is ahead *)
Definition inv_received_was_logged (st : state) : Prop :=
  (forall k_ : Replica, ((received st k_) <=? (n st)) = true).

(* the two sets meet in a replica that has all *)
Definition inv_promoted_has_all_visible (st : state) : Prop :=
  (forall k_ : Replica, ((negb (promoted st k_)) || ((lost st) && (((visible st) <=? (received st (common st k_))) && ((received st (common st k_)) <=? (received st k_))))) = true).

(* what is visible was written *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (visible st)) && ((visible st) <=? (n st))) = true.

(* whatever a client saw is on the replica that is promoted *)
Definition safe_what_was_seen_survives (st : state) : Prop :=
  (forall g : Z, (forall k_ : Replica, ((negb ((seen st g) && (promoted st k_))) || (g <? (received st k_))) = true)).

(* whatever is visible is on every replica of an acknowledging set *)
Definition safe_visible_is_at_a_whole_set (st : state) : Prop :=
  (forall g : Z, (forall k_ : Replica, ((negb ((g <? (visible st)) && (acks k_ (by_set st)))) || (g <? (received st k_))) = true)).

