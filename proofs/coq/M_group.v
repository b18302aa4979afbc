(* group: sessions, one order of messages, certification, collection, members.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Member : Type.
Variable some_Member : Member.
Variable eqb_Member : Member -> Member -> bool.
Hypothesis eqb_Member_true : forall x y, eqb_Member x y = true <-> x = y.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Txn -> Row -> bool.

Record state : Type := {
  n : Z;
  in_group : Member -> bool;
  upto : Member -> Z;
  value_ : Member -> Row -> Z;
  begun : Txn -> bool;
  live : Txn -> bool;
  home : Txn -> Member;
  saw : Txn -> Row -> Z;
  sent : Txn -> bool;
  snap : Txn -> Z;
  number : Txn -> Z;
  delivered : Txn -> bool;
  certified : Txn -> bool;
  place : Txn -> Z;
  txn_at : Z -> Txn;
  has : Row -> bool;
  out : Member -> Z;
  arrived : Member -> Z;
  reports : Member -> bool;
  report_number : Member -> Z;
  report_value : Member -> Z;
  reported : Member -> Z;
  stable : Z;
  version : Z -> Row -> Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (Z.eqb (stable st) 0)) = true.

Definition init_nothing_begun (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) && ((negb (live st t)) && ((negb (sent st t)) && ((negb (delivered st t)) && (negb (certified st t)))))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall m : Member, ((Z.eqb (upto st m) 0) && ((Z.eqb (reported st m) 0) && ((negb (reports st m)) && ((Z.eqb (out st m) 0) && (Z.eqb (arrived st m) 0))))) = true).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (version st 0 r) (-1)) && (negb (has st r))) = true).

Definition init_nothing_stored (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (-1)) = true)).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_begun st /\ init_nothing_applied st /\ init_nothing_written st /\ init_nothing_stored st.

(* a session reads and changes its rows, and holds their locks *)
Definition guard_execute (st : state) (t : Txn) (m : Member) : Prop :=
  (((negb (begun st t)) = true) /\ (((in_group st m) = true) /\ ((forall u : Txn, (forall r : Row, (negb ((live st u) && ((eqb_Member (home st u) m) && ((ws u r) && (ws t r))))) = true))))).
Definition act_execute (st : state) (t : Txn) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := fun (x0 : Txn) => ((begun st x0) || (eqb_Txn x0 t));
     live := fun (x0 : Txn) => ((live st x0) || (eqb_Txn x0 t));
     home := fun (x0 : Txn) => (if (eqb_Txn x0 t) then m else (home st x0));
     saw := fun (x0 : Txn) (x1 : Row) => (if (eqb_Txn x0 t) then (value_ st m x1) else (saw st x0 x1));
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st m) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* its snapshot is of what its member has applied by now *)
Definition guard_take_snapshot (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_take_snapshot (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st (home st t)) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* it commits: write set and snapshot go to the group *)
Definition guard_send (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_send (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := fun (x0 : Txn) => ((sent st x0) || (eqb_Txn x0 t));
     snap := snap st;
     number := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (out st (home st t)) else (number st x0));
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* the client, or a worker that wants one of its rows, ends the session *)
Definition guard_roll_back (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (delivered st t))) = true.
Definition act_roll_back (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* delivered; no item of its rows is newer than its snapshot *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((sent st t) = true) /\ (((negb (delivered st t)) = true) /\ ((((arrived st (home st t)) <=? (number st t)) = true) /\ (((in_group st (home st t)) = true) /\ (((Z.eqb (arrived st (home st t)) (number st t)) = true) /\ ((forall r : Row, (negb ((ws t r) && ((has st r) && ((snap st t) <=? (version st (n st) r))))) = true))))))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := fun (x0 : Row) => ((has st x0) || (ws t x0));
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (if (ws t x1) then (n st) else (version st (n st) x1)) else (version st x0 x1))
  |}.

(* delivered; an item is newer, and the session rolls back *)
Definition guard_refuse (st : state) (t : Txn) (r : Row) : Prop :=
  ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((Z.eqb (arrived st (home st t)) (number st t)) && ((ws t r) && ((has st r) && ((snap st t) <=? (version st (n st) r))))))))) = true.
Definition act_refuse (st : state) (t : Txn) (r : Row) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (version st (n st) x1) else (version st x0 x1))
  |}.

(* a member sends what it has applied *)
Definition guard_report (st : state) (m : Member) : Prop :=
  ((in_group st m) && (negb (reports st m))) = true.
