(* stable_rounds: members report what they executed; a collector takes the least.
   Written by paraply from the model of that name. *)

Require Import Response.

Section Model.

(* What no step changes. *)
Variable members : Z.
(* the group has a member *)
Hypothesis axiom_some_members : (0 <? members) = true.

Record state : Type := {
  n : Z;
  executed : Z -> Z;
  reported : Z -> Z;
  silent : Z -> bool;
  expelled : Z -> bool;
  looked : Z;
  least : Z;
  stable : Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (looked st) 0) && ((Z.eqb (least st) 0) && (Z.eqb (stable st) 0)))) = true.

Definition init_nothing_executed (st : state) : Prop :=
  (forall m : Z, ((Z.eqb (executed st m) 0) && ((Z.eqb (reported st m) 0) && ((negb (silent st m)) && (negb (expelled st m))))) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_executed st.

(* the next transaction *)
Definition guard_certify (st : state) : Prop :=
  true = true.
Definition act_certify (st : state) : state :=
  {|
     n := ((n st) + 1);
     executed := executed st;
     reported := reported st;
     silent := silent st;
     expelled := expelled st;
     looked := looked st;
     least := least st;
     stable := stable st
  |}.

(* a member commits the next transaction *)
Definition guard_execute (st : state) (m : Z) : Prop :=
  ((0 <=? m) && ((m <? members) && ((negb (expelled st m)) && ((negb (silent st m)) && ((executed st m) <? (n st)))))) = true.
Definition act_execute (st : state) (m : Z) : state :=
  {|
     n := n st;
     executed := fun (x0 : Z) => (if (Z.eqb x0 m) then ((executed st x0) + 1) else (executed st x0));
     reported := reported st;
     silent := silent st;
     expelled := expelled st;
     looked := looked st;
     least := least st;
     stable := stable st
  |}.

(* a member tells the group what it has executed *)
Definition guard_report (st : state) (m : Z) : Prop :=
  ((0 <=? m) && ((m <? members) && ((negb (expelled st m)) && ((negb (silent st m)) && ((reported st m) <? (executed st m)))))) = true.
Definition act_report (st : state) (m : Z) : state :=
  {|
     n := n st;
     executed := executed st;
     reported := fun (x0 : Z) => (if (Z.eqb x0 m) then (executed st x0) else (reported st x0));
     silent := silent st;
     expelled := expelled st;
     looked := looked st;
     least := least st;
     stable := stable st
  |}.

(* a member stops: it hangs, or cannot be reached *)
Definition guard_fall_silent (st : state) (m : Z) : Prop :=
  ((0 <=? m) && ((m <? members) && ((negb (expelled st m)) && (negb (silent st m))))) = true.
Definition act_fall_silent (st : state) (m : Z) : state :=
  {|
     n := n st;
     executed := executed st;
     reported := reported st;
     silent := fun (x0 : Z) => ((silent st x0) || (Z.eqb x0 m));
     expelled := expelled st;
     looked := looked st;
     least := least st;
     stable := stable st
  |}.

(* the group goes on without it *)
Definition guard_expel (st : state) (m : Z) : Prop :=
  ((0 <=? m) && ((m <? members) && ((negb (expelled st m)) && (silent st m)))) = true.
Definition act_expel (st : state) (m : Z) : state :=
  {|
     n := n st;
     executed := executed st;
     reported := reported st;
     silent := silent st;
     expelled := fun (x0 : Z) => ((expelled st x0) || (Z.eqb x0 m));
     looked := looked st;
     least := least st;
     stable := stable st
  |}.

(* the collector takes the least of the reports, member by member *)
Definition guard_look (st : state) : Prop :=
  ((looked st) <? members) = true.
Definition act_look (st : state) : state :=
  {|
     n := n st;
     executed := executed st;
     reported := reported st;
     silent := silent st;
     expelled := expelled st;
     looked := ((looked st) + 1);
     least := (if (expelled st (looked st)) then (if (0 <? (looked st)) then (least st) else (n st)) else (if ((0 <? (looked st)) && ((least st) <=? (reported st (looked st)))) then (least st) else (reported st (looked st))));
     stable := stable st
  |}.

(* what all have reported is stable and can be purged; the next round begins *)
Definition guard_settle (st : state) : Prop :=
  (members <=? (looked st)) = true.
Definition act_settle (st : state) : state :=
  {|
     n := n st;
     executed := executed st;
     reported := reported st;
     silent := silent st;
     expelled := expelled st;
     looked := 0;
     least := least st;
     stable := (if ((stable st) <? (least st)) then (least st) else (stable st))
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : guard_certify st ->
    step st (act_certify st)
| step_execute : forall (m : Z), guard_execute st m ->
    step st (act_execute st m)
| step_report : forall (m : Z), guard_report st m ->
    step st (act_report st m)
| step_fall_silent : forall (m : Z), guard_fall_silent st m ->
    step st (act_fall_silent st m)
| step_expel : forall (m : Z), guard_expel st m ->
    step st (act_expel st m)
| step_look : guard_look st ->
    step st (act_look st)
| step_settle : guard_settle st ->
    step st (act_settle st).

(* nobody reports what it did not execute *)
Definition inv_reports_are_of_executed (st : state) : Prop :=
  (forall m : Z, ((0 <=? (reported st m)) && (((reported st m) <=? (executed st m)) && ((executed st m) <=? (n st)))) = true).

(* all within the order *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (looked st)) && (((looked st) <=? members) && ((0 <=? (least st)) && (((least st) <=? (n st)) && ((0 <=? (stable st)) && ((stable st) <=? (n st))))))) = true.

(* the round's least is no more than any report that it has seen *)
Definition inv_least_is_below_all_seen (st : state) : Prop :=
  (forall m : Z, ((negb ((0 <=? m) && ((m <? members) && (m <? (looked st))))) || ((expelled st m) || ((least st) <=? (reported st m)))) = true).

(* it is inductive *)
Definition inv_stable_is_reported (st : state) : Prop :=
  (forall m : Z, ((negb ((0 <=? m) && (m <? members))) || ((expelled st m) || ((stable st) <=? (reported st m)))) = true).

(* what is stable has been executed by every member that is in the group *)
Definition safe_stable_is_executed_everywhere (st : state) : Prop :=
  (forall m : Z, ((negb ((0 <=? m) && (m <? members))) || ((expelled st m) || ((stable st) <=? (executed st m)))) = true).

(* every member executes each transaction, or is expelled *)
Definition pending_everybody_executes_or_leaves (st : state) (m : Z) (t : Z) : bool :=
  ((0 <=? m) && ((m <? members) && ((0 <=? t) && (t <? (n st))))).
Definition goal_everybody_executes_or_leaves (st : state) (m : Z) (t : Z) : bool :=
  ((expelled st m) || (t <? (executed st m))).
Definition rank_everybody_executes_or_leaves (st : state) (m : Z) (t : Z) : list (Z * Z) :=
  [((if (silent st m) then 0 else 1), 0); (t, (executed st m))].
Inductive help_everybody_executes_or_leaves : Type :=
| everybody_executes_or_leaves_is_silent (m' : Z) (* the member has fallen silent *)
| everybody_executes_or_leaves_is_behind (m' : Z) (* the member has not executed so far *).
Definition helps_everybody_executes_or_leaves (m : Z) (t : Z) (h : help_everybody_executes_or_leaves) (st : state) : bool :=
  match h with
  | everybody_executes_or_leaves_is_silent m' => (((silent st m) && (negb (expelled st m))) && (Z.eqb m' m))
  | everybody_executes_or_leaves_is_behind m' => ((negb (silent st m)) && (Z.eqb m' m))
  end.
Definition guard_everybody_executes_or_leaves (h : help_everybody_executes_or_leaves) (st : state) : Prop :=
  match h with
  | everybody_executes_or_leaves_is_silent m' => guard_expel st m'
  | everybody_executes_or_leaves_is_behind m' => guard_execute st m'
  end.
Definition act_everybody_executes_or_leaves (h : help_everybody_executes_or_leaves) (st : state) : state :=
  match h with
  | everybody_executes_or_leaves_is_silent m' => act_expel st m'
  | everybody_executes_or_leaves_is_behind m' => act_execute st m'
  end.

(* every member reports what it executed, or is expelled *)
Definition pending_everybody_reports_or_leaves (st : state) (m : Z) (t : Z) : bool :=
  ((0 <=? m) && ((m <? members) && (t <? (executed st m)))).
Definition goal_everybody_reports_or_leaves (st : state) (m : Z) (t : Z) : bool :=
  ((expelled st m) || (t <? (reported st m))).
Definition rank_everybody_reports_or_leaves (st : state) (m : Z) (t : Z) : list (Z * Z) :=
  [((if (silent st m) then 0 else 1), 0)].
Inductive help_everybody_reports_or_leaves : Type :=
| everybody_reports_or_leaves_is_silent (m' : Z) (* the member has fallen silent *)
| everybody_reports_or_leaves_has_not_reported (m' : Z) (* the member has executed it and not said so *).
Definition helps_everybody_reports_or_leaves (m : Z) (t : Z) (h : help_everybody_reports_or_leaves) (st : state) : bool :=
  match h with
  | everybody_reports_or_leaves_is_silent m' => (((silent st m) && (negb (expelled st m))) && (Z.eqb m' m))
  | everybody_reports_or_leaves_has_not_reported m' => ((negb (silent st m)) && (Z.eqb m' m))
  end.