Definition act_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 m) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) || (eqb_Member x0 m));
     report_number := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (report_number st x0));
     report_value := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st m) else (report_value st x0));
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* the report is delivered in its place of the order *)
Definition guard_receive_report (st : state) (m : Member) : Prop :=
  ((reports st m) && ((in_group st m) && (Z.eqb (arrived st m) (report_number st m)))) = true.
Definition act_receive_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (arrived st m) (report_number st m))) then ((arrived st x0) + 1) else (arrived st x0));
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (report_value st x0) else (reported st x0));
     stable := stable st;
     version := version st
  |}.

(* what all members have reported is stable *)
Definition guard_settle (st : state) (level : Z) : Prop :=
  (((forall m : Member, ((negb (in_group st m)) || (level <=? (reported st m))) = true)) /\ (((level <=? (n st)) = true) /\ (((stable st) <=? level) = true))).
Definition act_settle (st : state) (level : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := level;
     version := version st
  |}.

(* an item whose version is stable is purged *)
Definition guard_collect (st : state) (r : Row) : Prop :=
  ((version st (n st) r) <? (stable st)) = true.
Definition act_collect (st : state) (r : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := fun (x0 : Row) => ((has st x0) && (negb (eqb_Row x0 r)));
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* the next position commits in the engine, and its session, if any, ends *)
Definition guard_apply (st : state) (m : Member) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <? (n st)) = true) /\ ((forall t : Txn, (forall r : Row, (negb ((live st t) && ((eqb_Member (home st t) m) && ((negb (delivered st t)) && ((ws t r) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) r))))))) = true))))).
Definition act_apply (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then ((upto st m) + 1) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) x1))) then (upto st m) else (value_ st x0 x1));
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb ((eqb_Txn x0 (txn_at st (upto st m))) && (eqb_Member (home st x0) m))));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* a member crashes or is expelled, and a view change says so *)
Definition guard_crash (st : state) (m : Member) : Prop :=
  (in_group st m) = true.
Definition act_crash (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) && (negb (eqb_Member x0 m)));
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Member (home st x0) m)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st
  |}.

(* a member comes, or comes back, with its donor's state, and a view change says so *)
Definition guard_join (st : state) (m : Member) (donor : Member) : Prop :=
  ((negb (in_group st m)) && (in_group st donor)) = true.
Definition act_join (st : state) (m : Member) (donor : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) || (eqb_Member x0 m));
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st donor) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (value_ st donor x1) else (value_ st x0 x1));
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (reported st donor) else (reported st x0));
     stable := stable st;
     version := version st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_execute : forall (t : Txn) (m : Member), guard_execute st t m ->
    step st (act_execute st t m)
| step_take_snapshot : forall (t : Txn), guard_take_snapshot st t ->
    step st (act_take_snapshot st t)
| step_send : forall (t : Txn), guard_send st t ->
    step st (act_send st t)
| step_roll_back : forall (t : Txn), guard_roll_back st t ->
    step st (act_roll_back st t)
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn) (r : Row), guard_refuse st t r ->
    step st (act_refuse st t r)
| step_report : forall (m : Member), guard_report st m ->
    step st (act_report st m)
| step_receive_report : forall (m : Member), guard_receive_report st m ->
    step st (act_receive_report st m)
| step_settle : forall (level : Z), guard_settle st level ->
    step st (act_settle st level)
| step_collect : forall (r : Row), guard_collect st r ->
    step st (act_collect st r)
| step_apply : forall (m : Member), guard_apply st m ->
    step st (act_apply st m)
| step_crash : forall (m : Member), guard_crash st m ->
    step st (act_crash st m)
| step_join : forall (m : Member) (donor : Member), guard_join st m donor ->
    step st (act_join st m donor).

(* it is inductive *)
Definition inv_changes_are_made_on_the_last_version (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (Z.eqb (saw st t r) (version st (place st t) r))) = true)).

(* while its rows are locked, no writer of them is applied after a session's snapshot *)
Definition inv_snapshots_have_applied_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (upto st (home st t))))))))) || (p <? (snap st t))) = true))).

(* what is in flight was sent after the last report of its member *)
Definition inv_snapshots_have_reported_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (reported st (home st t))))))))))) || (p <? (snap st t))) = true))).

(* and after a report that is in flight before it *)
Definition inv_snapshots_have_writers_reported_before (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((reports st (home st t)) && (((report_number st (home st t)) <? (number st t)) && (p <? (report_value st (home st t))))))))))))) || (p <? (snap st t))) = true))).