Definition guard_everybody_reports_or_leaves (h : help_everybody_reports_or_leaves) (st : state) : Prop :=
  match h with
  | everybody_reports_or_leaves_is_silent m' => guard_expel st m'
  | everybody_reports_or_leaves_has_not_reported m' => guard_report st m'
  end.
Definition act_everybody_reports_or_leaves (h : help_everybody_reports_or_leaves) (st : state) : state :=
  match h with
  | everybody_reports_or_leaves_is_silent m' => act_expel st m'
  | everybody_reports_or_leaves_has_not_reported m' => act_report st m'
  end.

(* a transaction can be purged in the end, or the collector meets a member that has not reported it *)
Definition pending_a_round_makes_it_stable_or_meets_who_lacks_it (st : state) (t : Z) : bool :=
  ((0 <=? t) && (t <? (n st))).
Definition goal_a_round_makes_it_stable_or_meets_who_lacks_it (st : state) (t : Z) : bool :=
  ((t <? (stable st)) || (((looked st) <? members) && ((negb (expelled st (looked st))) && ((reported st (looked st)) <=? t)))).
Definition rank_a_round_makes_it_stable_or_meets_who_lacks_it (st : state) (t : Z) : list (Z * Z) :=
  [((if ((0 <? (looked st)) && ((least st) <=? t)) then 1 else 0), 0); (members, (looked st))].
Inductive help_a_round_makes_it_stable_or_meets_who_lacks_it : Type :=
| a_round_makes_it_stable_or_meets_who_lacks_it_in_the_round (* a member is still to be looked at *)
| a_round_makes_it_stable_or_meets_who_lacks_it_round_is_over (* all have been looked at *).
Definition helps_a_round_makes_it_stable_or_meets_who_lacks_it (t : Z) (h : help_a_round_makes_it_stable_or_meets_who_lacks_it) (st : state) : bool :=
  match h with
  | a_round_makes_it_stable_or_meets_who_lacks_it_in_the_round => ((looked st) <? members)
  | a_round_makes_it_stable_or_meets_who_lacks_it_round_is_over => (members <=? (looked st))
  end.
Definition guard_a_round_makes_it_stable_or_meets_who_lacks_it (h : help_a_round_makes_it_stable_or_meets_who_lacks_it) (st : state) : Prop :=
  match h with
  | a_round_makes_it_stable_or_meets_who_lacks_it_in_the_round => guard_look st
  | a_round_makes_it_stable_or_meets_who_lacks_it_round_is_over => guard_settle st
  end.
Definition act_a_round_makes_it_stable_or_meets_who_lacks_it (h : help_a_round_makes_it_stable_or_meets_who_lacks_it) (st : state) : state :=
  match h with
  | a_round_makes_it_stable_or_meets_who_lacks_it_in_the_round => act_look st
  | a_round_makes_it_stable_or_meets_who_lacks_it_round_is_over => act_settle st
  end.