(* nobody reports what it did not apply, and later reports are higher *)
Definition inv_reports_rise (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || (((stable st) <=? (reported st m)) && (((reported st m) <=? (upto st m)) && ((negb (reports st m)) || (((reported st m) <=? (report_value st m)) && ((report_value st m) <=? (upto st m))))))) = true).

(* a report is delivered after it is sent *)
Definition inv_reports_are_in_flight (st : state) : Prop :=
  (forall m : Member, ((negb (reports st m)) || ((in_group st m) && (((arrived st m) <=? (report_number st m)) && ((report_number st m) <? (out st m))))) = true).

(* a member numbers what it sends *)
Definition inv_numbers_were_given (st : state) : Prop :=
  (forall t : Txn, ((negb (sent st t)) || ((number st t) <? (out st (home st t)))) = true).

(* no two messages of a member have one number *)
Definition inv_numbers_differ_from_reports (st : state) : Prop :=
  (forall t : Txn, ((negb ((sent st t) && (reports st (home st t)))) || (negb (Z.eqb (number st t) (report_number st (home st t))))) = true).

(* nothing is delivered that was not sent *)
Definition inv_arrivals_were_sent (st : state) : Prop :=
  (forall m : Member, ((arrived st m) <=? (out st m)) = true).

(* an item that is missing was of a stable version, or there is none *)
Definition inv_what_was_purged_is_stable (st : state) : Prop :=
  (forall r : Row, ((has st r) || ((version st (n st) r) <? (stable st))) = true).

(* only what was delivered is stable *)
Definition inv_stable_is_delivered (st : state) : Prop :=
  ((0 <=? (stable st)) && ((stable st) <=? (n st))) = true.

(* a session's rows are locked, so nobody changes them before it is sent *)
Definition inv_executing_reads_are_current (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && (ws t r)))) || (Z.eqb (saw st t r) (value_ st (home st t) r))) = true)).

(* so what it read is what the snapshot shows *)
Definition inv_reads_are_of_the_snapshot (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((begun st t) && (ws t r))) || (Z.eqb (saw st t r) (version st (snap st t) r))) = true)).

(* it is inductive *)
Definition inv_members_show_prefixes (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (version st (upto st m) r)) = true)).

(* nobody applies what was not delivered *)
Definition inv_members_are_in_the_order (st : state) : Prop :=
  (forall m : Member, ((0 <=? (upto st m)) && ((upto st m) <=? (n st))) = true).

(* a snapshot is what a member had applied *)
Definition inv_snapshots_are_prefixes (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) || ((0 <=? (snap st t)) && (((snap st t) <=? (n st)) && ((negb (delivered st t)) || ((snap st t) <=? (place st t)))))) = true).

(* a transaction is executed, sent, delivered, certified, in this order *)
Definition inv_places_are_positions (st : state) : Prop :=
  (forall t : Txn, (((negb (delivered st t)) || ((sent st t) && ((0 <=? (place st t)) && ((place st t) <? (n st))))) && (((negb (certified st t)) || (delivered st t)) && (((negb (sent st t)) || (begun st t)) && ((negb (live st t)) || ((begun st t) && (in_group st (home st t))))))) = true).

(* a version was written before *)
Definition inv_versions_are_earlier (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && (p <=? (n st)))) || (((-1) <=? (version st p r)) && ((version st p r) <? p))) = true)).

(* a version is a certified writer, or none *)
Definition inv_versions_are_certified_writers (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <=? (n st)) && (0 <=? (version st p r))))) || ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r))) = true)).

(* no certified writer before a position is later than its version *)
Definition inv_no_later_writer_is_missed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((q <=? (n st)) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))))) || (p <=? (version st q r))) = true))).

(* each position is of a delivered transaction *)
Definition inv_positions_are_of_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (delivered st (txn_at st p))) = true).

(* whatever was certified changed, at its member, the version that the certified writer before it had left: no update is lost *)
Definition safe_changes_are_made_on_the_last_version (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || (Z.eqb (saw st t r) (version st (place st t) r))) = true)).

(* A2: what is stable and writes a row of a transaction to be certified is in its snapshot *)
Definition safe_stable_writers_are_in_snapshots (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (stable st)))))))))) || (p <? (snap st t))) = true))).

(* A11: only what this member has applied is purged *)
Definition safe_stable_is_applied_at_every_member (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || ((stable st) <=? (upto st m))) = true).

(* each member shows the certified order up to some position *)
Definition safe_members_show_prefixes (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (version st (upto st m) r)) = true)).

